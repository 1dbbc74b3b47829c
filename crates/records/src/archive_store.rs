//! The object store of the archive: a folder, or a prefix of a bucket. Objects are written, read
//! and listed by their names below it.
//!
//! Every call ends within [`TIMEOUT`].

use std::fmt::Display;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::TryStreamExt as _;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ClientConfigKey, ObjectStore, ObjectStoreExt as _, RetryConfig};
use url::Url;

use super::connector::Connector;

/// The timeout of one call, including its retries.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The time for which a request is retried.
const RETRY_TIMEOUT: Duration = Duration::from_secs(8);

/// An error of opening the archive's address.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    #[error("the archive is at file:///FOLDER or s3://BUCKET/PREFIX, not at {0}")]
    Other(String),
    #[error("the folder of the archive cannot be created: {0}")]
    Folder(#[from] std::io::Error),
    #[error("the archive cannot be opened: {0}")]
    Store(#[from] object_store::Error),
}

/// An object store. Clones share its connections.
#[derive(Clone, Debug)]
pub struct ArchiveStore {
    store: Arc<dyn ObjectStore>,
    prefix: Path,
}

impl ArchiveStore {
    /// Opens `file:///FOLDER`, which is created, or `s3://BUCKET/PREFIX`. `settings` configure the
    /// access to object storage, by the names of its own tools, such as AWS_ENDPOINT_URL and
    /// AWS_ACCESS_KEY_ID; others are ignored.
    pub fn open(
        address: &str,
        settings: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, AddressError> {
        let other = || AddressError::Other(address.to_owned());
        let url = Url::parse(address).map_err(|_| other())?;
        match (url.scheme(), url.host_str()) {
            ("file", None) => {
                let folder: PathBuf = url.to_file_path().map_err(|()| other())?;
                std::fs::create_dir_all(&folder)?;
                let store = LocalFileSystem::new_with_prefix(folder)?.with_fsync(true);
                Ok(Self { store: Arc::new(store), prefix: Path::default() })
            }
            ("s3", Some(bucket)) if !bucket.is_empty() => {
                let mut builder = AmazonS3Builder::new();
                for (name, value) in settings {
                    let key = name.to_ascii_lowercase();
                    if let Some(key) = key.strip_prefix("aws_").and_then(|_| key.parse().ok()) {
                        builder = builder.with_config(key, value);
                    }
                }
                let plain = AmazonS3ConfigKey::Client(ClientConfigKey::AllowHttp);
                let plain_http = builder.get_config_value(&plain).as_deref() == Some("true");
                let retry = RetryConfig { retry_timeout: RETRY_TIMEOUT, ..RetryConfig::default() };
                let store = builder
                    .with_bucket_name(bucket)
                    .with_retry(retry)
                    .with_http_connector(Connector { plain_http })
                    .build()?;
                let prefix = Path::from_url_path(url.path()).map_err(|_| other())?;
                Ok(Self { store: Arc::new(store), prefix })
            }
            _ => Err(other()),
        }
    }

    pub(super) async fn put(&self, name: &str, bytes: Vec<u8>) -> Result<(), String> {
        with_timeout(self.store.put(&self.path(name), bytes.into())).await.map(drop)
    }

    /// Reads a whole object.
    pub(super) async fn get(&self, name: &str) -> Result<Vec<u8>, String> {
        let path = self.path(name);
        let read = async { self.store.get(&path).await?.bytes().await };
        with_timeout(read).await.map(Vec::from)
    }

    /// Reads some ranges of an object.
    pub(super) async fn parts(
        &self,
        name: &str,
        ranges: &[Range<u64>],
    ) -> Result<Vec<Vec<u8>>, String> {
        let path = self.path(name);
        let parts = with_timeout(self.store.get_ranges(&path, ranges)).await?;
        Ok(parts.into_iter().map(Vec::from).collect())
    }

    pub(super) async fn remove(&self, name: &str) -> Result<(), String> {
        with_timeout(self.store.delete(&self.path(name))).await
    }

    /// Lists the names of all objects.
    pub(super) async fn list(&self) -> Result<Vec<String>, String> {
        let list = self.store.list(Some(&self.prefix));
        let found: Vec<_> = list.try_collect().await.map_err(|error| to_one_line(&error))?;
        let names = found.iter().filter_map(|object| {
            let parts = object.location.prefix_match(&self.prefix)?;
            Some(parts.map(|part| part.as_ref().to_owned()).collect::<Vec<_>>().join("/"))
        });
        Ok(names.collect())
    }

    fn path(&self, name: &str) -> Path {
        let own = self.prefix.parts();
        let below = name.split('/').map(object_store::path::PathPart::from);
        own.chain(below).collect()
    }
}

async fn with_timeout<T, E: Display>(
    call: impl Future<Output = Result<T, E>>,
) -> Result<T, String> {
    match tokio::time::timeout(TIMEOUT, call).await {
        Ok(answer) => answer.map_err(|error| to_one_line(&error)),
        Err(_) => Err("the archive does not answer".to_owned()),
    }
}

/// Formats an error as one line.
fn to_one_line(error: &dyn Display) -> String {
    error.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{AddressError, ArchiveStore};

    #[test]
    fn an_archive_is_in_a_folder_or_a_bucket() {
        let region = || [("AWS_REGION".to_owned(), "x".to_owned())];
        for good in ["s3://bucket", "s3://bucket/", "s3://bucket/a/b"] {
            assert!(ArchiveStore::open(good, region()).is_ok(), "{good}");
        }
        for bad in ["", "folder", "/folder", "http://x/y", "s3://", "s3:bucket", "file://host/x"] {
            let refused = ArchiveStore::open(bad, region());
            assert!(matches!(refused, Err(AddressError::Other(_))), "{bad}: {refused:?}");
        }
    }
}
