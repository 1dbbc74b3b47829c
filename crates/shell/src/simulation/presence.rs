//! Who is there: a node says every second that it lives, and notes the connections that it serves,
//! as `src/tables/presence.rs` does. What is to be noted and told, and in which order, the shell
//! knows.

use std::rc::Rc;

use bahay_engine::games::tongits::{Action, Illegal};
use bahay_engine::table::{ConnectionId, Input, TableId};

use crate::simulation::Mutation;
use crate::simulation::node::Node;
use crate::simulation::redis::{Reply, Request as RedisRequest};
use crate::{
    Burial, BurialCall, Ending, Failure, NodeId, Noted, Present, Request, Unavailable, is_told_gone,
};

const BEAT_EVERY_MS: u64 = 1_000;

/// Departures that are told again at one beat.
const AGAIN: usize = 16;

/// There is one shard.
const SHARD: u16 = 0;

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
        let (node, has_beaten) = self.presence.borrow().name(SHARD);
        let was_down = self.is_down.get();
        let Ok(Reply::Beat { is_dead, taken }) =
            self.redis(RedisRequest::Beat { node, has_beaten }).await
        else {
            self.is_down.set(true);
            return;
        };
        self.is_down.set(false);
        if was_down {
            // The last things that Redis was told before it went away may be lost.
            self.note_all().await;
        }
        // An answer to a beat under a name that it has no more says nothing.
        if self.presence.borrow().name(SHARD).0 == node {
            let anew = || NodeId(self.world.id());
            if self.presence.borrow_mut().beaten(SHARD, is_dead, anew) {
                self.spawn(self.clone().end_watches());
            }
        }
        for node in taken {
            let here = self.clone();
            self.spawn(async move {
                // What breaks off is left to others.
                let _ = here.bury(node).await;
            });
        }
        for present in self.presence.borrow().gone(SHARD, AGAIN) {
            let here = self.clone();
            self.spawn(async move { here.leave(present).await });
        }
    }

    /// It was taken for dead: its clients are to come again.
    async fn end_watches(self: Rc<Self>) {
        for slot in self.slots() {
            self.ask(&slot, Request::CatchUp).await;
            slot.host.borrow_mut().end_watches(Ending::NodeGone);
            self.see_to(&slot);
        }
    }

    /// Tells the tables of a dead node's connections.
    async fn bury(self: &Rc<Self>, dead: NodeId) -> Result<(), Unavailable> {
        let mut burial = Burial::new();
        while let Some(call) = burial.next_call() {
            match call {
                BurialCall::Read => match self.redis(RedisRequest::Noted { node: dead }).await? {
                    Reply::Noted(present) => burial.read(present),
                    other => unreachable!("{other:?} is no answer to a reading"),
                },
                BurialCall::Tell(present) => {
                    let mut told = Vec::new();
                    for present in present {
                        if is_told_gone(&self.decide(present.table, present.farewell()).await) {
                            self.world.tally.borrow_mut().buried += 1;
                            told.push(present);
                        }
                    }
                    if !burial.told(told) {
                        return Err(Unavailable("no table could be told".into()));
                    }
                }
                BurialCall::Forget(present) => {
                    self.redis(RedisRequest::Forget { node: dead, present }).await?;
                    burial.forgot();
                }
                BurialCall::Bury => {
                    self.redis(RedisRequest::Bury { node: dead }).await?;
                }
            }
        }
        Ok(())
    }

    /// Has a table decide on an input. Whoever it speaks of is noted before it, and forgotten after.
    pub(super) async fn submit(
        self: &Rc<Self>,
        table: TableId,
        input: Input<Action>,
    ) -> Result<u64, Failure<Illegal>> {
        let before = self.presence.borrow_mut().before(table, SHARD, &input);
        if let Some((noted, earlier)) = before {
            self.note(noted).await?;
            if let Some(earlier) = earlier {
                self.forget(earlier).await;
            }
        }
        let gone = Present::gone(table, &input);
        let submitted = self.decide(table, input).await;
        let after = self.presence.borrow_mut().after(gone, SHARD, &submitted);
        if let Some(noted) = after {
            self.forget(noted).await;
        }
        submitted
    }

    /// A connection of this node has ended, wherever it was.
    pub(super) async fn ended(self: &Rc<Self>, connection: ConnectionId) {
        let here = self.presence.borrow().here(connection);
        if let Some(present) = here {
            self.leave(present).await;
        }
    }

    async fn leave(self: &Rc<Self>, present: Present) {
        let told = self.submit(present.table, present.farewell()).await;
        if !is_told_gone(&told) {
            self.presence.borrow_mut().tell_again(present.connection);
        }
    }

    async fn note_all(self: &Rc<Self>) {
        let (node, present) = {
            let presence = self.presence.borrow();
            (presence.name(SHARD).0, presence.all(SHARD))
        };
        let _ = self.redis(RedisRequest::Note { node, present }).await;
    }

    async fn note(self: &Rc<Self>, noted: Noted) -> Result<(), Unavailable> {
        let Noted { node, present, .. } = noted;
        self.redis(RedisRequest::Note { node, present: vec![present] }).await?;
        Ok(())
    }

    async fn forget(self: &Rc<Self>, noted: Noted) {
        let Noted { node, present, .. } = noted;
        // What stays noted is told once more when this node ends, which does no harm.
        let _ = self.redis(RedisRequest::Forget { node, present: vec![present] }).await;
    }
}
