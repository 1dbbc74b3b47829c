//! Reads of ledger events from the seals, from any number on.

use serde::Serialize;
use sqlx::PgPool;
use uuid::Uuid;

/// The number of seals per read, each with at most a thousand operations.
const SEALS_MAX: i64 = 8;

/// One operation of the ledger with its transfers. docs/LEDGER.md describes the fields.
#[derive(Clone, Debug, Serialize)]
pub struct Event {
    /// The number of the event, from 1 without gaps.
    pub number: i64,
    pub seal: i64,
    pub operation: i64,
    /// The idempotency key of the operation, as in `settle:<game>`.
    pub key: String,
    pub kind: String,
    /// The time of booking by the database's clock, in milliseconds since 1970.
    pub at: i64,
    /// Absent if the operation has no game.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game: Option<EventGame>,
    pub transfers: Vec<EventTransfer>,
}

/// The game of an operation.
#[derive(Clone, Debug, Serialize)]
pub struct EventGame {
    pub id: Uuid,
    pub kind: String,
    pub room: String,
    pub table: Uuid,
}

/// One transfer, with the codes of its accounts.
#[derive(Clone, Debug, Serialize)]
pub struct EventTransfer {
    pub code: String,
    pub from: String,
    pub to: String,
    /// The amount in hundredths of a coin.
    pub amount: i64,
}

/// A position in the stream of ledger events.
#[derive(Debug)]
pub struct LedgerEventReader {
    pool: PgPool,
    /// The number of the last event that was read.
    number: i64,
    /// The next seal to read, and the number of its operations that were read before.
    seal: i64,
    read_of_seal: usize,
}

impl LedgerEventReader {
    /// Returns a reader behind event `number`; 0 is the beginning. Returns `None` if there are
    /// fewer events.
    pub async fn open(pool: PgPool, number: i64) -> Result<Option<Self>, sqlx::Error> {
        if number == 0 {
            return Ok(Some(Self { pool, number, seal: 1, read_of_seal: 0 }));
        }
        let place = sqlx::query!(
            r#"
            select c.number, c.before as "before!"
            from (
                select s.number, cardinality(s.operations) as operations,
                    (sum(cardinality(s.operations)) over (order by s.number)
                        - cardinality(s.operations))::bigint as before
                from seals s
            ) c
            where c.before < $1 and $1 <= c.before + c.operations
            "#,
            number
        );
        let Some(place) = place.fetch_optional(&pool).await? else { return Ok(None) };
        let read_of_seal = usize::try_from(number - place.before).unwrap_or_default();
        Ok(Some(Self { pool, number, seal: place.number, read_of_seal }))
    }

    /// Reads the next events in order. Returns none if all sealed operations have been read.
    pub async fn read_batch(&mut self) -> Result<Vec<Event>, sqlx::Error> {
        let seals = sqlx::query!(
            "
            select s.number, s.operations
            from seals s
            where s.number >= $1
            order by s.number
            limit $2
            ",
            self.seal,
            SEALS_MAX
        );
        let seals = seals.fetch_all(&self.pool).await?;
        let Some(last) = seals.last().map(|seal| seal.number) else { return Ok(Vec::new()) };
        let sealed = seals
            .iter()
            .flat_map(|seal| seal.operations.iter().map(|operation| (seal.number, *operation)));
        let sealed: Vec<(i64, i64)> = sealed.skip(self.read_of_seal).collect();
        let events = self.events(&sealed).await?;
        self.number += i64::try_from(events.len()).unwrap_or_default();
        self.seal = last + 1;
        self.read_of_seal = 0;
        Ok(events)
    }

    async fn events(&self, sealed: &[(i64, i64)]) -> Result<Vec<Event>, sqlx::Error> {
        let operations: Vec<i64> = sealed.iter().map(|(_, operation)| *operation).collect();
        let rows = sqlx::query!(
            r#"
            select o.id, o.key, o.kind,
                (extract(epoch from o.created_at) * 1000)::bigint as "at!",
                g.id as "game?", g.kind as "game_kind?", g.room as "room?", g.table_id as "table?",
                o.codes, o.amounts,
                array(
                    select a.code
                    from unnest(o.sources) with ordinality as s (id, number)
                    left join accounts a on a.id = s.id
                    order by s.number
                ) as "sources!: Vec<Option<String>>",
                array(
                    select a.code
                    from unnest(o.destinations) with ordinality as d (id, number)
                    left join accounts a on a.id = d.id
                    order by d.number
                ) as "destinations!: Vec<Option<String>>"
            from unnest($1::bigint[]) with ordinality as n (operation, place)
            join operations o on o.id = n.operation
            left join games g on g.id = o.game
            order by n.place
            "#,
            &operations
        );
        let rows = rows.fetch_all(&self.pool).await?;
        // Booked rows are never removed, so each operation of a seal has its row.
        if rows.len() != sealed.len() {
            return Err(sqlx::Error::RowNotFound);
        }
        let events = (self.number + 1..).zip(sealed).zip(rows).map(|((number, (seal, _)), row)| {
            let transfers = zip_transfers(row.codes, row.sources, row.destinations, row.amounts)
                .ok_or_else(|| {
                    let error = format!("the transfers of operation {} are incomplete", row.id);
                    sqlx::Error::Decode(error.into())
                })?;
            let game = match (row.game, row.game_kind, row.room, row.table) {
                (Some(id), Some(kind), Some(room), Some(table)) => {
                    Some(EventGame { id, kind, room, table })
                }
                _ => None,
            };
            Ok(Event {
                number,
                seal: *seal,
                operation: row.id,
                key: row.key,
                kind: row.kind,
                at: row.at,
                game,
                transfers,
            })
        });
        events.collect()
    }
}

/// Returns the transfers of an operation; none if the arrays differ in length or an account is
/// missing.
fn zip_transfers(
    codes: Vec<String>,
    sources: Vec<Option<String>>,
    destinations: Vec<Option<String>>,
    amounts: Vec<i64>,
) -> Option<Vec<EventTransfer>> {
    let lengths = [sources.len(), destinations.len(), amounts.len()];
    if lengths.into_iter().any(|length| length != codes.len()) {
        return None;
    }
    let sides = sources.into_iter().zip(destinations);
    let transfers = codes.into_iter().zip(sides).zip(amounts);
    transfers
        .map(|((code, (from, to)), amount)| {
            Some(EventTransfer { code, from: from?, to: to?, amount })
        })
        .collect()
}
