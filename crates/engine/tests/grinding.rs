//! Rules 9.1 and 9.1a against a dishonest house with a player of its own at the table: it reads
//! everything that the table stores, the server seed included, answers last, and does anything that
//! a player, operator or ledger may do. It tries to choose among deals.

use std::collections::BTreeMap;

use bahay_engine::chance::{ClientSeed, Commitment};
use bahay_engine::games::tongits::{Action, Tongits};
use bahay_engine::seat::SeatSet;
use bahay_engine::table::{
    Clocks, GameId, Input, Phase, REVEAL_MS, Rejection, TableAvailability, TermsUpdate,
};
use uuid::Uuid;

use crate::support::desk::{Desk, Reply, coins, connection, player, seat};
use crate::support::json;

/// The seat of the house's player.
const HOUSE: u64 = 2;

/// The number of texts that the house tries.
const ATTEMPTS: u32 = 200;

fn committed(text: &str) -> Option<Commitment> {
    Some(ClientSeed::from_text(text).commitment())
}

/// A table of two honest players, 0 and 1, and the house's player.
impl Desk {
    /// Returns a table at which the honest players are ready.
    fn of_a_dishonest_house() -> Self {
        let mut house = Self::full();
        house.honest_are_ready();
        house
    }

    /// Returns a table whose game the ledger has opened and for which the honest clients have
    /// revealed.
    fn knowing_every_seed() -> Self {
        let mut house = Self::of_a_dishonest_house();
        house.commit(HOUSE, "house").unwrap();
        house.open();
        for number in 0..2 {
            house.reveal(number, &honest(number)).unwrap();
        }
        house
    }

    fn honest_are_ready(&mut self) {
        for number in 0..2 {
            self.commit(number, &honest(number)).unwrap();
        }
    }

    fn commit(&mut self, number: u64, text: &str) -> Reply<Tongits> {
        let (player, game, commitment) = (player(number), self.game(), committed(text));
        self.tell(Input::Ready { player, game, commitment })
    }

    fn reveal(&mut self, number: u64, text: &str) -> Reply<Tongits> {
        let game = self.game();
        self.tell(Input::Reveal { player: player(number), game, text: text.to_owned() })
    }

    fn wait_for_reveals(&mut self) {
        self.now = self.now.after_ms(REVEAL_MS);
        self.tell(Input::Tick).unwrap();
    }

    /// Returns the deal and the house's contribution in the record, if the game is dealt.
    fn deal(&self) -> Option<(String, Option<String>)> {
        let Phase::Playing(playing) = self.table.phase() else { return None };
        let client = &playing.clients[usize::try_from(HOUSE).unwrap()];
        assert!(client.is_valid());
        Some((json(&playing.chance), client.text.clone()))
    }

    /// Returns everything that a house can read of its table.
    fn reads(&self) -> String {
        json(&self.table) + &json(&self.journal)
    }

    fn knows_a_seed(&self) -> bool {
        let read = self.reads();
        (0..2).any(|number| {
            let seed = ClientSeed::from_text(&honest(number));
            read.contains(&honest(number)) || read.contains(&seed.0.to_string())
        })
    }
}

/// Returns the text of an honest client, unknown to the house before it is revealed.
fn honest(number: u64) -> String {
    format!("honest {number}")
}

/// With all other texts known, the house can reveal or not: two deals, which the record
/// distinguishes.
#[test]
fn a_house_that_reveals_last_reaches_two_deals() {
    let known = Desk::knowing_every_seed();
    assert!(known.knows_a_seed() && known.deal().is_none());
    let mut deals = BTreeMap::new();
    for attempt in 0..ATTEMPTS {
        let mut house = known.clone();
        // Another text, another commitment, its own commitment withdrawn, or none.
        let text = if attempt == 0 { "house".to_owned() } else { format!("house {attempt}") };
        let taken = house.reveal(HOUSE, &text);
        assert_eq!(taken, if attempt == 0 { Ok(()) } else { Err(Rejection::OtherText) });
        assert_eq!(house.commit(HOUSE, &text), Err(Rejection::NoSuchPhase));
        if house.deal().is_none() {
            house.wait_for_reveals();
        }
        let (deal, shown) = house.deal().expect("it is dealt");
        deals.insert(deal, shown);
    }
    let shown: Vec<Option<&str>> = deals.values().map(Option::as_deref).collect();
    assert_eq!(shown.len(), 2, "the house chose among {} deals", deals.len());
    assert!(shown.contains(&Some("house")) && shown.contains(&None));
}

/// Before that the house can change its commitment and request new server seeds without limit, but
/// it knows none of the others' seeds, from which the deal follows.
#[test]
fn a_house_that_draws_anew_knows_no_seed() {
    let mut house = Desk::of_a_dishonest_house();
    let first = house.game();
    for attempt in 0..20_u64 {
        assert!(!house.knows_a_seed());
        if attempt % 2 == 0 {
            house.leave(HOUSE).unwrap();
        } else {
            // Not ready in time: the player loses the seat, and the house's next player sits down.
            house.now = house.now.after_ms(Clocks::default().prepare_ms);
            house.tell(Input::Tick).unwrap();
        }
        house.tell(Input::sit(player(HOUSE), "Tala")).unwrap();
        house.honest_are_ready();
    }
    assert_ne!(house.game(), first);
    house.commit(HOUSE, "house").unwrap();
    house.open();
    assert!(matches!(house.table.phase(), Phase::Revealing(_)));
    assert!(!house.knows_a_seed());
}

/// Rule 9.1a: after any input the table deals this game or waits for the last text.
#[test]
fn a_game_with_a_known_seed_cannot_be_undone() {
    let known = Desk::knowing_every_seed();
    let game = known.game();
    let closed = TermsUpdate {
        revision: 9,
        standing: TableAvailability::Closed,
        price: known.table.terms().price,
        hits: None,
        clocks: Clocks::default(),
    };
    let other = GameId(Uuid::from_u64_pair(9, 9));
    let house = player(HOUSE);
    let inputs = [
        Input::Leave { player: house },
        Input::Leave { player: player(0) },
        Input::Disconnect { player: house, connection: connection(HOUSE) },
        Input::Disconnect { player: player(1), connection: connection(1) },
        Input::Connect { player: house, connection: connection(7) },
        Input::Remove { player: house },
        Input::Remove { player: player(0) },
        Input::sit(player(7), "Amihan"),
        Input::sit(house, "Tala"),
        Input::Ready { player: house, game, commitment: committed("other") },
        Input::Ready { player: house, game: other, commitment: None },
        Input::Reveal { player: house, game: other, text: "house".to_owned() },
        Input::Reveal { player: player(0), game, text: honest(0) },
        Input::Reveal { player: player(7), game, text: "house".to_owned() },
        Input::Reveal { player: house, game, text: "x".repeat(257) },
        Input::Act { player: house, game, prompt: 0, action: Action::Draw },
        Input::AiAction { player: house, game, prompt: 0, action: Action::Draw },
        Input::TakeBack { player: house },
        Input::Opened { game, stakes: vec![coins(14); 3], pot: coins(3) },
        Input::OpenFailed { game, seats: SeatSet::only(seat(2)) },
        Input::Settled { game },
        Input::PotRefunded { game, player: None, pot: coins(0), shares: vec![] },
        Input::UpdateTerms { terms: closed },
        Input::Tick,
    ];
    for input in inputs {
        let mut house = known.clone();
        let told = format!("{input:?}");
        let _ = house.tell(input);
        let Phase::Revealing(revealing) = house.table.phase() else {
            panic!("{told} leads elsewhere");
        };
        assert_eq!((revealing.game, revealing.revealed_seats().len()), (game, 2), "{told}");
        house.wait_for_reveals();
        assert_eq!(house.game(), game, "{told}");
        assert_eq!(house.deal().expect("it is dealt").1, None, "{told}");
    }
}

/// Failover: the next node reads the lines and has every text.
#[test]
fn the_lines_alone_have_what_was_revealed() {
    let mut known = Desk::knowing_every_seed();
    let replayed = known.replayed();
    assert_eq!(replayed, known.table);
    known.reveal(HOUSE, "house").unwrap();
    let last = known.journal.last().unwrap();
    assert_eq!(replayed.apply_line(last).unwrap().0, known.table);
}
