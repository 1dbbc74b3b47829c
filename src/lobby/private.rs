//! PrivateTerms tables: whoever has the code may sit down. The host chooses the bet and the room whose
//! rules hold, and may send somebody away while no game runs. After a game the same seats are
//! asked whether they are ready for the next, as at any table: that is the rematch.
//!
//! Friends may sit in one house, so an address keeps nobody apart here; a device does. What a player
//! wins at private tables is bounded instead, see [`crate::allowance`]: who has won so much that
//! another game could bring too much is refused, here and before each game. Who is sent
//! away takes along what it has paid into the POT. A table at which nobody has sat for an hour comes
//! to its end, and its POT goes back to those who paid it (rule 7.4); a code is forgotten after a day
//! without use. A player is the host of [`PRIVATE_TABLES_MAX`] tables at most.

use bahay_engine::coins::Coins;
use bahay_engine::game::{Game, Skill};
use bahay_engine::table::{Input, PlayerId, PrivateTerms, Rejection, Spectators, Table, TableId, Terms};

use crate::entropy;
use crate::live_store::{PrivateTable, SeatReservation};
use crate::rooms::{PRIVATE, Room, RoomError, RuleSetRequest, check_clocks, choose_rules};
use crate::tables::SubmitError;
use bahay_engine::catalog::{self, AnyGame, AnyRules};

use super::take_seat::{SeatOutcome, NewOccupant};
use super::{Lobby, LobbyError, max_winnings};

/// Letters and digits that nobody takes for another one, read or heard.
const ALPHABET: &[u8] = b"ABCDEFGHJKMNPQRSTUVWXYZ23456789";

/// How many of them make a code: with 31 of them, some 40 bits.
pub const CODE_LENGTH: usize = 8;

/// The highest bet, in whole coins.
pub const PRIVATE_BET_MAX: i64 = 100_000;

/// How many tables of one host there may be at once. One that everybody has left counts until it is
/// forgotten.
pub const PRIVATE_TABLES_MAX: usize = 8;

/// Codes that turn out to be taken, before something must be wrong.
const CODES_MAX: usize = 4;

/// The private table that a host asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct PrivateTableRequest {
    /// The room whose fee, POT rules and countdowns hold.
    pub room: String,
    /// `None` where the room's rules are played.
    pub rules: Option<RuleSetRequest>,
    pub bet: Coins,
    /// Lets players stay whose wallet does not cover the most that can be owed (rule 6.9).
    pub short_stakes: bool,
}

/// A seat at a private table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrivateSeat {
    pub code: String,
    pub link: String,
    pub table: TableId,
}

/// A private table as whoever has the code sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct PrivateView {
    pub code: String,
    pub link: String,
    pub table: TableId,
    pub host: PlayerId,
    pub terms: Terms<AnyRules>,
    pub wallet_min: Coins,
    pub seats: u8,
    pub players: Vec<PlayerId>,
}

impl Lobby {
    /// Opens a private table with the rules of a room and a bet of the host's, who sits down.
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
            let first =
                || catalog::kinds().into_iter().find(|known| Some(known.name) == kind.as_deref());
            let is_other = kind.as_deref().is_some_and(|kind| kind != room.kind());
            // Another game than the room's is played by its first rule set, if none is named.
            let default = || match is_other {
                true => first().and_then(|known| known.rule_sets.first().map(|set| set.name)),
                false => Some(room.rule_set()),
            };
            let set = set.or_else(|| default().map(str::to_owned)).unwrap_or_default();
            let kind = kind.unwrap_or_else(|| room.kind().to_owned());
            let chosen = choose_rules(&kind, &set, &switches).map_err(LobbyError::Rules)?;
            (terms.rules, terms.hits) = (chosen.rules, chosen.hits);
            check_clocks(&terms).map_err(LobbyError::Rules)?;
            rule_set = set;
        }
        if let Err(uneven) = terms.price.of_count(AnyGame::counts_per_bet(&terms.rules)) {
            let field = uneven.field.into();
            let why = uneven.what.into();
            return Err(LobbyError::Rules(RoomError::Unsound { field, why }));
        }
        if short_stakes && !AnyGame::may_have_short_stakes(&terms.rules) {
            return Err(LobbyError::Rules(RoomError::Unsound {
                field: "short_stakes".into(),
                why: "at this game a seat plays with its whole stake or not at all".into(),
            }));
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
    pub(super) fn apply_private_terms(&self, terms: &mut Terms<AnyRules>, short_stakes: bool) {
        PRIVATE.clone_into(&mut terms.room);
        // Spectators of the room are not invited here.
        terms.spectators = Spectators::Nobody;
        let ends_after_ms = self.options.private_ends_after.as_millis();
        let ends_after_ms = u32::try_from(ends_after_ms).unwrap_or(u32::MAX);
        terms.private = Some(PrivateTerms { ends_after_ms, short_stakes });
        // The host chooses who plays against them.
        terms.bots = Skill::Quick;
    }

    /// Checks that a player may open a private table of these terms, and notes the table among those
    /// of the host. Returns its id.
    pub(super) async fn plan_private_table(
        &self,
        host: PlayerId,
        terms: &Terms<AnyRules>,
    ) -> Result<TableId, LobbyError> {
        if self.seated_at(host).await?.is_some() {
            return Err(LobbyError::SeatedElsewhere);
        }
        self.require_socket(host).await?;
        let needed = terms.wallet_min::<AnyGame>().ok_or(LobbyError::BetOutOfBounds)?;
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

    /// A seat at the table of a code.
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
                let needed = table.terms().wallet_min::<AnyGame>();
                self.require_coins(player, needed.ok_or(LobbyError::BetOutOfBounds)?).await?;
                self.check_allowance(player, table.terms(), table.pot()).await?;
                self.take_seat_or_replace_bot(player, &table).await?;
            }
        }
        let link = self.invitation_link(&code);
        Ok(PrivateSeat { code, link, table: private.table })
    }

    /// Seats a guest, in the place of a bot if no seat is free.
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

    /// PrivateTerms tables have no room that could be closed, only the house.
    pub(super) fn require_open_house(&self) -> Result<(), LobbyError> {
        if self.rooms.house().is_open { Ok(()) } else { Err(LobbyError::RoomClosed) }
    }

    /// What a code stands for.
    pub async fn private_view(&self, code: &str) -> Result<PrivateView, LobbyError> {
        let (code, PrivateTable { table: id, host }, table) = self.resolve_code(code).await?;
        Ok(PrivateView {
            link: self.invitation_link(&code),
            code,
            table: id,
            host,
            terms: table.terms().clone(),
            wallet_min: table.terms().wallet_min::<AnyGame>().unwrap_or(Coins::ZERO),
            seats: table.seat_count(),
            players: table.occupants().map(|(_, who)| who.player).collect(),
        })
    }

    /// The host sends somebody away, who cannot come back by the same code.
    pub async fn kick_player(
        &self,
        by: PlayerId,
        code: &str,
        player: PlayerId,
    ) -> Result<(), LobbyError> {
        let (code, private, table) = self.resolve_code(code).await?;
        if private.host != by {
            return Err(LobbyError::NotHost);
        }
        let Some(seat) = table.seat_of(player).filter(|_| player != by) else {
            return Err(LobbyError::NotSeated);
        };
        if seat.number() < table.seats_in_game() {
            return Err(LobbyError::GameRunning);
        }
        // First barred, then removed: nobody slips in again in between.
        let is_new = self.live.kick(&code, player).await?;
        let removed = self.tables.submit(private.table, Input::Remove { player }).await;
        if is_new && matches!(removed, Err(SubmitError::Rejected(_))) {
            // Else who was faster to leave, or to begin a game, could not come back to the POT.
            self.live.remove_kick(&code, player).await?;
        }
        match removed {
            Ok(_) => Ok(()),
            Err(SubmitError::Rejected(Rejection::GameRunning)) => Err(LobbyError::GameRunning),
            Err(SubmitError::Rejected(_) | SubmitError::Missing) => Err(LobbyError::NotSeated),
            Err(SubmitError::Halted) => Err(LobbyError::Halted),
            Err(SubmitError::OtherVersion) => Err(LobbyError::OtherVersion),
            Err(SubmitError::Unavailable(error)) => Err(error.into()),
        }
    }

    /// Those of a host's tables that are over.
    async fn ended_tables(&self, tables: &[TableId]) -> Result<Vec<TableId>, LobbyError> {
        let mut gone = Vec::new();
        for (table, exists) in tables.iter().zip(self.live.tables_exist(tables).await) {
            if !exists? {
                gone.push(*table);
            }
        }
        Ok(gone)
    }

    /// What a code stands for, however it was typed. A code whose table is gone stands for nothing.
    pub(super) async fn resolve_code(
        &self,
        code: &str,
    ) -> Result<(String, PrivateTable, std::sync::Arc<Table<AnyGame>>), LobbyError> {
        let code = code.to_ascii_uppercase();
        let is_code =
            code.len() == CODE_LENGTH && code.bytes().all(|letter| ALPHABET.contains(&letter));
        if !is_code {
            return Err(LobbyError::CodeUnknown);
        }
        let private = self.live.private_table(&code).await?.ok_or(LobbyError::CodeUnknown)?;
        let table = self.tables.look(private.table).await?;
        let table = table.filter(|table| !table.has_ended()).ok_or(LobbyError::CodeUnknown)?;
        Ok((code, private, table))
    }

    async fn require_coins(&self, player: PlayerId, needed: Coins) -> Result<(), LobbyError> {
        let wallet = self.ledger.wallet(player).await?;
        if wallet.available < needed {
            return Err(LobbyError::TooFewCoins { needed });
        }
        Ok(())
    }

    /// Refuses whom a game may bring more than it may still win at private tables. The ledger asks
    /// again before each game, with what everybody stakes then.
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
        let who = [self.candidate(player, &profile, None)];
        let reserve = SeatReservation { room: PRIVATE, seats, who: &who, networks_apart: false };
        if !self.live.reserve_at_table(reserve, table).await? {
            return Err(LobbyError::TableFull);
        }
        let avatar = profile.avatar.as_deref();
        let occupant = NewOccupant { player, name: &profile.name, avatar, is_bot: false };
        let sat = self.take_seat(&occupant, table).await?;
        match sat {
            SeatOutcome::Seated => Ok(self.live.drop_matching_ticket(player).await?),
            SeatOutcome::BoundElsewhere | SeatOutcome::NoSeat => {
                self.live.unreserve(PRIVATE, table, player).await?;
                Err(if sat == SeatOutcome::NoSeat { LobbyError::TableFull } else { LobbyError::Seating })
            }
        }
    }

    fn invitation_link(&self, code: &str) -> String {
        format!("{}/{code}", self.options.invite_base.trim_end_matches('/'))
    }
}

/// Makes up a code.
pub(super) fn generate_code() -> String {
    entropy::random_letters(ALPHABET, CODE_LENGTH)
}

/// Checks that a private table may be opened at a bet.
pub(super) fn check_bet(bet: Coins) -> Result<(), LobbyError> {
    let most = Coins::from_whole(PRIVATE_BET_MAX).unwrap_or(Coins::ZERO);
    let least = Coins::from_whole(1).unwrap_or(Coins::ZERO);
    if (least..=most).contains(&bet) { Ok(()) } else { Err(LobbyError::BetOutOfBounds) }
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
