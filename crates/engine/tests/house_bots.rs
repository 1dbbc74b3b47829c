//! House bots at a table (rule 8.6): ready at once, played by the AI from the deal on, and present
//! for players only.

#![expect(clippy::unwrap_used, reason = "in a test a panic is a verdict")]

use bahay_bots::table::ai_action;
use bahay_engine::chance::ServerSeed;
use bahay_engine::coins::Coins;
use bahay_engine::game::Game;
use bahay_engine::games::tongits::{Illegal, Rules, Tongits};
use bahay_engine::hex::Hex;
use bahay_engine::table::{
    ActionOrigin, ConnectionId, Effect, Event, GameEntropy, GameId, Hits, Input, Phase, PlayerId,
    Reason, Record, Rejection, Table, TableId, Timestamp,
};
use bahay_engine::testing;
use uuid::Uuid;

/// A table whose effects are performed, with a ledger that always pays.
struct Parlour {
    table: Table<Tongits>,
    now: Timestamp,
    games: u64,
    events: Vec<Event<<Tongits as Game>::Event>>,
    records: Vec<Record<Tongits>>,
}

const ANA: PlayerId = PlayerId(Uuid::from_u64_pair(1, 0));
const BEA: PlayerId = PlayerId(Uuid::from_u64_pair(1, 1));
const HERE: ConnectionId = ConnectionId(Uuid::from_u64_pair(2, 0));

fn bot(number: u64) -> PlayerId {
    PlayerId(Uuid::from_u64_pair(9, number))
}

fn coins(whole: i64) -> Coins {
    Coins::from_whole(whole).unwrap()
}

impl Parlour {
    fn new() -> Self {
        let terms = testing::terms(Rules::kingdom(), Some(Hits::default()), coins(1), 1);
        let table = Table::new(TableId(Uuid::from_u64_pair(3, 0)), terms);
        let (now, events, records) = (Timestamp::from_ms(0), vec![], vec![]);
        Self { table, now, games: 0, events, records }
    }

    /// Returns a table with one connected player and two bots.
    fn with_bots() -> Self {
        let mut parlour = Self::new();
        parlour.tell(Input::sit(ANA, "Ana")).unwrap();
        parlour.tell(Input::Connect { player: ANA, connection: HERE }).unwrap();
        parlour.seat_bot(1).unwrap();
        parlour.seat_bot(2).unwrap();
        parlour
    }

    fn tell(&mut self, input: Input<<Tongits as Game>::Action>) -> Result<(), Rejection<Illegal>> {
        self.games += 1;
        let fresh = GameEntropy {
            seed: ServerSeed(Hex([u8::try_from(self.games % 251).unwrap(); 32])),
            game: GameId(Uuid::from_u64_pair(4, self.games)),
        };
        let decided = self.table.decide(self.now, input, || fresh)?;
        // A view that is folded from the events equals the table's view.
        let mut view = self.table.view(None);
        for event in &decided.events {
            if let Some(event) = event.redact::<Tongits>(view.viewer()) {
                view.observe(&event);
            }
        }
        assert_eq!(view, decided.table.view(None));
        self.table = decided.table;
        self.events = decided.events;
        Ok(())
    }

    fn seat_bot(&mut self, number: u64) -> Result<(), Rejection<Illegal>> {
        let (name, avatar) = (format!("Bot {number}"), Some("eagle".to_owned()));
        self.tell(Input::Sit { player: bot(number), name, avatar, bot: true })
    }

    fn ready(&mut self, player: PlayerId) {
        let game = self.table.phase().game().unwrap();
        self.tell(Input::Ready { player, game, commitment: None }).unwrap();
    }

    /// Performs due effects and advances the clock until the game is settled.
    fn finish_game(&mut self) {
        for _ in 0..1_000 {
            let next = self.table.effects(self.now).into_iter().next().map(|effect| match effect {
                Effect::Open(opening) => {
                    let (stakes, pot) = (vec![coins(14); 3], coins(3));
                    Input::Opened { game: opening.game, stakes, pot }
                }
                Effect::Settle(record) => Input::Settled { game: record.game },
                Effect::ChooseAction { seat, .. } => ai_action(&self.table, seat).unwrap(),
                Effect::Tick => Input::Tick,
                Effect::RefundPot(_) => unreachable!("the table is no private one"),
            });
            if let Phase::Settling(settling) = self.table.phase() {
                self.records.push(settling.record.clone());
            }
            match next {
                Some(Input::Settled { game }) => {
                    return self.tell(Input::Settled { game }).unwrap();
                }
                Some(input) => self.tell(input).unwrap(),
                None => self.now = self.now.max(self.table.deadline().unwrap()),
            }
        }
        panic!("a game goes on for ever");
    }

    fn players(&self) -> Vec<PlayerId> {
        self.table.occupants().map(|(_, occupant)| occupant.player).collect()
    }

    fn has_left(&self, player: PlayerId) -> bool {
        self.events.iter().any(|event| {
            matches!(event, Event::Left { player: left, reason: Reason::Left, .. } if *left == player)
        })
    }
}

#[test]
fn bots_are_ready_at_once_and_the_ai_plays_them_from_the_deal_on() {
    let mut parlour = Parlour::with_bots();
    let ready = parlour.events.iter().filter(|event| matches!(event, Event::Ready { .. })).count();
    assert_eq!(ready, 2);
    let view = parlour.table.view(Some(ANA));
    let shown: Vec<_> =
        view.seats.iter().flatten().map(|seat| (seat.bot, seat.connected)).collect();
    assert_eq!(shown, [(false, true), (true, true), (true, true)]);
    assert_eq!(view.seats[1].as_ref().unwrap().avatar.as_deref(), Some("eagle"));
    assert!(parlour.table.taken_over_seats().is_empty(), "nobody plays before the deal");
    for game in 1..=3 {
        parlour.ready(ANA);
        parlour.finish_game();
        let record = &parlour.records[game - 1];
        assert_eq!(record.bots, parlour.table.bots());
        assert!(record.actions.iter().any(|taken| taken.by == ActionOrigin::Ai));
        for taken in &record.actions {
            assert!(!record.bots.contains(taken.seat) || taken.by == ActionOrigin::Ai, "{taken:?}");
        }
        record.verify().unwrap();
        // Ana was present and let countdowns expire, which the next game does not count against
        // her.
        assert_eq!(parlour.players(), [ANA, bot(1), bot(2)]);
    }
}

#[test]
fn bots_do_not_stay_without_a_player() {
    let mut parlour = Parlour::with_bots();
    parlour.tell(Input::Leave { player: ANA }).unwrap();
    assert_eq!(parlour.players(), []);
    assert!(parlour.has_left(bot(1)) && parlour.has_left(bot(2)));
    assert!(matches!(parlour.table.phase(), Phase::Waiting));
    // A bot that comes too late does not stay either.
    parlour.seat_bot(1).unwrap();
    assert!(parlour.has_left(bot(1)));

    let mut parlour = Parlour::with_bots();
    parlour.ready(ANA);
    parlour.tell(Input::Leave { player: ANA }).unwrap();
    parlour.finish_game();
    assert_eq!(parlour.players(), [], "the game is played to its end, and then nobody stays");
}

#[test]
fn a_bot_gives_its_seat_away_after_the_game() {
    let mut parlour = Parlour::with_bots();
    parlour.ready(ANA);
    parlour.tell(Input::Leave { player: bot(1) }).unwrap();
    assert_eq!(parlour.players().len(), 3, "not in the midst of a game");
    parlour.finish_game();
    assert_eq!(parlour.players(), [ANA, bot(2)]);
    parlour.tell(Input::sit(BEA, "Bea")).unwrap();
    assert!(matches!(parlour.table.phase(), Phase::Preparing(_)));
    // While a table waits, a bot is never away.
    parlour.tell(Input::Leave { player: BEA }).unwrap();
    assert_eq!(parlour.table.deadline(), None);
}
