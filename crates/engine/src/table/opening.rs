//! From being ready to the deal (rules 8.1 and 9.1): the seats say ready, the ledger opens the
//! game, and chance begins.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::chance::{ClientSeed, Stream};
use crate::coins::Coins;
use crate::game::Game;
use crate::seat::{Seat, SeatSet};
use crate::table::Table;
use crate::table::event::{Event, Reason};
use crate::table::id::{GameId, PlayerId};
use crate::table::input::{Fresh, Rejection, SEED_BYTES_MAX};
use crate::table::phase::{Opening, Phase, Playing, Preparing};
use crate::table::step::{Events, Refused};

impl<G: Game> Table<G> {
    pub(super) fn ready(
        &mut self,
        player: PlayerId,
        game: GameId,
        seed: Option<&str>,
        events: &mut Events<G>,
    ) -> Result<(), Refused<G>> {
        let seat = self.seated(player)?;
        let Phase::Preparing(preparing) = &mut self.phase else {
            return Err(Rejection::NoSuchPhase);
        };
        if preparing.game != game {
            return Err(Rejection::OtherGame);
        }
        if preparing.ready.contains(seat) {
            return Err(Rejection::AlreadyReady);
        }
        if let Some(seed) = seed {
            if seed.len() > SEED_BYTES_MAX {
                return Err(Rejection::SeedTooLong);
            }
            preparing.client_seeds[seat.index()] = ClientSeed::from_text(seed);
        }
        preparing.ready = preparing.ready.with(seat);
        events.push(Event::Ready { seat });
        self.open_if_ready(events);
        Ok(())
    }

    /// Opens the game that is prepared, if enough sit here and all of them are ready. Those who
    /// play move together first, so that the seats of a game have no gaps.
    pub(super) fn open_if_ready(&mut self, events: &mut Events<G>) {
        let Phase::Preparing(Preparing { game, server_seed, ready, .. }) = self.phase else {
            return;
        };
        let taken: Vec<Seat> = self.occupants().map(|(seat, _)| seat).collect();
        if !self.has_enough() || !taken.iter().all(|seat| ready.contains(*seat)) {
            return;
        }
        let Phase::Preparing(preparing) = &mut self.phase else {
            return;
        };
        let mut client_seeds = core::mem::take(&mut preparing.client_seeds);
        for (to, seat) in Seat::all(self.seat_count()).zip(taken.iter().copied()) {
            if to != seat {
                self.seats.swap(to.index(), seat.index());
                client_seeds.swap(to.index(), seat.index());
                events.push(Event::Moved { seat, to });
            }
        }
        client_seeds.truncate(taken.len());
        self.phase = Phase::Opening(Opening { game, server_seed, client_seeds, since: self.at });
        events.push(Event::Opening { game });
    }

    pub(super) fn opened(
        &mut self,
        game: GameId,
        stakes: &[Coins],
        pot: Coins,
        events: &mut Events<G>,
    ) -> Result<(), Refused<G>> {
        let Phase::Opening(opening) = &self.phase else {
            return Err(Rejection::NoSuchPhase);
        };
        if opening.game != game {
            return Err(Rejection::OtherGame);
        }
        let seats = self.seats_in_game();
        if stakes.len() != usize::from(seats) || pot.is_negative() {
            return Err(Rejection::BadAnswer);
        }
        let key = opening.server_seed.key(game.0.as_bytes(), &opening.client_seeds);
        let starter = self.last_winner.and_then(|player| self.seat_of(player));
        let starter = starter.filter(|seat| seat.number() < seats);
        let state = G::new(&self.terms.rules, seats, starter);
        self.pot = pot;
        let stakes = stakes.to_vec();
        events.push(Event::Opened { game, stakes: stakes.clone(), pot, starter });
        self.phase = Phase::Playing(Box::new(Playing {
            game,
            server_seed: opening.server_seed,
            client_seeds: opening.client_seeds.clone(),
            opened_at: self.at,
            stakes,
            starter,
            state,
            stream: Stream::new(key),
            chance: Vec::new(),
            actions: Vec::new(),
            asked: crate::game::Prompt {
                number: u32::MAX,
                seats: SeatSet::EMPTY,
                countdown: u32::MAX,
                countdown_ms: 0,
            },
            asked_at: self.at,
            deadline: self.at,
        }));
        self.paid_into_pot(game);
        self.advance(events)
    }

    pub(super) fn open_failed(
        &mut self,
        game: GameId,
        seats: SeatSet,
        fresh: Option<Fresh>,
        events: &mut Events<G>,
    ) -> Result<(), Refused<G>> {
        let Phase::Opening(opening) = &self.phase else {
            return Err(Rejection::NoSuchPhase);
        };
        if opening.game != game {
            return Err(Rejection::OtherGame);
        }
        if seats.is_empty() {
            return Err(Rejection::BadAnswer);
        }
        seats.iter().for_each(|seat| self.free(seat, Reason::CannotPay, events));
        self.free_those_who_left(events);
        self.regroup(fresh, events)
    }
}
