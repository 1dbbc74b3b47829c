//! Terms of tournaments for tests.

use bahay_engine::catalog::AnyRules;
use bahay_engine::coins::Coins;
use bahay_engine::table::Timestamp;
use bahay_engine::testing::{ANNOUNCED_MS, TestRng};
use bahay_engine::tournament::{
    EntrantLimits, EntryPrice, Format, PayoutStep, Stage, TournamentGame, TournamentTerms,
};

pub(super) const MINUTE_MS: u32 = 60_000;

pub(super) fn coins(hundredths: i64) -> Coins {
    Coins::from_hundredths(hundredths)
}

/// Returns terms with an entry of 10 coins and a fee of 1, which start after ten minutes.
pub(super) fn terms(format: Format, least: u32, most: u32) -> TournamentTerms {
    let is_sit_and_go = matches!(format, Format::SitAndGo { .. });
    let rules = AnyRules::find_rule_set("tongits", "kingdom").unwrap().rules;
    let start = Timestamp::from_ms(ANNOUNCED_MS + 10 * i64::from(MINUTE_MS));
    let step =
        |entrants_from, shares: &[u32]| PayoutStep { entrants_from, shares: shares.to_vec() };
    TournamentTerms {
        name: "Test".into(),
        game: TournamentGame::new(rules, 3),
        format,
        entrants: EntrantLimits { least, most },
        entry: EntryPrice { buy_in: coins(1_000), fee: coins(100), accepts_passes: false },
        guarantee: Coins::ZERO,
        payouts: vec![step(0, &[100]), step(9, &[50, 30, 20]), step(100, &[7, 5, 4, 3, 2, 2, 1])],
        starts_at: (!is_sit_and_go).then_some(start),
        late_registration_ms: 0,
        break_ms: 20_000,
        is_private: false,
        bots: false,
        bots_after_ms: 0,
    }
}

pub(super) const SIT_AND_GO: Format = Format::SitAndGo { games: 3 };

pub(super) const ARENA: Format = Format::Arena { duration_ms: 20 * MINUTE_MS, pairing_ms: 3_000 };

pub(super) const DUPLICATE: Format = Format::Duplicate { rounds: 4, games: 2 };

pub(super) fn knock_out(players: u32) -> Format {
    let stage = |groups, rounds, games, advance| Stage { groups, rounds, games, advance };
    let first = (players / 2).max(9) / 9 * 9;
    if first > 9 {
        Format::KnockOut {
            stages: vec![stage(3, 3, 2, first), stage(1, 2, 2, 9), stage(1, 2, 1, 0)],
        }
    } else {
        Format::KnockOut { stages: vec![stage(1, 3, 2, 9), stage(1, 2, 1, 0)] }
    }
}

/// Returns terms of a kind, 0 to 3, for about this number of players, which vary with the seed.
pub(super) fn random_terms(kind: u32, players: u32, seed: u64) -> TournamentTerms {
    let mut rng = TestRng::new(seed ^ 0x5eed);
    let mut terms = match kind {
        0 => {
            let seats = *rng.choose(&[3, 9, 27]).unwrap();
            terms(SIT_AND_GO, seats, seats)
        }
        1 => terms(knock_out(players), 3, players),
        2 => terms(ARENA, 3, players),
        _ => terms(DUPLICATE, 3, players),
    };
    terms.entry.accepts_passes = rng.below(2) == 0;
    terms.entry.fee = coins(i64::from(rng.below(200)));
    terms.bots = rng.below(4) == 0;
    if rng.below(3) == 0 {
        terms.guarantee = coins(i64::from(rng.below(2_000 * players)));
    }
    if kind > 0 && rng.below(2) == 0 {
        terms.late_registration_ms = 5 * MINUTE_MS;
    }
    terms
}
