//! The copy of the rooms in a process.

use std::sync::Arc;
use std::time::Duration;

use sqlx::PgPool;
use tokio::sync::watch;
use tokio::time::MissedTickBehavior;

use super::{HouseSwitch, PRACTICE, PRIVATE, Room, RoomError, main_switch, store};
use crate::tables::{RoomTerms, TermsSource};
use bahay_engine::catalog::AnyRules;
use bahay_engine::table::Terms;

/// The interval at which the copy is refreshed.
const REFRESH_INTERVAL: Duration = Duration::from_millis(400);

/// The rooms as this process knows them. Clones share everything.
#[derive(Clone, Debug)]
pub struct Catalog {
    pub(super) pool: Option<PgPool>,
    /// The rooms, all closed while the house is closed.
    rooms: Arc<watch::Sender<Arc<[Arc<Room>]>>>,
    house: Arc<watch::Sender<HouseSwitch>>,
}

/// Rooms that never change.
impl From<Vec<Room>> for Catalog {
    fn from(rooms: Vec<Room>) -> Self {
        let rooms = Arc::new(watch::Sender::new(sort_by_bet(rooms)));
        Self { pool: None, rooms, house: Arc::new(watch::Sender::new(HouseSwitch::OPEN)) }
    }
}

impl Catalog {
    /// Loads the rooms of a database. A database without rooms is filled with `first`.
    pub async fn load(pool: PgPool, first: &[Room]) -> Result<Self, RoomError> {
        let mut rooms = store::read_rooms(&pool).await?;
        if rooms.is_empty() {
            store::insert_first_rooms(&pool, first).await?;
            rooms = store::read_rooms(&pool).await?;
        }
        let house = main_switch::read_switch(&pool).await?;
        let rooms = Arc::new(watch::Sender::new(sort_by_bet(close_with_house(house, rooms))));
        Ok(Self { pool: Some(pool), rooms, house: Arc::new(watch::Sender::new(house)) })
    }

    /// Returns all rooms, by rising bet.
    pub fn rooms(&self) -> Arc<[Arc<Room>]> {
        self.rooms.borrow().clone()
    }

    pub fn room(&self, id: &str) -> Option<Arc<Room>> {
        self.rooms.borrow().iter().find(|room| room.id() == id).cloned()
    }

    /// Returns the main switch as this process knows it.
    pub fn house(&self) -> HouseSwitch {
        *self.house.borrow()
    }

    /// Returns the terms that the room of a table now prescribes, or `None` if the table already
    /// has this revision or a newer one. The main switch alone applies to private and practice
    /// tables.
    pub fn room_terms(
        &self,
        table_terms: &Terms<AnyRules>,
        known_revision: u32,
    ) -> Option<RoomTerms<AnyRules>> {
        let HouseSwitch { is_open, revision } = self.house();
        if table_terms.room == PRIVATE || table_terms.room == PRACTICE {
            let terms = || RoomTerms { revision, is_open, terms: table_terms.clone() };
            return (revision > known_revision).then(terms);
        }
        let room = self.room(&table_terms.room)?;
        // The sum of two numbers that only rise rises with either of them.
        let revision = room.revision().saturating_add(revision);
        (revision > known_revision).then(|| RoomTerms {
            revision,
            is_open: is_open && room.is_open(),
            terms: room.terms().clone(),
        })
    }

    /// Returns the source of terms for tables, which thereby follow later changes of their rooms.
    pub fn terms_source(&self) -> TermsSource<AnyRules> {
        let catalog = self.clone();
        TermsSource::new(move |terms, known_revision| catalog.room_terms(terms, known_revision))
    }

    /// Subscribes to changes of the rooms.
    pub fn subscribe_changes(&self) -> watch::Receiver<Arc<[Arc<Room>]>> {
        self.rooms.subscribe()
    }

    /// Refreshes the copy. Runs for as long as it is polled; a process has one such task.
    pub async fn follow_changes(self) {
        let mut ticks = tokio::time::interval(REFRESH_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut is_failing = false;
        loop {
            ticks.tick().await;
            match self.refresh().await {
                Ok(()) => is_failing = false,
                Err(error) => {
                    // The error is logged once, not at every refresh.
                    if !is_failing {
                        tracing::error!(%error, "rooms could not be refreshed");
                    }
                    is_failing = true;
                }
            }
        }
    }

    /// Loads the stored rooms and the main switch.
    pub(super) async fn refresh(&self) -> Result<(), RoomError> {
        let Some(pool) = &self.pool else {
            return Ok(());
        };
        let house = main_switch::read_switch(pool).await?;
        let rooms = sort_by_bet(close_with_house(house, store::read_rooms(pool).await?));
        let before = self.house();
        if house.revision < before.revision {
            return Ok(());
        }
        self.house.send_replace(house);
        self.rooms.send_if_modified(|known| {
            // A slow refresh must not overwrite the result of a later one.
            let is_older = |new: &Arc<Room>| {
                known.iter().any(|old| old.id() == new.id() && old.revision() > new.revision())
            };
            if (**known == *rooms && house == before) || rooms.iter().any(is_older) {
                return false;
            }
            *known = rooms;
            true
        });
        Ok(())
    }
}

/// Closes all rooms if the house is closed.
fn close_with_house(house: HouseSwitch, mut rooms: Vec<Room>) -> Vec<Room> {
    for room in &mut rooms {
        room.draft.is_open &= house.is_open;
    }
    rooms
}

fn sort_by_bet(mut rooms: Vec<Room>) -> Arc<[Arc<Room>]> {
    rooms.sort_by(|one, other| {
        let bet = |room: &Room| room.terms().price.bet;
        bet(one).cmp(&bet(other)).then_with(|| one.id().cmp(other.id()))
    });
    rooms.into_iter().map(Arc::new).collect()
}
