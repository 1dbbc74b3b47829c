//! The driver of one table's host on tokio: the host decides, and the task that made a request
//! performs its calls.
//!
//! The host is behind a mutex that is locked for each event and never across an await. A queued
//! request leaves a waker. Requests of the host itself get tasks of their own. On the path of an
//! action no other task is woken: the task that received the command calls Redis, hands the result
//! to the host, and gets the reply.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use bahay_bots::Ai;
use bahay_engine::table::{GameEntropy, Readable, TableId, Terms, Timestamp};
use bahay_shell::{
    Call, CallResult, Context, Halt, HostEvent, Limits, Reply, Request, RequestTicket, RoomTerms,
    Step, TableHost, Tag, WatchEnd,
};
use tokio::sync::broadcast;

use crate::clock::{Clock, Moment};
use crate::entropy;
use crate::live_store::{NewLine, Unavailable};
use crate::tables::counts::increment;
use crate::tables::{Tables, to_unavailable};

/// The number of talk messages queued per receiver; a slow receiver loses the oldest. Every table
/// reserves this space.
const TALK_QUEUE_MAX: usize = 8;

/// One table in this process.
#[derive(Debug)]
pub(super) struct Driver<G: Ai + Readable> {
    id: TableId,
    state: Mutex<State<G>>,
    /// Talk messages at the table, which are not part of its journal.
    talk: broadcast::Sender<Arc<str>>,
}

#[derive(Debug)]
struct State<G: Ai + Readable> {
    host: TableHost<G>,
    /// The wakers of queued requests.
    wakers: Vec<(RequestTicket, Waker)>,
}

/// The context that a host gets from this process.
#[derive(Debug)]
pub(crate) struct TableContext<'a, G: Ai + Readable> {
    tables: &'a Tables<G>,
    clock: &'a Clock,
}

impl<G: Ai + Readable> Driver<G> {
    pub(super) fn new(id: TableId) -> Self {
        let state = State { host: TableHost::new(id), wakers: Vec::new() };
        Self { id, state: Mutex::new(state), talk: broadcast::Sender::new(TALK_QUEUE_MAX) }
    }

    pub(super) fn id(&self) -> TableId {
        self.id
    }

    pub(super) fn subscribe_talk(&self) -> broadcast::Receiver<Arc<str>> {
        self.talk.subscribe()
    }

    /// Forwards a talk message to all receivers.
    pub(super) fn forward_talk(&self, text: Arc<str>) {
        // There may be no receiver.
        let _ = self.talk.send(text);
    }

    pub(super) fn is_used(&self) -> bool {
        self.state().host.is_used()
    }

    /// Makes a request and performs its calls.
    pub(super) async fn request(
        self: &Arc<Self>,
        tables: &Tables<G>,
        request: Request<G>,
    ) -> Reply<G> {
        let (ticket, step) = self.with_host(tables, |host, ctx| host.request(ctx, request));
        self.drive(tables, ticket, step).await
    }

    async fn drive(
        self: &Arc<Self>,
        tables: &Tables<G>,
        ticket: RequestTicket,
        mut step: Step<G>,
    ) -> Reply<G> {
        let guard = RequestGuard { driver: self, tables, ticket };
        loop {
            step = match step {
                Step::Reply(reply) => {
                    std::mem::forget(guard);
                    return reply;
                }
                Step::Call(call) => {
                    let answer = tables.perform_call(self.id, call).await;
                    self.with_host(tables, |host, ctx| host.handle_answer(ctx, ticket, answer))
                }
                Step::Wait { until_ms } => self.wait_for_turn(tables, ticket, until_ms).await,
            };
        }
    }

    /// Waits until a queued request has its turn or its timeout.
    async fn wait_for_turn(
        self: &Arc<Self>,
        tables: &Tables<G>,
        ticket: RequestTicket,
        until_ms: u64,
    ) -> Step<G> {
        let turn = std::future::poll_fn(|task| {
            let mut state = self.state();
            match state.host.poll(ticket) {
                Step::Wait { .. } => {
                    state.wakers.retain(|(waiting, _)| *waiting != ticket);
                    state.wakers.push((ticket, task.waker().clone()));
                    Poll::Pending
                }
                step @ (Step::Call(_) | Step::Reply(_)) => Poll::Ready(step),
            }
        });
        if until_ms == u64::MAX {
            return turn.await;
        }
        let left = Duration::from_millis(until_ms.saturating_sub(tables.elapsed_ms()));
        match tokio::time::timeout(left, turn).await {
            Ok(step) => step,
            Err(_) => self.with_host(tables, |host, ctx| {
                host.handle_timeout(ctx);
                host.poll(ticket)
            }),
        }
    }

    /// Closes a voided table and its watches.
    pub(super) fn close(&self) {
        self.state().host.close();
    }

    pub(super) fn end_watches(&self, ending: WatchEnd) {
        self.state().host.end_watches(ending);
    }

    fn state(&self) -> MutexGuard<'_, State<G>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs an operation on the host and drains its outputs.
    pub(super) fn with_host<T>(
        self: &Arc<Self>,
        tables: &Tables<G>,
        operate: impl FnOnce(&mut TableHost<G>, &TableContext<'_, G>) -> T,
    ) -> T {
        let ctx = tables.context_of(self.id);
        let mut state = self.state();
        let output = operate(&mut state.host, &ctx);
        self.drain_outputs(tables, state);
        output
    }

    /// Drains the host's outputs: starts its own requests, ledger calls and AI requests, and wakes
    /// queued requests.
    fn drain_outputs(self: &Arc<Self>, tables: &Tables<G>, mut state: MutexGuard<'_, State<G>>) {
        while let Some(ticket) = state.host.poll_own_request() {
            let driver = self.clone();
            let tables = tables.clone();
            tokio::spawn(async move {
                let step = driver.state().host.poll(ticket);
                driver.drive(&tables, ticket, step).await;
            });
        }
        if let Some(call) = state.host.poll_ledger() {
            let driver = self.clone();
            let tables = tables.clone();
            tokio::spawn(async move {
                if let Some(answer) = tables.ask_ledger(driver.id, call).await {
                    driver.with_host(&tables, |host, ctx| host.handle_ledger_answer(ctx, answer));
                }
            });
        }
        while let Some(request) = state.host.poll_ai_request() {
            let driver = self.clone();
            let tables = tables.clone();
            tokio::spawn(async move {
                let input = tables.inner.ai_pool.choose_action(request.clone()).await;
                driver.with_host(&tables, |host, ctx| host.handle_ai_answer(ctx, &request, input));
            });
        }
        self.wake(tables, state);
    }

    fn wake(&self, tables: &Tables<G>, mut state: MutexGuard<'_, State<G>>) {
        if state.host.poll_timeout() == Some(0) {
            tables.mark_stale(self.id);
        }
        let mut woken = Vec::new();
        while let Some(ticket) = state.host.poll_woken() {
            if let Some(index) = state.wakers.iter().position(|(waiting, _)| *waiting == ticket) {
                woken.push(state.wakers.swap_remove(index).1);
            }
        }
        drop(state);
        woken.into_iter().for_each(Waker::wake);
    }
}

/// Abandons a request if it is dropped before the reply, and not forgotten after it.
struct RequestGuard<'a, G: Ai + Readable> {
    driver: &'a Arc<Driver<G>>,
    tables: &'a Tables<G>,
    ticket: RequestTicket,
}

impl<G: Ai + Readable> Drop for RequestGuard<'_, G> {
    fn drop(&mut self) {
        let ctx = self.tables.context_of(self.driver.id);
        let mut state = self.driver.state();
        state.host.abandon(&ctx, self.ticket);
        state.wakers.retain(|(waiting, _)| *waiting != self.ticket);
        // No task is spawned here: requests of the host itself wait for the next tick.
        self.tables.mark_stale(self.driver.id);
        self.driver.wake(self.tables, state);
    }
}

impl<G: Ai + Readable> Tables<G> {
    pub(crate) fn context_of(&self, table: TableId) -> TableContext<'_, G> {
        TableContext { tables: self, clock: self.clock_of(table) }
    }

    /// Returns the context for work that concerns no single table.
    pub(crate) fn context(&self) -> TableContext<'_, G> {
        TableContext { tables: self, clock: self.clock() }
    }

    /// Performs a call of a table's host.
    async fn perform_call(&self, table: TableId, call: Call) -> CallResult {
        match self.try_call(table, call).await {
            Ok(answer) => answer,
            Err(error) => CallResult::Failed(to_unavailable(error)),
        }
    }

    async fn try_call(&self, table: TableId, call: Call) -> Result<CallResult, Unavailable> {
        let live = &self.inner.live;
        match call {
            Call::Append(new) => {
                let bahay_shell::NewLine { after, tag, engine, line, deadline, idle_ms } = new;
                let new = NewLine { after, tag, engine, line: &line, deadline, idle_ms };
                let play = self.counts().play();
                let started_at = Moment::now();
                let gauge = AppendGauge::new(play);
                let appended = live.append(table, new).await;
                drop(gauge);
                play.append.observe(started_at.elapsed());
                return Ok(CallResult::Append(appended?));
            }
            Call::Load => return Ok(CallResult::Loaded(live.load(table).await?)),
            Call::Tail { from } => return Ok(CallResult::Tail(live.tail(table, from).await?)),
            Call::Compact { at, snapshot } => {
                return Ok(CallResult::Compacted(live.compact(table, at, &snapshot).await?));
            }
            Call::Subscribe => return Ok(CallResult::Subscribed(live.watch(table).await?)),
            Call::Halt { engine, reason } => {
                return Ok(CallResult::Halted(live.halt(table, engine, &reason).await?));
            }
            Call::Unsubscribe => live.unwatch(table).await?,
            Call::Release { player } => live.release_seat_claim(player, table).await?,
            Call::List(listing) => self.list(table, &listing).await?,
            Call::Unlist { room } => live.unlist_table(&room, table).await?,
            Call::RecordHalt(halt) => self.record_halt(halt),
            Call::RecordNoShow(no_show) => {
                let live = live.clone();
                tokio::spawn(async move {
                    if let Err(error) = live.record_no_show(no_show).await {
                        tracing::debug!(player = %no_show.player, %error, "a no-show could not be recorded");
                    }
                });
            }
        }
        Ok(CallResult::Done)
    }
}

impl<G: Ai + Readable> Context<G> for TableContext<'_, G> {
    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn knows_time(&self) -> bool {
        self.clock.is_current()
    }

    fn elapsed_ms(&self) -> u64 {
        self.tables.elapsed_ms()
    }

    fn fresh(&self) -> GameEntropy {
        entropy::game_entropy()
    }

    fn new_tag(&self) -> Tag {
        entropy::tag()
    }

    fn room_terms(&self, terms: &Terms<G::Rules>, known: u32) -> Option<RoomTerms<G::Rules>> {
        self.tables.inner.room_terms.query(terms, known)
    }

    fn limits(&self) -> &Limits {
        &self.tables.inner.limits
    }

    fn record(&self, table: TableId, event: HostEvent<'_>) {
        let counts = self.tables.counts();
        match event {
            HostEvent::ActionStored => {
                counts.play().moves.inc();
            }
            HostEvent::ReplicaDiscarded(error) => {
                tracing::warn!(%table, error, "a table's replica is discarded and its journal reloaded");
            }
            HostEvent::HistoryDiverged { delivered, now } => {
                tracing::warn!(%table, ?delivered, ?now, "a table's history diverged");
            }
            HostEvent::OtherVersion(engine) => counts.record_other_version(table, engine),
            HostEvent::Halted { room, version, reason } => {
                increment(&counts.halted);
                tracing::error!(%table, room, version, reason, "a table is halted");
            }
            HostEvent::SlowWatcher => {
                tracing::info!(%table, "a slow watcher is dropped");
            }
            HostEvent::FollowUpFailed(what, error) => {
                tracing::warn!(%table, what, error, "a follow-up call of a table failed");
            }
            HostEvent::LedgerRetried(error) => {
                tracing::warn!(%table, error, "a ledger operation is retried later");
            }
            HostEvent::Compacted | HostEvent::ResumedFromMemory => {}
        }
    }

    fn report_show_failure(&self, halt: Halt) {
        self.tables.halt(halt);
    }
}

/// Counts an append in flight, until it completes or is dropped.
struct AppendGauge<'a>(&'a crate::metrics::PlayMetrics);

impl<'a> AppendGauge<'a> {
    fn new(play: &'a crate::metrics::PlayMetrics) -> Self {
        play.appends_waiting.inc();
        Self(play)
    }
}

impl Drop for AppendGauge<'_> {
    fn drop(&mut self) {
        self.0.appends_waiting.dec();
    }
}
