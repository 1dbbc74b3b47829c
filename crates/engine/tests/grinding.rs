//! Rules 9.1 and 9.1a against a dishonest house with a player of its own at the table: it reads
//! everything that the table stores, the server seed included, answers last, and does anything that
//! a player, operator or ledger may do. It tries to choose among deals.

#![expect(clippy::unwrap_used, reason = "in a test a panic is a verdict")]

use std::collections::BTreeMap;

use bahay_engine::chance::{ChanceAnswer, ClientSeed, Commitment, ServerSeed};
use bahay_engine::coins::Coins;
use bahay_engine::games::tongits::{Action, Illegal, Rules, Tongits};
use bahay_engine::hex::Hex;
use bahay_engine::seat::{Seat, SeatSet};
use bahay_engine::table::{
    Clocks, ConnectionId, GameEntropy, GameId, Hits, Input, Line, Phase, PlayerId, REVEAL_MS,
    Rejection, Table, TableAvailability, TableId, TermsUpdate, Timestamp,
};
use bahay_engine::testing;
use uuid::Uuid;

/// The seat of the house's player.
const HOUSE: u64 = 2;

/// The number of texts that the house tries.
const ATTEMPTS: u32 = 200;

fn player(number: u64) -> PlayerId {
    PlayerId(Uuid::from_u64_pair(1, number))
}

fn connection(number: u64) -> ConnectionId {
    ConnectionId(Uuid::from_u64_pair(2, number))
}

fn coins(whole: i64) -> Coins {
    Coins::from_whole(whole).unwrap()
}

fn committed(text: &str) -> Option<Commitment> {
    Some(ClientSeed::from_text(text).commitment())
}

/// A table of two honest players and the house's player, with everything that was stored.
#[derive(Clone)]
struct House {
    table: Table<Tongits>,
    journal: Vec<Line<Action>>,
    now: Timestamp,
    seeds: u8,
}

impl House {
    /// Returns a table at which the honest players are ready.
    fn new() -> Self {
        let terms = testing::terms(Rules::kingdom(), Some(Hits::default()), coins(1), 1);
        let table = Table::new(TableId(Uuid::from_u64_pair(3, 0)), terms);
        let mut house = Self { table, journal: vec![], now: Timestamp::from_ms(0), seeds: 0 };
        for number in 0..3 {
            house.tell(Input::sit(player(number), "Tala")).unwrap();
            let (player, connection) = (player(number), connection(number));
            house.tell(Input::Connect { player, connection }).unwrap();
        }
        house.honest_are_ready();
        house
    }

    /// Returns a table whose game the ledger has opened and for which the honest clients have
    /// revealed.
    fn knowing_every_seed() -> Self {
        let mut house = Self::new();
        house.ready("house").unwrap();
        house.open();
        for number in 0..2 {
            house.reveal(number, &honest(number)).unwrap();
        }
        house
    }

    fn honest_are_ready(&mut self) {
        let game = self.game();
        for number in 0..2 {
            let commitment = committed(&honest(number));
            self.tell(Input::Ready { player: player(number), game, commitment }).unwrap();
        }
    }

    fn tell(&mut self, input: Input<Action>) -> Result<(), Rejection<Illegal>> {
        self.seeds += 1;
        let seed = ServerSeed(Hex([self.seeds; 32]));
        let fresh = GameEntropy { seed, game: GameId(Uuid::from_u64_pair(4, self.seeds.into())) };
        let told = self.table.decide(self.now, input, || fresh)?;
        self.table = told.table;
        self.journal.push(told.line);
        Ok(())
    }

    fn ready(&mut self, text: &str) -> Result<(), Rejection<Illegal>> {
        let game = self.game();
        self.tell(Input::Ready { player: player(HOUSE), game, commitment: committed(text) })
    }

    fn reveal(&mut self, number: u64, text: &str) -> Result<(), Rejection<Illegal>> {
        let game = self.game();
        self.tell(Input::Reveal { player: player(number), game, text: text.to_owned() })
    }

    fn open(&mut self) {
        let (game, stakes) = (self.game(), vec![coins(14); 3]);
        self.tell(Input::Opened { game, stakes, pot: coins(3) }).unwrap();
    }

    fn wait(&mut self) {
        self.now = self.now.after_ms(REVEAL_MS);
        self.tell(Input::Tick).unwrap();
    }

    fn game(&self) -> GameId {
        self.table.phase().game().unwrap()
    }

    /// Returns the deal and the house's contribution in the record, if the game is dealt.
    fn deal(&self) -> Option<(String, Option<String>)> {
        let Phase::Playing(playing) = self.table.phase() else { return None };
        let chance: &Vec<ChanceAnswer> = &playing.chance;
        let client = &playing.clients[usize::try_from(HOUSE).unwrap()];
        assert!(client.is_valid());
        Some((serde_json::to_string(chance).unwrap(), client.text.clone()))
    }

    /// Returns everything that a house can read of its table.
    fn reads(&self) -> String {
        let (table, journal) = (&self.table, &self.journal);
        format!(
            "{}{}",
            serde_json::to_string(table).unwrap(),
            serde_json::to_string(journal).unwrap()
        )
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
    let known = House::knowing_every_seed();
    assert!(known.knows_a_seed() && known.deal().is_none());
    let mut deals = BTreeMap::new();
    for attempt in 0..ATTEMPTS {
        let mut house = known.clone();
        // Another text, another commitment, its own commitment withdrawn, or none.
        let text = if attempt == 0 { "house".to_owned() } else { format!("house {attempt}") };
        let taken = house.reveal(HOUSE, &text);
        assert_eq!(taken, if attempt == 0 { Ok(()) } else { Err(Rejection::OtherText) });
        assert_eq!(house.ready(&text), Err(Rejection::NoSuchPhase));
        if house.deal().is_none() {
            house.wait();
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
    let mut house = House::new();
    let first = house.game();
    for attempt in 0..20_u64 {
        assert!(!house.knows_a_seed());
        if attempt % 2 == 0 {
            house.tell(Input::Leave { player: player(HOUSE) }).unwrap();
        } else {
            // Not ready in time: the player loses the seat, and the house's next player sits down.
            house.now = house.now.after_ms(Clocks::default().prepare_ms);
            house.tell(Input::Tick).unwrap();
        }
        house.tell(Input::sit(player(HOUSE), "Tala")).unwrap();
        house.honest_are_ready();
    }
    assert_ne!(house.game(), first);
    house.ready("house").unwrap();
    house.open();
    assert!(matches!(house.table.phase(), Phase::Revealing(_)));
    assert!(!house.knows_a_seed());
}

/// Rule 9.1a: after any input the table deals this game or waits for the last text.
#[test]
fn a_game_with_a_known_seed_cannot_be_undone() {
    let known = House::knowing_every_seed();
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
        Input::OpenFailed { game, seats: SeatSet::EMPTY.with(Seat::new(2).unwrap()) },
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
        house.wait();
        assert_eq!(house.game(), game, "{told}");
        assert_eq!(house.deal().expect("it is dealt").1, None, "{told}");
    }
}

/// Failover: the next node reads the lines and has every text.
#[test]
fn the_lines_alone_have_what_was_revealed() {
    let mut known = House::knowing_every_seed();
    let mut replayed = Table::new(known.table.id(), known.table.terms().clone());
    for line in &known.journal {
        let text = serde_json::to_string(line).unwrap();
        replayed = replayed.apply_line(&serde_json::from_str(&text).unwrap()).unwrap().0;
    }
    assert_eq!(replayed, known.table);
    known.reveal(HOUSE, "house").unwrap();
    let last = known.journal.last().unwrap();
    assert_eq!(replayed.apply_line(last).unwrap().0, known.table);
}
