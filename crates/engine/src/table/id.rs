//! The ids of tables, players, games and connections. Each is a UUID that the caller provides; they
//! are distinct types so that one cannot be mistaken for another.

use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

macro_rules! id {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, uuid::Error> {
                text.parse().map(Self)
            }
        }
    };
}

id! {
    /// The id of an account that plays.
    PlayerId
}
id! {
    /// The id of a table.
    TableId
}
id! {
    /// The id of a game, from its deal to its settlement. Its 16 bytes are part of the deal's key
    /// (rule 9.2).
    GameId
}
id! {
    /// The id of one connection of a player, so that the end of an old connection does not affect a
    /// newer one.
    ConnectionId
}
