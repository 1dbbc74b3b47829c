//! The parameters of a run, and the deliberate defects that its checks must detect.

/// The parameters of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The seed that determines the run.
    pub seed: u64,
    /// The number of games to settle under faults before the calm.
    pub games: u64,
    pub nodes: usize,
    pub players: usize,
    /// The tables are private, and their hosts kick players.
    pub is_private: bool,
    pub mutation: Option<Mutation>,
    /// Keeps a log of the last events, which is slow.
    pub keeps_story: bool,
}

impl Options {
    /// Returns the options of a small house: two to four nodes, and players for three to five
    /// tables of this many seats.
    pub const fn from_seed(seed: u64, seats: u8) -> Self {
        let (nodes, tables) = match seed % 3 {
            0 => (2, 3),
            1 => (3, 4),
            _ => (4, 5),
        };
        let is_private = seed % 4 == 3;
        let players = seats as usize * tables;
        Self { seed, games: 24, nodes, players, is_private, mutation: None, keeps_story: false }
    }
}

/// Defines an enum with the list of its values.
macro_rules! listed_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$meta:meta])* $value:ident,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name {
            $($(#[$meta])* $value,)+
        }

        impl $name {
            pub const ALL: &[Self] = &[$(Self::$value),+];
        }
    };
}

listed_enum! {
    /// A mutation: a defect of the house, planted on purpose.
    Mutation {
        /// A node acknowledges a command before the append is answered.
        AcksBeforeTheAppend,
        /// Redis appends without comparing versions.
        AppendsBlindly,
        /// A client gets another seat's view.
        ShowsAnothersView,
        /// A node sends events without redaction.
        ForgetsToRedact,
        /// Settlement is not idempotent.
        SettlesTwice,
        /// The antes of a voided game stay in the POT.
        KeepsAntesOfVoided,
        /// The POT of a private table is never refunded.
        ForgetsWhoPaid,
        /// Claiming a due table removes its deadline.
        ClaimsForGood,
        /// A node uses its own machine's clock.
        TrustsItsOwnClock,
        /// A node reads the time rarely and not when a client joins.
        JoinsByItsOwnTime,
        /// A node is declared dead between two heartbeats.
        BuriesTheLiving,
        /// Games without live state stay open.
        NeverVoids,
        /// A session delivers lines after a gap as if there were none.
        OverlooksGaps,
        /// A session delivers hidden lines.
        TellsOfHiddenLines,
        /// A second join on a connection repeats lines that are already on their way.
        RepeatsWhatWasSent,
        /// A second join on a connection reads the journal, slowly, and the result replaces lines
        /// that were published meanwhile.
        ReadsOverPublications,
        /// A connection keeps its watch after a refused join.
        WatchesAfterARefusedJoin,
        /// A node waits for each heartbeat's response before it sends the next.
        WaitsForEachHeartbeat,
        /// Redis appends to a halted table.
        AppendsToHalted,
        /// A table is voided without being halted first.
        VoidsWithoutHalting,
        /// Tables ignore terms updates of their room.
        KeepsOldTerms,
        /// The table keeps writing to a connection while its session is busy.
        WritesWhileBusy,
        /// A viewer that resumes from a node's memory misses a line.
        ResumesTooLate,
        /// A node acknowledges a client's reveal and drops it.
        ForgetsReveals,
        /// A node deals after the first client's reveal.
        DealsUnheard,
        /// A game is settled with another seed text than the one that its client revealed.
        SettlesAnotherText,
        /// A restarted Redis has lost the writes of the last second.
        ForgetsTheLastSecond,
        /// A player is taken over immediately after a disconnection.
        GivesNoGrace,
    }
}
