//! How long a round of the matcher takes with ten thousand tickets, in microseconds:
//! `cargo bench -p bahay-engine --bench matchmaking`.
//!
//! The best and the median of many rounds, each on the same tickets: three crowds, of which the
//! first finds places at once, the second comes from few addresses, and of the third nobody fits
//! anybody. The last is the worst that a round can meet.

use std::hint::black_box;
use std::time::Instant;

use bahay_engine::matchmaking::{Companion, Mark, OpenTable, RoomSet, Round, Ticket, TicketId};
use bahay_engine::table::{PlayerId, TableId, Timestamp};
use bahay_engine::testing::Dice;
use uuid::Uuid;

const TICKETS: u32 = 10_000;
const TABLES: u32 = 500;
const ROUNDS: usize = 50;
const NOW: Timestamp = Timestamp::from_ms(1_772_366_400_000);

fn main() {
    let everywhere = |dice: &mut Dice| vec![Mark(dice.word())];
    let from_few = |dice: &mut Dice| vec![Mark(dice.word()), Mark(u64::from(dice.below(40)))];
    let from_one = |dice: &mut Dice| vec![Mark(dice.word()), Mark(7)];
    report("everybody fits somebody", &tickets(1, everywhere), &[]);
    report("the same, and 500 tables with a free seat", &tickets(1, everywhere), &tables(2));
    report("from 40 addresses", &tickets(3, from_few), &[]);
    report("all from one address", &tickets(4, from_one), &[]);
    report("the same, and 500 tables with a free seat", &tickets(4, from_one), &tables(5));
}

fn report(name: &str, tickets: &[Ticket], tables: &[OpenTable]) {
    let mut placed = 0;
    let mut taken_us: Vec<u128> = (0..)
        .take(ROUNDS)
        .map(|turn| {
            let seats = [3; 6];
            let round = Round { seats: &seats, tables, tickets, now: NOW, turn };
            let begun = Instant::now();
            let placements = black_box(black_box(round).placements());
            let taken = begun.elapsed().as_micros();
            placed = placements.iter().map(|placement| placement.tickets.len()).sum();
            taken
        })
        .collect();
    taken_us.sort_unstable();
    println!(
        "{name}: {placed} of {TICKETS} placed, best {} us, median {} us",
        taken_us[0],
        taken_us[ROUNDS / 2]
    );
}

fn tickets(seed: u64, marks: impl Fn(&mut Dice) -> Vec<Mark>) -> Vec<Ticket> {
    let mut dice = Dice::new(seed);
    let ticket = |_| {
        let rating = 25_000 + i32::try_from(dice.below(16_000)).expect("16 bits") - 8_000;
        let player = PlayerId(id(&mut dice));
        let who = Companion { player, rating, marks: marks(&mut dice) };
        let waited_ms = i64::from(dice.below(5_000));
        let rooms: RoomSet = (0..6).filter(|_| dice.below(3) == 0).collect();
        Ticket {
            id: TicketId(id(&mut dice)),
            who,
            rooms: rooms.with(0),
            recent: (0..6).map(|_| PlayerId(id(&mut dice))).collect(),
            since: Timestamp::from_ms(NOW.ms() - waited_ms),
        }
    };
    (0..TICKETS).map(ticket).collect()
}

fn tables(seed: u64) -> Vec<OpenTable> {
    let mut dice = Dice::new(seed);
    let table = |_| OpenTable {
        id: TableId(id(&mut dice)),
        room: dice.below(6) as usize,
        seats_free: 1,
        has_pot: dice.below(4) == 0,
        company: (0..2)
            .map(|_| Companion { player: PlayerId(id(&mut dice)), rating: 25_000, marks: vec![] })
            .collect(),
    };
    (0..TABLES).map(table).collect()
}

fn id(dice: &mut Dice) -> Uuid {
    Uuid::from_u64_pair(dice.word(), dice.word())
}
