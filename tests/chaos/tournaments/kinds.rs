//! The kinds of tournaments of a run as data, and the division of the players among them.

use bahay::tournaments::{TournamentDraft, TournamentError, announce_in_tx};
use bahay_engine::catalog::AnyRules;
use bahay_engine::coins::Coins;
use bahay_engine::table::{Clocks, Timestamp};
use bahay_engine::tournament::{
    EntrantLimits, EntryPrice, Format, PayoutStep, Stage, TournamentGame, TournamentTerms,
};
use sqlx::PgPool;

/// The number of players of a sit-and-go.
const SIT_AND_GO: u32 = 9;

/// The price of an entry in whole coins: the buy-in and the fee.
const PRICE: (i64, i64) = (50, 5);

/// A kind of tournament.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    SitAndGo,
    KnockOut,
    Arena,
    Duplicate,
}

/// A group of players that plays tournaments of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) kind: Kind,
    pub(crate) players: u32,
}

impl Kind {
    const ALL: [Self; 4] = [Self::SitAndGo, Self::KnockOut, Self::Arena, Self::Duplicate];

    /// Returns the terms of a tournament for a number of players. A scheduled one starts at
    /// `starts_at`.
    pub(crate) fn terms(self, players: u32, starts_at: Timestamp) -> TournamentTerms {
        let rules = AnyRules::find_rule_set("tongits", "kingdom").expect("the catalogue has it");
        let mut game = TournamentGame::new(rules.rules, 3);
        game.clocks =
            Clocks { prepare_ms: 5_000, think_ms: 200, grace_ms: 3_000, ..Clocks::default() };
        let stage = |groups, rounds, games, advance| Stage { groups, rounds, games, advance };
        let coins = |whole| Coins::from_whole(whole).expect("a small amount");
        let format = match self {
            Self::SitAndGo => Format::SitAndGo { games: 1 },
            Self::KnockOut if players < 27 => {
                Format::KnockOut { stages: vec![stage(1, 2, 1, 3), stage(1, 1, 1, 0)] }
            }
            Self::KnockOut => Format::KnockOut {
                stages: vec![stage(3, 2, 1, players / 27 * 9), stage(1, 2, 1, 0)],
            },
            Self::Arena => {
                let duration_ms = if players < 50 { 12_000 } else { 40_000 };
                Format::Arena { duration_ms, pairing_ms: 1_000 }
            }
            Self::Duplicate => Format::Duplicate { rounds: 3, games: 1 },
        };
        let is_scheduled = self != Self::SitAndGo;
        let (buy_in, fee) = PRICE;
        let step =
            |entrants_from, shares: &[u32]| PayoutStep { entrants_from, shares: shares.to_vec() };
        TournamentTerms {
            name: format!("Chaos {self:?}"),
            game,
            format,
            entrants: EntrantLimits {
                least: if is_scheduled { 6 } else { players },
                most: players,
            },
            entry: EntryPrice { buy_in: coins(buy_in), fee: coins(fee), accepts_passes: false },
            guarantee: coins(i64::from(players) * buy_in + 17),
            payouts: vec![step(0, &[100]), step(9, &[50, 30, 20]), step(50, &[7, 5, 4, 3, 2, 1])],
            starts_at: is_scheduled.then_some(starts_at),
            late_registration_ms: if self == Self::Arena { 6_000 } else { 0 },
            break_ms: if is_scheduled { 500 } else { 0 },
            is_private: false,
            bots: false,
            bots_after_ms: 0,
        }
    }
}

/// Returns the kinds that the house accepts.
pub(crate) async fn playable(pool: &PgPool) -> Result<Vec<Kind>, TournamentError> {
    let mut kinds = Vec::new();
    for kind in Kind::ALL {
        let draft = TournamentDraft { terms: kind.terms(9, Timestamp::default()), code: None };
        let mut tx = pool.begin().await?;
        match announce_in_tx(&mut tx, draft).await {
            Ok(_) => kinds.push(kind),
            Err(TournamentError::Terms(error)) => println!("{kind:?} is not played: {error}"),
            Err(error) => return Err(error),
        }
        tx.rollback().await?;
    }
    Ok(kinds)
}

/// Divides players among the kinds alike; those of the sit-and-go in groups that fill one each.
pub(crate) fn groups(players: u32, kinds: &[Kind]) -> Vec<Group> {
    let mut groups = Vec::new();
    let mut left = players;
    let mut kinds_left = u32::try_from(kinds.len()).unwrap_or(1);
    for kind in kinds {
        let share = left / kinds_left.max(1);
        kinds_left -= 1;
        if *kind == Kind::SitAndGo {
            let filled = share / SIT_AND_GO;
            left -= filled * SIT_AND_GO;
            groups.extend((0..filled).map(|_| Group { kind: *kind, players: SIT_AND_GO }));
        } else {
            left -= share;
            groups.push(Group { kind: *kind, players: share });
        }
    }
    groups
}
