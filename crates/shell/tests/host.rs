//! One table's host, call by call: what waits for its turn and for how long, what becomes of an
//! append that nobody waits for, and of lines that are published while a call is in flight.

use std::cell::Cell;
use std::sync::{Arc, Mutex};

use bahay_engine::chance::ServerSeed;
use bahay_engine::coins::Coins;
use bahay_engine::game::Skill;
use bahay_engine::games::tongits::{Rules, Tongits};
use bahay_engine::hex::Hex;
use bahay_engine::table::{
    Clocks, ConnectionId, ENGINE, Fresh, GameId, Hits, Input, PlayerId, Price, Rejection,
    Spectators, Table, TableId, Terms, Timestamp,
};
use bahay_shell::{
    Answer, Append, Call, Context, DirectWriter, Entry, Failure, Halt, Limits, NewLine, Notice,
    Point, Remark, Reply, Request, RoomTerms, Step, Stored, TableHost, Tag, Tail, Watch,
    WatchRequest, Wrote, write_table,
};
use uuid::Uuid;

const LIMITS: Limits = Limits { waiting: 2, waiting_ms: 1_000, ..Limits::SERVICE };

#[derive(Default)]
struct Process {
    elapsed_ms: Cell<u64>,
    tags: Cell<u8>,
    /// It was stopped, and goes on.
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

    fn fresh(&self) -> Fresh {
        Fresh { seed: ServerSeed(Hex([7; 32])), game: GameId(Uuid::from_u128(7)) }
    }

    fn tag(&self) -> Tag {
        self.tags.set(self.tags.get() + 1);
        tag(self.tags.get())
    }

    fn room_terms(&self, _: &Terms<Rules>, _: u32) -> Option<RoomTerms<Rules>> {
        None
    }

    fn limits(&self) -> &Limits {
        &LIMITS
    }

    fn remark(&self, _: TableId, _: Remark<'_>) {}

    fn show_failed(&self, halt: Halt) {
        panic!("nothing is shown here: {halt:?}");
    }
}

fn tag(number: u8) -> Tag {
    Tag(Hex([0, 0, 0, 0, 0, number]))
}

fn sit(player: u128) -> Request<Tongits> {
    Request::Submit(Input::sit(PlayerId(Uuid::from_u128(player)), "Ana"))
}

fn stored() -> Stored {
    let bet = Coins::from_whole(1).expect("a coin is an amount");
    let terms = Terms {
        room: "newbie".into(),
        rules: Rules::kingdom(),
        price: Price { bet, multiplier: 1, fee_basis_points: 500 },
        hits: Some(Hits::default()),
        clocks: Clocks::default(),
        spectators: Spectators::default(),
        bots: Skill::default(),
        private: None,
        practice: false,
    };
    let table = Table::<Tongits>::new(TableId(Uuid::from_u128(1)), terms);
    let base = Point { version: 0, tag: tag(0) };
    let snapshot = write_table(&table).expect("a table can be written");
    Stored { base, snapshot, lines: Vec::new(), engine: ENGINE, halted: None }
}

/// A host that has loaded its table and decided on a first player, with the append in flight.
fn appending(process: &Process) -> (TableHost<Tongits>, bahay_shell::Ticket, NewLine) {
    let mut host = TableHost::new(TableId(Uuid::from_u128(1)));
    let (ticket, step) = host.request(process, sit(1));
    assert!(matches!(step, Step::Call(Call::Load)), "{step:?}");
    match host.answered(process, ticket, Answer::Loaded(Some(stored()))) {
        Step::Call(Call::Append(new)) => (host, ticket, new),
        other => panic!("{other:?} is no append"),
    }
}

/// A host with a watcher.
fn watched(process: &Process) -> (TableHost<Tongits>, Watch<Tongits>) {
    let mut host = TableHost::new(TableId(Uuid::from_u128(1)));
    let connection = ConnectionId(Uuid::from_u128(9));
    let watch = WatchRequest { connection, writer: None, from: None };
    let (watcher, step) = host.request(process, Request::Watch(watch));
    assert!(matches!(step, Step::Call(Call::Subscribe)), "{step:?}");
    let step = host.answered(process, watcher, Answer::Subscribed(true));
    assert!(matches!(step, Step::Call(Call::Load)), "{step:?}");
    match host.answered(process, watcher, Answer::Loaded(Some(stored()))) {
        Step::Reply(Reply::Watched(Ok(watch))) => (host, watch),
        other => panic!("{other:?} is no watch"),
    }
}

fn is_unavailable(step: &Step<Tongits>) -> bool {
    matches!(step, Step::Reply(Reply::Submitted(Err(Failure::Unavailable(_)))))
}

#[test]
fn what_waits_is_bounded_in_number_and_in_time() {
    let process = Process::default();
    let (mut host, first, _) = appending(&process);
    let (second, step) = host.request(&process, sit(2));
    assert!(matches!(step, Step::Wait { until_ms: 1_000 }), "{step:?}");
    process.elapsed_ms.set(500);
    let (third, step) = host.request(&process, sit(3));
    assert!(matches!(step, Step::Wait { until_ms: 1_500 }), "{step:?}");
    let (_, step) = host.request(&process, sit(4));
    assert!(is_unavailable(&step), "the queue is full: {step:?}");
    assert_eq!(host.poll_timeout(), Some(1_000));
    process.elapsed_ms.set(1_000);
    host.handle_timeout(&process);
    assert_eq!((host.poll_woken(), host.poll_woken()), (Some(second), None));
    assert!(is_unavailable(&host.poll(second)), "it has waited for too long");
    // The first is stored; then the third has its turn.
    let step = host.answered(&process, first, Answer::Append(Append::Appended));
    assert!(matches!(step, Step::Call(Call::List(_))), "{step:?}");
    let step = host.answered(&process, first, Answer::Done);
    assert!(matches!(step, Step::Reply(Reply::Submitted(Ok(1)))), "{step:?}");
    assert_eq!(host.poll_woken(), Some(third));
    assert!(matches!(host.poll(third), Step::Call(Call::Append(new)) if new.after.version == 1));
}

#[test]
fn an_append_that_nobody_waits_for_is_looked_for() {
    let process = Process::default();
    let (mut host, mut watch) = watched(&process);
    let (ticket, step) = host.request(&process, sit(1));
    let Step::Call(Call::Append(new)) = step else {
        panic!("{step:?} is no append");
    };
    host.abandon(&process, ticket);
    assert_eq!(host.poll_timeout(), Some(0), "the line may be stored");
    host.handle_timeout(&process);
    let look = host.poll_unattended().expect("the journal is looked at");
    assert!(matches!(host.poll(look), Step::Call(Call::Tail { from }) if from.version == 0));
    let lines = vec![Entry { tag: new.tag, line: new.line }];
    let step = host.answered(&process, look, Answer::Tail(Tail::Lines(lines)));
    assert!(matches!(step, Step::Reply(Reply::Done(Ok(())))), "{step:?}");
    let notice = watch.notices.try_recv().expect("the watcher is told");
    assert_eq!((notice.at.version, notice.at.tag, notice.anew), (1, new.tag, false));
}

#[test]
fn a_line_that_is_published_while_an_append_is_in_flight_is_followed_once() {
    let process = Process::default();
    let (mut host, ticket, ours) = appending(&process);
    // Another process was faster, and says so before Redis does.
    let (_, _, theirs) = appending(&process);
    let lines = [Entry { tag: theirs.tag, line: theirs.line.replace("001\"", "002\"") }];
    host.published(&process, ours.after, &lines);
    assert_eq!(host.replica().map(|replica| replica.at().version), Some(1));
    let behind = Append::Behind(lines.to_vec());
    let step = host.answered(&process, ticket, Answer::Append(behind));
    let Step::Call(Call::Append(again)) = step else {
        panic!("{step:?} is no append");
    };
    assert_eq!((again.after.version, again.after.tag), (1, theirs.tag));
}

/// Redis publishes a line to all who listen, its writer among them, and the answer to the append may
/// come after that.
#[test]
fn an_own_line_that_is_published_before_the_answer_is_told_once() {
    let process = Process::default();
    let (mut host, mut watch) = watched(&process);
    let (ticket, step) = host.request(&process, sit(1));
    let Step::Call(Call::Append(new)) = step else {
        panic!("{step:?} is no append");
    };
    let lines = [Entry { tag: new.tag, line: new.line }];
    host.published(&process, new.after, &lines);
    let notice = watch.notices.try_recv().expect("it is stored, so it is told");
    assert_eq!((notice.at.version, notice.anew), (1, false));
    let step = host.answered(&process, ticket, Answer::Append(Append::Appended));
    assert!(matches!(step, Step::Call(Call::List(_))), "{step:?}");
    let step = host.answered(&process, ticket, Answer::Done);
    assert!(matches!(step, Step::Reply(Reply::Submitted(Ok(1)))), "{step:?}");
    assert!(watch.notices.try_recv().is_none() && host.poll_timeout().is_none());
    let (_, step) = host.request(&process, sit(2));
    assert!(matches!(step, Step::Call(Call::Append(new)) if new.after.version == 1));
}

/// A connection that takes everything, and notes what time it was told.
#[derive(Debug, Default)]
struct Noting(Mutex<Vec<Timestamp>>);

impl DirectWriter<Tongits> for Noting {
    fn write(&self, _: &Notice<Tongits>, now: Timestamp) -> Wrote {
        self.0.lock().expect("nobody panics over it").push(now);
        Wrote::All
    }
}

/// Another process decided on a line while this one was stopped, whose time is behind now.
#[test]
fn what_is_told_is_never_dated_before_its_line() {
    let process = Process::default();
    let mut host = TableHost::new(TableId(Uuid::from_u128(1)));
    let writer = Arc::new(Noting::default());
    let connection = ConnectionId(Uuid::from_u128(9));
    let watch = WatchRequest { connection, writer: Some(writer.clone()), from: None };
    let (watcher, _) = host.request(&process, Request::Watch(watch));
    host.answered(&process, watcher, Answer::Subscribed(true));
    let step = host.answered(&process, watcher, Answer::Loaded(Some(stored())));
    let Step::Reply(Reply::Watched(Ok(_watch))) = step else {
        panic!("{step:?} is no watch");
    };
    let (_, _, ours) = appending(&process);
    let later = ours.line.replace("\"at\":1000", "\"at\":8000");
    assert_ne!(ours.line, later, "the line says when it was decided");
    host.published(&process, ours.after, &[Entry { tag: ours.tag, line: later }]);
    assert_eq!(process.now(), Timestamp::from_ms(1_000));
    assert_eq!(*writer.0.lock().unwrap(), [Timestamp::from_ms(8_000)]);
}

/// A process that was stopped decides nothing and shows nothing before it has been told the time.
#[test]
fn who_does_not_know_the_time_neither_decides_nor_shows() {
    let process = Process::default();
    let (mut host, watch) = watched(&process);
    drop(watch);
    process.was_asleep.set(true);
    let (_, step) = host.request(&process, sit(1));
    assert!(is_unavailable(&step), "{step:?}");
    // It looks first for what it has missed.
    let watch = |host: &mut TableHost<Tongits>| {
        let connection = ConnectionId(Uuid::from_u128(9));
        let watch = WatchRequest { connection, writer: None, from: None };
        let (ticket, step) = host.request(&process, Request::Watch(watch));
        match step {
            Step::Call(Call::Tail { .. }) => {
                host.answered(&process, ticket, Answer::Tail(Tail::Lines(Vec::new())))
            }
            step => step,
        }
    };
    let step = watch(&mut host);
    let is_refused = matches!(step, Step::Reply(Reply::Watched(Err(Failure::Unavailable(_)))));
    assert!(is_refused, "{step:?}");
    process.was_asleep.set(false);
    let step = watch(&mut host);
    assert!(matches!(step, Step::Reply(Reply::Watched(Ok(_)))), "{step:?}");
    let (_, step) = host.request(&process, sit(1));
    assert!(matches!(step, Step::Call(Call::Append(_))), "{step:?}");
}

/// A connection that joins again where it is has the journal read; others publish a line before the
/// answer comes, which does not have that line. Nobody is shown what was before it.
#[test]
fn a_line_that_is_published_while_the_journal_is_read_stays() {
    let process = Process::default();
    let (mut host, mut watch) = watched(&process);
    let (player, connection) = (PlayerId(Uuid::from_u128(1)), ConnectionId(Uuid::from_u128(9)));
    let connect = || Request::Submit(Input::Connect { player, connection });
    let mut journal = Vec::new();
    for request in [sit(1), connect()] {
        let (ticket, mut step) = host.request(&process, request);
        while let Step::Call(call) = step {
            let answer = match call {
                Call::Append(new) => {
                    journal.push(Entry { tag: new.tag, line: new.line });
                    Answer::Append(Append::Appended)
                }
                _ => Answer::Done,
            };
            step = host.answered(&process, ticket, answer);
        }
        assert!(matches!(step, Step::Reply(Reply::Submitted(Ok(_)))), "{step:?}");
    }
    let told = std::iter::from_fn(|| watch.notices.try_recv()).last().expect("it is told").at;
    assert_eq!(told.version, 2);

    let (ticket, step) = host.request(&process, connect());
    let Step::Call(asked) = step else {
        panic!("{step:?} does not ask the journal");
    };
    // Another process appends after that was read, and its publication is faster than the answer.
    let mut other = TableHost::new(host.id());
    let (appending, _) = other.request(&process, sit(2));
    let known = Stored { lines: journal.clone(), ..stored() };
    let step = other.answered(&process, appending, Answer::Loaded(Some(known)));
    let Step::Call(Call::Append(theirs)) = step else {
        panic!("{step:?} is no append");
    };
    host.published(&process, told, &[Entry { tag: theirs.tag, line: theirs.line }]);
    let notice = watch.notices.try_recv().expect("it is told");
    assert_eq!((notice.at.version, notice.anew), (3, false));
    let answer = match asked {
        Call::Tail { from } if from == told => Answer::Tail(Tail::Lines(Vec::new())),
        Call::Load => Answer::Loaded(Some(Stored { lines: journal, ..stored() })),
        other => panic!("{other:?} reads something else"),
    };
    let step = host.answered(&process, ticket, answer);
    let is_there = matches!(
        step,
        Step::Reply(Reply::Submitted(Err(Failure::Rejected(Rejection::AlreadyConnected))))
    );
    assert!(is_there, "{step:?}");
    assert!(watch.notices.try_recv().is_none(), "nothing has happened since");
    assert_eq!(host.replica().map(|replica| replica.at().version), Some(3));
}
