//! Places by address: so many at a time, each free again when it is dropped.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::{Address, Refused};

/// When somebody may have gone, for lack of a better guess.
const RETRY_AFTER: Duration = Duration::from_secs(5);

/// The places of every address. Clones share them.
#[derive(Clone, Debug)]
pub struct Places {
    most: u32,
    taken: Arc<Mutex<HashMap<Address, u32>>>,
}

/// A place that is taken until this is dropped.
#[derive(Debug)]
pub struct Place {
    address: Address,
    taken: Arc<Mutex<HashMap<Address, u32>>>,
}

impl Places {
    pub fn new(most: u32) -> Self {
        Self { most, taken: Arc::default() }
    }

    pub fn take(&self, address: Address) -> Result<Place, Refused> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let of_address = taken.entry(address).or_default();
        if *of_address >= self.most {
            if *of_address == 0 {
                taken.remove(&address);
            }
            return Err(Refused::TooMany { retry_after: RETRY_AFTER });
        }
        *of_address += 1;
        Ok(Place { address, taken: self.taken.clone() })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(of_address) = taken.get_mut(&self.address) {
            *of_address -= 1;
            if *of_address == 0 {
                taken.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Address, Places};
    use std::net::IpAddr;

    #[test]
    fn a_place_is_free_again_when_it_is_dropped() {
        let address = |last: u8| Address::from(IpAddr::from([10, 0, 0, last]));
        let places = Places::new(2);
        let first = places.take(address(1)).unwrap();
        let _second = places.take(address(1)).unwrap();
        assert!(places.take(address(1)).is_err());
        assert!(places.take(address(2)).is_ok(), "each address has its own");
        drop(first);
        assert!(places.take(address(1)).is_ok());
        assert_eq!(places.taken.lock().unwrap().len(), 1, "who is gone is forgotten");
        assert!(Places::new(0).take(address(1)).is_err());
    }
}
