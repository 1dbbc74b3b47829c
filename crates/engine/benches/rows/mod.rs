//! The rows of a benchmark: what one of something takes in the best of several rounds, because on a
//! shared machine only the undisturbed round tells what the code costs; and how many instructions it
//! is, which no other program on the machine changes.
//!
//! Instructions are counted where `BAHAY_VALGRIND` names the program. For each row this program is
//! run under it twice, for one round of that row and for three: everything but two rounds happens in
//! both, so that the difference is theirs. Whatever runs in a row is therefore the same each time:
//! chance comes from seeds, and nothing looks at a clock.

use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

/// Rounds of a row that is timed.
const ROUNDS: u32 = 20;

/// Says that one row is to be done, without a clock: `--one ROW ROUNDS`.
const ONE: &str = "--one";

/// Where rows go.
#[derive(Debug)]
pub struct Rows {
    /// Only this row, so many rounds of it.
    one: Option<(String, u32)>,
    valgrind: Option<String>,
}

impl Rows {
    /// As the command line says.
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

    /// Does something with each of these.
    pub fn each<T, U>(&self, row: &str, items: &[T], work: impl Fn(&T) -> U) {
        self.round(row, || {
            for item in items {
                black_box(work(black_box(item)));
            }
            items.len() as u64
        });
    }

    /// Does something that says how many it did.
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

    /// Something that has a size.
    pub fn bytes(&self, row: &str, bytes: usize) {
        if self.one.is_none() {
            println!("{row:<58}{bytes:>12} bytes");
        }
    }

    /// Of one of those that a round does; rounded down.
    fn instructions(&self, row: &str, done: u64) -> Option<u64> {
        let valgrind = self.valgrind.as_deref()?;
        let [few, many] = [1, 3].map(|rounds| counted(valgrind, row, rounds));
        Some((many - few) / (2 * done))
    }
}

/// What a whole run with so many rounds of a row takes.
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

/// Rounded down.
fn per_second(count: u64, taken: Duration) -> u64 {
    u64::try_from(u128::from(count) * 1_000_000_000 / taken.as_nanos().max(1)).unwrap_or(u64::MAX)
}
