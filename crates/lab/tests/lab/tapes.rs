//! Plays tapes that were never written to a file with the reducer, `bahay_client`.

use bahay_engine::catalog;
use bahay_lab::tapes::record_tape;

use crate::tape::play_tape;

/// The seeds of the tapes of each game; lower ones are in clients/tapes.
const SEEDS: std::ops::Range<u64> = 21..355;

#[test]
fn the_client_agrees_with_a_thousand_tapes() {
    let (mut tapes, mut connections, mut shows) = (0, 0, 0);
    for kind in catalog::kinds().iter().filter(|kind| !kind.is_hidden) {
        for seed in SEEDS {
            let tape = record_tape(kind.name, seed).expect("a tape is recorded");
            match play_tape(&tape) {
                Ok(summary) => {
                    tapes += 1;
                    connections += summary.connections;
                    shows += summary.shows;
                }
                Err(error) => panic!("{} {seed}: {error}", kind.name),
            }
        }
    }
    assert!(tapes >= 1_000, "only {tapes} tapes");
    println!("{tapes} tapes, {connections} connections, {shows} views compared");
}
