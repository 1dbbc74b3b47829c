//! Live state, against a real Redis.

use std::collections::BTreeSet;

use bahay::live::{Append, Bond, Live, NewLine, Publication, Tail};
use bahay_engine::table::{ENGINE, PlayerId, TableId, Timestamp};
use uuid::Uuid;

use crate::support::live::TestLive;

const IDLE_MS: u64 = 60_000;

fn table() -> TableId {
    TableId(Uuid::new_v4())
}

fn player() -> PlayerId {
    PlayerId(Uuid::new_v4())
}

fn line(version: u64, line: &str, deadline: Option<Timestamp>) -> NewLine<'_> {
    NewLine { version, engine: ENGINE, line, deadline, idle_ms: None }
}

fn at(ms: i64) -> Timestamp {
    Timestamp::from_ms(ms)
}

/// The due tables of all shards.
async fn take_due(live: &Live, now: Timestamp, claim_ms: u32) -> Vec<TableId> {
    let mut due = vec![];
    for shard in live.shards() {
        due.extend(live.take_due(shard, now, claim_ms).await.unwrap());
    }
    due
}

#[tokio::test]
async fn a_line_is_appended_only_at_the_version_it_was_decided_on() {
    let (live, _publications) = TestLive::new().connect().await;
    let table = table();
    assert_eq!(live.append(table, line(0, "a", None)).await.unwrap(), Append::Missing);
    live.found(table, "empty", IDLE_MS, ENGINE).await.unwrap();
    assert_eq!(live.append(table, line(0, "a", None)).await.unwrap(), Append::Appended);
    let behind = Append::Behind(vec!["a".to_owned()]);
    assert_eq!(live.append(table, line(0, "b", None)).await.unwrap(), behind);
    assert_eq!(live.append(table, line(2, "b", None)).await.unwrap(), Append::Elsewhere);
    assert_eq!(live.append(table, line(1, "b", None)).await.unwrap(), Append::Appended);
    let stored = live.load(table).await.unwrap().unwrap();
    assert_eq!((stored.base, stored.snapshot.as_str()), (0, "empty"));
    assert_eq!(stored.lines, ["a", "b"]);
    assert_eq!(live.tail(table, 1).await.unwrap(), Tail::Lines(vec!["b".to_owned()]));
    assert_eq!(live.tail(table, 3).await.unwrap(), Tail::Elsewhere);
}

#[tokio::test]
async fn founding_a_table_twice_keeps_its_journal() {
    let (live, _publications) = TestLive::new().connect().await;
    let table = table();
    live.found(table, "first", IDLE_MS, ENGINE).await.unwrap();
    live.append(table, line(0, "a", None)).await.unwrap();
    live.found(table, "second", IDLE_MS, ENGINE).await.unwrap();
    let stored = live.load(table).await.unwrap().unwrap();
    assert_eq!((stored.snapshot.as_str(), stored.lines.len()), ("first", 1));
}

#[tokio::test]
async fn a_snapshot_takes_the_place_of_its_lines_unless_others_were_faster() {
    let (live, _publications) = TestLive::new().connect().await;
    let table = table();
    live.found(table, "empty", IDLE_MS, ENGINE).await.unwrap();
    live.append(table, line(0, "a", None)).await.unwrap();
    live.append(table, line(1, "b", None)).await.unwrap();
    assert!(!live.compact(table, 1, "after a").await.unwrap());
    assert!(live.compact(table, 2, "after b").await.unwrap());
    let stored = live.load(table).await.unwrap().unwrap();
    assert_eq!((stored.base, stored.snapshot.as_str()), (2, "after b"));
    assert!(stored.lines.is_empty());
    assert_eq!(live.append(table, line(1, "c", None)).await.unwrap(), Append::Elsewhere);
    assert_eq!(live.append(table, line(2, "c", None)).await.unwrap(), Append::Appended);
}

/// Eight writers on two nodes, each with its own idea of the version.
#[tokio::test(flavor = "multi_thread")]
async fn concurrent_appends_lose_and_double_nothing() {
    const WRITERS: usize = 8;
    const LINES: usize = 50;
    let house = TestLive::new();
    let table = table();
    let (live, _publications) = house.connect().await;
    live.found(table, "empty", IDLE_MS, ENGINE).await.unwrap();
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..WRITERS {
        let (live, _publications) = house.connect().await;
        writers.spawn(async move {
            let mut version = 0;
            for number in 0..LINES {
                let line = format!("{writer}.{number}");
                loop {
                    match live.append(table, self::line(version, &line, None)).await.unwrap() {
                        Append::Appended => break version += 1,
                        Append::Behind(lines) => version += lines.len() as u64,
                        other => panic!("{other:?}"),
                    }
                }
            }
        });
    }
    while let Some(ended) = writers.join_next().await {
        ended.unwrap();
    }
    let lines = live.load(table).await.unwrap().unwrap().lines;
    assert_eq!(lines.len(), WRITERS * LINES);
    assert_eq!(lines.iter().collect::<BTreeSet<_>>().len(), WRITERS * LINES);
    for writer in 0..WRITERS {
        let own = lines.iter().filter(|line| line.starts_with(&format!("{writer}.")));
        let expected = (0..LINES).map(|number| format!("{writer}.{number}"));
        assert!(own.cloned().eq(expected), "the lines of writer {writer} are out of order");
    }
}

#[tokio::test]
async fn another_node_hears_of_the_tables_that_it_watches() {
    let house = TestLive::new();
    let (here, _publications) = house.connect().await;
    let (there, mut heard) = house.connect().await;
    let (watched, other) = (table(), table());
    here.found(watched, "empty", IDLE_MS, ENGINE).await.unwrap();
    here.found(other, "empty", IDLE_MS, ENGINE).await.unwrap();
    there.watch(watched).await.unwrap();
    here.append(other, line(0, "unheard", None)).await.unwrap();
    here.append(watched, line(0, "a", None)).await.unwrap();
    here.append(watched, line(1, "b", None)).await.unwrap();
    for (version, line) in [(0, "a"), (1, "b")] {
        let lines = vec![line.to_owned()];
        let expected = Publication::Lines { table: watched, version, lines };
        assert_eq!(heard.recv().await.unwrap(), expected);
    }
}

#[tokio::test]
async fn a_due_table_is_taken_once_and_due_again_if_nothing_came_of_it() {
    const CLAIM_MS: u32 = 1_000;
    let house = TestLive::new();
    let (live, _publications) = house.connect().await;
    let (sooner, later, never) = (table(), table(), table());
    for table in [sooner, later, never] {
        live.found(table, "empty", IDLE_MS, ENGINE).await.unwrap();
    }
    live.append(sooner, line(0, "a", Some(at(100)))).await.unwrap();
    live.append(later, line(0, "a", Some(at(200)))).await.unwrap();
    live.append(never, line(0, "a", Some(at(100)))).await.unwrap();
    live.append(never, line(1, "b", None)).await.unwrap();
    assert_eq!(take_due(&live, at(99), CLAIM_MS).await, []);
    assert_eq!(take_due(&live, at(100), CLAIM_MS).await, [sooner]);
    assert_eq!(take_due(&live, at(250), CLAIM_MS).await, [later]);
    // The claims end at 1,100 and 1,250.
    assert_eq!(take_due(&live, at(1_100), CLAIM_MS).await, [sooner]);
    live.append(later, line(1, "b", Some(at(5_000)))).await.unwrap();
    assert_eq!(take_due(&live, at(1_300), CLAIM_MS).await, []);
}

#[tokio::test]
async fn a_player_is_bound_to_one_table() {
    let (live, _publications) = TestLive::new().connect().await;
    let (player, here, there) = (player(), table(), table());
    assert_eq!(live.bond(player).await.unwrap(), Bond::None);
    assert!(!live.confirm(player, here).await.unwrap());
    assert!(live.bind(player, here).await.unwrap());
    assert!(!live.bind(player, there).await.unwrap());
    assert_eq!(live.bond(player).await.unwrap(), Bond::Pending(here));
    assert!(!live.confirm(player, there).await.unwrap());
    assert!(live.confirm(player, here).await.unwrap());
    assert_eq!(live.bond(player).await.unwrap(), Bond::Held(here));
    live.release(player, there).await.unwrap();
    assert_eq!(live.bond(player).await.unwrap(), Bond::Held(here));
    live.release(player, here).await.unwrap();
    assert_eq!(live.bond(player).await.unwrap(), Bond::None);
}

/// Rule 7.4: a table whose POT waits comes first, then one with free seats, then a new one.
#[tokio::test]
async fn places_are_given_where_they_are_wanted_most() {
    let (live, _publications) = TestLive::new().connect().await;
    let (new, another, waiting) = (table(), table(), table());
    assert_eq!(live.reserve("newbie", new, 3, &[]).await.unwrap(), new);
    assert_eq!(live.reserve("newbie", another, 3, &[]).await.unwrap(), new);
    live.list("newbie", waiting, 3, true).await.unwrap();
    for _ in 0..3 {
        assert_eq!(live.reserve("newbie", another, 3, &[]).await.unwrap(), waiting);
    }
    assert_eq!(live.reserve("newbie", another, 3, &[]).await.unwrap(), new);
    assert_eq!(live.reserve("newbie", another, 3, &[]).await.unwrap(), another);
    let (third, fourth) = (table(), table());
    let given = live.reserve("newbie", third, 3, &[another]).await.unwrap();
    assert_eq!(given, third, "a table that turned out to be full is skipped");
    live.list("newbie", another, 0, false).await.unwrap();
    assert_eq!(live.reserve("newbie", fourth, 3, &[]).await.unwrap(), third);
    let fresh = table();
    let given = live.reserve("barkada", fresh, 3, &[]).await.unwrap();
    assert_eq!(given, fresh, "rooms share no tables");
}

/// Many ask at once, and no two tables are opened where one has room.
#[tokio::test(flavor = "multi_thread")]
async fn thirty_who_ask_at_once_fill_ten_tables() {
    let house = TestLive::new();
    let mut asking = tokio::task::JoinSet::new();
    for _ in 0..30 {
        let (live, _publications) = house.connect().await;
        asking.spawn(async move { live.reserve("newbie", table(), 3, &[]).await.unwrap() });
    }
    let tables = asking.join_all().await;
    assert_eq!(tables.iter().collect::<BTreeSet<_>>().len(), 10);
}
