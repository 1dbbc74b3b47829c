//! The phases of each mode: filling tables, warm-up and measurement.
//!
//! A ramp grows by half from step to step until the limit is exceeded or tables can no longer be
//! filled, then bisects to the most tables that keep the limit. The result is confirmed by a
//! measurement of twice the duration, repeated with fewer tables if that fails. The report says if
//! the tester was saturated.

use std::iter::repeat;
use std::time::Duration;

use bahay_base::clock::Moment;
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::counters::{Count, Figure, Measurements};
use super::nodes::{self, ProcessUsage};
use super::players::crowd::Crowd;
use super::players::crowd_control::CrowdControl;
use super::progress::RunProgress;
use super::report::{FORMAT, NodeUsage, Report, SecondSample, Step};
use super::{LoadError, Mode, Options};

/// The time without a new player at a table after which filling stops.
const STANDSTILL: Duration = Duration::from_secs(20);

/// The least percentage of players with which a measurement is useful.
const FILLED_PERCENT: u64 = 98;

/// The time limit for the recovery from a storm.
const STORM_MAX: Duration = Duration::from_secs(90);

/// The precision of a ramp: its result is at most this percentage below the first step that
/// exceeded the limit.
const CLOSE_PERCENT: u32 = 10;

/// Runs the requested mode and returns its report.
pub(super) async fn run_plan(options: &Options) -> Result<Report, LoadError> {
    let mut control = CrowdControl::new(options).await?;
    let empty = ProcessUsage::sum(&control.crowd.nodes.sample_usage().await);
    let mut run = Run {
        options,
        progress: RunProgress::new(options.json.clone()),
        empty_rss_bytes: empty.rss_bytes,
        before: Measurements::default(),
        steps: Vec::new(),
    };
    let outcome = run.run_mode(&mut control).await;
    run.progress.show_status("");
    outcome?;
    let rest = control.crowd.counters.take_measurements();
    control.shut_down().await;
    let mut report = run.report(None);
    report.broken_off = false;
    report.faults.extend(rest.faults);
    Ok(report)
}

struct Run<'a> {
    options: &'a Options,
    progress: RunProgress,
    empty_rss_bytes: u64,
    /// The measurements taken between steps.
    before: Measurements,
    /// The completed steps.
    steps: Vec<Step>,
}

impl Run<'_> {
    async fn run_mode(&mut self, control: &mut CrowdControl) -> Result<(), LoadError> {
        let Options { mode, tables, seconds, .. } = *self.options;
        match mode {
            Mode::Idle => self.measure_idle(control).await,
            Mode::Fixed | Mode::Soak | Mode::Max => {
                self.fill(control, tables).await?;
                self.measure(control, Step { tables, ..Step::default() }, seconds).await;
                Ok(())
            }
            Mode::Storm => {
                self.fill(control, tables).await?;
                self.measure_storm(control).await;
                Ok(())
            }
            Mode::Ramp => self.run_ramp(control).await,
            // These modes have runs of their own: see `reads` and `tournament`.
            Mode::Reads | Mode::Tournament => Ok(()),
        }
    }

    /// Returns the report so far, marked as broken off, with the step under way.
    fn report(&self, under_way: Option<&Step>) -> Report {
        Report {
            format: FORMAT,
            mode: self.options.mode,
            think_ms: self.options.mean_think_ms(),
            limit_ms: self.options.limit_ms,
            commands_per_socket: self.options.commands_per_socket.map(|rate| rate.to_string()),
            processes: 1,
            broken_off: true,
            empty_rss_bytes: self.empty_rss_bytes,
            arrival: self.before.clone(),
            steps: self.steps.iter().chain(under_way).cloned().collect(),
            faults: self.before.faults.clone(),
            ledger_differences: None,
        }
    }

    /// Fills a number of tables and lets them warm up.
    async fn fill(&mut self, control: &mut CrowdControl, tables: u32) -> Result<(), LoadError> {
        control.set_seek_tables(true);
        // With fewer players, those that stay would be scattered over tables that never fill, so
        // all leave first.
        let players = tables * control.crowd.seats;
        if players < control.players() {
            self.progress.show_status("waiting for running games to end");
            control.finish_games().await;
        }
        self.gather(control, players, "at a table", |crowd| crowd.playing.players()).await
    }

    /// Waits until a number of players, as counted by `present`, is in place.
    async fn gather(
        &mut self,
        control: &mut CrowdControl,
        players: u32,
        place: &str,
        present: impl Fn(&Crowd) -> u64,
    ) -> Result<(), LoadError> {
        let wanted = u64::from(players);
        control.set_players(players);
        let crowd = control.crowd.clone();
        let mut most = 0;
        let mut since = Moment::now();
        loop {
            let playing = present(&crowd);
            self.progress.show_status(&format!("{playing} of {wanted} players are {place}"));
            // Surplus players may still be leaving.
            if playing >= wanted && playing * FILLED_PERCENT <= wanted * 100 {
                break;
            }
            if let Some(code) = crowd.rate_limited.get() {
                return Err(LoadError::RateLimited { code: code.clone() });
            }
            // Signed-in guests count as progress, up to the wanted number; beyond it they are
            // replacements.
            let come = playing + crowd.counters.current(Count::Guests).min(wanted);
            if come > most {
                most = come;
                since = Moment::now();
            }
            // Without progress, waiting longer does not help.
            if since.elapsed() > STANDSTILL {
                if playing * 100 >= wanted * FILLED_PERCENT {
                    break;
                }
                return Err(self.unfilled_error(control, playing, wanted));
            }
            sleep(Duration::from_millis(200)).await;
        }
        self.progress.show_status(&format!("warming up for {} s", self.options.warm_up));
        sleep(Duration::from_secs(self.options.warm_up)).await;
        self.before.add(&crowd.counters.take_measurements());
        Ok(())
    }

    fn unfilled_error(&mut self, control: &CrowdControl, playing: u64, wanted: u64) -> LoadError {
        self.before.add(&control.crowd.counters.take_measurements());
        let why: Vec<_> = self
            .before
            .errors
            .iter()
            .map(|(code, number)| format!("{code} {number} times"))
            .collect();
        LoadError::Unfilled { playing, wanted, why: why.join(", ") }
    }

    /// Measures a step for a number of seconds.
    async fn measure(&mut self, control: &CrowdControl, step: Step, seconds: u64) {
        let crowd = &control.crowd;
        self.before.add(&crowd.counters.take_measurements());
        let mut measurement = StepMeasurement::begin(control, step).await;
        let mut ticks = interval(Duration::from_secs(1));
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks.tick().await;
        while measurement.elapsed() < Duration::from_secs(seconds) {
            ticks.tick().await;
            let second = measurement.sample_second(control).await;
            self.progress.show_status(&second.summary_line(seconds));
            if self.progress.is_due(seconds) {
                let report = self.report(Some(&measurement.to_step(control)));
                self.progress.save(&report);
            }
        }
        self.steps.push(measurement.to_step(control));
    }

    /// Disconnects every player at once and measures until all have reconnected or [`STORM_MAX`]
    /// has passed.
    async fn measure_storm(&mut self, control: &CrowdControl) {
        let crowd = &control.crowd;
        self.before.add(&crowd.counters.take_measurements());
        let players = crowd.playing.players();
        let step = Step { tables: self.options.tables, ..Step::default() };
        let mut measurement = StepMeasurement::begin(control, step).await;
        control.disconnect_all();
        let mut back = 0;
        while measurement.elapsed() < STORM_MAX && back < players {
            sleep(Duration::from_millis(500)).await;
            let second = measurement.sample_second(control).await;
            back = measurement.step.counted.count(Count::Resumes);
            let line = second.summary_line(0);
            self.progress.show_status(&format!("{back} of {players} are back; {line}"));
        }
        let lost_in_storm = players.saturating_sub(back);
        self.steps.push(Step { lost_in_storm, ..measurement.to_step(control) });
    }

    /// Measures the server alone, then connections without a table, then tables with as many
    /// connections whose players answer as late as possible.
    async fn measure_idle(&mut self, control: &mut CrowdControl) -> Result<(), LoadError> {
        let Options { tables, seconds, .. } = *self.options;
        let connections = tables * control.crowd.seats;
        self.measure(control, Step::default(), seconds).await;
        control.set_seek_tables(false);
        self.gather(control, connections, "connected", |crowd| crowd.unseated.players()).await?;
        self.measure(control, Step { connections, ..Step::default() }, seconds).await;
        self.fill(control, tables).await?;
        self.measure(control, Step { tables, connections, ..Step::default() }, seconds).await;
        Ok(())
    }

    async fn run_ramp(&mut self, control: &mut CrowdControl) -> Result<(), LoadError> {
        let mut kept = 0;
        let mut broken = None;
        let mut tables = self.options.tables;
        loop {
            if self.measure_step(control, tables, self.options.seconds).await? {
                kept = tables
            } else {
                broken = Some(tables)
            }
            tables = match broken {
                None => tables + (tables / 2).max(1),
                Some(broken) if broken - kept <= broken * CLOSE_PERCENT / 100 + 1 => break,
                Some(broken) => kept + (broken - kept) / 2,
            };
        }
        while kept > 0 {
            if self.measure_step(control, kept, self.options.seconds * 2).await? {
                if let Some(step) = self.steps.last_mut() {
                    step.confirmed = true;
                }
                break;
            }
            kept = kept * (100 - CLOSE_PERCENT) / 100;
        }
        Ok(())
    }

    /// Measures whether a number of tables keeps the limit. Filling is not measured. Tables that
    /// cannot be filled do not keep the limit, but a failure to fill the first step is an error.
    async fn measure_step(
        &mut self,
        control: &mut CrowdControl,
        tables: u32,
        seconds: u64,
    ) -> Result<bool, LoadError> {
        let begun = Moment::now();
        let own = nodes::own_usage();
        match self.fill(control, tables).await {
            Ok(()) => {
                self.measure(control, Step { tables, ..Step::default() }, seconds).await;
            }
            Err(error @ LoadError::Unfilled { .. }) if !self.steps.is_empty() => {
                self.steps.push(Step {
                    tables,
                    unfilled: Some(error.to_string()),
                    long_ms: to_ms(begun.elapsed()),
                    tester_cpu_us: nodes::own_usage().cpu_us.saturating_sub(own.cpu_us),
                    tester_processors: nodes::own_processors(),
                    ..Step::default()
                });
            }
            Err(error) => return Err(error),
        }
        let limit_ms = self.options.limit_ms;
        let Some(step) = self.steps.last() else {
            return Ok(false);
        };
        self.progress.print_line(&step.ramp_line(limit_ms));
        Ok(step.keeps_limit(limit_ms))
    }
}

/// The usage of the servers and of this program at one time.
#[derive(Clone)]
struct UsageSample {
    nodes: Vec<ProcessUsage>,
    own: ProcessUsage,
    at: Moment,
}

impl UsageSample {
    async fn read_usage(crowd: &Crowd) -> Self {
        let nodes = crowd.nodes.sample_usage().await;
        Self { nodes, own: nodes::own_usage(), at: Moment::now() }
    }
}

/// A step under way.
struct StepMeasurement {
    first: UsageSample,
    last: UsageSample,
    step: Step,
}

impl StepMeasurement {
    async fn begin(control: &CrowdControl, step: Step) -> Self {
        let first = UsageSample::read_usage(&control.crowd).await;
        control.crowd.counters.take_measurements();
        Self { last: first.clone(), first, step }
    }

    fn elapsed(&self) -> Duration {
        self.first.at.elapsed()
    }

    async fn sample_second(&mut self, control: &CrowdControl) -> SecondSample {
        let now = UsageSample::read_usage(&control.crowd).await;
        let counted = control.crowd.counters.take_measurements();
        let sum = ProcessUsage::sum(&now.nodes);
        let last = ProcessUsage::sum(&self.last.nodes);
        let second = SecondSample {
            at_ms: to_ms(now.at.since(self.first.at)),
            long_ms: to_ms(now.at.since(self.last.at)),
            tables: control.crowd.boards.len() as u64,
            moves: counted.count(Count::Moves),
            p50_us: counted.permille_us(Figure::ActionToEvent, 500),
            p99_us: counted.permille_us(Figure::ActionToEvent, 990),
            max_us: counted.max_us(Figure::ActionToEvent),
            server_cpu_us: sum.cpu_us.saturating_sub(last.cpu_us),
            server_rss_bytes: sum.rss_bytes,
            server_queued: sum.queued,
            tester_cpu_us: now.own.cpu_us.saturating_sub(self.last.own.cpu_us),
        };
        self.last = now;
        self.step.counted.add(&counted);
        self.step.seconds.push(second.clone());
        second
    }

    /// Returns the step up to the last sampled second.
    fn to_step(&self, control: &CrowdControl) -> Step {
        let usages = self.first.nodes.iter().zip(&self.last.nodes);
        let moves = self.step.counted.moves_at.iter().chain(repeat(&0));
        let sampled = control.crowd.nodes.urls().zip(usages).zip(moves);
        let nodes = sampled.map(|((url, (first, last)), moves)| NodeUsage {
            url: url.to_owned(),
            cpu_us: last.cpu_us.saturating_sub(first.cpu_us),
            rss_bytes: last.rss_bytes,
            moves: *moves,
        });
        let nodes: Vec<_> = nodes.collect();
        Step {
            long_ms: to_ms(self.last.at.since(self.first.at)),
            server_cpu_us: nodes.iter().map(|node| node.cpu_us).sum(),
            server_rss_bytes: nodes.iter().map(|node| node.rss_bytes).sum(),
            nodes,
            tester_cpu_us: self.last.own.cpu_us.saturating_sub(self.first.own.cpu_us),
            tester_processors: nodes::own_processors(),
            ..self.step.clone()
        }
    }
}

fn to_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
