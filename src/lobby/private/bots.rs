//! House bots at private tables: the host has them fill the seats that a game lacks, and they give
//! their seats to guests who join by the code.
//!
//! The host of a private table chooses its bet, its rules and the other players, so two friends can
//! play together against a bot. Three limits bound the winnings: bots play there only up to
//! [`crate::lobby::Options::private_bots_bet_max`], by the rules of a named rule set or of a room,
//! and against whole stakes; all of them may lose only a part of the day's purse (`BotPurse`); and
//! winnings from them count against the player's allowance at private tables
//! ([`crate::ledger::allowance`]). They play with the full skill of house bots.

use std::time::Duration;

use bahay_engine::catalog::{AnyGame, AnyRules};
use bahay_engine::coins::Coins;
use bahay_engine::game::GameRules;
use bahay_engine::matchmaking::Candidate;
use bahay_engine::table::{Input, PlayerId, Rejection, Table, TableId, Terms};
use bahay_shell::TableError;
use bahay_shell::lobby::{
    BotsUnavailable, PursePurpose, bot_to_free, bots_to_fill, check_bot_terms, missing_players,
};

use crate::clock::Timestamp;
use crate::ledger::AMOUNT_MAX;
use crate::live_store::Unavailable;
use crate::lobby::bots::{Funding, WantedFunds};
use crate::lobby::{HouseBot, Lobby, LobbyError, Room};
use crate::ratings::INITIAL_RATING;
use crate::rooms::PRIVATE;

use super::{PrivateView, private_reservation};

/// The number of attempts to acquire the lock of grants to bots. Exhausting them indicates a fault
/// elsewhere.
const FUNDING_ATTEMPTS: usize = 200;

/// The pause between two such attempts.
const FUNDING_PAUSE: Duration = Duration::from_millis(25);

impl Lobby {
    /// Seats house bots at a private table until a game can begin, at the request of its host, who
    /// sits there. Does nothing if the table already has enough players.
    ///
    /// # Errors
    /// [`LobbyError::NotHost`], [`LobbyError::GameRunning`], [`LobbyError::NotSeated`], and
    /// [`LobbyError::BotsUnavailable`] with the reason why no bot joins.
    pub async fn fill_private_table(
        &self,
        by: PlayerId,
        code: &str,
    ) -> Result<PrivateView, LobbyError> {
        self.check_not_banned(by).await?;
        let (code, private, table) = self.resolve_code(code).await?;
        let missing = bots_to_fill(&table, private.host, by)?;
        self.require_open_house()?;
        if missing > 0 {
            self.require_socket(by).await?;
            self.seat_private_bots(private.table, table.terms(), missing).await?;
        }
        self.private_view(&code).await
    }

    async fn seat_private_bots(
        &self,
        table: TableId,
        terms: &Terms<AnyRules>,
        missing: usize,
    ) -> Result<(), LobbyError> {
        let rooms = self.rooms();
        check_terms(terms, rooms.iter().map(|room| &**room), self.options.private_bots_bet_max)?;
        if self.bots.is_empty() {
            return Err(BotsUnavailable::NoBots.into());
        }
        let now = self.tables.clock().now();
        let least = terms.wallet_min().ok_or(LobbyError::BetOutOfBounds)?;
        let purse = self.read_purse(now, PursePurpose::PrivateTable).await?;
        if !purse.covers(least, missing) {
            return Err(BotsUnavailable::DayIsOver.into());
        }
        let mut free = self.locate_bots().await.free;
        if free.len() < missing {
            return Err(BotsUnavailable::AllPlaying.into());
        }
        for _ in 0..missing {
            loop {
                let bot = free.pop().ok_or(BotsUnavailable::AllPlaying)?;
                self.fund_private_bot(now, &bot, least).await?;
                let candidates = [Candidate::new(bot.player, INITIAL_RATING)];
                let seats = terms.rules.seats().most;
                let reserve = private_reservation(seats, &candidates);
                if self.seat_bot(reserve, table, &bot).await? {
                    break;
                }
                let current = self.tables.read_table(table).await?;
                if current.is_none_or(|current| missing_players(&current) == 0) {
                    // Other players have filled the table meanwhile.
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    async fn fund_private_bot(
        &self,
        now: Timestamp,
        bot: &HouseBot,
        least: Coins,
    ) -> Result<(), LobbyError> {
        let wanted = WantedFunds { least, most: AMOUNT_MAX, purpose: PursePurpose::PrivateTable };
        for _ in 0..FUNDING_ATTEMPTS {
            match self.fund_bot(now, bot.player, wanted).await? {
                Funding::Funded => return Ok(()),
                Funding::Empty => return Err(BotsUnavailable::DayIsOver.into()),
                Funding::Busy => tokio::time::sleep(FUNDING_PAUSE).await,
            }
        }
        Err(Unavailable::new("grants to other bots are in progress".into()).into())
    }

    /// Frees the seat of a bot for a guest at a full private table: at once between games, in which
    /// case the bot takes its part of the POT along, and after the game while one is running.
    ///
    /// # Errors
    /// [`LobbyError::SeatAfterGame`] if the guest has to ask again after the game, and
    /// [`LobbyError::TableFull`] if no bot sits there, or if a player sits there with whom the
    /// guest is kept apart.
    pub(super) async fn free_bot_seat(
        &self,
        guest: &Candidate,
        table: &Table<AnyGame>,
    ) -> Result<(), LobbyError> {
        let companions = self.live.companions(PRIVATE, table.id()).await?;
        let player = bot_to_free(table, guest, &companions)?;
        match self.tables.submit(table.id(), Input::Remove { player }).await {
            // Another request may have removed the bot.
            Ok(_) | Err(TableError::Rejected(Rejection::NotSeated)) => return Ok(()),
            Err(TableError::Rejected(_)) => {}
            Err(error) => return Err(LobbyError::from_table(error, LobbyError::CodeUnknown)),
        }
        match self.tables.submit(table.id(), Input::Leave { player }).await {
            Ok(_) | Err(TableError::Rejected(_)) => Err(LobbyError::SeatAfterGame),
            Err(error) => Err(LobbyError::from_table(error, LobbyError::CodeUnknown)),
        }
    }
}

/// Checks that house bots may play at a private table under these terms, in a house with these
/// rooms.
fn check_terms<'a>(
    terms: &Terms<AnyRules>,
    rooms: impl IntoIterator<Item = &'a Room>,
    bet_max: Coins,
) -> Result<(), BotsUnavailable> {
    let are_known = |rules: &AnyRules| {
        rules.rule_set().is_some() || rooms.into_iter().any(|room| room.terms().rules == *rules)
    };
    check_bot_terms(terms, are_known, bet_max)
}

#[cfg(test)]
mod tests {
    use super::{BotsUnavailable, Room, check_terms};
    use crate::rooms::house_rooms;
    use bahay_engine::catalog::AnyRules;
    use bahay_engine::coins::Coins;
    use bahay_engine::table::{Clocks, PrivateTerms, Terms};

    #[test]
    fn bots_play_for_low_bets_by_plain_rules_and_against_whole_stakes() {
        let max = Coins::from_whole(10).unwrap();
        let rooms = house_rooms(Clocks::default());
        let mut terms = rooms[0].terms().clone();
        terms.private = Some(PrivateTerms::default());
        assert_eq!(check_terms(&terms, &rooms, max), Ok(()));
        terms.price.multiplier = 11;
        let refused = Err(BotsUnavailable::BetTooHigh { most: max });
        assert_eq!(check_terms(&terms, &rooms, max), refused);
        terms.price.multiplier = 10;
        assert_eq!(check_terms(&terms, &rooms, max), Ok(()));
        terms.private = Some(PrivateTerms { short_stakes: true, ..PrivateTerms::default() });
        assert_eq!(check_terms(&terms, &rooms, max), Err(BotsUnavailable::ShortStakes));
        let AnyRules::Tongits(rules) = &mut terms.rules else { panic!("the first game") };
        rules.countdowns.draw_ms += 1;
        terms.private = Some(PrivateTerms::default());
        assert_eq!(check_terms(&terms, &rooms, max), Err(BotsUnavailable::OwnRules));
        let own = Terms { rules: terms.rules.clone(), ..rooms[0].terms().clone() };
        let own = Room::new("Own", rooms[0].rule_set(), own).unwrap();
        assert_eq!(check_terms(&terms, [&own], max), Ok(()));
    }
}
