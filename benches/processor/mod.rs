//! How long a process was on a processor, which says more than a clock on a machine that does other
//! things as well.

use std::fs;

/// User and system time of the process with this number (`self` for this one), on Linux.
pub fn spent_us(process: &str) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name in brackets may hold spaces.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    // A hundred ticks a second, on every Linux that we know of.
    Some(ticks * 10_000)
}
