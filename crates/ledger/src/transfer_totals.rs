//! The coins that the operations sealed by this process have moved, by the code of the transfer. An
//! operation is sealed once, by one process, so the sum over all processes counts every transfer
//! once.
//!
//! The totals are for metrics: they begin at zero with the process, and a process that dies between
//! the commit of a seal and the count omits that seal.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::chart::Code;
use super::seal::OperationContent;

/// The hundredths of a coin moved under each code. Clones share the totals.
#[derive(Clone, Debug)]
pub(crate) struct TransferTotals(Arc<BTreeMap<&'static str, AtomicU64>>);

impl Default for TransferTotals {
    fn default() -> Self {
        Self(Arc::new(Code::ALL.iter().map(|code| (code.as_str(), AtomicU64::new(0))).collect()))
    }
}

impl TransferTotals {
    /// Adds the transfers of sealed operations.
    pub(crate) fn add(&self, sealed: &[OperationContent]) {
        for (code, amount) in sealed.iter().flat_map(OperationContent::coded_amounts) {
            if let Some(total) = self.0.get(code) {
                total.fetch_add(amount.hundredths().unsigned_abs(), Ordering::Relaxed);
            }
        }
    }

    /// Returns the hundredths moved under each code.
    pub(crate) fn by_code(&self) -> Vec<(&'static str, u64)> {
        let totals = self.0.iter();
        totals.map(|(code, total)| (*code, total.load(Ordering::Relaxed))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::TransferTotals;
    use crate::seal::OperationContent;

    #[test]
    fn amounts_are_added_by_code() {
        let totals = TransferTotals::default();
        let sealed = [(1, 9, 100), (9, 2, 10)];
        totals.add(&[OperationContent::with_transfers(7, &sealed)]);
        totals.add(&[OperationContent::with_transfers(8, &[(1, 9, 5)])]);
        let by_code = totals.by_code();
        assert!(by_code.contains(&("daily", 115)), "{by_code:?}");
        assert!(by_code.contains(&("fee", 0)), "{by_code:?}");
    }
}
