//! The options of a new client.

use std::collections::BTreeMap;

use bahay_client::{Options, StoreKey};
use bahay_protocol::brief::Form;

use crate::error::ClientError;
use crate::input::ClientTime;

/// The options of a new client.
#[derive(Clone, uniffi::Record)]
pub struct ClientOptions {
    /// The server's origin, such as `https://house.example`.
    pub base: String,
    /// 32 random bytes of the operating system, drawn for this client alone. The device's secret
    /// and the texts of the client's seeds are derived from them.
    pub random_seed: Vec<u8>,
    /// The name of a new guest, of 2 to 20 characters.
    pub name: Option<String>,
    /// The values stored by earlier clients of this installation.
    pub stored: Vec<StoredValue>,
    /// The message forms to offer, of which the server takes the shortest; empty for all.
    pub forms: Vec<MessageForm>,
    /// True to store the table at every change, so that a restarted client shows it at once.
    pub stores_table: bool,
    /// True to read the player's wallet after each connection and each settlement.
    pub follows_wallet: bool,
}

/// Formats the options without their secrets.
impl std::fmt::Debug for ClientOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { base, name, forms, .. } = self;
        f.debug_struct("ClientOptions")
            .field("base", base)
            .field("name", name)
            .field("forms", forms)
            .finish_non_exhaustive()
    }
}

/// A value that the client has asked its driver to store.
#[derive(Clone, PartialEq, Eq, uniffi::Record)]
pub struct StoredValue {
    pub key: StoredKey,
    pub value: String,
}

/// Formats the key alone: the value is secret.
impl std::fmt::Debug for StoredValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoredValue").field("key", &self.key).finish_non_exhaustive()
    }
}

/// The name of a stored value. All of them are secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, uniffi::Enum)]
pub enum StoredKey {
    /// The device's secret, kept as long as the installation.
    Device,
    /// The text of the client's seed, kept as long as the installation.
    Seed,
    /// The tokens of the session.
    Session,
    /// The last known table.
    Table,
}

/// A form of the messages on the socket (docs/PROTOCOL.md, "Message forms").
#[derive(Clone, Copy, Debug, PartialEq, Eq, uniffi::Enum)]
pub enum MessageForm {
    Full,
    Brief,
    Compact,
}

impl From<StoreKey> for StoredKey {
    fn from(key: StoreKey) -> Self {
        match key {
            StoreKey::Device => Self::Device,
            StoreKey::Seed => Self::Seed,
            StoreKey::Session => Self::Session,
            StoreKey::Table => Self::Table,
        }
    }
}

impl From<StoredKey> for StoreKey {
    fn from(key: StoredKey) -> Self {
        match key {
            StoredKey::Device => Self::Device,
            StoredKey::Seed => Self::Seed,
            StoredKey::Session => Self::Session,
            StoredKey::Table => Self::Table,
        }
    }
}

impl From<MessageForm> for Form {
    fn from(form: MessageForm) -> Self {
        match form {
            MessageForm::Full => Self::Full,
            MessageForm::Brief => Self::Brief,
            MessageForm::Compact => Self::Compact,
        }
    }
}

/// Converts the options for a core that is created at this time.
///
/// # Errors
/// If the random seed has not 32 bytes.
pub(crate) fn to_core_options(
    options: ClientOptions,
    time: ClientTime,
) -> Result<Options, ClientError> {
    let ClientOptions { base, random_seed, name, stored, forms, stores_table, follows_wallet } =
        options;
    let length = random_seed.len() as u64;
    let random_seed: [u8; 32] =
        random_seed.try_into().map_err(|_| ClientError::RandomSeedLength { length })?;
    let stored: BTreeMap<StoreKey, String> =
        stored.into_iter().map(|StoredValue { key, value }| (key.into(), value)).collect();
    let defaults = Options::new(base, random_seed, time.into());
    let forms = if forms.is_empty() {
        defaults.forms.clone()
    } else {
        forms.into_iter().map(Form::from).collect()
    };
    Ok(Options { name, stored, forms, stores_table, follows_wallet, ..defaults })
}
