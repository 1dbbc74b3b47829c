//! Statistics of few games: how many standard deviations a sum lies above its expectation by chance,
//! in thousandths.
//!
//! Points and gifts have a few large amounts among many small ones, so that one game would outweigh
//! all others, and their sum is far from a normal distribution. Each amount therefore counts by its
//! root, with its sign. Counts of rare events count by their root as well. All is computed in
//! integers, so that the order of pairs is the same everywhere.

use super::conduct::Conduct;

/// The scale of deviations: thousandths.
const ONE: i128 = 1_000;

/// The scale of shares: millionths.
const WHOLE: i128 = 1_000_000;

/// The number of decisions of all players that count beside a player's own, so that few of them make
/// no certainty.
const PRIOR_DECISIONS: i128 = 30;

/// The number of gifts of all players that count beside a player's own.
const PRIOR_GIFTS: i128 = 10;

/// The least and the greatest expected share of departures, in millionths.
const SHARE_MIN: i128 = 20_000;
const SHARE_MAX: i128 = 980_000;

/// Amounts that could as well have had the other sign, by their roots in thousandths.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SignedRoots {
    count: i128,
    sum: i128,
    squares: i128,
}

impl SignedRoots {
    pub(super) fn add(&mut self, amount: i64) {
        let root = (i128::from(amount.unsigned_abs()) * ONE * ONE).isqrt();
        self.count += 1;
        self.sum += root * i128::from(amount.signum());
        self.squares += root * root;
    }

    fn without(self, part: Self) -> Self {
        Self {
            count: self.count - part.count,
            sum: self.sum - part.sum,
            squares: self.squares - part.squares,
        }
    }

    /// Returns the sum in deviations, with its sign, if each amount has the mean square of these.
    pub(super) fn deviations_among(self, all: Self) -> i64 {
        self.deviations(all.squares * ONE * ONE / all.count.max(1))
    }

    /// Returns the sum in deviations, with its sign, if each amount has the mean square of the other
    /// amounts of the giver and of some of the field.
    pub(super) fn deviations_beside(self, of_giver: Self, field: Self) -> i64 {
        let others = of_giver.without(self);
        let prior = PRIOR_GIFTS * field.squares * ONE * ONE / field.count.max(1);
        self.deviations((others.squares * ONE * ONE + prior) / (others.count + PRIOR_GIFTS))
    }

    /// Returns the sum in deviations; the mean square has the scale of squares of thousandths of the
    /// roots.
    fn deviations(self, mean_square: i128) -> i64 {
        let deviation = (mean_square * self.count).isqrt();
        clamp(self.sum * ONE * ONE / deviation.max(1))
    }
}

/// Returns how far the departures in games together exceed the expected ones, in deviations. The
/// expected share is that of the player's other games and of some decisions of the field.
pub(super) fn count_departure_deviations(
    together: Conduct,
    of_player: Conduct,
    field: Conduct,
) -> i64 {
    let others = of_player.without(together);
    let prior =
        PRIOR_DECISIONS * WHOLE * i128::from(field.departures) / i128::from(field.decisions.max(1));
    let known = i128::from(others.decisions) + PRIOR_DECISIONS;
    let share = (i128::from(others.departures) * WHOLE + prior) / known;
    let share = share.clamp(SHARE_MIN, SHARE_MAX);
    let decisions = i128::from(together.decisions);
    // Three eighths make the deviation of the root the same for small numbers: half the root of the
    // share that conforms.
    let root = |departures: i128| ((departures + WHOLE * 3 / 8) * WHOLE).isqrt();
    let excess = root(i128::from(together.departures) * WHOLE) - root(decisions * share);
    // The expected share is itself uncertain.
    let deviation = ((WHOLE - share) * WHOLE * (known + decisions) / known).isqrt();
    clamp(2 * excess * ONE / deviation.max(1))
}

fn clamp(deviations: i128) -> i64 {
    i64::try_from(deviations).unwrap_or(if deviations < 0 { i64::MIN } else { i64::MAX })
}

#[cfg(test)]
mod tests {
    use super::{Conduct, SignedRoots, count_departure_deviations};

    fn roots(amounts: &[i64]) -> SignedRoots {
        let mut sums = SignedRoots::default();
        amounts.iter().for_each(|amount| sums.add(*amount));
        sums
    }

    #[test]
    fn amounts_of_one_sign_deviate_by_the_root_of_their_number() {
        let all = roots(&[400, -400, 400, -400, 400, -400]);
        assert_eq!(roots(&[400, 400, 400, 400]).deviations_among(all), 2_000);
        assert_eq!(roots(&[-400, -400, -400, -400]).deviations_among(all), -2_000);
        assert_eq!(roots(&[400, -400]).deviations_among(all), 0);
        // One large amount counts by its root.
        assert_eq!(roots(&[40_000]).deviations_among(all), 10_000);
        assert_eq!(roots(&[]).deviations_among(roots(&[])), 0);
    }

    #[test]
    fn a_giver_is_compared_with_its_other_gifts() {
        let field = roots(&[100; 20]);
        let [together, generous] = [roots(&[900; 4]), roots(&[900; 40])];
        let of_rare = together.deviations_beside(together, field);
        let of_generous = together.deviations_beside(generous, field);
        assert!(of_rare > 2 * of_generous && of_generous > 1_500, "{of_rare} {of_generous}");
    }

    #[test]
    fn departures_are_compared_with_those_in_other_games() {
        let of = |decisions, departures| Conduct { decisions, departures };
        let field = of(10_000, 500);
        let strange = count_departure_deviations(of(40, 20), of(240, 30), field);
        let careless = count_departure_deviations(of(40, 20), of(240, 120), field);
        let expected = count_departure_deviations(of(40, 2), of(240, 12), field);
        assert!(strange > 4_000, "{strange}");
        assert!(careless.abs() < 1_000 && expected.abs() < 500, "{careless} {expected}");
        // Without a decision there is no sign.
        assert_eq!(count_departure_deviations(of(0, 0), of(0, 0), of(0, 0)), 0);
    }
}
