//! The games of one transaction: as they were read, and as its operations change them.

use std::collections::BTreeMap;

use bahay_engine::chance::Commitment;
use bahay_engine::coins::Coins;
use bahay_engine::table::{GameId, PlayerId, TableId};

use super::rows::SeatRow;
use crate::error::LedgerError;
use bahay_base::clock::Timestamp;
use bahay_base::states::GameState;
use bahay_db::to_sql;

/// A game as the ledger needs it.
#[derive(Clone, Debug)]
pub(crate) struct LedgerGame {
    pub(crate) id: GameId,
    pub(crate) table: TableId,
    pub(crate) room: String,
    pub(crate) state: GameState,
    pub(crate) ante: Coins,
    /// The players by seat.
    pub(crate) players: Vec<PlayerId>,
    /// The stakes by seat.
    pub(crate) stakes: Vec<Coins>,
}

/// The columns of a newly opened game that no later operation of the transaction reads.
#[derive(Debug)]
pub(crate) struct OpenedGame {
    pub(crate) kind: String,
    /// The commitment to the server seed.
    pub(crate) commitment: Commitment,
    pub(crate) opened_at_ms: i64,
}

/// The end of a game.
#[derive(Debug)]
pub(crate) struct FinishedGame {
    pub(crate) state: GameState,
    /// The time of the end; `None` for the database's clock.
    pub(crate) finished_at_ms: Option<i64>,
    pub(crate) void_reason: Option<String>,
    /// By seat, the change by the game without the ante.
    pub(crate) net: Vec<Coins>,
}

/// The games of one transaction.
#[derive(Debug, Default)]
pub(crate) struct Games {
    games: BTreeMap<GameId, LedgerGame>,
    /// The openings and the ends by the operations of this batch.
    opened: BTreeMap<i64, (GameId, OpenedGame)>,
    finished: BTreeMap<i64, (GameId, FinishedGame)>,
}

impl Games {
    /// Adds a game as read.
    pub(crate) fn add(&mut self, game: LedgerGame) {
        self.games.insert(game.id, game);
    }

    pub(crate) fn by_id(&self, game: GameId) -> Option<&LedgerGame> {
        self.games.get(&game)
    }

    pub(crate) fn open_at(&self, table: TableId) -> Option<&LedgerGame> {
        self.games.values().find(|game| game.table == table && game.state == GameState::Open)
    }

    /// Returns a game that is to be ended.
    pub(crate) fn find_open(&self, game: GameId) -> Result<&LedgerGame, LedgerError> {
        let found = self.by_id(game).ok_or(LedgerError::GameUnknown { game })?;
        match found.state {
            GameState::Open => Ok(found),
            state @ (GameState::Settled | GameState::Voided) => {
                Err(LedgerError::GameNotOpen { game, state })
            }
        }
    }

    /// Adds a game that an operation opens.
    pub(crate) fn open(&mut self, operation: i64, game: LedgerGame, opened: OpenedGame) {
        self.opened.insert(operation, (game.id, opened));
        self.add(game);
    }

    /// Ends a game by an operation.
    pub(crate) fn finish(&mut self, operation: i64, game: GameId, finish: FinishedGame) {
        if let Some(row) = self.games.get_mut(&game) {
            row.state = finish.state;
        }
        self.finished.insert(operation, (game, finish));
    }

    /// Returns the game that an operation opens.
    pub(crate) fn opened_by(&self, operation: i64) -> Option<(&LedgerGame, &OpenedGame)> {
        let (game, opened) = self.opened.get(&operation)?;
        Some((self.by_id(*game)?, opened))
    }

    /// Returns the end of a game by an operation.
    pub(crate) fn finished_by(&self, operation: i64) -> Option<&FinishedGame> {
        self.finished.get(&operation).map(|(_, finish)| finish)
    }

    /// Returns the games that operations opened.
    pub(crate) fn opened(&self) -> impl Iterator<Item = &LedgerGame> {
        self.opened.values().filter_map(|(game, _)| self.by_id(*game))
    }

    /// Returns the games that operations ended.
    pub(crate) fn finished(&self) -> impl Iterator<Item = &LedgerGame> {
        self.finished.values().filter_map(|(game, _)| self.by_id(*game))
    }

    /// Returns the rows of the seats of all games that begin or end.
    pub(crate) fn seat_rows(&self) -> Vec<SeatRow> {
        let opened = self.opened.values().map(|(game, _)| (game, None));
        let finished = self.finished.values().map(|(game, finish)| (game, Some(finish)));
        let mut rows = Vec::new();
        for (game, finish) in opened.chain(finished) {
            let Some(game) = self.by_id(*game) else { continue };
            let finished_at_ms = finish.and_then(|finish| finish.finished_at_ms);
            let finished_at = finished_at_ms.map(|ms| to_sql(Timestamp::from_ms(ms)));
            let seats = (0..).zip(game.players.iter().zip(&game.stakes));
            rows.extend(seats.map(|(seat, (player, stake))| {
                SeatRow {
                    game: game.id.0,
                    player: player.0,
                    seat,
                    stake: stake.hundredths(),
                    net: finish
                        .and_then(|finish| finish.net.get(usize::try_from(seat).ok()?))
                        .map(|net| net.hundredths()),
                    finished_at,
                }
            }));
        }
        rows
    }
}
