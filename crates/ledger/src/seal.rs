//! Seals: a hash chain over all booked operations, which reveals any later change.
//!
//! The digest of an operation is the SHA-256 of a text that can be rebuilt with psql alone: a line
//! with the operation's columns, then a line for each transfer, with columns separated by tabs. (No
//! column contains a tab or a line break: keys are checked, and JSON escapes them.) A seal covers
//! operations in ascending order of their ids. Its hash covers the hash of the seal before, its own
//! number, and each id with its digest.
//!
//! The house projection appends the seals, since it runs in one process at a time and processes
//! every operation; posting is not slowed down. Projection and audit share the code of this module;
//! the query in docs/LEDGER.md computes the hashes without it.
//!
//! The states of accounts before an operation are not sealed: they follow from the transfers, and
//! the audit compares the two. Records are not sealed either; the hash of a settlement's input
//! covers its record.

use std::fmt::{self, Write as _};

use bahay_engine::coins::Coins;
use sha2::{Digest as _, Sha256};
use sqlx::PgConnection;
use uuid::Uuid;

pub(crate) type Hash = [u8; 32];

/// The number and the hash of a seal. A copy of the newest one can be looked up in the chain later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SealHead {
    pub number: i64,
    pub hash: [u8; 32],
}

impl SealHead {
    /// The state before the first seal.
    pub(crate) const NONE: Self = Self { number: 0, hash: [0; 32] };

    /// Returns the seal that follows this one and covers these operations.
    pub(crate) fn next(&self, members: &[(i64, Hash)]) -> Self {
        let number = self.number.saturating_add(1);
        let mut hash = Sha256::new();
        hash.update(self.hash);
        hash.update(number.to_be_bytes());
        for (operation, digest) in members {
            hash.update(operation.to_be_bytes());
            hash.update(digest);
        }
        Self { number, hash: hash.finalize().into() }
    }
}

/// The number and the hash in hexadecimal, as in `17:ab12…`.
impl fmt::Display for SealHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.number, Hexadecimal(&self.hash))
    }
}

/// An operation as in the database, with its transfers in the order of their numbers.
#[derive(Debug)]
pub(crate) struct OperationContent {
    pub(crate) id: i64,
    key: String,
    kind: String,
    input_hash: Vec<u8>,
    game: Option<Uuid>,
    created_at_us: i64,
    answer: String,
    codes: Vec<String>,
    sources: Vec<i64>,
    destinations: Vec<i64>,
    amounts: Vec<i64>,
}

impl OperationContent {
    /// Returns source, destination and amount of each transfer.
    pub(crate) fn transfers(&self) -> impl Iterator<Item = (i64, i64, Coins)> {
        let sides = self.sources.iter().zip(&self.destinations).zip(&self.amounts);
        sides.map(|((source, destination), amount)| {
            (*source, *destination, Coins::from_hundredths(*amount))
        })
    }

    /// Returns the code and the amount of each transfer.
    pub(crate) fn coded_amounts(&self) -> impl Iterator<Item = (&str, Coins)> {
        let amounts = self.amounts.iter().map(|amount| Coins::from_hundredths(*amount));
        self.codes.iter().map(String::as_str).zip(amounts)
    }

    pub(crate) fn digest(&self) -> Hash {
        Sha256::digest(self.text()).into()
    }

    fn text(&self) -> String {
        let Self { id, key, kind, input_hash, game, created_at_us, answer, codes, .. } = self;
        let input_hash = Hexadecimal(input_hash);
        let game = game.map(|game| game.to_string()).unwrap_or_default();
        let mut text =
            format!("{id}\t{key}\t{kind}\t{input_hash}\t{game}\t{created_at_us}\t{answer}");
        for ((number, code), (source, destination, amount)) in
            (1..).zip(codes).zip(self.transfers())
        {
            let amount = amount.hundredths();
            write!(text, "\n{number}\t{code}\t{source}\t{destination}\t{amount}")
                .expect("writing to a string succeeds");
        }
        text
    }
}

/// The formatting of bytes as lower-case hexadecimal.
pub(crate) struct Hexadecimal<'a>(pub(super) &'a [u8]);

impl fmt::Display for Hexadecimal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Reads these operations in ascending order of ids. Those that do not exist are omitted.
pub(crate) async fn read_operations(
    connection: &mut PgConnection,
    operations: &[i64],
) -> Result<Vec<OperationContent>, sqlx::Error> {
    // The range of ids lets the planner skip the partitions of other months.
    let least = operations.iter().copied().min().unwrap_or_default();
    let most = operations.iter().copied().max().unwrap_or_default();
    sqlx::query_as!(
        OperationContent,
        r#"
        select o.id, o.key, o.kind, o.input_hash, o.game,
            (extract(epoch from o.created_at) * 1000000)::bigint as "created_at_us!",
            o.answer::text as "answer!", o.codes, o.sources, o.destinations, o.amounts
        from operations o
        where o.id = any($1) and o.id between $2 and $3
        order by o.id
        "#,
        operations,
        least,
        most
    )
    .fetch_all(connection)
    .await
}

/// Appends the next seal. The caller ensures that no other transaction does so at the same time.
pub(crate) async fn append_seal(
    connection: &mut PgConnection,
    booked: &[OperationContent],
) -> Result<SealHead, sqlx::Error> {
    let last = sqlx::query!("select s.number, s.hash from seals s order by s.number desc limit 1")
        .fetch_optional(&mut *connection)
        .await?;
    let last = match last {
        Some(row) => SealHead { number: row.number, hash: parse_hash(&row.hash)? },
        None => SealHead::NONE,
    };
    let members: Vec<_> = booked.iter().map(|one| (one.id, one.digest())).collect();
    let seal = last.next(&members);
    let operations: Vec<_> = members.iter().map(|(operation, _)| *operation).collect();
    let digests: Vec<_> = members.iter().flat_map(|(_, digest)| *digest).collect();
    sqlx::query!(
        "insert into seals (number, operations, digests, hash) values ($1, $2, $3, $4)",
        seal.number,
        &operations,
        &digests,
        &seal.hash
    )
    .execute(connection)
    .await?;
    Ok(seal)
}

pub(crate) fn parse_hash(bytes: &[u8]) -> Result<Hash, sqlx::Error> {
    bytes.try_into().map_err(|_| sqlx::Error::Decode("a hash is 32 bytes long".into()))
}

#[cfg(test)]
mod tests {
    use super::{OperationContent, SealHead};

    impl OperationContent {
        /// Returns an operation with these transfers, each as source, destination and hundredths.
        pub(crate) fn with_transfers(id: i64, transfers: &[(i64, i64, i64)]) -> Self {
            Self {
                id,
                key: "daily:x".into(),
                kind: "grant".into(),
                input_hash: vec![0x0f, 0xa0],
                game: None,
                created_at_us: 1_750_000_000_000_001,
                answer: "{\"wallet\": 5}".into(),
                codes: transfers.iter().map(|_| "daily".into()).collect(),
                sources: transfers.iter().map(|(source, ..)| *source).collect(),
                destinations: transfers.iter().map(|(_, destination, _)| *destination).collect(),
                amounts: transfers.iter().map(|(.., amount)| *amount).collect(),
            }
        }
    }

    fn booked() -> OperationContent {
        let booked = OperationContent::with_transfers(7, &[(3, 4, 5), (3, 4, 6)]);
        OperationContent { codes: vec!["daily".into(), "relief".into()], ..booked }
    }

    #[test]
    fn the_text_of_an_operation_has_a_line_for_itself_and_each_transfer() {
        let expected = "7\tdaily:x\tgrant\t0fa0\t\t1750000000000001\t{\"wallet\": 5}\n\
            1\tdaily\t3\t4\t5\n2\trelief\t3\t4\t6";
        assert_eq!(booked().text(), expected);
    }

    #[test]
    fn a_seal_depends_on_its_operations_and_the_seal_before() {
        let digest = booked().digest();
        let first = SealHead::NONE.next(&[(7, digest)]);
        assert_eq!(first.number, 1);
        let others = [
            SealHead::NONE.next(&[(8, digest)]),
            SealHead::NONE.next(&[(7, [1; 32])]),
            SealHead::NONE.next(&[(7, digest), (8, digest)]),
            first.next(&[(7, digest)]),
            SealHead { number: 1, ..SealHead::NONE }.next(&[(7, digest)]),
        ];
        assert!(others.iter().all(|other| other.hash != first.hash));
        assert!(first.to_string().starts_with("1:") && first.to_string().len() == 66);
    }
}
