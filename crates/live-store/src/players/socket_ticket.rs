//! Tickets for the socket: one key for each, which expires and can be taken once.

use std::time::Duration;

use bahay_engine::hex::Hex;

use crate::{LiveStore, Unavailable};

impl LiveStore {
    /// Stores the holder of a ticket under the ticket's hash, for the ticket's lifetime.
    pub async fn put_ticket(
        &self,
        hash: [u8; 32],
        holder: &str,
        life: Duration,
    ) -> Result<(), Unavailable> {
        let mut call = redis::cmd("SET");
        call.arg(self.ticket_key(hash)).arg(holder);
        call.arg("PX").arg(u64::try_from(life.as_millis()).unwrap_or(u64::MAX));
        self.query(&call).await
    }

    /// Takes a ticket and returns its holder; `None` if it never existed, was taken or has expired.
    /// If the answer is lost, the ticket may be gone.
    pub async fn take_ticket(&self, hash: [u8; 32]) -> Result<Option<String>, Unavailable> {
        self.query(redis::cmd("GETDEL").arg(self.ticket_key(hash))).await
    }

    fn ticket_key(&self, hash: [u8; 32]) -> String {
        format!("{}:{{t{}}}:ticket", self.prefix, Hex(hash))
    }
}
