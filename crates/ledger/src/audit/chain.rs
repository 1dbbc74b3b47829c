//! The audit of the hash chain: compares the booked operations with their seals, in the order of
//! the seals' numbers. Memory is bounded, because seals are read in groups.

use sqlx::PgConnection;

use super::{Difference, LISTED_MAX};
use crate::seal::{self, Hash, SealHead};

/// The number of seals read at once. Each covers at most the operations of one projection batch.
const SEALS_MAX: i64 = 32;

/// The minimum number of operations read at once; the maximum is this and the operations of one
/// seal.
const OPERATIONS_MIN: usize = 1_000;

/// A seal as stored.
struct StoredSeal {
    head: SealHead,
    members: Vec<(i64, Hash)>,
}

/// Follows the chain from its beginning and returns its last seal.
pub(super) async fn check_chain(
    connection: &mut PgConnection,
    differences: &mut Vec<Difference>,
) -> Result<Option<SealHead>, sqlx::Error> {
    let mut last = SealHead::NONE;
    let mut listed = Vec::new();
    loop {
        let seals = read_seals(connection, last.number).await?;
        if seals.is_empty() {
            differences.extend(listed);
            return Ok((last.number > 0).then_some(last));
        }
        for seal in &seals {
            if seal.head.number != last.number.saturating_add(1) {
                let number = last.number.saturating_add(1);
                listed.push(Difference::SealMissing { number });
            } else if last.next(&seal.members) != seal.head {
                listed.push(Difference::SealBroken { number: seal.head.number });
            }
            last = seal.head;
        }
        let mut seals = seals.as_slice();
        while !seals.is_empty() {
            let mut operations = 0;
            let enough = seals.iter().position(|seal| {
                operations += seal.members.len();
                operations >= OPERATIONS_MIN
            });
            let (group, rest) = seals.split_at(enough.map_or(seals.len(), |index| index + 1));
            listed.extend(find_changed_operations(connection, group).await?);
            seals = rest;
        }
        // There may be as many as operations.
        listed.truncate(usize::try_from(LISTED_MAX).unwrap_or(usize::MAX));
    }
}

async fn read_seals(
    connection: &mut PgConnection,
    after: i64,
) -> Result<Vec<StoredSeal>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        select s.number, s.operations, s.digests, s.hash
        from seals s
        where s.number > $1
        order by s.number
        limit $2
        "#,
        after,
        SEALS_MAX
    )
    .fetch_all(connection)
    .await?;
    let seals = rows.into_iter().map(|row| {
        let digests =
            row.digests.chunks(32).map(seal::parse_hash).collect::<Result<Vec<_>, _>>()?;
        let head = SealHead { number: row.number, hash: seal::parse_hash(&row.hash)? };
        Ok(StoredSeal { head, members: row.operations.into_iter().zip(digests).collect() })
    });
    seals.collect()
}

/// Returns the sealed operations that do not exist, or do not have the digest of their seal.
async fn find_changed_operations(
    connection: &mut PgConnection,
    seals: &[StoredSeal],
) -> Result<Vec<Difference>, sqlx::Error> {
    let ids: Vec<_> = seals.iter().flat_map(|seal| &seal.members).map(|(id, _)| *id).collect();
    let booked = seal::read_operations(connection, &ids).await?;
    let mut changed = Vec::new();
    for seal in seals {
        for (operation, digest) in &seal.members {
            let found = booked.binary_search_by_key(operation, |one| one.id);
            let found = found.ok().map(|index| booked[index].digest());
            if found.as_ref() != Some(digest) {
                let operation = *operation;
                let seal = seal.head.number;
                changed.push(Difference::OperationDiffers { operation, seal });
            }
        }
    }
    Ok(changed)
}
