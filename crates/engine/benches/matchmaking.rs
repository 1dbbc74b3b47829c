//! The time of a round of the matcher with ten thousand tickets: `./dev bench`, or `cargo bench -p
//! bahay-engine --bench matchmaking`.
//!
//! The tickets are fixed, rotated in some rounds. There are three crowds: the first is placed at
//! once, the second comes from few addresses, and in the third no two tickets are compatible, which
//! is the worst case of a round.

mod rows;

use bahay_engine::matchmaking::{
    Candidate, ConflictKey, OpenTable, RoomSet, Round, Ticket, TicketId,
};
use bahay_engine::table::{PlayerId, TableId, Timestamp};
use bahay_engine::testing::TestRng;
use uuid::Uuid;

use rows::Rows;

const TICKETS: u32 = 10_000;
const TABLES: u32 = 500;
const TURNS: [u64; 3] = [0, 1, 2];
const NOW: Timestamp = Timestamp::from_ms(1_772_366_400_000);

fn main() {
    let everywhere = |dice: &mut TestRng| vec![ConflictKey(dice.word())];
    let from_few =
        |dice: &mut TestRng| vec![ConflictKey(dice.word()), ConflictKey(u64::from(dice.below(40)))];
    let from_one = |dice: &mut TestRng| vec![ConflictKey(dice.word()), ConflictKey(7)];
    let rows = Rows::new(&format!("the matcher, {TICKETS} tickets"));
    report(&rows, "everybody fits somebody", &tickets(1, everywhere), &[]);
    report(&rows, "the same, 500 tables with a seat", &tickets(1, everywhere), &tables(2));
    report(&rows, "from 40 addresses", &tickets(3, from_few), &[]);
    report(&rows, "all from one address", &tickets(4, from_one), &[]);
    report(&rows, "one address, 500 tables with a seat", &tickets(4, from_one), &tables(5));
    rows.bytes("a ticket in memory, without what it points to", size_of::<Ticket>());
}

fn report(rows: &Rows, name: &str, tickets: &[Ticket], tables: &[OpenTable]) {
    let round = |turn: &u64| {
        let seats = [3; 6];
        let networks_apart = (0..seats.len()).collect();
        let round = Round { seats: &seats, networks_apart, tables, tickets, now: NOW, turn: *turn };
        round.placements().iter().map(|placement| placement.tickets.len()).sum::<usize>()
    };
    rows.each(&format!("a round, {name}: {} placed", round(&0)), &TURNS, round);
}

fn tickets(seed: u64, conflict_keys: impl Fn(&mut TestRng) -> Vec<ConflictKey>) -> Vec<Ticket> {
    let mut dice = TestRng::new(seed);
    let ticket = |_| {
        let rating = 25_000 + i32::try_from(dice.below(16_000)).expect("16 bits") - 8_000;
        let player = PlayerId(id(&mut dice));
        let conflict_keys = conflict_keys(&mut dice);
        let candidate = Candidate { conflict_keys, ..Candidate::new(player, rating) };
        let waited_ms = i64::from(dice.below(5_000));
        let rooms: RoomSet = (0..6).filter(|_| dice.below(3) == 0).collect();
        Ticket {
            id: TicketId(id(&mut dice)),
            candidate,
            rooms: rooms.with(0),
            recent: (0..6).map(|_| PlayerId(id(&mut dice))).collect(),
            since: Timestamp::from_ms(NOW.ms() - waited_ms),
        }
    };
    (0..TICKETS).map(ticket).collect()
}

fn tables(seed: u64) -> Vec<OpenTable> {
    let mut dice = TestRng::new(seed);
    let table = |_| OpenTable {
        id: TableId(id(&mut dice)),
        room: dice.below(6) as usize,
        seats_free: 1,
        has_pot: dice.below(4) == 0,
        companions: (0..2).map(|_| Candidate::new(PlayerId(id(&mut dice)), 25_000)).collect(),
    };
    (0..TABLES).map(table).collect()
}

fn id(dice: &mut TestRng) -> Uuid {
    Uuid::from_u64_pair(dice.word(), dice.word())
}
