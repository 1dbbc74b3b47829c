//! The units of figures in reports.

/// Formats milliseconds with two decimals, rounded down.
pub(in crate::loadtest) fn millis(us: u64) -> String {
    format!("{} ms", hundredths(us / 10))
}

/// Formats a number of hundredths.
pub(in crate::loadtest) fn hundredths(hundredths: u64) -> String {
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

/// Formats a number of tenths.
pub(in crate::loadtest) fn tenths(tenths: u64) -> String {
    format!("{}.{}", tenths / 10, tenths % 10)
}

pub(in crate::loadtest) fn per_second(number: u64, long_ms: u64) -> u64 {
    number * 1_000 / long_ms.max(1)
}

/// Returns the processor time in percent of one core.
pub(in crate::loadtest) fn percent(cpu_us: u64, long_ms: u64) -> u64 {
    cpu_us / 10 / long_ms.max(1)
}
