//! The errors of the interface: mistakes of the driver or the app, never of the server.

/// An argument that the core cannot take. The client is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, uniffi::Error)]
pub enum ClientError {
    /// The random seed is not 32 bytes long.
    #[error("the random seed has {length} bytes instead of 32")]
    RandomSeedLength { length: u64 },
    /// The text is no action of the table's game, or there is no table.
    #[error("the text is no action of the table's game")]
    NotAnAction,
    /// The text is no UUID.
    #[error("the text is no UUID")]
    NotAnId,
    /// The phrase does not exist.
    #[error("there is no such phrase")]
    UnknownPhrase,
}
