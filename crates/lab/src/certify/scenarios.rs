//! The scenarios as data: the planted fault of each, and the behaviour that it requires of a
//! client.

use bahay_protocol::{Closing, close};

use crate::certify::fault::{
    CommandFault, Fault, Injection, RefreshFault, SessionEnd, TableFault, UpdateFault, UpgradeFault,
};

/// One fault of the server or of the network, and the behaviour that docs/PROTOCOL.md requires.
#[derive(Debug)]
pub struct Scenario {
    pub name: &'static str,
    /// The planted fault.
    pub planted: &'static str,
    /// The required behaviour.
    pub client_must: &'static str,
    /// The section of docs/PROTOCOL.md.
    pub section: &'static str,
    pub(crate) fault: Fault,
}

impl Scenario {
    /// Returns the scenario of this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        SCENARIOS.iter().find(|scenario| scenario.name == name)
    }

    /// Returns whether the required behaviour is visible only in what the client shows.
    pub fn needs_report(&self) -> bool {
        self.fault == Fault::ForgedSeed
    }
}

/// Writes the list of scenarios, each by its name, its fault and its three texts.
macro_rules! scenarios {
    ($($name:literal: $fault:expr, $planted:literal, $client_must:literal, $section:literal;)+) => {
        /// Every scenario.
        pub const SCENARIOS: &[Scenario] = &[$(Scenario {
            name: $name,
            planted: $planted,
            client_must: $client_must,
            section: $section,
            fault: $fault,
        }),+];
    };
}

scenarios! {
    "cut_before_answer": Fault::Command(CommandFault::CutBeforeAnswer),
        "The connection is cut after each of the first six commands has taken effect, before its answer.",
        "Join from the last version, and repeat the command only if the table still awaits it.",
        "A command whose answer was lost";
    "cut_before_command": Fault::Command(CommandFault::CutBeforeCommand),
        "The connection is cut while each of the first six commands is on its way.",
        "Join, and repeat the same command: the same action, the same commitment.",
        "A command whose answer was lost";
    "cut_while_joining": Fault::Table(TableFault::CutWhileJoining),
        "The connection is cut, and three times again while the table is being sent.",
        "Join from the last version that has arrived whole.",
        "Resuming";
    "answer_twice": Fault::Update(UpdateFault::AnswerTwice),
        "Ten answers are followed by a second one of the same id.",
        "Ignore an answer that nothing waits for.",
        "The socket";
    "update_twice": Fault::Update(UpdateFault::Twice),
        "Three updates arrive twice.",
        "Apply no update twice; join again if the versions do not fit.",
        "Versions";
    "update_missing": Fault::Update(UpdateFault::Missing),
        "Three updates are left out.",
        "Detect the gap, and join from the last version that fitted, or for a snapshot.",
        "Versions";
    "stale_prompt": Fault::Command(CommandFault::Stale),
        "Three actions take effect by another way and are answered `stale_prompt`.",
        "Send the action no more, and answer the next prompt.",
        "Prompts";
    "refused_for_now": Fault::Command(CommandFault::RefusedForNow),
        "Four commands are refused as `unavailable` and `retryable`.",
        "Repeat the same command soon, and not in a loop.",
        "Refusals";
    "too_fast": Fault::Command(CommandFault::TooFast),
        "Three commands are refused as `too_fast`, and the connection is closed with 4029.",
        "Wait for two seconds at least, then resume.",
        "Closing";
    "server_restarts": Fault::Closes(&[close::GOING_AWAY, close::INTERNAL, close::TOO_SLOW]),
        "The server closes with 1001, later with 1011, later with 4008.",
        "Connect again and resume each time.",
        "Closing";
    "slow_answer": Fault::Command(CommandFault::SlowAnswer),
        "Two answers arrive six seconds late.",
        "Lose nothing, and send no second action for the prompt.",
        "A command whose answer was lost";
    "silence_after_command": Fault::Command(CommandFault::Silence),
        "After a command the server neither reads nor writes any more.",
        "Detect the dead connection within 40 s, join on another one, and repeat the command.",
        "Ping";
    "silence_while_idle": Fault::Table(TableFault::Silence),
        "While others play, the server neither reads nor writes any more.",
        "Detect the dead connection within 40 s, and join on another one.",
        "Ping";
    "upgrade_unanswered": Fault::Upgrade(UpgradeFault::Unanswered),
        "The connection is cut, and two requests for a socket get no answer.",
        "Try again within 40 s.",
        "Resuming";
    "portal_at_socket": Fault::Upgrade(UpgradeFault::Portal),
        "The connection is cut, and for three seconds a portal answers with a page and status 200.",
        "Try again with a growing back-off.",
        "Closing";
    "socket_unavailable": Fault::Upgrade(UpgradeFault::Unavailable),
        "The connection is cut, and for three seconds a proxy answers 503.",
        "Try again with a growing back-off.",
        "Closing";
    "token_expired": Fault::Refresh(RefreshFault::None),
        "The connection is closed with 4401 twice: the access token has expired.",
        "Refresh once each time, with the newest refresh token, and resume.",
        "REST, up to the table";
    "refresh_answer_lost": Fault::Refresh(RefreshFault::AnswerLost),
        "The answer to a refresh is lost after it took effect.",
        "Repeat the refresh with the same token and device.",
        "Accounts";
    "refresh_refused": Fault::Refresh(RefreshFault::Reused),
        "A refresh is refused as `refresh_token_reused`.",
        "Send that token no more: sign in again, or stop.",
        "Accounts";
    "portal_at_refresh": Fault::Refresh(RefreshFault::Portal),
        "Three refreshes are answered by a portal's page with status 200.",
        "Take the page for no answer, and repeat with a back-off.",
        "Accounts";
    "too_many_requests": Fault::Refresh(RefreshFault::TooManyRequests),
        "A refresh is refused with 429 and `Retry-After: 2`.",
        "Wait for two seconds at least, then repeat.",
        "Accounts";
    "session_ended": Fault::Session(SessionEnd::SignedOut),
        "The connection is closed with 4003: the session has ended.",
        "Use none of its tokens, and open no socket before a new sign-in.",
        "Closing";
    "banned": Fault::Refresh(RefreshFault::Banned),
        "The token has expired, and refresh and sign-in are refused as `banned`.",
        "Stop: open no socket, send no request.",
        "Accounts";
    "replaced": Fault::Session(SessionEnd::Replaced),
        "The connection is closed with 4001: a duplicate of the client has joined.",
        "Do not return.",
        "Closing";
    "clock_forward": Fault::Clock { shift_ms: 3_600_000 },
        "After a cut, the server's clock is an hour ahead.",
        "Play on, and refresh once at most.",
        "The socket";
    "clock_back": Fault::Clock { shift_ms: -3_600_000 },
        "After a cut, the server's clock is an hour behind.",
        "Play on, and refresh once at most.",
        "The socket";
    "forged_deal": Fault::ForgedSeed,
        "The seed that a game reveals does not open to its commitment.",
        "Report a deal that does not hold.",
        "Reveal";
    "later_version": Fault::Inject(Injection::LaterVersion),
        "Messages carry unknown fields, and messages and events of unknown types arrive.",
        "Ignore them, and count the version of an unknown event.",
        "Units";
    "malformed_message": Fault::Inject(Injection::Malformed),
        "Two texts arrive that are no message.",
        "Ignore them, or connect again and resume.",
        "The socket";
    "large_message": Fault::Inject(Injection::Large),
        "An unknown message of one MiB arrives.",
        "Ignore it.",
        "Units";
    "table_halted": Fault::Table(TableFault::Halted),
        "The connection is cut, and joins are refused as `table_halted` for four seconds.",
        "Join again some seconds apart, and play on.",
        "When a table is gone";
    "table_voided": Fault::Table(TableFault::Ended(Closing::Voided)),
        "The table is closed as `voided`.",
        "Send it nothing more.",
        "When a table is gone";
    "table_lost": Fault::Table(TableFault::Ended(Closing::Lost)),
        "The table is closed as `lost`.",
        "Send it nothing more.",
        "When a table is gone";
    "snapshot_instead": Fault::Table(TableFault::HistoryForgotten),
        "Two joins are answered with a snapshot instead of the missed updates.",
        "Replace everything by the snapshot.",
        "Resuming";
    "versions_restart": Fault::Table(TableFault::VersionsRestart),
        "A snapshot comes unasked, with a lower version.",
        "Replace everything by the snapshot, and follow its versions.",
        "Versions";
    "prompt_repeated": Fault::Command(CommandFault::PromptRepeated),
        "Snapshots repeat the question, also while its answer is on its way.",
        "Answer each prompt once, and commit to one text for a game.",
        "Prompts";
    "takeover": Fault::Table(TableFault::Takeover),
        "The client is kept away until the AI plays its seat.",
        "Join, and play on by itself.",
        "Away and back";
}
