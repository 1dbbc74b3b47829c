//! The way to Redis and PostgreSQL and back: a call travels, is carried out, and its answer
//! travels. Either can be lost, late or doubled, so a call without an answer may have taken effect,
//! and may take effect later than one that was made after it. A service can stall, which delays
//! what it is asked, or be down, which refuses it.

use std::rc::Rc;

use crate::AppendOutcome;
use crate::simulation::node::{NodeRun, Publication};
use crate::simulation::postgres::{self, Operation, Postgres};
use crate::simulation::redis::{Published, Redis, Reply, Request};
use crate::simulation::tasks::{Promise, Wait, promise};
use crate::simulation::world::World;

/// How long a node waits for Redis.
const REDIS_TIMEOUT_MS: u64 = 2_000;

/// How long a node waits for PostgreSQL.
const POSTGRES_TIMEOUT_MS: u64 = 5_000;

/// How long it takes to hear that nobody listens.
const REFUSED_MS: u64 = 3;

/// What Redis was sure to keep is this old at most, where it forgets what was not yet written.
const SYNC_MS: u64 = 1_000;

/// The answer of PostgreSQL.
pub(super) type Posted = Result<postgres::LedgerReply, postgres::Refusal>;

/// Both services, with what is wrong with them.
pub(super) struct Services {
    pub(super) redis: Redis,
    /// What Redis would have after losing its memory.
    synced: Redis,
    pub(super) redis_is_down: bool,
    pub(super) redis_is_stalled: bool,
    stalled: Vec<RedisCall>,
    pub(super) postgres: Postgres,
    pub(super) postgres_is_down: bool,
}

/// A call that has reached Redis.
#[derive(Clone)]
struct RedisCall {
    run: NodeRun,
    request: Rc<Request>,
    answer: Promise<Option<Reply>>,
}

impl Services {
    pub(super) fn new() -> Self {
        Self {
            redis: Redis::default(),
            synced: Redis::default(),
            redis_is_down: false,
            redis_is_stalled: false,
            stalled: Vec::new(),
            postgres: Postgres::default(),
            postgres_is_down: false,
        }
    }

    pub(super) fn clear(&mut self) {
        self.stalled.clear();
    }
}

impl World {
    /// Calls Redis from a node. `None`: whether it took effect is unknown.
    pub(super) fn call_redis(self: &Rc<Self>, run: NodeRun, request: Request) -> Wait<Option<Reply>> {
        let (answer, wait) = promise(&self.tasks);
        let call = RedisCall { run, request: Rc::new(request), answer };
        if !self.is_cut(run, |slot| slot.redis_cut) {
            for after_ms in self.draw_arrivals(&self.near_link()) {
                let call = call.clone();
                self.schedule(after_ms, move |world| world.receive_at_redis(call));
            }
        }
        self.schedule(REDIS_TIMEOUT_MS, move |_| call.answer.resolve(None));
        wait
    }

    fn receive_at_redis(self: &Rc<Self>, call: RedisCall) {
        let mut services = self.services.borrow_mut();
        if services.redis_is_down {
            self.schedule(REFUSED_MS, move |_| call.answer.resolve(None));
        } else if services.redis_is_stalled {
            services.stalled.push(call);
        } else {
            drop(services);
            self.run_redis_call(&call);
        }
    }

    fn run_redis_call(self: &Rc<Self>, call: &RedisCall) {
        let RedisCall { run, request, answer } = call;
        let mut published = None;
        let (now_ms, mutation) = (self.now_ms(), self.mutation());
        let reply = self.services.borrow_mut().redis.handle_request(
            now_ms,
            *run,
            request,
            mutation,
            &mut published,
        );
        self.check_journal(*run, request, &reply);
        if let Some(published) = published {
            self.publish(&published, *run);
        }
        if self.is_cut(*run, |slot| slot.redis_cut) {
            return;
        }
        for after_ms in self.draw_arrivals(&self.near_link()) {
            let (answer, reply) = (answer.clone(), reply.clone());
            self.schedule(after_ms, move |_| answer.resolve(Some(reply)));
        }
    }

    /// Shows the checks what a journal has become.
    fn check_journal(&self, run: NodeRun, request: &Request, reply: &Reply) {
        match (request, reply) {
            (Request::Create { table, tag, snapshot, .. }, Reply::Flag(true)) => {
                self.check(self.checks.borrow_mut().record_table(*table, *tag, snapshot));
            }
            (Request::Append { table, new }, Reply::Append(AppendOutcome::Appended)) => {
                let line = &new.line;
                self.update_digest(line.as_bytes());
                self.log(|| format!("{table} v{} {line}", new.after.version + 1));
                let mut totals = self.totals.borrow_mut();
                totals.lines += 1;
                // The engine's own name for it in a line.
                totals.terms_updates += u64::from(line.contains("\"update_terms\""));
                drop(totals);
                self.check(self.check_line(run, *table, new.tag, line));
            }
            _ => {}
        }
    }

    /// Tells all who watch.
    fn publish(self: &Rc<Self>, published: &Published, by: NodeRun) {
        let watchers = self.services.borrow().redis.watchers(published.table());
        // Nobody is told where nobody listens but the process that did it.
        let is_alone = watchers.iter().all(|run| *run == by);
        if is_alone && matches!(published, Published::Line { .. }) {
            return;
        }
        for run in watchers {
            if self.is_cut(run, |slot| slot.redis_cut) {
                continue;
            }
            for after_ms in self.draw_arrivals(&self.near_link()) {
                let published = published.clone();
                self.schedule(after_ms, move |world| {
                    if let Some(node) = world.find_node(run) {
                        node.publications.push(Publication::Published(published));
                    }
                });
            }
        }
    }

    /// The connection for publications of a node, or of all, breaks; the node sees it soon.
    pub(super) fn interrupt(self: &Rc<Self>, target: Option<NodeRun>) {
        self.services.borrow_mut().redis.forget_watchers(target);
        let runs: Vec<NodeRun> =
            self.runs().into_iter().filter(|run| target.is_none_or(|target| target == *run)).collect();
        for run in runs {
            self.schedule(self.random_between(0, 500), move |world| {
                if let Some(node) = world.find_node(run) {
                    node.publications.push(Publication::Interrupted);
                }
            });
        }
    }

    /// The client library subscribes again by itself, once it is connected.
    pub(super) fn subscribe_again(self: &Rc<Self>, target: Option<NodeRun>) {
        for run in self.runs().into_iter().filter(|run| target.is_none_or(|target| target == *run)) {
            self.schedule(self.random_between(50, 400), move |world| {
                let Some(node) = world.find_node(run) else {
                    return;
                };
                for table in node.subscribed_tables() {
                    let (answer, _) = promise(&world.tasks);
                    let request = Rc::new(Request::Watch { table });
                    world.receive_at_redis(RedisCall { run, request, answer });
                }
            });
        }
    }

    /// Redis answers what it was asked meanwhile.
    pub(super) fn unstall_redis(self: &Rc<Self>) {
        let mut services = self.services.borrow_mut();
        services.redis_is_stalled = false;
        let stalled = std::mem::take(&mut services.stalled);
        drop(services);
        for call in stalled {
            self.run_redis_call(&call);
        }
    }

    /// The process ends. What it was asked and had not begun is lost.
    pub(super) fn crash_redis(self: &Rc<Self>, loses_all: bool, loses_unsynced: bool) {
        let mut services = self.services.borrow_mut();
        services.redis_is_down = true;
        services.redis_is_stalled = false;
        services.stalled.clear();
        if loses_all {
            services.redis = Redis::default();
            services.synced = Redis::default();
        } else if loses_unsynced {
            services.redis = services.synced.clone();
        }
        drop(services);
        self.interrupt(None);
    }

    pub(super) fn restart_redis(self: &Rc<Self>) {
        self.services.borrow_mut().redis_is_down = false;
        self.subscribe_again(None);
    }

    /// Notes now and then what Redis has written to its disk.
    pub(super) async fn sync_redis(self: Rc<Self>) {
        loop {
            self.sleep(SYNC_MS).await;
            let services = &mut *self.services.borrow_mut();
            services.synced.clone_from(&services.redis);
        }
    }

    /// Asks PostgreSQL from a node. `None`: whether it took effect is unknown.
    pub(super) fn call_postgres(
        self: &Rc<Self>,
        run: NodeRun,
        operation: Operation,
    ) -> Wait<Option<Posted>> {
        let (answer, wait) = promise(&self.tasks);
        let operation = Rc::new(operation);
        if !self.is_cut(run, |slot| slot.postgres_cut) {
            for after_ms in self.draw_arrivals(&self.near_link()) {
                let (operation, answer) = (operation.clone(), answer.clone());
                // A transaction takes a while.
                let after_ms = after_ms + self.random_between(1, 8);
                self.schedule(after_ms, move |world| world.receive_at_postgres(run, &operation, answer));
            }
        }
        self.schedule(POSTGRES_TIMEOUT_MS, move |_| answer.resolve(None));
        wait
    }

    fn receive_at_postgres(
        self: &Rc<Self>,
        run: NodeRun,
        operation: &Operation,
        answer: Promise<Option<Posted>>,
    ) {
        if self.services.borrow().postgres_is_down {
            self.schedule(REFUSED_MS, move |_| answer.resolve(None));
            return;
        }
        let before = self.accounts_before(operation);
        let posted =
            self.services.borrow_mut().postgres.execute(self.now_ms(), operation, self.mutation());
        self.check(self.check_posted(operation, &posted, before));
        if self.is_cut(run, |slot| slot.postgres_cut) {
            return;
        }
        for after_ms in self.draw_arrivals(&self.near_link()) {
            let (answer, posted) = (answer.clone(), posted.clone());
            self.schedule(after_ms, move |_| answer.resolve(Some(posted)));
        }
    }

    fn is_cut(&self, run: NodeRun, cut: impl Fn(&crate::simulation::world::NodeSlot) -> bool) -> bool {
        self.node_slots.borrow().get(run.slot).is_none_or(cut)
    }

    /// The nodes that run.
    pub(super) fn runs(&self) -> Vec<NodeRun> {
        let slots = self.node_slots.borrow();
        slots.iter().filter_map(|slot| Some(slot.node.as_ref()?.run)).collect()
    }
}
