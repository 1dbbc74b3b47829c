//! Reads of records from the archive.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

use bahay_engine::table::GameId;
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::archive_store::ArchiveStore;
use super::pack;
use bahay_db as db;

/// An error of reading a record.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error(transparent)]
    Database(#[from] sqlx::Error),
    /// The record is in the archive, which does not answer or lacks the object.
    #[error("the archive cannot be reached: {reason}")]
    Unreachable { reason: String },
    /// The record was read but does not match its hash.
    #[error("the archived record of game {game} cannot be used: {fault}")]
    Damaged { game: GameId, fault: String },
}

/// The access to archived records. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Records {
    store: Option<ArchiveStore>,
    /// The loaded dictionaries, by name.
    dictionaries: Arc<RwLock<BTreeMap<String, Arc<[u8]>>>>,
}

/// The location of a record in the archive.
#[derive(Debug)]
struct ArchivedRecordRow {
    game: Uuid,
    object: String,
    place: i32,
    bytes: i32,
    hash: Vec<u8>,
    dictionary: Option<String>,
    dictionary_hash: Option<Vec<u8>>,
}

impl Records {
    /// Creates the access to an archive. With `None` archived records are unreachable.
    pub fn new(store: Option<ArchiveStore>) -> Self {
        Self { store, ..Self::default() }
    }

    /// Creates the access without an archive.
    pub fn without_archive() -> Self {
        Self::default()
    }

    pub fn has_archive(&self) -> bool {
        self.store.is_some()
    }

    pub(super) fn store(&self) -> Option<&ArchiveStore> {
        self.store.as_ref()
    }

    /// Reads the archived records among those of these games. The texts of the others are in
    /// `game_records`. A damaged record is an error of its own among the results.
    pub async fn read_archived(
        &self,
        pool: &PgPool,
        games: &[Uuid],
    ) -> Result<HashMap<Uuid, Result<String, RecordError>>, RecordError> {
        if games.is_empty() {
            return Ok(HashMap::new());
        }
        let query = || async { self.addresses(&mut *pool.acquire().await?, games).await };
        self.read(db::retry(query).await?).await
    }

    /// Reads archived records like [`Self::read_archived`], as the caller's transaction sees them.
    pub async fn read_archived_in_tx(
        &self,
        connection: &mut PgConnection,
        games: &[Uuid],
    ) -> Result<HashMap<Uuid, Result<String, RecordError>>, RecordError> {
        if games.is_empty() {
            return Ok(HashMap::new());
        }
        let addresses = self.addresses(connection, games).await?;
        self.read(addresses).await
    }

    /// Reads the archived record of one game.
    pub async fn read_one(
        &self,
        pool: &PgPool,
        game: GameId,
    ) -> Result<Option<String>, RecordError> {
        self.read_archived(pool, &[game.0]).await?.remove(&game.0).transpose()
    }

    async fn addresses(
        &self,
        connection: &mut PgConnection,
        games: &[Uuid],
    ) -> Result<Vec<ArchivedRecordRow>, sqlx::Error> {
        sqlx::query_as!(
            ArchivedRecordRow,
            r#"
            select r.game, o.name as object, r.archived_at as "place!",
                r.archived_bytes as "bytes!", r.record_hash as "hash!",
                d.name as "dictionary?", d.hash as "dictionary_hash?"
            from game_records r
            join archive_objects o on o.number = r.archived_in
            left join archive_dictionaries d on d.number = o.dictionary
            where r.game = any($1) and r.record is null
            order by o.number, r.archived_at
            "#,
            games
        )
        .fetch_all(connection)
        .await
    }

    /// Reads records, with one request per object.
    async fn read(
        &self,
        archived: Vec<ArchivedRecordRow>,
    ) -> Result<HashMap<Uuid, Result<String, RecordError>>, RecordError> {
        let mut records = HashMap::with_capacity(archived.len());
        for of_object in archived.chunk_by(|one, next| one.object == next.object) {
            let [first, ..] = of_object else { continue };
            let dictionary = match (&first.dictionary, &first.dictionary_hash) {
                (Some(name), Some(hash)) => self.dictionary(name, hash, first.game).await,
                _ => Ok(Arc::from([])),
            };
            let dictionary = match dictionary {
                Ok(dictionary) => dictionary,
                Err(RecordError::Damaged { fault, .. }) => {
                    records.extend(
                        of_object.iter().map(|one| (one.game, Err(damaged(one.game, &fault)))),
                    );
                    continue;
                }
                Err(other) => return Err(other),
            };
            let ranges: Vec<Range<u64>> = of_object.iter().map(ArchivedRecordRow::range).collect();
            let frames = self.require_store()?.parts(&first.object, &ranges).await;
            let frames = frames.map_err(|reason| RecordError::Unreachable { reason })?;
            for (one, frame) in of_object.iter().zip(frames) {
                let record = pack::unpack(&frame, &dictionary, &one.hash);
                records.insert(one.game, record.map_err(|fault| damaged(one.game, fault)));
            }
        }
        Ok(records)
    }

    async fn dictionary(
        &self,
        name: &str,
        hash: &[u8],
        game: Uuid,
    ) -> Result<Arc<[u8]>, RecordError> {
        if let Some(cached) = self.cached_dictionary(name) {
            return Ok(cached);
        }
        let read = self.require_store()?.get(name).await;
        let read = read.map_err(|reason| RecordError::Unreachable { reason })?;
        if pack::hash(&read).as_slice() != hash {
            return Err(damaged(game, "its dictionary has another hash"));
        }
        let read: Arc<[u8]> = read.into();
        let mut dictionaries = self.dictionaries.write().unwrap_or_else(PoisonError::into_inner);
        dictionaries.insert(name.to_owned(), read.clone());
        Ok(read)
    }

    fn cached_dictionary(&self, name: &str) -> Option<Arc<[u8]>> {
        let dictionaries = self.dictionaries.read().unwrap_or_else(PoisonError::into_inner);
        dictionaries.get(name).cloned()
    }

    fn require_store(&self) -> Result<&ArchiveStore, RecordError> {
        let reason = || "BAHAY_ARCHIVE is not set".to_owned();
        self.store.as_ref().ok_or_else(|| RecordError::Unreachable { reason: reason() })
    }
}

impl ArchivedRecordRow {
    fn range(&self) -> Range<u64> {
        let place = u64::try_from(self.place).unwrap_or_default();
        place..place + u64::try_from(self.bytes).unwrap_or_default()
    }
}

fn damaged(game: Uuid, fault: &str) -> RecordError {
    RecordError::Damaged { game: GameId(game), fault: fault.to_owned() }
}
