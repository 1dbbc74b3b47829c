//! The settings of the archive.

use std::time::Duration;

use clap::Args;

use crate::records::{AddressError, ArchiveSchedule, ArchiveStore, Records};

/// The archive of old records. `bahay serve`, `bahay archive` and `bahay verify` use it.
#[derive(Args, Clone, Debug)]
pub struct ArchiveSettings {
    /// The archive of records of old games, the same for every node: file:///FOLDER or
    /// s3://BUCKET/PREFIX, which also needs AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID and
    /// AWS_SECRET_ACCESS_KEY. Without it all records stay in the database.
    #[arg(long, env = "BAHAY_ARCHIVE", value_name = "URL")]
    pub archive: Option<String>,

    /// Days from the end of a game until its record is moved to the archive.
    #[arg(long, env = "BAHAY_ARCHIVE_AFTER_DAYS", default_value_t = 30, value_name = "DAYS",
          value_parser = clap::value_parser!(u16).range(2..=3650))]
    pub archive_after_days: u16,
}

impl ArchiveSettings {
    /// Returns the store of records. The other settings of object storage are in the environment,
    /// under the names that its own tools use.
    ///
    /// # Errors
    /// An invalid address of the archive.
    pub fn records(&self) -> Result<Records, AddressError> {
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        // Container tools pass on unset variables as empty ones.
        let variables = variables.filter(|(_, value)| !value.is_empty());
        let address = self.archive.as_deref().filter(|address| !address.is_empty());
        let place = address.map(|address| ArchiveStore::open(address, variables)).transpose()?;
        Ok(Records::new(place))
    }

    pub fn schedule(&self) -> ArchiveSchedule {
        ArchiveSchedule::new(Duration::from_hours(24 * u64::from(self.archive_after_days)))
    }
}
