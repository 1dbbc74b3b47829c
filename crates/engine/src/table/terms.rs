//! The terms of a table: the room's bet and rule set, the rules of the POT, and the clocks around a
//! game.
//!
//! A table is created with the terms of its room. When the room changes, the table adopts bet, fee,
//! clocks and the rules of the POT between games (`terms_update`); it keeps its rule set.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::chance::Commitment;
use crate::coins::Coins;
use crate::game::{GameRules, Hits, Skill, is_default};
use crate::table::id::{GameId, PlayerId, TournamentId};

/// A price by which no game can be settled to the hundredth, with the invalid field and its
/// requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PriceError {
    /// The name of the field in the price's JSON.
    pub field: &'static str,
    pub message: &'static str,
}

impl core::fmt::Display for PriceError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}: {}", self.field, self.message)
    }
}

impl core::error::Error for PriceError {}

/// The conversion of counts into coins at one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Price {
    /// The bet at multiplier 1, in hundredths of a coin. At most games it is the price of one
    /// count.
    pub bet: Coins,
    pub multiplier: u32,
    /// The house's share of the amount that a seat receives, in ten-thousandths (rule 6.8).
    pub fee_basis_points: u32,
}

impl Price {
    /// Returns the price of one count if a bet times its multiplier is worth `counts_per_bet`
    /// counts (see [`GameRules::counts_per_bet`]).
    ///
    /// # Errors
    /// If the price is not a whole number of hundredths, or does not fit.
    pub fn count_price(&self, counts_per_bet: u32) -> Result<Coins, PriceError> {
        let refused = |message| PriceError { field: "bet", message };
        let whole = self.bet.checked_mul(self.multiplier).ok_or(refused("it is beyond all bounds"));
        let uneven =
            "at this game bet times multiplier is divided, into whole hundredths of a coin";
        whole?.checked_part(counts_per_bet).ok_or(refused(uneven))
    }
}

/// The clocks of a table (chapter 8); durations are in milliseconds. The countdowns within a game
/// belong to the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Clocks {
    /// The time in which the seats have to become ready (rule 8.1).
    pub prepare_ms: u32,
    /// The time that the AI takes to answer (rule 8.3); shorter than every countdown.
    pub think_ms: u32,
    /// The grace: the time for which a player without a connection is away before the AI takes over
    /// (rule 8.3).
    pub grace_ms: u32,
    /// The number of countdowns in a row that a player may miss before the AI takes over (rule
    /// 8.3).
    pub missed_turns_to_takeover: u8,
    /// The time for which a disconnected player keeps a seat at a waiting table.
    pub absence_ms: u32,
    /// The time after which an unanswered opening or settlement is retried.
    pub retry_ms: u32,
}

/// The terms that a table is played under.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Terms"))]
pub struct Terms<R> {
    /// The room's name in ids and accounts, such as `newbie`.
    pub room: String,
    pub rules: R,
    pub price: Price,
    /// The rules of the POT; absent at a table without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hits: Option<Hits>,
    pub clocks: Clocks,
    /// True if spectators may watch the public part of the game, with a delay.
    pub spectators: Spectators,
    /// The skill of house bots; `greedy` by default. A seat that is taken over is always played by
    /// the best AI (rule 8.3), because a player's coins are at stake.
    #[serde(default, skip_serializing_if = "is_default")]
    pub bots: Skill,
    /// The terms of a private table; absent at a table of a room.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub private: Option<PrivateTerms>,
    /// True if this is a practice table of one player with bots, without coins: nothing
    /// about a game is booked or stored (rule 8.7).
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub practice: bool,
    /// The place of the table in a tournament; absent at any other table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tournament: Option<TournamentSeating>,
}

/// The place of a table in a tournament. Its players play a fixed number of games for points, which
/// are counted like coins, in hundredths, but never leave the table; nobody else sits down there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "TournamentSeating")
)]
pub struct TournamentSeating {
    pub tournament: TournamentId,
    /// The round of the tournament, from 1.
    pub round: u32,
    /// The number of the table in the round, from 1.
    pub number: u32,
    /// The number of games that are played at the table.
    pub games: u32,
    /// The players by seat.
    pub players: Vec<PlayerId>,
    /// The deal commitments by game if all tables of the round play the same deals, as in a
    /// duplicate. The table then shows no seed, and nobody watches it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commitments: Vec<Commitment>,
}

/// The terms of a table that only a host's guests join (rule 7.4). A removed player receives its
/// part of the POT, and when the table ends the POT is refunded to those who paid it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "PrivateTerms"))]
pub struct PrivateTerms {
    /// The time without players after which the table ends, in milliseconds.
    pub ends_after_ms: u32,
    /// True if a player whose wallet holds less than the maximum debt stakes the whole wallet and
    /// need not leave (rule 6.9). Only for games with short stakes.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub short_stakes: bool,
}

/// The ante and stake of each seat at the opening of a game (rules 6.9 and 7.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StakeTerms {
    pub ante: Coins,
    /// The maximum that a seat can lose in addition to its ante; above zero.
    pub stake_max: Coins,
    /// True if a wallet that holds less than `stake_max` after the ante is staked as a whole.
    pub short_stakes: bool,
}

impl StakeTerms {
    /// Returns the stake of a player with this wallet; `None` for a player who cannot pay.
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

/// The audience of a table other than its players.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Spectators {
    /// Nobody but the players sees the table.
    #[default]
    Nobody,
    /// Anybody sees the public part, one turn late.
    Anybody,
}

impl Default for PrivateTerms {
    /// Returns the terms of rule 7.4, with an end after an hour.
    fn default() -> Self {
        Self { ends_after_ms: 60 * 60 * 1_000, short_stakes: false }
    }
}

impl Default for Clocks {
    /// Returns the clocks of chapter 8.
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
    /// Returns whether all tables of a round play the deals of this one, as in a duplicate.
    pub fn has_shared_deals(&self) -> bool {
        self.tournament.as_ref().is_some_and(|tournament| !tournament.commitments.is_empty())
    }

    /// Returns the id in the key of a game's deal (rule 9.2): the game's, or the tournament's if all
    /// tables of a round play the deal.
    pub fn deal_id(&self, game: GameId) -> [u8; 16] {
        let shared = self.tournament.as_ref().filter(|_| self.has_shared_deals());
        *shared.map_or(game.0, |tournament| tournament.tournament.0).as_bytes()
    }
}

impl<R: GameRules> Terms<R> {
    /// Creates the terms of a practice table, at which nothing is paid and which has no POT.
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
            tournament: None,
        }
    }

    /// Creates the terms of a table of a tournament, with a bet in hundredths of a point: no fee, no
    /// POT, and no stake in coins. Anybody may watch, unless other tables play the same deals.
    pub fn for_tournament(
        room: &str,
        rules: R,
        bet: Coins,
        clocks: Clocks,
        tournament: TournamentSeating,
    ) -> Self {
        let spectators = if tournament.commitments.is_empty() {
            Spectators::Anybody
        } else {
            Spectators::Nobody
        };
        Self {
            room: room.into(),
            rules,
            price: Price { bet, multiplier: 1, fee_basis_points: 0 },
            hits: None,
            clocks,
            spectators,
            bots: Skill::default(),
            private: None,
            practice: false,
            tournament: Some(tournament),
        }
    }

    /// Returns whether the table opens its games by itself, without coins: a practice table or a
    /// table of a tournament.
    pub fn opens_by_itself(&self) -> bool {
        self.practice || self.tournament.is_some()
    }

    /// Returns the ante of each seat before a game (rule 7.1); `None` if it does not fit.
    pub fn ante(&self) -> Option<Coins> {
        self.price.bet.checked_mul(self.hits.map_or(0, |hits| hits.ante))
    }

    /// Returns the maximum that one seat can lose in addition to its ante in a game of `seats`
    /// seats (rule 6.9); `None` if it does not fit 64 bits, or a count has no price.
    pub fn stake_max(&self, seats: u8) -> Option<Coins> {
        let bonus = self.hits.map_or(0, |hits| hits.second_hit_bonus);
        let counts = self.rules.counts_max(seats).checked_add(bonus)?;
        self.price.count_price(self.rules.counts_per_bet()).ok()?.checked_mul(counts)
    }

    /// Returns the ante and stake of each seat in a game of `seats` seats; `None` if an amount does
    /// not fit 64 bits, or a count has no price.
    pub fn stake_terms(&self, seats: u8) -> Option<StakeTerms> {
        let is_wanted = self.private.is_some_and(|private| private.short_stakes);
        Some(StakeTerms {
            ante: self.ante()?,
            stake_max: self.stake_max(seats)?,
            short_stakes: is_wanted && self.rules.may_have_short_stakes(),
        })
    }

    /// Returns whether these can be the stakes of a game, by seat. At a practice table nothing is
    /// staked (rule 8.7).
    pub fn allows_stakes(&self, stakes: &[Coins]) -> bool {
        if self.practice {
            return stakes.iter().all(|stake| stake.is_zero());
        }
        let seats = u8::try_from(stakes.len()).ok();
        let Some(terms) = seats.and_then(|seats| self.stake_terms(seats)) else { return false };
        stakes.iter().all(|stake| terms.allows(*stake))
    }

    /// Returns the minimum that a wallet must hold for its player to sit down (rule 6.9): the
    /// maximum loss in a game, see [`Terms::loss_max`].
    pub fn wallet_min(&self) -> Option<Coins> {
        self.loss_max()
    }

    /// Returns the maximum loss of one seat in one game including its ante, for any number of
    /// players, in hundredths of a coin. Zero at a practice table; `None` if it does not fit 64
    /// bits, or a count has no price.
    pub fn loss_max(&self) -> Option<Coins> {
        let seats = self.rules.seats();
        let mut stakes = (seats.least..=seats.most).map(|seats| self.stake_max(seats));
        let most = stakes.try_fold(Coins::ZERO, |most, stake| Some(most.max(stake?)))?;
        most.checked_add(self.ante()?)
    }
}

#[cfg(test)]
mod tests {
    use super::{Price, StakeTerms};
    use crate::coins::Coins;

    /// Rule 6.9, and rule 1.5 of both Tongos.
    #[test]
    fn a_wallet_covers_the_whole_stake_or_is_staked_as_a_whole_if_allowed() {
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
