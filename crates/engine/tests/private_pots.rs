//! Rule 7.4 at a private table: a removed player is refunded what it has paid into the POT, and
//! when the table ends the POT is refunded to those who paid it.

use bahay_bots::simulation::{Habits, Simulation};
use bahay_engine::coins::Coins;
use bahay_engine::game::Game;
use bahay_engine::games::tongits::{Rules, Tongits};
use bahay_engine::table::{
    Effect, Event, GameId, Input, Phase, PlayerId, PotRefund, PrivateTerms, Rejection, Share,
    Table, TableAvailability, TableId, Terms, TermsUpdate,
};
use bahay_engine::variants;
use uuid::Uuid;

use crate::support::desk::{Desk, Reply, coins, kingdom_terms, player};
use crate::support::play_games;

const HOUR_MS: u32 = 60 * 60 * 1_000;

fn terms(private: Option<PrivateTerms>) -> Terms<Rules> {
    Terms { private, ..kingdom_terms() }
}

impl Desk {
    fn private() -> Self {
        Self::after_a_game(Some(PrivateTerms::default()))
    }

    /// Returns a table at which three players have played a game together; its antes are in the
    /// POT.
    fn after_a_game(private: Option<PrivateTerms>) -> Self {
        let mut desk = Self::with_terms(terms(private));
        desk.all_sit([0, 1, 2]);
        desk.play();
        assert_eq!(desk.table.pot(), coins(3));
        desk
    }

    fn everybody_is_ready(&mut self) {
        for player in self.players() {
            self.tell(Input::Ready { player, game: self.game(), commitment: None }).unwrap();
        }
    }

    /// Plays a whole game.
    fn play(&mut self) {
        self.everybody_is_ready();
        self.open();
        self.play_out();
        self.settle();
    }

    /// Returns the POT refund that is due now.
    fn due(&self) -> Option<(GameId, Option<PlayerId>)> {
        self.table.effects(self.now).into_iter().find_map(|effect| match effect {
            Effect::RefundPot(PotRefund { game, player, .. }) => Some((game, player)),
            variants!(Effect: Open, Settle, Report, ChooseAction, Tick) => None,
        })
    }

    fn returned(&mut self, pot: i64, shares: &[(u64, i64)]) -> Reply<Tongits> {
        let (game, player) = self.due().unwrap_or((GameId(Uuid::nil()), None));
        let shares = shares.iter().map(|(number, amount)| Share {
            player: self::player(*number),
            amount: coins(*amount),
        });
        let shares = shares.collect();
        self.tell(Input::PotRefunded { game, player, pot: coins(pot), shares })
    }
}

fn remove(number: u64) -> Input<<Tongits as Game>::Action> {
    Input::Remove { player: player(number) }
}

#[test]
fn a_removed_player_is_refunded_before_the_next_game_opens() {
    let mut desk = Desk::private();
    let Some(crown) = desk.table.crown() else { panic!("the first game had a winner") };
    let wearer = (0..3).find(|number| player(*number) == crown.player).unwrap();
    desk.tell(remove(wearer)).unwrap();
    assert_eq!(desk.table.crown(), None, "a crown does not outlive leaving (rule 7.3)");
    let (_, whose) = desk.due().unwrap();
    assert_eq!(whose, Some(player(wearer)));
    // A friend of the host sits down quickly: the opening still waits for the refund.
    desk.sit(7).unwrap();
    desk.everybody_is_ready();
    assert!(matches!(desk.table.phase(), Phase::Opening(_)));
    assert!(matches!(desk.table.effects(desk.now).as_slice(), [Effect::RefundPot(_)]));
    assert!(desk.table.deadline().is_some(), "who asks may die");
    desk.returned(2, &[(wearer, 1)]).unwrap();
    let shares = vec![Share { player: player(wearer), amount: coins(1) }];
    assert_eq!(desk.events, [Event::PotRefunded { pot: coins(2), shares }]);
    assert_eq!(desk.table.pot(), coins(2));
    assert!(matches!(desk.table.effects(desk.now).as_slice(), [Effect::Open(_)]));
    assert_eq!(desk.returned(1, &[]), Err(Rejection::BadAnswer), "told twice, taken once");
}

#[test]
fn a_leaver_s_coins_stay_in_the_pot() {
    let mut desk = Desk::private();
    desk.leave(1).unwrap();
    assert_eq!((desk.due(), desk.table.pot()), (None, coins(3)));
}

#[test]
fn at_a_table_of_a_room_nothing_goes_back() {
    let mut desk = Desk::after_a_game(None);
    desk.tell(remove(1)).unwrap();
    for number in [0, 2] {
        desk.leave(number).unwrap();
    }
    assert_eq!((desk.due(), desk.table.pot()), (None, coins(3)));
    assert_eq!(desk.table.deadline(), None, "the POT waits for the next three");
}

#[test]
fn a_part_is_taken_along_once_after_each_game() {
    let mut desk = Desk::private();
    desk.tell(remove(1)).unwrap();
    let first = desk.due().unwrap();
    desk.returned(2, &[(1, 1)]).unwrap();
    desk.sit(1).unwrap();
    desk.tell(remove(1)).unwrap();
    assert_eq!(desk.due(), None, "it has no part any more");
    desk.sit(1).unwrap();
    desk.play();
    if desk.table.pot().is_zero() {
        return;
    }
    desk.tell(remove(1)).unwrap();
    let second = desk.due().unwrap();
    assert_ne!(first, second, "the ledger does each once");
}

#[test]
fn no_player_is_removed_while_the_pot_is_at_stake() {
    let mut desk = Desk::private();
    desk.everybody_is_ready();
    desk.open();
    for number in 0..3 {
        assert_eq!(desk.tell(remove(number)), Err(Rejection::GameRunning));
    }
}

/// If the house closes the table, every player is refunded a share.
#[test]
fn a_player_removed_by_a_closing_house_is_refunded() {
    let mut desk = Desk::private();
    let Terms { price, hits, clocks, .. } = desk.table.terms().clone();
    let standing = TableAvailability::Closed;
    let closed = TermsUpdate { revision: 1, standing, price, hits, clocks };
    desk.tell(Input::UpdateTerms { terms: closed }).unwrap();
    for (number, left) in [(0, 2), (1, 1), (2, 0)] {
        assert_eq!(desk.due().unwrap().1, Some(player(number)));
        desk.returned(left, &[(number, 1)]).unwrap();
    }
    assert_eq!((desk.due(), desk.table.pot()), (None, Coins::ZERO));
}

#[test]
fn a_table_that_nobody_comes_back_to_ends_after_an_hour() {
    let mut desk = Desk::private();
    for number in 0..3 {
        desk.leave(number).unwrap();
    }
    let left_at = desk.now;
    assert_eq!(desk.table.deadline(), Some(left_at.after_ms(HOUR_MS)));
    desk.now = left_at.after_ms(HOUR_MS - 1);
    assert_eq!(desk.tell(Input::Tick), Err(Rejection::NothingDue));
    // A player who returns in time finds the POT, and the hour starts anew.
    desk.sit(4).unwrap();
    desk.leave(4).unwrap();
    assert_eq!(desk.table.pot(), coins(3));
    desk.now = left_at.after_ms(HOUR_MS);
    assert_eq!(desk.tell(Input::Tick), Err(Rejection::NothingDue));
    desk.now = desk.table.deadline().unwrap();
    assert!(matches!(desk.table.effects(desk.now).as_slice(), [Effect::Tick]));
    desk.tell(Input::Tick).unwrap();
    assert!(desk.table.has_ended());
    assert_eq!(desk.sit(5), Err(Rejection::TableClosed));
    assert_eq!(desk.due().unwrap().1, None, "everybody gets back what was paid");
    // The effect stays pending until it is answered.
    for _ in 0..3 {
        desk.now = desk.now.after_ms(1_000);
        assert!(matches!(desk.table.effects(desk.now).as_slice(), [Effect::RefundPot(_)]));
        assert!(desk.table.deadline().is_some_and(|deadline| deadline <= desk.now));
    }
    desk.returned(0, &[(0, 1), (1, 1), (2, 1)]).unwrap();
    assert_eq!((desk.table.pot(), desk.table.deadline()), (Coins::ZERO, None));
    assert_eq!(desk.sit(5), Err(Rejection::TableClosed));
}

#[test]
fn an_empty_table_without_a_pot_has_nothing_to_wait_for() {
    let table = Table::<Tongits>::new(TableId(Uuid::nil()), terms(Some(PrivateTerms::default())));
    assert_eq!(table.deadline(), None);
}

/// Whichever player is removed at whatever time, no coin is lost, and the journal records it all.
#[test]
fn no_coin_is_lost_where_players_are_sent_away() {
    for seed in 1..=8 {
        let habits = Habits { removed: 150, ..Habits::ROUGH };
        let private = terms(Some(PrivateTerms::default()));
        let mut house = Simulation::<Tongits>::new(seed, private, habits, coins(200));
        let mut returned = 0;
        play_games(&mut house, 40, |house, happened| {
            assert_eq!(house.missing_coins(), Coins::ZERO, "seed {seed}");
            let is_return = |event: &Event<_>| matches!(event, Event::PotRefunded { .. });
            returned += happened.events.iter().filter(|event| is_return(event)).count();
        });
        assert!(returned > 5, "seed {seed}: {returned} parts went back");
    }
}
