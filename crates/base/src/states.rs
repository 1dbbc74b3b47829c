//! States and outcomes to which PostgreSQL, Redis and the API give the same texts.

crate::text_enum! {
    /// The state of a game.
    #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
    pub enum GameState {
        Open = "open",
        Settled = "settled",
        Voided = "voided",
    }
}

crate::text_enum! {
    /// The outcome of a game for a player; `drawn` if nobody won.
    #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
    pub enum GameOutcome {
        Won = "won",
        Lost = "lost",
        /// Nobody won (rule 5.3).
        Drawn = "drawn",
        /// The game could not be finished, and every coin was refunded.
        Voided = "voided",
    }
}

crate::text_enum! {
    /// The state of a ticket.
    #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
    pub enum TicketState {
        Waiting = "waiting",
        /// The matcher has chosen a table, and the player is being seated.
        Placed = "placed",
        Seated = "seated",
        Cancelled = "cancelled",
        Expired = "expired",
    }
}

crate::text_enum! {
    /// The reason for which a player waits although other players wait too. Absent if there is
    /// none.
    #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
    pub enum WaitReason {
        /// All suitable players are on the same network, such as that of one mobile carrier, and
        /// this room keeps them apart. Rooms of a lower bet and private tables do not; another
        /// connection also helps.
        OnlySameNetwork = "only_same_network",
    }
}

crate::text_enum! {
    /// The state of a tournament.
    #[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(example = "announced"))]
    pub enum TournamentState {
        /// Players register.
        Announced = "announced",
        Running = "running",
        /// All games are over.
        Ended = "ended",
        Cancelled = "cancelled",
    }
}
