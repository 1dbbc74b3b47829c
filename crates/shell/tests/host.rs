//! One table's host, call by call: queued requests and their timeouts, abandoned appends, and lines
//! that are published while a call is in flight.

use std::cell::Cell;
use std::sync::{Arc, Mutex};

use bahay_engine::chance::ServerSeed;
use bahay_engine::coins::Coins;
use bahay_engine::games::tongits::{Rules, Tongits};
use bahay_engine::hex::Hex;
use bahay_engine::table::{
    ConnectionId, ENGINE, GameEntropy, GameId, Hits, Input, PlayerId, Rejection, Table, TableId,
    Terms, Timestamp,
};
use bahay_engine::testing;
use bahay_shell::{
    AppendOutcome, Call, CallResult, Context, DirectWriter, Halt, HostEvent, JournalEntry, Limits,
    NewLine, Notice, Point, Reply, Request, RequestTicket, RoomTerms, Step, StoredTable,
    TableError, TableHost, Tag, Tail, Watch, WatchRequest, WriteOutcome, write_table,
};
use uuid::Uuid;

const TABLE: TableId = TableId(Uuid::from_u128(1));
const CONNECTION: ConnectionId = ConnectionId(Uuid::from_u128(9));
const LIMITS: Limits = Limits { queue_len: 2, queue_timeout_ms: 1_000, ..Limits::SERVICE };

#[derive(Default)]
struct Process {
    elapsed_ms: Cell<u64>,
    tags: Cell<u8>,
    /// The process was suspended and has no reading of the time since.
    was_asleep: Cell<bool>,
}

impl Context<Tongits> for Process {
    fn now(&self) -> Timestamp {
        Timestamp::from_ms(1_000)
    }

    fn knows_time(&self) -> bool {
        !self.was_asleep.get()
    }

    fn elapsed_ms(&self) -> u64 {
        self.elapsed_ms.get()
    }

    fn fresh(&self) -> GameEntropy {
        GameEntropy { seed: ServerSeed(Hex([7; 32])), game: GameId(Uuid::from_u128(7)) }
    }

    fn new_tag(&self) -> Tag {
        self.tags.set(self.tags.get() + 1);
        tag(self.tags.get())
    }

    fn room_terms(&self, _: &Terms<Rules>, _: u32) -> Option<RoomTerms<Rules>> {
        None
    }

    fn limits(&self) -> &Limits {
        &LIMITS
    }

    fn record(&self, _: TableId, _: HostEvent<'_>) {}

    fn report_show_failure(&self, halt: Halt) {
        panic!("this test shows nothing: {halt:?}");
    }
}

fn tag(number: u8) -> Tag {
    Tag(Hex([0, 0, 0, 0, 0, number]))
}

fn sit_request(player: u128) -> Request<Tongits> {
    Request::Submit(Input::sit(PlayerId(Uuid::from_u128(player)), "Ana"))
}

fn watch_request(writer: Option<Arc<dyn DirectWriter<Tongits>>>) -> Request<Tongits> {
    Request::Watch(WatchRequest { connection: CONNECTION, writer, from: None })
}

fn stored_table() -> StoredTable {
    let bet = Coins::from_whole(1).expect("a coin is an amount");
    let terms = testing::terms(Rules::kingdom(), Some(Hits::default()), bet, 1);
    let table = Table::<Tongits>::new(TABLE, terms);
    let base = Point { version: 0, tag: tag(0) };
    let snapshot = write_table(&table).expect("a table can be written");
    StoredTable { base, snapshot, lines: Vec::new(), engine: ENGINE, halted: None }
}

/// Returns a host that has loaded its table and decided on a first player, with the append in
/// flight.
fn host_with_append_in_flight(process: &Process) -> (TableHost<Tongits>, RequestTicket, NewLine) {
    let mut host = TableHost::new(TABLE);
    let (ticket, step) = host.request(process, sit_request(1));
    assert!(matches!(step, Step::Call(Call::Load)), "{step:?}");
    let step = host.handle_answer(process, ticket, CallResult::Loaded(Some(stored_table())));
    (host, ticket, into_append(step))
}

/// Returns a host with a watcher, who may have a direct writer.
fn host_with_watcher(
    process: &Process,
    writer: Option<Arc<dyn DirectWriter<Tongits>>>,
) -> (TableHost<Tongits>, Watch<Tongits>) {
    let mut host = TableHost::new(TABLE);
    let (watcher, step) = host.request(process, watch_request(writer));
    assert!(matches!(step, Step::Call(Call::Subscribe)), "{step:?}");
    let step = host.handle_answer(process, watcher, CallResult::Subscribed(true));
    assert!(matches!(step, Step::Call(Call::Load)), "{step:?}");
    match host.handle_answer(process, watcher, CallResult::Loaded(Some(stored_table()))) {
        Step::Reply(Reply::Watched(Ok(watch))) => (host, watch),
        other => panic!("{other:?} is no watch"),
    }
}

/// Returns the line of a step that appends one.
fn into_append(step: Step<Tongits>) -> NewLine {
    match step {
        Step::Call(Call::Append(new)) => new,
        other => panic!("{other:?} is no append"),
    }
}

/// Answers the append of a first player, and expects the line to be listed and stored.
fn finish_append(process: &Process, host: &mut TableHost<Tongits>, ticket: RequestTicket) {
    let step = host.handle_answer(process, ticket, CallResult::Append(AppendOutcome::Appended));
    assert!(matches!(step, Step::Call(Call::List(_))), "{step:?}");
    let step = host.handle_answer(process, ticket, CallResult::Done);
    assert!(matches!(step, Step::Reply(Reply::Submitted(Ok(1)))), "{step:?}");
}

fn is_unavailable(step: &Step<Tongits>) -> bool {
    matches!(step, Step::Reply(Reply::Submitted(Err(TableError::Unavailable(_)))))
}

#[test]
fn queued_requests_are_bounded_in_number_and_time() {
    let process = Process::default();
    let (mut host, first, _) = host_with_append_in_flight(&process);
    let (second, step) = host.request(&process, sit_request(2));
    assert!(matches!(step, Step::Wait { until_ms: 1_000 }), "{step:?}");
    process.elapsed_ms.set(500);
    let (third, step) = host.request(&process, sit_request(3));
    assert!(matches!(step, Step::Wait { until_ms: 1_500 }), "{step:?}");
    let (_, step) = host.request(&process, sit_request(4));
    assert!(is_unavailable(&step), "the queue is full: {step:?}");
    assert_eq!(host.poll_timeout(), Some(1_000));
    process.elapsed_ms.set(1_000);
    host.handle_timeout(&process);
    assert_eq!((host.poll_woken(), host.poll_woken()), (Some(second), None));
    assert!(is_unavailable(&host.poll(second)), "the request has timed out");
    // The first line is stored; then the third request has its turn.
    finish_append(&process, &mut host, first);
    assert_eq!(host.poll_woken(), Some(third));
    assert!(matches!(host.poll(third), Step::Call(Call::Append(new)) if new.after.version == 1));
}

#[test]
fn an_abandoned_append_makes_the_host_reread_the_journal() {
    let process = Process::default();
    let (mut host, mut watch) = host_with_watcher(&process, None);
    let (ticket, step) = host.request(&process, sit_request(1));
    let new = into_append(step);
    host.abandon(&process, ticket);
    assert_eq!(host.poll_timeout(), Some(0), "the line may be stored");
    host.handle_timeout(&process);
    let reread = host.poll_own_request().expect("the host rereads the journal");
    assert!(matches!(host.poll(reread), Step::Call(Call::Tail { from }) if from.version == 0));
    let lines = vec![JournalEntry { tag: new.tag, line: new.line }];
    let step = host.handle_answer(&process, reread, CallResult::Tail(Tail::Lines(lines)));
    assert!(matches!(step, Step::Reply(Reply::Done(Ok(())))), "{step:?}");
    let notice = watch.notices.try_recv().expect("the watcher has a notice");
    assert_eq!((notice.at.version, notice.at.tag, notice.is_snapshot), (1, new.tag, false));
}

#[test]
fn a_line_published_during_an_append_is_applied_once() {
    let process = Process::default();
    let (mut host, ticket, ours) = host_with_append_in_flight(&process);
    // Another process was faster, and its publication arrives before the append's response.
    let (_, _, theirs) = host_with_append_in_flight(&process);
    let lines = [JournalEntry { tag: theirs.tag, line: theirs.line.replace("001\"", "002\"") }];
    host.handle_publication(&process, ours.after, &lines);
    assert_eq!(host.replica().map(|replica| replica.point().version), Some(1));
    let behind = AppendOutcome::Behind(lines.to_vec());
    let step = host.handle_answer(&process, ticket, CallResult::Append(behind));
    let again = into_append(step);
    assert_eq!((again.after.version, again.after.tag), (1, theirs.tag));
}

/// Redis publishes a line to all subscribers, including its writer, and possibly before the
/// response to the append.
#[test]
fn an_own_line_published_before_the_append_response_is_delivered_once() {
    let process = Process::default();
    let (mut host, mut watch) = host_with_watcher(&process, None);
    let (ticket, step) = host.request(&process, sit_request(1));
    let new = into_append(step);
    let lines = [JournalEntry { tag: new.tag, line: new.line }];
    host.handle_publication(&process, new.after, &lines);
    let notice = watch.notices.try_recv().expect("a stored line is delivered");
    assert_eq!((notice.at.version, notice.is_snapshot), (1, false));
    finish_append(&process, &mut host, ticket);
    assert!(watch.notices.try_recv().is_none() && host.poll_timeout().is_none());
    let (_, step) = host.request(&process, sit_request(2));
    assert!(matches!(step, Step::Call(Call::Append(new)) if new.after.version == 1));
}

/// A writer that accepts everything and records the time of each write.
#[derive(Debug, Default)]
struct RecordingWriter(Mutex<Vec<Timestamp>>);

impl DirectWriter<Tongits> for RecordingWriter {
    fn write(&self, _: &Notice<Tongits>, now: Timestamp) -> WriteOutcome {
        self.0.lock().expect("the lock is not poisoned").push(now);
        WriteOutcome::Written
    }
}

/// Another process decided on a line while this one was suspended, so this one's time is behind.
#[test]
fn a_delivery_is_never_dated_before_its_line() {
    let process = Process::default();
    let writer = Arc::new(RecordingWriter::default());
    let (mut host, _watch) = host_with_watcher(&process, Some(writer.clone()));
    let (_, _, ours) = host_with_append_in_flight(&process);
    let later = ours.line.replace("\"at\":1000", "\"at\":8000");
    assert_ne!(ours.line, later, "the line carries its time");
    host.handle_publication(&process, ours.after, &[JournalEntry { tag: ours.tag, line: later }]);
    assert_eq!(process.now(), Timestamp::from_ms(1_000));
    assert_eq!(*writer.0.lock().unwrap(), [Timestamp::from_ms(8_000)]);
}

/// A suspended process decides nothing and shows nothing before it has a reading of the time.
#[test]
fn a_process_without_the_time_neither_decides_nor_shows() {
    let process = Process::default();
    let (mut host, watch) = host_with_watcher(&process, None);
    drop(watch);
    process.was_asleep.set(true);
    let (_, step) = host.request(&process, sit_request(1));
    assert!(is_unavailable(&step), "{step:?}");
    // A watch reads the missed lines first.
    let watch = |host: &mut TableHost<Tongits>| {
        let (ticket, step) = host.request(&process, watch_request(None));
        match step {
            Step::Call(Call::Tail { .. }) => {
                host.handle_answer(&process, ticket, CallResult::Tail(Tail::Lines(Vec::new())))
            }
            step => step,
        }
    };
    let step = watch(&mut host);
    let is_refused = matches!(step, Step::Reply(Reply::Watched(Err(TableError::Unavailable(_)))));
    assert!(is_refused, "{step:?}");
    process.was_asleep.set(false);
    let step = watch(&mut host);
    assert!(matches!(step, Step::Reply(Reply::Watched(Ok(_)))), "{step:?}");
    let (_, step) = host.request(&process, sit_request(1));
    assert!(matches!(step, Step::Call(Call::Append(_))), "{step:?}");
}

/// A connection that joins again makes the host read the journal; another process publishes a line
/// before the response, which does not contain it. No watcher goes back behind that line.
#[test]
fn a_line_published_during_a_journal_read_is_kept() {
    let process = Process::default();
    let (mut host, mut watch) = host_with_watcher(&process, None);
    let player = PlayerId(Uuid::from_u128(1));
    let connect = || Request::Submit(Input::Connect { player, connection: CONNECTION });
    let mut journal = Vec::new();
    for request in [sit_request(1), connect()] {
        let (ticket, mut step) = host.request(&process, request);
        while let Step::Call(call) = step {
            let answer = match call {
                Call::Append(new) => {
                    journal.push(JournalEntry { tag: new.tag, line: new.line });
                    CallResult::Append(AppendOutcome::Appended)
                }
                _ => CallResult::Done,
            };
            step = host.handle_answer(&process, ticket, answer);
        }
        assert!(matches!(step, Step::Reply(Reply::Submitted(Ok(_)))), "{step:?}");
    }
    let delivered = std::iter::from_fn(|| watch.notices.try_recv())
        .last()
        .expect("the watcher has a notice")
        .at;
    assert_eq!(delivered.version, 2);

    let (ticket, step) = host.request(&process, connect());
    let Step::Call(read_call) = step else { panic!("{step:?} does not read the journal") };
    // Another process appends after the read, and its publication arrives before the response.
    let mut other = TableHost::new(host.id());
    let (appending, _) = other.request(&process, sit_request(2));
    let stored = StoredTable { lines: journal.clone(), ..stored_table() };
    let step = other.handle_answer(&process, appending, CallResult::Loaded(Some(stored)));
    let theirs = into_append(step);
    let published = [JournalEntry { tag: theirs.tag, line: theirs.line }];
    host.handle_publication(&process, delivered, &published);
    let notice = watch.notices.try_recv().expect("the watcher has a notice");
    assert_eq!((notice.at.version, notice.is_snapshot), (3, false));
    let answer = match read_call {
        Call::Tail { from } if from == delivered => CallResult::Tail(Tail::Lines(Vec::new())),
        Call::Load => CallResult::Loaded(Some(StoredTable { lines: journal, ..stored_table() })),
        other => panic!("{other:?} is no journal read"),
    };
    let step = host.handle_answer(&process, ticket, answer);
    let is_connected_already = matches!(
        step,
        Step::Reply(Reply::Submitted(Err(TableError::Rejected(Rejection::AlreadyConnected))))
    );
    assert!(is_connected_already, "{step:?}");
    assert!(watch.notices.try_recv().is_none(), "no further line exists");
    assert_eq!(host.replica().map(|replica| replica.point().version), Some(3));
}
