//! Properties for any sequence of inputs, also senseless ones: a refusal changes nothing, a replay
//! reproduces the tournament, and the account is never overdrawn. A failure prints its seed.

use bahay_engine::chance::ServerSeed;
use bahay_engine::hex::Hex;
use bahay_engine::matchmaking::ConflictKey;
use bahay_engine::table::Timestamp;
use bahay_engine::testing::{ANNOUNCED_MS, TestRng, tournament_player};
use bahay_engine::tournament::{
    CancelReason, Effect, Entrant, EntrantState, Event, GameScore, Input, Phase, TableNumber,
    Tournament, TournamentId, TransferKey,
};
use uuid::Uuid;

use super::support::{coins, random_terms};
use crate::support::with_each_seed;

/// Returns an input that need not make sense.
fn random_input(rng: &mut TestRng, tournament: &Tournament) -> Input {
    let player = tournament_player(rng.below(14));
    let table = TableNumber { round: rng.below(4), table: rng.below(4) };
    match rng.below(14) {
        0..4 => Input::Register {
            player,
            name: "player".into(),
            pass: rng.below(3) == 0,
            bot: rng.below(5) == 0,
            conflict_keys: vec![ConflictKey(u64::from(rng.below(9)))],
        },
        4 => Input::Withdraw { player },
        5 => Input::Pause { player },
        6 => Input::Resume { player },
        7 => Input::TableEnded { table },
        8 if rng.below(30) == 0 => Input::Cancel { reason: CancelReason::House },
        8 => Input::EntryRefused { player, number: 1 + rng.below(3) },
        9 => Input::Transferred { transfer: TransferKey::Place { place: rng.below(4) } },
        10 => Input::TableOpened { table },
        _ => {
            let seating =
                tournament.table_of(player).and_then(|table| tournament.find_table(table));
            let Some(seating) = seating else { return Input::Tick };
            let points = i64::from(rng.below(900));
            let score = |(seat, player)| GameScore {
                player,
                points: coins(match seat {
                    0 => points,
                    1 => -points,
                    _ => 0,
                }),
                is_absent: false,
            };
            let scores = (0..).zip(seating.players).map(score).collect();
            Input::GameScored { table: seating.number, game: 1 + rng.below(seating.games), scores }
        }
    }
}

/// Checks the changed standings against the ranks and scores of all players.
fn check_changed_standings(before: &Tournament, tournament: &Tournament) {
    let rows = |tournament: &Tournament| tournament.standing_rows(0, usize::MAX);
    let earlier = rows(before);
    let changed = tournament.changed_standings(before);
    for change in &changed {
        assert_eq!(Some(change.rank), tournament.rank_of(change.player));
    }
    for row in rows(tournament).into_iter().filter(|row| !row.is_bot) {
        let told = changed.iter().find(|change| change.player == row.player);
        if let Some(told) = told {
            assert_eq!((told.score, told.tie_break), (row.score, row.tie_break));
        } else if let Some(earlier) = earlier.iter().find(|one| one.player == row.player) {
            assert_eq!((earlier.score, earlier.tie_break), (row.score, row.tie_break));
        }
    }
}

/// Checks that exactly the tables that the effects open have still to be opened.
fn check_awaited_tables(tournament: &Tournament, effects: &[Effect]) {
    for number in (0..4).flat_map(|round| (0..4).map(move |table| TableNumber { round, table })) {
        let opens =
            |effect: &Effect| matches!(effect, Effect::OpenTable(table) if table.number == number);
        assert_eq!(tournament.awaits_opening(number), effects.iter().any(opens), "{number}");
    }
}

/// Checks the number of entries, which is kept and not counted.
fn check_entrant_count(tournament: &Tournament) {
    let is_registered = |one: &&Entrant| one.state() != EntrantState::Withdrawn;
    let registered = tournament.entrants().filter(is_registered).count();
    assert_eq!(tournament.entrant_count() as usize, registered);
}

#[test]
fn senseless_inputs_never_overdraw_or_change_what_they_are_refused_by() {
    with_each_seed(60, |seed| {
        let mut rng = TestRng::new(seed);
        let kind = u32::try_from(seed % 4).unwrap();
        let terms = random_terms(kind, 12, seed);
        let id = TournamentId(Uuid::from_u64_pair(3, seed));
        let server_seed = ServerSeed(Hex([9; 32]));
        let mut tournament = Tournament::new(id, terms.clone(), server_seed);
        let mut journal = Vec::new();
        let mut now = ANNOUNCED_MS;
        let mut is_seed_shown = false;
        for _ in 0..1_500 {
            now += i64::from(rng.below(4_000));
            let at = Timestamp::from_ms(now);
            let effects = tournament.effects(at);
            check_awaited_tables(&tournament, &effects);
            check_entrant_count(&tournament);
            let effect = rng.choose(&effects).cloned();
            let input = match effect.filter(|_| rng.below(2) == 0) {
                Some(Effect::Tick) => Input::Tick,
                Some(Effect::Transfer(transfer)) => Input::Transferred { transfer: transfer.key },
                Some(Effect::OpenTable(table)) => Input::TableOpened { table: table.number },
                Some(Effect::EndTable(table)) => Input::TableEnded { table },
                None => random_input(&mut rng, &tournament),
            };
            let before = tournament.clone();
            match tournament.decide(at, input) {
                Ok(transition) => {
                    assert!(!transition.tournament.balance().is_negative());
                    let has_seed = |event: &Event| {
                        matches!(event, Event::Ended { .. } | Event::Cancelled { .. })
                    };
                    is_seed_shown |= transition.events.iter().any(has_seed);
                    check_changed_standings(&before, &transition.tournament);
                    journal.push(transition.line);
                    tournament = transition.tournament;
                }
                Err(rejection) => {
                    assert!(!rejection.code().is_empty());
                    assert_eq!(tournament, before);
                }
            }
        }
        let is_over = matches!(tournament.phase(), Phase::Ended | Phase::Cancelled { .. });
        assert_eq!(is_seed_shown, is_over);
        let mut replayed = Tournament::new(id, terms, server_seed);
        for line in &journal {
            let text = serde_json::to_string(line).unwrap();
            let read = serde_json::from_str(&text).unwrap();
            replayed.advance(&read).unwrap();
        }
        assert_eq!(replayed, tournament);
        // Every effect that is answered leads to an empty account.
        if is_over {
            while let Some(Effect::Transfer(transfer)) = tournament
                .effects(Timestamp::from_ms(now))
                .into_iter()
                .find(|effect| matches!(effect, Effect::Transfer(_)))
            {
                let input = Input::Transferred { transfer: transfer.key };
                tournament = tournament.decide(Timestamp::from_ms(now), input).unwrap().tournament;
            }
            assert!(tournament.is_settled() && tournament.balance().is_zero());
        }
    });
}
