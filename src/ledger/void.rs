//! The void of an open game: every ante and every stake returns to its wallet.

use super::books::{Books, Move};
use super::chart::{Account, Code};
use super::error::LedgerError;
use super::operation::{VoidGame, VoidOutcome, seats_of};
use super::settle::wallet_balances;
use crate::archive::GameState;
use crate::archive::store::{FinishedGame, Games};

pub(super) fn decide(
    input: &VoidGame,
    operation: i64,
    books: &mut Books,
    games: &mut Games,
) -> Result<VoidOutcome, LedgerError> {
    let game = games.by_id(input.game).ok_or(LedgerError::GameUnknown { game: input.game })?;
    match game.state {
        GameState::Open => {}
        state @ (GameState::Settled | GameState::Voided) => {
            return Err(LedgerError::GameNotOpen { game: input.game, state });
        }
    }
    let ante = game.ante;
    let players = game.players.clone();
    let stakes = game.stakes.clone();
    let refunds = players.iter().map(|player| Move {
        code: Code::Refund,
        source: Account::Pot(game.table),
        destination: Account::Wallet(*player),
        amount: ante,
    });
    let releases = seats_of(&players).zip(&stakes).map(|((seat, player), stake)| Move {
        code: Code::Release,
        source: Account::Stake(input.game, seat),
        destination: Account::Wallet(player),
        amount: *stake,
    });
    let moves: Vec<_> = refunds.filter(|refund| !refund.amount.is_zero()).chain(releases).collect();
    books.post(operation, &moves)?;
    let net = vec![Default::default(); players.len()];
    games.finish(
        input.game,
        FinishedGame {
            state: GameState::Voided,
            finished_at_ms: None,
            void_reason: Some(input.reason.to_string()),
            net,
        },
    );
    Ok(VoidOutcome { call: input.call, ante, stakes, wallets: wallet_balances(books, &players) })
}
