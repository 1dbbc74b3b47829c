//! The stream of ledger events in NATS: sequences equal the events' numbers however often publisher
//! and broker are killed; streams are never mixed, and secrets are not shown.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};
use std::time::Duration;

use bahay_engine::testing::TestRng;
use futures_util::future::join;

use crate::nats_server::Nats;
use crate::stream::{KILLED, events, holds, play_until, printed};
use crate::support::bank::{Bank, PotGoes, table};
use crate::support::tls::{Authority, Validity};
use crate::support::waiting::wait_until;

const STREAM: &str = "BAHAY_EVENTS";

fn publish(bank: &Bank, to: &str, arguments: &[&str]) -> Command {
    let mut command = events(bank, &[&["--to", to], arguments].concat());
    command.stdout(Stdio::null());
    command
}

fn done(mut command: Command) {
    let output = command.stderr(Stdio::piped()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[track_caller]
fn refused(mut command: Command, why: &str) {
    let output = command.stderr(Stdio::piped()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains(why), "{why}: {said}");
    assert!(!said.contains("hush-hush"), "{said}");
}

/// Asserts that the broker holds the ledger's events, each number once and at its sequence.
async fn is_whole(bank: &Bank, nats: &Nats) {
    let mut lines = String::new();
    for (place, message) in (1..).zip(nats.read_messages(STREAM).await) {
        assert_eq!((message.sequence, message.id.as_str()), (place, place.to_string().as_str()));
        let event: serde_json::Value = serde_json::from_str(&message.text).unwrap();
        assert_eq!(message.subject, format!("bahay.events.{}", event["kind"].as_str().unwrap()));
        lines.push_str(&message.text);
        lines.push('\n');
    }
    assert_eq!(lines, printed(bank, &[]));
    holds(bank, &lines).await;
}

#[tokio::test]
async fn a_broker_has_each_event_once_whoever_is_killed() {
    let bank = Bank::new().await;
    let mut nats = Nats::start(&[]).await;
    let to = nats.url();
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let killing = async {
        let mut dice = TestRng::new(11);
        for round in 1..=KILLED {
            let before = nats.last_sequence(STREAM).await;
            let mut writer =
                publish(&bank, &to, &["--follow"]).stderr(Stdio::null()).spawn().unwrap();
            // At any time, such as at the start; in some rounds after the first event.
            if round % 5 == 1 {
                let is_published = async || nats.last_sequence(STREAM).await > before;
                wait_until("something is published", is_published).await;
            }
            tokio::time::sleep(Duration::from_millis(u64::from(dice.below(200)))).await;
            if round % 10 == 0 {
                // During publishing.
                nats.restart().await;
            }
            writer.kill().unwrap();
            writer.wait().unwrap();
        }
        stop.send_replace(true);
    };
    let (games, ()) = join(play_until(&bank, &stopped), killing).await;
    assert!(games > 0);
    // A running publisher survives as well and continues when the broker is back.
    let mut writer = publish(&bank, &to, &["--follow"]).stderr(Stdio::null()).spawn().unwrap();
    let has_all = async |nats: &Nats| {
        let all = printed(&bank, &[]).lines().count();
        let all = u64::try_from(all).unwrap();
        wait_until("the broker has all", async || nats.last_sequence(STREAM).await == all).await;
    };
    has_all(&nats).await;
    nats.kill();
    let players = bank.players([10_000; 3]).await;
    bank.play(table(), &players, 0, 2, PotGoes::Nowhere).await;
    bank.ledger.seal_operations().await.unwrap();
    nats.restart().await;
    has_all(&nats).await;
    writer.kill().unwrap();
    writer.wait().unwrap();
    is_whole(&bank, &nats).await;
}

#[tokio::test]
async fn two_publishers_do_not_mix_and_other_books_are_refused() {
    let bank = Bank::new().await;
    let nats = Nats::start(&[]).await;
    let to = nats.url();
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let publishing = async {
        let two = || publish(&bank, &to, &["--follow"]).stderr(Stdio::null()).spawn().unwrap();
        let mut two = [two(), two()];
        let have_both_published = async || nats.last_sequence(STREAM).await > 60;
        wait_until("both exporters have published", have_both_published).await;
        stop.send_replace(true);
        for one in &mut two {
            one.kill().unwrap();
            one.wait().unwrap();
        }
    };
    let (_, ()) = join(play_until(&bank, &stopped), publishing).await;
    done(publish(&bank, &to, &[]));
    is_whole(&bank, &nats).await;

    let other = Bank::new().await;
    refused(publish(&other, &to, &["--follow"]), "is this another database?");
    let players = other.players([1_000_000; 3]).await;
    let table = table();
    let there = nats.read_messages(STREAM).await.len();
    while printed(&other, &[]).lines().count() <= there {
        for winner in [0, 1, 2].repeat(5) {
            other.play(table, &players, winner, 2, PotGoes::Nowhere).await;
        }
        other.ledger.seal_operations().await.unwrap();
    }
    refused(publish(&other, &to, &["--follow"]), "is not event");
    is_whole(&bank, &nats).await;
}

#[tokio::test]
async fn brokers_are_reached_over_tls_with_a_password_that_is_not_shown() {
    let bank = Bank::new().await;
    bank.players([10_000; 3]).await;
    bank.ledger.seal_operations().await.unwrap();
    let (authority, stranger) = (Authority::new(), Authority::new());
    let [certificate, key] =
        authority.write_files(&authority.sign(&["localhost"], Validity::Current));
    let tls = ["--tls", "--tlscert", &certificate, "--tlskey", &key];
    let user = ["--user", "ana", "--pass", "hush-hush@1"];
    let nats = Nats::start(&[tls.as_slice(), &user].concat()).await;
    let at = |user: &str| format!("tls://{user}localhost:{}", nats.port);
    let ana = at("ana:hush-hush%401@");
    let root = |authority: &Authority| authority.path().to_str().unwrap().to_owned();
    let (known, strange) = (root(&authority), root(&stranger));
    let known = ["--nats-root-certificate", known.as_str()];
    done(publish(&bank, &ana, &known));
    refused(publish(&bank, &ana, &["--nats-root-certificate", &strange]), "cannot be reached");
    refused(publish(&bank, &at("ana:hush-hush@"), &known), "authorization violation");
    // Without `--follow` the program does not wait; with it, it does not wait for events that
    // cannot come.
    let forever = [known.as_slice(), &["--follow"]].concat();
    refused(publish(&bank, &at("ana:hush-hush@"), &forever), "authorization violation");
    refused(publish(&bank, "nats://ana:hush-hush@127.0.0.1:1", &[]), "cannot be reached");
    refused(publish(&bank, "https://ana:hush-hush@a", &["--follow"]), "is not a NATS address");
    refused(publish(&bank, &ana, &["--nats-credentials", "/nowhere"]), "cannot be read: /nowhere");
    refused(publish(&bank, &ana, &["--nats-subject", "a.*"]), "words of letters");
}

#[tokio::test]
async fn a_closed_pipe_ends_the_output_quietly() {
    let bank = Bank::new().await;
    let players = bank.players([10_000; 3]).await;
    bank.ledger.seal_operations().await.unwrap();
    let mut command = events(&bank, &["--follow"]);
    let mut writer = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(writer.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert!(first.starts_with("{\"number\":1,"), "{first}");
    // The pipe is closed; the next event reveals that.
    bank.play(table(), &players, 0, 2, PotGoes::Nowhere).await;
    bank.ledger.seal_operations().await.unwrap();
    let mut ended = None;
    for _ in 0..600 {
        ended = writer.try_wait().unwrap();
        if ended.is_some() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let mut said = String::new();
    let Some(ended) = ended else {
        writer.kill().unwrap();
        panic!("it goes on for nobody");
    };
    writer.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!((ended.success(), said.as_str()), (true, ""));
}
