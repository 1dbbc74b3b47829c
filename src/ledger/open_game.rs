//! The opening of a game: antes go into the POT, and stakes are held (rules 7.1 and 6.9).

use bahay_engine::coins::Coins;
use bahay_engine::seat::SeatSet;
use bahay_engine::table::PlayerId;

use super::books::{Books, Move};
use super::chart::{Account, Code};
use super::error::LedgerError;
use super::operation::{OpenGame, OpeningOutcome, seats_of};
use crate::allowance;
use crate::archive::store::{Games, LedgerGame, OpenedGame};

pub(super) fn decide(
    input: &OpenGame,
    operation: i64,
    books: &mut Books,
    games: &mut Games,
) -> Result<OpeningOutcome, LedgerError> {
    let OpenGame { game, table, ante, players, .. } = input;
    if let Some(known) = games.by_id(*game) {
        return Err(LedgerError::GameNotOpen { game: *game, state: known.state });
    }
    if let Some(busy) = games.open_at(*table) {
        return Err(LedgerError::TableBusy { table: *table, game: busy.id });
    }

    let stake_terms = input.stake_terms();
    let mut stakes = Vec::with_capacity(players.len());
    let mut cannot_pay = SeatSet::EMPTY;
    for (seat, player) in seats_of(players) {
        match stake_terms.stake_of(books.spendable_balance(player)) {
            Some(stake) => stakes.push(stake),
            None => cannot_pay = cannot_pay.with(seat),
        }
    }
    if !cannot_pay.is_empty() {
        return Ok(OpeningOutcome::CannotPay { seats: cannot_pay });
    }
    let most = max_gains(input, &stakes, books)?;
    let is_over =
        |player: PlayerId, most: Coins| books.win_limit(player).is_some_and(|limit| most > limit);
    let over = seats_of(players).zip(&most).filter(|((_, player), most)| is_over(*player, **most));
    let over = over.fold(SeatSet::EMPTY, |over, ((seat, _), _)| over.with(seat));
    if !over.is_empty() {
        return Ok(OpeningOutcome::OverAllowance { seats: over });
    }
    for (player, most) in players.iter().zip(&most) {
        books.reserve_win(*player, *most);
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
        LedgerGame::open(input.game, input.table, &input.room, input.ante, players, &stakes),
        OpenedGame {
            game: input.game,
            kind: input.kind.clone(),
            commitment: input.commitment,
            opened_at_ms: input.opened_at_ms,
        },
    );
    Ok(OpeningOutcome::Opened { stakes, pot: books.balance(&Account::Pot(*table)) })
}

/// Returns, by seat, the most that the game can bring.
fn max_gains(input: &OpenGame, stakes: &[Coins], books: &Books) -> Result<Vec<Coins>, LedgerError> {
    let antes = stakes.iter().map(|_| input.ante);
    let pot = Coins::checked_sum(antes.chain([books.balance(&Account::Pot(input.table))]));
    let pot = pot.ok_or_else(|| LedgerError::broken("a POT does not fit 64 bits"))?;
    let gain_of_seat = |seat: usize| {
        let others = stakes.iter().enumerate().filter(|(other, _)| *other != seat);
        allowance::max_gain(others.map(|(_, stake)| *stake), pot)
    };
    Ok((0..stakes.len()).map(gain_of_seat).collect())
}
