//! Every bound of the shell, and what happens beyond it.

/// What is bounded, and by how much. Beyond each stands what happens then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How often an input is decided on; beyond it, unavailable.
    pub attempts: u8,
    /// Inputs that one look at a table may lead to, one after the other. What is owed beyond that
    /// is due at the table's deadline.
    pub rounds: u8,
    /// Requests that wait for a table; of more, unavailable.
    pub waiting: usize,
    /// How long a request waits; longer, unavailable.
    pub waiting_ms: u64,
    /// Notices that wait for one watcher; of more, its watch ends, and it resumes by version.
    pub notices: usize,
    /// Points that a replica remembers, to know a publication that comes late from one of another
    /// history. About older ones the journal is asked.
    pub points: usize,
    /// Lines of which a replica keeps what they did while somebody is away: some half a minute of
    /// play, with connections that go and come. Who missed more is told from the journal.
    pub applied: usize,
    /// The same while everybody is there: what may be on its way when a connection breaks.
    pub applied_on_the_way: usize,
    /// A journal this long is replaced by a snapshot when no game is running.
    pub journal_lines: usize,
    /// The same while a game is running, so that nobody lengthens the journal without end by coming
    /// and going: much longer than a game, which is not to lose what its players resume by.
    pub journal_lines_in_game: usize,
    /// The most updates that resume a connection; a longer gap is closed by a snapshot.
    pub resumed: usize,
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
        attempts: 16,
        rounds: 4,
        waiting: 256,
        waiting_ms: 2_000,
        notices: 64,
        points: 32,
        applied: 16,
        applied_on_the_way: 2,
        journal_lines: 500,
        journal_lines_in_game: 2_000,
        resumed: 64,
        idle_ms: 60 * 60 * 1_000,
        ledger_faults: 20,
    };
}
