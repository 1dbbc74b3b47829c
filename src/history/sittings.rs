//! Sittings: three players at a table of bots, for some games until the POT is empty. They are
//! played on threads of their own, ahead of whoever takes them, and come in one order.

use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use bahay_engine::coins::Coins;
use bahay_engine::games::tongits::{Ending, Event};
use bahay_engine::table::simulation::{Habits, Simulation};
use bahay_engine::table::{Event as TableEvent, PlayerId, Record, Timestamp};

use crate::rooms::Room;
use crate::tables::catalog::Tongits;

/// The fewest games of a sitting; it goes on until somebody takes the POT.
pub(super) const GAMES_MIN: u64 = 16;

/// Now and then somebody lets the clock play, or is cut off and the AI plays on.
const HABITS: Habits = Habits { silent: 4, disconnect: 2, leave: 0, noise: 0 };

/// What the players of a simulation bring: more than they can lose.
const WELCOME_COINS: i64 = 1_000_000_000;

/// A game that was played, and how it ended.
#[derive(Debug)]
pub(super) struct Played {
    pub(super) record: Record<Tongits>,
    pub(super) ending: Ending,
}

/// Sittings to come.
#[derive(Debug)]
pub(super) struct Sittings {
    /// Each thread plays every so many-th of them.
    threads: Vec<Receiver<Vec<Played>>>,
    taken: u64,
    seed: u64,
}

impl Sittings {
    /// As many as `ahead` are played before somebody takes them.
    pub(super) fn start(seed: u64, rooms: Vec<Room>, ahead: usize) -> Self {
        let count = thread::available_parallelism().map_or(1, usize::from) as u64;
        let each = ahead / usize::try_from(count).unwrap_or(1);
        let threads = (0..count).map(|first| {
            let (done, taken) = sync_channel(each);
            let rooms = rooms.clone();
            thread::spawn(move || {
                let mut number = first;
                // Ends when nobody takes sittings any more.
                while done.send(play(mixed(seed, number), &rooms)).is_ok() {
                    number += count;
                }
            });
            taken
        });
        Self { threads: threads.collect(), taken: 0, seed }
    }

    /// The next sitting, of these players, somewhen in the given time. `None` when the thread that
    /// plays it has failed.
    pub(super) fn next(
        &mut self,
        players: &[PlayerId],
        start_ms: i64,
        length_ms: i64,
    ) -> Option<Vec<Played>> {
        let thread = usize::try_from(self.taken % self.threads.len() as u64).ok()?;
        let mut games = self.threads.get(thread)?.recv().ok()?;
        let chance = mixed(self.seed ^ 0x5eed, self.taken) >> 1;
        self.taken += 1;
        let lasts = games.last()?.record.finished_at.ms();
        let room_ms = length_ms.saturating_sub(lasts).max(1);
        let offset = start_ms.checked_add(i64::try_from(chance).ok()? % room_ms)?;
        let first = games.first()?.record.players.clone();
        let renamed = |player: PlayerId| {
            let seat = first.iter().position(|other| *other == player)?;
            players.get(seat).copied()
        };
        for Played { record, .. } in &mut games {
            let later = |at: Timestamp| Timestamp::from_ms(at.ms().saturating_add(offset));
            record.opened_at = later(record.opened_at);
            record.finished_at = later(record.finished_at);
            for taken in &mut record.actions {
                taken.at = later(taken.at);
            }
            for player in &mut record.players {
                *player = renamed(*player)?;
            }
            for crown in [&mut record.crown_before, &mut record.crown_after].into_iter().flatten() {
                crown.player = renamed(crown.player)?;
            }
        }
        Some(games)
    }
}

/// A sitting at which nobody was replaced, which is rare.
fn play(seed: u64, rooms: &[Room]) -> Vec<Played> {
    let mut seed = seed;
    loop {
        let games = play_any(seed, rooms);
        let is_same = |pair: &[Played]| pair[0].record.players == pair[1].record.players;
        if games.windows(2).all(is_same) {
            return games;
        }
        seed = mixed(seed, 0);
    }
}

fn play_any(seed: u64, rooms: &[Room]) -> Vec<Played> {
    // Half of all in the first room, half of the rest in the second, and so on.
    let index = (seed.trailing_ones() as usize).min(rooms.len().saturating_sub(1));
    let Some(room) = rooms.get(index) else {
        return Vec::new();
    };
    let welcome = Coins::from_whole(WELCOME_COINS).unwrap_or_default();
    let mut table = Simulation::<Tongits>::new(seed, room.terms().clone(), HABITS, welcome);
    let mut played = Vec::new();
    let mut ending = None;
    loop {
        let happened = table.step();
        for event in &happened.events {
            if let TableEvent::Game { event: Event::Over { ending: how, .. } } = event {
                ending = Some(*how);
            }
        }
        if let (Some(record), Some(how)) = (happened.record, ending) {
            let is_empty = record.pot_after.is_zero();
            played.push(Played { record, ending: how });
            if is_empty && played.len() as u64 >= GAMES_MIN {
                return played;
            }
        }
    }
}

/// A number that looks like chance (SplitMix64).
pub(super) fn mixed(seed: u64, number: u64) -> u64 {
    let mut z = seed.wrapping_add(number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
