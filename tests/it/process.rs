//! The binary as its operator sees it: refusals to start, and the output of its commands.

use std::io::Write;
use std::process::{Output, Stdio};

use bahay::ws::protocol::Message;
use bahay_bots::simulation::{Habits, Simulation};
use bahay_client::Play;
use bahay_engine::catalog::{AnyAction, AnyRules};
use bahay_engine::coins::Coins;
use bahay_engine::game::Skill;
use bahay_engine::games::tongits::{Action, Rules};
use bahay_engine::table::{Clocks, Event, Hits, PhaseView, Price, Record, Spectators, Terms};

use crate::support::db::TestDatabase;
use crate::support::house::{PATIENCE, guest_at, join_table};
use crate::support::process::{Server, bahay, serve};

/// Asserts a refusal: exit code 1 and one line that holds all of these words.
fn assert_refuses(output: &Output, words: &[&str]) {
    let said = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<_> = said.lines().filter(|line| line.starts_with("bahay: ")).collect();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(lines.len(), 1, "{said}");
    for word in words {
        assert!(lines[0].contains(word), "{word} is not in: {}", lines[0]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_refuses_what_it_cannot_serve_with() {
    let database = TestDatabase::new().await;
    let without = serve(&database).env_remove("BAHAY_SIGNING_SECRET").output().unwrap();
    assert_refuses(&without, &["BAHAY_SIGNING_SECRET", "openssl rand -hex 32"]);
    for weak in ["", "short", "changeme", "secretsecretsecretsecretsecretsecret"] {
        let weak = serve(&database).env("BAHAY_SIGNING_SECRET", weak).output().unwrap();
        assert_refuses(&weak, &["BAHAY_SIGNING_SECRET"]);
    }
    let nowhere = "postgres://bahay@127.0.0.1:1/bahay";
    let unsealed = serve(&database).env_remove("BAHAY_SECOND_FACTOR_KEYS").output().unwrap();
    assert_refuses(&unsealed, &["BAHAY_SECOND_FACTOR_KEYS", "openssl rand -hex 32"]);
    // Development mode must be declared, and on one machine.
    let open = [("BAHAY_DEVELOPMENT", "true"), ("BAHAY_LISTEN", "0.0.0.0:0")];
    let open = serve(&database).envs(open).env_remove("BAHAY_SECOND_FACTOR_KEYS").output().unwrap();
    assert_refuses(&open, &["BAHAY_DEVELOPMENT", "BAHAY_LISTEN"]);
    let plain = serve(&database).env("BAHAY_DESK_PLAIN_HTTP", "true").output().unwrap();
    assert_refuses(&plain, &["BAHAY_DESK_PLAIN_HTTP", "BAHAY_DEVELOPMENT"]);
    let unreachable = serve(&database).env("DATABASE_URL", nowhere).output().unwrap();
    assert_refuses(&unreachable, &["DATABASE_URL"]);
    let redis = serve(&database).env("REDIS_URL", "redis://127.0.0.1:1").output().unwrap();
    assert_refuses(&redis, &["REDIS_URL"]);
    let redis = serve(&database).env("REDIS_URL", "redis+cluster://127.0.0.1:1").output().unwrap();
    assert_refuses(&redis, &["REDIS_URL"]);
    let empty = TestDatabase::empty().await;
    assert_refuses(&serve(&empty).output().unwrap(), &["bahay migrate"]);
    let spans = serve(&database).env("BAHAY_OTLP_ENDPOINT", "nowhere").output();
    assert_refuses(&spans.unwrap(), &["BAHAY_OTLP_ENDPOINT"]);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let busy = serve(&database).env("BAHAY_LISTEN", &address).output().unwrap();
    assert_refuses(&busy, &["BAHAY_LISTEN", &address]);
    let busy = serve(&database).env("BAHAY_PROBE_LISTEN", &address).output().unwrap();
    assert_refuses(&busy, &["BAHAY_PROBE_LISTEN", &address]);
}

/// From an empty database to a server that answers and ends on request.
#[tokio::test(flavor = "multi_thread")]
async fn migrate_serve_and_stop() {
    let database = TestDatabase::empty().await;
    for _ in 0..2 {
        let migrated = bahay().arg("migrate").env("DATABASE_URL", database.url()).output().unwrap();
        assert!(migrated.status.success(), "{}", String::from_utf8_lossy(&migrated.stderr));
    }
    for signal in ["TERM", "INT", "HUP"] {
        let mut server = Server::start(&mut serve(&database)).await;
        server.signal(signal);
        assert!(server.wait().success(), "a server that was told to stop by {signal} ends well");
        assert!(!server.is_healthy());
    }
}

/// Plays as the house's bot does until the game is settled.
async fn play_on(mut play: Play) -> Play {
    let mut answered = None;
    loop {
        let question = play.prompt().map(|prompt| prompt.number);
        if question != answered
            && let Some(action) = play.advice()
        {
            answered = question;
            play.act(action).await.unwrap();
        }
        let told = tokio::time::timeout(PATIENCE, play.next()).await.unwrap().unwrap();
        if let Message::Update { events, .. } = told
            && events.iter().any(|event| matches!(event, Event::Settled { .. }))
        {
            return play;
        }
    }
}

/// No state of a table lives only in a process: after a kill during a game another process
/// continues it, and every player resumes without a gap.
#[tokio::test(flavor = "multi_thread")]
async fn a_game_outlives_the_process_that_began_it() {
    let database = TestDatabase::new().await;
    let mut command = serve(&database);
    let first = Server::start(&mut command).await;
    let mut clients = vec![];
    let mut plays = vec![];
    for name in ["Althea", "Benjie", "Carmela"] {
        let client = guest_at(&first.url, name).await;
        client.seat("newbie").await.unwrap();
        plays.push(join_table(&client).await);
        clients.push(client);
    }
    let game = loop {
        if let Some(PhaseView::Preparing { game, .. }) = plays[0].view().map(|view| &view.phase) {
            break *game;
        }
        tokio::time::timeout(PATIENCE, plays[0].next()).await.unwrap().unwrap();
    };
    for play in &mut plays {
        let readied = play.ready(game, None).await.unwrap();
        play.wait_for_answer(readied).await.unwrap();
    }
    for play in &mut plays {
        while play.prompt().is_none() {
            tokio::time::timeout(PATIENCE, play.next()).await.unwrap().unwrap();
        }
    }
    let turn = plays.iter().position(|play| play.advice().is_some()).unwrap();
    let action = plays[turn].advice().unwrap();
    let acted = serde_json::to_value(&action).unwrap();
    let acting = plays[turn].act(action).await.unwrap();
    plays[turn].wait_for_answer(acting).await.unwrap();
    let acknowledged = plays[turn].version().unwrap();
    drop(first);

    let second = Server::start(&mut command).await;
    let mut playing = tokio::task::JoinSet::new();
    for (client, play) in clients.iter().zip(plays) {
        let known = play.drop_connection();
        let mut back = client.with_base(&second.url).play().await.unwrap();
        back.resume(known);
        let joining = back.join().await.unwrap();
        back.wait_for_answer(joining).await.unwrap();
        assert!(back.version().unwrap() >= acknowledged, "an acknowledged move was lost");
        playing.spawn(play_on(back));
    }
    assert_eq!(playing.join_all().await.len(), 3);
    let record = clients[0].with_base(&second.url).record(game).await.unwrap();
    assert_eq!(record["actions"][0]["action"], acted, "an acknowledged move was lost");
    let verified = verify(&record.to_string());
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
    let report = bahay::ledger::audit::audit(&database.pool().await).await.unwrap();
    assert!(report.is_clean(), "{report:?}");
}

fn record() -> Record<bahay_engine::catalog::AnyGame> {
    let bet = Coins::from_whole(1).unwrap();
    let terms = Terms {
        room: "newbie".to_owned(),
        rules: AnyRules::Tongits(Rules::kingdom()),
        price: Price { bet, multiplier: 1, fee_basis_points: 500 },
        hits: Some(Hits::default()),
        clocks: Clocks::default(),
        spectators: Spectators::default(),
        bots: Skill::default(),
        private: None,
        practice: false,
    };
    let mut records = vec![];
    Simulation::<bahay_engine::catalog::AnyGame>::new(
        5,
        terms,
        Habits::default(),
        Coins::from_whole(500).unwrap(),
    )
    .play(1, |_, record| records.push(record.clone()));
    records.remove(0)
}

fn verify(document: &str) -> Output {
    let mut child = bahay()
        .args(["verify", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(document.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn verify_tells_a_record_from_a_forgery() {
    let record = record();
    let document = serde_json::to_string_pretty(&record).unwrap();
    let verified = verify(&document);
    let said = String::from_utf8_lossy(&verified.stdout);
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
    assert!(said.starts_with("verified"), "{said}");

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

#[test]
fn simulate_says_the_same_for_the_same_seed() {
    let run = |seed: &str| {
        let output = bahay()
            .args(["simulate", "--games", "60", "--rough", "--seed", seed])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let first = run("8");
    assert!(first.contains("ends by"), "{first}");
    assert_eq!(first, run("8"));
    assert_ne!(first, run("9"));
}
