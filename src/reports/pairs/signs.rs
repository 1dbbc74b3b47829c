//! The score of a pair of players: the sum of its points for each sign of collusion that follows from
//! stored figures. The desk ranks pairs by [`PairEvidence::score`], and `bahay-lab collusion`
//! measures the same function with the same threshold on planted pairs.
//!
//! A score is the sum of the points of three signs, each with a maximum:
//!
//! | sign | points | maximum |
//! |---|---|---|
//! | games together, as a share of the games of the one who played fewer | 0 up to a half, then in proportion up to all | [`TOGETHER_MAX`] |
//! | net transfer, in standard deviations | [`POINTS_PER_DEVIATION`] for each one beyond [`DEVIATIONS_BY_CHANCE`] | [`NET_TRANSFER_MAX`] |
//! | a shared device, or a shared address | fixed | [`DEVICE_POINTS`], [`ADDRESS_POINTS`] |
//!
//! The net transfer is the coins that one of the pair paid the other in their games, less those that
//! it received. It is compared with chance: if each game could as well have gone the other way, it has
//! a mean of zero and the variance of the sum of its squares, one a game. Limits: a careless player
//! loses to its partner as to others, friends meet, and families share a phone. Deliberately absent:
//! conduct within a game, which only a replay shows; the laboratory measures it for one game.

pub use bahay_api::operator::players::SharedSignal;

/// The number of games together from which a pair is scored.
pub const GAMES_MIN: i64 = 5;

/// The score from which a pair is an alert, unless the house sets another one. Three accounts of one
/// address that play only with each other reach it.
pub const ALERT_SCORE_DEFAULT: i64 = 50;

/// The points of a pair that played every game together.
pub const TOGETHER_MAX: i64 = 30;

/// The standard deviations of a net transfer that give no points.
pub const DEVIATIONS_BY_CHANCE: i64 = 2;

/// The points for each further standard deviation.
pub const POINTS_PER_DEVIATION: i64 = 20;

/// The maximum points of a net transfer.
pub const NET_TRANSFER_MAX: i64 = 60;

/// The points of a shared device.
pub const DEVICE_POINTS: i64 = 30;

/// The points of a shared address.
pub const ADDRESS_POINTS: i64 = 20;

/// The scale of shares and deviations: thousandths.
const ONE: i64 = 1_000;

/// The stored figures of a pair in a period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairEvidence {
    /// The games together.
    pub games: i64,
    /// The games of the one of the pair who played fewer.
    pub of: i64,
    /// The coins that the first paid the second less those that it received, in hundredths or any
    /// other unit.
    pub net_transfer: i64,
    /// The standard deviation of the net transfer in the same unit: the root of the sum of the
    /// squares of each game's net transfer.
    pub deviation: i64,
    pub shared: Option<SharedSignal>,
}

/// The points of each sign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairPoints {
    pub together: i64,
    pub net_transfer: i64,
    pub shared: i64,
}

impl PairEvidence {
    /// Returns the games together in thousandths of the games of the one who played fewer.
    pub fn share(&self) -> i64 {
        if self.of <= 0 { 0 } else { (self.games.saturating_mul(ONE) / self.of).clamp(0, ONE) }
    }

    /// Returns the net transfer in thousandths of its standard deviation, without its direction.
    pub fn deviations(&self) -> i64 {
        count_deviations(self.net_transfer, self.deviation).saturating_abs()
    }

    /// Returns the points of each sign. A pair with fewer than [`GAMES_MIN`] games together has
    /// none.
    pub fn points(&self) -> PairPoints {
        if self.games < GAMES_MIN {
            return PairPoints::default();
        }
        let beyond_half = (self.share() - ONE / 2).max(0);
        let beyond_chance = (self.deviations() - DEVIATIONS_BY_CHANCE * ONE).max(0);
        PairPoints {
            together: TOGETHER_MAX * beyond_half / (ONE - ONE / 2),
            net_transfer: (beyond_chance.saturating_mul(POINTS_PER_DEVIATION) / ONE)
                .min(NET_TRANSFER_MAX),
            shared: match self.shared {
                Some(SharedSignal::Device) => DEVICE_POINTS,
                Some(SharedSignal::Address) => ADDRESS_POINTS,
                None => 0,
            },
        }
    }

    /// Returns the sum of the points of all signs.
    pub fn score(&self) -> i64 {
        let PairPoints { together, net_transfer, shared } = self.points();
        together + net_transfer + shared
    }
}

/// Returns a sum in thousandths of its standard deviation; 0 if nothing varies.
pub fn count_deviations(sum: i64, deviation: i64) -> i64 {
    if deviation <= 0 {
        return 0;
    }
    let thousandths = i128::from(sum) * i128::from(ONE) / i128::from(deviation);
    i64::try_from(thousandths).unwrap_or(if sum < 0 { i64::MIN } else { i64::MAX })
}

#[cfg(test)]
mod tests {
    use super::{
        ALERT_SCORE_DEFAULT, GAMES_MIN, PairEvidence, PairPoints, SharedSignal, count_deviations,
    };

    #[test]
    fn accounts_of_one_address_in_all_of_their_games_are_an_alert() {
        let evidence = PairEvidence {
            games: 11,
            of: 11,
            shared: Some(SharedSignal::Address),
            ..PairEvidence::default()
        };
        assert_eq!(evidence.points(), PairPoints { together: 30, net_transfer: 0, shared: 20 });
        assert!(evidence.score() >= ALERT_SCORE_DEFAULT);
        let few = PairEvidence { games: GAMES_MIN - 1, of: GAMES_MIN - 1, ..evidence };
        assert_eq!(few.score(), 0);
    }

    #[test]
    fn a_net_transfer_counts_beyond_chance_in_either_direction() {
        // Forty games of one coin in one direction are six deviations.
        let evidence = |net_transfer| PairEvidence {
            games: 40,
            of: 80,
            net_transfer,
            deviation: 6,
            ..PairEvidence::default()
        };
        for (net_transfer, points) in [(12, 0), (18, 20), (-18, 20), (27, 50), (-1_000, 60)] {
            assert_eq!(evidence(net_transfer).points().net_transfer, points, "{net_transfer}");
        }
        assert_eq!(evidence(40).points().together, 0, "half of the games say nothing");
        assert_eq!(count_deviations(i64::MIN, 1), i64::MIN);
        assert_eq!(count_deviations(5, 0), 0);
    }
}
