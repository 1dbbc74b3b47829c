//! What a fight tells to those who may not know who was asked in secret (rule 4.2), at a table.

#![expect(clippy::unwrap_used, reason = "in a test a panic is a verdict")]

use bahay_engine::cards::{Card, CardSet};
use bahay_engine::chance::ServerSeed;
use bahay_engine::coins::Coins;
use bahay_engine::game::{Game, Prompt, Skill, Turn, Viewer};
use bahay_engine::games::tongits::{
    Action, ExposedMeld, Illegal, Rules, Setup, SetupPhase, Tongits,
};
use bahay_engine::hex::Hex;
use bahay_engine::seat::{Seat, SeatSet};
use bahay_engine::table::{
    Clocks, ConnectionId, Event, Fresh, GameId, Hits, Input, Phase, PlayerId, Price, Rejection,
    Spectators, Table, TableId, Terms, Timestamp,
};
use uuid::Uuid;

/// A table with players 0, 1 and 2 in a fight, and a clock that a test moves.
struct Desk {
    table: Table<Tongits>,
    now: Timestamp,
    events: Vec<Event<<Tongits as Game>::Event>>,
}

fn player(number: u64) -> PlayerId {
    PlayerId(Uuid::from_u64_pair(1, number))
}

fn seat(number: u8) -> Seat {
    Seat::new(number).unwrap()
}

impl Desk {
    /// A game that has just begun.
    fn playing() -> Self {
        let coins = |whole| Coins::from_whole(whole).unwrap();
        let terms = Terms {
            room: "newbie".to_owned(),
            rules: Rules::kingdom(),
            price: Price { bet: coins(1), multiplier: 1, fee_basis_points: 500 },
            hits: Some(Hits::default()),
            clocks: Clocks::default(),
            spectators: Spectators::default(),
            bots: Skill::default(),
            private: None,
            practice: false,
        };
        let table = Table::new(TableId(Uuid::from_u64_pair(3, 0)), terms);
        let mut desk = Self { table, now: Timestamp::from_ms(0), events: vec![] };
        for number in 0..3 {
            desk.tell(Input::sit(player(number), "Tala")).unwrap();
            let connection = ConnectionId(Uuid::from_u64_pair(2, number));
            desk.tell(Input::Connect { player: player(number), connection }).unwrap();
        }
        let game = desk.table.phase().game().unwrap();
        for number in 0..3 {
            let player = player(number);
            desk.tell(Input::Ready { player, game, commitment: None }).unwrap();
        }
        let (stakes, pot) = (vec![coins(14); 3], coins(3));
        desk.tell(Input::Opened { game, stakes, pot }).unwrap();
        desk
    }

    /// Seat 0 has fought. Seat 1 is not open and holds no secret meld; seat 2 is not open either, and
    /// holds one or does not.
    fn fought(secret: bool) -> Self {
        let set =
            |text: &str| -> CardSet { text.split(' ').map(|card| card.parse().unwrap()).collect() };
        let secret = if secret { "4C 4D 4H 4S 9D" } else { "4C 4D 4H 5S 9D" };
        let run = set("5H 6H 7H");
        let run = ExposedMeld {
            owner: seat(0),
            cards: run,
            by: [run, CardSet::EMPTY, CardSet::EMPTY],
            face_down: None,
            sagasa: false,
        };
        let hands = [set("AC 2D"), set("KC QD"), set(secret)];
        let dealt = hands.iter().fold(run.cards, |dealt, hand| dealt.union(*hand));
        let dealt = dealt.union(set("TD"));
        let position = Setup {
            rules: Rules::kingdom(),
            turn: seat(0),
            phase: SetupPhase::Draw,
            hands,
            stock: (0..52)
                .filter_map(Card::from_index)
                .filter(|card| !dealt.contains(*card))
                .collect(),
            discards: vec!["TD".parse().unwrap()],
            melds: vec![run],
            added_to: SeatSet::EMPTY,
            yet_to_act: SeatSet::EMPTY,
            drawn: None,
        };
        let mut desk = Self::playing();
        let mut table = serde_json::to_value(&desk.table).unwrap();
        let (game, playing) = (position.game().unwrap(), &mut table["phase"]["playing"]);
        let Turn::Players(prompt) = game.turn() else { panic!("seat 0 is to act") };
        playing["state"] = serde_json::to_value(&game).unwrap();
        playing["asked"] = serde_json::to_value(prompt).unwrap();
        desk.table = serde_json::from_value(table).unwrap();
        let game = desk.table.phase().game().unwrap();
        let (player, action) = (player(0), Action::Fight);
        desk.tell(Input::Act { player, game, prompt: prompt.number, action }).unwrap();
        desk
    }

    /// What these seats see of what has happened.
    fn seen_by(&self, seats: &[Seat]) -> Vec<Event<<Tongits as Game>::Event>> {
        let seen = seats.iter().flat_map(|seat| {
            let viewer = Viewer::Seat(*seat);
            self.events.iter().filter_map(move |event| event.redact::<Tongits>(viewer))
        });
        seen.collect()
    }

    fn prompt_for(&self, seat: Seat) -> Option<Prompt> {
        match self.table.phase() {
            Phase::Playing(playing) => playing.state.prompt_for(Viewer::Seat(seat)),
            other => panic!("no game goes on: {other:?}"),
        }
    }

    fn tell(&mut self, input: Input<<Tongits as Game>::Action>) -> Result<(), Rejection<Illegal>> {
        let fresh =
            || Fresh { seed: ServerSeed(Hex([7; 32])), game: GameId(Uuid::from_u64_pair(4, 1)) };
        let transition = self.table.decide(self.now, input, fresh)?;
        self.table = transition.table;
        self.events = transition.events;
        Ok(())
    }

    /// Whoever is asked answers as the bot would.
    fn act(&mut self) -> Result<(), Rejection<Illegal>> {
        let Phase::Playing(playing) = self.table.phase() else { panic!("a game goes on") };
        let asked = playing.asked.seats.iter().next().unwrap();
        let Some(Input::Advise { player, game, prompt, action }) = self.table.advice(asked) else {
            panic!("nobody is asked");
        };
        self.tell(Input::Act { player, game, prompt, action })
    }

    /// Waits for the table's deadline.
    fn wait(&mut self) {
        self.now = self.now.max(self.table.deadline().unwrap());
    }
}

/// Rule 4.2: whoever may have been asked in secret answers unseen, and the fight is over when its
/// countdown is, whether anybody was asked or not.
#[test]
fn nobody_learns_from_a_fight_who_was_asked_in_secret() {
    let fought = |secret: bool, answered_after_ms: Option<i64>| {
        let mut desk = Desk::fought(secret);
        let (fighter, other) = (seat(0), seat(1));
        let begun = desk.now;
        let mut seen = Vec::new();
        if let Some(after_ms) = answered_after_ms {
            desk.now = Timestamp::from_ms(begun.ms() + after_ms);
            desk.events.clear();
            desk.act().unwrap();
            seen.push(desk.seen_by(&[fighter, other]));
        }
        let prompts = [fighter, other].map(|seat| desk.prompt_for(seat));
        desk.wait();
        desk.events.clear();
        desk.tell(Input::Tick).unwrap();
        assert!(matches!(desk.table.phase(), Phase::Settling(_)));
        (seen.concat(), prompts, desk.now.ms_since(begun))
    };
    let nobody = fought(false, None);
    assert_eq!(nobody.2, 10_000);
    assert_eq!(fought(true, None), nobody, "who is asked is silent");
    assert_eq!(fought(true, Some(0)), nobody, "who is asked answers at once");
    assert_eq!(fought(true, Some(9_000)), nobody, "who is asked answers late");
}

/// Rules 4.2, 8.3: who answers unseen is not shown to be back by it.
#[test]
fn an_answer_that_nobody_sees_does_not_end_a_takeover() {
    let mut desk = Desk::fought(true);
    desk.tell(Input::Leave { player: player(2) }).unwrap();
    desk.events.clear();
    desk.act().unwrap();
    assert!(desk.table.taken_over().contains(seat(2)));
    assert!(!desk.events.iter().any(|event| matches!(event, Event::Takeover { .. })));
}
