//! The opening of a game, from readiness to the deal (rules 8.1, 9.1 and 9.1a): the seats become
//! ready, their clients commit to seeds, the ledger opens the game, the clients reveal their texts,
//! and chance begins.
//!
//! The ledger opens the game before the texts are revealed, because it may refuse, and a game whose
//! seeds are known must not be undone. From then on the phase can only end with the deal. A client
//! that leaves or loses its connection can still reveal its text until the deadline; after it, the
//! commitment takes the place of the seed.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec;

use crate::chance::{Commitment, Contribution, Stream};
use crate::coins::Coins;
use crate::game::Game;
use crate::seat::{Seat, SeatSet};
use crate::table::Table;
use crate::table::event::{Event, Reason};
use crate::table::id::{GameId, PlayerId};
use crate::table::input::{GameEntropy, Rejection, TEXT_BYTES_MAX};
use crate::table::phase::{Opening, Phase, Playing, Preparing, Revealing};
use crate::table::shared_list::SharedList;
use crate::table::step::{Events, TableResult};

/// The time in which clients may reveal their texts, in milliseconds (rule 9.1). No room may change
/// it: without enough time to reveal, the last client to commit could choose the deal.
pub const REVEAL_MS: u32 = 2_000;

impl<G: Game> Table<G> {
    pub(super) fn mark_ready(
        &mut self,
        player: PlayerId,
        game: GameId,
        commitment: Option<Commitment>,
        events: &mut Events<G>,
    ) -> TableResult<G> {
        let seat = self.require_seat(player)?;
        let Phase::Preparing(preparing) = &mut self.phase else {
            return Err(Rejection::NoSuchPhase);
        };
        Self::check_game(preparing.game, game)?;
        Self::require(!preparing.ready.contains(seat), Rejection::AlreadyReady)?;
        let commitment = commitment.filter(|_| !self.terms.has_shared_deals());
        preparing.commitments[seat.index()] = commitment.unwrap_or(Commitment::NONE);
        preparing.ready = preparing.ready.with(seat);
        let is_last = self.is_everybody_ready();
        if is_last {
            self.close_gaps(events);
        }
        // A line is redacted for the seats that the players have after it.
        let seat = self.require_seat(player)?;
        events.push(Event::Ready { seat });
        if is_last {
            self.begin_opening(events);
        }
        Ok(())
    }

    /// Opens the prepared game if enough players are seated and all of them are ready.
    pub(super) fn open_if_ready(&mut self, events: &mut Events<G>) {
        if self.is_everybody_ready() {
            self.close_gaps(events);
            self.begin_opening(events);
        }
    }

    /// Returns true if a game is prepared, enough players are seated and all of them are ready.
    fn is_everybody_ready(&self) -> bool {
        let Phase::Preparing(preparing) = &self.phase else { return false };
        self.has_enough_players() && preparing.ready.contains_all(self.taken_seats())
    }

    /// Moves the players together, so that the seats of the prepared game have no gaps.
    fn close_gaps(&mut self, events: &mut Events<G>) {
        let all = Seat::all(self.seat_count());
        let taken = self.taken_seats();
        let Phase::Preparing(preparing) = &mut self.phase else { return };
        for (to, seat) in all.zip(taken.iter()) {
            if to != seat {
                self.seats.swap(to.index(), seat.index());
                preparing.commitments.swap(to.index(), seat.index());
                events.push(Event::Moved { seat, to });
            }
        }
    }

    /// Opens the prepared game, whose seats have no gaps.
    fn begin_opening(&mut self, events: &mut Events<G>) {
        let seats = self.taken_seats().len();
        let Phase::Preparing(preparing) = &mut self.phase else { return };
        let Preparing { game, server_seed, .. } = *preparing;
        let mut commitments = core::mem::take(&mut preparing.commitments);
        commitments.truncate(seats);
        self.phase = Phase::Opening(Opening { game, server_seed, commitments, since: self.at });
        events.push(Event::Opening { game });
    }

    pub(super) fn begin_revealing(
        &mut self,
        game: GameId,
        stakes: &[Coins],
        pot: Coins,
        events: &mut Events<G>,
    ) -> TableResult<G> {
        let Phase::Opening(opening) = &mut self.phase else { return Err(Rejection::NoSuchPhase) };
        Self::check_game(opening.game, game)?;
        let is_one_a_seat = stakes.len() == opening.commitments.len();
        let fits = is_one_a_seat && self.terms.allows_stakes(stakes) && !pot.is_negative();
        Self::require(fits, Rejection::BadAnswer)?;
        let commitments = core::mem::take(&mut opening.commitments);
        let revealing = Revealing {
            game,
            server_seed: opening.server_seed,
            clients: commitments.iter().map(|sent| Contribution::new(*sent, None)).collect(),
            opened_at: self.at,
            stakes: stakes.to_vec(),
            deadline: self.at.after_ms(REVEAL_MS),
        };
        self.pot = pot;
        self.record_antes(game);
        let deadline_ms = revealing.deadline;
        let is_asked = !revealing.unrevealed_seats().is_empty();
        self.phase = Phase::Revealing(revealing);
        if is_asked {
            events.push(Event::Revealing { game, commitments, pot, deadline_ms });
            Ok(())
        } else {
            self.deal_game(events)
        }
    }

    /// Opens the game without the ledger: without stakes at a practice table, with stakes in points
    /// at a table of a tournament.
    pub(super) fn open_without_ledger(&mut self, events: &mut Events<G>) -> TableResult<G> {
        let Phase::Opening(opening) = &self.phase else { return Err(Rejection::NoSuchPhase) };
        let game = opening.game;
        let seats = self.seats_in_game();
        let stake = if self.terms.practice {
            Some(Coins::ZERO)
        } else {
            self.terms.stake_terms(seats).map(|terms| terms.stake_max)
        };
        let stakes = vec![stake.ok_or(Rejection::BadAnswer)?; usize::from(seats)];
        self.begin_revealing(game, &stakes, Coins::ZERO, events)
    }

    /// Records the text that a client reveals. It is not a sign that the player is present, who may
    /// have left: clients reveal automatically.
    pub(super) fn reveal_text(
        &mut self,
        player: PlayerId,
        game: GameId,
        text: &str,
        events: &mut Events<G>,
    ) -> TableResult<G> {
        let seat = self.require_seat(player)?;
        let Phase::Revealing(revealing) = &mut self.phase else {
            return Err(Rejection::NoSuchPhase);
        };
        Self::check_game(revealing.game, game)?;
        Self::require(!revealing.revealed_seats().contains(seat), Rejection::AlreadyRevealed)?;
        Self::require(text.len() <= TEXT_BYTES_MAX, Rejection::TextTooLong)?;
        let client = revealing.clients.get_mut(seat.index());
        let Some(client) = client.filter(|client| !client.commitment.is_none()) else {
            return Err(Rejection::NotAsked);
        };
        let revealed = Contribution::from_text(text);
        Self::require(revealed.commitment == client.commitment, Rejection::OtherText)?;
        *client = revealed;
        let is_last = revealing.unrevealed_seats().is_empty();
        events.push(Event::Revealed { seat });
        if is_last { self.deal_game(events) } else { Ok(()) }
    }

    /// Deals the game, after all clients have revealed their texts or the deadline has passed.
    pub(super) fn deal_game(&mut self, events: &mut Events<G>) -> TableResult<G> {
        let Phase::Revealing(revealing) = &mut self.phase else {
            return Err(Rejection::NoSuchPhase);
        };
        let Revealing { game, server_seed, opened_at, .. } = *revealing;
        let clients = core::mem::take(&mut revealing.clients);
        let stakes = core::mem::take(&mut revealing.stakes);
        let key = server_seed.key(&self.terms.deal_id(game), &clients);
        let seats = u8::try_from(clients.len()).expect("a table has at most eight seats");
        let winner = self.last_winner.filter(|_| !self.terms.has_shared_deals());
        let starter = winner.and_then(|player| self.seat_of(player));
        let starter = starter.filter(|seat| seat.number() < seats);
        let state = G::new(&self.terms.rules, seats, starter);
        events.push(Event::Opened { game, stakes: stakes.clone(), pot: self.pot, starter });
        self.phase = Phase::Playing(Box::new(Playing {
            game,
            server_seed,
            clients: clients.into(),
            opened_at,
            stakes: stakes.into(),
            starter,
            state,
            stream: Stream::new(key),
            chance: Arc::default(),
            actions: SharedList::default(),
            prompt: crate::game::Prompt {
                number: u32::MAX,
                seats: SeatSet::EMPTY,
                countdown: u32::MAX,
                countdown_ms: 0,
            },
            asked_at: self.at,
            deadline: self.at,
            missed: SeatSet::EMPTY,
        }));
        self.advance(events)
    }

    pub(super) fn handle_open_failure(
        &mut self,
        game: GameId,
        seats: SeatSet,
        fresh: Option<GameEntropy>,
        events: &mut Events<G>,
    ) -> TableResult<G> {
        let Phase::Opening(opening) = &self.phase else { return Err(Rejection::NoSuchPhase) };
        Self::check_game(opening.game, game)?;
        Self::require(!seats.is_empty(), Rejection::BadAnswer)?;
        self.vacate_seats(seats, Reason::CannotPay, events);
        self.vacate_left_seats(events);
        self.regroup(fresh, events)
    }
}
