//! What is measured when: fills tables, warms up, measures; and what each mode does beside that.
//!
//! A ramp goes up by half from step to step until the limit is broken or tables do not fill any more,
//! then closes in on the most tables that keep it, and measures these once more, twice as long, on the
//! way down if need be. A report tells when it was this program that was at its end.

use std::iter::repeat;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval, sleep};

use super::crowd::{Crowd, Gathering};
use super::nodes::{self, Look};
use super::progress::Progress;
use super::report::{FORMAT, Node, Report, Second, Step};
use super::tally::{Count, Counted, Figure};
use super::{LoadError, Mode, Options};
use crate::clock::Moment;

/// Nobody came to a table for so long: those who are there are all.
const STANDSTILL: Duration = Duration::from_secs(20);

/// The least share of players, in hundredths, without which a measurement is of no use.
const FILLED_PERCENT: u64 = 98;

/// How long a storm may take to settle.
const STORM_MAX: Duration = Duration::from_secs(90);

/// A ramp's answer is at most this many hundredths below the first step that broke the limit.
const CLOSE_PERCENT: u32 = 10;

/// Plays, and says what came of it.
pub(super) async fn carry_out(options: &Options) -> Result<Report, LoadError> {
    let mut gathering = Gathering::new(options).await?;
    let empty = Look::sum(&gathering.crowd.nodes.look().await);
    let mut run = Run {
        options,
        progress: Progress::new(options.json.clone()),
        empty_rss_bytes: empty.rss_bytes,
        before: Counted::default(),
        steps: Vec::new(),
    };
    let carried_out = run.carry_out(&mut gathering).await;
    run.progress.say("");
    carried_out?;
    let rest = gathering.crowd.tally.take();
    gathering.end().await;
    let mut report = run.report(None);
    report.broken_off = false;
    report.faults.extend(rest.faults);
    Ok(report)
}

struct Run<'a> {
    options: &'a Options,
    progress: Progress,
    empty_rss_bytes: u64,
    /// What was counted while nothing was measured.
    before: Counted,
    /// Measurements that are over.
    steps: Vec<Step>,
}

impl Run<'_> {
    async fn carry_out(&mut self, gathering: &mut Gathering) -> Result<(), LoadError> {
        let Options { mode, tables, seconds, .. } = *self.options;
        match mode {
            Mode::Idle => self.idle(gathering).await,
            Mode::Fixed | Mode::Soak | Mode::Max => {
                self.fill(gathering, tables).await?;
                self.measure(gathering, Step { tables, ..Step::default() }, seconds).await;
                Ok(())
            }
            Mode::Storm => {
                self.fill(gathering, tables).await?;
                self.storm(gathering).await;
                Ok(())
            }
            Mode::Ramp => self.ramp(gathering).await,
            // It is no matter of tables: see `reads`.
            Mode::Reads => Ok(()),
        }
    }

    /// What there is so far, as of a run that was broken off; with a step that goes on.
    fn report(&self, under_way: Option<&Step>) -> Report {
        Report {
            format: FORMAT,
            mode: self.options.mode,
            think_ms: self.options.mean_think_ms(),
            limit_ms: self.options.limit_ms,
            processes: 1,
            broken_off: true,
            empty_rss_bytes: self.empty_rss_bytes,
            arrival: self.before.clone(),
            steps: self.steps.iter().chain(under_way).cloned().collect(),
            faults: self.before.faults.clone(),
            ledger_differences: None,
        }
    }

    /// Brings so many tables to play, and lets them warm up.
    async fn fill(&mut self, gathering: &mut Gathering, tables: u32) -> Result<(), LoadError> {
        gathering.set_to_sit(true);
        // Those who stay would sit at tables that others have left, and never fill them.
        let players = tables * gathering.crowd.seats;
        if players < gathering.players() {
            self.progress.say("games come to their end");
            gathering.empty().await;
        }
        self.gather(gathering, players, "at a table", Crowd::playing).await
    }

    /// Brings so many players to where they are to be, which `present` counts.
    async fn gather(
        &mut self,
        gathering: &mut Gathering,
        players: u32,
        place: &str,
        present: impl Fn(&Crowd) -> u64,
    ) -> Result<(), LoadError> {
        let wanted = u64::from(players);
        gathering.set_players(players);
        let crowd = gathering.crowd.clone();
        let (mut most, mut since) = (0, Moment::now());
        loop {
            let playing = present(&crowd);
            self.progress.say(&format!("{playing} of {wanted} players are {place}"));
            // Those who are too many may still be on their way out.
            if playing >= wanted && playing * FILLED_PERCENT <= wanted * 100 {
                break;
            }
            if let Some(code) = crowd.turned_away.get() {
                return Err(LoadError::TurnedAway { code: code.clone() });
            }
            // Who has signed in is on the way; more than that come again and again.
            let come = playing + crowd.tally.so_far(Count::Guests).min(wanted);
            if come > most {
                (most, since) = (come, Moment::now());
            }
            // It does not get better by waiting.
            if since.elapsed() > STANDSTILL {
                if playing * 100 >= wanted * FILLED_PERCENT {
                    break;
                }
                return Err(self.unfilled(gathering, playing, wanted));
            }
            sleep(Duration::from_millis(200)).await;
        }
        self.progress.say(&format!("warming up for {} s", self.options.warm_up));
        sleep(Duration::from_secs(self.options.warm_up)).await;
        self.before.add(&crowd.tally.take());
        Ok(())
    }

    fn unfilled(&mut self, gathering: &Gathering, playing: u64, wanted: u64) -> LoadError {
        self.before.add(&gathering.crowd.tally.take());
        let why: Vec<_> = self
            .before
            .errors
            .iter()
            .map(|(code, number)| format!("{code} {number} times"))
            .collect();
        LoadError::Unfilled { playing, wanted, why: why.join(", ") }
    }

    /// Counts for so long, in a step of which it is known how many are there.
    async fn measure(&mut self, gathering: &Gathering, step: Step, seconds: u64) {
        let crowd = &gathering.crowd;
        self.before.add(&crowd.tally.take());
        let mut watch = Watch::begin(gathering, step).await;
        let mut ticks = interval(Duration::from_secs(1));
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks.tick().await;
        while watch.begun.elapsed() < Duration::from_secs(seconds) {
            ticks.tick().await;
            let second = watch.second(gathering).await;
            self.progress.say(&second.line(seconds));
            if self.progress.is_due(seconds) {
                let report = self.report(Some(&watch.so_far(gathering)));
                self.progress.save(&report);
            }
        }
        self.steps.push(watch.so_far(gathering));
    }

    /// Everybody drops at once; counts until all are back, and a while longer.
    async fn storm(&mut self, gathering: &Gathering) {
        let crowd = &gathering.crowd;
        self.before.add(&crowd.tally.take());
        let players = crowd.playing();
        let step = Step { tables: self.options.tables, ..Step::default() };
        let mut watch = Watch::begin(gathering, step).await;
        gathering.storm();
        let mut back = 0;
        while watch.begun.elapsed() < STORM_MAX && back < players {
            sleep(Duration::from_millis(500)).await;
            let second = watch.second(gathering).await;
            back = watch.step.counted.count(Count::Resumes);
            self.progress.say(&format!("{back} of {players} are back; {}", second.line(0)));
        }
        let lost_in_storm = players.saturating_sub(back);
        self.steps.push(Step { lost_in_storm, ..watch.so_far(gathering) });
    }

    /// The server alone; then connections without a table; then tables whose players sit there with
    /// the same number of connections, and answer as late as they may.
    async fn idle(&mut self, gathering: &mut Gathering) -> Result<(), LoadError> {
        let Options { tables, seconds, .. } = *self.options;
        let connections = tables * gathering.crowd.seats;
        self.measure(gathering, Step::default(), seconds).await;
        gathering.set_to_sit(false);
        let standing = |crowd: &Crowd| crowd.standing.load(Ordering::Relaxed);
        self.gather(gathering, connections, "connected", standing).await?;
        self.measure(gathering, Step { connections, ..Step::default() }, seconds).await;
        self.fill(gathering, tables).await?;
        self.measure(gathering, Step { tables, connections, ..Step::default() }, seconds).await;
        Ok(())
    }

    async fn ramp(&mut self, gathering: &mut Gathering) -> Result<(), LoadError> {
        let (mut kept, mut broken) = (0, None);
        let mut tables = self.options.tables;
        loop {
            if self.step(gathering, tables, self.options.seconds).await? {
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
            if self.step(gathering, kept, self.options.seconds * 2).await? {
                if let Some(step) = self.steps.last_mut() {
                    step.confirmed = true;
                }
                break;
            }
            kept = kept * (100 - CLOSE_PERCENT) / 100;
        }
        Ok(())
    }

    /// Whether so many tables keep the limit. Nothing counts while they fill. Tables that cannot be
    /// filled do not keep it, but a ramp that cannot even begin is an error.
    async fn step(
        &mut self,
        gathering: &mut Gathering,
        tables: u32,
        seconds: u64,
    ) -> Result<bool, LoadError> {
        let (begun, own) = (Moment::now(), nodes::own());
        match self.fill(gathering, tables).await {
            Ok(()) => {
                self.measure(gathering, Step { tables, ..Step::default() }, seconds).await;
            }
            Err(error @ LoadError::Unfilled { .. }) if !self.steps.is_empty() => {
                self.steps.push(Step {
                    tables,
                    unfilled: Some(error.to_string()),
                    long_ms: ms(begun.elapsed()),
                    tester_cpu_us: nodes::own().cpu_us.saturating_sub(own.cpu_us),
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
        self.progress.note(&step.told(limit_ms));
        Ok(step.keeps(limit_ms))
    }
}

/// A measurement that goes on.
struct Watch {
    begun: Moment,
    first: Vec<Look>,
    own_first: Look,
    last: Vec<Look>,
    own_last: Look,
    last_at: Moment,
    step: Step,
}

impl Watch {
    async fn begin(gathering: &Gathering, step: Step) -> Self {
        let (look, own) = (gathering.crowd.nodes.look().await, nodes::own());
        let begun = Moment::now();
        gathering.crowd.tally.take();
        Self {
            begun,
            first: look.clone(),
            own_first: own.clone(),
            last: look,
            own_last: own,
            last_at: begun,
            step,
        }
    }

    async fn second(&mut self, gathering: &Gathering) -> Second {
        let (look, own) = (gathering.crowd.nodes.look().await, nodes::own());
        let counted = gathering.crowd.tally.take();
        let at = Moment::now();
        let (sum, last) = (Look::sum(&look), Look::sum(&self.last));
        let second = Second {
            at_ms: ms(at.since(self.begun)),
            long_ms: ms(at.since(self.last_at)),
            tables: gathering.crowd.boards.len() as u64,
            moves: counted.count(Count::Moves),
            p50_us: counted.permille_us(Figure::ActionToEvent, 500),
            p99_us: counted.permille_us(Figure::ActionToEvent, 990),
            max_us: counted.max_us(Figure::ActionToEvent),
            server_cpu_us: sum.cpu_us.saturating_sub(last.cpu_us),
            server_rss_bytes: sum.rss_bytes,
            server_queued: sum.queued,
            tester_cpu_us: own.cpu_us.saturating_sub(self.own_last.cpu_us),
        };
        (self.last, self.own_last, self.last_at) = (look, own, at);
        self.step.counted.add(&counted);
        self.step.seconds.push(second.clone());
        second
    }

    /// All of it until the last second that was looked at.
    fn so_far(&self, gathering: &Gathering) -> Step {
        let looks = self.first.iter().zip(&self.last);
        let moves = self.step.counted.moves_at.iter().chain(repeat(&0));
        let seen = gathering.crowd.nodes.urls().zip(looks).zip(moves);
        let nodes = seen.map(|((url, (first, last)), moves)| Node {
            url: url.to_owned(),
            cpu_us: last.cpu_us.saturating_sub(first.cpu_us),
            rss_bytes: last.rss_bytes,
            moves: *moves,
        });
        let nodes: Vec<_> = nodes.collect();
        Step {
            long_ms: ms(self.last_at.since(self.begun)),
            server_cpu_us: nodes.iter().map(|node| node.cpu_us).sum(),
            server_rss_bytes: nodes.iter().map(|node| node.rss_bytes).sum(),
            nodes,
            tester_cpu_us: self.own_last.cpu_us.saturating_sub(self.own_first.cpu_us),
            tester_processors: nodes::own_processors(),
            ..self.step.clone()
        }
    }
}

fn ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
