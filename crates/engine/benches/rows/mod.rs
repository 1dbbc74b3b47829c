//! The rows of a benchmark: the time per operation in the best of several rounds, because on a
//! shared machine only an undisturbed round shows the cost of the code; and the number of
//! instructions, which no other program on the machine affects.
//!
//! Instructions are counted if `BAHAY_VALGRIND` names the program. For each row this program is run
//! under it twice, with one round and with three, and the difference is the cost of two rounds. The
//! work of a row is therefore deterministic: it uses seeded randomness and no clock.

use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

/// The rounds of a timed row.
const ROUNDS: u32 = 20;

/// The option that runs one row without a clock: `--one ROW ROUNDS`.
const ONE: &str = "--one";

/// The output of rows.
#[derive(Debug)]
pub struct Rows {
    /// The only row to run, with its number of rounds.
    one: Option<(String, u32)>,
    valgrind: Option<String>,
}

impl Rows {
    /// Reads the command line.
    pub fn new(title: &str) -> Self {
        let mut arguments = std::env::args().skip_while(|argument| argument != ONE).skip(1);
        let one = arguments.next().map(|row| {
            let rounds = arguments.next().and_then(|rounds| rounds.parse().ok());
            (row, rounds.expect("a row is followed by a number of rounds"))
        });
        let valgrind = std::env::var("BAHAY_VALGRIND").ok().filter(|program| !program.is_empty());
        if one.is_none() {
            println!("{title:<58}{:>12}{:>13}{:>14}", "ns each", "a second", "instructions");
        }
        Self { one, valgrind }
    }

    /// Measures an operation on each of these items.
    pub fn each<T, U>(&self, row: &str, items: &[T], work: impl Fn(&T) -> U) {
        self.round(row, || {
            for item in items {
                black_box(work(black_box(item)));
            }
            items.len() as u64
        });
    }

    /// Measures work that returns the number of its operations.
    pub fn round(&self, row: &str, work: impl Fn() -> u64) {
        if let Some((one, rounds)) = &self.one {
            if one == row {
                for _ in 0..*rounds {
                    black_box(work());
                }
            }
            return;
        }
        let mut done = 1;
        let timed = (0..ROUNDS).map(|_| {
            let begun = Instant::now();
            done = black_box(work()).max(1);
            begun.elapsed()
        });
        let best = timed.min().unwrap_or_default();
        println!(
            "{row:<58}{:>12}{:>13}{:>14}",
            best.as_nanos() / u128::from(done),
            per_second(done, best),
            self.instructions(row, done).map_or_else(|| "-".to_owned(), |count| count.to_string()),
        );
    }

    /// Prints a size.
    pub fn bytes(&self, row: &str, bytes: usize) {
        if self.one.is_none() {
            println!("{row:<58}{bytes:>12} bytes");
        }
    }

    /// Returns the instructions of one operation, rounded down.
    fn instructions(&self, row: &str, done: u64) -> Option<u64> {
        let valgrind = self.valgrind.as_deref()?;
        let [few, many] = [1, 3].map(|rounds| counted(valgrind, row, rounds));
        Some((many - few) / (2 * done))
    }
}

/// Returns the instructions of a whole run with a number of rounds of a row.
fn counted(valgrind: &str, row: &str, rounds: u32) -> u64 {
    let program = std::env::current_exe().expect("a program knows where it is");
    let output = Command::new(valgrind)
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args([ONE, row, &rounds.to_string()])
        .env_remove("BAHAY_VALGRIND")
        .output()
        .expect("BAHAY_VALGRIND names a program");
    let said = String::from_utf8_lossy(&output.stderr);
    let count = said.lines().find_map(|line| line.rsplit_once("Collected : ")?.1.parse().ok());
    count.unwrap_or_else(|| panic!("valgrind counted nothing: {said}"))
}

/// Returns the rate per second, rounded down.
fn per_second(count: u64, taken: Duration) -> u64 {
    u64::try_from(u128::from(count) * 1_000_000_000 / taken.as_nanos().max(1)).unwrap_or(u64::MAX)
}
