//! Every bound of the shell, and what happens beyond it.

/// What is bounded, and by how much. Beyond each stands what happens then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How often an input is decided on; beyond it, unavailable.
    pub decide_attempts: u8,
    /// Inputs that one look at a table may lead to, one after the other. What is owed beyond that
    /// is due at the table's deadline.
    pub effect_rounds: u8,
    /// Requests that wait for a table; of more, unavailable.
    pub queue_len: usize,
    /// How long a request waits; longer, unavailable.
    pub queue_timeout_ms: u64,
    /// NoticeReceiver that wait for one watcher; of more, its watch ends, and it resumes by version.
    pub queued_notices: usize,
    /// Points that a replica remembers, to know a publication that comes late from one of another
    /// history. About older ones the journal is asked.
    pub remembered_points: usize,
    /// Lines of which a replica keeps what they did while somebody is away: some half a minute of
    /// play, with connections that go and come. Who missed more is told from the journal.
    pub remembered_lines: usize,
    /// The same while everybody is there: what may be on its way when a connection breaks.
    pub remembered_lines_when_all_present: usize,
    /// A journal this long is replaced by a snapshot when no game is running.
    pub journal_lines: usize,
    /// The same while a game is running, so that nobody lengthens the journal without end by coming
    /// and going: much longer than a game, which is not to lose what its players resume by.
    pub journal_lines_in_game: usize,
    /// The most updates that resume a connection; a longer gap is closed by a snapshot.
    pub resume_updates: usize,
    /// An empty table without a POT is forgotten after this time.
    pub idle_ms: u64,
    /// What the ledger calls a fault of ours may be one of its own: a table is halted after so many
    /// in a row.
    pub ledger_faults: u32,
}

impl Limits {
    /// Those of the service. Five games fit into a journal, so that who was away for one can still
    /// resume by version.
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
