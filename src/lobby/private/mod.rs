//! Private tables, joined by a code. The host chooses the bet and the room whose rules apply, and
//! may kick a player while no game runs. After a game the same seats are asked whether they are
//! ready for the next, as at any table; this is the rematch.
//!
//! Friends may share a house, so an address keeps nobody apart here; a device does. Winnings at
//! private tables are limited instead, see [`crate::ledger::allowance`]: a player for whom another game
//! could win too much is rejected, here and before each game. A kicked player takes along what it
//! has paid into the POT. A table without players for an hour ends, and its POT is refunded to
//! those who paid it (rule 7.4); a code expires after a day without use. A player is the host of at
//! most [`PRIVATE_TABLES_MAX`] tables.

mod bots;
mod rematch;

use std::sync::Arc;

use bahay_engine::catalog::{AnyGame, AnyRules};
use bahay_engine::coins::Coins;
use bahay_engine::game::{GameRules, Skill};
use bahay_engine::matchmaking::Candidate;
use bahay_engine::table::{
    Input, PlayerId, PrivateTerms, Rejection, Spectators, Table, TableId, Terms,
};
use bahay_shell::TableError;
use bahay_shell::lobby::{SeatingEnd, check_kick, is_private_bet};

use crate::entropy;
use crate::live_store::{PrivateTable, SeatReservation};
use crate::rooms::{PRIVATE, Room, RuleSetRequest, check_clocks, choose_rules};

use super::seats::SeatRequest;
use super::{Lobby, LobbyError, first_rule_set, max_winnings};

pub use rematch::{FinishedGame, REMATCH_WITHIN, Rematch};

/// Letters and digits that cannot be mistaken for one another, in writing or in speech.
const ALPHABET: &[u8] = b"ABCDEFGHJKMNPQRSTUVWXYZ23456789";

/// The length of a code. With 31 characters to choose from, a code has about 40 bits.
pub const CODE_LENGTH: usize = 8;

/// The maximum number of tables of one host. A table that everybody has left counts until it is
/// forgotten.
pub const PRIVATE_TABLES_MAX: usize = 8;

/// The number of codes that are tried before the request fails.
const CODES_MAX: usize = 4;

/// A host's request for a private table.
#[derive(Clone, Debug, PartialEq)]
pub struct PrivateTableRequest {
    /// The room whose fee, POT rules and countdowns apply.
    pub room: String,
    /// The rules, or `None` for those of the room.
    pub rules: Option<RuleSetRequest>,
    pub bet: Coins,
    /// Admits players whose wallet does not cover the greatest possible loss (rule 6.9).
    pub short_stakes: bool,
}

/// A seat at a private table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrivateSeat {
    pub code: String,
    pub link: String,
    pub table: TableId,
}

/// A private table as shown to everyone who has the code.
#[derive(Clone, Debug, PartialEq)]
pub struct PrivateView {
    pub code: String,
    pub link: String,
    pub table: TableId,
    pub host: PlayerId,
    pub terms: Terms<AnyRules>,
    pub seats: u8,
    pub players: Vec<PlayerId>,
}

impl Lobby {
    /// Opens a private table with the rules of a room and a bet chosen by the host, and seats the
    /// host.
    pub async fn open_private(
        &self,
        host: PlayerId,
        request: PrivateTableRequest,
    ) -> Result<PrivateSeat, LobbyError> {
        let PrivateTableRequest { room, rules: wanted, bet, short_stakes } = request;
        self.check_not_banned(host).await?;
        let room = self.room(&room).ok_or(LobbyError::NoSuchRoom)?;
        self.require_open_house()?;
        check_bet(bet)?;
        let mut terms = room.terms().clone();
        terms.price.bet = bet;
        self.apply_private_terms(&mut terms, short_stakes);
        let mut rule_set = room.rule_set().to_owned();
        if let Some(RuleSetRequest { kind, rule_set: set, switches }) = wanted {
            let kind = kind.unwrap_or_else(|| room.kind().to_owned());
            // The default rule set is that of the room, or the first one of another game.
            let default = || match kind == room.kind() {
                true => Some(room.rule_set()),
                false => first_rule_set(&kind),
            };
            rule_set = set.or_else(|| default().map(str::to_owned)).unwrap_or_default();
            let chosen = choose_rules(&kind, &rule_set, &switches)?;
            (terms.rules, terms.hits) = (chosen.rules, chosen.hits);
            check_clocks(&terms)?;
        }
        if let Err(uneven) = terms.price.count_price(terms.rules.counts_per_bet()) {
            return Err(LobbyError::from_unsound_field(uneven.field, uneven.message));
        }
        if short_stakes && !terms.rules.may_have_short_stakes() {
            let why = "at this game a seat plays with its whole stake or not at all";
            return Err(LobbyError::from_unsound_field("short_stakes", why));
        }
        let room = Room::new(room.name(), &rule_set, terms).ok_or(LobbyError::BetOutOfBounds)?;
        let table = self.plan_private_table(host, room.terms()).await?;
        self.tables.create(table, room.terms().clone()).await?;
        let private = PrivateTable { table, host };
        for _ in 0..CODES_MAX {
            let code = generate_code();
            if self.live.open_private(&code, &private).await? {
                self.take_private_seat(host, table, room.kind(), room.seats().most).await?;
                let link = self.invitation_link(&code);
                return Ok(PrivateSeat { code, link, table });
            }
        }
        Err(LobbyError::Seating)
    }

    /// Turns the terms of a room into those of a private table.
    fn apply_private_terms(&self, terms: &mut Terms<AnyRules>, short_stakes: bool) {
        PRIVATE.clone_into(&mut terms.room);
        // Spectators of the room are not invited to the private table.
        terms.spectators = Spectators::Nobody;
        let ends_after_ms = self.options.private_ends_after.as_millis();
        let ends_after_ms = u32::try_from(ends_after_ms).unwrap_or(u32::MAX);
        terms.private = Some(PrivateTerms { ends_after_ms, short_stakes });
        // The host chooses the opponents of the bots.
        terms.bots = Skill::Quick;
    }

    /// Checks that a player may open a private table under these terms, and adds the table to those
    /// of the host. Returns its id.
    async fn plan_private_table(
        &self,
        host: PlayerId,
        terms: &Terms<AnyRules>,
    ) -> Result<TableId, LobbyError> {
        if self.seated_at(host).await?.is_some() {
            return Err(LobbyError::SeatedElsewhere);
        }
        self.require_socket(host).await?;
        let needed = terms.wallet_min().ok_or(LobbyError::BetOutOfBounds)?;
        self.require_coins(host, needed).await?;
        self.check_allowance(host, terms, Coins::ZERO).await?;
        let table = TableId(entropy::uuid());
        let open = self.live.hosted_tables(host).await?;
        let gone = self.ended_tables(&open).await?;
        if !self.live.add_hosted_table(host, table, &gone, PRIVATE_TABLES_MAX).await? {
            return Err(LobbyError::TooManyPrivateTables);
        }
        Ok(table)
    }

    /// Seats a player at the private table of a code, or returns its current seat there.
    pub async fn join_private(
        &self,
        player: PlayerId,
        code: &str,
    ) -> Result<PrivateSeat, LobbyError> {
        self.check_not_banned(player).await?;
        let (code, private, table) = self.resolve_code(code).await?;
        if self.live.is_kicked(&code, player).await? {
            return Err(LobbyError::KickedByHost);
        }
        match self.seated_at(player).await? {
            Some(seated) if seated == private.table => {}
            Some(_) => return Err(LobbyError::SeatedElsewhere),
            None => {
                self.require_open_house()?;
                self.require_socket(player).await?;
                let needed = table.terms().wallet_min();
                self.require_coins(player, needed.ok_or(LobbyError::BetOutOfBounds)?).await?;
                self.check_allowance(player, table.terms(), table.pot()).await?;
                self.take_seat_or_replace_bot(player, &table).await?;
            }
        }
        let link = self.invitation_link(&code);
        Ok(PrivateSeat { code, link, table: private.table })
    }

    /// Seats a guest, or frees the seat of a bot for it if no seat is free.
    async fn take_seat_or_replace_bot(
        &self,
        player: PlayerId,
        table: &Table<AnyGame>,
    ) -> Result<(), LobbyError> {
        let kind = table.kind();
        let seats = table.seat_count();
        match self.take_private_seat(player, table.id(), kind, seats).await {
            Err(LobbyError::TableFull) => {}
            seated => return seated,
        }
        let profile = self.matchmaking_profile(player, kind).await?;
        let guest = self.candidate(player, &profile, None);
        self.free_bot_seat(&guest, table).await?;
        self.take_private_seat(player, table.id(), kind, seats).await
    }

    /// Rejects the request if the house is closed: a private table has no room that could be.
    fn require_open_house(&self) -> Result<(), LobbyError> {
        if self.rooms.house().is_open { Ok(()) } else { Err(LobbyError::RoomClosed) }
    }

    /// Returns the private table of a code.
    pub async fn private_view(&self, code: &str) -> Result<PrivateView, LobbyError> {
        let (code, PrivateTable { table: id, host }, table) = self.resolve_code(code).await?;
        Ok(PrivateView {
            link: self.invitation_link(&code),
            code,
            table: id,
            host,
            terms: table.terms().clone(),
            seats: table.seat_count(),
            players: table.occupants().map(|(_, occupant)| occupant.player).collect(),
        })
    }

    /// Kicks a player from a private table, at the request of its host. The player cannot return
    /// with the same code.
    pub async fn kick_player(
        &self,
        by: PlayerId,
        code: &str,
        player: PlayerId,
    ) -> Result<(), LobbyError> {
        let (code, private, table) = self.resolve_code(code).await?;
        check_kick(&table, private.host, by, player)?;
        // The kick is stored before the player is removed, so that the player cannot return in
        // between.
        let is_new = self.live.kick(&code, player).await?;
        let removed = self.tables.submit(private.table, Input::Remove { player }).await;
        if is_new && matches!(removed, Err(TableError::Rejected(_))) {
            // A player who left first, or whose game has begun, must be able to return to the POT.
            self.live.remove_kick(&code, player).await?;
        }
        match removed {
            Ok(_) => Ok(()),
            Err(TableError::Rejected(Rejection::GameRunning)) => Err(LobbyError::GameRunning),
            Err(error) => Err(LobbyError::from_table(error, LobbyError::NotSeated)),
        }
    }

    /// Returns those of a host's tables that have ended.
    async fn ended_tables(&self, tables: &[TableId]) -> Result<Vec<TableId>, LobbyError> {
        let mut gone = Vec::new();
        for (table, exists) in tables.iter().zip(self.live.tables_exist(tables).await) {
            if !exists? {
                gone.push(*table);
            }
        }
        Ok(gone)
    }

    /// Returns the private table of a code, in any letter case.
    ///
    /// # Errors
    /// [`LobbyError::CodeUnknown`] for a code that is malformed, unknown or expired, or whose table
    /// has ended.
    async fn resolve_code(
        &self,
        code: &str,
    ) -> Result<(String, PrivateTable, Arc<Table<AnyGame>>), LobbyError> {
        let code = code.to_ascii_uppercase();
        let is_code =
            code.len() == CODE_LENGTH && code.bytes().all(|letter| ALPHABET.contains(&letter));
        if !is_code {
            return Err(LobbyError::CodeUnknown);
        }
        let private = self.live.private_table(&code).await?.ok_or(LobbyError::CodeUnknown)?;
        let table = self.tables.read_table(private.table).await?;
        let table = table.filter(|table| !table.has_ended()).ok_or(LobbyError::CodeUnknown)?;
        Ok((code, private, table))
    }

    /// Rejects a player for whom a game could win more than its remaining allowance at private
    /// tables. The ledger checks this again before each game, with the actual stakes.
    async fn check_allowance(
        &self,
        player: PlayerId,
        terms: &Terms<AnyRules>,
        pot: Coins,
    ) -> Result<(), LobbyError> {
        let most = max_winnings(terms, pot).ok_or(LobbyError::BetOutOfBounds)?;
        let left = self.ledger.allowance_left(player, self.tables.clock().now()).await?;
        if most > left {
            return Err(LobbyError::PrivateBetTooHigh { most, left });
        }
        Ok(())
    }

    async fn take_private_seat(
        &self,
        player: PlayerId,
        table: TableId,
        kind: &str,
        seats: u8,
    ) -> Result<(), LobbyError> {
        let profile = self.matchmaking_profile(player, kind).await?;
        let candidates = [self.candidate(player, &profile, None)];
        let reserve = private_reservation(seats, &candidates);
        if !self.live.reserve_at_table(reserve, table).await? {
            return Err(LobbyError::TableFull);
        }
        match self.take_seat(table, &SeatRequest::new(player, &profile, reserve)).await? {
            SeatingEnd::NoSeat => Err(LobbyError::TableFull),
            end => self.finish_seating(player, end).await.map(|_| ()),
        }
    }

    fn invitation_link(&self, code: &str) -> String {
        format!("{}/{code}", self.options.invite_base.trim_end_matches('/'))
    }
}

/// Returns a random code.
fn generate_code() -> String {
    entropy::random_letters(ALPHABET, CODE_LENGTH)
}

/// Rejects a bet outside the bounds of private tables.
fn check_bet(bet: Coins) -> Result<(), LobbyError> {
    if is_private_bet(bet) { Ok(()) } else { Err(LobbyError::BetOutOfBounds) }
}

/// Returns the reservation of seats at a private table, where networks keep nobody apart.
fn private_reservation(seats: u8, candidates: &[Candidate]) -> SeatReservation<'_> {
    SeatReservation { room: PRIVATE, seats, candidates, networks_apart: false }
}

#[cfg(test)]
mod tests {
    use super::{ALPHABET, CODE_LENGTH};

    #[test]
    fn a_code_has_enough_to_guess_and_nothing_to_mistake() {
        assert!(ALPHABET.len().pow(u32::try_from(CODE_LENGTH).unwrap()) > 1 << 39);
        assert!(b"01ILO".iter().all(|letter| !ALPHABET.contains(letter)));
    }
}
