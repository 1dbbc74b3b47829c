//! Games of Tongits, including forged actions.

#![no_main]

use bahay_engine::games::tongits::Tongits;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bahay_fuzz::game::play::<Tongits>(bytes));
