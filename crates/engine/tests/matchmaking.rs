//! Invariants of the matcher, for any waiting tickets: checked on random rounds, whose seed a
//! failure prints.

use std::collections::{BTreeMap, BTreeSet};

use bahay_engine::matchmaking::{
    Candidate, ConflictKey, OpenTable, Placement, PlacementTarget, REPEAT_MS, RoomSet, Round,
    Ticket, TicketId, WINDOW_MS, fits_candidate, tickets_fit,
};
use bahay_engine::table::{PlayerId, TableId, Timestamp};
use bahay_engine::testing::TestRng;
use uuid::Uuid;

use crate::support::with_each_seed;

const NOW: Timestamp = Timestamp::from_ms(1_772_366_400_000);
const SEATS: [u8; 3] = [3, 3, 4];

/// Players of one network may meet in the second room.
fn networks_apart(room: usize) -> bool {
    room != 1
}

/// A round with owned inputs.
struct OwnedRound {
    tickets: Vec<Ticket>,
    tables: Vec<OpenTable>,
}

impl OwnedRound {
    fn round(&self, now: Timestamp, turn: u64) -> Round<'_> {
        let networks_apart = (0..SEATS.len()).filter(|room| networks_apart(*room)).collect();
        let (tables, tickets) = (&self.tables[..], &self.tickets[..]);
        Round { seats: &SEATS, networks_apart, tables, tickets, now, turn }
    }

    fn placements(&self) -> Vec<Placement> {
        self.round(NOW, 0).placements()
    }
}

fn id(number: u64) -> Uuid {
    Uuid::from_u64_pair(0x019c_a944_3c00_7000, number)
}

fn random_candidate(dice: &mut TestRng, number: u64) -> Candidate {
    let conflict_keys =
        (0..dice.below(3)).map(|_| ConflictKey(u64::from(dice.below(12)))).collect();
    let rating = 25_000 + i32::try_from(dice.below(12_000)).unwrap() - 6_000;
    let network = (dice.below(2) == 0).then(|| ConflictKey(100 + u64::from(dice.below(3))));
    let blocked = (0..dice.below(3)).map(|_| PlayerId(id(u64::from(dice.below(40))))).collect();
    let player = PlayerId(id(number));
    Candidate { player, rating, conflict_keys, network, blocked }
}

fn random(seed: u64) -> OwnedRound {
    let mut dice = TestRng::new(seed);
    let count = u64::from(dice.below(40));
    let tickets = (0..count)
        .map(|number| Ticket {
            id: TicketId(id(number)),
            candidate: random_candidate(&mut dice, number),
            rooms: (0..SEATS.len()).filter(|_| dice.below(2) == 0).collect(),
            recent: (0..dice.below(4)).map(|_| PlayerId(id(u64::from(dice.below(40))))).collect(),
            since: Timestamp::from_ms(NOW.ms() - i64::from(dice.below(8_000))),
        })
        .collect();
    let tables = (0..u64::from(dice.below(6)))
        .map(|number| {
            let room = dice.below(3) as usize;
            let seats_free = 1 + dice.below_u8(SEATS[room]);
            let companions = (0..u64::from(SEATS[room] - seats_free))
                .map(|seat| random_candidate(&mut dice, 1_000 + number * 10 + seat))
                .collect();
            let has_pot = dice.below(2) == 0;
            OpenTable { id: TableId(id(number)), room, seats_free, has_pot, companions }
        })
        .collect();
    OwnedRound { tickets, tables }
}

/// Checks random rounds; a failure prints the seed.
fn of_many(check: impl Fn(&OwnedRound)) {
    with_each_seed(3_000, |seed| check(&random(seed)));
}

fn waited_ms(ticket: &Ticket) -> u64 {
    NOW.ms_since(ticket.since)
}

/// The tickets of a table: the table if it was open already, the room, and those placed.
type Group<'a> = (Option<&'a OpenTable>, usize, Vec<&'a Ticket>);

/// Returns the placements of a round, by table, and the remaining tickets.
fn seated(waiting: &OwnedRound) -> (Vec<Group<'_>>, Vec<&Ticket>) {
    let by_id: BTreeMap<TicketId, &Ticket> =
        waiting.tickets.iter().map(|ticket| (ticket.id, ticket)).collect();
    let mut left = by_id.clone();
    let mut tables: BTreeMap<TableId, Vec<&Ticket>> = BTreeMap::new();
    let mut groups = Vec::new();
    for placement in waiting.placements() {
        let group: Vec<&Ticket> =
            placement.tickets.iter().map(|id| left.remove(id).expect("no ticket twice")).collect();
        match placement.target {
            PlacementTarget::ExistingTable(table) => tables.entry(table).or_default().extend(group),
            PlacementTarget::NewTable { room } => groups.push((None, room, group)),
        }
    }
    for (id, group) in tables {
        let table = waiting.tables.iter().find(|table| table.id == id).expect("it was open");
        groups.push((Some(table), table.room, group));
    }
    (groups, left.into_values().collect())
}

#[test]
fn each_ticket_is_placed_once_and_only_with_matching_candidates() {
    of_many(|waiting| {
        for (table, room, group) in seated(waiting).0 {
            let seats = table.map_or(SEATS[room], |table| table.seats_free);
            assert!(group.len() <= usize::from(seats));
            assert!(group.iter().all(|ticket| ticket.rooms.contains(room)));
            let companions = table.map_or(&[][..], |table| &table.companions);
            if companions.is_empty() {
                assert_eq!(group.len(), usize::from(seats), "nobody begins alone");
            }
            let apart = networks_apart(room);
            for (number, one) in group.iter().enumerate() {
                assert!(
                    group[number + 1..].iter().all(|other| tickets_fit(one, other, apart, NOW))
                );
                for other in companions {
                    assert!(fits_candidate(one, other, apart, waited_ms(one)));
                    let has_met = one.recent.contains(&other.player);
                    assert!(!has_met || waited_ms(one) >= REPEAT_MS);
                }
            }
        }
    });
}

#[test]
fn no_ticket_waits_while_a_seat_fits() {
    of_many(|waiting| {
        let (groups, left) = seated(waiting);
        for (room, seats) in SEATS.into_iter().enumerate() {
            let in_room: Vec<&Ticket> =
                left.iter().copied().filter(|ticket| ticket.rooms.contains(room)).collect();
            let apart = networks_apart(room);
            assert!(!has_group(&in_room, usize::from(seats), apart), "a table could be founded");
            for table in waiting.tables.iter().filter(|table| table.room == room) {
                let group = groups.iter().find(|(at, ..)| at.is_some_and(|at| at.id == table.id));
                let joined = group.map_or(&[][..], |(.., joined)| joined);
                if joined.len() == usize::from(table.seats_free) || table.companions.is_empty() {
                    continue;
                }
                let fits = |ticket: &&Ticket| {
                    let waited_ms = waited_ms(ticket);
                    table.companions.iter().all(|other| {
                        let has_met = ticket.recent.contains(&other.player);
                        fits_candidate(ticket, other, apart, waited_ms)
                            && !(has_met && waited_ms < REPEAT_MS)
                    }) && joined.iter().all(|other| tickets_fit(ticket, other, apart, NOW))
                };
                assert!(!in_room.iter().any(fits), "a seat was free for somebody");
            }
        }
    });
}

/// Returns true if some tickets of this number are all compatible, by exhaustive search.
fn has_group(tickets: &[&Ticket], seats: usize, apart: bool) -> bool {
    fn grow(
        group: &mut Vec<usize>,
        from: usize,
        tickets: &[&Ticket],
        (seats, apart): (usize, bool),
    ) -> bool {
        if group.len() == seats {
            return true;
        }
        (from..tickets.len()).any(|next| {
            let fits =
                group.iter().all(|one| tickets_fit(tickets[*one], tickets[next], apart, NOW));
            fits && {
                group.push(next);
                let grown = grow(group, next + 1, tickets, (seats, apart));
                group.pop();
                grown
            }
        })
    }
    grow(&mut Vec::new(), 0, tickets, (seats, apart))
}

#[test]
fn a_round_is_the_same_whenever_it_is_repeated() {
    of_many(|waiting| assert_eq!(waiting.placements(), waiting.placements()));
}

/// Three compatible tickets behind a continuous crowd of incompatible ones are placed within the
/// search budget.
#[test]
fn no_ticket_starves_behind_a_crowd() {
    let mut dice = TestRng::new(0xfa11);
    let mut tickets: Vec<Ticket> = (0..4_000)
        .map(|number| Ticket {
            id: TicketId(id(number)),
            candidate: Candidate {
                conflict_keys: vec![ConflictKey(1)],
                ..random_candidate(&mut dice, number)
            },
            rooms: RoomSet::default().with(0),
            recent: vec![],
            since: Timestamp::from_ms(NOW.ms() - 600_000),
        })
        .collect();
    let few: BTreeSet<TicketId> = (5_000..5_003).map(|number| TicketId(id(number))).collect();
    for (number, ticket) in (5_000..).zip(&few) {
        let rating = random_candidate(&mut dice, number).rating;
        let candidate = Candidate::new(PlayerId(id(number)), rating);
        let rooms = RoomSet::default().with(0);
        tickets.push(Ticket { id: *ticket, candidate, rooms, recent: vec![], since: NOW });
    }
    let waiting = OwnedRound { tickets, tables: vec![] };
    let mut turn = 0;
    let found = loop {
        let now = NOW.after_ms(u32::try_from(turn).unwrap() * 200);
        let placements = waiting.round(now, turn).placements();
        let found = placements.into_iter().find(|placement| {
            placement.tickets.iter().filter(|ticket| few.contains(ticket)).count() >= 2
        });
        if let Some(found) = found {
            break found;
        }
        turn += 1;
        assert!(turn < 200, "they wait for ever");
    };
    assert_eq!(found.target, PlacementTarget::NewTable { room: 0 });
}

fn ticket(number: u64) -> Ticket {
    Ticket {
        id: TicketId(id(number)),
        candidate: Candidate::new(PlayerId(id(number)), 25_000),
        rooms: RoomSet::default().with(0),
        recent: vec![],
        since: Timestamp::from_ms(NOW.ms() - 1_000 + i64::try_from(number).unwrap()),
    }
}

fn table(number: u64, seats_free: u8, has_pot: bool) -> OpenTable {
    let companions = (0..u64::from(3 - seats_free))
        .map(|seat| Candidate::new(PlayerId(id(100 + number * 10 + seat)), 25_000))
        .collect();
    OpenTable { id: TableId(id(number)), room: 0, seats_free, has_pot, companions }
}

/// Two players with full block lists, of which neither names the other: the lists do not matter.
#[test]
fn a_block_of_either_side_keeps_two_apart_however_long_the_lists_are() {
    let others = |from: u64| (from..from + 500).map(|number| PlayerId(id(number)));
    let mut tickets: Vec<Ticket> = (0..3).map(ticket).collect();
    tickets[0].candidate.blocked = others(10_000).collect();
    tickets[1].candidate.blocked = others(20_000).skip(1).chain([PlayerId(id(0))]).collect();
    assert_eq!(tickets[1].candidate.blocked.iter().count(), 500);
    let waiting = OwnedRound { tickets, tables: vec![] };
    assert_eq!(waiting.placements(), []);
    let (first, second) = (&waiting.tickets[0], &waiting.tickets[1]);
    assert!(!tickets_fit(first, second, false, NOW) && !tickets_fit(second, first, false, NOW));
    assert!(tickets_fit(first, &waiting.tickets[2], false, NOW));
}

#[test]
fn players_of_one_network_meet_only_in_rooms_that_let_them() {
    for room in 0..2 {
        let one_network = |number| Ticket {
            candidate: Candidate { network: Some(ConflictKey(7)), ..ticket(number).candidate },
            rooms: RoomSet::default().with(room),
            ..ticket(number)
        };
        let waiting = OwnedRound { tickets: (0..6).map(one_network).collect(), tables: vec![] };
        assert_eq!(waiting.placements().len(), if networks_apart(room) { 0 } else { 2 });
    }
}

#[test]
fn a_pot_comes_first_then_free_seats_then_a_new_table() {
    let tickets: Vec<Ticket> = (0..9).map(ticket).collect();
    let tables = vec![table(1, 1, false), table(2, 3, true), table(3, 2, false)];
    let placements = OwnedRound { tickets, tables }.placements();
    let places: Vec<PlacementTarget> =
        placements.iter().map(|placement| placement.target).collect();
    let at = |number| PlacementTarget::ExistingTable(TableId(id(number)));
    assert_eq!(places, [at(2), at(1), at(3), at(3), PlacementTarget::NewTable { room: 0 }]);
    let oldest: BTreeSet<TicketId> = (0..3).map(|number| TicketId(id(number))).collect();
    let first: BTreeSet<TicketId> = placements[0].tickets.iter().copied().collect();
    assert_eq!(first, oldest, "the oldest choose first");
}

#[test]
fn skill_keeps_apart_for_a_while_and_then_no_more() {
    let mut tickets: Vec<Ticket> = (0..3).map(ticket).collect();
    tickets[2].candidate.rating = 90_000;
    let waiting = OwnedRound { tickets, tables: vec![] };
    assert!(waiting.placements().is_empty());
    let later = NOW.after_ms(u32::try_from(WINDOW_MS).unwrap());
    assert_eq!(waiting.round(later, 1).placements().len(), 1);
}

#[test]
fn recent_opponents_are_placed_apart_first() {
    let mut tickets: Vec<Ticket> = (0..3).map(ticket).collect();
    let three: Vec<PlayerId> = tickets.iter().map(|ticket| ticket.candidate.player).collect();
    for ticket in &mut tickets {
        let me = ticket.candidate.player;
        ticket.recent = three.iter().copied().filter(|player| *player != me).collect();
    }
    let waiting = OwnedRound { tickets: tickets.clone(), tables: vec![] };
    assert!(waiting.placements().is_empty(), "others may come");
    let later = NOW.after_ms(u32::try_from(REPEAT_MS).unwrap());
    assert_eq!(waiting.round(later, 0).placements().len(), 1, "nobody has come");
    // With two other tickets only one of the three is placed.
    tickets.extend([ticket(3), ticket(4)]);
    let placements = OwnedRound { tickets, tables: vec![] }.placements();
    let together: Vec<_> = placements.iter().map(|placement| placement.tickets.len()).collect();
    assert_eq!(together, [3]);
    let of_three = |id: &&TicketId| (0..3).any(|number| **id == TicketId(self::id(number)));
    assert_eq!(placements[0].tickets.iter().filter(of_three).count(), 1);
}
