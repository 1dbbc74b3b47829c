//! The forms of the server's messages, each with a subprotocol.

use crate::SUBPROTOCOL;

/// The form of messages on a connection, which follows from the agreed subprotocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Complete JSON objects.
    #[default]
    Full,
    /// Short arrays in JSON.
    Brief,
    /// Short arrays in MessagePack.
    Compact,
}

impl Form {
    /// All forms, in the order of the server's preference.
    pub const ALL: [Self; 3] = [Self::Compact, Self::Brief, Self::Full];

    pub const fn subprotocol(self) -> &'static str {
        match self {
            Self::Full => SUBPROTOCOL,
            Self::Brief => "bahay.v1.brief",
            Self::Compact => "bahay.v1.compact",
        }
    }

    /// Returns the form of a subprotocol. A client that names none gets the full form.
    pub fn from_subprotocol(subprotocol: Option<&str>) -> Self {
        let named = Self::ALL.into_iter().find(|form| Some(form.subprotocol()) == subprotocol);
        named.unwrap_or_default()
    }

    /// Returns true if the client computes prompts itself.
    pub const fn is_short(self) -> bool {
        match self {
            Self::Full => false,
            Self::Brief | Self::Compact => true,
        }
    }
}
