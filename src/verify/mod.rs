//! `bahay verify`: checks the document of a finished game against itself, with nothing but the
//! document: it trusts neither this server nor its database. `ledger` holds all books against all
//! documents, and `hourly` does so by itself while serving.

pub mod hourly;
pub mod ledger;

use bahay_engine::catalog::AnyGame;
use bahay_engine::coins::Coins;
use bahay_engine::table::{DocumentError, InvalidRecordError, Readable, Record, VerifySummary};

/// Why a document is not a record that verifies.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    #[error("not the record of a game: {0}")]
    Malformed(String),
    #[error("the record is of a game that this program does not know: {0}")]
    UnknownKind(String),
    #[error("the record does not hold: {0}")]
    Invalid(#[from] InvalidRecordError),
}

impl From<DocumentError> for VerifyError {
    fn from(unreadable: DocumentError) -> Self {
        match unreadable {
            DocumentError::UnknownGame(kind) => Self::UnknownKind(kind),
            DocumentError::Malformed(what) => Self::Malformed(what),
        }
    }
}

/// What was verified.
#[derive(Debug)]
pub struct VerifiedRecord {
    pub record: Record<AnyGame>,
    pub verified: VerifySummary,
}

/// Checks a document: commitment, deal, every action, settlement.
pub fn verify(document: &str) -> Result<VerifiedRecord, VerifyError> {
    let record = AnyGame::read_record(document)?;
    let verified = record.verify()?;
    Ok(VerifiedRecord { record, verified })
}

/// What a verified record comes to, for people.
#[derive(Debug)]
pub struct Report {
    pub winner: String,
    pub fee: Coins,
}

/// Who won how much after the fee, and what the house took.
pub fn report(record: &Record<AnyGame>) -> Report {
    let settlement = &record.settlement;
    let winner = match settlement.winner {
        Some(seat) => {
            let net = settlement.net(seat).unwrap_or_default();
            format!("seat {seat} wins {net:+}")
        }
        None => "nobody wins".to_owned(),
    };
    let fees = settlement.fees.iter().map(|fee| fee.fee);
    Report { winner, fee: Coins::checked_sum(fees).unwrap_or_default() }
}
