//! The bounds of the shell, with the action taken when each is exceeded.

/// The bounds of a table's host and sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The number of times that one input is decided. Beyond it, the request fails as unavailable.
    pub decide_attempts: u8,
    /// The number of consecutive rounds of effects that one request may cause. Further effects are
    /// due at the table's deadline.
    pub effect_rounds: u8,
    /// The number of queued requests per table. Beyond it, a request fails as unavailable.
    pub queue_len: usize,
    /// The timeout of a queued request in ms. Beyond it, the request fails as unavailable.
    pub queue_timeout_ms: u64,
    /// The number of queued notices per watcher. Beyond it, the watch ends, and the client resumes
    /// by version.
    pub queued_notices: usize,
    /// The number of points that a replica remembers, to tell a late publication from one of
    /// another history. For older points the journal is read.
    pub remembered_points: usize,
    /// The number of lines whose events a replica remembers while a player is away: about half a
    /// minute of play with reconnections. A viewer that missed more resumes from the journal.
    pub remembered_lines: usize,
    /// The number of lines whose events a replica remembers while every player is connected: the
    /// lines that may be in transit when a connection breaks.
    pub remembered_lines_when_all_present: usize,
    /// The length from which a journal is replaced by a snapshot while no game is running.
    pub journal_lines: usize,
    /// The length from which a journal is replaced by a snapshot during a game, so that
    /// reconnections cannot lengthen the journal without bound. Much longer than a game, so that
    /// its players can resume.
    pub journal_lines_in_game: usize,
    /// The number of updates with which a connection may resume. A longer gap is closed by a
    /// snapshot.
    pub resume_updates: usize,
    /// The time in ms after which an empty table without a POT is deleted.
    pub idle_ms: u64,
    /// The number of consecutive faults that the ledger reports before the table is halted, because
    /// the fault may be the ledger's own.
    pub ledger_faults: u32,
}

impl Limits {
    /// The bounds of the service. Five games fit into a journal, so a player who was away for one
    /// game can still resume by version.
    pub const SERVICE: Self = Self {
        decide_attempts: 16,
        effect_rounds: 4,
        queue_len: 256,
        queue_timeout_ms: 2_000,
        queued_notices: 64,
        remembered_points: 32,
        remembered_lines: 16,
        remembered_lines_when_all_present: 2,
        journal_lines: 500,
        journal_lines_in_game: 2_000,
        resume_updates: 64,
        idle_ms: 60 * 60 * 1_000,
        ledger_faults: 20,
    };
}
