//! Lost lines over real sockets (rule 8.3): thirty cuts of 0.3 to 10 s in each kind of question of each
//! game. Whoever is back before the AI acts plays the turn, and nothing was played meanwhile; whoever
//! is not was played for in the last second, without a commitment.
//!
//! A run that fails prints its seed; `BAHAY_SEED` repeats one.

mod questions;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bahay::client::{Client, Play, PlayError};
use bahay::clock::Clock;
use bahay::ledger::{Ledger, LedgerOptions};
use bahay::tables::Tables;
use bahay::ws::protocol::Command;
use bahay_engine::catalog::{AnyAction, AnyGame};
use bahay_engine::chance::{ChanceRng, Key};
use bahay_engine::game::{Game as _, Viewer};
use bahay_engine::hex::Hex;
use bahay_engine::seat::Seat;
use bahay_engine::table::{
    ActionOrigin, GameId, Input, Phase, Playing, Readable as _, RecordedAction, Table, TableId,
};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use self::questions::{Played, choose, kind};
use crate::support::house::{House, Setup, guest_at, joined};

const TABLES: usize = 30;

/// How long a connection is lost, in milliseconds.
const CUT_MS: core::ops::Range<usize> = 300..10_000;

/// How long before the end of a countdown the AI answers for a player who is away, in milliseconds.
const LAST_MS: i64 = 1_000;

/// Between two things that happen at a table, so that nobody says too much at once.
const PACE: Duration = Duration::from_millis(60);

/// No test hangs.
const PATIENCE: Duration = Duration::from_secs(600);

/// A cut, and who answered the question in which it fell.
#[derive(Clone, Copy, Debug)]
struct Cut {
    kind: &'static str,
    length_ms: usize,
    by: ActionOrigin,
}

/// A table whose players are cut off, once in each kind of question.
struct Round {
    table: TableId,
    tables: Tables<AnyGame>,
    /// Without a connection while that is lost.
    players: Vec<(Client, Option<Play>)>,
    wanted: Vec<&'static str>,
    dice: ChanceRng,
    cuts: Vec<Cut>,
}

impl Round {
    async fn run(mut self) -> Vec<Cut> {
        while !self.wanted.is_empty() {
            let now = self.look().await;
            match now.phase() {
                Phase::Preparing(preparing) => self.ready(preparing.game).await,
                Phase::Playing(playing) => match self.next_cut(&now, playing) {
                    Some((seat, kind)) => self.cut(&now, playing, seat, kind).await,
                    None => self.act(&now, playing).await,
                },
                Phase::Waiting | Phase::Opening(_) | Phase::Revealing(_) | Phase::Settling(_) => {}
            }
            self.hear().await;
            sleep(PACE).await;
        }
        self.cuts
    }

    async fn look(&self) -> Arc<Table<AnyGame>> {
        self.tables.read_table(self.table).await.unwrap().expect("the table is there")
    }

    /// Takes in what was said to those who are connected.
    async fn hear(&mut self) {
        for play in self.players.iter_mut().filter_map(|(_, play)| play.as_mut()) {
            while let Ok(told) = timeout(Duration::from_millis(1), play.next()).await {
                told.unwrap();
            }
        }
    }

    /// Says something for a player; false where the table refuses it.
    async fn say(&mut self, place: usize, command: impl FnOnce(u32) -> Command<AnyAction>) -> bool {
        let play = self.players[place].1.as_mut().expect("the player is connected");
        let said = play.send(command).await.unwrap();
        match play.wait_for_answer(said).await {
            Ok(_) => true,
            Err(PlayError::Refused { .. }) => false,
            Err(error) => panic!("{error}"),
        }
    }

    async fn ready(&mut self, game: GameId) {
        for place in 0..self.players.len() {
            self.say(place, |id| Command::Ready { id, game, commitment: None }).await;
        }
    }

    fn place(&self, table: &Table<AnyGame>, seat: Seat) -> usize {
        let player = table.occupant(seat).expect("somebody is asked").player;
        let mut players = self.players.iter();
        players.position(|(client, _)| client.player() == player).expect("a player of the table")
    }

    /// Whoever is asked first acts.
    async fn act(&mut self, now: &Table<AnyGame>, playing: &Playing<AnyGame>) {
        if let Some(seat) = playing.prompt.seats.iter().next() {
            self.act_for(now, playing, seat).await;
        }
    }

    /// False where the table refuses it, because the clock was faster.
    async fn act_for(
        &mut self,
        now: &Table<AnyGame>,
        playing: &Playing<AnyGame>,
        seat: Seat,
    ) -> bool {
        let Some(Input::AiAction { game, prompt, action, .. }) = now.ai_action(seat) else {
            panic!("the AI has no answer: {:?}", playing.prompt);
        };
        let action = choose(&playing.state, seat, action, &mut self.dice);
        let place = self.place(now, seat);
        self.say(place, |id| Command::Act { id, game, prompt, action }).await
    }

    /// A seat that is asked something in which nobody here has been cut off.
    fn next_cut(
        &self,
        now: &Table<AnyGame>,
        playing: &Playing<AnyGame>,
    ) -> Option<(Seat, &'static str)> {
        let seats = playing.prompt.seats.difference(now.taken_over_seats().union(now.away_seats()));
        let kinds = seats.iter().map(|seat| (seat, kind(&playing.state, seat)));
        kinds.into_iter().find(|(_, kind)| self.wanted.contains(kind))
    }

    async fn cut(
        &mut self,
        before: &Table<AnyGame>,
        asked: &Playing<AnyGame>,
        seat: Seat,
        kind: &'static str,
    ) {
        let place = self.place(before, seat);
        let length_ms = CUT_MS.start + self.dice.below(CUT_MS.len());
        let known = self.players[place].1.take().expect("the player is connected");
        let (known, lost) = (known.drop_connection(), Instant::now());
        while lost.elapsed() < Duration::from_millis(length_ms as u64) {
            self.hear().await;
            sleep(Duration::from_millis(20)).await;
        }
        let mut back = self.players[place].0.play().await.unwrap();
        back.resume(known);
        let joining = back.join().await.unwrap();
        back.wait_for_answer(joining).await.unwrap();
        self.players[place].1 = Some(back);

        let by = self.answered(before, asked, seat).await;
        self.wanted.retain(|wanted| *wanted != kind);
        self.cuts.push(Cut { kind, length_ms, by });
    }

    /// Who answers the question after a cut: the player, if it is still open, and else who did.
    async fn answered(
        &mut self,
        before: &Table<AnyGame>,
        asked: &Playing<AnyGame>,
        seat: Seat,
    ) -> ActionOrigin {
        let of_seat = |actions: Vec<RecordedAction<AnyAction>>| {
            let actions = actions.into_iter().filter(move |taken| taken.seat == seat);
            actions.collect::<Vec<_>>()
        };
        let played = of_seat(asked.actions.iter().cloned().collect()).len();
        let now = self.look().await;
        if let Phase::Playing(playing) = now.phase()
            && (playing.game, playing.prompt.number) == (asked.game, asked.prompt.number)
            && playing.prompt.seats.contains(seat)
        {
            let meanwhile = of_seat(playing.actions.iter().cloned().collect());
            assert_eq!(meanwhile.len(), played, "something was played for the seat: {meanwhile:?}");
            assert_eq!(playing.deadline, asked.deadline, "the countdown has changed");
            self.act_for(&now, playing, seat).await;
        }
        let place = self.place(before, seat);
        let client = self.players[place].0.clone();
        let answer = of_seat(self.actions(&client, asked.game).await).swap_remove(played);
        let deadline_ms = asked.deadline.ms();
        match answer.by {
            ActionOrigin::Player => {}
            ActionOrigin::Clock => {
                assert!(answer.at.ms() >= deadline_ms, "{answer:?}, until {deadline_ms}")
            }
            ActionOrigin::Ai => {
                let last_ms = deadline_ms - LAST_MS;
                assert!(answer.at.ms() >= last_ms, "{answer:?}, until {deadline_ms}");
                let view = asked.state.view(Viewer::Seat(seat));
                assert!(!AnyGame::is_commitment(&view, &answer.action), "{answer:?}");
            }
        }
        answer.by
    }

    /// What was played in a game, which may be over.
    async fn actions(&self, client: &Client, game: GameId) -> Vec<RecordedAction<AnyAction>> {
        let now = self.look().await;
        match now.phase() {
            Phase::Playing(playing) if playing.game == game => {
                playing.actions.iter().cloned().collect()
            }
            Phase::Settling(settling) if settling.record.game == game => {
                settling.record.actions.clone()
            }
            _ => {
                let record = client.record(game).await.unwrap();
                AnyGame::read_record(&record.to_string()).unwrap().actions
            }
        }
    }
}

/// Cuts off players at thirty tables at once, until it was done in each kind of question.
async fn cut_off(played: Played) {
    let given = std::env::var("BAHAY_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed: u64 = given.unwrap_or(8_003);
    println!("BAHAY_SEED={seed}");
    let mut house = House::with(Setup { rooms: questions::rooms(), ..Setup::default() }).await;
    let mut arriving = JoinSet::new();
    for number in 0..TABLES * played.seats {
        let base = house.base.clone();
        arriving.spawn(async move { guest_at(&base, &format!("Tala {number}")).await });
    }
    let mut guests = arriving.join_all().await;
    // Looks at tables beside the node.
    let (live, _publications) = house.live.connect().await;
    let (ledger, _tasks) = Ledger::start(house.pool.clone(), LedgerOptions::default());
    let tables = Tables::new(live, ledger, Clock::system(), house.pool.clone());
    let mut rounds = JoinSet::new();
    for number in 0..TABLES {
        let mut players = Vec::new();
        let mut seated = Vec::new();
        for client in guests.drain(..played.seats) {
            seated.push(client.seat(played.room).await.unwrap());
            let play = joined(&client).await;
            players.push((client, Some(play)));
        }
        assert!(seated.iter().all(|table| *table == seated[0]), "{seated:?}");
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8] = u8::try_from(number).unwrap();
        let round = Round {
            table: seated[0],
            tables: tables.clone(),
            players,
            wanted: played.kinds.to_vec(),
            dice: ChanceRng::new(Key(Hex(key))),
            cuts: Vec::new(),
        };
        rounds.spawn(round.run());
    }
    let cuts = timeout(PATIENCE, rounds.join_all()).await.expect("all kinds of questions come up");
    let mut by_kind: BTreeMap<&str, Vec<Cut>> = BTreeMap::new();
    for cut in cuts.into_iter().flatten() {
        by_kind.entry(cut.kind).or_default().push(cut);
    }
    assert_eq!(by_kind.len(), played.kinds.len());
    for (kind, cuts) in by_kind {
        let count = |by| cuts.iter().filter(|cut| cut.by == by).count();
        let (back, stood_in, clock) =
            (count(ActionOrigin::Player), count(ActionOrigin::Ai), count(ActionOrigin::Clock));
        let in_time = cuts.iter().filter(|cut| cut.by == ActionOrigin::Player);
        let longest_ms = in_time.map(|cut| cut.length_ms).max().unwrap_or_default();
        println!(
            "{kind}: {back} back in time after at most {longest_ms} ms, {stood_in} by the AI, \
             {clock} by the clock"
        );
        assert_eq!(cuts.len(), TABLES, "{kind}");
        assert!(back > 0 && stood_in > 0, "{kind}: {cuts:?}");
    }
    house.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_line_costs_no_turn_at_tongits() {
    cut_off(questions::TONGITS).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_line_costs_no_turn_at_tongo_options() {
    cut_off(questions::OPTIONS).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_line_costs_no_turn_at_tongo_assets() {
    cut_off(questions::ASSETS).await;
}
