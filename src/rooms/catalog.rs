//! The copy of the rooms that a process works by.

use std::sync::Arc;
use std::time::Duration;

use sqlx::PgPool;
use tokio::sync::watch;
use tokio::time::MissedTickBehavior;

use super::{House, PRACTICE, PRIVATE, Room, RoomError, main_switch, store};
use crate::tables::RoomTerms;
use bahay_engine::catalog::AnyRules;
use bahay_engine::table::Terms;

/// How often it is asked what is new.
const EVERY: Duration = Duration::from_millis(400);

/// The rooms, as this process knows them. Clones share everything.
#[derive(Clone, Debug)]
pub struct Catalog {
    pub(super) pool: Option<PgPool>,
    /// Closed while the house is.
    rooms: Arc<watch::Sender<Arc<[Arc<Room>]>>>,
    house: Arc<watch::Sender<House>>,
}

/// Rooms that stay as they are.
impl From<Vec<Room>> for Catalog {
    fn from(rooms: Vec<Room>) -> Self {
        let rooms = Arc::new(watch::Sender::new(sorted(rooms)));
        Self { pool: None, rooms, house: Arc::new(watch::Sender::new(House::OPEN)) }
    }
}

impl Catalog {
    /// Reads the rooms of a database. One without any gets these.
    pub async fn load(pool: PgPool, first: &[Room]) -> Result<Self, RoomError> {
        let mut rooms = store::read(&pool).await?;
        if rooms.is_empty() {
            store::seed(&pool, first).await?;
            rooms = store::read(&pool).await?;
        }
        let house = main_switch::read(&pool).await?;
        let rooms = Arc::new(watch::Sender::new(sorted(under(house, rooms))));
        Ok(Self { pool: Some(pool), rooms, house: Arc::new(watch::Sender::new(house)) })
    }

    /// All of them, by rising bet.
    pub fn rooms(&self) -> Arc<[Arc<Room>]> {
        self.rooms.borrow().clone()
    }

    pub fn room(&self, id: &str) -> Option<Arc<Room>> {
        self.rooms.borrow().iter().find(|room| room.id() == id).cloned()
    }

    /// The main switch, as this process knows it.
    pub fn house(&self) -> House {
        *self.house.borrow()
    }

    /// What its room says to a table of these terms; nothing when the table has heard of it, or of
    /// something newer. Private and practice tables have the house alone.
    pub fn room_terms(&self, of: &Terms<AnyRules>, heard: u32) -> Option<RoomTerms<AnyRules>> {
        let House { is_open, revision } = self.house();
        if of.room == PRIVATE || of.room == PRACTICE {
            let terms = || RoomTerms { revision, is_open, terms: of.clone() };
            return (revision > heard).then(terms);
        }
        let room = self.room(&of.room)?;
        // A sum of two numbers that only rise: it rises with either.
        let revision = room.revision().saturating_add(revision);
        (revision > heard).then(|| RoomTerms {
            revision,
            is_open: is_open && room.is_open(),
            terms: room.terms().clone(),
        })
    }

    /// Marked whenever a room has changed.
    pub fn changes(&self) -> watch::Receiver<Arc<[Arc<Room>]>> {
        self.rooms.subscribe()
    }

    /// Keeps the copy true, for as long as it is polled. One such task a process.
    pub async fn follow(self) {
        let mut ticks = tokio::time::interval(EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut is_deaf = false;
        loop {
            ticks.tick().await;
            match self.refresh().await {
                Ok(()) => is_deaf = false,
                Err(error) => {
                    // Said once, not at every look.
                    if !is_deaf {
                        tracing::error!(%error, "changes of rooms are not heard of");
                    }
                    is_deaf = true;
                }
            }
        }
    }

    /// Reads what is stored now.
    pub(super) async fn refresh(&self) -> Result<(), RoomError> {
        let Some(pool) = &self.pool else {
            return Ok(());
        };
        let house = main_switch::read(pool).await?;
        let rooms = sorted(under(house, store::read(pool).await?));
        let before = self.house();
        if house.revision < before.revision {
            return Ok(());
        }
        self.house.send_replace(house);
        self.rooms.send_if_modified(|known| {
            // A look that took long must not undo what a later one has seen.
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

/// The rooms of a house: closed while it is.
fn under(house: House, mut rooms: Vec<Room>) -> Vec<Room> {
    for room in &mut rooms {
        room.is_open &= house.is_open;
    }
    rooms
}

fn sorted(mut rooms: Vec<Room>) -> Arc<[Arc<Room>]> {
    rooms.sort_by(|one, other| {
        let bet = |room: &Room| room.terms().price.bet;
        bet(one).cmp(&bet(other)).then_with(|| one.id().cmp(other.id()))
    });
    rooms.into_iter().map(Arc::new).collect()
}
