//! Rooms in PostgreSQL, read as a whole, and changed one revision at a time by operators who name
//! the revision that they have seen (optimistic concurrency).

use bahay_engine::catalog::{self, AnyRules};
use bahay_engine::coins::Coins;
use bahay_engine::game::GameRules;
use bahay_engine::table::Terms;
use jiff_sqlx::Timestamp as SqlTimestamp;
use serde_json::{Value, json};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::rules::{check_clocks, unsound};
use super::{
    BET_MAX, Catalog, FEE_BASIS_POINTS_MAX, NAME_LENGTH_MAX, PRACTICE, PRIVATE, ROOMS_MAX, Room,
    RoomError, SettingChange, TOURNAMENT,
};
use crate::clock::Timestamp;
use crate::db;
use crate::ids::RoomId;
use crate::operators::Administrator;
use crate::operators::audit::{self, Action, Actor};

/// The settings of a room as an operator wants them.
#[derive(Clone, Debug, PartialEq)]
pub struct RoomDraft {
    pub name: String,
    pub is_open: bool,
    /// The rule set that the rules are based on: see [`super::choose_rules`].
    pub rule_set: String,
    /// The terms, whose `room` is the room's id.
    pub terms: Terms<AnyRules>,
    pub coins_min: Coins,
    pub coins_max: Option<Coins>,
    /// Closes the room to guests.
    pub needs_account: bool,
}

/// A room as of one revision.
#[derive(Clone, Debug, PartialEq)]
pub struct RoomRevision {
    pub room: Room,
    /// The operator's name; `None` for a default room.
    pub changed_by: Option<String>,
    pub changed_at: Timestamp,
}

impl RoomDraft {
    /// Returns the room that these settings describe.
    ///
    /// # Errors
    /// [`RoomError::Unsound`] with the first setting that is rejected.
    fn room(&self, revision: u32) -> Result<Room, RoomError> {
        let unsound = |field, why: &'static str| Err(unsound(field, why));
        let Terms { rules, price, hits, .. } = &self.terms;
        let name_length = self.name.chars().count();
        if name_length == 0
            || name_length > NAME_LENGTH_MAX
            || self.name.chars().any(char::is_control)
            || self.name.trim() != self.name
        {
            return unsound("name", "a name has 1 to 40 characters, and no space around them");
        }
        if price.bet.is_negative() || price.bet.is_zero() {
            return unsound("bet", "a bet is at least 0.01");
        }
        if price.bet > BET_MAX {
            return unsound("bet", "a bet is at most 10,000,000");
        }
        if price.multiplier == 0 {
            return unsound("multiplier", "a multiplier is at least one");
        }
        if let Err(uneven) = price.count_price(rules.counts_per_bet()) {
            return unsound(uneven.field, uneven.message);
        }
        if price.fee_basis_points > FEE_BASIS_POINTS_MAX {
            return unsound("fee_basis_points", "a fee is at most 50 %");
        }
        if hits.is_some_and(|hits| !(2..=3).contains(&hits.to_win)) {
            return unsound("pot.hits_to_win", "two or three consecutive wins take a POT");
        }
        if hits.is_some_and(|hits| hits.ante == 0) {
            return unsound("pot.ante", "the ante of a POT is at least one bet");
        }
        let checked = rules.check();
        checked.map_err(|bad| RoomError::Unsound { field: bad.field, why: bad.message })?;
        check_clocks(&self.terms)?;
        if self.coins_min.is_negative() {
            return unsound("coins_min", "a minimum wallet is not negative");
        }
        if self.coins_max.is_some_and(|max| max < self.coins_min) {
            return unsound("coins_max", "the maximum wallet is less than the minimum wallet");
        }
        let Some(room) = Room::from_draft(self.clone(), revision) else {
            return unsound("bet", "its amounts are too large");
        };
        if room.wallet_max().is_some_and(|max| max < room.wallet_min()) {
            return unsound(
                "coins_max",
                "nobody could sit down: the maximum wallet is less than a game can cost",
            );
        }
        Ok(room)
    }
}

impl Catalog {
    /// Creates a room.
    pub async fn create(
        &self,
        by: &Administrator,
        draft: &RoomDraft,
    ) -> Result<RoomRevision, RoomError> {
        let room = draft.room(1)?;
        let id = room.id().to_owned();
        if id.parse::<RoomId>().is_err() || [PRIVATE, PRACTICE, TOURNAMENT].contains(&&*id) {
            return Err(unsound(
                "id",
                "an id is a lower-case letter and then letters, digits and hyphens, and not \
                 `private`, `practice` or `tournament`",
            ));
        }
        let mut tx = db::begin(self.pool()?).await?;
        lock_rooms(&mut tx).await?;
        let ids = sqlx::query_scalar!("select r.id from rooms r").fetch_all(&mut *tx).await?;
        if ids.contains(&id) {
            return Err(RoomError::Taken { id });
        }
        check_name_in_tx(&mut tx, &room).await?;
        if ids.len() >= ROOMS_MAX {
            return Err(RoomError::TooMany);
        }
        insert_in_tx(&mut tx, &room, Some(by.id.0)).await?;
        let detail = json!({ "revision": room.revision, "is_open": room.is_open() });
        insert_audit_entry(&mut tx, by.actor(), Action::RoomCreated, &room, detail).await?;
        tx.commit().await?;
        self.newest_revision(&id).await
    }

    /// Changes a room from the revision that the caller has seen to the next.
    pub async fn change(
        &self,
        by: &Administrator,
        seen_revision: u32,
        draft: &RoomDraft,
    ) -> Result<RoomRevision, RoomError> {
        let mut tx = db::begin(self.pool()?).await?;
        let (before, room) = check_change_in_tx(&mut tx, seen_revision, draft).await?;
        let revision = insert_revision_in_tx(&mut tx, &room, Some(by.id.0)).await?;
        sqlx::query!("update rooms set revision = $2 where id = $1", room.id(), revision)
            .execute(&mut *tx)
            .await?;
        let changes = before.compare_settings(&room);
        let detail =
            json!({ "revision": room.revision, "is_open": room.is_open(), "changes": changes });
        insert_audit_entry(&mut tx, by.actor(), Action::RoomChanged, &room, detail).await?;
        tx.commit().await?;
        self.newest_revision(room.id()).await
    }

    /// Returns the changes that [`Catalog::change`] would make, and refuses what it refuses.
    pub async fn preview_change(
        &self,
        seen_revision: u32,
        draft: &RoomDraft,
    ) -> Result<Vec<SettingChange>, RoomError> {
        let mut tx = db::begin(self.pool()?).await?;
        let (before, room) = check_change_in_tx(&mut tx, seen_revision, draft).await?;
        tx.rollback().await?;
        Ok(before.compare_settings(&room))
    }

    /// Opens or closes a room without another change.
    pub async fn set_open(
        &self,
        by: &Administrator,
        id: &str,
        is_open: bool,
    ) -> Result<RoomRevision, RoomError> {
        let newest = self.newest_revision(id).await?;
        if newest.room.is_open() == is_open {
            return Ok(newest);
        }
        let draft = RoomDraft { is_open, ..newest.room.draft };
        self.change(by, newest.room.revision, &draft).await
    }

    /// Returns the revisions of a room, the newest first, a hundred at most.
    pub async fn revisions(&self, id: &str) -> Result<Vec<RoomRevision>, RoomError> {
        let pool = self.pool()?;
        let kinds = known_kinds();
        let once = || {
            sqlx::query_as!(
                RoomRow,
                r#"
                select r.kind, v.revision, v.name, v.is_open, v.rule_set, v.terms, v.coins_min,
                    v.coins_max, v.needs_account, o.name as "changed_by?",
                    v.changed_at as "changed_at: SqlTimestamp"
                from room_revisions v
                join rooms r on r.id = v.room
                left join operators o on o.id = v.changed_by
                where v.room = $1 and r.kind = any($2)
                order by v.revision desc
                limit 100
                "#,
                id,
                &kinds
            )
            .fetch_all(pool)
        };
        let rows = db::retry(once).await?;
        if rows.is_empty() {
            return Err(RoomError::Unknown { id: id.to_owned() });
        }
        let revisions = rows.into_iter().map(|row| {
            let changed_by = row.changed_by.clone();
            let changed_at = db::from_sql(row.changed_at);
            Ok(RoomRevision { room: row.room()?, changed_by, changed_at })
        });
        revisions.collect()
    }

    /// Refreshes the copy of this process, and returns the newest revision of a room.
    async fn newest_revision(&self, id: &str) -> Result<RoomRevision, RoomError> {
        self.refresh().await?;
        let newest = self.revisions(id).await?.into_iter().next();
        newest.ok_or_else(|| RoomError::Unknown { id: id.to_owned() })
    }

    pub(super) fn pool(&self) -> Result<&PgPool, RoomError> {
        let why = || RoomError::Unavailable { reason: "these rooms never change".to_owned() };
        self.pool.as_ref().ok_or_else(why)
    }
}

/// Appends an audit entry about a room.
async fn insert_audit_entry(
    tx: &mut PgConnection,
    by: &Actor,
    action: Action,
    room: &Room,
    detail: Value,
) -> Result<(), sqlx::Error> {
    let subject = format!("room:{}", room.id());
    audit::record_in_tx(tx, by, action, Some(&subject), detail).await
}

/// Returns the names of the games that this program knows.
fn known_kinds() -> Vec<String> {
    catalog::kinds().into_iter().map(|kind| kind.name.to_owned()).collect()
}

/// Returns the newest revision of every room. Rooms of games that only another program knows are
/// left out.
pub(super) async fn read_rooms(pool: &PgPool) -> Result<Vec<Room>, RoomError> {
    let kinds = known_kinds();
    let once = || {
        sqlx::query_as!(
            RoomRow,
            r#"
            select r.kind, v.revision, v.name, v.is_open, v.rule_set, v.terms, v.coins_min,
                v.coins_max, v.needs_account, null::text as changed_by,
                v.changed_at as "changed_at: SqlTimestamp"
            from rooms r
            join room_revisions v on v.room = r.id and v.revision = r.revision
            where r.kind = any($1)
            "#,
            &kinds
        )
        .fetch_all(pool)
    };
    db::retry(once).await?.into_iter().map(RoomRow::room).collect()
}

/// Fills a database without rooms, unless another process has done so.
pub(super) async fn insert_first_rooms(pool: &PgPool, rooms: &[Room]) -> Result<(), RoomError> {
    let mut tx = db::begin(pool).await?;
    lock_rooms(&mut tx).await?;
    let some = sqlx::query_scalar!(r#"select exists (select from rooms) as "some!""#)
        .fetch_one(&mut *tx)
        .await?;
    if !some {
        for room in rooms {
            insert_in_tx(&mut tx, &Room { revision: 1, ..room.clone() }, None).await?;
        }
    }
    Ok(tx.commit().await?)
}

/// Locks a room for a change from the revision that the caller has seen. Returns the room and its
/// next revision.
async fn check_change_in_tx(
    tx: &mut PgConnection,
    seen_revision: u32,
    draft: &RoomDraft,
) -> Result<(Room, Room), RoomError> {
    let room = draft.room(seen_revision.saturating_add(1))?;
    lock_rooms(tx).await?;
    // A room of a game that this program does not know can only be changed by a program that does.
    let stored = sqlx::query_as!(
        RoomRow,
        r#"
        select r.kind, v.revision, v.name, v.is_open, v.rule_set, v.terms, v.coins_min,
            v.coins_max, v.needs_account, null::text as changed_by,
            v.changed_at as "changed_at: SqlTimestamp"
        from rooms r
        join room_revisions v on v.room = r.id and v.revision = r.revision
        where r.id = $1 and r.kind = any($2)
        for update of r
        "#,
        room.id(),
        &known_kinds()
    )
    .fetch_optional(&mut *tx)
    .await?;
    let before = stored.ok_or_else(|| RoomError::Unknown { id: room.id().to_owned() })?.room()?;
    if before.kind() != room.kind() {
        return Err(unsound("kind", "a room keeps its game: make another room"));
    }
    if before.revision != seen_revision {
        return Err(RoomError::Changed { revision: before.revision });
    }
    if before.name() != room.name() {
        check_name_in_tx(tx, &room).await?;
    }
    Ok((before, room))
}

/// Refuses the name of another room, in upper or lower case.
async fn check_name_in_tx(tx: &mut PgConnection, room: &Room) -> Result<(), RoomError> {
    let name = room.name();
    let other = sqlx::query_scalar!(
        r#"
        select r.id
        from rooms r
        join room_revisions v on v.room = r.id and v.revision = r.revision
        where lower(v.name) = lower($1) and r.id <> $2
        limit 1
        "#,
        name,
        room.id()
    )
    .fetch_optional(tx)
    .await?;
    other.map_or(Ok(()), |id| Err(RoomError::NameTaken { id, name: name.to_owned() }))
}

/// Serializes the transactions that create and change rooms, so that rooms can be counted and have
/// names of their own.
async fn lock_rooms(tx: &mut PgConnection) -> Result<(), sqlx::Error> {
    sqlx::query!(r#"select pg_advisory_xact_lock(hashtext('bahay: rooms'))::text as "lock""#)
        .fetch_one(tx)
        .await?;
    Ok(())
}

async fn insert_in_tx(
    tx: &mut PgConnection,
    room: &Room,
    by: Option<Uuid>,
) -> Result<(), RoomError> {
    let id = room.id();
    let kind = room.kind();
    sqlx::query!("insert into rooms (id, kind, revision) values ($1, $2, 1)", id, kind)
        .execute(&mut *tx)
        .await?;
    insert_revision_in_tx(tx, room, by).await?;
    Ok(())
}

/// Inserts a revision, and returns its number.
async fn insert_revision_in_tx(
    tx: &mut PgConnection,
    room: &Room,
    by: Option<Uuid>,
) -> Result<i32, RoomError> {
    let broken = |reason: String| RoomError::Broken { reason };
    let draft = room.draft();
    let terms = serde_json::to_value(&draft.terms).map_err(|error| broken(error.to_string()))?;
    let revision = i32::try_from(room.revision).map_err(|error| broken(error.to_string()))?;
    sqlx::query!(
        r#"
        insert into room_revisions (
            room, revision, name, is_open, rule_set, terms, coins_min, coins_max, needs_account,
            changed_by
        )
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
        "#,
        room.id(),
        revision,
        draft.name,
        draft.is_open,
        draft.rule_set,
        terms,
        draft.coins_min.hundredths(),
        draft.coins_max.map(Coins::hundredths),
        draft.needs_account,
        by
    )
    .execute(&mut *tx)
    .await?;
    Ok(revision)
}

/// A row of `rooms` joined with a row of `room_revisions`.
struct RoomRow {
    kind: String,
    revision: i32,
    name: String,
    is_open: bool,
    rule_set: String,
    terms: serde_json::Value,
    coins_min: i64,
    coins_max: Option<i64>,
    needs_account: bool,
    /// The operator's name; `None` if it is not read.
    changed_by: Option<String>,
    changed_at: SqlTimestamp,
}

impl RoomRow {
    fn room(self) -> Result<Room, RoomError> {
        let broken = |reason: String| RoomError::Broken { reason };
        let unreadable = |error: serde_json::Error| broken(error.to_string());
        let terms: Terms<serde_json::Value> =
            serde_json::from_value(self.terms).map_err(unreadable)?;
        let terms = terms.try_map(|rules| AnyRules::read(&self.kind, rules)).map_err(unreadable)?;
        let draft = RoomDraft {
            name: self.name,
            is_open: self.is_open,
            rule_set: self.rule_set,
            terms,
            coins_min: Coins::from_hundredths(self.coins_min),
            coins_max: self.coins_max.map(Coins::from_hundredths),
            needs_account: self.needs_account,
        };
        let room = Room::from_draft(draft, to_u32(self.revision)?);
        room.ok_or_else(|| broken("amounts do not fit".to_owned()))
    }
}

fn to_u32(revision: i32) -> Result<u32, RoomError> {
    let broken = |_| RoomError::Broken { reason: format!("revision {revision}") };
    u32::try_from(revision).map_err(broken)
}
