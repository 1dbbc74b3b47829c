//! What a table plays by: the room's bet and rule set, the POT, and the clocks around a game.
//! A table is created with the terms of its room. When the room changes, the table takes bet, fee,
//! clocks and POT over between games (`terms_update`); its rule set it keeps.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::coins::Coins;
use crate::game::{Game, Hits, Skill};

/// Amounts by which no game is settled to the hundredth: which of them is wrong, and what it must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PriceError {
    /// As in the price's JSON.
    pub field: &'static str,
    pub what: &'static str,
}

impl core::fmt::Display for PriceError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}: {}", self.field, self.what)
    }
}

impl core::error::Error for PriceError {}

/// How counts become coins at one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Price {
    /// What a bet is at multiplier 1: at most games one count. Hundredths of a coin.
    pub bet: Coins,
    pub multiplier: u32,
    /// The house's share of what a seat receives, in ten-thousandths (rule 6.8).
    pub fee_basis_points: u32,
}

impl Price {
    /// What one count is worth, where a bet times its multiplier is worth so many (see
    /// [`Game::counts_per_bet`]).
    ///
    /// # Errors
    /// When that is no whole number of hundredths, or does not fit.
    pub fn count_price(&self, counts_per_bet: u32) -> Result<Coins, PriceError> {
        let refused = |what| PriceError { field: "bet", what };
        let whole = self.bet.checked_mul(self.multiplier).ok_or(refused("it is beyond all bounds"));
        let uneven =
            "at this game bet times multiplier is divided, into whole hundredths of a coin";
        whole?.checked_part(counts_per_bet).ok_or(refused(uneven))
    }
}

/// The clocks of a table (chapter 8). Those within a game are the game's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Clocks {
    /// How long the seats have to be ready (rule 8.1).
    pub prepare_ms: u32,
    /// How long the AI thinks (rule 8.3). Shorter than every countdown.
    pub think_ms: u32,
    /// How long a player whose connection is lost is only away, before the AI takes over (rule 8.3).
    /// Milliseconds.
    pub grace_ms: u32,
    /// Countdowns in a row that a player may let pass before the AI takes over (rule 8.3).
    pub missed_turns_to_takeover: u8,
    /// How long a disconnected player keeps a seat at a table that waits for others.
    pub absence_ms: u32,
    /// After how long an unanswered opening or settlement is asked again.
    pub retry_ms: u32,
}

/// Everything that a table plays by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Terms"))]
pub struct Terms<R> {
    /// The room's name in ids and accounts, as in `newbie`.
    pub room: String,
    pub rules: R,
    pub price: Price,
    /// The POT beside the games; absent at a table that plays without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hits: Option<Hits>,
    pub clocks: Clocks,
    /// Anybody may watch what lies open, some time after it happened.
    pub spectators: Spectators,
    /// How well bots of the house play; `greedy` where nothing is said. Whoever is taken over is
    /// played by the best in any case (rule 8.3): it plays for somebody's coins.
    #[serde(default, skip_serializing_if = "is_default")]
    pub bots: Skill,
    /// Where only a host's guests sit; absent at a table of a room.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub private: Option<PrivateTerms>,
    /// One player practises here with bots: no coins are played for, and nothing is booked or kept
    /// of a game (rule 8.7).
    #[serde(default, skip_serializing_if = "is_not")]
    pub practice: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_not(flag: &bool) -> bool {
    !*flag
}

/// What holds at a table to which nobody comes but a host's guests (rule 7.4): who is sent away
/// takes its part of the POT along, and when the table ends the POT goes back to those who paid it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "PrivateTerms"))]
pub struct PrivateTerms {
    /// The table ends when nobody has sat there for so long.
    pub ends_after_ms: u32,
    /// A player whose wallet holds less than the most that can be owed stakes the whole wallet,
    /// and does not have to leave (rule 6.9). Only where the game knows short stakes.
    #[serde(default, skip_serializing_if = "is_not")]
    pub short_stakes: bool,
}

/// Ante and stake of each seat when a game opens (rules 6.9 and 7.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StakeTerms {
    pub ante: Coins,
    /// The most that a seat can lose beside its ante. Above zero.
    pub stake_max: Coins,
    /// A wallet that holds less than `stake_max` after the ante is staked as a whole.
    pub short_stakes: bool,
}

impl StakeTerms {
    /// Returns the stake of a player with this wallet; `None` for one who cannot pay.
    pub fn stake_of(&self, wallet: Coins) -> Option<Coins> {
        let stake = wallet.checked_sub(self.ante)?.min(self.stake_max);
        Some(stake).filter(|stake| self.allows(*stake))
    }

    /// Returns whether a seat may play with this stake.
    pub fn allows(&self, stake: Coins) -> bool {
        let is_short = self.short_stakes && stake < self.stake_max;
        stake > Coins::ZERO && (stake == self.stake_max || is_short)
    }
}

/// Whether a table may be watched by those who do not sit there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Spectators {
    /// Only players see it.
    #[default]
    Nobody,
    /// Anybody sees what lies open, one turn late.
    Anybody,
}

fn is_default(bots: &Skill) -> bool {
    *bots == Skill::default()
}

impl Default for PrivateTerms {
    /// An hour, as rule 7.4 has it.
    fn default() -> Self {
        Self { ends_after_ms: 60 * 60 * 1_000, short_stakes: false }
    }
}

impl Default for Clocks {
    /// As chapter 8 has them.
    fn default() -> Self {
        Self {
            prepare_ms: 10_000,
            think_ms: 1_000,
            grace_ms: 15_000,
            missed_turns_to_takeover: 2,
            absence_ms: 30_000,
            retry_ms: 1_000,
        }
    }
}

impl<R> Terms<R> {
    /// The terms of a practice table: nothing costs anything, and there is no POT.
    pub fn for_practice(room: &str, rules: R, clocks: Clocks) -> Self {
        Self {
            room: room.into(),
            rules,
            price: Price { bet: Coins::ZERO, multiplier: 1, fee_basis_points: 0 },
            hits: None,
            clocks,
            spectators: Spectators::Nobody,
            bots: Skill::default(),
            private: None,
            practice: true,
        }
    }

    /// What each seat pays into the POT before a game (rule 7.1); `None` when it does not fit.
    pub fn ante(&self) -> Option<Coins> {
        self.price.bet.checked_mul(self.hits.map_or(0, |hits| hits.ante))
    }

    /// The most that one seat can lose in a game of so many seats beside its ante (rule 6.9);
    /// `None` when it does not fit 64 bits, or a count has no price.
    pub fn stake_max<G: Game<Rules = R>>(&self, seats: u8) -> Option<Coins> {
        let bonus = self.hits.map_or(0, |hits| hits.second_hit_bonus);
        let counts = G::counts_max(&self.rules, seats).checked_add(bonus)?;
        self.price.count_price(G::counts_per_bet(&self.rules)).ok()?.checked_mul(counts)
    }

    /// Returns what each seat of a game of so many seats pays and stakes; `None` when an amount
    /// does not fit 64 bits, or a count has no price.
    pub fn stake_terms<G: Game<Rules = R>>(&self, seats: u8) -> Option<StakeTerms> {
        let is_wanted = self.private.is_some_and(|private| private.short_stakes);
        Some(StakeTerms {
            ante: self.ante()?,
            stake_max: self.stake_max::<G>(seats)?,
            short_stakes: is_wanted && G::may_have_short_stakes(&self.rules),
        })
    }

    /// Returns whether these can be the stakes of a game, by seat. Nobody stakes anything at a
    /// practice table (rule 8.7).
    pub fn allows_stakes<G: Game<Rules = R>>(&self, stakes: &[Coins]) -> bool {
        if self.practice {
            return stakes.iter().all(|stake| stake.is_zero());
        }
        let seats = u8::try_from(stakes.len()).ok();
        let Some(terms) = seats.and_then(|seats| self.stake_terms::<G>(seats)) else {
            return false;
        };
        stakes.iter().all(|stake| terms.allows(*stake))
    }

    /// Returns the least that a wallet must hold to sit down (rule 6.9): the most that a game can
    /// cost, see [`Terms::loss_max`].
    pub fn wallet_min<G: Game<Rules = R>>(&self) -> Option<Coins> {
        self.loss_max::<G>()
    }

    /// Returns the most that one game can cost one seat, its ante included, however many play: in
    /// hundredths of a coin. Zero at a practice table; `None` when it does not fit 64 bits, or a
    /// count has no price.
    pub fn loss_max<G: Game<Rules = R>>(&self) -> Option<Coins> {
        let seats = G::seats(&self.rules);
        let stakes = (seats.least..=seats.most).map(|seats| self.stake_max::<G>(seats));
        let mut most = Coins::ZERO;
        for stake in stakes {
            most = most.max(stake?);
        }
        most.checked_add(self.ante()?)
    }
}

#[cfg(test)]
mod tests {
    use super::{Price, StakeTerms};
    use crate::coins::Coins;

    /// Rule 6.9, and 1.5 of both Tongos.
    #[test]
    fn a_wallet_covers_the_whole_stake_or_is_staked_whole_where_that_is_allowed() {
        let coins = Coins::from_hundredths;
        let whole = StakeTerms { ante: coins(100), stake_max: coins(1_400), short_stakes: false };
        let short = StakeTerms { short_stakes: true, ..whole };
        for (wallet, expected, expected_short) in [
            (0, None, None),
            (99, None, None),
            (100, None, None),
            (101, None, Some(1)),
            (1_499, None, Some(1_399)),
            (1_500, Some(1_400), Some(1_400)),
            (9_000, Some(1_400), Some(1_400)),
        ] {
            let wallet = coins(wallet);
            assert_eq!(whole.stake_of(wallet), expected.map(coins), "{wallet}");
            assert_eq!(short.stake_of(wallet), expected_short.map(coins), "{wallet}");
        }
        assert!(!short.allows(Coins::ZERO) && !short.allows(coins(1_401)));
    }

    #[test]
    fn a_count_is_a_part_of_the_bet_in_whole_hundredths() {
        let price = |bet, multiplier| Price {
            bet: Coins::from_hundredths(bet),
            multiplier,
            fee_basis_points: 500,
        };
        assert_eq!(price(100, 5).count_price(1), Ok(Coins::from_hundredths(500)));
        assert_eq!(price(101, 2).count_price(2), Ok(Coins::from_hundredths(101)));
        let uneven = price(101, 1).count_price(2).unwrap_err();
        assert_eq!(uneven.field, "bet");
        assert_eq!(price(i64::MAX, 2).count_price(1).unwrap_err().field, "bet");
    }
}
