//! The ids of tables, players, games and connections. Each is a UUID that the caller provides; they
//! are distinct types so that one cannot be mistaken for another.

/// Defines types of ids, each a UUID.
#[macro_export]
macro_rules! uuid_ids {
    ($($(#[$meta:meta])* $name:ident;)*) => {$(
        $(#[$meta])*
        #[derive(
            Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(pub uuid::Uuid);

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Display::fmt(&self.0, f)
            }
        }

        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Display::fmt(&self.0, f)
            }
        }

        impl core::str::FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, uuid::Error> {
                text.parse().map(Self)
            }
        }
    )*};
}

uuid_ids! {
    /// The id of an account that plays.
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    PlayerId;
    /// The id of a table.
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    TableId;
    /// The id of a game, from its deal to its settlement. Its 16 bytes are part of the deal's key
    /// (rule 9.2).
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    GameId;
    /// The id of a tournament.
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    TournamentId;
    /// The id of one connection of a player, so that the end of an old connection does not affect a
    /// newer one.
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    ConnectionId;
}
