//! The requests of the players and of the house, which are repeated until a node has answered.

use std::rc::Rc;

use bahay_engine::matchmaking::ConflictKey;
use bahay_engine::testing::tournament_player;
use bahay_engine::tournament::{CancelReason, Input};

use super::World;
use crate::simulation::tasks::{Owner, promise};

/// The time after which a client repeats a request without an answer.
const PATIENCE_MS: i64 = 10_000;

/// The time from an error to the repetition.
const REPEAT_MS: (u32, u32) = (1_000, 5_000);

/// The share of players who withdraw and register again, in thousandths.
const WITHDRAWN: u32 = 30;

impl World {
    /// Plans the registrations, some of which are withdrawn and repeated, and the cancellation.
    pub(super) fn send_requests(self: &Rc<Self>) {
        let accepts_passes = self.options.terms.entry.accepts_passes;
        for number in 0..self.options.players {
            let player = tournament_player(number);
            let key = self.random_below(self.options.players.max(1) * 3);
            let register = Input::Register {
                player,
                name: format!("Player {number}"),
                pass: accepts_passes && self.random_below(5) == 0,
                bot: false,
                conflict_keys: [ConflictKey(u64::from(key))].into(),
            };
            let at = i64::from(self.random_below(self.options.registration_ms));
            if self.has_fault(WITHDRAWN) {
                let withdrawal = at + self.random_ms((0, 30_000));
                self.send_request(withdrawal, Input::Withdraw { player });
                let again = withdrawal + self.random_ms((0, 30_000));
                self.send_request(again, register.clone());
            }
            self.send_request(at, register);
        }
        if let Some(after_ms) = self.options.cancel_after_ms {
            let reason = CancelReason::House;
            self.send_request(i64::from(after_ms), Input::Cancel { reason });
        }
    }

    /// Sends a request after a time.
    pub(super) fn send_request(&self, after_ms: i64, input: Input) {
        self.schedule(after_ms, move |world| {
            world.tasks.spawn(Owner::World, world.clone().repeat_request(input));
        });
    }

    async fn repeat_request(self: Rc<Self>, input: Input) {
        loop {
            let (answer, wait) = promise(&self.tasks);
            let timeout = answer.clone();
            self.schedule(PATIENCE_MS, move |_| timeout.resolve(false));
            match self.pick_node() {
                Some(node) => {
                    let owner = Owner::Node(node.slot);
                    let input = input.clone();
                    self.tasks.spawn(owner, async move {
                        answer.resolve(node.perform_request(input).await.is_ok());
                    });
                }
                None => answer.resolve(false),
            }
            if wait.await {
                return;
            }
            self.sleep(self.random_ms(REPEAT_MS)).await;
        }
    }
}
