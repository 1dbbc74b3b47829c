//! Games of TongoAssets, including forged actions.

#![no_main]

use bahay_engine::games::tongo_assets::TongoAssets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bahay_fuzz::game::play::<TongoAssets>(bytes));
