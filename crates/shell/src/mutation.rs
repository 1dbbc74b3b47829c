//! The mutations that the simulator plants. The shell asks its context for some of them; all others
//! are in the simulator's own parts.

/// Defines [`Mutation`] with the list of its values.
macro_rules! mutations {
    ($($(#[$meta:meta])* $value:ident,)+) => {
        /// A mutation: a defect of the house that the simulator plants, to prove that its checks
        /// detect it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Mutation {
            $($(#[$meta])* $value,)+
        }

        impl Mutation {
            pub const ALL: &[Self] = &[$(Self::$value),+];
        }
    };
}

mutations! {
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
    /// A node does not send every ack.
    ForgetsAcks,
    /// A node deals after the first client's reveal.
    DealsUnheard,
    /// A game is settled with another seed text than the one that its client revealed.
    SettlesAnotherText,
    /// A restarted Redis has lost the writes of the last second.
    ForgetsTheLastSecond,
    /// A player is taken over immediately after a disconnection.
    GivesNoGrace,
}
