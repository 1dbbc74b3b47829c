//! Tests of lost connections over real sockets (rule 8.3): thirty interruptions of 0.3 to 10 s for
//! each kind of prompt of each game. A player who is back before the AI acts plays the turn, and no
//! action was played for it meanwhile. For any other player, the AI acts in the last second,
//! without a commitment.
//!
//! A run prints its seed; `BAHAY_SEED` repeats a failed run.

mod questions;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bahay::tables::Tables;
use bahay::ws::protocol::Command;
use bahay_bots::table::ai_action;
use bahay_client_tokio::{Client, Play, PlayError};
use bahay_engine::catalog::{AnyAction, AnyGame};
use bahay_engine::chance::{ChanceRng, Key};
use bahay_engine::game::{Game as _, Viewer};
use bahay_engine::hex::Hex;
use bahay_engine::seat::Seat;
use bahay_engine::table::{
    ActionOrigin, GameId, Input, Phase, Playing, RecordedAction, Table, TableId,
};
use futures_util::{StreamExt as _, stream};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use self::questions::{RoomPlan, choose_action, prompt_kind};
use crate::support::checks::read_record;
use crate::support::house::{House, Setup, guest_at, join_table};
use crate::support::play::{TestPlay as _, rejoin};

const TABLES: usize = 30;

/// The duration of an interruption, in milliseconds.
const CUT_MS: core::ops::Range<usize> = 300..10_000;

/// The time before the end of a countdown at which the AI answers for a player who is away, in
/// milliseconds.
const LAST_MS: i64 = 1_000;

/// The interval between two steps at a table, which keeps every client below its rate limit.
const PACE: Duration = Duration::from_millis(60);

/// The deadline of the test, which prevents it from hanging.
const PATIENCE: Duration = Duration::from_secs(600);

/// An interruption, and the origin of the answer to the prompt during which it happened.
#[derive(Clone, Copy, Debug)]
struct Cut {
    kind: &'static str,
    length_ms: usize,
    by: ActionOrigin,
}

/// A table whose players are interrupted once in each kind of prompt.
struct Round {
    table: TableId,
    tables: Tables<AnyGame>,
    /// The players; `None` while a connection is interrupted.
    players: Vec<(Client, Option<Play>)>,
    remaining_kinds: Vec<&'static str>,
    dice: ChanceRng,
    cuts: Vec<Cut>,
}

impl Round {
    async fn run(mut self) -> Vec<Cut> {
        while !self.remaining_kinds.is_empty() {
            let now = self.read_table().await;
            match now.phase() {
                Phase::Preparing(preparing) => self.send_ready(preparing.game).await,
                Phase::Playing(playing) => match self.next_cut(&now, playing) {
                    Some((seat, kind)) => self.interrupt(&now, playing, seat, kind).await,
                    None => self.answer_first_prompt(&now, playing).await,
                },
                Phase::Waiting | Phase::Opening(_) | Phase::Revealing(_) | Phase::Settling(_) => {}
            }
            self.receive_messages().await;
            sleep(PACE).await;
        }
        self.cuts
    }

    async fn read_table(&self) -> Arc<Table<AnyGame>> {
        self.tables.read_table(self.table).await.unwrap().expect("the table exists")
    }

    /// Receives the pending messages of all connected players.
    async fn receive_messages(&mut self) {
        for play in self.players.iter_mut().filter_map(|(_, play)| play.as_mut()) {
            while let Ok(message) = timeout(Duration::from_millis(1), play.next()).await {
                message.unwrap();
            }
        }
    }

    /// Sends a command of a player, and returns whether the table accepted it.
    async fn send_command(
        &mut self,
        place: usize,
        command: impl FnOnce(u32) -> Command<AnyAction>,
    ) -> bool {
        let play = self.players[place].1.as_mut().expect("the player is connected");
        match play.execute(command).await {
            Ok(()) => true,
            Err(PlayError::Refused { .. }) => false,
            Err(error) => panic!("{error}"),
        }
    }

    async fn send_ready(&mut self, game: GameId) {
        for place in 0..self.players.len() {
            self.send_command(place, |id| Command::Ready { id, game, commitment: None }).await;
        }
    }

    fn player_index(&self, table: &Table<AnyGame>, seat: Seat) -> usize {
        let player = table.occupant(seat).expect("a prompted seat is occupied").player;
        let mut players = self.players.iter();
        let index = players.position(|(client, _)| client.player() == player);
        index.expect("the occupant is a player of this round")
    }

    /// Answers the prompt for the first prompted seat.
    async fn answer_first_prompt(&mut self, now: &Table<AnyGame>, playing: &Playing<AnyGame>) {
        if let Some(seat) = playing.prompt.seats.iter().next() {
            self.answer_prompt(now, playing, seat).await;
        }
    }

    /// Answers the prompt for a seat. Returns false if the table refuses the action because the
    /// clock was faster.
    async fn answer_prompt(
        &mut self,
        now: &Table<AnyGame>,
        playing: &Playing<AnyGame>,
        seat: Seat,
    ) -> bool {
        let Some(Input::AiAction { game, prompt, action, .. }) = ai_action(now, seat) else {
            panic!("the AI has no answer: {:?}", playing.prompt);
        };
        let action = choose_action(&playing.state, seat, action, &mut self.dice);
        let place = self.player_index(now, seat);
        self.send_command(place, |id| Command::Act { id, game, prompt, action }).await
    }

    /// Returns a connected seat whose kind of prompt has not been interrupted yet at this table.
    fn next_cut(
        &self,
        now: &Table<AnyGame>,
        playing: &Playing<AnyGame>,
    ) -> Option<(Seat, &'static str)> {
        let seats = playing.prompt.seats.difference(now.taken_over_seats().union(now.away_seats()));
        let kinds = seats.iter().map(|seat| (seat, prompt_kind(&playing.state, seat)));
        kinds.into_iter().find(|(_, kind)| self.remaining_kinds.contains(kind))
    }

    async fn interrupt(
        &mut self,
        before: &Table<AnyGame>,
        asked: &Playing<AnyGame>,
        seat: Seat,
        kind: &'static str,
    ) {
        let place = self.player_index(before, seat);
        let length_ms = CUT_MS.start + self.dice.below(CUT_MS.len());
        let known = self.players[place].1.take().expect("the player is connected");
        let (known, lost) = (known.drop_connection(), Instant::now());
        while lost.elapsed() < Duration::from_millis(length_ms as u64) {
            self.receive_messages().await;
            sleep(Duration::from_millis(20)).await;
        }
        let back = rejoin(&self.players[place].0, known).await;
        self.players[place].1 = Some(back);

        let by = self.check_answer(before, asked, seat).await;
        self.remaining_kinds.retain(|remaining| *remaining != kind);
        self.cuts.push(Cut { kind, length_ms, by });
    }

    /// Answers the prompt after an interruption if it is still open, checks the recorded answer,
    /// and returns its origin.
    async fn check_answer(
        &mut self,
        before: &Table<AnyGame>,
        asked: &Playing<AnyGame>,
        seat: Seat,
    ) -> ActionOrigin {
        let actions_of_seat = |actions: Vec<RecordedAction<AnyAction>>| {
            let actions = actions.into_iter().filter(move |taken| taken.seat == seat);
            actions.collect::<Vec<_>>()
        };
        let played = actions_of_seat(asked.actions.iter().cloned().collect()).len();
        let now = self.read_table().await;
        if let Phase::Playing(playing) = now.phase()
            && (playing.game, playing.prompt.number) == (asked.game, asked.prompt.number)
            && playing.prompt.seats.contains(seat)
        {
            let meanwhile = actions_of_seat(playing.actions.iter().cloned().collect());
            assert_eq!(meanwhile.len(), played, "no action was played for the seat: {meanwhile:?}");
            assert_eq!(playing.deadline, asked.deadline, "the countdown is unchanged");
            self.answer_prompt(&now, playing, seat).await;
        }
        let place = self.player_index(before, seat);
        let client = self.players[place].0.clone();
        let actions = self.read_actions(&client, asked.game).await;
        let answer = actions_of_seat(actions).swap_remove(played);
        let deadline_ms = asked.deadline.ms();
        match answer.by {
            ActionOrigin::Player => {}
            ActionOrigin::Clock => {
                assert!(answer.at.ms() >= deadline_ms, "{answer:?}, deadline {deadline_ms}")
            }
            ActionOrigin::Ai => {
                let last_ms = deadline_ms - LAST_MS;
                assert!(answer.at.ms() >= last_ms, "{answer:?}, deadline {deadline_ms}");
                let view = asked.state.view(Viewer::Seat(seat));
                assert!(!AnyGame::is_commitment(&view, &answer.action), "{answer:?}");
            }
        }
        answer.by
    }

    /// Returns the actions of a game, which may be over.
    async fn read_actions(&self, client: &Client, game: GameId) -> Vec<RecordedAction<AnyAction>> {
        let now = self.read_table().await;
        match now.phase() {
            Phase::Playing(playing) if playing.game == game => {
                playing.actions.iter().cloned().collect()
            }
            Phase::Settling(settling) if settling.record.game == game => {
                settling.record.actions.clone()
            }
            _ => read_record(client, game).await.actions,
        }
    }
}

/// Interrupts players at thirty tables at once, until each table has interrupted every kind of
/// prompt.
async fn check_interruptions(plan: RoomPlan) {
    let given = std::env::var("BAHAY_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed: u64 = given.unwrap_or(8_003);
    println!("BAHAY_SEED={seed}");
    let setup = Setup { rooms: questions::rooms(), ..Setup::default() };
    let mut house = House::with_setup(setup).await;
    let base = house.base.as_str();
    let arriving = (0..TABLES * plan.seats)
        .map(async |number| guest_at(base, &format!("Tala {number}")).await);
    // More sign-ins at once would wait longer for the database than the server lets them.
    let mut guests: Vec<_> = stream::iter(arriving).buffered(8).collect().await;
    // These tables are read independently of the node.
    let (tables, _tasks, _publications) = house.tables().await;
    let mut rounds = JoinSet::new();
    for number in 0..TABLES {
        let mut players = Vec::new();
        let mut seated = Vec::new();
        for client in guests.drain(..plan.seats) {
            seated.push(client.seat(plan.room).await.unwrap());
            let play = join_table(&client).await;
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
            remaining_kinds: plan.kinds.to_vec(),
            dice: ChanceRng::new(Key(Hex(key))),
            cuts: Vec::new(),
        };
        rounds.spawn(round.run());
    }
    let cuts = timeout(PATIENCE, rounds.join_all()).await.expect("every kind of prompt occurs");
    let mut by_kind: BTreeMap<&str, Vec<Cut>> = BTreeMap::new();
    for cut in cuts.into_iter().flatten() {
        by_kind.entry(cut.kind).or_default().push(cut);
    }
    assert_eq!(by_kind.len(), plan.kinds.len());
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
async fn a_lost_connection_costs_no_turn_at_tongits() {
    check_interruptions(questions::TONGITS).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_connection_costs_no_turn_at_tongo_options() {
    check_interruptions(questions::OPTIONS).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_connection_costs_no_turn_at_tongo_assets() {
    check_interruptions(questions::ASSETS).await;
}
