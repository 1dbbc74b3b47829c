//! The kinds of planted faults.

use bahay_protocol::Closing;

/// A planted fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// At commands of the table.
    Command(CommandFault),
    /// At the server's messages.
    Update(UpdateFault),
    /// At the table as a whole.
    Table(TableFault),
    /// At the requests for sockets after a cut.
    Upgrade(UpgradeFault),
    /// At refreshes, after the access token has expired.
    Refresh(RefreshFault),
    /// The end of the session, or of this client's turn in it.
    Session(SessionEnd),
    /// Additional or changed texts.
    Inject(Injection),
    /// The connection is closed with each of these codes, at different times.
    Closes(&'static [u16]),
    /// After a cut, `hello` has the server's time with this error.
    Clock { shift_ms: i64 },
    /// The seed revealed at the end of a game is another one.
    ForgedSeed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandFault {
    CutBeforeAnswer,
    CutBeforeCommand,
    Stale,
    RefusedForNow,
    TooFast,
    SlowAnswer,
    Silence,
    PromptRepeated,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UpdateFault {
    AnswerTwice,
    Twice,
    Missing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableFault {
    CutWhileJoining,
    Silence,
    Halted,
    Ended(Closing),
    HistoryForgotten,
    VersionsRestart,
    Takeover,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UpgradeFault {
    Unanswered,
    Portal,
    Unavailable,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RefreshFault {
    None,
    AnswerLost,
    Reused,
    Portal,
    TooManyRequests,
    Banned,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionEnd {
    SignedOut,
    Replaced,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Injection {
    LaterVersion,
    Malformed,
    Large,
}

impl Fault {
    /// Returns how often the fault is planted.
    pub(crate) fn times(self) -> u32 {
        match self {
            Self::Command(fault) => match fault {
                CommandFault::CutBeforeAnswer | CommandFault::CutBeforeCommand => 6,
                CommandFault::Stale => 3,
                CommandFault::RefusedForNow => 4,
                CommandFault::TooFast | CommandFault::Silence => 1,
                CommandFault::SlowAnswer => 2,
                CommandFault::PromptRepeated => 4,
            },
            Self::Update(fault) => match fault {
                UpdateFault::AnswerTwice => 10,
                UpdateFault::Twice | UpdateFault::Missing => 3,
            },
            Self::Table(fault) => match fault {
                TableFault::CutWhileJoining => 3,
                TableFault::HistoryForgotten => 2,
                TableFault::Silence
                | TableFault::Halted
                | TableFault::Ended(_)
                | TableFault::VersionsRestart
                | TableFault::Takeover => 1,
            },
            Self::Refresh(RefreshFault::None) => 2,
            Self::Inject(fault) => match fault {
                Injection::LaterVersion => 6,
                Injection::Malformed => 2,
                Injection::Large => 1,
            },
            Self::Closes(codes) => u32::try_from(codes.len()).unwrap_or(u32::MAX),
            Self::Upgrade(_)
            | Self::Refresh(_)
            | Self::Session(_)
            | Self::Clock { .. }
            | Self::ForgedSeed => 1,
        }
    }

    /// Returns whether nothing of the table may follow, so that the client is watched in quiet.
    pub(crate) fn is_final(self) -> bool {
        matches!(
            self,
            Self::Session(_)
                | Self::Refresh(RefreshFault::Banned)
                | Self::Table(TableFault::Ended(_))
        )
    }
}
