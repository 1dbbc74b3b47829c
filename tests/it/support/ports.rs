//! Ports for the servers that tests start as processes.

use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::ops::Range;
use std::path::Path;
use std::sync::Mutex;

/// The ports that are given out. By default, Linux gives listeners that name no port, and
/// connections, ports from 32,768 on.
const PORTS: Range<u16> = 20_000..32_768;

/// The lock files of the ports that this process has reserved.
static RESERVED: Mutex<Vec<File>> = Mutex::new(vec![]);

/// Reserves a free port on loopback until this process ends.
///
/// No other process that reserves ports in this target directory gets it, also while nobody listens
/// on it, as during a restart.
pub(crate) fn reserve_port() -> u16 {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ports");
    fs::create_dir_all(&folder).expect("the folder of locks is created");
    let number = PORTS.end - PORTS.start;
    // Processes begin in different places, so that few of them try the same ports.
    let first = std::process::id().wrapping_mul(97) % u32::from(number);
    let first = u16::try_from(first).expect("a remainder is less than its divisor");
    let port = (0..number).map(|step| PORTS.start + (first + step) % number).find(|port| {
        let lock = File::create(folder.join(port.to_string())).expect("a lock file is opened");
        let is_free =
            lock.try_lock().is_ok() && TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok();
        if is_free {
            RESERVED.lock().expect("nobody panics while holding it").push(lock);
        }
        is_free
    });
    port.expect("loopback has a free port")
}

/// Reserves an address on loopback until this process ends.
pub(crate) fn reserve_address() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, reserve_port()).into()
}
