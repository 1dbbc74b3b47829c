//! The rules of docs/PROTOCOL.md that a client keeps in every scenario, as far as the server can
//! observe them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bahay_engine::table::{GameId, TableId};
use bahay_protocol::{ActionText, Command, Tag};

/// The largest number of requests for sockets within [`BURST_MS`], and within [`LONG_MS`]. Clients
/// may race some sockets.
const UPGRADES_BURST: usize = 10;
const UPGRADES_LONG: usize = 30;
/// The largest number of joins, and of refreshes and sign-ins, within [`LONG_MS`].
const JOINS_LONG: usize = 15;
const REQUESTS_LONG: usize = 10;
const BURST_MS: i64 = 1_000;
const LONG_MS: i64 = 10_000;
/// The time for which a repeated command may have been on its way when its answer was sent.
const IN_FLIGHT_MS: i64 = 1_000;
/// The largest number of recorded violations.
const VIOLATIONS_MAX: usize = 20;

/// The question that a command answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CommandKey {
    Ready(GameId),
    Reveal(GameId),
    Act(GameId, u32),
}

impl CommandKey {
    pub(super) fn is_act(self) -> bool {
        matches!(self, Self::Act(..))
    }

    pub(super) fn name(self) -> String {
        match self {
            Self::Ready(_) => "ready".into(),
            Self::Reveal(_) => "reveal".into(),
            Self::Act(_, prompt) => format!("the action for prompt {prompt}"),
        }
    }
}

/// The answer to a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerKind {
    Final,
    /// A refusal for now, after which the command is repeated.
    ForNow,
}

#[derive(Debug)]
struct CommandRecord {
    content: String,
    socket: u64,
    answer: Option<(AnswerKind, i64)>,
}

/// A record of what a client did, with everything that it must not have done.
#[derive(Debug)]
pub(super) struct Conduct {
    table: TableId,
    /// Every version with its tag at which the client has been.
    positions: BTreeSet<(u64, [u8; 6])>,
    /// The questions that the client was shown.
    shown: BTreeSet<CommandKey>,
    commands: BTreeMap<CommandKey, CommandRecord>,
    upgrades: VecDeque<i64>,
    joins: VecDeque<i64>,
    requests: VecDeque<i64>,
    violations: Vec<String>,
}

impl Conduct {
    pub(super) fn new(table: TableId) -> Self {
        Self {
            table,
            positions: BTreeSet::new(),
            shown: BTreeSet::new(),
            commands: BTreeMap::new(),
            upgrades: VecDeque::new(),
            joins: VecDeque::new(),
            requests: VecDeque::new(),
            violations: Vec::new(),
        }
    }

    pub(super) fn violations(&self) -> &[String] {
        &self.violations
    }

    pub(super) fn record_violation(&mut self, violation: impl Into<String>) {
        let violation = violation.into();
        if self.violations.len() < VIOLATIONS_MAX && !self.violations.contains(&violation) {
            self.violations.push(violation);
        }
    }

    pub(super) fn record_position(&mut self, version: u64, tag: Tag) {
        self.positions.insert((version, tag.0.0));
    }

    pub(super) fn record_shown(&mut self, key: CommandKey) {
        self.shown.insert(key);
    }

    pub(super) fn record_upgrade(&mut self, now_ms: i64) {
        self.upgrades.push_back(now_ms);
        forget_older(&mut self.upgrades, now_ms - LONG_MS);
        let burst = self.upgrades.iter().filter(|at_ms| **at_ms > now_ms - BURST_MS).count();
        if burst > UPGRADES_BURST || self.upgrades.len() > UPGRADES_LONG {
            self.record_violation(format!(
                "no back-off: {burst} requests for sockets within a second, {} within ten",
                self.upgrades.len()
            ));
        }
    }

    /// Records a refresh or a sign-in.
    pub(super) fn record_request(&mut self, now_ms: i64) {
        self.requests.push_back(now_ms);
        forget_older(&mut self.requests, now_ms - LONG_MS);
        if self.requests.len() > REQUESTS_LONG {
            let count = self.requests.len();
            self.record_violation(format!(
                "no back-off: {count} refreshes and sign-ins within ten seconds"
            ));
        }
    }

    pub(super) fn record_join(
        &mut self,
        now_ms: i64,
        from: Option<u64>,
        tag: Option<Tag>,
        table: Option<TableId>,
    ) {
        self.joins.push_back(now_ms);
        forget_older(&mut self.joins, now_ms - LONG_MS);
        if self.joins.len() > JOINS_LONG {
            let count = self.joins.len();
            self.record_violation(format!("{count} joins within ten seconds"));
        }
        let Some(from) = from else {
            return;
        };
        let is_known = tag.is_some_and(|tag| self.positions.contains(&(from, tag.0.0)));
        if !is_known || table != Some(self.table) {
            self.record_violation(format!(
                "a join from version {from}, at which this client has never been"
            ));
        }
    }

    /// Records a command that has arrived on a socket.
    pub(super) fn record_command(
        &mut self,
        now_ms: i64,
        socket: u64,
        key: CommandKey,
        content: String,
    ) {
        let name = key.name();
        let record = CommandRecord { content: content.clone(), socket, answer: None };
        let Some(before) = self.commands.insert(key, record) else {
            if !self.shown.contains(&key) {
                self.record_violation(format!("{name}: the client was not asked"));
            }
            return;
        };
        let is_other = content != before.content;
        let is_for_now = before.answer.is_some_and(|(kind, _)| kind == AnswerKind::ForNow);
        let is_twice = before.socket == socket && !is_for_now;
        let is_late = before.answer.is_some_and(|(kind, at_ms)| {
            kind == AnswerKind::Final && now_ms - at_ms > IN_FLIGHT_MS
        });
        if is_other {
            self.record_violation(format!("{name} was repeated with another content"));
        }
        if is_twice {
            self.record_violation(format!("{name} was sent twice on one connection"));
        }
        if is_late {
            self.record_violation(format!("{name} was sent again after its answer"));
        }
    }

    pub(super) fn record_answer(&mut self, now_ms: i64, key: CommandKey, kind: AnswerKind) {
        if let Some(record) = self.commands.get_mut(&key) {
            record.answer = Some((kind, now_ms));
        }
    }
}

fn forget_older(times: &mut VecDeque<i64>, than_ms: i64) {
    while times.front().is_some_and(|at_ms| *at_ms <= than_ms) {
        times.pop_front();
    }
}

/// Returns the question that a command answers, and its content without the id; `None` for a command
/// that answers none.
pub(super) fn answered_question(command: &Command<ActionText>) -> Option<(CommandKey, String)> {
    match command {
        Command::Ready { game, commitment, .. } => {
            Some((CommandKey::Ready(*game), format!("{commitment:?}")))
        }
        Command::Reveal { game, text, .. } => Some((CommandKey::Reveal(*game), text.clone())),
        Command::Act { game, prompt, action, .. } => {
            let action: serde_json::Value =
                serde_json::from_str(action.as_str()).unwrap_or_default();
            Some((CommandKey::Act(*game, *prompt), action.to_string()))
        }
        _ => None,
    }
}
