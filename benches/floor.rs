//! The floor of a server's time for a move: the cost on this machine of I/O alone. A bare server
//! reads a command of as many bytes as a move's and writes as many bytes as its updates have to
//! three connections; then the same with a line stored in Redis first. There is no WebSocket, no
//! message and no table, and the bare client does not parse either. `./dev bench floor` prints the
//! limit on this machine at the time of the run, with which `./dev loadtest` can be compared.
//!
//! As in a load test the server has one processor and the players another, if `taskset` is
//! available.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot do its work is to stop")]

mod processor;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::env;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};

/// Tables with 500 ms of think time, and the last row without any, as in the load test.
const ROWS: [(usize, u64); 5] = [(100, 500), (1_000, 500), (3_000, 500), (6_000, 500), (200, 0)];

/// The bytes of a command, and of each of a move's three updates in the full form.
const COMMAND: usize = 110;
const UPDATE: usize = 389;

/// A journal line of typical size.
const LINE: [u8; 200] = [b'l'; 200];

const WARM_UP: Duration = Duration::from_secs(2);
const MEASURED: Duration = Duration::from_secs(5);

const SEATS: usize = 3;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).filter(|word| word != "--bench").collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["serve", tables, store] => serve(tables.parse().unwrap(), *store == "stored"),
        ["play", address, tables, think_ms] => {
            play(address.parse().unwrap(), tables.parse().unwrap(), think_ms.parse().unwrap());
        }
        _ => compare(),
    }
}

/// Runs every row with two processes and prints the usage of each.
fn compare() {
    println!(
        "{:<44}{:>9}{:>12}{:>13}{:>9}{:>9}",
        "the floor", "moves/s", "server us", "players us", "p50 us", "p99 us"
    );
    for store in ["not stored", "stored"] {
        for (tables, think_ms) in ROWS {
            let mut server = part(0, &["serve", &tables.to_string(), store]);
            let mut told = BufReader::new(server.stdout.take().unwrap()).lines();
            let address = told.next().unwrap().unwrap();
            let mut players =
                part(1, &["play", &address, &tables.to_string(), &think_ms.to_string()]);
            let mut said = BufReader::new(players.stdout.take().unwrap()).lines();
            // One line at the start of the measurement and one at its end; then the players wait,
            // so that their time can be read.
            let [begun, ended] = [(); 2].map(|()| {
                let line = said.next().expect("the players broke off").unwrap();
                let spent =
                    [&server, &players].map(|part| processor::spent_us(&part.id().to_string()));
                (line, spent)
            });
            drop(players.stdin.take());
            server.kill().unwrap();
            server.wait().unwrap();
            assert!(players.wait().unwrap().success());
            let figures: Vec<u64> = ended.0.split(' ').map(|word| word.parse().unwrap()).collect();
            let [moves, p50, p99] = figures[..] else { panic!("the players said {}", ended.0) };
            let [server_us, players_us] = [0, 1].map(|part| match (begun.1[part], ended.1[part]) {
                (Some(from), Some(to)) => ((to - from) / moves.max(1)).to_string(),
                _ => "?".to_owned(),
            });
            println!(
                "{:<44}{:>9}{server_us:>12}{players_us:>13}{p50:>9}{p99:>9}",
                format!("{tables} tables, {think_ms} ms to think, {store}"),
                moves / MEASURED.as_secs(),
            );
        }
    }
}

/// Starts this program again, on its own processor if the system supports that.
fn part(processor: usize, words: &[&str]) -> Child {
    let own = env::current_exe().unwrap();
    let spawn = |mut program: Command| {
        program.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()
    };
    let mut pinned = Command::new("taskset");
    pinned.args(["-c", &processor.to_string()]).arg(&own);
    spawn(pinned).or_else(|_| spawn(Command::new(own))).unwrap()
}

/// Runs the server: three successive connections are a table.
fn serve(tables: usize, is_stored: bool) {
    let mut listener = TcpListener::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    println!("{}", listener.local_addr().unwrap());
    let mut poll = Poll::new().unwrap();
    let mut events = Events::with_capacity(1_024);
    const LISTENER: Token = Token(usize::MAX - 1);
    const REDIS: Token = Token(usize::MAX - 2);
    poll.registry().register(&mut listener, LISTENER, Interest::READABLE).unwrap();
    let mut redis = is_stored.then(|| store(&poll, REDIS));
    let mut connections: Vec<TcpStream> = Vec::with_capacity(tables * SEATS);
    let mut turns = vec![0_u8; tables];
    // Tables whose line is on its way to Redis, in the order of its replies.
    let mut waiting = VecDeque::new();
    let mut calls = Vec::new();
    let mut buffer = [0_u8; 4_096];
    loop {
        let wait = (!calls.is_empty()).then_some(Duration::from_millis(1));
        poll.poll(&mut events, wait).unwrap();
        for event in &events {
            match event.token() {
                LISTENER => {
                    while let Ok((mut connection, _)) = listener.accept() {
                        connection.set_nodelay(true).unwrap();
                        connection.write_all(b"!").unwrap();
                        let token = Token(connections.len());
                        poll.registry()
                            .register(&mut connection, token, Interest::READABLE)
                            .unwrap();
                        connections.push(connection);
                    }
                }
                REDIS => loop {
                    let count = read(redis.as_mut().unwrap(), &mut buffer);
                    for _ in buffer[..count].iter().filter(|byte| **byte == b'\n') {
                        tell(waiting.pop_front().unwrap(), &mut turns, &mut connections);
                    }
                    if count < buffer.len() {
                        break;
                    }
                },
                Token(number) => {
                    if read(&mut connections[number], &mut buffer) == 0 {
                        continue;
                    }
                    let table = number / SEATS;
                    if redis.is_none() {
                        tell(table, &mut turns, &mut connections);
                        continue;
                    }
                    write!(calls, "*3\r\n$5\r\nRPUSH\r\n$10\r\nfloor{table:05}\r\n").unwrap();
                    write!(calls, "${}\r\n", LINE.len()).unwrap();
                    calls.extend_from_slice(&LINE);
                    calls.extend_from_slice(b"\r\n");
                    waiting.push_back(table);
                }
            }
        }
        // Calls beyond Redis's buffer wait briefly.
        if let Some(redis) = redis.as_mut().filter(|_| !calls.is_empty()) {
            match redis.write(&calls) {
                Ok(count) => drop(calls.drain(..count)),
                Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}"),
            }
        }
    }
}

fn tell(table: usize, turns: &mut [u8], connections: &mut [TcpStream]) {
    turns[table] = (turns[table] + 1) % 3;
    let update = [turns[table]; UPDATE];
    for connection in &mut connections[table * SEATS..][..SEATS] {
        connection.write_all(&update).unwrap();
    }
}

/// Opens a connection to the Redis that REDIS_URL names, by Unix socket or TCP.
fn store(poll: &Poll, token: Token) -> Box<dyn ReadWrite> {
    use redis::{ConnectionAddr, IntoConnectionInfo};
    let url = env::var("REDIS_URL").expect("REDIS_URL names a Redis");
    let info = url.into_connection_info().unwrap();
    match info.addr() {
        ConnectionAddr::Unix(path) => {
            let mut socket = mio::net::UnixStream::connect(path).unwrap();
            poll.registry().register(&mut socket, token, Interest::READABLE).unwrap();
            Box::new(socket)
        }
        ConnectionAddr::Tcp(host, port) => {
            let socket = std::net::TcpStream::connect((host.as_str(), *port)).unwrap();
            socket.set_nonblocking(true).unwrap();
            socket.set_nodelay(true).unwrap();
            let mut socket = TcpStream::from_std(socket);
            poll.registry().register(&mut socket, token, Interest::READABLE).unwrap();
            Box::new(socket)
        }
        other => panic!("{other} is neither a socket of the machine nor plain TCP"),
    }
}

trait ReadWrite: Read + Write {}
impl<T: Read + Write> ReadWrite for T {}

/// Reads once; later data causes another event. Returns zero for a closed connection.
fn read(from: &mut (impl Read + ?Sized), buffer: &mut [u8]) -> usize {
    use ErrorKind::{ConnectionReset, WouldBlock};
    match from.read(buffer) {
        Ok(count) => count,
        Err(error) if matches!(error.kind(), WouldBlock | ConnectionReset) => 0,
        Err(error) => panic!("{error}"),
    }
}

/// Runs the players: the player whose turn it is thinks and moves; a move is complete when all
/// three have received it.
fn play(address: SocketAddr, tables: usize, think_ms: u64) {
    let mut poll = Poll::new().unwrap();
    let mut events = Events::with_capacity(1_024);
    let mut connections: Vec<TcpStream> = (0..tables * SEATS)
        .map(|number| {
            let mut connection = std::net::TcpStream::connect(address).unwrap();
            connection.set_nodelay(true).unwrap();
            // One after another, so that both sides number them alike.
            connection.read_exact(&mut [0]).unwrap();
            connection.set_nonblocking(true).unwrap();
            let mut connection = TcpStream::from_std(connection);
            poll.registry().register(&mut connection, Token(number), Interest::READABLE).unwrap();
            connection
        })
        .collect();
    let mut dice = 88_172_645_463_325_252_u64;
    // Uniform between half and one and a half of the time.
    let mut thinks = || {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        Duration::from_micros(think_ms * 500 + dice % (think_ms * 1_000).max(1))
    };
    let began = Instant::now();
    let mut moves_at: BinaryHeap<_> =
        (0..tables).map(|table| Reverse((began + thinks(), table * SEATS))).collect();
    let mut sent = vec![began; tables];
    let mut heard = vec![0_usize; tables];
    let mut buffer = [0_u8; 4_096];
    let mut took = Histogram::<u64>::new(3).unwrap();
    let mut is_measuring = false;
    loop {
        let mut now = Instant::now();
        if !is_measuring && now >= began + WARM_UP {
            is_measuring = true;
            took.reset();
            println!("begin");
        }
        if now >= began + WARM_UP + MEASURED {
            let (p50, p99) = (took.value_at_quantile(0.5), took.value_at_quantile(0.99));
            println!("{} {p50} {p99}", took.len());
            io::stdin().read_to_end(&mut Vec::new()).unwrap();
            return;
        }
        while let Some(Reverse((at, number))) = moves_at.peek().copied() {
            if at > now {
                break;
            }
            moves_at.pop();
            sent[number / SEATS] = now;
            connections[number].write_all(&[b'c'; COMMAND]).unwrap();
            now = Instant::now();
        }
        let next = moves_at.peek().map_or(MEASURED, |Reverse((at, _))| *at - now.min(*at));
        poll.poll(&mut events, Some(next)).unwrap();
        for event in &events {
            let number = event.token().0;
            let count = read(&mut connections[number], &mut buffer);
            let table = number / SEATS;
            heard[table] += count;
            if heard[table] == SEATS * UPDATE {
                heard[table] = 0;
                let now = Instant::now();
                took.record(u64::try_from((now - sent[table]).as_micros()).unwrap()).unwrap();
                let next = usize::from(buffer[0]);
                moves_at.push(Reverse((now + thinks(), table * SEATS + next)));
            }
        }
    }
}
