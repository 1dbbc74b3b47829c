//! The part of the pairs that the API and the desk share: the period, the ranking, a pair and its
//! review.

use bahay_api::operator::collusion::{PairFilter, PairPeriod, PairReport, PairReview, ScoredPair};
use uuid::Uuid;

use crate::clock::{BoundedTimestamp, Timestamp};
use crate::http::core::extractors::check_period;
use crate::http::core::pagination::Position;
use crate::http::{Code, CodeExt as _, PageOf, PageRequest, Problem, Services};
use crate::operators::{CanModerate, Moderation, Operator};
use crate::reason::Reason;
use crate::reports::{PAIR_DAYS_MAX, PairPosition, PeriodDays};

/// A score, and the two players.
impl Position for PairPosition {
    fn to_text(&self) -> String {
        format!("{:x}.{}.{}", self.0, self.1.simple(), self.2.simple())
    }

    fn from_text(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '.');
        let score = i64::from_str_radix(parts.next()?, 16).ok().filter(|score| *score >= 0)?;
        let [first, second] = [parts.next()?, parts.next()?].map(|id| Uuid::try_parse(id).ok());
        Some((score, first?, second?))
    }
}

/// Returns a page of pairs, highest score first.
pub(super) async fn list(
    services: &Services,
    request: &PageRequest<Operator, PairFilter>,
) -> Result<PageOf<ScoredPair>, Problem> {
    let &PairFilter { from, to, state } = &request.filter;
    let days = read_days(services, from, to)?;
    let list = format!("pairs {days:?} {state:?}");
    request.read(&list, |below, limit| services.pairs.list(days, state, below, limit)).await
}

/// Returns a pair with its games in a period.
pub(super) async fn load_report(
    services: &Services,
    players: [Uuid; 2],
    period: PairPeriod,
) -> Result<PairReport, Problem> {
    let days = read_days(services, period.from, period.to)?;
    let report = services.pairs.report(days, players).await?;
    report.ok_or_else(|| Code::PairNotFound.problem())
}

/// Reviews a pair at its score of the last seven days.
pub(super) async fn review(
    services: &Services,
    by: &CanModerate,
    players: [Uuid; 2],
    reason: &Reason,
) -> Result<PairReview, Problem> {
    let Services { pairs, clock, pool, .. } = services;
    let pair = pairs.find(pairs.days(None, clock.now()), players).await?;
    let score = pair.ok_or_else(|| Code::PairNotFound.problem())?.score;
    let moderation = Moderation::new(pool.clone(), clock.clone());
    let reviewed = moderation.review_pair(by, players, score, reason).await?;
    pairs.forget_count();
    Ok(reviewed)
}

/// Returns the days of a period.
///
/// # Errors
/// `query_invalid` if `from` is not before `to`, or the period is longer than [`PAIR_DAYS_MAX`].
pub(super) fn read_days(
    services: &Services,
    from: Option<BoundedTimestamp>,
    to: Option<BoundedTimestamp>,
) -> Result<PeriodDays, Problem> {
    check_period(from, to)?;
    let from = from.map(Timestamp::from);
    let now = services.clock.now();
    let days = match to {
        Some(to) => services.pairs.days(from, to.into()),
        // A period that begins in the future is empty.
        None => {
            let days = services.pairs.days(from, now.max(from.unwrap_or_default()));
            days.keep_first(PAIR_DAYS_MAX)
        }
    };
    match days.count() > PAIR_DAYS_MAX {
        true => {
            let detail = format!("the period has more than {PAIR_DAYS_MAX} days");
            Err(Code::QueryInvalid.with_detail(detail))
        }
        false => Ok(days),
    }
}

#[cfg(test)]
mod tests {
    use super::Position as _;
    use crate::reports::PairPosition;
    use uuid::Uuid;

    #[test]
    fn a_position_is_read_as_it_was_written() {
        let position: PairPosition = (77, Uuid::from_u128(1), Uuid::from_u128(2));
        assert_eq!(PairPosition::from_text(&position.to_text()), Some(position));
        for text in ["", "4d", "4d.1.2", "-1.00000000000000000000000000000001."] {
            assert_eq!(PairPosition::from_text(text), None, "{text}");
        }
    }
}
