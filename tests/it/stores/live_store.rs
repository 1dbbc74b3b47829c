//! The live store, against a real Redis.

use std::collections::{BTreeSet, HashSet};

use bahay::entropy;
use bahay::live_store::{
    AppendOutcome, BOARDS_MAX, JournalEntry, LiveStore, NewLine, PlayingCount, Point, Publication,
    ReachedScore, SeatClaim, SeatReservation, TableListing, Tail,
};
use bahay_engine::matchmaking::{Candidate, ConflictKey};
use bahay_engine::table::{ENGINE, PlayerId, TableId, Timestamp};
use redis::AsyncCommands as _;
use uuid::Uuid;

use crate::support::live::TestLive;
use crate::support::waiting::wait_until;

const IDLE_MS: u64 = 60_000;

fn table() -> TableId {
    TableId(Uuid::new_v4())
}

fn player() -> PlayerId {
    PlayerId(Uuid::new_v4())
}

pub(crate) fn line(after: Point, line: &str, deadline: Option<Timestamp>) -> NewLine<'_> {
    NewLine { after, tag: entropy::tag(), engine: ENGINE, line, deadline, idle_ms: None }
}

/// A function that makes a line after a point.
type NewLineAfter = fn(Point) -> NewLine<'static>;

/// Returns the point after a line.
pub(crate) fn point_after(new: &NewLine<'_>) -> Point {
    Point { version: new.after.version + 1, tag: new.tag }
}

fn entry(new: &NewLine<'_>) -> JournalEntry {
    JournalEntry { tag: new.tag, line: new.line.to_owned() }
}

/// Creates a table with an empty journal.
async fn create(live: &LiveStore, table: TableId) -> Point {
    let tag = entropy::tag();
    live.create(table, tag, "empty", IDLE_MS, ENGINE).await.unwrap();
    Point { version: 0, tag }
}

async fn append(live: &LiveStore, table: TableId, new: NewLine<'_>) -> Point {
    assert_eq!(live.append(table, new).await.unwrap(), AppendOutcome::Appended);
    point_after(&new)
}

fn at(ms: i64) -> Timestamp {
    Timestamp::from_ms(ms)
}

/// Claims the due tables of all shards.
async fn claim_due(live: &LiveStore, now: Timestamp, claim_ms: u32) -> Vec<TableId> {
    let mut due = vec![];
    for shards in live.shard_batches() {
        let times: Vec<_> = shards.into_iter().map(|shard| (shard, now)).collect();
        due.extend(live.claim_due(&times, claim_ms).await.unwrap());
    }
    due
}

#[tokio::test]
async fn a_line_is_appended_only_after_the_point_it_was_decided_on() {
    let (live, _publications) = TestLive::new().connect().await;
    let table = table();
    let nowhere = line(Point::default(), "a", None);
    assert_eq!(live.append(table, nowhere).await.unwrap(), AppendOutcome::Missing);
    let start = create(&live, table).await;
    let (a, other) = (line(start, "a", None), line(start, "b", None));
    assert_eq!(live.append(table, a).await.unwrap(), AppendOutcome::Appended);
    let behind = AppendOutcome::Behind(vec![entry(&a)]);
    assert_eq!(live.append(table, other).await.unwrap(), behind);
    let beyond = line(Point { version: 2, tag: a.tag }, "b", None);
    assert_eq!(live.append(table, beyond).await.unwrap(), AppendOutcome::Elsewhere);
    let b = line(point_after(&a), "b", None);
    assert_eq!(live.append(table, b).await.unwrap(), AppendOutcome::Appended);
    let stored = live.load(table).await.unwrap().unwrap();
    assert_eq!((stored.base, stored.snapshot.as_str()), (start, "empty"));
    assert_eq!(stored.lines, [entry(&a), entry(&b)]);
    assert_eq!(live.tail(table, point_after(&a)).await.unwrap(), Tail::Lines(vec![entry(&b)]));
    assert_eq!(live.tail(table, point_after(&b)).await.unwrap(), Tail::Lines(vec![]));
    let beyond = Point { version: 3, ..point_after(&b) };
    assert_eq!(live.tail(table, beyond).await.unwrap(), Tail::Elsewhere);
}

/// A journal that has lost its end and grown again has another history, whatever its length.
#[tokio::test]
async fn a_point_of_another_history_is_distinguished_from_one_of_the_same_length() {
    let house = TestLive::new();
    let (live, _publications) = house.connect().await;
    let table = table();
    let start = create(&live, table).await;
    let kept = append(&live, table, line(start, "kept", None)).await;
    let lost = append(&live, table, line(kept, "lost", None)).await;
    let lost_too = append(&live, table, line(lost, "lost too", None)).await;
    let journal = house.table_key(table, "journal");
    let _: () = house.raw().await.ltrim(&journal, 0, 0).await.unwrap();

    let assert_elsewhere = async |known: Point, at: Point| {
        assert_eq!(live.tail(table, known).await.unwrap(), Tail::Elsewhere, "{at:?}");
        let appended = live.append(table, line(known, "x", None)).await.unwrap();
        assert_eq!(appended, AppendOutcome::Elsewhere, "{at:?}");
    };
    for known in [lost, lost_too] {
        assert_elsewhere(known, kept).await;
    }
    let mut at = kept;
    for others in ["one", "two", "three"] {
        at = append(&live, table, line(at, others, None)).await;
        for known in [lost, lost_too] {
            assert_elsewhere(known, at).await;
            assert!(!live.compact(table, known, "after the lost lines").await.unwrap());
        }
    }
    let Tail::Lines(lines) = live.tail(table, kept).await.unwrap() else { panic!("it is there") };
    assert_eq!(lines.len(), 3);
    // Compaction keeps the point; a table that is created again has another one.
    assert!(live.compact(table, at, "after three").await.unwrap());
    assert_eq!(live.tail(table, at).await.unwrap(), Tail::Lines(vec![]));
    let lost = Point { tag: lost.tag, ..at };
    assert_eq!(live.tail(table, lost).await.unwrap(), Tail::Elsewhere);
    live.end(table, ENGINE).await.unwrap();
    let again = create(&live, table).await;
    assert_eq!(live.tail(table, start).await.unwrap(), Tail::Elsewhere);
    assert_eq!(live.tail(table, again).await.unwrap(), Tail::Lines(vec![]));
}

/// Journals written before tags existed are read, and continue with tags.
#[tokio::test]
async fn a_journal_without_tags_goes_on() {
    let house = TestLive::new();
    let (live, _publications) = house.connect().await;
    let (table, mut raw) = (table(), house.raw().await);
    create(&live, table).await;
    let _: i64 = raw.hdel(house.table_key(table, "head"), "tag").await.unwrap();
    let _: i64 = raw.rpush(house.table_key(table, "journal"), r#"{"at":1}"#).await.unwrap();
    let stored = live.load(table).await.unwrap().unwrap();
    assert_eq!((stored.base, stored.lines[0].line.as_str()), (Point::default(), r#"{"at":1}"#));
    let at = Point { version: 1, tag: stored.lines[0].tag };
    let at = append(&live, table, line(at, "a", None)).await;
    assert_eq!(live.tail(table, at).await.unwrap(), Tail::Lines(vec![]));
}

#[tokio::test]
async fn creating_a_table_twice_keeps_its_journal() {
    let (live, _publications) = TestLive::new().connect().await;
    let table = table();
    let start = create(&live, table).await;
    append(&live, table, line(start, "a", None)).await;
    live.create(table, entropy::tag(), "second", IDLE_MS, ENGINE).await.unwrap();
    let stored = live.load(table).await.unwrap().unwrap();
    assert_eq!((stored.base, stored.snapshot.as_str()), (start, "empty"));
    assert_eq!(stored.lines.len(), 1);
}

#[tokio::test]
async fn compaction_replaces_the_lines_unless_the_journal_has_grown() {
    let (live, _publications) = TestLive::new().connect().await;
    let table = table();
    let start = create(&live, table).await;
    let a = append(&live, table, line(start, "a", None)).await;
    let b = append(&live, table, line(a, "b", None)).await;
    assert!(!live.compact(table, a, "after a").await.unwrap());
    assert!(live.compact(table, b, "after b").await.unwrap());
    let stored = live.load(table).await.unwrap().unwrap();
    assert_eq!((stored.base, stored.snapshot.as_str()), (b, "after b"));
    assert!(stored.lines.is_empty());
    assert_eq!(live.append(table, line(a, "c", None)).await.unwrap(), AppendOutcome::Elsewhere);
    assert_eq!(live.append(table, line(b, "c", None)).await.unwrap(), AppendOutcome::Appended);
}

/// Returns whether the head and the journal have a time to live.
async fn are_expiring(house: &TestLive, table: TableId) -> [bool; 2] {
    let mut raw = house.raw().await;
    let mut lives = [false; 2];
    for (lives, part) in lives.iter_mut().zip(["head", "journal"]) {
        *lives = raw.pttl::<_, i64>(house.table_key(table, part)).await.unwrap() > 0;
    }
    lives
}

#[tokio::test]
async fn only_an_idle_table_expires() {
    let house = TestLive::new();
    let (live, _publications) = house.connect().await;
    let table = table();
    let start = create(&live, table).await;
    assert_eq!(are_expiring(&house, table).await, [true, false], "an empty journal");
    let due = |after| line(after, "due", Some(at(5_000)));
    let waits = |after| line(after, "waits", None);
    let idles = |after| NewLine { idle_ms: Some(IDLE_MS), ..line(after, "idles", None) };
    let both = |after| NewLine { idle_ms: Some(IDLE_MS), ..line(after, "both", Some(at(5_000))) };
    let mut now = start;
    let steps: [(&str, NewLineAfter, bool); 9] = [
        ("due at first", due, false),
        ("idle after due", idles, true),
        ("due after idle", due, false),
        ("idle again", idles, true),
        ("still idle", idles, true),
        ("waiting after idle", waits, false),
        ("due after waiting", due, false),
        ("due, however idle", both, false),
        ("idle in the end", idles, true),
    ];
    for (what, new, passes) in steps {
        now = append(&live, table, new(now)).await;
        assert_eq!(are_expiring(&house, table).await, [passes; 2], "{what}");
    }
    // After a compaction the next line begins a new list.
    assert!(live.compact(table, now, "snapshot").await.unwrap());
    now = append(&live, table, due(now)).await;
    assert_eq!(are_expiring(&house, table).await, [false; 2], "after a snapshot");
    append(&live, table, idles(now)).await;
    assert!(live.halt(table, ENGINE, "why").await.unwrap());
    assert_eq!(are_expiring(&house, table).await, [false; 2], "halted");
}

/// Eight writers on two nodes append, each with its own view of the version.
#[tokio::test(flavor = "multi_thread")]
async fn concurrent_appends_lose_and_double_nothing() {
    const WRITERS: usize = 8;
    const LINES: usize = 50;
    let house = TestLive::new();
    let table = table();
    let (live, _publications) = house.connect().await;
    let start = create(&live, table).await;
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..WRITERS {
        let (live, _publications) = house.connect().await;
        writers.spawn(async move {
            let mut at = start;
            for number in 0..LINES {
                let text = format!("{writer}.{number}");
                loop {
                    let new = line(at, &text, None);
                    match live.append(table, new).await.unwrap() {
                        AppendOutcome::Appended => break at = point_after(&new),
                        AppendOutcome::Behind(lines) => {
                            let tag = lines.last().unwrap().tag;
                            at = Point { version: at.version + lines.len() as u64, tag };
                        }
                        other => panic!("{other:?}"),
                    }
                }
            }
        });
    }
    writers.join_all().await;
    let lines = live.load(table).await.unwrap().unwrap().lines;
    let lines: Vec<_> = lines.into_iter().map(|entry| entry.line).collect();
    assert_eq!(lines.len(), WRITERS * LINES);
    assert_eq!(lines.iter().collect::<BTreeSet<_>>().len(), WRITERS * LINES);
    for writer in 0..WRITERS {
        let own = lines.iter().filter(|line| line.starts_with(&format!("{writer}.")));
        let expected = (0..LINES).map(|number| format!("{writer}.{number}"));
        assert!(own.cloned().eq(expected), "the lines of writer {writer} are out of order");
    }
}

#[tokio::test]
async fn a_node_receives_the_lines_of_the_tables_it_watches() {
    let house = TestLive::new();
    let (here, _publications) = house.connect().await;
    let (there, mut heard) = house.connect().await;
    let (watched, other) = (table(), table());
    let [start, elsewhere] = [create(&here, watched).await, create(&here, other).await];
    there.watch(watched).await.unwrap();
    append(&here, other, line(elsewhere, "unheard", None)).await;
    let a = line(start, "a", None);
    let b = line(append(&here, watched, a).await, "b", None);
    append(&here, watched, b).await;
    for new in [a, b] {
        let lines = vec![entry(&new)];
        let expected = Publication::Lines { table: watched, after: new.after, lines };
        assert_eq!(heard.recv().await.unwrap(), expected);
    }
}

#[tokio::test]
async fn a_due_table_is_claimed_once_and_is_due_again_after_the_claim() {
    const CLAIM_MS: u32 = 1_000;
    let house = TestLive::new();
    let (live, _publications) = house.connect().await;
    let (sooner, later, never) = (table(), table(), table());
    let start = create(&live, sooner).await;
    append(&live, sooner, line(start, "a", Some(at(100)))).await;
    let start = create(&live, later).await;
    let soon = append(&live, later, line(start, "a", Some(at(200)))).await;
    let start = create(&live, never).await;
    let due = append(&live, never, line(start, "a", Some(at(100)))).await;
    append(&live, never, line(due, "b", None)).await;
    assert_eq!(claim_due(&live, at(99), CLAIM_MS).await, []);
    assert_eq!(claim_due(&live, at(100), CLAIM_MS).await, [sooner]);
    assert_eq!(claim_due(&live, at(250), CLAIM_MS).await, [later]);
    // The claims end at 1,100 and 1,250 ms.
    assert_eq!(claim_due(&live, at(1_100), CLAIM_MS).await, [sooner]);
    append(&live, later, line(soon, "b", Some(at(5_000)))).await;
    assert_eq!(claim_due(&live, at(1_300), CLAIM_MS).await, []);
}

#[tokio::test]
async fn a_player_claims_a_seat_at_one_table() {
    let (live, _publications) = TestLive::new().connect().await;
    let (player, here, there) = (player(), table(), table());
    assert_eq!(live.seat_claim(player).await.unwrap(), SeatClaim::None);
    assert!(!live.confirm_seat_claim(player, here).await.unwrap());
    assert!(live.claim_seat(player, here).await.unwrap());
    assert!(!live.claim_seat(player, there).await.unwrap());
    assert_eq!(live.seat_claim(player).await.unwrap(), SeatClaim::Pending(here));
    assert!(!live.confirm_seat_claim(player, there).await.unwrap());
    assert!(live.confirm_seat_claim(player, here).await.unwrap());
    assert_eq!(live.seat_claim(player).await.unwrap(), SeatClaim::Held(here));
    live.release_seat_claim(player, there).await.unwrap();
    assert_eq!(live.seat_claim(player).await.unwrap(), SeatClaim::Held(here));
    live.release_seat_claim(player, here).await.unwrap();
    assert_eq!(live.seat_claim(player).await.unwrap(), SeatClaim::None);
}

/// Rule 7.4: a table with a waiting POT comes first, then one with free seats, then a new one.
#[tokio::test]
async fn seats_are_reserved_at_the_table_to_be_filled_first() {
    let (live, _publications) = TestLive::new().connect().await;
    let (new, another, waiting) = (table(), table(), table());
    assert_eq!(reserve(&live, reservation("newbie", &anybody()), new, &[]).await, new);
    assert_eq!(reserve(&live, reservation("newbie", &anybody()), another, &[]).await, new);
    let listed = TableListing { room: "newbie", seats: 3, has_pot: true, players: &[] };
    live.list_table(waiting, listed).await.unwrap();
    for _ in 0..3 {
        assert_eq!(reserve(&live, reservation("newbie", &anybody()), another, &[]).await, waiting);
    }
    assert_eq!(reserve(&live, reservation("newbie", &anybody()), another, &[]).await, new);
    assert_eq!(reserve(&live, reservation("newbie", &anybody()), another, &[]).await, another);
    let (third, fourth) = (table(), table());
    let given = reserve(&live, reservation("newbie", &anybody()), third, &[another]).await;
    assert_eq!(given, third, "a table that turned out to be full is skipped");
    live.unlist_table("newbie", another).await.unwrap();
    assert_eq!(reserve(&live, reservation("newbie", &anybody()), fourth, &[]).await, third);
    let fresh = table();
    let given = reserve(&live, reservation("barkada", &anybody()), fresh, &[]).await;
    assert_eq!(given, fresh, "rooms share no tables");
}

/// Concurrent reservations open no second table while one has free seats.
#[tokio::test(flavor = "multi_thread")]
async fn thirty_concurrent_reservations_fill_ten_tables() {
    let house = TestLive::new();
    let mut asking = tokio::task::JoinSet::new();
    for _ in 0..30 {
        let (live, _publications) = house.connect().await;
        asking.spawn(async move {
            let who = anybody();
            reserve(&live, reservation("newbie", &who), table(), &[]).await
        });
    }
    let tables = asking.join_all().await;
    assert_eq!(tables.iter().collect::<BTreeSet<_>>().len(), 10);
}

async fn reserve(
    live: &LiveStore,
    place: SeatReservation<'_>,
    new: TableId,
    full: &[TableId],
) -> TableId {
    live.reserve(place, new, full).await.unwrap().table
}

fn anybody() -> [Candidate; 1] {
    [Candidate::new(player(), 25_000)]
}

fn reservation<'a>(room: &'a str, who: &'a [Candidate]) -> SeatReservation<'a> {
    SeatReservation { room, seats: 3, candidates: who, networks_apart: true }
}

fn with_conflict_key(mark: u64) -> [Candidate; 1] {
    anybody().map(|who| Candidate { conflict_keys: vec![ConflictKey(mark), ConflictKey(0)], ..who })
}

/// Of two players with a common conflict key, one is sent to another table, whether the other is
/// seated or holds a reservation.
#[tokio::test]
async fn no_seat_is_reserved_beside_the_same_conflict_key() {
    let (live, _publications) = TestLive::new().connect().await;
    let (here, there, another) = (table(), table(), table());
    let (one, two) = (with_conflict_key(1), with_conflict_key(2));
    assert_eq!(reserve(&live, reservation("newbie", &one), here, &[]).await, here);
    assert_eq!(reserve(&live, reservation("newbie", &two), there, &[]).await, there);
    let again = reserve(&live, reservation("newbie", &one), another, &[]).await;
    assert_eq!(again, here, "a repeated reservation returns the same table");
    let players = [one[0].player];
    let listed = TableListing { room: "newbie", seats: 3, has_pot: false, players: &players };
    live.list_table(here, listed).await.unwrap();
    assert!(!live.reserve_at_table(reservation("newbie", &two), here).await.unwrap());
    let open = live.open_tables("newbie").await.unwrap();
    let at_here = open.iter().find(|open| open.table == here).unwrap();
    assert_eq!((at_here.seats_free, &at_here.companions), (2, &one.to_vec()));
    assert_eq!(live.playing_count("newbie").await.unwrap(), PlayingCount { players: 1, tables: 1 });
    // A player who has released the reservation or left keeps nobody away.
    live.unreserve("newbie", there, two[0].player).await.unwrap();
    let listed = TableListing { players: &[], ..listed };
    live.list_table(here, listed).await.unwrap();
    assert!(live.open_tables("newbie").await.unwrap().is_empty());
    assert_eq!(live.playing_count("newbie").await.unwrap(), PlayingCount::default());
    assert_eq!(reserve(&live, reservation("newbie", &two), here, &[]).await, here);
}

/// The network of an IPv6 prefix or of a carrier's address, in rooms that keep networks apart.
#[tokio::test]
async fn one_network_is_kept_apart_if_the_room_requires_it_and_that_is_reported() {
    let (live, _publications) = TestLive::new().connect().await;
    let network = Some(ConflictKey(9));
    let [one, two, three] = [(); 3].map(|()| anybody().map(|who| Candidate { network, ..who }));
    let (here, there, third) = (table(), table(), table());
    let apart = live.reserve(reservation("newbie", &one), here, &[]).await.unwrap();
    assert_eq!((apart.table, apart.only_same_network), (here, false));
    let apart = live.reserve(reservation("newbie", &two), there, &[]).await.unwrap();
    assert_eq!((apart.table, apart.only_same_network), (there, true));
    let together = SeatReservation { networks_apart: false, ..reservation("newbie", &three) };
    let together = live.reserve(together, third, &[]).await.unwrap();
    assert!(together.table != third && !together.only_same_network);
}

/// The list of each side is compared with the other's id, so neither displaces an entry.
#[tokio::test]
async fn no_seat_is_reserved_beside_a_player_whom_either_has_blocked() {
    let (live, _publications) = TestLive::new().connect().await;
    let strangers = || (0..500).map(|_| player());
    let [first] = anybody().map(|who| Candidate { blocked: strangers().collect(), ..who });
    let blocked = strangers().skip(1).chain([first.player]).collect();
    let [second] = anybody();
    let second = Candidate { blocked, ..second };
    for (one, other) in [(&first, &second), (&second, &first)] {
        let (here, there) = (table(), table());
        let (one, other) = (std::slice::from_ref(one), std::slice::from_ref(other));
        let room = Uuid::new_v4().to_string();
        assert_eq!(reserve(&live, reservation(&room, one), here, &[]).await, here);
        let open = live.open_tables(&room).await.unwrap();
        assert_eq!(open[0].companions, one, "the whole list is stored");
        assert!(!live.reserve_at_table(reservation(&room, other), here).await.unwrap());
        assert_eq!(reserve(&live, reservation(&room, other), there, &[]).await, there);
        assert!(live.reserve_at_table(reservation(&room, &anybody()), here).await.unwrap());
    }
}

#[tokio::test]
async fn a_player_is_online_for_all_processes_until_its_process_goes_silent() {
    let house = TestLive::new();
    let ((here, _), (there, _)) = (house.connect().await, house.connect().await);
    let one = player();
    let shard = here.shard_of_player(one);
    let is_beside = |player: &PlayerId| here.shard_of_player(*player) == shard;
    let other = std::iter::repeat_with(player).find(is_beside).unwrap();
    let online = async |live: &LiveStore| live.online_players(&[one, other]).await.unwrap();
    assert!(online(&there).await.is_empty());
    let set = async |live: &LiveStore, process, states: &[(PlayerId, bool)]| {
        let states = states.iter().copied().collect();
        live.set_online(shard, process, &states).await.unwrap();
    };
    set(&here, "a", &[(one, true), (other, true)]).await;
    set(&there, "b", &[(one, true)]).await;
    assert_eq!(online(&there).await, HashSet::from([one, other]));
    set(&here, "a", &[(one, false), (other, true)]).await;
    assert_eq!(online(&here).await, HashSet::from([one, other]), "another process counts");
    set(&there, "b", &[(one, false)]).await;
    assert_eq!(online(&here).await, HashSet::from([other]));
    set(&here, "a", &[(other, false)]).await;
    assert!(online(&here).await.is_empty());
    // A set that Redis has lost is restored.
    assert!(!here.refresh_online(shard, "a", 1).await.unwrap());
    assert_eq!(here.add_online(shard, "a", &[one]).await.unwrap(), [one]);
    assert!(here.refresh_online(shard, "a", 1).await.unwrap());
    assert_eq!(online(&there).await, HashSet::from([one]));
    wait_until("the set expires", async || online(&there).await.is_empty()).await;
}

/// Requests for many days do not fill Redis: the boards that were filled first are evicted.
#[tokio::test]
async fn the_number_of_leaderboards_is_bounded() {
    let stored = TestLive::new();
    let (live, _publications) = stored.connect().await;
    let most = usize::try_from(BOARDS_MAX).unwrap();
    let extra = 10;
    let name = |number: usize| format!("board-{number:04}");
    for number in 0..most + extra {
        let reached = ReachedScore { player: player(), score: 5, reached_at: at(1) };
        live.raise_scores(&name(number), &[reached]).await.unwrap();
        live.mark_board_filled(&name(number)).await.unwrap();
        // A board that is filled again moves to the front.
        live.mark_board_filled(&name(0)).await.unwrap();
    }
    for part in ["filled", "places"] {
        let keys = stored.keys_with(&format!("board-*{part}")).await;
        assert_eq!(keys.len(), most, "{part}");
    }
    assert!(live.is_board_filled(&name(0)).await.unwrap());
    assert!(!live.is_board_filled(&name(1)).await.unwrap());
    assert!(live.is_board_filled(&name(most + extra - 1)).await.unwrap());
}
