//! Subscriptions of this node's connections to ticket updates. One task reads the stream of updates
//! for all subscriptions, so a waiting player costs no calls while nothing happens.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bahay_engine::matchmaking::TicketId;
use tokio::sync::watch;
use tokio::time::MissedTickBehavior;

use crate::live_store::{LiveStore, TicketState, TicketUpdate, Unavailable};

use crate::lobby::Lobby;

/// The interval at which the stream of updates is read.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// A subscription to the updates of one ticket, which ends when this is dropped.
#[derive(Debug)]
pub struct TicketSubscription {
    pub ticket: TicketId,
    over: watch::Receiver<Option<TicketUpdate>>,
    waiters: TicketWaiters,
}

impl TicketSubscription {
    /// Waits for the next update since the last call, and returns it. Cancel safe.
    pub async fn next(&mut self) -> TicketUpdate {
        loop {
            if self.over.changed().await.is_err() {
                return std::future::pending().await;
            }
            if let Some(over) = *self.over.borrow_and_update() {
                return over;
            }
        }
    }
}

impl Drop for TicketSubscription {
    fn drop(&mut self) {
        let mut waiting = self.waiters.lock();
        // Another connection may be subscribed to the same ticket. This receiver still counts here.
        if waiting.get(&self.ticket).is_some_and(|sender| sender.receiver_count() <= 1) {
            waiting.remove(&self.ticket);
        }
    }
}

type Waiting = HashMap<TicketId, watch::Sender<Option<TicketUpdate>>>;

#[derive(Clone, Debug, Default)]
pub(in crate::lobby) struct TicketWaiters(Arc<Mutex<Waiting>>);

impl TicketWaiters {
    fn lock(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn publish(&self, over: TicketUpdate) {
        if let Some(sender) = self.lock().get(&over.ticket) {
            sender.send_replace(Some(over));
        }
    }
}

impl Lobby {
    /// Subscribes to the updates of a ticket. The caller reads the ticket afterwards, because it
    /// may already be over.
    pub fn subscribe_ticket(&self, ticket: TicketId) -> TicketSubscription {
        let mut waiting = self.waiters.lock();
        let over = waiting.entry(ticket).or_insert_with(|| watch::Sender::new(None)).subscribe();
        drop(waiting);
        TicketSubscription { ticket, over, waiters: self.waiters.clone() }
    }

    /// Publishes ticket updates to the subscriptions of this process. Runs for as long as it is
    /// polled; a process has one such task.
    pub async fn follow_tickets(self) {
        let mut ticks = tokio::time::interval(POLL_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut place = None;
        loop {
            ticks.tick().await;
            if self.waiters.lock().is_empty() {
                place = None;
                continue;
            }
            match poll_updates(&self.live, &self.waiters, place.as_deref()).await {
                Ok(next) => place = next,
                Err(error) => {
                    tracing::debug!(%error, "ticket updates could not be read");
                    place = None;
                }
            }
        }
    }
}

/// Publishes the updates after a cursor in the stream, and returns the next cursor.
async fn poll_updates(
    live: &LiveStore,
    waiters: &TicketWaiters,
    place: Option<&str>,
) -> Result<Option<String>, Unavailable> {
    let (over, next) = live.ticket_updates(place).await?;
    over.into_iter().for_each(|over| waiters.publish(over));
    if place.is_none() {
        // The tickets themselves hold the outcomes that precede the first cursor.
        let ids: Vec<_> = waiters.lock().keys().copied().collect();
        for (id, ticket) in ids.iter().zip(live.matching_tickets(&ids).await?) {
            let (state, table, reason) = match ticket {
                Some(ticket) => (ticket.state, ticket.table, ticket.reason),
                None => (TicketState::Expired, None, None),
            };
            let is_news = match state {
                TicketState::Waiting => reason.is_some(),
                TicketState::Placed => false,
                TicketState::Seated | TicketState::Cancelled | TicketState::Expired => true,
            };
            if is_news {
                waiters.publish(TicketUpdate { ticket: *id, state, table, reason });
            }
        }
    }
    Ok(next)
}
