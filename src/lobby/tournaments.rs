//! Tables of tournaments: they are opened with their players seated, who are then led to them.
//!
//! A seat claim is taken for each player, as on every path to a table, so that nobody sits elsewhere
//! meanwhile. A player who waits at another table leaves it; one who is in a game there plays it to
//! its end, and the AI plays at the tournament's table until the player asks for it
//! ([`Lobby::claim_tournament_seat`]).

use bahay_engine::catalog::AnyRules;
use bahay_engine::chance::ServerSeed;
use bahay_engine::matchmaking::ConflictKey;
use bahay_engine::table::{Input, PlayerId, Table, TableId, Terms, TournamentPlayer};
use bahay_shell::TableError;

use super::{Lobby, LobbyError, PlayerNews};
use crate::live_store::{SeatClaim, Unavailable};
use crate::rate_limit::Address;
use crate::reason::Reason;
use crate::tables::OperateError;

/// The reason for which a table of a cancelled tournament ends.
static CANCELLED: Reason = Reason::from_static("the tournament was cancelled");

/// The data of a player that a tournament needs to know.
#[derive(Clone, Debug)]
pub struct TournamentCandidate {
    pub name: String,
    /// Digests of the player's devices and network.
    pub conflict_keys: Vec<ConflictKey>,
}

/// A table of a tournament to be opened.
#[derive(Clone, Debug)]
pub struct TournamentTable {
    pub id: TableId,
    pub terms: Terms<AnyRules>,
    /// The players by seat.
    pub players: Vec<TournamentPlayer>,
    /// The number of games whose results are stored already.
    pub games: u32,
    /// The secret seeds by game of the deals that all tables of the round play; otherwise empty.
    pub seeds: Vec<ServerSeed>,
}

impl Lobby {
    /// Admits a player to tournaments of a kind of game.
    ///
    /// # Errors
    /// [`LobbyError::Banned`] or [`LobbyError::PlayerGone`].
    pub async fn tournament_candidate(
        &self,
        player: PlayerId,
        kind: &str,
        from: Option<Address>,
    ) -> Result<TournamentCandidate, LobbyError> {
        self.check_not_banned(player).await?;
        let profile = self.matchmaking_profile(player, kind).await?;
        let candidate = self.candidate(player, &profile, from);
        let mut conflict_keys = candidate.conflict_keys;
        conflict_keys.extend(candidate.network);
        Ok(TournamentCandidate { name: profile.name, conflict_keys })
    }

    /// Opens a table unless it exists, begins its first game, and leads its players to it.
    pub async fn open_tournament_table(&self, table: TournamentTable) -> Result<(), LobbyError> {
        let TournamentTable { id, terms, players, games, seeds } = table;
        let persons = players.iter().filter(|player| !player.bot);
        let persons: Vec<_> = persons.map(|player| player.player).collect();
        let now = self.tables.clock_of(id).now();
        let table = Table::new(id, terms)
            .with_tournament_players(players, games, now)
            .with_shared_seeds(seeds);
        self.tables.create_table(&table).await?;
        match self.tables.submit(id, Input::Tick).await {
            // The table exists, and has begun.
            Ok(_) | Err(TableError::Rejected(_)) => {}
            Err(error) => return Err(error.into()),
        }
        for player in &persons {
            if let Err(error) = self.claim_tournament_seat(*player, id).await {
                tracing::warn!(%player, table = %id, %error, "a seat is not claimed yet");
            }
        }
        if let Err(error) = self.announce_tournament_table(persons, id).await {
            // The players find the table by themselves.
            tracing::warn!(table = %id, %error, "players were not led to their table at once");
        }
        Ok(())
    }

    /// Claims a player's seat at its table of a tournament. Returns false if the player is in a game
    /// at another table.
    pub async fn claim_tournament_seat(
        &self,
        player: PlayerId,
        table: TableId,
    ) -> Result<bool, LobbyError> {
        if !self.live.claim_seat(player, table).await? {
            match self.live.seat_claim(player).await? {
                SeatClaim::Held(held) if held == table => return Ok(true),
                SeatClaim::Pending(held) if held == table => {}
                SeatClaim::None | SeatClaim::Held(_) | SeatClaim::Pending(_) => {
                    let is_free = self.leave_waiting_table(player).await?;
                    if !is_free || !self.live.claim_seat(player, table).await? {
                        return Ok(false);
                    }
                }
            }
        }
        self.live.drop_matching_ticket(player).await?;
        Ok(self.live.confirm_seat_claim(player, table).await?)
    }

    /// Ends a table of a cancelled tournament, and frees its players.
    pub async fn end_tournament_table(&self, table: TableId) -> Result<(), LobbyError> {
        match self.tables.void(table, &CANCELLED).await {
            Ok(_) | Err(OperateError::NothingToVoid | OperateError::Missing) => Ok(()),
            Err(error) => Err(Unavailable::new(error.to_string()).into()),
        }
    }

    /// Frees a player who sits at a table without a running game. Returns false if the player stays
    /// there.
    async fn leave_waiting_table(&self, player: PlayerId) -> Result<bool, LobbyError> {
        let Some(seated) = self.seated_at(player).await? else { return Ok(true) };
        let table = self.tables.read_table(seated).await?;
        let is_playing = table
            .is_some_and(|table| table.phase().is_running() || table.terms().tournament.is_some());
        if is_playing {
            return Ok(false);
        }
        self.leave(player).await?;
        Ok(self.seated_at(player).await?.is_none())
    }

    async fn announce_tournament_table(
        &self,
        players: Vec<PlayerId>,
        table: TableId,
    ) -> Result<(), Unavailable> {
        self.send_news(players, &PlayerNews::TournamentTable { table }).await
    }

    /// Returns those of the tables that do not exist in live state.
    pub async fn lost_tables(&self, tables: &[TableId]) -> Result<Vec<TableId>, LobbyError> {
        let mut lost = Vec::new();
        for (table, exists) in tables.iter().zip(self.live.tables_exist(tables).await) {
            if !exists? {
                lost.push(*table);
            }
        }
        Ok(lost)
    }
}
