//! Who waits here to hear what becomes of a ticket. What is over is read from one list for all
//! who wait at this node, so that waiting costs nothing while nothing happens.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bahay_engine::matchmaking::TicketId;
use tokio::sync::watch;
use tokio::time::MissedTickBehavior;

use crate::live_store::{LiveStore, Over, TicketState, Unavailable};

use super::Lobby;

/// How often the list is read.
const EVERY: Duration = Duration::from_millis(100);

/// A ticket whose end is waited for; forgotten with this.
#[derive(Debug)]
pub struct Sought {
    pub ticket: TicketId,
    over: watch::Receiver<Option<Over>>,
    seekers: Seekers,
}

impl Sought {
    /// Returns what has become of it since the last call; pending while nothing has changed.
    pub async fn next(&mut self) -> Over {
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

impl Drop for Sought {
    fn drop(&mut self) {
        let mut waiting = self.seekers.lock();
        // Another connection may wait for the same ticket; with this one still counted.
        if waiting.get(&self.ticket).is_some_and(|sender| sender.receiver_count() <= 1) {
            waiting.remove(&self.ticket);
        }
    }
}

type Waiting = HashMap<TicketId, watch::Sender<Option<Over>>>;

#[derive(Clone, Debug, Default)]
pub(super) struct Seekers(Arc<Mutex<Waiting>>);

impl Seekers {
    fn lock(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, over: Over) {
        if let Some(sender) = self.lock().get(&over.ticket) {
            sender.send_replace(Some(over));
        }
    }

    fn ids(&self) -> Vec<TicketId> {
        self.lock().keys().copied().collect()
    }
}

impl Lobby {
    /// Begins to wait for what becomes of a ticket. It may be over already: look at it after this.
    pub fn await_ticket(&self, ticket: TicketId) -> Sought {
        let mut waiting = self.seekers.lock();
        let over = waiting.entry(ticket).or_insert_with(|| watch::Sender::new(None)).subscribe();
        drop(waiting);
        Sought { ticket, over, seekers: self.seekers.clone() }
    }

    /// Tells those who wait here, for as long as it is polled. One such task a process.
    pub async fn follow_tickets(self) {
        let mut ticks = tokio::time::interval(EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut place = None;
        loop {
            ticks.tick().await;
            if self.seekers.lock().is_empty() {
                place = None;
                continue;
            }
            match look(&self.live, &self.seekers, place.as_deref()).await {
                Ok(next) => place = next,
                Err(error) => {
                    tracing::debug!(%error, "what becomes of tickets is read later");
                    place = None;
                }
            }
        }
    }
}

/// What is new after a place in the list, and the next place.
async fn look(
    live: &LiveStore,
    seekers: &Seekers,
    place: Option<&str>,
) -> Result<Option<String>, Unavailable> {
    let (over, next) = live.matching_over(place).await?;
    over.into_iter().for_each(|over| seekers.tell(over));
    if place.is_none() {
        // What was over before this place is in the tickets themselves.
        let ids = seekers.ids();
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
                seekers.tell(Over { ticket: *id, state, table, reason });
            }
        }
    }
    Ok(next)
}
