//! A table, a clock that the test sets, and a ledger that always pays.

use bahay_bots::Ai;
use bahay_bots::table::ai_action;
use bahay_engine::chance::ServerSeed;
use bahay_engine::coins::Coins;
use bahay_engine::game::Game;
use bahay_engine::games::tongits::{Rules, Tongits};
use bahay_engine::hex::Hex;
use bahay_engine::seat::Seat;
use bahay_engine::table::{
    ActionOrigin, ConnectionId, Effect, Event, GameEntropy, GameId, Hits, Input, Line, Phase,
    PlayerId, Playing, Readable, Record, Rejection, Table, TableId, Terms, Timestamp,
};
use bahay_engine::testing;
use uuid::Uuid;

/// The table's answer to an input.
pub type Reply<G> = Result<(), Rejection<<G as Game>::Refusal>>;

/// A table with its journal, and a clock that the test sets.
#[derive(Clone)]
pub struct Desk<G: Game = Tongits> {
    /// The table before the first line of the journal.
    pub founded: Table<G>,
    pub journal: Vec<Line<G::Action>>,
    pub table: Table<G>,
    pub now: Timestamp,
    /// The events of the last input.
    pub events: Vec<Event<G::Event>>,
    inputs: u64,
}

pub fn player(number: u64) -> PlayerId {
    PlayerId(Uuid::from_u64_pair(1, number))
}

pub fn connection(number: u64) -> ConnectionId {
    ConnectionId(Uuid::from_u64_pair(2, number))
}

pub fn seat(number: u8) -> Seat {
    Seat::new(number).unwrap()
}

pub fn coins(whole: i64) -> Coins {
    Coins::from_whole(whole).unwrap()
}

/// Returns the terms of a table of Tong-its for a bet of one coin, with a POT.
pub fn kingdom_terms() -> Terms<Rules> {
    testing::terms(Rules::kingdom(), Some(Hits::default()), coins(1), 1)
}

impl Desk<Tongits> {
    /// Returns an empty table.
    pub fn new() -> Self {
        Self::with_terms(kingdom_terms())
    }

    /// Returns a table with three connected players.
    pub fn full() -> Self {
        let mut desk = Self::new();
        desk.all_sit([0, 1, 2]);
        desk
    }

    /// Returns a table whose game has just begun.
    pub fn playing() -> Self {
        let mut desk = Self::full();
        desk.all_ready([0, 1, 2]);
        desk.open();
        desk
    }
}

impl<G: Ai + Readable> Desk<G> {
    pub fn with_terms(terms: Terms<G::Rules>) -> Self {
        Self::at_table(Table::new(TableId(Uuid::from_u64_pair(3, 0)), terms))
    }

    pub fn at_table(table: Table<G>) -> Self {
        let (journal, now, events) = (Vec::new(), Timestamp::from_ms(0), Vec::new());
        Self { founded: table.clone(), journal, table, now, events, inputs: 0 }
    }

    pub fn tell(&mut self, input: Input<G::Action>) -> Reply<G> {
        self.inputs += 1;
        let seed = ServerSeed(Hex([u8::try_from(self.inputs % 251).unwrap(); 32]));
        let game = GameId(Uuid::from_u64_pair(4, self.inputs));
        self.tell_with(GameEntropy { seed, game }, input)
    }

    /// Applies an input, and checks that other processes and viewers follow.
    pub fn tell_with(&mut self, fresh: GameEntropy, input: Input<G::Action>) -> Reply<G> {
        let decided = self.table.decide(self.now, input, || fresh)?;
        // Another process reads the same from the line and from a snapshot.
        let line = serde_json::to_string(&decided.line).unwrap();
        let line = G::read_line(self.table.kind(), &line).unwrap();
        assert_eq!(self.table.apply_line(&line).unwrap().0, decided.table);
        let snapshot = serde_json::to_string(&decided.table).unwrap();
        assert_eq!(G::read_table(&snapshot).unwrap(), decided.table);
        let before = core::mem::replace(&mut self.table, decided.table);
        self.journal.push(decided.line);
        self.events = decided.events;
        self.check_views(&before);
        Ok(())
    }

    /// Checks that a view folded from the events equals the table's.
    fn check_views(&self, before: &Table<G>) {
        let tables = [before, &self.table].into_iter();
        let players = tables.flat_map(|table| table.occupants().map(|(_, who)| Some(who.player)));
        for player in players.chain([None]) {
            let mut view = before.view(player);
            let after = self.table.view(player);
            for event in self.events.iter().filter_map(|event| event.redact::<G>(after.viewer())) {
                view.observe(&event);
            }
            let has_sat_down = player.is_some_and(|player| before.seat_of(player).is_none());
            assert!(has_sat_down || view == after, "{player:?}: {:?}", self.events);
        }
    }

    /// Seats a player and connects it.
    pub fn sit(&mut self, number: u64) -> Reply<G> {
        self.tell(Input::sit(player(number), format!("player {number}")))?;
        self.connect(number)
    }

    pub fn all_sit<const N: usize>(&mut self, numbers: [u64; N]) {
        numbers.into_iter().for_each(|number| self.sit(number).unwrap());
    }

    pub fn connect(&mut self, number: u64) -> Reply<G> {
        self.tell(Input::Connect { player: player(number), connection: connection(number) })
    }

    pub fn disconnect(&mut self, number: u64) -> Reply<G> {
        self.tell(Input::Disconnect { player: player(number), connection: connection(number) })
    }

    pub fn leave(&mut self, number: u64) -> Reply<G> {
        self.tell(Input::Leave { player: player(number) })
    }

    pub fn ready(&mut self, number: u64) -> Reply<G> {
        let game = self.table.phase().game().unwrap_or(GameId(Uuid::nil()));
        self.tell(Input::Ready { player: player(number), game, commitment: None })
    }

    pub fn all_ready<const N: usize>(&mut self, numbers: [u64; N]) {
        numbers.into_iter().for_each(|number| self.ready(number).unwrap());
    }

    pub fn game(&self) -> GameId {
        self.table.phase().game().expect("a game is prepared or played")
    }

    /// Returns the ledger's answer to an opening.
    pub fn opened(&self) -> Input<G::Action> {
        let (seats, terms) = (self.table.seats_in_game(), self.table.terms());
        let stakes = vec![terms.stake_max(seats).unwrap(); usize::from(seats)];
        let antes = terms.hits.map_or(Coins::ZERO, |_| coins(seats.into()));
        let pot = self.table.pot().checked_add(antes).unwrap();
        Input::Opened { game: self.game(), stakes, pot }
    }

    pub fn open(&mut self) {
        self.tell(self.opened()).unwrap();
    }

    pub fn settle(&mut self) {
        self.tell(Input::Settled { game: self.game() }).unwrap();
    }

    /// Advances the clock to the table's deadline.
    pub fn wait(&mut self) {
        self.now = self.now.max(self.table.deadline().unwrap());
    }

    /// Waits and ticks, as the effects require.
    pub fn wait_and_tick(&mut self) {
        self.wait();
        assert!(matches!(self.table.effects(self.now).as_slice(), [Effect::Tick]));
        self.tell(Input::Tick).unwrap();
    }

    /// Performs the first effect that is due, or advances the clock to the deadline.
    pub fn go_on(&mut self) {
        let asks_ledger =
            |effect: &Effect<G>| matches!(effect, Effect::Open(_) | Effect::Settle(_));
        let next = self.table.effects(self.now).into_iter().next().map(|effect| match effect {
            effect if asks_ledger(&effect) && self.table.terms().practice => {
                panic!("nobody is asked for coins at a practice table: {effect:?}")
            }
            Effect::Open(_) => self.opened(),
            Effect::Settle(record) | Effect::Report { record, .. } => {
                Input::Settled { game: record.game }
            }
            Effect::ChooseAction { seat, .. } => ai_action(&self.table, seat).unwrap(),
            Effect::Tick => Input::Tick,
            Effect::RefundPot(_) => panic!("a POT is to be refunded"),
        });
        match next {
            Some(input) => self.tell(input).unwrap(),
            None => self.wait(),
        }
    }

    /// Goes on until this holds.
    pub fn go_on_until(&mut self, holds: impl Fn(&Self) -> bool) {
        for _ in 0..20_000 {
            if holds(self) {
                return;
            }
            self.go_on();
        }
        panic!("this never comes: {:?}", self.table.phase());
    }

    /// Returns the running game.
    pub fn running(&self) -> &Playing<G> {
        match self.table.phase() {
            Phase::Playing(playing) => playing,
            other => panic!("no game goes on: {other:?}"),
        }
    }

    /// Returns the record of the game that is over.
    pub fn record(&self) -> &Record<G> {
        match self.table.phase() {
            Phase::Settling(settling) => &settling.record,
            other => panic!("the game is not over: {other:?}"),
        }
    }

    /// Returns the first prompted seat.
    pub fn asked(&self) -> Seat {
        self.running().prompt.seats.first().unwrap()
    }

    pub fn last_by(&self) -> ActionOrigin {
        self.running().actions.last().unwrap().by
    }

    /// Returns the table that follows from the journal alone.
    pub fn replayed(&self) -> Table<G> {
        self.journal.iter().fold(self.founded.clone(), |table, line| {
            let text = serde_json::to_string(line).unwrap();
            let line = G::read_line(table.kind(), &text).unwrap();
            table.apply_line(&line).unwrap().0
        })
    }

    /// Plays the AI's answer for the prompted seat.
    pub fn play_ai_action(&mut self) -> Reply<G> {
        let input = ai_action(&self.table, self.asked()).unwrap();
        self.tell(input)
    }

    /// Plays the same answer as the player.
    pub fn act(&mut self) -> Reply<G> {
        let Some(Input::AiAction { player, game, prompt, action }) =
            ai_action(&self.table, self.asked())
        else {
            panic!("nobody is asked");
        };
        self.tell(Input::Act { player, game, prompt, action })
    }

    /// Lets the players play until the game is over.
    pub fn play_out(&mut self) {
        while let Phase::Playing(playing) = self.table.phase() {
            if playing.prompt.seats.is_empty() {
                self.wait_and_tick();
            } else {
                self.act().unwrap();
            }
        }
    }

    pub fn players(&self) -> Vec<PlayerId> {
        self.table.occupants().map(|(_, occupant)| occupant.player).collect()
    }
}
