//! Admission to seats: the wallet that a room requires, and the conditions of private tables.

use bahay_engine::coins::Coins;
use bahay_engine::game::{Game, GameRules as _};
use bahay_engine::matchmaking::Candidate;
use bahay_engine::table::{PlayerId, Table, Terms};

/// The highest bet of a private table, in whole coins.
pub const PRIVATE_BET_MAX: i64 = 100_000;

/// A wallet outside the bounds of a room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalletRefusal {
    /// The wallet holds less than the room requires (rule 6.9).
    TooFewCoins {
        needed: Coins,
    },
    TooManyCoins {
        most: Coins,
    },
}

/// Checks that a wallet is within the bounds of a room.
///
/// # Errors
/// Returns the bound that the wallet exceeds.
pub fn check_wallet(
    available: Coins,
    least: Coins,
    most: Option<Coins>,
) -> Result<(), WalletRefusal> {
    if available < least {
        return Err(WalletRefusal::TooFewCoins { needed: least });
    }
    match most {
        Some(most) if available > most => Err(WalletRefusal::TooManyCoins { most }),
        Some(_) | None => Ok(()),
    }
}

/// Returns true if a private table may have this bet.
pub fn is_private_bet(bet: Coins) -> bool {
    let coins = |whole| Coins::from_whole(whole).unwrap_or(Coins::ZERO);
    (coins(1)..=coins(PRIVATE_BET_MAX)).contains(&bet)
}

/// The reason why a request at a private table is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrivateRefusal {
    NotHost,
    NotSeated,
    GameRunning,
    /// No bot sits there, or a player from whom the guest is kept apart.
    TableFull,
    /// A bot gives the guest its seat after the running game.
    SeatAfterGame,
}

/// Checks that a player may kick another one from a table of this host.
///
/// # Errors
/// Returns the reason of the refusal.
pub fn check_kick<G: Game>(
    table: &Table<G>,
    host: PlayerId,
    by: PlayerId,
    player: PlayerId,
) -> Result<(), PrivateRefusal> {
    if host != by {
        return Err(PrivateRefusal::NotHost);
    }
    let seat = table.seat_of(player).filter(|_| player != by).ok_or(PrivateRefusal::NotSeated)?;
    if seat.number() < table.seats_in_game() {
        return Err(PrivateRefusal::GameRunning);
    }
    Ok(())
}

/// Returns the number of bots that a host may have fill a table: as many as a game lacks.
///
/// # Errors
/// Returns the reason of the refusal.
pub fn bots_to_fill<G: Game>(
    table: &Table<G>,
    host: PlayerId,
    by: PlayerId,
) -> Result<usize, PrivateRefusal> {
    if host != by {
        return Err(PrivateRefusal::NotHost);
    }
    if table.phase().is_running() {
        return Err(PrivateRefusal::GameRunning);
    }
    if table.seat_of(by).is_none() {
        return Err(PrivateRefusal::NotSeated);
    }
    Ok(missing_players(table))
}

/// Returns the number of players that a table lacks for a game.
pub fn missing_players<G: Game>(table: &Table<G>) -> usize {
    let least = usize::from(table.terms().rules.seats().least);
    least.saturating_sub(table.occupants().count())
}

/// Returns the bot whose seat a guest takes at a full private table. `companions` are the players
/// and bots there.
///
/// # Errors
/// Returns the reason of the refusal.
pub fn bot_to_free<G: Game>(
    table: &Table<G>,
    guest: &Candidate,
    companions: &[Candidate],
) -> Result<PlayerId, PrivateRefusal> {
    let bots: Vec<_> = table.occupants().filter(|(_, occupant)| occupant.bot).collect();
    let is_full = table.occupants().count() >= usize::from(table.seat_count());
    let is_bot = |one: &Candidate| bots.iter().any(|(_, bot)| bot.player == one.player);
    let fits = companions.iter().all(|one| is_bot(one) || guest.may_meet(one, false));
    match bots.last() {
        Some(_) if is_full && fits && bots.iter().any(|(_, bot)| bot.left) => {
            Err(PrivateRefusal::SeatAfterGame)
        }
        Some((_, bot)) if is_full && fits => Ok(bot.player),
        Some(_) | None => Err(PrivateRefusal::TableFull),
    }
}

/// The reason why no bot joins a private table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BotsUnavailable {
    #[error("the house has no bots")]
    NoBots,
    #[error("bots play at private tables for bets of at most {most} coins")]
    BetTooHigh { most: Coins },
    #[error("bots play only by unchanged rule sets of games and rooms")]
    OwnRules,
    #[error("bots play only against whole stakes")]
    ShortStakes,
    #[error("all bots of the house are playing: try again later")]
    AllPlaying,
    #[error("bots have reached the limit of their losses today")]
    DayIsOver,
}

/// Checks that house bots may play at a private table under these terms. `is_known` tells whether
/// the rules are those of a named rule set or of a room.
///
/// # Errors
/// Returns the reason why no bot joins.
pub fn check_bot_terms<R>(
    terms: &Terms<R>,
    is_known: impl FnOnce(&R) -> bool,
    bet_max: Coins,
) -> Result<(), BotsUnavailable> {
    let bet = terms.price.bet.checked_mul(terms.price.multiplier);
    if bet.is_none_or(|bet| bet > bet_max) {
        return Err(BotsUnavailable::BetTooHigh { most: bet_max });
    }
    if !is_known(&terms.rules) {
        return Err(BotsUnavailable::OwnRules);
    }
    // A player with a stake of one coin would risk one coin and win whole stakes of the house.
    if terms.private.is_some_and(|private| private.short_stakes) {
        return Err(BotsUnavailable::ShortStakes);
    }
    Ok(())
}
