//! The validation of terms: each invalid value is refused by its field, and every preset is valid.

use bahay_engine::catalog::AnyRules;
use bahay_engine::tournament::{Format, Stage, TournamentTerms, presets};

use super::support::{ARENA, DUPLICATE, SIT_AND_GO, coins, knock_out, terms};

fn scheduled() -> TournamentTerms {
    terms(knock_out(135), 9, 135)
}

/// Returns the field of the error.
fn invalid(mut terms: TournamentTerms, change: impl FnOnce(&mut TournamentTerms)) -> &'static str {
    assert_eq!(terms.check(), Ok(()));
    change(&mut terms);
    terms.check().expect_err("the change is invalid").field
}

#[test]
fn each_invalid_value_is_refused_by_its_field() {
    let stages = |terms: &mut TournamentTerms, change: fn(&mut Vec<Stage>)| match &mut terms.format
    {
        Format::KnockOut { stages } => change(stages),
        other => panic!("{other:?}"),
    };
    let sit_and_go = || terms(SIT_AND_GO, 9, 9);
    let arena = || terms(ARENA, 3, 99);
    for (found, expected) in [
        (invalid(scheduled(), |terms| terms.name = "  ".into()), "name"),
        (invalid(scheduled(), |terms| terms.game.seats = 4), "game.seats"),
        (invalid(scheduled(), |terms| terms.game.bet = coins(0)), "game.bet"),
        (invalid(scheduled(), |terms| terms.entrants.least = 2), "entrants.least"),
        (invalid(scheduled(), |terms| terms.entrants.most = 8), "entrants.most"),
        (invalid(scheduled(), |terms| terms.entrants.most = 20_001), "entrants.most"),
        (invalid(sit_and_go(), |terms| terms.entrants.least = 3), "entrants.least"),
        (
            invalid(sit_and_go(), |terms| (terms.entrants.least, terms.entrants.most) = (12, 12)),
            "entrants.most",
        ),
        (
            invalid(sit_and_go(), |terms| terms.format = Format::SitAndGo { games: 0 }),
            "format.games",
        ),
        (invalid(scheduled(), |terms| stages(terms, Vec::clear)), "format.stages"),
        (
            invalid(scheduled(), |terms| stages(terms, |stages| stages[0].groups = 0)),
            "format.stages.groups",
        ),
        (
            invalid(scheduled(), |terms| stages(terms, |stages| stages[2].groups = 2)),
            "format.stages.groups",
        ),
        (
            invalid(scheduled(), |terms| stages(terms, |stages| stages[0].rounds = 101)),
            "format.stages.rounds",
        ),
        (
            invalid(scheduled(), |terms| stages(terms, |stages| stages[0].games = 0)),
            "format.stages.games",
        ),
        (
            invalid(scheduled(), |terms| stages(terms, |stages| stages[0].advance = 61)),
            "format.stages.advance",
        ),
        (
            invalid(scheduled(), |terms| stages(terms, |stages| stages[1].advance = 90)),
            "format.stages.advance",
        ),
        (
            invalid(scheduled(), |terms| stages(terms, |stages| stages[2].advance = 3)),
            "format.stages.advance",
        ),
        (
            invalid(arena(), |terms| {
                terms.format = Format::Arena { duration_ms: 1, pairing_ms: 3_000 }
            }),
            "format.duration_ms",
        ),
        (
            invalid(arena(), |terms| {
                terms.format = Format::Arena { duration_ms: 60_000, pairing_ms: 1 }
            }),
            "format.pairing_ms",
        ),
        (invalid(arena(), |terms| terms.late_registration_ms = 86_400_000), "late_registration_ms"),
        (
            invalid(terms(DUPLICATE, 3, 9), |terms| {
                terms.format = Format::Duplicate { rounds: 0, games: 1 }
            }),
            "format.rounds",
        ),
        (invalid(scheduled(), |terms| terms.starts_at = None), "starts_at"),
        (invalid(sit_and_go(), |terms| terms.late_registration_ms = 1), "late_registration_ms"),
        (invalid(scheduled(), |terms| terms.break_ms = u32::MAX), "break_ms"),
        (
            invalid(scheduled(), |terms| (terms.bots, terms.bots_after_ms) = (true, 1)),
            "bots_after_ms",
        ),
        (invalid(sit_and_go(), |terms| terms.bots_after_ms = 1), "bots_after_ms"),
        (invalid(scheduled(), |terms| terms.entry.buy_in = coins(-1)), "entry.buy_in"),
        (invalid(scheduled(), |terms| terms.entry.fee = coins(i64::MAX)), "entry.fee"),
        (invalid(scheduled(), |terms| terms.guarantee = coins(-1)), "guarantee"),
        (invalid(scheduled(), |terms| terms.payouts.clear()), "payouts"),
        (invalid(scheduled(), |terms| terms.payouts[1].entrants_from = 0), "payouts.entrants_from"),
        (invalid(scheduled(), |terms| terms.payouts[0].entrants_from = 3), "payouts.entrants_from"),
        (invalid(scheduled(), |terms| terms.payouts[0].shares.clear()), "payouts.shares"),
        (invalid(scheduled(), |terms| terms.payouts[1].shares.reverse()), "payouts.shares"),
    ] {
        assert_eq!(found, expected);
    }
}

#[test]
fn terms_are_read_as_they_are_written() {
    for format in [SIT_AND_GO, knock_out(135), ARENA, DUPLICATE] {
        let terms = terms(format, 9, 9);
        let text = serde_json::to_string(&terms).unwrap();
        assert_eq!(serde_json::from_str::<TournamentTerms>(&text).unwrap(), terms);
        let unknown = text.replacen("\"name\"", "\"nickname\"", 1);
        assert!(serde_json::from_str::<TournamentTerms>(&unknown).is_err());
    }
}

/// Rule 3.6.
#[test]
fn every_preset_is_valid() {
    let rules = AnyRules::find_rule_set("tongits", "kingdom").unwrap().rules;
    for preset in presets() {
        let mut terms = terms(preset.format.clone(), 3, 3);
        terms.game.rules = rules.clone();
        terms.entrants = preset.entrants;
        terms.payouts = preset.payouts;
        assert_eq!(terms.check(), Ok(()), "{}", preset.name);
        terms.bots = true;
        terms.bots_after_ms = preset.bots_after_ms;
        assert_eq!(terms.check(), Ok(()), "{} with bots", preset.name);
        let is_sit_and_go = matches!(preset.format, Format::SitAndGo { .. });
        assert_eq!(preset.bots_after_ms > 0, is_sit_and_go, "{}", preset.name);
        if preset.name == "championship" {
            let stage = terms.stages()[0];
            assert_eq!((stage.groups, stage.rounds, stage.games, stage.advance), (3, 20, 3, 63));
            assert_eq!(terms.entrants.most, 135);
        }
    }
}
