//! The actions of operators in a run: they change the room's terms, and release or void halted
//! tables. An order is given to any node, and repeated until it succeeds.

use std::rc::Rc;

use bahay_engine::table::{Input, PlayerId, TableId};

use crate::simulation::node::{LIMITS, Node};
use crate::simulation::services::postgres::{LedgerReply, Operation, Refusal};
use crate::simulation::services::redis::{Reply, Request};
use crate::simulation::tasks::Owner;
use crate::simulation::{Mutation, PlantedPanic, SimulatedGame, World};
use crate::{
    Releasing, ReleasingAnswer, ReleasingCall, UnavailableError, Voiding, VoidingAnswer,
    VoidingCall,
};

/// The pause between two changes of the room, and the time until a node knows of one.
const ROOM_MS: (u32, u32) = (20_000, 120_000);
const PROPAGATION_MS: (u32, u32) = (0, 3_000);

/// How long a room stays closed, and the share of changes that close it, in thousandths.
const CLOSED_MS: (u32, u32) = (5_000, 30_000);
const CLOSES: u32 = 200;

/// The pause between two kicks by hosts.
const REMOVES_MS: (u32, u32) = (1_000, 6_000);

/// The time until an operator has detected a halted table and repaired its cause.
const DETECTED_MS: (u32, u32) = (3_000, 20_000);
/// The time between the repair and the order about the table.
const REPAIRED_MS: (u32, u32) = (500, 5_000);

/// The delay of an operator's database.
const STEP_MS: (u32, u32) = (0, 300);

impl<G: SimulatedGame> World<G> {
    /// Changes the room's terms at intervals, until the calm.
    pub(super) async fn change_room(self: Rc<Self>) {
        loop {
            self.sleep(self.random_between(ROOM_MS)).await;
            if self.is_calm.get() {
                return;
            }
            let closes = self.chance(CLOSES);
            self.set_room_open(!closes);
            if closes {
                self.sleep(self.random_between(CLOSED_MS)).await;
                self.open_room();
            }
        }
    }

    /// Lets hosts kick players at intervals, until the calm.
    pub(super) async fn kick_players(self: Rc<Self>) {
        loop {
            self.sleep(self.random_between(REMOVES_MS)).await;
            if self.is_calm.get() {
                return;
            }
            let (Some(table), Some(node)) = (self.random_table(), self.random_node()) else {
                continue;
            };
            let seated: Vec<PlayerId> = {
                let checks = self.checks.borrow();
                let occupants = checks.truth(table).into_iter().flat_map(|one| one.occupants());
                occupants.map(|(_, occupant)| occupant.player).collect()
            };
            if let Some(player) = self.pick(&seated) {
                // A kick during a game is rejected.
                let _ = node.submit_input(table, Input::Remove { player }).await;
            }
        }
    }

    /// Opens the room for good, for the calm.
    pub(super) fn open_room(self: &Rc<Self>) {
        if !self.room.borrow().is_open {
            self.set_room_open(true);
        }
    }

    fn set_room_open(self: &Rc<Self>, is_open: bool) {
        let revision = {
            let room = &mut *self.room.borrow_mut();
            room.revision += 1;
            room.is_open = is_open;
            room.terms.price.multiplier = 1 + room.revision % 2;
            room.revision
        };
        self.log(|| format!("the room says, at revision {revision}: open {is_open}"));
        for run in self.runs() {
            self.schedule(self.random_between(PROPAGATION_MS), move |world| {
                if let Some(node) = world.find_node(run) {
                    node.refresh_room();
                }
            });
        }
    }

    /// Makes the engine panic at a random table from now on.
    pub(super) fn plant_panic(self: &Rc<Self>) -> bool {
        let Some(table) = self.random_table() else {
            return false;
        };
        let showing = self.chance(300);
        let panic = if showing { PlantedPanic::Showing } else { PlantedPanic::Deciding };
        if self.panicking_tables.borrow_mut().insert(table, panic).is_some() {
            return false;
        }
        self.log(|| format!("{table} panics: {panic:?}"));
        let world = self.clone();
        self.spawn(Owner::World, async move {
            world.sleep(world.random_between(DETECTED_MS)).await;
            world.panicking_tables.borrow_mut().remove(&table);
            world.sleep(world.random_between(REPAIRED_MS)).await;
            world.resolve_halt(table).await;
        });
        true
    }

    /// Voids a random table.
    pub(super) fn void_random_table(self: &Rc<Self>) -> bool {
        let Some(table) = self.random_table() else {
            return false;
        };
        let world = self.clone();
        self.spawn(Owner::World, async move {
            world.void(table).await;
        });
        true
    }

    fn random_table(&self) -> Option<TableId> {
        let services = self.services.borrow();
        let tables: Vec<TableId> = services.redis.tables().map(|(table, _)| table).collect();
        self.pick(&tables)
    }

    /// Releases or voids a halted table.
    async fn resolve_halt(self: &Rc<Self>, table: TableId) {
        while self.services.borrow().redis.is_halted(table) {
            if self.chance(500) {
                self.void(table).await;
            } else if let Some(node) = self.random_node()
                && node.release(table).await.is_ok_and(|is_released| is_released)
            {
                self.totals.borrow_mut().tables_released += 1;
            }
            self.sleep(1_000).await;
        }
    }

    async fn void(self: &Rc<Self>, table: TableId) {
        loop {
            let voided = match self.random_node() {
                Some(node) => node.void(table).await,
                None => Err(UnavailableError("no node is running".into())),
            };
            if voided.is_ok() {
                self.totals.borrow_mut().tables_voided += 1;
                return;
            }
            self.sleep(1_000).await;
        }
    }

    /// Returns a random node that accepts orders now.
    fn random_node(self: &Rc<Self>) -> Option<Rc<Node<G>>> {
        let node = self.find_node(self.pick(&self.runs())?)?;
        let is_paused = self.node_slots.borrow()[node.run.slot].is_paused;
        (node.serves.get() && !is_paused).then_some(node)
    }
}

impl<G: SimulatedGame> Node<G> {
    async fn void(self: &Rc<Self>, table: TableId) -> Result<(), UnavailableError> {
        let skips = self.world.has_mutation(Mutation::VoidsWithoutHalting);
        let mut voiding = Voiding::new(table, "by order").with_skipped_halt(skips);
        while let Some(call) = voiding.next_call() {
            self.world.sleep(self.world.random_between(STEP_MS)).await;
            let answer = self.void_step(table, call).await?;
            voiding.handle_answer::<G>(answer, &LIMITS);
        }
        Ok(())
    }

    async fn void_step(
        self: &Rc<Self>,
        table: TableId,
        call: VoidingCall,
    ) -> Result<VoidingAnswer, UnavailableError> {
        match call {
            VoidingCall::Load => match self.call_redis(Request::Load { table }).await? {
                Reply::Stored(stored) => return Ok(VoidingAnswer::Loaded(stored)),
                other => unreachable!("{other:?} is no answer to a load"),
            },
            VoidingCall::Halt { reason, .. } => {
                self.call_redis(Request::Halt { table, reason: reason.into() }).await?;
            }
            VoidingCall::FindOpenGame => {
                let LedgerReply::Games(games) =
                    self.call_ledger(Operation::OpenAt { table }).await?
                else {
                    unreachable!("the operation returns games");
                };
                let game = games.first().map(|(game, _)| (*game, self.room().terms.room));
                return Ok(VoidingAnswer::OpenGame(game));
            }
            VoidingCall::VoidGame(game) => {
                let posted = self.world.call_postgres(self.run, Operation::Void { game }).await;
                return match posted {
                    Some(Ok(_)) => Ok(VoidingAnswer::GameVoided(true)),
                    Some(Err(Refusal::GameNotOpen | Refusal::GameUnknown)) => {
                        Ok(VoidingAnswer::GameVoided(false))
                    }
                    Some(Err(error)) => Err(UnavailableError(format!("{error:?}"))),
                    None => Err(UnavailableError("the ledger is unavailable".into())),
                };
            }
            VoidingCall::RefundPot => {
                let refunded = self.call_ledger(Operation::RefundWholePot { table }).await?;
                let LedgerReply::PotRefunded { shares, .. } = refunded else {
                    unreachable!("the operation refunds a POT");
                };
                return Ok(VoidingAnswer::PotRefunded(!shares.is_empty()));
            }
            VoidingCall::Release { player } => {
                self.call_redis(Request::Release { player, table }).await?;
            }
            VoidingCall::Unlist { .. } => {
                self.call_redis(Request::List { table, score: None }).await?;
            }
            VoidingCall::End { .. } => {
                self.call_redis(Request::End { table }).await?;
            }
            VoidingCall::RecordHalt(_) | VoidingCall::RecordVoided => {}
            VoidingCall::Close => {
                if let Some(slot) = self.find_slot(table) {
                    slot.host.borrow_mut().close();
                }
            }
        }
        Ok(VoidingAnswer::Done)
    }

    /// Releases a halted table. Returns false if it cannot be released.
    async fn release(self: &Rc<Self>, table: TableId) -> Result<bool, UnavailableError> {
        let mut releasing = Releasing::new();
        while let Some(call) = releasing.next_call() {
            let answer = match call {
                ReleasingCall::Load => match self.call_redis(Request::Load { table }).await? {
                    Reply::Stored(stored) => ReleasingAnswer::Loaded(stored),
                    other => unreachable!("{other:?} is no answer to a load"),
                },
                ReleasingCall::Resume { deadline, .. } => {
                    self.call_redis(Request::Resume { table, deadline }).await?;
                    ReleasingAnswer::Done
                }
                ReleasingCall::RecordReleased => ReleasingAnswer::Done,
            };
            if releasing.handle_answer::<G>(answer, &LIMITS).is_err() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
