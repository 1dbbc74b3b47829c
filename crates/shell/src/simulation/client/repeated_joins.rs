//! A client that joins where it has already joined: once more or repeatedly on one connection, or
//! by a second connection beside the first.

use crate::simulation::SimulatedGame;
use crate::simulation::client::{Client, Intent};
use crate::simulation::to_json;
use crate::simulation::wire::Command;
use bahay_engine::table::ConnectionId;

/// The shares of updates after which a client joins once more, or repeatedly, on the same
/// connection.
const JOINS_AGAIN: u32 = 4;
const KEEPS_JOINING: u32 = 10;
const JOINS_EVERY_MS: (u32, u32) = (5, 100);
const JOINS: (u32, u32) = (10, 60);
/// The share of repeated joins that ask for a snapshot.
const JOINS_FOR_ALL: u32 = 250;
/// The share of updates after which a client joins by a second connection and abandons the first.
const CONNECTS_TWICE: u32 = 2;
const LEFT_TO_ITSELF_MS: (u32, u32) = (0, 6_000);
/// The share of these whose first connection joins once more afterwards, like a delayed command.
const JOINS_BEHIND: u32 = 200;

impl<G: SimulatedGame> Client<G> {
    /// Joins again at random.
    pub(super) fn rejoin_at_random(&mut self) {
        let world = self.world.clone();
        if world.chance(JOINS_AGAIN) {
            self.join_with(world.chance(JOINS_FOR_ALL));
        }
        let Some(own) = self.own_connection() else {
            return;
        };
        if world.chance(KEEPS_JOINING) {
            let joins = u32::try_from(world.random_between(JOINS)).unwrap_or(1);
            self.schedule_intent(Intent::JoinAgain(own, joins), 0);
        }
        if world.chance(CONNECTS_TWICE) {
            self.schedule_intent(Intent::ConnectTwice(own), 0);
        }
    }

    /// Joins once more, and schedules the next join if any are left.
    pub(super) fn join_again(&mut self, connection: ConnectionId, joins: u32) {
        let world = self.world.clone();
        if self.own_connection() != Some(connection) || self.known.is_none() || world.is_calm.get()
        {
            return;
        }
        world.totals.borrow_mut().joins_again += 1;
        self.join_with(world.chance(JOINS_FOR_ALL));
        let after_ms = world.random_between(JOINS_EVERY_MS);
        if let Some(left) = joins.checked_sub(1) {
            self.schedule_intent(Intent::JoinAgain(connection, left), after_ms);
        }
    }

    /// Joins by a second connection, and uses only that one from then on.
    pub(super) async fn connect_twice(&mut self, connection: ConnectionId) {
        let world = self.world.clone();
        if self.own_connection() != Some(connection) || world.is_calm.get() {
            return;
        }
        let Some(newer) = world.connect(self.number, world.random_slot()).await else {
            return;
        };
        let Some(older) = self.connection.replace(newer) else {
            return;
        };
        world.totals.borrow_mut().second_connections += 1;
        self.pending.clear();
        self.rejoin_or_seat();
        if world.chance(JOINS_BEHIND) {
            self.next_id += 1;
            let id = self.next_id;
            let join = Command::<G::Action>::Join { id, from: None, tag: None, table: None };
            older.send_up(&world, to_json(&join));
        }
        let after_ms = world.random_between(LEFT_TO_ITSELF_MS);
        world.schedule(after_ms, move |world| {
            world.break_off(&older, 0, world.random_between((0, 2_000)))
        });
    }
}
