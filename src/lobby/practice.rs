//! Practice tables (rule 8.7): a player alone with bots, any game and rule set of the catalogue, and
//! no coins. An account without coins sits down there too.
//!
//! The table is made with its bots in their seats, and is told apart by its terms
//! ([`Terms::practice`]): its host asks the ledger nothing. So nothing of what is played there is in
//! the ledger, in the archive, or in anything that is counted from them. Its bots are nobody's
//! accounts, and sit nowhere else. A player sits at one table, so has one practice table at most; when
//! the player goes it is over, and forgotten with every other table at which nobody sits. How many
//! there are in the house is bounded; requests that come at once may go beyond that by some.

use bahay_engine::catalog::{self, AnyGame};
use bahay_engine::game::Game as _;
use bahay_engine::matchmaking::Companion;
use bahay_engine::table::{Clocks, PlayerId, PracticeBot, Table, TableId, Terms};

use crate::accounts::HouseBot;
use crate::edge::Address;
use crate::entropy;
use crate::live_store::Reserve;
use crate::rooms::{PRACTICE, RoomError, RulesWanted, check_clocks, chosen_rules};

use super::private::WantedRules;
use super::sit::{Sat, Sitter};
use super::{Lobby, LobbyError};

impl Lobby {
    /// A seat at a practice table of these rules, with so many at the table, the player among them;
    /// as few as the game takes, if that is not said. Who sits at a practice table already is sent
    /// back there.
    pub async fn practise(
        &self,
        player: PlayerId,
        wanted: WantedRules,
        players: Option<u8>,
        from: Option<Address>,
    ) -> Result<TableId, LobbyError> {
        self.let_in(player).await?;
        let terms = practice_terms(wanted, self.practice_clocks())?;
        let seats = AnyGame::seats(&terms.rules);
        let count = players.unwrap_or(seats.least);
        if !(seats.least..=seats.most).contains(&count) {
            let why = format!("this game is for {} to {} players", seats.least, seats.most);
            let unsound = RoomError::Unsound { field: "players".into(), why: why.into() };
            return Err(LobbyError::Rules(unsound));
        }
        if let Some(seated) = self.seated_at(player).await? {
            let table = self.tables.look(seated).await?;
            let is_practice = table.is_some_and(|table| table.terms().practice);
            return if is_practice { Ok(seated) } else { Err(LobbyError::SeatedElsewhere) };
        }
        let house = self.rooms.house();
        if !house.is_open {
            return Err(LobbyError::RoomClosed);
        }
        let there_are = self.live.playing(PRACTICE).await?.tables;
        if there_are >= u64::from(self.options.practice_tables) {
            return Err(LobbyError::PracticeFull);
        }
        let id = TableId(entropy::uuid());
        self.require_socket(player).await?;
        let bearing = self.bearing(player, terms.rules.kind()).await?;
        self.check_no_shows(player, &bearing, from).await?;
        let who = [Companion::new(player, bearing.rating)];
        let reserve = Reserve { room: PRACTICE, seats: 1, who: &who, networks_apart: false };
        if !self.live.reserve_here(reserve, id).await? {
            return Err(LobbyError::Seating);
        }
        let table = Table::new(id, terms).of_revision(house.revision);
        self.tables.put(&table.with_bots(bots(count - 1))).await?;
        let avatar = bearing.avatar.as_deref();
        let sitter = Sitter { player, name: &bearing.name, avatar, is_bot: false };
        match self.sit(&sitter, id).await? {
            Sat::Here => {
                self.live.drop_matching_ticket(player).await?;
                Ok(id)
            }
            Sat::Elsewhere | Sat::NoPlace => {
                self.live.unreserve(PRACTICE, id, player).await?;
                Err(LobbyError::Seating)
            }
        }
    }

    /// Practice is timed as the first room is.
    fn practice_clocks(&self) -> Clocks {
        self.rooms.rooms().first().map_or_else(Clocks::default, |room| room.terms().clocks)
    }
}

/// What is played by, without coins.
fn practice_terms(
    WantedRules { kind, rule_set, switches }: WantedRules,
    clocks: Clocks,
) -> Result<Terms<catalog::AnyRules>, LobbyError> {
    let kind = kind.unwrap_or_default();
    let first = || {
        let known = catalog::kinds().into_iter().find(|known| known.name == kind)?;
        known.rule_sets.first().map(|set| set.name.to_owned())
    };
    let rule_set = rule_set.or_else(first).unwrap_or_default();
    let wanted = RulesWanted { kind, rule_set, switches };
    let rules = chosen_rules(&wanted).map_err(LobbyError::Rules)?.rules;
    let terms = Terms::of_practice(PRACTICE, rules, clocks);
    check_clocks(&terms).map_err(LobbyError::Rules)?;
    Ok(terms)
}

/// So many bots with names of their own.
fn bots(count: u8) -> impl Iterator<Item = PracticeBot> {
    let [first, ..] = entropy::seed();
    (0..usize::from(count)).map(move |place| {
        let HouseBot { id: player, name, avatar } = HouseBot::of_nobody(usize::from(first) + place);
        PracticeBot { player, name, avatar }
    })
}
