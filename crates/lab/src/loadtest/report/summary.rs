//! The report as text.

use std::collections::BTreeMap;

use bahay_engine::variants;

use super::format::{millis, per_second, percent, tenths};
use super::{NodeUsage, Report, SecondSample, Step};
use crate::loadtest::Mode;
use crate::loadtest::counters::{Count, Figure};

impl SecondSample {
    pub(in crate::loadtest) fn summary_line(&self, of_seconds: u64) -> String {
        let at = self.at_ms / 1_000;
        let of = if of_seconds == 0 { String::new() } else { format!(" of {of_seconds}") };
        format!(
            "{at}{of} s: {} tables, {} moves/s, p50 {}, p99 {}, server {} % cpu, {} MiB, tester {} % cpu",
            self.tables,
            per_second(self.moves, self.long_ms),
            millis(self.p50_us),
            millis(self.p99_us),
            percent(self.server_cpu_us, self.long_ms),
            self.server_rss_bytes >> 20,
            percent(self.tester_cpu_us, self.long_ms),
        )
    }
}

impl NodeUsage {
    fn summary_line(&self, long_ms: u64) -> String {
        format!(
            "    {}: {} % cpu, {} moves/s of its own, {} us each, {} MiB\n",
            self.url,
            percent(self.cpu_us, long_ms),
            per_second(self.moves, long_ms),
            tenths(self.cpu_per_move_tenths_us()),
            self.rss_bytes >> 20,
        )
    }
}

impl Step {
    /// Returns a step's result in a ramp.
    fn verdict(&self, limit_ms: u64) -> String {
        match (&self.unfilled, self.tester_limit()) {
            (Some(why), None) => format!("were not filled: {why}"),
            (Some(why), Some(end)) => format!("were not filled, but {end}: {why}"),
            (None, _) if self.confirmed => "holds, confirmed".to_owned(),
            (None, _) if self.keeps_limit(limit_ms) => "holds".to_owned(),
            (None, Some(end)) => format!("does not hold, but {end}"),
            (None, None) => "does not hold".to_owned(),
        }
    }

    /// Returns a ramp's step in one line.
    pub(in crate::loadtest) fn ramp_line(&self, limit_ms: u64) -> String {
        format!(
            "{} tables: p99 {}, server {} % cpu, tester {} % cpu: {}",
            self.tables,
            millis(self.counted.permille_us(Figure::ActionToEvent, 990)),
            percent(self.server_cpu_us, self.long_ms),
            percent(self.tester_cpu_us, self.long_ms),
            self.verdict(limit_ms),
        )
    }

    fn hourly_growth(&self) -> String {
        let slopes =
            (self.slope(|second| second.server_rss_bytes), self.slope(|second| second.p99_us));
        let (Some(memory), Some(p99)) = slopes else {
            return "  by the hour: too short to tell\n".to_owned();
        };
        let memory = memory.in_units_of(1_024);
        format!("  by the hour, 95 times of 100: memory {memory} KiB, p99 {p99} us\n")
    }
}

impl Report {
    /// Tells whether the server's limit of commands bounded the run.
    fn command_limit(&self) -> String {
        let refused = self.steps.iter().map(|step| step.counted.count(Count::ActionsTooFast));
        let rate = self.commands_per_socket.as_deref();
        let rate = rate.map_or(String::new(), |rate| format!(", {rate},"));
        match refused.sum::<u64>() {
            0 => format!("the limit of commands of a socket{rate} was not reached\n"),
            times => format!(
                "THE LIMIT OF COMMANDS OF A SOCKET{rate} WAS REACHED {times} times: raise \
                 BAHAY_COMMANDS_PER_SOCKET at the server\n"
            ),
        }
    }

    pub(in crate::loadtest) fn summary(&self) -> String {
        let mut text = String::new();
        if self.broken_off {
            text += "BROKEN OFF: this is what had been saved until then\n";
        }
        for step in &self.steps {
            let mark = match self.mode {
                Mode::Ramp => format!("  {}", step.verdict(self.limit_ms)),
                variants!(Mode: Fixed, Storm, Soak, Max, Idle, Reads, Tournament) => String::new(),
            };
            let counted = &step.counted;
            text += &format!(
                "{} tables, {} s: {} moves/s, {} games{mark}\n",
                step.tables,
                step.long_ms / 1_000,
                step.moves_per_second(),
                counted.count(Count::Games),
            );
            for (figure, latencies) in &counted.latencies {
                text += &format!(
                    "  {:<16} {:>9} times  p50 {:>9}  p90 {:>9}  p99 {:>9}  p99.9 {:>9}  most {:>9}\n",
                    figure_name(*figure),
                    latencies.count(),
                    millis(latencies.permille_us(500)),
                    millis(latencies.permille_us(900)),
                    millis(latencies.permille_us(990)),
                    millis(latencies.permille_us(999)),
                    millis(latencies.max_us()),
                );
            }
            text += &format!(
                "  server {} % cpu, {} us a move, {} MiB, {} KiB a table; tester {} % cpu\n",
                percent(step.server_cpu_us, step.long_ms),
                tenths(step.cpu_per_move_tenths_us()),
                step.server_rss_bytes >> 20,
                step.rss_per_table(self.empty_rss_bytes) >> 10,
                percent(step.tester_cpu_us, step.long_ms),
            );
            if step.nodes.len() > 1 {
                step.nodes.iter().for_each(|node| text += &node.summary_line(step.long_ms));
            }
            text += &format!(
                "  {} bytes to a table's clients for a move, {} messages in, {} out; {} guests, \
                 {} gone broke; {} games held against their records\n",
                step.bytes_per_move(),
                counted.count(Count::MessagesIn),
                counted.count(Count::MessagesOut),
                counted.count(Count::Guests),
                counted.count(Count::Broke),
                counted.count(Count::Audited),
            );
            if let Some(end) = step.tester_limit() {
                text += &format!("  {end}: these figures are about itself\n");
            }
            if self.mode == Mode::Soak {
                text += &step.hourly_growth();
            }
            if !counted.errors.is_empty() {
                text += &format!("  errors: {}\n", join_errors(&counted.errors));
            }
        }
        self.idle_costs().into_iter().for_each(|idle| text += &idle.to_string());
        if self.mode == Mode::Ramp {
            text += &match self.result_step() {
                Some(step) => {
                    format!("{} tables keep p99 below {} ms\n", step.tables, self.limit_ms)
                }
                None => format!("no number of tables keeps p99 below {} ms\n", self.limit_ms),
            };
            if let Some(end) = self.bounded_by_tester() {
                text += &format!(
                    "THIS IS NOT THE SERVER'S LIMIT: with more tables {end}. Give it more processors, or \
                     let several testers play and merge their reports\n"
                );
            }
        }
        if self.mode == Mode::Max {
            text += &self.command_limit();
        }
        let waited = &self.arrival;
        text += &format!(
            "arrival: {} guests, a full table after p50 {}, p99 {}",
            waited.count(Count::Guests),
            millis(waited.permille_us(Figure::MatchWait, 500)),
            millis(waited.permille_us(Figure::MatchWait, 990)),
        );
        if !waited.errors.is_empty() {
            text += &format!("; errors: {}", join_errors(&waited.errors));
        }
        text.push('\n');
        text += &match self.ledger_differences {
            None => "the ledger was not checked: give --database-url\n".to_owned(),
            Some(0) => "the ledger is clean\n".to_owned(),
            Some(number) => format!("{number} differences in the ledger\n"),
        };
        let in_steps = self.steps.iter().flat_map(|step| &step.counted.faults);
        for fault in self.faults.iter().chain(in_steps) {
            text += &format!("FAULT: {fault}\n");
        }
        text.trim_end().to_owned()
    }
}

pub(in crate::loadtest) fn figure_name(figure: Figure) -> &'static str {
    match figure {
        Figure::ActionToAck => "action to ack",
        Figure::ActionToEvent => "to every seat",
        Figure::Resume => "resume",
        Figure::MatchWait => "match wait",
        Figure::Settlement => "settlement",
        Figure::Lag => "tester's lag",
    }
}

fn join_errors(errors: &BTreeMap<String, u64>) -> String {
    let listed: Vec<_> = errors.iter().map(|(code, number)| format!("{code} {number}")).collect();
    listed.join(", ")
}
