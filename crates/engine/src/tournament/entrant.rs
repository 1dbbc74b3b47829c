//! The entrants of a tournament, with their scores.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use arrayvec::ArrayVec;

use crate::coins::Coins;
use crate::matchmaking::ConflictKey;
use crate::seat::SEATS_MAX;
use crate::table::{PlayerId, Timestamp};
use crate::tournament::id::TableNumber;
use crate::tournament::transfer::{Payment, TransferKey};

/// The number of recent opponents that an entrant is kept apart from (rule 2.5).
pub(super) const RECENT_MAX: usize = 8;

/// The state of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntrantState {
    /// The ledger has not confirmed the entry.
    Pending,
    /// The player takes part.
    Entered,
    /// The player lost at a cut.
    Eliminated,
    /// The player withdrew, could not pay, or entered too late.
    Withdrawn,
}

/// A player who has registered.
#[derive(Clone, Debug, PartialEq)]
pub struct Entrant {
    pub player: PlayerId,
    pub name: String,
    pub is_bot: bool,
    pub payment: Payment,
    /// The number of the player's entries, of which only the last counts.
    pub number: u32,
    state: EntrantState,
    /// True if the player of an arena tournament is not paired.
    pub is_paused: bool,
    pub(super) conflict_keys: Vec<ConflictKey>,
    /// The table at which the entrant plays.
    pub table: Option<TableNumber>,
    pub(super) standing: Standing,
    pub(super) group: u32,
    /// The games won in a row in an arena tournament.
    pub(super) streak: u32,
    /// The rounds without a table.
    pub(super) byes: u32,
    /// The number of rounds in each seat.
    pub(super) seat_counts: [u32; SEATS_MAX as usize],
    /// The indices of the last opponents, the latest last.
    pub(super) recent: ArrayVec<u32, RECENT_MAX>,
    pub(super) waits_since: Timestamp,
    pub(super) games: u32,
}

/// A registration, as the player requests it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Registration<'a> {
    pub(super) player: PlayerId,
    pub(super) name: &'a str,
    pub(super) payment: Payment,
    pub(super) is_bot: bool,
    pub(super) conflict_keys: &'a [ConflictKey],
}

/// The values by which entrants are ranked, the greatest first: the stage reached, the score in it,
/// and the tie-break.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Standing {
    /// The index of the stage.
    pub stage: u32,
    /// The score: hundredths of a point by rounds, points in an arena tournament, ten-thousandths
    /// in a duplicate.
    pub score: i64,
    /// The points of all games in an arena tournament or a duplicate; zero in a knock-out.
    pub tie_break: Coins,
}

impl Standing {
    /// Adds points to the sum that decides between equal scores.
    pub(super) fn add_points(&mut self, points: Coins) {
        self.tie_break = self.tie_break.checked_add(points).expect("scores are bounded");
    }
}

impl Entrant {
    /// Returns the entrant of a registration whose entry is pending.
    pub(super) fn new(registration: &Registration<'_>, number: u32, at: Timestamp) -> Self {
        let Registration { player, name, payment, is_bot, conflict_keys } = *registration;
        Self {
            player,
            name: name.into(),
            is_bot,
            payment,
            number,
            state: EntrantState::Pending,
            is_paused: false,
            conflict_keys: conflict_keys.to_vec(),
            table: None,
            standing: Standing::default(),
            group: 0,
            streak: 0,
            byes: 0,
            seat_counts: [0; SEATS_MAX as usize],
            recent: ArrayVec::new(),
            waits_since: at,
            games: 0,
        }
    }

    pub fn state(&self) -> EntrantState {
        self.state
    }

    pub(super) fn takes_part(&self) -> bool {
        self.state == EntrantState::Entered
    }

    /// Returns whether the entrant has entered and not withdrawn.
    pub(super) fn is_ranked(&self) -> bool {
        matches!(self.state, EntrantState::Entered | EntrantState::Eliminated)
    }

    pub fn standing(&self) -> Standing {
        self.standing
    }

    /// Returns the number of games that have been scored.
    pub fn games(&self) -> u32 {
        self.games
    }

    pub(super) fn return_key(&self) -> TransferKey {
        TransferKey::Return { player: self.player, number: self.number }
    }

    /// Notes an opponent, and forgets the earliest one beyond the bound.
    pub(super) fn note_opponent(&mut self, opponent: u32) {
        if self.recent.is_full() {
            self.recent.remove(0);
        }
        self.recent.push(opponent);
    }
}

/// The entrants by place, which is the order of their first registration. Numbers of entrants are
/// known without a search, because registrations ask for them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Entrants {
    list: Vec<Arc<Entrant>>,
    places: Arc<BTreeMap<PlayerId, u32>>,
    /// The number of entrants who have not withdrawn.
    registered: u32,
    /// The number of entrants who take part.
    entered: u32,
}

impl Entrants {
    /// Adds an entrant, in place of an earlier entry of the player. Returns the place.
    pub(super) fn add(&mut self, entrant: Entrant) -> u32 {
        let player = entrant.player;
        self.count(entrant.state, 1);
        if let Some(place) = self.place_of(player) {
            self.count(self.get(place).state, -1);
            *self.get_mut(place) = entrant;
            return place;
        }
        let place = u32::try_from(self.list.len()).expect("the number of entrants is bounded");
        Arc::make_mut(&mut self.places).insert(player, place);
        self.list.push(Arc::new(entrant));
        place
    }

    pub(super) fn place_of(&self, player: PlayerId) -> Option<u32> {
        self.places.get(&player).copied()
    }

    pub(super) fn get(&self, place: u32) -> &Entrant {
        &self.list[place as usize]
    }

    pub(super) fn get_mut(&mut self, place: u32) -> &mut Entrant {
        Arc::make_mut(&mut self.list[place as usize])
    }

    pub(super) fn set_state(&mut self, place: u32, state: EntrantState) {
        self.count(self.get(place).state, -1);
        self.count(state, 1);
        self.get_mut(place).state = state;
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Entrant> {
        self.list.iter().map(AsRef::as_ref)
    }

    /// Returns the number of entrants who have not withdrawn.
    pub(super) const fn registered(&self) -> u32 {
        self.registered
    }

    /// Returns the number of entrants who take part.
    pub(super) const fn entered(&self) -> u32 {
        self.entered
    }

    /// Adds an entrant of a state to the numbers, or removes it.
    fn count(&mut self, state: EntrantState, change: i32) {
        let add = |number: &mut u32| *number = number.saturating_add_signed(change);
        if state != EntrantState::Withdrawn {
            add(&mut self.registered);
        }
        if state == EntrantState::Entered {
            add(&mut self.entered);
        }
    }
}
