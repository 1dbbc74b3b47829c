//! Which actions are legal, from what lies open and the hand of the seat that acts. One answer
//! for the game and for a player's view, because neither needs to know more.
//!
//! [`check`] decides about one action and says why not; [`for_each`] lists all that [`check`]
//! would take. Random play holds them against each other.

use crate::cards::{Card, CardSet};
use crate::games::tongits::action::{Action, Illegal};
use crate::games::tongits::arrange::leaves_nothing;
use crate::games::tongits::meld::{additions, can_chow, for_each_chow, for_each_meld, is_meld};
use crate::games::tongits::phase::{Phase, Public};
use crate::seat::Seat;

/// Whether the seat may play this action now, or the first reason why not.
pub(super) fn check(
    public: &Public,
    seat: Seat,
    hand: CardSet,
    action: &Action,
) -> Result<(), Illegal> {
    match action {
        Action::Draw => check_draw_phase(public, seat),
        Action::Chow { cards } => {
            check_draw_phase(public, seat)?;
            check_chow(public, hand, *cards)
        }
        Action::Fight => {
            check_draw_phase(public, seat)?;
            check_fight(public, seat)
        }
        Action::Drop { cards } => {
            check_play_phase(public, seat)?;
            require(hand.contains_all(*cards), Illegal::DropCardNotInHand)?;
            require(is_meld(*cards), Illegal::DropNoMeld)
        }
        Action::Sapaw { card, meld } => {
            check_play_phase(public, seat)?;
            require(hand.contains(*card), Illegal::SapawCardNotInHand)?;
            let meld = public.melds.melds().get(usize::from(*meld)).ok_or(Illegal::NoSuchMeld)?;
            require(additions(*meld).contains(*card), Illegal::SapawNoMeld)
        }
        Action::Dump { card } => {
            check_play_phase(public, seat)?;
            require(hand.contains(*card), Illegal::DumpCardNotInHand)?;
            require(dumpable(public, hand).contains(*card), Illegal::CardAddable)
        }
        Action::Tongits => {
            check_play_phase(public, seat)?;
            require(leaves_nothing(hand), Illegal::CardsLeftOver)
        }
        Action::Challenge | Action::Fold => check_answer(public, seat),
    }
}

/// Every action open to the seat, each once.
pub(super) fn for_each(public: &Public, seat: Seat, hand: CardSet, mut each: impl FnMut(Action)) {
    match public.phase {
        Phase::Draw { seat: turn, .. } if turn == seat => {
            each(Action::Draw);
            if let Some(discard) = public.discards.top() {
                for_each_chow(hand, discard, |cards| each(Action::Chow { cards }));
            }
            if check_fight(public, seat).is_ok() {
                each(Action::Fight);
            }
        }
        Phase::Play { seat: turn } if turn == seat => {
            for_each_meld(hand, |cards| each(Action::Drop { cards }));
            for (meld, cards) in (0..).zip(public.melds.melds()) {
                let fitting = additions(*cards).intersection(hand);
                fitting.iter().for_each(|card| each(Action::Sapaw { card, meld }));
            }
            dumpable(public, hand).iter().for_each(|card| each(Action::Dump { card }));
            if leaves_nothing(hand) {
                each(Action::Tongits);
            }
        }
        Phase::Fight { .. } if check_answer(public, seat).is_ok() => {
            each(Action::Challenge);
            each(Action::Fold);
        }
        Phase::Starter
        | Phase::Deal { .. }
        | Phase::Draw { .. }
        | Phase::Play { .. }
        | Phase::Fight { .. }
        | Phase::Over => {}
    }
}

/// Whether the seat, which begins its turn, can do anything but draw (rule 3.1).
pub(super) fn only_draw(public: &Public, seat: Seat, hand: CardSet) -> bool {
    !public.discards.top().is_some_and(|discard| can_chow(hand, discard))
        && check_fight(public, seat).is_err()
}

/// The cards of the hand that may be dumped (rule 3.6).
pub(super) fn dumpable(public: &Public, hand: CardSet) -> CardSet {
    if public.rules.dump_addable { hand } else { hand.difference(public.melds.additions()) }
}

/// What the clock plays for a seat that is to act (rule 8.2).
pub(super) fn default_action(public: &Public, seat: Seat, hand: CardSet) -> Option<Action> {
    match public.phase {
        Phase::Draw { seat: turn, .. } if turn == seat => Some(Action::Draw),
        Phase::Play { seat: turn } if turn == seat => {
            match dumpable(public, hand).iter().max_by_key(height) {
                Some(card) => Some(Action::Dump { card }),
                None => highest_addition(public, hand),
            }
        }
        Phase::Fight { .. } => check_answer(public, seat).is_ok().then_some(Action::Fold),
        Phase::Starter
        | Phase::Deal { .. }
        | Phase::Draw { .. }
        | Phase::Play { .. }
        | Phase::Over => None,
    }
}

/// Points, then rank, then suit (rule 8.2): a higher rank never has fewer points.
fn height(card: &Card) -> (u8, u8) {
    (card.rank().index(), card.suit().index())
}

/// The highest card that can be added, to the first meld that takes it.
fn highest_addition(public: &Public, hand: CardSet) -> Option<Action> {
    let card = public.melds.additions().intersection(hand).iter().max_by_key(height)?;
    let fits = |(_, meld): &(u8, &CardSet)| additions(**meld).contains(card);
    let (meld, _) = (0..).zip(public.melds.melds()).find(fits)?;
    Some(Action::Sapaw { card, meld })
}

fn check_draw_phase(public: &Public, seat: Seat) -> Result<(), Illegal> {
    match public.phase {
        Phase::Starter | Phase::Deal { .. } => Err(Illegal::NotDealt),
        Phase::Over => Err(Illegal::GameOver),
        Phase::Fight { .. } => Err(Illegal::FightOpen),
        Phase::Draw { seat: turn, .. } => require(turn == seat, Illegal::NotYourTurn),
        Phase::Play { seat: turn } if turn == seat => Err(Illegal::NotDrawPhase),
        Phase::Play { .. } => Err(Illegal::NotYourTurn),
    }
}

fn check_play_phase(public: &Public, seat: Seat) -> Result<(), Illegal> {
    match public.phase {
        Phase::Starter | Phase::Deal { .. } => Err(Illegal::NotDealt),
        Phase::Over => Err(Illegal::GameOver),
        Phase::Fight { .. } => Err(Illegal::FightOpen),
        Phase::Play { seat: turn } => require(turn == seat, Illegal::NotYourTurn),
        Phase::Draw { seat: turn, .. } if turn == seat => Err(Illegal::NotPlayPhase),
        Phase::Draw { .. } => Err(Illegal::NotYourTurn),
    }
}

fn check_answer(public: &Public, seat: Seat) -> Result<(), Illegal> {
    match public.phase {
        Phase::Starter | Phase::Deal { .. } => Err(Illegal::NotDealt),
        Phase::Over => Err(Illegal::GameOver),
        Phase::Draw { .. } | Phase::Play { .. } => Err(Illegal::NoFight),
        Phase::Fight { asked, asked_secretly, answered, .. } => {
            require(asked.union(asked_secretly).contains(seat), Illegal::NotAsked)?;
            require(!answered.contains(seat), Illegal::AlreadyAnswered)
        }
    }
}

fn check_chow(public: &Public, hand: CardSet, cards: CardSet) -> Result<(), Illegal> {
    let discard = public.discards.top().ok_or(Illegal::NothingToChow)?;
    require(hand.contains_all(cards), Illegal::ChowCardNotInHand)?;
    require(cards.len() >= 2, Illegal::ChowTooFew)?;
    require(is_meld(cards.with(discard)), Illegal::ChowNoMeld)
}

/// Rule 4.1, in the draw phase of the seat's own turn.
fn check_fight(public: &Public, seat: Seat) -> Result<(), Illegal> {
    require(public.melds.is_open(seat), Illegal::NotOpen)?;
    let blocked = matches!(public.phase, Phase::Draw { fight_blocked: true, .. });
    require(!blocked, Illegal::FightBlocked)
}

fn require(holds: bool, otherwise: Illegal) -> Result<(), Illegal> {
    if holds { Ok(()) } else { Err(otherwise) }
}
