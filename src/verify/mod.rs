//! `bahay verify`: checks the record of a finished game from the document alone, without any trust
//! in this server or its database. `ledger` compares all books with all records, and `hourly`
//! schedules that comparison on the server.

pub mod hourly;
pub mod ledger;

use bahay_engine::catalog::AnyGame;
use bahay_engine::coins::Coins;
use bahay_engine::table::{DocumentError, InvalidRecordError, Readable, Record, VerifySummary};

/// An error of verifying a document.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    #[error("not the record of a game: {0}")]
    Malformed(String),
    #[error("the record is of an unknown kind: {0}")]
    UnknownKind(String),
    #[error("the record is invalid: {0}")]
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

/// A verified record.
#[derive(Debug)]
pub struct VerifiedRecord {
    pub record: Record<AnyGame>,
    pub verified: VerifySummary,
}

/// Verifies a document: commitment, deal, every action, and settlement.
pub fn verify(document: &str) -> Result<VerifiedRecord, VerifyError> {
    let record = AnyGame::read_record(document)?;
    let verified = record.verify()?;
    Ok(VerifiedRecord { record, verified })
}

/// A summary of a verified record for people.
#[derive(Debug)]
pub struct Report {
    pub winner: String,
    pub fee: Coins,
}

/// Summarizes a record: the winner's gain after the fee, and the house's fee. People count seats
/// from 1.
pub fn report(record: &Record<AnyGame>) -> Report {
    let settlement = &record.settlement;
    let winner = match settlement.winner {
        Some(seat) => {
            let net = settlement.net(seat).unwrap_or_default();
            format!("seat {} wins {net:+}", seat.index() + 1)
        }
        None => "nobody wins".to_owned(),
    };
    let fees = settlement.fees.iter().map(|fee| fee.fee);
    Report { winner, fee: Coins::checked_sum(fees).unwrap_or_default() }
}
