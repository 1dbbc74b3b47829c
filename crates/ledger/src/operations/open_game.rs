//! The opening of a game: antes go into the POT, and stakes are held (rules 7.1 and 6.9).

use bahay_engine::chance::Commitment;
use bahay_engine::coins::Coins;
use bahay_engine::seat::SeatSet;
use bahay_engine::table::{GameId, PlayerId, StakeTerms, TableId};
use serde::{Deserialize, Serialize};

use crate::Ledger;
use crate::allowance;
use crate::books::{Books, LedgerGame, Move, OpenedGame};
use crate::chart::{Account, Code};
use crate::error::LedgerError;
use crate::operation::{
    AMOUNT_MAX, Accounts, GameStart, Kind, Operation, WinLimit, check_name, check_players,
    check_time, ensure, seats_of,
};
use bahay_base::ids::PRIVATE_ROOM;
use bahay_base::states::GameState;

/// The maximum length of the name of a kind, in bytes.
const KIND_LENGTH_MAX: usize = 32;

/// The opening of a game: antes go into the POT, and stakes are held. Its key is `open:<game>`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OpenGame {
    pub game: GameId,
    /// The kind of the game, as in records.
    pub kind: String,
    pub table: TableId,
    pub room: String,
    /// The ante of each seat. May be zero.
    pub ante: Coins,
    /// The most that a seat can lose besides its ante. A wallet must cover it.
    pub stake_max: Coins,
    /// True if a wallet with less than `stake_max` after the ante is staked as a whole.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub short_stakes: bool,
    /// The players by seat.
    pub players: Vec<PlayerId>,
    /// The SHA-256 of the server seed, as the table showed it before the deal (rule 9.1). It is
    /// stored with the game, so that a commitment whose game is never settled stays public (rule
    /// 9.1a).
    pub commitment: Commitment,
    pub opened_at_ms: i64,
}

impl OpenGame {
    /// Returns the game's demand on each wallet.
    fn stake_terms(&self) -> StakeTerms {
        let Self { ante, stake_max, short_stakes, .. } = *self;
        StakeTerms { ante, stake_max, short_stakes }
    }
}

/// The outcome of an opening.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum OpeningOutcome {
    Opened {
        /// The held stakes by seat.
        stakes: Vec<Coins>,
        /// The balance of the POT, including this game's antes.
        pot: Coins,
    },
    /// The wallets of these seats do not cover ante and stake. No coins move, and the outcome of
    /// this game is final; another attempt is another game.
    CannotPay { seats: SeatSet },
    /// The game could bring these seats more than their players may win, at private tables or of
    /// others at the table of a room. No coins move, and the outcome of this game is final.
    OverAllowance { seats: SeatSet },
}

/// An opening with the limit of its players' gains, which is not part of the input: the house may
/// change its limits, and the first answer stands.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct Opening {
    pub(crate) input: OpenGame,
    #[serde(skip)]
    pub(crate) limit: WinLimit,
}

impl Operation for Opening {
    const KIND: Kind = Kind {
        name: "open",
        irreversible: Some("an opening or a void cannot be reversed, only a settlement"),
    };

    type Outcome = OpeningOutcome;

    fn key(&self) -> String {
        format!("open:{}", self.input.game)
    }

    fn check(&self) -> Result<(), LedgerError> {
        let OpenGame { kind, room, ante, stake_max, players, opened_at_ms, .. } = &self.input;
        check_kind(kind)?;
        check_name(room)?;
        check_time(*opened_at_ms)?;
        check_players(players)?;
        ensure(!ante.is_negative(), "an ante is negative")?;
        ensure(*ante <= AMOUNT_MAX, "an ante exceeds the maximum")?;
        ensure(*stake_max > Coins::ZERO, "a stake is not positive")?;
        ensure(*stake_max <= AMOUNT_MAX, "a stake exceeds the maximum")
    }

    fn game(&self) -> Option<GameId> {
        Some(self.input.game)
    }

    fn accounts(&self) -> Accounts {
        let OpenGame { game, table, players, .. } = &self.input;
        let stakes = seats_of(players).map(|(seat, _)| Account::Stake(*game, seat));
        Accounts {
            made: stakes.chain([Account::Pot(*table)]).collect(),
            used: players.iter().copied().map(Account::Wallet).collect(),
            ..Accounts::default()
        }
    }

    fn opening(&self) -> Option<GameStart> {
        let OpenGame { game, table, opened_at_ms, .. } = self.input;
        let players = self.input.players.clone();
        Some(GameStart { game, table, players, opened_at_ms, limit: self.limit })
    }

    fn decide(&self, books: &mut Books) -> Result<OpeningOutcome, LedgerError> {
        let Self { input, .. } = self;
        let OpenGame { game, table, ante, players, .. } = input;
        if let Some(known) = books.games.by_id(*game) {
            return Err(LedgerError::GameNotOpen { game: *game, state: known.state });
        }
        if let Some(busy) = books.games.open_at(*table) {
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
        let is_over = |player: PlayerId, most: Coins| {
            books.win_limit(player).is_some_and(|limit| most > limit)
        };
        let over =
            seats_of(players).zip(&most).filter(|((_, player), most)| is_over(*player, **most));
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
        books.post(&moves)?;
        books.open_game(
            LedgerGame {
                id: *game,
                table: *table,
                room: input.room.clone(),
                state: GameState::Open,
                ante: *ante,
                players: players.clone(),
                stakes: stakes.clone(),
            },
            OpenedGame {
                kind: input.kind.clone(),
                commitment: input.commitment,
                opened_at_ms: input.opened_at_ms,
            },
        );
        Ok(OpeningOutcome::Opened { stakes, pot: books.balance(&Account::Pot(*table)) })
    }
}

impl Ledger {
    /// Moves antes and stakes out of the wallets, or returns the seats that cannot pay. At a
    /// private table a game that could bring a player more than the player's allowance is refused;
    /// in a room one that could bring coins to a player who has reached a day's limit at this
    /// table. Each such player gets a notice.
    pub async fn open_game(&self, input: OpenGame) -> Result<OpeningOutcome, LedgerError> {
        let game = input.game;
        let players = input.players.clone();
        let is_private = input.room == PRIVATE_ROOM;
        let limit = if is_private { WinLimit::Private(self.allowance) } else { WinLimit::Room };
        let opening = self.submit(Opening { input, limit }).await?;
        if let OpeningOutcome::OverAllowance { seats } = &opening {
            let kind = if is_private { "private_limit" } else { "room_limit" };
            let over = seats_of(&players).filter(|(seat, _)| seats.contains(*seat));
            let over: Vec<_> = over.map(|(_, player)| (player, None)).collect();
            let once = || async {
                let mut connection = self.pool.acquire().await?;
                bahay_notices::insert_in_tx(&mut connection, kind, &game.to_string(), &over).await
            };
            bahay_db::retry(once).await?;
        }
        Ok(opening)
    }
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

/// Checks the name of a kind against the constraint of the database.
fn check_kind(kind: &str) -> Result<(), LedgerError> {
    let is_word = |letter: u8| matches!(letter, b'a'..=b'z' | b'0'..=b'9' | b'_');
    let is_sound = kind.len() <= KIND_LENGTH_MAX
        && kind.starts_with(|first: char| first.is_ascii_lowercase())
        && kind.bytes().all(is_word);
    ensure(is_sound, "the kind of a game is not a short name in snake case")
}
