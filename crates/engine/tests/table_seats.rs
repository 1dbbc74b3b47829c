//! Tables at which not every seat has to be taken: a game for two to five players begins when
//! enough are ready, later players wait, and a table without a POT has none.

use bahay_bots::simulation::{Habits, Simulation};
use bahay_engine::catalog::{self, AnyAction, AnyGame, AnyRules};
use bahay_engine::chance::{ClientSeed, Contribution};
use bahay_engine::coins::Coins;
use bahay_engine::game::Game;
use bahay_engine::games::tongits;
use bahay_engine::seat::SeatSet;
use bahay_engine::table::{
    Event, Hits, Input, Phase, PhaseView, PlayerId, Readable, Rejection, Terms,
};
use bahay_engine::testing;
use bahay_engine::testing::guess_the_die::{Action, Bet};

use crate::support::desk::{Desk, coins, player, seat};
use crate::support::json;

type DiceDesk = Desk<AnyGame>;

const BET: Coins = Coins::from_hundredths(100);

fn terms(rule_set: &str) -> Terms<AnyRules> {
    let set = AnyRules::find_rule_set("guess_the_die", rule_set).expect("there is such a rule set");
    testing::terms(set.rules, set.hits, BET, 2)
}

impl DiceDesk {
    /// Returns a table of Guess the Die with these players.
    fn of_dice<const N: usize>(numbers: [u64; N]) -> Self {
        let mut desk = Self::with_terms(terms("short"));
        desk.all_sit(numbers);
        desk
    }

    fn bet(&self, number: u64, face: u32) -> Input<AnyAction> {
        let (game, prompt) = (self.game(), self.running().prompt.number);
        let action = AnyAction::GuessTheDie(Action::Bet { bet: Bet { face, counts: 2 } });
        Input::Act { player: player(number), game, prompt, action }
    }

    fn seated(&self) -> Vec<(u8, PlayerId)> {
        self.table.occupants().map(|(seat, who)| (seat.number(), who.player)).collect()
    }

    fn is_preparing(&self) -> bool {
        matches!(self.table.phase(), Phase::Preparing(_))
    }

    fn is_opening(&self) -> bool {
        matches!(self.table.phase(), Phase::Opening(_))
    }
}

#[test]
fn a_game_begins_with_those_who_are_ready_when_they_are_enough() {
    let mut desk = Desk::of_dice([1]);
    assert!(matches!(desk.table.phase(), Phase::Waiting));
    desk.sit(2).unwrap();
    assert!(desk.is_preparing());
    let prepared = desk.game();
    desk.ready(1).unwrap();
    desk.sit(3).unwrap();
    assert_eq!(desk.game(), prepared, "who comes later joins the game that is prepared");
    desk.ready(2).unwrap();
    assert!(desk.is_preparing(), "the third is not ready yet");
    desk.ready(3).unwrap();
    assert!(desk.is_opening());
    assert_eq!(desk.table.players(), [1, 2, 3].map(player));
}

#[test]
fn a_player_not_ready_leaves_and_the_others_play() {
    let mut desk = Desk::of_dice([1, 2, 3]);
    desk.ready(1).unwrap();
    desk.ready(3).unwrap();
    desk.wait_and_tick();
    assert!(desk.is_opening());
    let moved = Event::Moved { seat: seat(2), to: seat(1) };
    assert!(desk.events.contains(&moved), "{:?}", desk.events);
    assert_eq!(desk.seated(), [(0, player(1)), (1, player(3))]);
    assert_eq!(desk.table.players(), [1, 3].map(player));
}

#[test]
fn leaving_during_preparation_does_not_delay_the_others() {
    let mut desk = Desk::of_dice([1, 2, 3]);
    desk.ready(2).unwrap();
    desk.ready(3).unwrap();
    desk.leave(1).unwrap();
    assert!(desk.is_opening());
    assert_eq!(desk.seated(), [(0, player(2)), (1, player(3))]);
}

/// The last player to be ready is told so in the seat to which the opening moves it, and nobody
/// else is.
#[test]
fn the_last_player_to_be_ready_alone_is_told_so_where_a_gap_closes() {
    let mut desk = Desk::of_dice([1, 2, 3]);
    desk.leave(1).unwrap();
    desk.ready(3).unwrap();
    desk.ready(2).unwrap();
    let game = desk.game();
    let moves = [(1, 0), (2, 1)].map(|(from, to)| Event::Moved { seat: seat(from), to: seat(to) });
    let ready = Event::Ready { seat: seat(0) };
    for (number, own_part) in [(Some(2), Some(ready)), (Some(3), None), (None, None)] {
        let viewer = desk.table.view(number.map(player)).viewer();
        let told = desk.events.iter().filter_map(|event| event.redact::<AnyGame>(viewer));
        let expected = moves.iter().cloned().chain(own_part).chain([Event::Opening { game }]);
        assert_eq!(told.collect::<Vec<_>>(), expected.collect::<Vec<_>>(), "{number:?}");
    }
    assert_eq!(desk.seated(), [(0, player(2)), (1, player(3))]);
}

/// Rules 8.1 and 9.1: readiness and the commitment to a seed do not pass to the seat's next player.
#[test]
fn a_new_player_restarts_the_readiness_prompts() {
    let mut desk = Desk::of_dice([1, 2, 3]);
    let (game, gone) = (desk.game(), ClientSeed::from_text("gone").commitment());
    desk.tell(Input::Ready { player: player(1), game, commitment: Some(gone) }).unwrap();
    desk.leave(1).unwrap();
    desk.sit(4).unwrap();
    assert_eq!((desk.game(), desk.seated()[0]), (game, (0, player(4))));
    desk.all_ready([2, 3]);
    assert!(desk.is_preparing(), "player 4 has not said ready");
    desk.ready(4).unwrap();
    desk.open();
    assert!(desk.running().clients.iter().all(|client| *client == Contribution::none()));
}

#[test]
fn when_too_few_are_left_the_table_waits() {
    let mut desk = Desk::of_dice([1, 2]);
    desk.ready(1).unwrap();
    desk.leave(2).unwrap();
    assert!(matches!(desk.table.phase(), Phase::Waiting));
}

#[test]
fn a_player_who_joins_during_a_game_waits_for_the_next() {
    let mut desk = Desk::of_dice([1, 2]);
    desk.all_ready([1, 2]);
    desk.open();
    desk.sit(3).unwrap();
    assert_eq!(desk.table.seats_in_game(), 2);
    assert_eq!(desk.table.taken_over_seats(), SeatSet::EMPTY);
    assert_eq!(desk.tell(desk.bet(3, 1)), Err(Rejection::NotAsked));
    let PhaseView::Playing { view, .. } = desk.table.view(Some(player(3))).phase else {
        panic!("a game goes on");
    };
    assert_eq!(AnyGame::prompt_in_view(&view).map(|prompt| prompt.seats.len()), Some(2));
    let mut legal = Vec::new();
    AnyGame::legal_in_view(&view, &mut legal);
    assert!(legal.is_empty());
    // The player leaves at once, because no coins are held.
    desk.leave(3).unwrap();
    assert_eq!(desk.seated().len(), 2);
    desk.sit(4).unwrap();
    for _ in 0..2 {
        desk.tell(desk.bet(1, 1)).unwrap();
        desk.tell(desk.bet(2, 2)).unwrap();
    }
    let record = desk.record().clone();
    assert_eq!(record.players, [1, 2].map(player));
    assert_eq!((record.pot_after, record.crown_after), (Coins::ZERO, None));
    record.verify().unwrap();
    desk.settle();
    assert!(desk.is_preparing());
    desk.all_ready([1, 2, 4]);
    assert_eq!(desk.table.players(), [1, 2, 4].map(player));
}

#[test]
fn an_action_of_another_game_is_refused_and_changes_nothing() {
    let mut desk = Desk::of_dice([1, 2]);
    desk.all_ready([1, 2]);
    desk.open();
    let before = desk.table.clone();
    let Input::Act { player, game, prompt, .. } = desk.bet(1, 1) else { panic!("it is a bet") };
    let action = AnyAction::Tongits(tongits::Action::Draw);
    let refused = desk.tell(Input::Act { player, game, prompt, action }).unwrap_err();
    assert_eq!(refused.code(), "action_of_another_game");
    assert_eq!(desk.table, before);
    let draw = serde_json::json!({ "type": "draw" });
    assert!(AnyGame::read_action("tongits", &draw).is_ok());
    assert!(AnyGame::read_action("guess_the_die", &draw).is_err());
    assert!(AnyGame::read_action("chess", &draw).is_err());
}

#[test]
fn tables_of_every_game_play_in_virtual_time_and_every_record_verifies() {
    for kind in catalog::kinds() {
        for set in kind.rule_sets {
            let terms = testing::terms(set.rules, set.hits, BET, 2);
            let welcome = coins(10_000);
            let mut simulation = Simulation::<AnyGame>::new(11, terms, Habits::ROUGH, welcome);
            simulation.play(20, |_, record| {
                let verified = record.verify();
                verified.unwrap_or_else(|fault| panic!("{} {}: {fault}", kind.name, set.name));
                assert_eq!(AnyGame::read_record(&json(record)).unwrap(), *record);
            });
            assert_eq!(simulation.missing_coins(), Coins::ZERO, "{} {}", kind.name, set.name);
        }
    }
}

fn terms_of<R>(rules: R) -> Terms<R> {
    testing::terms(rules, Some(Hits::default()), BET, 2)
}

/// The catalogue serialises a table of one kind as the kind itself does.
#[test]
fn a_catalogue_changes_nothing_of_what_is_written() {
    let rules = tongits::Rules::kingdom();
    let welcome = coins(10_000);
    let mut alone = Simulation::<tongits::Tongits>::new(3, terms_of(rules), Habits::ROUGH, welcome);
    let mut one_of_many =
        Simulation::<AnyGame>::new(3, terms_of(AnyRules::Tongits(rules)), Habits::ROUGH, welcome);
    for _ in 0..2_000 {
        let (one, other) = (alone.step(), one_of_many.step());
        assert_eq!(json(&one.line), json(&other.line));
        assert_eq!(json(&one.events), json(&other.events));
        assert_eq!(json(&alone.table().view(None)), json(&one_of_many.table().view(None)));
    }
}
