//! The progress of a scenario's fault.

use std::collections::BTreeSet;

use crate::certify::conduct::CommandKey;

/// The progress of a scenario's fault, as `planting` and `requests` count it.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) planted: u32,
    /// The time at which the fault was planted last.
    pub(super) planted_at_ms: i64,
    /// A count within one fault: refusals, answers of a portal, joins.
    pub(super) count: u32,
    /// The commands at which the fault was planted.
    pub(super) commands: BTreeSet<CommandKey>,
    /// The command whose answer is withheld: its socket and id.
    pub(super) withheld: Option<(u64, u32)>,
    /// The times before which the client may request no socket, and send no refresh or sign-in.
    pub(super) no_socket_before_ms: i64,
    pub(super) no_request_before_ms: i64,
    /// The refresh token that has to be sent again, or may not be.
    pub(super) refresh_token: Option<String>,
    /// True once the fault has begun that is counted later.
    pub(super) has_begun: bool,
    /// The time until which the client is kept away, if the AI does not take over before.
    pub(super) away_until_ms: i64,
    pub(super) has_signed_in: bool,
    /// True once the client may stop for good.
    pub(super) may_stop: bool,
    /// The time since which the client knows that it has to stop.
    pub(super) refused_at_ms: Option<i64>,
}

impl Plan {
    pub(super) fn may_stop(&self) -> bool {
        self.may_stop && !self.has_signed_in
    }
}
