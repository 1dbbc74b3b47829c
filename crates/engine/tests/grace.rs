//! Rule 8.3 in random play of every kind: connections come and go at any time, and the AI's actions
//! are compared with an independent statement of the rule.
//!
//! A run that fails prints its seed; `BAHAY_SEED` repeats one.

use std::cell::Cell;
use std::collections::BTreeMap;

use bahay_bots::Ai;
use bahay_bots::table::ai_action;
use bahay_engine::chance::{ChanceRng, Key, ServerSeed};
use bahay_engine::game::{Game, GameKind, Skill, Viewer};
use bahay_engine::games::{tongits, tongo_assets, tongo_options};
use bahay_engine::hex::Hex;
use bahay_engine::seat::Seat;
use bahay_engine::table::{
    Clocks, ConnectionId, Effect, GameEntropy, GameId, Input, Line, Phase, PlayerId, Playing,
    Rejection, Table, TableId, Terms, Timestamp,
};
use bahay_engine::variants;
use uuid::Uuid;

use crate::support::with_each_seed;

const GRACE_MS: u32 = 15_000;
const THINK_MS: u32 = 1_000;
const LAST_MS: i64 = 1_000;

/// The longest pause between two player actions, in ms.
const PAUSE_MS: usize = 3_000;

/// The counts of a run.
#[derive(Debug, Default)]
struct GraceCounts {
    /// Answers of the AI within the grace, and after it.
    within: usize,
    after: usize,
    /// Answers within the grace where the AI would have committed a seat that is taken over.
    held_back: usize,
    /// Answers of players who were away during the countdown that they answered in.
    back_in_time: usize,
}

/// Returns true if an action commits a seat of its own accord, as the page of the game says.
type Commits<G> = fn(&<G as Game>::View, &<G as Game>::Action) -> bool;

struct House<G: Ai + Game> {
    table: Table<G>,
    commits: Commits<G>,
    now: Timestamp,
    dice: ChanceRng,
    ids: u64,
    /// The time at which each absent player lost the connection.
    lost_at: BTreeMap<PlayerId, Timestamp>,
    connections: BTreeMap<PlayerId, ConnectionId>,
    /// The players who have lost the connection during the current countdown.
    interrupted: Vec<PlayerId>,
    seen: GraceCounts,
}

impl<G: Ai + GameKind> House<G> {
    fn new(seed: u64, rule_set: &str, commits: Commits<G>) -> Self {
        let set = G::rule_sets().iter().find(|set| set.name == rule_set);
        let rules = (set.expect("there is such a rule set").rules)();
        // Practice tables need no ledger, so time alone opens and settles a game.
        let terms = Terms::for_practice("grace", rules, Clocks::default());
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        Self {
            table: Table::new(TableId(Uuid::from_u64_pair(seed, 0)), terms),
            commits,
            now: Timestamp::from_ms(0),
            dice: ChanceRng::new(Key(Hex(key))),
            ids: 0,
            lost_at: BTreeMap::new(),
            connections: BTreeMap::new(),
            interrupted: Vec::new(),
            seen: GraceCounts::default(),
        }
    }

    fn id(&mut self) -> Uuid {
        self.ids += 1;
        Uuid::from_u64_pair(7, self.ids)
    }

    /// Applies an input and checks its effects. Returns false if the table refuses it.
    fn tell(&mut self, input: Input<G::Action>) -> bool {
        let seed = core::array::from_fn(|_| u8::try_from(self.dice.below(256)).expect("a byte"));
        let fresh = GameEntropy { seed: ServerSeed(Hex(seed)), game: GameId(self.id()) };
        let told = match self.table.decide(self.now, input, || fresh) {
            Ok(told) => told,
            Err(Rejection::NeedsEntropy) => panic!("a fresh game was given"),
            Err(_) => return false,
        };
        let before = core::mem::replace(&mut self.table, told.table);
        self.check(&before, &told.line);
        true
    }

    fn check(&mut self, before: &Table<G>, line: &Line<G::Action>) {
        match &line.input {
            Input::Sit { player, .. } | Input::Disconnect { player, .. } => {
                self.lost_at.insert(*player, line.at);
                self.interrupted.push(*player);
            }
            Input::Connect { player, .. } => {
                self.lost_at.remove(player);
            }
            Input::Act { player, .. } => {
                self.seen.back_in_time += usize::from(self.interrupted.contains(player));
            }
            Input::AiAction { player, action, .. } => {
                self.check_ai(before, *player, action, line.at);
            }
            Input::Tick => {
                let played = |table: &Table<G>| match table.phase() {
                    Phase::Playing(playing) => Some((playing.game, playing.prompt.number)),
                    _ => None,
                };
                let is_early = |playing: &Playing<G>| line.at < playing.deadline;
                if matches!(before.phase(), Phase::Playing(playing) if is_early(playing)) {
                    assert_eq!(played(before), played(&self.table), "the clock plays early");
                }
            }
            _ => {}
        }
        self.check_countdown(before, line.at);
    }

    /// Checks that a countdown is as long for an absent player as for any other.
    fn check_countdown(&mut self, before: &Table<G>, at: Timestamp) {
        let Phase::Playing(now) = self.table.phase() else { return };
        if let Phase::Playing(before) = before.phase()
            && (before.game, before.prompt.countdown) == (now.game, now.prompt.countdown)
        {
            assert_eq!(before.deadline, now.deadline, "a countdown has changed its end");
            return;
        }
        self.interrupted.clear();
        assert_eq!(now.deadline, at.after_ms(now.prompt.countdown_ms));
    }

    fn check_ai(&mut self, before: &Table<G>, player: PlayerId, action: &G::Action, at: Timestamp) {
        let Phase::Playing(playing) = before.phase() else { panic!("no game goes on") };
        let seat = before.seat_of(player).expect("the player sits here");
        let occupant = before.occupant(seat).expect("the player sits here");
        let has_thought = |since: Timestamp| since.after_ms(THINK_MS) <= at;
        let is_last = playing.deadline.ms() - LAST_MS <= at.ms();
        if occupant.left || occupant.missed_turns >= 2 {
            assert!(has_thought(playing.asked_at) || is_last, "no time to think");
            return;
        }
        let lost_at = self.lost_at.get(&player).expect("the AI plays for who is there");
        let grace_end = lost_at.after_ms(GRACE_MS);
        if at >= grace_end {
            let since = playing.asked_at.max(grace_end);
            assert!(has_thought(since) || is_last, "no time to think after the grace");
            self.seen.after += 1;
            return;
        }
        assert!(is_last, "the AI plays within the grace at {at:?}, asked until {playing:?}");
        let view = playing.state.view(Viewer::Seat(seat));
        assert!(!(self.commits)(&view, action), "a commitment for who is away: {action:?}");
        let shown = before.events_seen_by(seat);
        let wanted = G::choose_action_with_memory(Skill::Quick, &view, &mut shown.iter());
        let is_commitment = wanted.is_some_and(|action| (self.commits)(&view, &action));
        self.seen.held_back += usize::from(is_commitment);
        self.seen.within += 1;
    }

    /// Advances to the next deadline, or to an earlier player action.
    fn step(&mut self) {
        let pause_ms = u32::try_from(self.dice.below(PAUSE_MS)).expect("a short pause");
        let next = self.now.after_ms(pause_ms);
        match self.table.deadline() {
            Some(deadline) if deadline <= next => {
                self.now = self.now.max(deadline);
                self.run_effects();
            }
            _ => {
                self.now = next;
                self.do_something();
            }
        }
    }

    fn run_effects(&mut self) {
        let effects = self.table.effects(self.now).into_iter();
        let inputs: Vec<Input<G::Action>> = effects
            .filter_map(|effect| match effect {
                Effect::Tick => Some(Input::Tick),
                Effect::ChooseAction { seat, .. } => ai_action(&self.table, seat),
                variants!(Effect: Open, Settle, Report, RefundPot) => None,
            })
            .collect();
        assert!(!inputs.is_empty(), "a deadline at which nothing is due");
        for input in inputs {
            self.tell(input);
        }
    }

    fn do_something(&mut self) {
        if self.table.seats_free() > 0 && !self.table.phase().is_running() {
            let player = PlayerId(self.id());
            self.tell(Input::sit(player, "Tala"));
            self.connect(player);
            return;
        }
        let players: Vec<PlayerId> =
            self.table.occupants().map(|(_, occupant)| occupant.player).collect();
        let player = players[self.dice.below(players.len())];
        let is_there = !self.lost_at.contains_key(&player);
        match (self.table.phase(), self.dice.below(8)) {
            (_, 0) if is_there => self.disconnect(player),
            (_, 0..3) if !is_there => self.connect(player),
            (Phase::Preparing(preparing), _) if is_there => {
                let game = preparing.game;
                self.tell(Input::Ready { player, game, commitment: None });
            }
            (Phase::Playing(playing), 1..4) => {
                let asked: Vec<Seat> = playing.prompt.seats.iter().collect();
                asked.into_iter().for_each(|seat| self.act(seat));
            }
            _ => {}
        }
    }

    /// Lets the present player of a seat act.
    fn act(&mut self, seat: Seat) {
        let Some(Input::AiAction { player, game, prompt, action }) = ai_action(&self.table, seat)
        else {
            return;
        };
        if !self.lost_at.contains_key(&player) {
            self.tell(Input::Act { player, game, prompt, action });
        }
    }

    fn connect(&mut self, player: PlayerId) {
        let connection = ConnectionId(self.id());
        self.connections.insert(player, connection);
        self.tell(Input::Connect { player, connection });
    }

    fn disconnect(&mut self, player: PlayerId) {
        if let Some(connection) = self.connections.remove(&player) {
            self.tell(Input::Disconnect { player, connection });
        }
    }
}

/// Plays a number of steps of each seed, and checks that all kinds of answers occurred.
fn play<G: Ai + GameKind>(rule_set: &str, steps: usize, commits: Commits<G>) {
    let all = Cell::new(GraceCounts::default());
    with_each_seed(4, |seed| {
        let mut house = House::<G>::new(seed, rule_set, commits);
        house.seen = all.take();
        for _ in 0..steps {
            house.step();
        }
        all.set(house.seen);
    });
    let all = all.take();
    println!("{rule_set}: {all:?}");
    assert!(all.within > 20 && all.after > 20 && all.back_in_time > 20, "{all:?}");
    assert!(all.held_back > 0, "{all:?}");
}

#[test]
fn at_tongits_who_is_away_has_the_countdown_and_no_fight_is_called() {
    play::<tongits::Tongits>("kingdom", 6_000, |_, action| {
        matches!(action, tongits::Action::Fight)
    });
}

#[test]
fn at_tongo_options_who_is_away_has_the_countdown_and_nothing_is_claimed() {
    use tongo_options::Action;
    play::<tongo_options::TongoOptions>("lively", 6_000, |view, action| match action {
        Action::Acquire | Action::Confront { target: Some(_) } => true,
        Action::ConvertReserves => view.public.reserves.is_none(),
        _ => false,
    });
}

#[test]
fn at_tongo_assets_who_is_away_has_the_countdown_and_nothing_is_raised() {
    use tongo_assets::{Action, Phase};
    play::<tongo_assets::TongoAssets>("standard", 6_000, |view, action| {
        let public = &view.public;
        let least = if public.rounds == 0 { 1 } else { public.risk };
        match action {
            Action::Confront => matches!(public.phase, Phase::Assess { .. }),
            Action::Open { risk, .. } => *risk > least,
            variants!(Action: Acquire, Raise, RaiseConfront, Index, Bribe) => true,
            _ => false,
        }
    });
}
