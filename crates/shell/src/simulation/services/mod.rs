//! The links to Redis and PostgreSQL: a call travels, is executed, and its response travels back.
//! Either may be lost, late or duplicated, so a call without a response may have taken effect, or
//! may take effect after a later call. A service can stall, which delays calls, or be down, which
//! rejects them.

pub(super) mod postgres;
pub(super) mod redis;

use std::rc::Rc;

use crate::AppendOutcome;
use crate::simulation::node::Publication;
use crate::simulation::services::postgres::{Operation, Postgres};
use crate::simulation::services::redis::{Published, Redis, Reply, Request};
use crate::simulation::tasks::{Promise, Wait, promise};
use crate::simulation::{NodeRun, NodeSlot, SimulatedGame, World};

/// The timeout of a call to Redis.
const REDIS_TIMEOUT_MS: u64 = 2_000;

/// The timeout of a call to PostgreSQL.
const POSTGRES_TIMEOUT_MS: u64 = 5_000;

/// The time until a refused connection is noticed.
const REFUSED_MS: u64 = 3;

/// The age of the data on Redis' disk at most, under the mutation that loses unwritten data.
const SYNC_MS: u64 = 1_000;

/// The response of PostgreSQL.
pub(super) type Posted = Result<postgres::LedgerReply, postgres::Refusal>;

/// Both services, with their faults.
#[derive(Default)]
pub(super) struct Services {
    pub(super) redis: Redis,
    /// The data that Redis would have after a crash.
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

impl<G: SimulatedGame> World<G> {
    /// Calls Redis from a node. `None`: the effect is unknown.
    pub(super) fn call_redis(
        self: &Rc<Self>,
        run: NodeRun,
        request: Request,
    ) -> Wait<Option<Reply>> {
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
        let now_ms = self.now_ms();
        let mutation = self.mutation();
        let reply = {
            let redis = &mut self.services.borrow_mut().redis;
            redis.handle_request(now_ms, *run, request, mutation, &mut published)
        };
        self.check_journal(*run, request, &reply);
        if let Some(published) = published {
            self.publish(&published, *run);
        }
        if !self.is_cut(*run, |slot| slot.redis_cut) {
            self.send_answer(answer, reply);
        }
    }

    /// Sends the response to a call back to its node.
    fn send_answer<T: Clone + 'static>(&self, answer: &Promise<Option<T>>, response: T) {
        for after_ms in self.draw_arrivals(&self.near_link()) {
            let answer = answer.clone();
            let response = response.clone();
            self.schedule(after_ms, move |_| answer.resolve(Some(response)));
        }
    }

    /// Informs the checks of a changed journal.
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
                // The engine's name of the input in a line.
                totals.terms_updates += u64::from(line.contains("\"update_terms\""));
                drop(totals);
                self.check(self.check_line(run, *table, new.tag, line));
            }
            _ => {}
        }
    }

    /// Publishes to all watchers.
    fn publish(self: &Rc<Self>, published: &Published, by: NodeRun) {
        let watchers = self.services.borrow().redis.watchers(published.table());
        // Redis does not publish a line if its writer is the only subscriber.
        let is_alone = watchers.iter().all(|run| *run == by);
        if is_alone && matches!(published, Published::Line { .. }) {
            return;
        }
        for run in watchers {
            if self.is_cut(run, |slot| slot.redis_cut) {
                continue;
            }
            for after_ms in self.draw_arrivals(&self.near_link()) {
                self.send_publication(run, after_ms, Publication::Published(published.clone()));
            }
        }
    }

    /// Breaks the subscription connection of a node, or of all; the node notices it soon.
    pub(super) fn interrupt(self: &Rc<Self>, target: Option<NodeRun>) {
        self.services.borrow_mut().redis.forget_watchers(target);
        for run in self.affected_runs(target) {
            self.send_publication(run, self.random_between((0, 500)), Publication::Interrupted);
        }
    }

    fn send_publication(&self, run: NodeRun, after_ms: u64, publication: Publication) {
        self.schedule(after_ms, move |world| {
            if let Some(node) = world.find_node(run) {
                node.publications.push(publication);
            }
        });
    }

    /// Restores the subscriptions, as the client library does once it is connected.
    pub(super) fn subscribe_again(self: &Rc<Self>, target: Option<NodeRun>) {
        for run in self.affected_runs(target) {
            self.schedule(self.random_between((50, 400)), move |world| {
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

    /// Ends a stall: Redis handles the delayed calls.
    pub(super) fn unstall_redis(self: &Rc<Self>) {
        let mut services = self.services.borrow_mut();
        services.redis_is_stalled = false;
        let stalled = std::mem::take(&mut services.stalled);
        drop(services);
        for call in stalled {
            self.run_redis_call(&call);
        }
    }

    /// Crashes Redis. Calls that it had not begun are lost.
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

    /// Copies Redis' data to its disk at intervals.
    pub(super) async fn sync_redis(self: Rc<Self>) {
        loop {
            self.sleep(SYNC_MS).await;
            let services = &mut *self.services.borrow_mut();
            services.synced.clone_from(&services.redis);
        }
    }

    /// Calls PostgreSQL from a node. `None`: the effect is unknown.
    pub(super) fn call_postgres(
        self: &Rc<Self>,
        run: NodeRun,
        operation: Operation<G>,
    ) -> Wait<Option<Posted>> {
        let (answer, wait) = promise(&self.tasks);
        let operation = Rc::new(operation);
        if !self.is_cut(run, |slot| slot.postgres_cut) {
            for after_ms in self.draw_arrivals(&self.near_link()) {
                let operation = operation.clone();
                let answer = answer.clone();
                // The duration of the transaction.
                let after_ms = after_ms + self.random_between((1, 8));
                self.schedule(after_ms, move |world| {
                    world.receive_at_postgres(run, &operation, answer)
                });
            }
        }
        self.schedule(POSTGRES_TIMEOUT_MS, move |_| answer.resolve(None));
        wait
    }

    fn receive_at_postgres(
        self: &Rc<Self>,
        run: NodeRun,
        operation: &Operation<G>,
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
        if !self.is_cut(run, |slot| slot.postgres_cut) {
            self.send_answer(&answer, posted);
        }
    }

    fn is_cut(&self, run: NodeRun, cut: impl Fn(&NodeSlot<G>) -> bool) -> bool {
        self.node_slots.borrow().get(run.slot).is_none_or(cut)
    }

    /// Returns this node if it is running, or every running node.
    fn affected_runs(&self, target: Option<NodeRun>) -> impl Iterator<Item = NodeRun> {
        let is_affected = move |run: &NodeRun| target.is_none_or(|target| target == *run);
        self.runs().into_iter().filter(is_affected)
    }

    /// Returns the running nodes.
    pub(super) fn runs(&self) -> Vec<NodeRun> {
        let slots = self.node_slots.borrow();
        slots.iter().filter_map(|slot| Some(slot.node.as_ref()?.run)).collect()
    }
}
