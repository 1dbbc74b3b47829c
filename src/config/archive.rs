//! The settings of the archive: where records go, and when.

use std::time::Duration;

use clap::Args;

use crate::records::{AddressError, ArchiveSchedule, ArchiveStore, Records};

/// Where records of old games are kept. `bahay serve`, `bahay archive` and `bahay verify` take it.
#[derive(Args, Clone, Debug)]
pub struct ArchiveSettings {
    /// Where records of old games are moved to, the same for every node: file:///FOLDER or
    /// s3://BUCKET/PREFIX, for which AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID and
    /// AWS_SECRET_ACCESS_KEY say the rest. Without it all stay in the database.
    #[arg(long, env = "BAHAY_ARCHIVE", value_name = "URL")]
    pub archive: Option<String>,

    /// Days after the end of a game when its record is moved there.
    #[arg(long, env = "BAHAY_ARCHIVE_AFTER_DAYS", default_value_t = 30, value_name = "DAYS",
          value_parser = clap::value_parser!(u16).range(2..=3650))]
    pub archive_after_days: u16,
}

impl ArchiveSettings {
    /// As `records` takes it. What object storage asks for beside is in the environment, under the
    /// names that its own tools have.
    pub fn records(&self) -> Result<Records, AddressError> {
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        // Whoever passes settings on passes on also those that nobody has made.
        let variables = variables.filter(|(_, value)| !value.is_empty());
        let address = self.archive.as_deref().filter(|address| !address.is_empty());
        let place = address.map(|address| ArchiveStore::open(address, variables)).transpose()?;
        Ok(Records::new(place))
    }

    pub fn schedule(&self) -> ArchiveSchedule {
        ArchiveSchedule::new(Duration::from_hours(24 * u64::from(self.archive_after_days)))
    }
}
