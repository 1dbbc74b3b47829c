//! Opening a game: antes into the POT, stakes out of reach of everything else (rules 7.1, 6.9).

use bahay_engine::coins::Coins;
use bahay_engine::seat::SeatSet;

use super::books::{Books, Move};
use super::chart::{Account, Code};
use super::error::LedgerError;
use super::operation::{OpenGame, Opening, seats_of};
use crate::archive::store::{Game, Games};

pub(super) fn decide(
    input: &OpenGame,
    operation: i64,
    books: &mut Books,
    games: &mut Games,
) -> Result<Opening, LedgerError> {
    let OpenGame { game, table, ante, stake_max, players, .. } = input;
    if let Some(known) = games.by_id(*game) {
        return Err(LedgerError::GameNotOpen { game: *game, state: known.state });
    }
    if let Some(busy) = games.open_at(*table) {
        return Err(LedgerError::TableBusy { table: *table, game: busy.id });
    }

    let mut stakes = Vec::with_capacity(players.len());
    let mut cannot_pay = SeatSet::EMPTY;
    for (seat, player) in seats_of(players) {
        match stake_of(books.balance(&Account::Wallet(player)), *ante, *stake_max) {
            Some(stake) => stakes.push(stake),
            None => cannot_pay = cannot_pay.with(seat),
        }
    }
    if !cannot_pay.is_empty() {
        return Ok(Opening::CannotPay { seats: cannot_pay });
    }

    let mut moves = Vec::with_capacity(2 * players.len());
    if !ante.is_zero() {
        moves.extend(players.iter().map(|player| Move {
            code: Code::Ante,
            source: Account::Wallet(*player),
            destination: Account::Pot(*table),
            amount: *ante,
        }));
    }
    moves.extend(seats_of(players).zip(&stakes).map(|((seat, player), stake)| Move {
        code: Code::Hold,
        source: Account::Wallet(player),
        destination: Account::Stake(*game, seat),
        amount: *stake,
    }));
    books.post(operation, &moves)?;
    games.open(
        Game::open(input.game, input.table, &input.room, input.ante, players, &stakes),
        &input.kind,
        input.opened_at_ms,
    );
    Ok(Opening::Opened { stakes, pot: books.balance(&Account::Pot(*table)) })
}

/// `None` when the wallet cannot pay the ante and have anything left.
fn stake_of(wallet: Coins, ante: Coins, stake_max: Coins) -> Option<Coins> {
    let left = wallet.checked_sub(ante).filter(|left| *left > Coins::ZERO)?;
    Some(left.min(stake_max))
}
