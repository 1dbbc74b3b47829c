//! The load tester against a server: it plays, finds no fault, reports its measurements, and
//! reports rate-limit refusals clearly.

use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use bahay::auth::ACCESS_TOKEN_LIFE;
use bahay::clock::Clock;
use bahay::rate_limit::{self, Rate};
use serde_json::Value;
use tokio::time::sleep;
use uuid::Uuid;

use crate::support::house::{House, PATIENCE, Setup};

/// Returns the command line of a load test.
fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bahay-lab"));
    command.env_clear().stdin(Stdio::null()).arg("loadtest");
    command
}

/// Runs `bahay-lab loadtest` with these words against a house, with its database.
async fn loadtest(house: &House, words: &str) -> Output {
    let mut command = command();
    command.args(words.split_whitespace()).args(["--url", &house.base]);
    command.args(["--probe-url", &house.probes]);
    command.env("DATABASE_URL", house.database.url());
    tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
}

/// Returns the output of a successful run.
#[track_caller]
fn said(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    said
}

fn file(kind: &str) -> PathBuf {
    std::env::temp_dir().join(format!("bahay-load-{}.{kind}", Uuid::new_v4().simple()))
}

#[tokio::test(flavor = "multi_thread")]
async fn all_kinds_of_players_play_and_the_report_says_so() {
    let house = House::new().await;
    let (json, html) = (file("json"), file("html"));
    let habits = "--think-ms 20 --spread people --slow 20 --dropping 20 --idle 10";
    let reports = format!("--json {} --html {}", json.display(), html.display());
    let words = format!("fixed --tables 4 --seconds 4 --warm-up 1 {habits} {reports}");
    let output = loadtest(&house, &words).await;
    let said = said(&output);
    assert!(said.contains("the ledger is clean"), "{said}");
    let report: Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    let counted = &report["steps"][0]["counted"];
    assert!(counted["counts"]["moves"].as_u64().unwrap() > 0, "{counted}");
    assert!(counted["latencies"]["action_to_event"]["p99_us"].as_u64().unwrap() > 0, "{counted}");
    let page = std::fs::read_to_string(&html).unwrap();
    assert!(page.contains("<svg") && !page.contains("<script"), "{page}");

    let json_name = json.display();
    let merged = loadtest(&house, &format!("--merge {json_name} {json_name}")).await;
    assert!(self::said(&merged).starts_with("8 tables"));
    let compared = loadtest(&house, &format!("--merge {json_name} --compare {json_name}")).await;
    assert!(self::said(&compared).contains("compared with before"));
    std::fs::remove_file(json).unwrap();
    std::fs::remove_file(html).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn players_may_ask_for_shorter_messages() {
    let house = House::new().await;
    for form in ["brief", "compact"] {
        let words = "--tables 3 --seconds 2 --warm-up 1 --think-ms 20 --dropping 30 --form";
        let output = loadtest(&house, &format!("{words} {form}")).await;
        assert!(said(&output).contains("the ledger is clean"), "{form}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn several_nodes_are_loaded_together_and_each_is_accounted_for() {
    let house = House::new().await;
    let (second, running) = house.node().await;
    let probes = format!("http://{}", running.probes);
    for seating in ["apart", "together"] {
        let json = file("json");
        let nodes = format!("--url {second} --probe-url {probes} --seating {seating}");
        let size = "--tables 4 --seconds 3 --warm-up 1 --think-ms 20 --json";
        let words = format!("{nodes} {size} {}", json.display());
        let said = said(&loadtest(&house, &words).await);
        assert!(said.contains("the ledger is clean"), "{said}");
        let report: Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
        let step = &report["steps"][0];
        let nodes = step["nodes"].as_array().unwrap();
        let moves: Vec<_> = nodes.iter().map(|node| node["moves"].as_u64().unwrap()).collect();
        let all = step["counted"]["counts"]["moves"].as_u64().unwrap();
        assert!(moves.len() == 2 && moves.iter().sum::<u64>() == all, "{moves:?} of {all}");
        // Players of one table are at both nodes, so both have moves.
        assert!(seating == "together" || moves.iter().all(|moves| *moves > 0), "{moves:?}");
        for node in nodes {
            let url = node["url"].as_str().unwrap();
            assert!(said.contains(&format!("{url}: ")), "{said}");
        }
        std::fs::remove_file(json).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_costs_are_measured_in_stages() {
    let house = House::new().await;
    let said = said(&loadtest(&house, "idle --tables 2 --seconds 2 --warm-up 0").await);
    for stage in
        ["the server alone: ", "6 connections without a table: ", "2 tables with as many players: "]
    {
        assert!(said.lines().any(|line| line.starts_with(stage)), "{said}");
    }
    assert!(said.contains("the ledger is clean"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_and_figures_are_named_for_each_address_or_for_none() {
    let house = House::new().await;
    for (words, expected) in [
        ("--pid 1,2", "2 processes are named, but 1 addresses"),
        ("--probe-url http://127.0.0.1:1", "2 are named for figures, but 1 addresses"),
    ] {
        let output = loadtest(&house, words).await;
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{words}: {said}");
        assert!(said.contains(expected), "{words}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn everybody_comes_back_from_a_storm() {
    let house = House::new().await;
    let output = loadtest(&house, "storm --tables 10 --warm-up 1 --think-ms 200").await;
    let said = said(&output);
    let resumed = said.lines().find(|line| line.contains("resume")).unwrap_or_default();
    assert!(resumed.split_whitespace().nth(1) == Some("30"), "{said}");
}

/// As in a soak of hours: a player that reconnects after a quarter of an hour renews its tokens
/// first.
#[tokio::test(flavor = "multi_thread")]
async fn a_player_with_an_expired_token_renews_it() {
    let wall = Clock::set_to(Clock::system().now());
    let setup = Setup { wall: wall.clone(), ..Setup::default() };
    let house = House::with_setup(setup).await;
    let all_play = async {
        let until = Instant::now() + PATIENCE;
        loop {
            let tables = sqlx::query_scalar::<_, i64>("select count(distinct table_id) from games");
            if tables.fetch_one(&house.pool).await.unwrap() == 4 {
                return;
            }
            assert!(Instant::now() < until, "four tables do not play");
            sleep(Duration::from_millis(50)).await;
        }
    };
    let expires = async {
        all_play.await;
        wall.advance(ACCESS_TOKEN_LIFE + Duration::from_mins(1));
    };
    let storm = loadtest(&house, "storm --tables 4 --warm-up 4 --think-ms 200");
    let (output, ()) = tokio::join!(storm, expires);
    let said = said(&output);
    let resumed = said.lines().find(|line| line.contains("resume")).unwrap_or_default();
    assert!(resumed.split_whitespace().nth(1) == Some("12"), "{said}");
    assert!(!said.contains("token"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ramp_tells_each_step_and_that_nothing_holds() {
    let house = House::new().await;
    let words = "ramp --tables 2 --seconds 1 --warm-up 0 --think-ms 20 --limit-ms 0";
    let output = loadtest(&house, words).await;
    assert!(said(&output).contains("no number of tables keeps p99 below 0 ms"));
    let steps = String::from_utf8_lossy(&output.stderr).into_owned();
    for tables in ["2 tables: p99 ", "1 tables: p99 "] {
        let step = steps.lines().find(|line| line.starts_with(tables)).unwrap_or_default();
        assert!(step.contains("does not hold"), "{steps}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_without_think_times_tells_whether_the_limit_of_commands_bounds_it() {
    let words = "max --tables 2 --seconds 2 --warm-up 0";
    let rate = Rate { per_second: 100_000, burst: 100_000 };
    let house = House::with_rate_limits(|limits| limits.commands_per_socket = rate).await;
    let unbounded = said(&loadtest(&house, words).await);
    let not_reached = "the limit of commands of a socket was not reached";
    assert!(unbounded.contains(not_reached) && !unbounded.contains("too_fast"), "{unbounded}");
    // However slow the machine, its players would act sooner.
    let rate = Rate { per_second: 1, burst: 2 };
    let house = House::with_rate_limits(|limits| limits.commands_per_socket = rate).await;
    let words = "max --tables 2 --seconds 4 --warm-up 0";
    let bounded = said(&loadtest(&house, words).await);
    assert!(bounded.contains("THE LIMIT OF COMMANDS OF A SOCKET WAS REACHED"), "{bounded}");
}

/// A process that is killed on drop.
struct KillOnDrop(Child);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        // The process may have exited by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_soak_that_is_broken_off_is_not_lost() {
    let house = House::new().await;
    let json = file("json");
    let mut command = command();
    command.args(["soak", "--tables", "2", "--warm-up", "0", "--think-ms", "20"]);
    // The report is saved every two seconds.
    command.args(["--seconds", "20", "--url", &house.base, "--json"]).arg(&json);
    let soak = KillOnDrop(command.spawn().unwrap());
    let begun = Instant::now();
    while !json.exists() {
        assert!(begun.elapsed() < PATIENCE, "nothing was saved");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    drop(soak);
    let said = said(&loadtest(&house, &format!("--merge {}", json.display())).await);
    assert!(said.starts_with("BROKEN OFF"), "{said}");
    assert!(said.contains("2 tables, ") && said.contains("by the hour"), "{said}");
    std::fs::remove_file(json).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_narrow_door_is_named_with_what_opens_it() {
    let setup = Setup { rate_limits: rate_limit::Options::default(), ..Setup::default() };
    let house = House::with_setup(setup).await;
    let output = loadtest(&house, "--tables 40").await;
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("BAHAY_SIGN_INS_PER_ADDRESS"), "{said}");
}
