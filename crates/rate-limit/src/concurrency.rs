//! Concurrency limits by address or network. Dropping a permit releases it.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::AdmissionError;

/// The suggested delay before a retry. The time at which a permit will be released is not known.
const RETRY_AFTER: Duration = Duration::from_secs(5);

/// The concurrency limit of every key. Clones share the counts.
#[derive(Clone, Debug)]
pub struct ConcurrencyLimit<K> {
    most: u32,
    taken: Arc<Mutex<HashMap<K, u32>>>,
}

/// A permit that is held until it is dropped.
#[derive(Debug)]
pub struct Permit<K: Copy + Eq + Hash> {
    key: K,
    taken: Arc<Mutex<HashMap<K, u32>>>,
}

impl<K: Copy + Eq + Hash> ConcurrencyLimit<K> {
    pub fn new(most: u32) -> Self {
        Self { most, taken: Arc::default() }
    }

    pub fn acquire(&self, key: K) -> Result<Permit<K>, AdmissionError> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let of_key = taken.entry(key).or_default();
        if *of_key >= self.most {
            if *of_key == 0 {
                taken.remove(&key);
            }
            return Err(AdmissionError::TooMany { retry_after: RETRY_AFTER });
        }
        *of_key += 1;
        Ok(Permit { key, taken: self.taken.clone() })
    }
}

impl<K: Copy + Eq + Hash> Drop for Permit<K> {
    fn drop(&mut self) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(of_key) = taken.get_mut(&self.key) {
            *of_key -= 1;
            if *of_key == 0 {
                taken.remove(&self.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Address;
    use super::ConcurrencyLimit;
    use std::net::IpAddr;

    #[test]
    fn a_dropped_permit_is_released() {
        let address = |last: u8| Address::from(IpAddr::from([10, 0, 0, last]));
        let limit = ConcurrencyLimit::new(2);
        let first = limit.acquire(address(1)).unwrap();
        let _second = limit.acquire(address(1)).unwrap();
        assert!(limit.acquire(address(1)).is_err());
        assert!(limit.acquire(address(2)).is_ok(), "each address has its own");
        drop(first);
        assert!(limit.acquire(address(1)).is_ok());
        assert_eq!(limit.taken.lock().unwrap().len(), 1, "a released key is removed");
        assert!(ConcurrencyLimit::new(0).acquire(address(1)).is_err());
    }
}
