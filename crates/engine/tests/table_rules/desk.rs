//! A table of Tong-its with three players, and a clock that the test sets.

use bahay_bots::table::ai_action;
use bahay_engine::chance::ServerSeed;
use bahay_engine::coins::Coins;
use bahay_engine::game::Game;
use bahay_engine::games::tongits::{Illegal, Rules, Tongits};
use bahay_engine::hex::Hex;
use bahay_engine::seat::Seat;
use bahay_engine::table::{
    ActionOrigin, ConnectionId, Effect, Event, GameEntropy, GameId, Hits, Input, Phase, PlayerId,
    Rejection, Table, TableId, Timestamp,
};
use bahay_engine::testing;
use uuid::Uuid;

pub(crate) type Refused = Rejection<Illegal>;

/// A table with players 0, 1 and 2, and a clock that the test sets.
pub(crate) struct Desk {
    pub(crate) table: Table<Tongits>,
    pub(crate) now: Timestamp,
    pub(crate) games: u64,
    pub(crate) events: Vec<Event<<Tongits as Game>::Event>>,
}

pub(crate) fn player(number: u64) -> PlayerId {
    PlayerId(Uuid::from_u64_pair(1, number))
}

pub(crate) fn connection(number: u64) -> ConnectionId {
    ConnectionId(Uuid::from_u64_pair(2, number))
}

pub(crate) fn seat(number: u8) -> Seat {
    Seat::new(number).unwrap()
}

impl Desk {
    pub(crate) fn new() -> Self {
        let bet = Coins::from_whole(1).unwrap();
        let terms = testing::terms(Rules::kingdom(), Some(Hits::default()), bet, 1);
        let table = Table::new(TableId(Uuid::from_u64_pair(3, 0)), terms);
        Self { table, now: Timestamp::from_ms(0), games: 0, events: vec![] }
    }

    /// Returns a table with three connected players.
    pub(crate) fn full() -> Self {
        let mut desk = Self::new();
        for number in 0..3 {
            desk.tell(Input::sit(player(number), "Tala")).unwrap();
            desk.connect(number).unwrap();
        }
        desk
    }

    /// Returns a table whose game has just begun.
    pub(crate) fn playing() -> Self {
        let mut desk = Self::full();
        for number in 0..3 {
            desk.ready(number).unwrap();
        }
        desk.open();
        desk
    }

    pub(crate) fn tell(&mut self, input: Input<<Tongits as Game>::Action>) -> Result<(), Refused> {
        self.games += 1;
        let fresh = GameEntropy {
            seed: ServerSeed(Hex([u8::try_from(self.games % 251).unwrap(); 32])),
            game: GameId(Uuid::from_u64_pair(4, self.games)),
        };
        let transition = self.table.decide(self.now, input, || fresh)?;
        self.table = transition.table;
        self.events = transition.events;
        Ok(())
    }

    pub(crate) fn connect(&mut self, number: u64) -> Result<(), Refused> {
        let (player, connection) = (player(number), connection(number));
        self.tell(Input::Connect { player, connection })
    }

    pub(crate) fn disconnect(&mut self, number: u64) -> Result<(), Refused> {
        let (player, connection) = (player(number), connection(number));
        self.tell(Input::Disconnect { player, connection })
    }

    pub(crate) fn ready(&mut self, number: u64) -> Result<(), Refused> {
        let game = self.table.phase().game().unwrap_or(GameId(Uuid::nil()));
        self.tell(Input::Ready { player: player(number), game, commitment: None })
    }

    pub(crate) fn open(&mut self) {
        let game = self.table.phase().game().unwrap();
        let stakes = vec![self.table.terms().stake_max(3).unwrap(); 3];
        let antes = Coins::from_whole(3).unwrap();
        let pot = self.table.pot().checked_add(antes).unwrap();
        self.tell(Input::Opened { game, stakes, pot }).unwrap();
    }

    /// Advances the clock to the table's deadline.
    pub(crate) fn wait(&mut self) {
        self.now = self.now.max(self.table.deadline().unwrap());
    }

    /// Waits and ticks, as the effects require.
    pub(crate) fn wait_and_tick(&mut self) {
        self.wait();
        assert!(matches!(self.table.effects(self.now).as_slice(), [Effect::Tick]));
        self.tell(Input::Tick).unwrap();
    }

    pub(crate) fn asked(&self) -> Seat {
        match self.table.phase() {
            Phase::Playing(playing) => playing.prompt.seats.iter().next().unwrap(),
            other => panic!("nobody is asked: {other:?}"),
        }
    }

    pub(crate) fn last_by(&self) -> ActionOrigin {
        match self.table.phase() {
            Phase::Playing(playing) => playing.actions.last().unwrap().by,
            other => panic!("nothing is played: {other:?}"),
        }
    }

    /// Plays the AI's answer for the prompted seat.
    pub(crate) fn play_ai_action(&mut self) -> Result<(), Refused> {
        let input = ai_action(&self.table, self.asked()).unwrap();
        self.tell(input)
    }

    /// Plays the same answer as the player.
    pub(crate) fn act(&mut self) -> Result<(), Refused> {
        let Some(Input::AiAction { player, game, prompt, action }) =
            ai_action(&self.table, self.asked())
        else {
            panic!("nobody is asked");
        };
        self.tell(Input::Act { player, game, prompt, action })
    }

    /// Lets the players play until the game is over.
    pub(crate) fn play_out(&mut self) {
        while let Phase::Playing(playing) = self.table.phase() {
            if playing.prompt.seats.is_empty() {
                self.wait_and_tick();
            } else {
                self.act().unwrap();
            }
        }
    }

    pub(crate) fn settle(&mut self) {
        let game = self.table.phase().game().unwrap();
        self.tell(Input::Settled { game }).unwrap();
    }

    pub(crate) fn seats(&self) -> Vec<PlayerId> {
        self.table.occupants().map(|(_, occupant)| occupant.player).collect()
    }
}
