//! A link between a phone and a server, in virtual time. Packets are lost below the sockets, and
//! TCP retransmits them, so a socket loses nothing, keeps the order, and is sometimes late. A cut
//! ends every socket without notice to either side.
//!
//! Opening a socket takes a round trip for TCP, one for TLS 1.3 if it is used (in a full handshake
//! the server answers with three packets, most of them its certificates; in a resumed session with
//! one), and one for the upgrade. The third packet of TCP and the client's last one of TLS travel
//! with the data that follows them.

use std::collections::{BTreeMap, VecDeque};

use bahay_client::SocketData;
use bahay_model_server::Reply;

use crate::suspensions::random::TestRandom;

/// The conditions on a network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NetworkConditions {
    /// The number of packets lost out of a thousand.
    pub(crate) loss_per_mille: u64,
    pub(crate) round_trip_ms: i64,
    pub(crate) opening: OpeningCost,
}

/// The handshakes before the request for a socket.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OpeningCost {
    /// An established transport.
    Nothing,
    Tcp,
    TcpAndResumedTls,
    TcpAndFullTls,
}

impl OpeningCost {
    /// Returns the packets of the server's answer in each round trip before the request.
    fn answers(self) -> &'static [usize] {
        match self {
            Self::Nothing => &[],
            Self::Tcp => &[1],
            Self::TcpAndResumedTls => &[1, 1],
            Self::TcpAndFullTls => &[1, 3],
        }
    }
}

/// The size of the server's answer that a socket is open.
const UPGRADE_BYTES: usize = 200;
/// The time that the server needs to look up its answers after the request.
const LOOK_UP_MS: i64 = 5;
/// The time before the first packet of a connection is retransmitted (RFC 6298).
const FIRST_RETRANSMIT_MS: i64 = 1_000;
/// The time after which a request without a network fails.
const UNANSWERED_MS: i64 = 10_000;
/// The size of a packet, into which data written at once is joined.
const PACKET_BYTES: usize = 1_400;

/// An arrival at one end of the link.
#[derive(Clone, Debug)]
pub(crate) enum Arrival {
    /// The server has received the request for a socket.
    Accepted { socket: u64 },
    /// The server has looked up the answers to the commands in the request.
    LookedUp { socket: u64 },
    /// The client's socket is open.
    Opened { socket: u64 },
    /// The server has received a text; `None` for the end of the socket.
    ToServer { socket: u64, text: Option<String> },
    /// The client has received a message.
    ToClient { socket: u64, data: SocketData, sent_at_ms: i64 },
    /// The client has received the end of a socket.
    ClosedToClient { socket: u64, code: u16 },
    /// The server has received an HTTP request.
    Request { request: u64 },
    /// The client has received the answer.
    Reply { request: u64, reply: Reply },
    /// The client's request has failed.
    NoReply { request: u64 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Direction {
    Up,
    Down,
}

#[derive(Debug)]
struct Packet {
    sent_at_ms: i64,
    was_lost: bool,
    arrives_at_ms: i64,
    bytes: usize,
    arrivals: Vec<Arrival>,
}

#[derive(Debug)]
enum Event {
    Arrival(Arrival),
    /// Packets of a socket's queue may arrive.
    Packets(u64, Direction),
    /// The request for a socket arrives, over a new connection.
    Socket(u64),
}

#[derive(Debug)]
pub(crate) struct Link {
    conditions: NetworkConditions,
    /// The events by time and number, each with the era in which it was scheduled.
    events: BTreeMap<(i64, u64), (u64, Event)>,
    scheduled: u64,
    /// The arrivals of one packet that wait to be taken.
    arrived: VecDeque<Arrival>,
    is_cut: bool,
    /// The number of cuts: a packet in flight during one never arrives.
    era: u64,
    queues: BTreeMap<(u64, Direction), VecDeque<Packet>>,
}

impl Link {
    pub(crate) fn new(conditions: NetworkConditions) -> Self {
        Self {
            conditions,
            events: BTreeMap::new(),
            scheduled: 0,
            arrived: VecDeque::new(),
            is_cut: false,
            era: 0,
            queues: BTreeMap::new(),
        }
    }

    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut
    }

    pub(crate) fn next_time(&self) -> Option<i64> {
        self.events.first_key_value().map(|((at_ms, _), _)| *at_ms)
    }

    /// Cuts the link, and returns the sockets that were open.
    pub(crate) fn cut_link(&mut self) -> Vec<u64> {
        let open = self.queues.keys().filter(|(_, direction)| *direction == Direction::Up);
        let lost = open.map(|(socket, _)| *socket).collect();
        self.is_cut = true;
        self.era += 1;
        self.queues.clear();
        self.arrived.clear();
        lost
    }

    pub(crate) fn restore_link(&mut self) {
        self.is_cut = false;
    }

    /// Returns the next arrival up to this time.
    pub(crate) fn take_arrival(&mut self, now_ms: i64, random: &mut TestRandom) -> Option<Arrival> {
        loop {
            if let Some(arrival) = self.arrived.pop_front() {
                return Some(arrival);
            }
            let entry = self.events.first_entry().filter(|entry| entry.key().0 <= now_ms)?;
            let (era, event) = entry.remove();
            match event {
                // A request into a dead network fails in any era.
                Event::Arrival(arrival @ Arrival::NoReply { .. }) => return Some(arrival),
                _ if era != self.era => {}
                Event::Arrival(arrival) => return Some(arrival),
                Event::Packets(socket, direction) => {
                    let queue = self.queues.entry((socket, direction)).or_default();
                    while queue.front().is_some_and(|packet| packet.arrives_at_ms <= now_ms) {
                        let packet = queue.pop_front().expect("a packet was seen");
                        self.arrived.extend(packet.arrivals);
                    }
                }
                Event::Socket(socket) => {
                    self.queues.insert((socket, Direction::Up), VecDeque::new());
                    self.queues.insert((socket, Direction::Down), VecDeque::new());
                    let opened = Arrival::Opened { socket };
                    self.send(now_ms, (socket, Direction::Down), UPGRADE_BYTES, opened, random);
                    let looked_up = Arrival::LookedUp { socket };
                    self.schedule(now_ms + LOOK_UP_MS, Event::Arrival(looked_up));
                    return Some(Arrival::Accepted { socket });
                }
            }
        }
    }

    /// Opens a socket.
    pub(crate) fn open_socket(&mut self, now_ms: i64, socket: u64, random: &mut TestRandom) {
        // Without a network the phone's own system waits for one, and nothing comes back.
        if !self.is_cut {
            let there_ms = self.handshakes_ms(random) + self.packet_ms(self.again_ms(true), random);
            self.schedule(now_ms + there_ms, Event::Socket(socket));
        }
    }

    /// Sends a text to the server; `None` ends the socket.
    pub(crate) fn send_up(
        &mut self,
        now_ms: i64,
        socket: u64,
        text: Option<String>,
        random: &mut TestRandom,
    ) {
        let bytes = text.as_ref().map_or(8, String::len);
        let arrival = Arrival::ToServer { socket, text };
        self.send(now_ms, (socket, Direction::Up), bytes, arrival, random);
    }

    /// Sends a message, or the end of the socket, to the client.
    pub(crate) fn send_down(
        &mut self,
        now_ms: i64,
        socket: u64,
        bytes: usize,
        arrival: Arrival,
        random: &mut TestRandom,
    ) {
        self.send(now_ms, (socket, Direction::Down), bytes, arrival, random);
    }

    /// Sends a request on a connection of its own.
    pub(crate) fn send_request(&mut self, now_ms: i64, request: u64, random: &mut TestRandom) {
        if self.is_cut {
            let lost = Event::Arrival(Arrival::NoReply { request });
            self.schedule(now_ms + UNANSWERED_MS, lost);
            return;
        }
        let there_ms = self.handshakes_ms(random) + self.packet_ms(self.again_ms(true), random);
        self.schedule(now_ms + there_ms, Event::Arrival(Arrival::Request { request }));
    }

    pub(crate) fn send_reply(
        &mut self,
        now_ms: i64,
        request: u64,
        reply: Reply,
        random: &mut TestRandom,
    ) {
        let back_ms = self.packet_ms(self.again_ms(true), random);
        self.schedule(now_ms + back_ms, Event::Arrival(Arrival::Reply { request, reply }));
    }

    fn send(
        &mut self,
        now_ms: i64,
        (socket, direction): (u64, Direction),
        bytes: usize,
        arrival: Arrival,
        random: &mut TestRandom,
    ) {
        let arrives_at_ms = now_ms + self.packet_ms(self.again_ms(true), random);
        let half_ms = self.conditions.round_trip_ms / 2;
        let found_ms = now_ms + self.again_ms(false);
        let losses = self.packet_ms(self.again_ms(true), random);
        let Some(queue) = self.queues.get_mut(&(socket, direction)) else {
            return;
        };
        if let Some(last) = queue.back_mut()
            && last.sent_at_ms == now_ms
            && last.bytes + bytes <= PACKET_BYTES
        {
            last.arrivals.push(arrival);
            last.bytes += bytes;
            return;
        }
        let was_lost = arrives_at_ms > now_ms + half_ms;
        let arrivals = vec![arrival];
        queue.push_back(Packet { sent_at_ms: now_ms, was_lost, arrives_at_ms, bytes, arrivals });
        let mut times = vec![arrives_at_ms];
        if !was_lost {
            // The loss of earlier packets is detected now.
            for before in queue.iter_mut().filter(|before| before.was_lost) {
                before.arrives_at_ms = before.arrives_at_ms.min(found_ms + losses);
                times.push(before.arrives_at_ms);
            }
        }
        for at_ms in times {
            self.schedule(at_ms, Event::Packets(socket, direction));
        }
    }

    /// Returns the duration of the handshakes before the first request on a connection.
    fn handshakes_ms(&self, random: &mut TestRandom) -> i64 {
        let mut ms = 0;
        for (trip, packets) in self.conditions.opening.answers().iter().enumerate() {
            let first_ms = |again_ms| if trip == 0 { FIRST_RETRANSMIT_MS } else { again_ms };
            ms += self.packet_ms(first_ms(self.again_ms(true)), random);
            let answers = (1..=*packets)
                .map(|place| self.packet_ms(first_ms(self.again_ms(place == *packets)), random));
            ms += answers.max().unwrap_or_default();
        }
        ms
    }

    /// Returns the time before a packet is retransmitted: after two round trips if it is the last
    /// of several (tail loss probe, RFC 8985), and otherwise after one and a quarter, because later
    /// ones are acknowledged and it is not (RACK).
    fn again_ms(&self, is_last: bool) -> i64 {
        let round_trip_ms = self.conditions.round_trip_ms;
        if is_last { 2 * round_trip_ms } else { round_trip_ms * 5 / 4 }
    }

    /// Returns the duration of one packet, including retransmissions.
    fn packet_ms(&self, again_ms: i64, random: &mut TestRandom) -> i64 {
        let mut ms = self.conditions.round_trip_ms / 2;
        let mut pause_ms = again_ms;
        while random.draw_below(1_000) < self.conditions.loss_per_mille {
            ms += pause_ms;
            pause_ms *= 2;
        }
        ms
    }

    fn schedule(&mut self, at_ms: i64, event: Event) {
        self.scheduled += 1;
        self.events.insert((at_ms, self.scheduled), (self.era, event));
    }
}
