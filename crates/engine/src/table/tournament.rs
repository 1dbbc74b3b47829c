//! Tables of a tournament: fixed players play a fixed number of games for points.
//!
//! A tournament creates a table with its players seated, and the first tick prepares the first game.
//! A tick also opens each game, with stakes in points: no coins are held for a game. The tournament
//! stores the record of a finished game, and its answer leads to the next game, so the table never
//! runs ahead of what is stored. After the last game every seat becomes free and the table is closed.
//!
//! A tournament waits for nobody. A player who has left, or has been away for longer than the grace,
//! is not asked to be ready, and the AI plays for a player who is not ready in time (rule 2.6). A
//! player keeps the seat in any case, and takes it back by returning.
//!
//! In a duplicate other tables play the same deals (rule 5.1). Such a table has the seeds of its games
//! from its creation, and keeps them to itself: a table that is faster than the others shows none of
//! them. Neither clients nor earlier winners have a part in the deal.

use alloc::string::String;
use alloc::sync::Arc;

use crate::chance::ServerSeed;
use crate::game::Game;
use crate::seat::{Seat, SeatSet};
use crate::table::Table;
use crate::table::event::{Event, Reason};
use crate::table::id::PlayerId;
use crate::table::input::{GameEntropy, Rejection};
use crate::table::phase::{Occupant, Phase};
use crate::table::step::{Events, TableResult};
use crate::table::time::Timestamp;

/// A player of a tournament as shown at its tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TournamentPlayer {
    pub player: PlayerId,
    pub name: String,
    pub avatar: Option<String>,
    /// True for a house bot.
    pub bot: bool,
}

impl<G: Game> Table<G> {
    /// Seats the players of a tournament, who are away until they connect, and counts `games` as
    /// over: those whose records were stored before live state lost the table.
    #[must_use]
    pub fn with_tournament_players(
        mut self,
        players: impl IntoIterator<Item = TournamentPlayer>,
        games: u32,
        at: Timestamp,
    ) -> Self {
        for (seat, player) in self.seats.iter_mut().zip(players) {
            *seat = Some(Occupant {
                player: player.player,
                name: player.name.into(),
                avatar: player.avatar.map(Into::into),
                bot: player.bot,
                connection: None,
                away_since: at,
                left: false,
                missed_turns: 0,
            });
        }
        Self { tournament_games: games, at, ..self }
    }

    /// Gives the table the seeds, by game, of the deals that all tables of its round play. Its terms
    /// have their commitments.
    #[must_use]
    pub fn with_shared_seeds(self, seeds: impl Into<Arc<[ServerSeed]>>) -> Self {
        Self { shared_seeds: seeds.into(), ..self }
    }

    /// Returns the seed of the next game: the fresh one, or that of the deal that other tables play.
    ///
    /// # Errors
    /// If the table has not received the seed to which its terms commit.
    pub(super) fn next_seed(&self, fresh: ServerSeed) -> TableResult<G, ServerSeed> {
        let tournament = self.terms.tournament.as_ref().filter(|_| self.terms.has_shared_deals());
        let Some(tournament) = tournament else { return Ok(fresh) };
        let game = self.tournament_games as usize;
        let seed = self.shared_seeds.get(game).copied().ok_or(Rejection::BadAnswer)?;
        let is_committed = tournament.commitments.get(game) == Some(&seed.commitment());
        Self::require(is_committed, Rejection::BadAnswer)?;
        Ok(seed)
    }

    /// Returns the number of games of the tournament that are over at this table.
    pub fn tournament_games(&self) -> u32 {
        self.tournament_games
    }

    /// Prepares the next game of the tournament, or closes the table after the last one.
    pub(super) fn regroup_tournament_table(
        &mut self,
        fresh: Option<GameEntropy>,
        events: &mut Events<G>,
    ) -> TableResult<G> {
        let games = self.terms.tournament.as_ref().map_or(0, |tournament| tournament.games);
        if self.tournament_games >= games || !self.has_enough_players() {
            self.closed = true;
            self.phase = Phase::Waiting;
            self.vacate_seats(self.taken_seats(), Reason::Finished, events);
            events.push(Event::Waiting);
            return Ok(());
        }
        let ready = self.bots().union(self.absent_seats());
        self.prepare_game(ready, fresh, events)?;
        self.open_if_ready(events);
        Ok(())
    }

    /// Records that a player of a tournament has left, whom the AI plays until the player returns.
    pub(super) fn leave_tournament_table(
        &mut self,
        seat: Seat,
        events: &mut Events<G>,
    ) -> TableResult<G> {
        let has_left = core::mem::replace(&mut self.seat_mut(seat).left, true);
        Self::require(!has_left, Rejection::NotSeated)?;
        if let Phase::Preparing(preparing) = &mut self.phase
            && !preparing.ready.contains(seat)
        {
            preparing.ready = preparing.ready.with(seat);
            events.push(Event::Ready { seat });
        }
        self.open_if_ready(events);
        Ok(())
    }

    /// Opens the prepared game although some players are not ready. The AI plays for them until they
    /// act or take the seat back.
    pub(super) fn open_without_unready_players(&mut self, events: &mut Events<G>) {
        let taken = self.taken_seats();
        let Phase::Preparing(preparing) = &mut self.phase else { return };
        let late = taken.difference(preparing.ready);
        preparing.ready = taken;
        for seat in late.iter() {
            self.seat_mut(seat).missed_turns = self.terms.clocks.missed_turns_to_takeover;
            events.push(Event::Ready { seat });
        }
        self.open_if_ready(events);
    }

    fn absent_seats(&self) -> SeatSet {
        self.seats_where(|occupant| self.is_absent(occupant))
    }
}
