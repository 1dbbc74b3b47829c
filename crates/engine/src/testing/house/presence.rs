//! Who is there: a node says every second that it lives, and registers the connections that it
//! serves. The connections of a node that has not been heard for three seconds are told gone by
//! the others, each one by its id, so that whoever is back elsewhere is not touched. A node that
//! finds it was taken for dead sends its clients to connect anew.

use alloc::rc::Rc;

use crate::table::Input;
use crate::testing::house::Mutation;
use crate::testing::house::node::Node;
use crate::testing::house::redis::{Registration, Reply, Request};
use crate::testing::house::slot::SubmitError;

const BEAT_EVERY_MS: u64 = 1_000;

/// The pause before a table is told again that a connection is gone.
const TELL_AGAIN_MS: u64 = 1_000;

impl Node {
    /// Says that it lives, and looks who does not. Without waiting for the answer to the last
    /// time: a call that is lost takes two seconds to be known as such, and with the pause after
    /// it a node that lives would be taken for dead.
    pub(super) async fn beat(self: Rc<Self>) {
        loop {
            if self.world.mutation() == Some(Mutation::WaitsForEachHeartbeat) {
                self.clone().beat_once().await;
            } else {
                self.spawn(self.clone().beat_once());
            }
            self.world.sleep(BEAT_EVERY_MS).await;
        }
    }

    async fn beat_once(self: Rc<Self>) {
        match self.redis(Request::Beat).await {
            Ok(Reply::Flag(false)) => self.send_away(),
            Ok(_) => self.bury().await,
            Err(_) => {}
        }
    }

    /// Sends its clients to connect anew: it ends, or was not heard for so long that others may
    /// have taken its place.
    pub(super) fn send_away(&self) {
        for connection in self.connections() {
            connection.close(&self.world);
            connection.frames.push(None);
        }
    }

    /// Tells tables of the connections that dead nodes had. What could not be told stays
    /// registered, for the next look of any node.
    async fn bury(self: &Rc<Self>) {
        let Ok(Reply::Dead(dead)) = self.redis(Request::TakeDead).await else {
            return;
        };
        for (run, registration) in dead {
            let Registration { table, player, connection } = registration;
            match self.submit(table, Input::Disconnect { player, connection }).await {
                Ok(_) | Err(SubmitError::Rejected(_) | SubmitError::Missing) => {
                    self.world.tally.borrow_mut().buried += 1;
                    let _ = self.redis(Request::Unregister { run, registration }).await;
                }
                Err(SubmitError::Unavailable) => {}
            }
        }
    }

    /// Tells a table that a connection of this node is gone, until it has heard it.
    pub(super) async fn disconnect(self: &Rc<Self>, registration: Registration) {
        let Registration { table, player, connection } = registration;
        loop {
            match self.submit(table, Input::Disconnect { player, connection }).await {
                Ok(_) | Err(SubmitError::Rejected(_) | SubmitError::Missing) => break,
                Err(SubmitError::Unavailable) => self.world.sleep(TELL_AGAIN_MS).await,
            }
        }
        let _ = self.redis(Request::Unregister { run: self.run, registration }).await;
    }
}
