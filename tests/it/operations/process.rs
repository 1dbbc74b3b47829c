//! The binary as its operator sees it: refusals to start, and the output of its commands.

use std::process::Output;

use bahay::cli::Cli;
use bahay::lobby::house_rooms;
use bahay_bots::simulation::{Habits, Simulation};
use bahay_engine::catalog::{AnyAction, AnyGame};
use bahay_engine::coins::Coins;
use bahay_engine::games::tongits::Action;
use bahay_engine::table::{Clocks, Record};
use clap::CommandFactory as _;

use crate::support::checks::audit_books;
use crate::support::db::TestDatabase;
use crate::support::house::seat_guests;
use crate::support::play::{
    TestPlay as _, asked_player, deal_game, join_tables, play_until_settled, rejoin,
};
use crate::support::process::{Server, bahay, run_bahay, run_with_input, serve};

/// Asserts a refusal: exit code 1 and one line that holds all of these words.
pub(crate) fn assert_refuses(output: &Output, words: &[&str]) {
    let said = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<_> = said.lines().filter(|line| line.starts_with("bahay: ")).collect();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(lines.len(), 1, "{said}");
    for word in words {
        assert!(lines[0].contains(word), "{word} is not in: {}", lines[0]);
    }
}

#[test]
fn the_command_line_is_well_defined() {
    Cli::command().debug_assert();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_refuses_what_it_cannot_serve_with() {
    let database = TestDatabase::new().await;
    for (missing, words) in [
        ("BAHAY_SIGNING_SECRET", ["BAHAY_SIGNING_SECRET", "openssl rand -hex 32"]),
        ("BAHAY_SECOND_FACTOR_KEYS", ["BAHAY_SECOND_FACTOR_KEYS", "openssl rand -hex 32"]),
    ] {
        assert_refuses(&serve(&database).env_remove(missing).output().unwrap(), &words);
    }
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let address = address.as_str();
    let weak = ["", "short", "changeme", "secretsecretsecretsecretsecretsecret"];
    let cases: [(&str, &str, &[&str]); 7] = [
        ("BAHAY_DESK_PLAIN_HTTP", "true", &["BAHAY_DEVELOPMENT"]),
        ("DATABASE_URL", "postgres://bahay@127.0.0.1:1/bahay", &[]),
        ("REDIS_URL", "redis://127.0.0.1:1", &[]),
        ("REDIS_URL", "redis+cluster://127.0.0.1:1", &[]),
        ("BAHAY_OTLP_ENDPOINT", "nowhere", &[]),
        ("BAHAY_LISTEN", address, &[address]),
        ("BAHAY_PROBE_LISTEN", address, &[address]),
    ];
    let cases = cases.into_iter().chain(weak.map(|weak| ("BAHAY_SIGNING_SECRET", weak, &[][..])));
    for (setting, value, words) in cases {
        let refused = serve(&database).env(setting, value).output().unwrap();
        assert_refuses(&refused, &[&[setting][..], words].concat());
    }
    // Development mode must be declared, and on one machine.
    let open = [("BAHAY_DEVELOPMENT", "true"), ("BAHAY_LISTEN", "0.0.0.0:0")];
    let open = serve(&database).envs(open).env_remove("BAHAY_SECOND_FACTOR_KEYS").output().unwrap();
    assert_refuses(&open, &["BAHAY_DEVELOPMENT", "BAHAY_LISTEN"]);
    let empty = TestDatabase::empty().await;
    assert_refuses(&serve(&empty).output().unwrap(), &["bahay migrate"]);
}

/// From an empty database to a server that answers and ends on request.
#[tokio::test(flavor = "multi_thread")]
async fn migrate_serve_and_stop() {
    let database = TestDatabase::empty().await;
    for _ in 0..2 {
        run_bahay(&database, ["migrate"]).unwrap();
    }
    for signal in ["TERM", "INT", "HUP"] {
        let mut server = Server::start(&mut serve(&database)).await;
        server.signal(signal);
        assert!(server.wait().success(), "a server that was told to stop by {signal} ends well");
        assert!(!server.is_healthy());
    }
}

/// No state of a table lives only in a process: after a kill during a game another process
/// continues it, and every player resumes without a gap.
#[tokio::test(flavor = "multi_thread")]
async fn a_game_outlives_the_process_that_began_it() {
    let database = TestDatabase::new().await;
    let mut command = serve(&database);
    let first = Server::start(&mut command).await;
    let (_, clients) = seat_guests([&first.url; 3].map(String::as_str)).await;
    let mut plays = join_tables(&clients).await;
    let game = deal_game(&mut plays).await;
    let turn = asked_player(&plays);
    let action = plays[turn].advice().unwrap();
    let acted = serde_json::to_value(&action).unwrap();
    plays[turn].confirm_action(action).await;
    drop(first);

    let second = Server::start(&mut command).await;
    let mut playing = tokio::task::JoinSet::new();
    for (client, play) in clients.iter().zip(plays) {
        // Each viewer counts versions of its own.
        let shown = play.version().unwrap();
        let known = play.drop_connection();
        let back = rejoin(&client.with_base(&second.url), known).await;
        assert!(back.version().unwrap() >= shown, "an acknowledged move was lost");
        playing.spawn(play_until_settled(back));
    }
    assert_eq!(playing.join_all().await.len(), 3);
    let record = clients[0].with_base(&second.url).record(game).await.unwrap();
    assert_eq!(record["actions"][0]["action"], acted, "an acknowledged move was lost");
    let verified = verify(&record.to_string());
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
    audit_books(&database.pool().await).await;
}

fn record() -> Record<AnyGame> {
    let terms = house_rooms(Clocks::default())[0].terms().clone();
    let mut records = vec![];
    Simulation::<AnyGame>::new(5, terms, Habits::default(), Coins::from_whole(500).unwrap())
        .play(1, |_, record| records.push(record.clone()));
    records.remove(0)
}

fn verify(document: &str) -> Output {
    run_with_input(bahay().args(["verify", "-"]), document.as_bytes())
}

#[test]
fn verify_tells_a_record_from_a_forgery() {
    let record = record();
    let document = serde_json::to_string_pretty(&record).unwrap();
    let verified = verify(&document);
    let said = String::from_utf8_lossy(&verified.stdout);
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
    assert!(said.starts_with("verified"), "{said}");
    let winner = record.settlement.winner.expect("a seat wins");
    assert!(said.contains(&format!("seat {} wins +", winner.index() + 1)), "{said}");

    let mut forged = record.clone();
    forged.settlement.fees[0].fee = Coins::ZERO;
    let forged = verify(&serde_json::to_string(&forged).unwrap());
    assert_refuses(&forged, &["fee", "rule 6.8"]);

    let mut forged = record.clone();
    // The events after a dump belong to another seat.
    let is_dump = |action: &AnyAction| matches!(action, AnyAction::Tongits(Action::Dump { .. }));
    let dump = forged.actions.iter().position(|taken| is_dump(&taken.action)).unwrap();
    forged.actions.remove(dump);
    let forged = verify(&serde_json::to_string(&forged).unwrap());
    assert_refuses(&forged, &[&format!("action {dump}:"), "rule 1.1"]);

    assert_refuses(&verify("{}"), &["not the record of a game"]);
    assert_refuses(&verify(""), &["not the record of a game"]);
    let missing = bahay().args(["verify", "no-such-file.json"]).output().unwrap();
    assert_refuses(&missing, &["no-such-file.json"]);
}
