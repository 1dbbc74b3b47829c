//! The faults of a run, drawn from its seed: they begin one after the other, may overlap, and each
//! has its end.

use std::rc::Rc;

use crate::simulation::node::Node;
use crate::simulation::{SimulatedGame, World};

/// The pause between the beginnings of two faults.
const PAUSE_MS: (u32, u32) = (2_000, 25_000);

/// The largest step of an operating system's clock, in either direction.
const STEP_MS: u32 = 3_600_000;

/// A fault that the simulator injects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum InjectedFault {
    /// A node is killed, and another process is started in its slot later.
    NodeKilled,
    /// A node closes its connections and shuts down in order.
    NodeRestarted,
    /// A node is suspended and resumes with stale memory.
    NodePaused,
    /// A node's operating system clock is set.
    ClockStepped,
    /// A node cannot reach Redis.
    RedisCut,
    /// A node cannot reach PostgreSQL.
    PostgresCut,
    /// Redis responds to nobody for a while, then to every call.
    RedisStalled,
    /// Redis is killed and restarts with all of its data.
    RedisKilled,
    /// Redis restarts empty.
    RedisEmptied,
    /// PostgreSQL is down.
    PostgresDown,
    /// All links are slow and lossy.
    LinksRough,
    /// Half of all clients lose their connections.
    ClientsCut,
    /// The engine panics at a table until an operator has found it.
    TableSick,
    /// An operator voids a healthy table.
    TableVoided,
}

/// Every kind of fault, with its weight.
const KINDS: [(InjectedFault, usize); 14] = [
    (InjectedFault::NodeKilled, 3),
    (InjectedFault::NodeRestarted, 1),
    (InjectedFault::NodePaused, 2),
    (InjectedFault::ClockStepped, 1),
    (InjectedFault::RedisCut, 2),
    (InjectedFault::PostgresCut, 1),
    (InjectedFault::RedisStalled, 2),
    (InjectedFault::RedisKilled, 1),
    (InjectedFault::RedisEmptied, 1),
    (InjectedFault::PostgresDown, 1),
    (InjectedFault::LinksRough, 2),
    (InjectedFault::ClientsCut, 1),
    (InjectedFault::TableSick, 2),
    (InjectedFault::TableVoided, 1),
];

impl<G: SimulatedGame> World<G> {
    /// Injects faults until the calm.
    pub(super) async fn inject_faults(self: Rc<Self>) {
        let kinds = KINDS.into_iter().flat_map(|(kind, weight)| std::iter::repeat_n(kind, weight));
        let kinds: Vec<InjectedFault> = kinds.collect();
        loop {
            self.sleep(self.random_between(PAUSE_MS)).await;
            if self.is_calm.get() {
                return;
            }
            let kind = self.pick(&kinds).expect("there are kinds of faults");
            let slot = self.random_slot();
            if self.begin_fault(kind, slot) {
                self.log(|| format!("{kind:?} at node {slot}"));
                *self.totals.borrow_mut().faults.entry(kind).or_default() += 1;
            }
        }
    }

    /// Begins a fault and schedules its end; false if the fault does not apply now.
    fn begin_fault(self: &Rc<Self>, kind: InjectedFault, slot: usize) -> bool {
        match kind {
            InjectedFault::NodeKilled => self.kill(slot),
            InjectedFault::NodeRestarted => self.restart(slot),
            InjectedFault::NodePaused => self.pause(slot),
            InjectedFault::ClockStepped => {
                let step_ms = i64::from(self.random_below(2 * STEP_MS)) - i64::from(STEP_MS);
                self.node_slots.borrow_mut()[slot].os_clock_ms = step_ms;
                true
            }
            InjectedFault::RedisCut => self.cut_redis(slot),
            InjectedFault::PostgresCut => {
                if std::mem::replace(&mut self.node_slots.borrow_mut()[slot].postgres_cut, true) {
                    return false;
                }
                self.schedule(self.random_between((500, 15_000)), move |world| {
                    world.node_slots.borrow_mut()[slot].postgres_cut = false;
                });
                true
            }
            InjectedFault::RedisStalled => {
                let mut services = self.services.borrow_mut();
                if services.redis_is_down || services.redis_is_stalled {
                    return false;
                }
                services.redis_is_stalled = true;
                self.extend_doubt(16_000);
                self.schedule(self.random_between((300, 6_000)), |world| world.unstall_redis());
                true
            }
            InjectedFault::RedisKilled | InjectedFault::RedisEmptied => {
                if self.services.borrow().redis_is_down {
                    return false;
                }
                let loses_all = kind == InjectedFault::RedisEmptied;
                if loses_all {
                    self.totals.borrow_mut().live_state_was_lost = true;
                }
                let forgets = self.has_mutation(super::Mutation::ForgetsTheLastSecond);
                self.crash_redis(loses_all, forgets);
                self.extend_doubt(18_000);
                self.schedule(self.random_between((500, 8_000)), |world| world.restart_redis());
                true
            }
            InjectedFault::PostgresDown => {
                if std::mem::replace(&mut self.services.borrow_mut().postgres_is_down, true) {
                    return false;
                }
                self.schedule(self.random_between((500, 15_000)), |world| {
                    world.services.borrow_mut().postgres_is_down = false;
                });
                true
            }
            InjectedFault::LinksRough => {
                if self.is_rough.replace(true) {
                    return false;
                }
                self.extend_doubt(35_000);
                self.schedule(self.random_between((2_000, 20_000)), |world| {
                    world.is_rough.set(false)
                });
                true
            }
            InjectedFault::TableSick => self.plant_panic(),
            InjectedFault::TableVoided => self.void_random_table(),
            InjectedFault::ClientsCut => {
                let all = self.connections.borrow().clone();
                for connection in all.values().filter(|one| !one.is_over.get()) {
                    if self.chance(500) {
                        let client = self.random_between((0, 2_000));
                        let node = self.random_between((0, 20_000));
                        self.break_off(connection, client, node);
                    }
                }
                true
            }
        }
    }

    fn kill(self: &Rc<Self>, slot: usize) -> bool {
        if self.node_slots.borrow()[slot].node.is_none() {
            return false;
        }
        Node::crash(self, slot);
        self.schedule(self.random_between((1_000, 20_000)), move |world| Node::start(world, slot));
        true
    }

    fn restart(self: &Rc<Self>, slot: usize) -> bool {
        let node = {
            let slots = self.node_slots.borrow();
            let state = &slots[slot];
            state.node.clone().filter(|node| !state.is_paused && node.serves.replace(false))
        };
        let Some(node) = node else {
            return false;
        };
        node.close_connections();
        let run = node.run;
        self.schedule(3_000, move |world| {
            if world.find_node(run).is_some() {
                Node::crash(world, slot);
                Node::start(world, slot);
            }
        });
        true
    }

    fn pause(self: &Rc<Self>, slot: usize) -> bool {
        let run = {
            let mut slots = self.node_slots.borrow_mut();
            let state = &mut slots[slot];
            let Some(node) = state.node.as_ref().filter(|_| !state.is_paused) else {
                return false;
            };
            let run = node.run;
            state.is_paused = true;
            run
        };
        let owner = super::tasks::Owner::Node(slot);
        self.tasks.pause(owner);
        self.extend_doubt(25_000);
        self.schedule(self.random_between((200, 12_000)), move |world| {
            if world.find_node(run).is_some() {
                world.node_slots.borrow_mut()[slot].is_paused = false;
                world.tasks.resume(owner);
            }
        });
        true
    }

    fn cut_redis(self: &Rc<Self>, slot: usize) -> bool {
        let run = {
            let mut slots = self.node_slots.borrow_mut();
            let state = &mut slots[slot];
            if std::mem::replace(&mut state.redis_cut, true) {
                return false;
            }
            state.node.as_ref().map(|node| node.run)
        };
        if run.is_some() {
            self.interrupt(run);
        }
        self.extend_doubt(22_000);
        self.schedule(self.random_between((500, 10_000)), move |world| {
            world.node_slots.borrow_mut()[slot].redis_cut = false;
            let run = world.node_slots.borrow()[slot].node.as_ref().map(|node| node.run);
            if run.is_some() {
                world.subscribe_again(run);
            }
        });
        true
    }
}
