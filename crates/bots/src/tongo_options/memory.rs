//! The memory of a seat for face-down options cards (rule 3.6): those that were face up before, at
//! their present positions.

use bahay_engine::games::tongo_options::{Event, Floors, PublicState, SLOTS};
use bahay_engine::variants;

/// Returns the face-down cards on the floors that are known from earlier events, without the
/// face-up cards.
pub(super) fn remember_floors(
    public: &PublicState,
    shown: &mut dyn Iterator<Item = &Event>,
) -> Floors {
    let mut floors = Floors::default();
    let mut exchanges = Floors::default();
    let mut facing = 0;
    for event in shown {
        match event {
            Event::Dealt { up, .. } => {
                for (floor, card) in floors.iter_mut().zip(up) {
                    floor[usize::from(SLOTS) - 1] = Some(*card);
                }
            }
            Event::Stopped { floor, .. } => facing = usize::from(*floor),
            Event::Bought { slot, card, .. } => floors[facing][usize::from(*slot)] = Some(*card),
            Event::Exchanged { slot, floor, other, .. } => {
                let slot = usize::from(*slot);
                let other = usize::from(*other);
                let mine = floors[facing][slot];
                let place = match floor {
                    Some(floor) => &mut floors[usize::from(*floor)][other],
                    None => &mut exchanges[facing][other],
                };
                let theirs = core::mem::replace(place, mine);
                floors[facing][slot] = theirs;
            }
            variants!(Event: RiskPaid, Retreated, Folded, CostsChanged, Sold, Rolling, Rolled,
                Evaded, Drew, ReservesConverted, Confronted, Acquired, Answered, Ended, Shown,
                Over) => {}
        }
    }
    for (floor, up) in floors.iter_mut().zip(&public.floors) {
        for (card, up) in floor.iter_mut().zip(up) {
            *card = card.filter(|_| up.is_none());
        }
    }
    floors
}

#[cfg(test)]
mod tests {
    use super::remember_floors;
    use bahay_engine::game::Game;
    use bahay_engine::games::tongo_options::{Card, Event, Rules, TongoOptions};
    use bahay_engine::seat::Seat;

    #[test]
    fn a_card_turned_down_is_remembered_at_its_new_place() {
        let public = TongoOptions::new(&Rules::lively(), 2, None).public().clone();
        let seat = Seat::new(0).unwrap();
        let card: Card = "7D".parse().unwrap();
        let nothing = remember_floors(&public, &mut [].iter());
        assert!(nothing.iter().flatten().all(Option::is_none));
        let stop = |floor| Event::Stopped { seat, floor };
        let exchange = |slot, floor, other| Event::Exchanged {
            seat,
            slot,
            floor,
            other,
            chips: 0,
            leverage: false,
        };
        let mut shown = alloc::vec![
            stop(3),
            Event::Bought { seat, slot: 1, card, chips: 1, leverage: false },
            Event::Sold { seat, slot: 1, chips: 1, leverage: false },
        ];
        assert_eq!(remember_floors(&public, &mut shown.iter())[3][1], Some(card));
        shown.push(exchange(1, None, 2));
        assert_eq!(remember_floors(&public, &mut shown.iter()), nothing);
        shown.extend([stop(3), exchange(0, None, 2), stop(5), exchange(2, Some(3), 0)]);
        let floors = remember_floors(&public, &mut shown.iter());
        assert_eq!((floors[3][0], floors[5][2]), (None, Some(card)));
        // A face-up card need not be remembered.
        let mut up = public.clone();
        up.floors[5][2] = Some(card);
        assert_eq!(remember_floors(&up, &mut shown.iter()), nothing);
    }
}
