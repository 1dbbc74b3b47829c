//! The stream of ledger events: it adds up to the ledger, is the same from any number on, and its
//! files neither lose nor duplicate an event however often the writer is killed.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use bahay_engine::testing::TestRng;
use futures_util::future::join;
use serde_json::Value;
use sqlx::Row as _;
use tokio::sync::watch;

use crate::support::bank::{Bank, PotGoes, table};

pub(crate) fn events(bank: &Bank, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bahay-events"));
    command.env_clear().stdin(Stdio::null());
    command.args(arguments).env("DATABASE_URL", bank.database.url());
    command
}

pub(crate) fn printed(bank: &Bank, arguments: &[&str]) -> String {
    let output = events(bank, arguments).stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

/// Asserts that numbers are contiguous and balances equal those of the ledger.
pub(crate) async fn holds(bank: &Bank, lines: &str) {
    let mut balances = BTreeMap::<String, i64>::new();
    for (number, line) in (1..).zip(lines.lines()) {
        let event: Value = serde_json::from_str(line).unwrap();
        assert_eq!(event["number"], number);
        for transfer in event["transfers"].as_array().unwrap() {
            let amount = transfer["amount"].as_i64().unwrap();
            *balances.entry(transfer["from"].as_str().unwrap().into()).or_default() -= amount;
            *balances.entry(transfer["to"].as_str().unwrap().into()).or_default() += amount;
        }
    }
    let accounts = sqlx::query("select code, balance from accounts").fetch_all(&bank.pool).await;
    for account in accounts.unwrap() {
        let (code, balance): (String, i64) = (account.get("code"), account.get("balance"));
        assert_eq!(balances.remove(&code).unwrap_or_default(), balance, "{code}");
    }
    assert_eq!(balances, BTreeMap::new(), "accounts that the ledger does not know");
}

#[tokio::test]
async fn events_add_up_to_the_ledger_and_say_the_same_from_any_number_on() {
    let bank = Bank::new().await;
    assert_eq!(printed(&bank, &[]), "");
    let players = bank.players([10_000; 3]).await;
    let table = table();
    for winner in [0, 1, 1] {
        bank.play(table, &players, winner, 2, PotGoes::Nowhere).await;
        bank.ledger.seal_operations().await.unwrap();
    }
    let all = printed(&bank, &[]);
    holds(&bank, &all).await;
    let lines: Vec<&str> = all.lines().collect();
    assert!(lines.len() >= 9, "three welcomes, three openings, three settlements");
    let settled: Value = serde_json::from_str(lines.last().unwrap()).unwrap();
    assert_eq!(settled["kind"], "settle");
    assert_eq!(settled["game"]["kind"], "tongits");
    assert_eq!(settled["game"]["room"], "newbie");
    assert_eq!(settled["game"]["table"], table.0.to_string());
    for from in 1..=lines.len() {
        let tail: String = lines[from - 1..].iter().flat_map(|line| [*line, "\n"]).collect();
        assert_eq!(printed(&bank, &["--from", &from.to_string()]), tail);
    }
    let beyond = (lines.len() + 1).to_string();
    assert_eq!(printed(&bank, &["--from", &beyond]), "");
    let too_far = events(&bank, &["--from", "1000"]).output().unwrap();
    assert!(!too_far.status.success());
    let said = String::from_utf8_lossy(&too_far.stderr).into_owned();
    assert!(said.contains("there are fewer than 999 events"), "{said}");
}

/// The number of times that the writer is killed.
pub(crate) const KILLED: u32 = 100;

/// Plays games until it is stopped, and returns their number.
pub(crate) async fn play_until(bank: &Bank, stopped: &watch::Receiver<bool>) -> u32 {
    let players = bank.players([100_000_000; 3]).await;
    let table = table();
    let mut games = 0_u32;
    while !*stopped.borrow() {
        let winner = u8::try_from(games % 3).unwrap();
        bank.play(table, &players, winner, 2, PotGoes::Nowhere).await;
        bank.ledger.seal_operations().await.unwrap();
        games += 1;
    }
    games
}

#[tokio::test]
async fn an_exporter_killed_a_hundred_times_publishes_each_event_once() {
    let bank = Bank::new().await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let (stop, stopped) = watch::channel(false);
    let killing = async {
        let mut dice = TestRng::new(7);
        for _ in 0..KILLED {
            let mut writer = events(&bank, &["--follow", "--out", path]).spawn().unwrap();
            tokio::time::sleep(Duration::from_millis(u64::from(dice.below(300)))).await;
            writer.kill().unwrap();
            writer.wait().unwrap();
        }
        stop.send_replace(true);
    };
    let (games, ()) = join(play_until(&bank, &stopped), killing).await;
    assert!(games > 0);
    let before = written(folder.path());
    assert!(!before.is_empty(), "no writer has lived long enough to write anything");
    printed(&bank, &["--out", path]);
    let files = written(folder.path());
    assert!(files.starts_with(before.rsplit_once('\n').map_or("", |(whole, _)| whole)));
    assert_eq!(files, printed(&bank, &[]));
    holds(&bank, &files).await;
}

fn written(folder: &Path) -> String {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "ndjson")).collect();
    files.sort();
    files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect()
}
