//! Practice tables (rule 8.7): one player with bots and without coins. No ledger opens or settles a
//! game, advice is given only there, and a player who leaves is free at once.

#![expect(clippy::unwrap_used, reason = "in a test a panic is a verdict")]

use bahay_bots::Ai;
use bahay_bots::table::{Hint, ai_action, hint};
use bahay_engine::catalog::{AnyAction, AnyGame, AnyRefusal, AnyRules, kinds};
use bahay_engine::chance::ServerSeed;
use bahay_engine::coins::Coins;
use bahay_engine::game::{Game, GameRules, Viewer};
use bahay_engine::hex::Hex;
use bahay_engine::table::{
    Clocks, ConnectionId, Effect, Event, GameEntropy, GameId, Input, Line, Phase, PlayerId,
    PracticeBot, Reason, Rejection, Table, TableId, Terms, Timestamp,
};
use uuid::Uuid;

const ANA: PlayerId = PlayerId(Uuid::from_u64_pair(1, 0));
const BEA: PlayerId = PlayerId(Uuid::from_u64_pair(1, 1));
const HERE: ConnectionId = ConnectionId(Uuid::from_u64_pair(2, 0));

/// A table whose effects are performed, with its journal and without a ledger.
struct Practice {
    founded: Table<AnyGame>,
    table: Table<AnyGame>,
    journal: Vec<Line<AnyAction>>,
    now: Timestamp,
    games: u64,
    events: Vec<Event<<AnyGame as Game>::Event>>,
}

impl Practice {
    /// Returns a table with Ana, connected, and bots.
    fn of(rules: AnyRules) -> Self {
        let most = rules.seats().most;
        let terms = Terms::for_practice("practice", rules, Clocks::default());
        let bots = (1..most).map(|number| PracticeBot {
            player: PlayerId(Uuid::from_u64_pair(9, number.into())),
            name: format!("Bot {number}"),
            avatar: "eagle".into(),
        });
        let founded = Table::new(TableId(Uuid::from_u64_pair(3, 0)), terms).with_bots(bots);
        let (now, games) = (Timestamp::from_ms(0), 0);
        let table = founded.clone();
        let mut practice = Self { founded, table, journal: vec![], now, games, events: vec![] };
        practice.tell(Input::sit(ANA, "Ana")).unwrap();
        practice.tell(Input::Connect { player: ANA, connection: HERE }).unwrap();
        practice
    }

    fn tongits() -> Self {
        Self::of(AnyRules::find_rule_set("tongits", "kingdom").unwrap().rules)
    }

    fn tell(&mut self, input: Input<AnyAction>) -> Result<(), Rejection<AnyRefusal>> {
        let game = self.games + 1;
        let seed = ServerSeed(Hex([u8::try_from(game % 251).unwrap(); 32]));
        let fresh = GameEntropy { seed, game: GameId(Uuid::from_u64_pair(4, game)) };
        let decided = self.table.decide(self.now, input, || fresh)?;
        self.games += u64::from(decided.line.fresh.is_some());
        // A view that is folded from the events equals the table's view.
        for player in [None, Some(ANA)] {
            let mut view = self.table.view(player);
            for event in &decided.events {
                if let Some(event) = event.redact::<AnyGame>(view.viewer()) {
                    view.observe(&event);
                }
            }
            let seat_is_new = view.seat.is_none() && player.is_some();
            assert!(seat_is_new || view == decided.table.view(player));
        }
        self.table = decided.table;
        self.journal.push(decided.line);
        self.events = decided.events;
        Ok(())
    }

    fn ready(&mut self) {
        let game = self.table.phase().game().unwrap();
        self.tell(Input::Ready { player: ANA, game, commitment: None }).unwrap();
    }

    /// Performs what is due now, or advances the clock to the next deadline.
    fn go_on(&mut self) {
        let next = self.table.effects(self.now).into_iter().next().map(|effect| match effect {
            Effect::ChooseAction { seat, .. } => ai_action(&self.table, seat).unwrap(),
            Effect::Tick => Input::Tick,
            Effect::Open(_) | Effect::Settle(_) | Effect::RefundPot(_) => {
                panic!("nobody is asked for coins at a practice table: {effect:?}")
            }
        });
        match next {
            Some(input) => self.tell(input).unwrap(),
            None => self.now = self.now.max(self.table.deadline().unwrap()),
        }
    }

    fn until(&mut self, holds: impl Fn(&Self) -> bool) {
        for _ in 0..20_000 {
            if holds(self) {
                return;
            }
            self.go_on();
        }
        panic!("this never comes: {:?}", self.table.phase());
    }

    fn hint(&self) -> Result<Hint<AnyAction>, Rejection<AnyRefusal>> {
        hint(&self.table, ANA)
    }

    /// Plays the prepared game to its end by the advice.
    fn play_by_hints(&mut self) -> u32 {
        self.ready();
        let mut taken = 0;
        for _ in 0..20_000 {
            if matches!(self.table.phase(), Phase::Settling(_)) {
                return taken;
            }
            match self.hint() {
                Ok(Hint { game, prompt, action, .. }) => {
                    self.tell(Input::Act { player: ANA, game, prompt, action }).unwrap();
                    taken += 1;
                }
                Err(Rejection::NotAsked | Rejection::NoSuchPhase) => self.go_on(),
                Err(other) => panic!("{other}"),
            }
        }
        panic!("a game goes on for ever");
    }
}

#[test]
fn every_rule_set_is_practised_by_hints_and_nobody_is_asked_for_coins() {
    for kind in kinds() {
        for set in &kind.rule_sets {
            let mut practice = Practice::of(set.rules.clone());
            assert!(practice.play_by_hints() > 0, "{} {}", kind.name, set.name);
            let Phase::Settling(settling) = practice.table.phase() else {
                panic!("{:?}", practice.table.phase());
            };
            let settlement = settling.record.settlement.clone();
            assert!(settlement.payments.iter().all(|payment| payment.owed.is_zero()));
            assert!(settlement.fees.is_empty() && settlement.pot.is_none());
            assert_eq!(practice.table.pot(), Coins::ZERO);
            practice.go_on();
            let settled = |event: &Event<_>| matches!(event, Event::Settled { .. });
            assert_eq!(practice.events.iter().filter(|event| settled(event)).count(), 1);
            // It ends once: a second tick finds the next game.
            assert_eq!(practice.tell(Input::Tick), Err(Rejection::NothingDue));
            assert!(matches!(practice.table.phase(), Phase::Preparing(_)));
            // The journal alone restores the table.
            let mut replayed = practice.founded.clone();
            for line in &practice.journal {
                replayed = replayed.apply_line(line).unwrap().0;
            }
            assert_eq!(replayed, practice.table);
        }
    }
}

#[test]
fn a_timeout_action_is_due_at_once() {
    let mut practice = Practice::tongits();
    practice.ready();
    assert!(matches!(practice.table.phase(), Phase::Opening(_)));
    assert_eq!(practice.table.deadline(), Some(practice.now));
    practice.go_on();
    assert!(practice.table.phase().is_running(), "no time has passed");
    assert_eq!(practice.now, Timestamp::from_ms(0));
}

#[test]
fn a_hint_is_what_the_ai_plays_that_it_names() {
    let mut practice = Practice::tongits();
    practice.ready();
    practice.until(|practice| practice.hint().is_ok());
    let Hint { game, prompt, action, by } = practice.hint().unwrap();
    let Phase::Playing(playing) = practice.table.phase() else { unreachable!("a hint was given") };
    assert_eq!((game, prompt), (playing.game, playing.prompt.number));
    let view = playing.state.view(Viewer::Seat(practice.table.seat_of(ANA).unwrap()));
    assert_eq!(AnyGame::choose_action_with_skill(by, &view), Some(action));
}

#[test]
fn hints_are_refused_where_nothing_is_asked_and_where_coins_can_be_lost() {
    let mut practice = Practice::tongits();
    assert_eq!(practice.hint(), Err(Rejection::NoSuchPhase), "no game is played");
    assert_eq!(hint(&practice.table, BEA), Err(Rejection::NotSeated));
    practice.ready();
    practice.until(|practice| practice.hint() == Err(Rejection::NotAsked));
    // The same terms for coins, in every field.
    let mut terms = practice.table.terms().clone();
    terms.practice = false;
    let mut table = Table::<AnyGame>::new(practice.table.id(), terms);
    let sat = table.decide(practice.now, Input::sit(ANA, "Ana"), || panic!("one is too few"));
    table = sat.unwrap().table;
    assert_eq!(hint(&table, ANA), Err(Rejection::NotPractice));
    assert_eq!(Rejection::<AnyRefusal>::NotPractice.code(), "not_practice");
}

#[test]
fn leaving_ends_the_game_and_frees_the_player_at_once() {
    let mut practice = Practice::tongits();
    practice.ready();
    practice.until(|practice| practice.hint().is_ok());
    practice.tell(Input::Leave { player: ANA }).unwrap();
    let left =
        |event: &Event<_>| matches!(event, Event::Left { player: ANA, reason: Reason::Left, .. });
    assert!(practice.events.iter().any(left));
    assert!(matches!(practice.table.phase(), Phase::Waiting));
    assert!(practice.table.is_deserted());
    assert_eq!(practice.table.deadline(), None, "nothing is due any more");
    // The bots belong to the table: every player who sits down plays.
    assert_eq!(practice.table.bots().len(), 2);
    practice.tell(Input::sit(BEA, "Bea")).unwrap();
    assert!(matches!(practice.table.phase(), Phase::Preparing(_)));
}

#[test]
fn a_table_that_is_abandoned_plays_its_game_to_the_end_and_waits_for_nobody() {
    let mut practice = Practice::tongits();
    practice.ready();
    practice.until(|practice| practice.hint().is_ok());
    practice.tell(Input::Disconnect { player: ANA, connection: HERE }).unwrap();
    practice.until(|practice| practice.table.is_deserted());
    assert!(matches!(practice.table.phase(), Phase::Waiting));
    assert_eq!(practice.table.deadline(), None);
}
