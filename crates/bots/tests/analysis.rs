//! The analysis of a finished game: it finds bad actions, is deterministic, covers only the
//! player's own choices, and names no action that the seat could not have played.

use bahay_bots::Ai;
use bahay_bots::search::{self, Grade, JUDGED_MAX, JudgedDecision};
use bahay_bots::simulation::{Habits, Simulation};
use bahay_engine::chance::{Contribution, Key, ServerSeed, Stream};
use bahay_engine::coins::Coins;
use bahay_engine::game::{GameKind, Turn, Viewer};
use bahay_engine::games::tongits::Tongits;
use bahay_engine::games::tongo_assets::TongoAssets;
use bahay_engine::games::tongo_options::TongoOptions;
use bahay_engine::hex::Hex;
use bahay_engine::seat::Seat;
use bahay_engine::table::{ActionOrigin, GameId, Record, RecordedAction};
use uuid::Uuid;

use crate::support::terms;

fn seat(number: u8) -> Seat {
    Seat::new(number).expect("a seat")
}

/// Plays a game in which the first seat is played by a bot of this grade and the others by quick
/// ones.
fn record<G: Ai + GameKind>(rule_set: &str, number: u128, first: Grade) -> Record<G> {
    let terms = terms::<G>(rule_set);
    let welcome = Coins::from_whole(1_000_000).expect("a million fits");
    let mut tables = Simulation::<G>::new(7, terms, Habits::default(), welcome);
    let mut played = None;
    tables.play(1, |_, record| played = Some(record.clone()));
    let mut record = played.expect("a game was played");
    let seats = u8::try_from(record.players.len()).expect("few players");
    record.game = GameId(Uuid::from_u128(number));
    record.server_seed = ServerSeed(Hex([0x5e; 32]));
    record.clients = (0..seats).map(|_| Contribution::none()).collect();
    record.starter = None;
    record.chance.clear();
    record.actions.clear();
    let key = record.server_seed.key(record.game.0.as_bytes(), &record.clients);
    let mut stream = Stream::new(key);
    let mut bots: Vec<_> = (0..seats)
        .map(|place| {
            let grade = if place == 0 { first } else { Grade::Quick };
            grade.build_bot::<G>(Key(Hex([place; 32])))
        })
        .collect();
    let mut state = G::new(&record.terms.rules, seats, None);
    // Longer than every countdown.
    let turn_ms = 300_000;
    let mut at = record.opened_at;
    loop {
        let mut events = Vec::new();
        state = match state.turn() {
            Turn::Over => break,
            Turn::Chance(request) => {
                let answer = stream.draw(request);
                record.chance.push(answer.clone());
                state.resolve(&answer, &mut events)
            }
            Turn::Wait(_) => state.expire(&mut events),
            Turn::Players(prompt) => {
                let seat = prompt.seats.iter().next().expect("somebody is asked");
                let view = state.view(Viewer::Seat(seat));
                let clock = state.default_action(seat).expect("the seat is asked");
                let prompt = search::BotPrompt { seat, view: &view, clock: &clock };
                let action = bots[seat.index()].choose_action(&prompt);
                at = at.after_ms(turn_ms);
                let next = state.act(seat, &action, &mut events).expect("bots play what is legal");
                record.actions.push(RecordedAction { at, seat, by: ActionOrigin::Player, action });
                next
            }
        };
        for (seat, bot) in Seat::all(seats).zip(&mut bots) {
            let shown = events.iter().filter_map(|event| G::redact(event, Viewer::Seat(seat)));
            shown.for_each(|event| bot.observe_event(&event));
        }
    }
    record.finished_at = at.after_ms(turn_ms);
    record
}

/// Analyses a seat and checks the reported decisions against the record.
fn evaluate_record<G: Ai + GameKind>(
    record: &Record<G>,
    seat: Seat,
) -> Vec<JudgedDecision<G::Action>> {
    let judged = search::analyze(record, seat).expect("the record holds");
    let judged = judged.expect("this game has a bot that searches");
    assert!(judged.len() <= JUDGED_MAX);
    assert!(judged.is_sorted_by_key(|one| core::cmp::Reverse(one.loss())));
    let mut number = 0;
    let mut before: Option<G> = None;
    record
        .replay(|step| {
            for one in judged.iter().filter(|one| one.step == number) {
                let taken = step.taken.expect("a decision is an action");
                assert_eq!(
                    (taken.seat, taken.by, &taken.action),
                    (seat, ActionOrigin::Player, &one.action)
                );
                assert_ne!(one.advised, one.action);
                assert!(one.loss() > 0, "{one:?}");
                let before = before.as_ref().expect("nobody decides on the deal");
                let advised = before.act(seat, &one.advised, &mut Vec::new());
                assert!(advised.is_ok(), "{one:?}: {advised:?}");
            }
            before = Some(step.state.clone());
            number += 1;
        })
        .expect("the record holds");
    assert!(judged.iter().all(|one| one.step < number));
    judged
}

#[test]
fn at_tongits_random_play_is_found_out_and_careful_play_is_not() {
    let mut random = 0;
    let mut quick = 0;
    let mut losses = 0;
    for number in 0..6 {
        let record = record::<Tongits>("kingdom", number, Grade::Random);
        let first = evaluate_record(&record, seat(0));
        losses += first.iter().map(JudgedDecision::loss).sum::<i64>();
        random += first.len();
        quick += evaluate_record(&record, seat(1)).len();
    }
    assert!(random >= 5, "of six random games {random} decisions were found");
    assert!(random >= 2 * quick, "{random} of a random player, {quick} of a quick one");
    assert!(losses > 100, "they cost {losses} hundredths of a bet");
}

#[test]
fn at_tongo_assets_random_play_is_found_out() {
    let found = (0..4).map(|number| {
        let record = record::<TongoAssets>("standard", number, Grade::Random);
        evaluate_record(&record, seat(0)).len()
    });
    let found: usize = found.sum();
    assert!(found > 0, "of four random games nothing was found");
}

#[test]
fn the_same_game_has_the_same_answer() {
    let record = record::<Tongits>("kingdom", 3, Grade::Random);
    assert_eq!(evaluate_record(&record, seat(0)), evaluate_record(&record, seat(0)));
}

/// Actions of the AI or the clock are not attributed to the player.
#[test]
fn only_what_the_player_chose_itself_is_judged() {
    let mut record = record::<Tongits>("kingdom", 1, Grade::Random);
    for taken in &mut record.actions {
        taken.by = ActionOrigin::Ai;
    }
    assert_eq!(search::analyze(&record, seat(0)), Ok(Some(Vec::new())));
}

#[test]
fn a_kind_without_a_searching_bot_is_not_analysed() {
    let jokers = record::<Tongits>("joker", 1, Grade::Greedy);
    assert_eq!(search::analyze(&jokers, seat(0)), Ok(None));
    let options = record::<TongoOptions>("lively", 1, Grade::Greedy);
    assert_eq!(search::analyze(&options, seat(0)), Ok(None));
}

#[test]
fn a_record_that_does_not_hold_is_not_judged() {
    let mut record = record::<Tongits>("kingdom", 1, Grade::Greedy);
    record.server_seed = ServerSeed(Hex([0x11; 32]));
    assert!(search::analyze(&record, seat(0)).is_err());
}
