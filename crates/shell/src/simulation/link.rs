//! Links between two machines: they delay messages, and sometimes drop, duplicate or reorder them.
//! Between a node and a service, a lost message is a call without an answer; a client's connection
//! keeps its order, and breaks where a text is lost.

use arrayvec::ArrayVec;

use bahay_engine::testing::TestRng;

/// The quality of a link. Shares are in thousandths of the messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quality {
    pub(super) delay_ms: (u32, u32),
    /// The additional delay of late messages, which arrive out of order.
    pub(super) late_ms: u32,
    pub(super) late: u32,
    pub(super) dropped: u32,
    pub(super) doubled: u32,
}

/// A good link between a node and a service.
pub(super) const NEAR: Quality =
    Quality { delay_ms: (0, 2), late_ms: 60, late: 5, dropped: 1, doubled: 1 };

/// A bad link between a node and a service.
pub(super) const NEAR_AND_BAD: Quality =
    Quality { delay_ms: (1, 120), late_ms: 1_500, late: 100, dropped: 60, doubled: 60 };

/// A good link between a client and a node. A dropped text ends the connection.
pub(super) const FAR: Quality =
    Quality { delay_ms: (5, 80), late_ms: 700, late: 20, dropped: 1, doubled: 0 };

/// A bad link between a client and a node.
pub(super) const FAR_AND_BAD: Quality =
    Quality { delay_ms: (20, 600), late_ms: 3_000, late: 100, dropped: 25, doubled: 0 };

impl Quality {
    /// Returns the delays of the arrivals of a message in ms: none, one or two.
    pub(super) fn arrivals(&self, dice: &mut TestRng) -> ArrayVec<u64, 2> {
        let mut arrivals = ArrayVec::new();
        if dice.below(1_000) < self.dropped {
            return arrivals;
        }
        arrivals.push(self.delay(dice));
        if dice.below(1_000) < self.doubled {
            arrivals.push(self.delay(dice));
        }
        arrivals
    }

    fn delay(&self, dice: &mut TestRng) -> u64 {
        let (least, most) = self.delay_ms;
        let late = if dice.below(1_000) < self.late { dice.below(self.late_ms + 1) } else { 0 };
        u64::from(least + dice.below(most - least + 1) + late)
    }
}
