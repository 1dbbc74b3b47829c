//! Games of TongoOptions, including forged actions.

#![no_main]

use bahay_engine::games::tongo_options::TongoOptions;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bahay_fuzz::game::play::<TongoOptions>(bytes));
