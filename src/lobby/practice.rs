//! Practice tables (rule 8.7): one player with bots, any game and rule set of the catalogue,
//! without coins. An account without coins may sit there too.
//!
//! A practice table is created with its bots seated, and is marked in its terms
//! ([`Terms::practice`]): its host makes no calls to the ledger. Nothing played there enters the
//! ledger, the archive or any projection of them. Its bots have no accounts and sit at no other
//! table. A player sits at one table at a time and therefore has at most one practice table, which
//! is over when the player leaves and expires like every table without players. The number of
//! practice tables in the house is limited; concurrent requests may exceed the limit slightly.

use bahay_engine::catalog;
use bahay_engine::game::GameRules;
use bahay_engine::matchmaking::Candidate;
use bahay_engine::table::{Clocks, PlayerId, PracticeBot, Table, TableId, Terms};

use crate::accounts::HouseBot;
use crate::entropy;
use crate::live_store::SeatReservation;
use crate::rate_limit::Address;
use crate::rooms::{PRACTICE, RuleSetRequest, check_clocks, choose_rules};

use super::seats::SeatRequest;
use super::{Lobby, LobbyError, first_rule_set};

impl Lobby {
    /// Seats a player at a new practice table under these rules. `players` counts all seats,
    /// including the player's, and defaults to the minimum of the game. Returns the current table
    /// if the player already sits at a practice table.
    pub async fn join_practice(
        &self,
        player: PlayerId,
        wanted: RuleSetRequest,
        players: Option<u8>,
        from: Option<Address>,
    ) -> Result<TableId, LobbyError> {
        self.check_not_banned(player).await?;
        let terms = practice_terms(wanted, self.practice_clocks())?;
        let seats = terms.rules.seats();
        let count = players.unwrap_or(seats.least);
        if !(seats.least..=seats.most).contains(&count) {
            let why = format!("this game is for {} to {} players", seats.least, seats.most);
            return Err(LobbyError::from_unsound_field("players", why));
        }
        if let Some(seated) = self.seated_at(player).await? {
            let table = self.tables.read_table(seated).await?;
            let is_practice = table.is_some_and(|table| table.terms().practice);
            return if is_practice { Ok(seated) } else { Err(LobbyError::SeatedElsewhere) };
        }
        let house = self.rooms.house();
        if !house.is_open {
            return Err(LobbyError::RoomClosed);
        }
        let there_are = self.live.playing_count(PRACTICE).await?.tables;
        if there_are >= u64::from(self.options.practice_tables) {
            return Err(LobbyError::PracticeFull);
        }
        let id = TableId(entropy::uuid());
        self.require_socket(player).await?;
        let profile = self.matchmaking_profile(player, terms.rules.kind()).await?;
        self.check_no_shows(player, &profile, from).await?;
        let candidates = [Candidate::new(player, profile.rating)];
        let reserve = SeatReservation {
            room: PRACTICE,
            seats: 1,
            candidates: &candidates,
            networks_apart: false,
        };
        if !self.live.reserve_at_table(reserve, id).await? {
            return Err(LobbyError::Seating);
        }
        let table = Table::new(id, terms).with_revision(house.revision);
        self.tables.create_table(&table.with_bots(practice_bots(count - 1))).await?;
        let end = self.take_seat(id, &SeatRequest::new(player, &profile, reserve)).await?;
        self.finish_seating(player, end).await.map(|_| id)
    }

    /// Returns the clocks of the first room, which practice tables use.
    fn practice_clocks(&self) -> Clocks {
        self.rooms.rooms().first().map_or_else(Clocks::default, |room| room.terms().clocks)
    }
}

/// Returns the terms of a practice table: the first rule set of the game unless one is named.
fn practice_terms(
    RuleSetRequest { kind, rule_set, switches }: RuleSetRequest,
    clocks: Clocks,
) -> Result<Terms<catalog::AnyRules>, LobbyError> {
    let kind = kind.unwrap_or_default();
    let first = || first_rule_set(&kind).map(str::to_owned);
    let rule_set = rule_set.or_else(first).unwrap_or_default();
    let rules = choose_rules(&kind, &rule_set, &switches)?.rules;
    let terms = Terms::for_practice(PRACTICE, rules, clocks);
    check_clocks(&terms)?;
    Ok(terms)
}

/// Returns `count` bots with different names, which have no accounts.
fn practice_bots(count: u8) -> impl Iterator<Item = PracticeBot> {
    let [first, ..] = entropy::seed();
    (0..usize::from(count)).map(move |place| {
        let HouseBot { player, name, avatar } =
            HouseBot::without_account(usize::from(first) + place);
        PracticeBot { player, name, avatar }
    })
}
