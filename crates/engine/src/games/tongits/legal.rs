//! The legality of actions, decided from the public state and the hand of the seat to act. The game
//! and a player's view share this code, because neither needs more information.
//!
//! [`check_action`] decides on one action and returns the reason for a refusal;
//! [`for_each_legal_action`] enumerates the actions that [`check_action`] accepts. Random play
//! tests the two against each other.

use crate::cards::{Card, CardSet, Rank, Suit};
use crate::game::require;
use crate::games::tongits::action::{Action, Illegal};
use crate::games::tongits::arrange::leaves_nothing;
use crate::games::tongits::meld::{
    additions, can_chow, for_each_chow, for_each_meld, is_meld, is_secret,
};
use crate::games::tongits::phase::{Phase, PublicState};
use crate::seat::Seat;

/// Checks whether the seat may play this action now, and returns the first reason against it.
pub(super) fn check_action(
    public: &PublicState,
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
        Action::Drop { cards, face_down } => {
            check_play_phase(public, seat)?;
            require(public.rules.bahay || !*face_down, Illegal::FaceDownOff)?;
            require(hand.contains_all(*cards), Illegal::DropCardNotInHand)?;
            require(is_meld(*cards), Illegal::DropNoMeld)?;
            require(!*face_down || is_secret_here(public, *cards), Illegal::DropNoSecret)
        }
        Action::Sapaw { card, meld } => {
            check_play_phase(public, seat)?;
            require(hand.contains(*card), Illegal::SapawCardNotInHand)?;
            let meld = public.melds.cards_if_open(*meld).ok_or(Illegal::NoSuchMeld)?;
            let meld = meld.ok_or(Illegal::MeldFaceDown)?;
            require(additions(meld).contains(*card), Illegal::SapawNoMeld)
        }
        Action::Dump { card } => {
            check_play_phase(public, seat)?;
            require(hand.contains(*card), Illegal::DumpCardNotInHand)?;
            require(!card.is_joker(), Illegal::JokerDumped)?;
            require(dumpable(public, hand).contains(*card), Illegal::CardAddable)
        }
        Action::Tongits => {
            match public.phase {
                Phase::Draw { seat: turn, .. } if turn == seat && public.rules.spread => {
                    require(public.yet_to_act.contains(seat), Illegal::NotFirstAction)?;
                }
                variants!(Phase: Starter, Deal, Draw, Play, Fight,
                    Over) => check_play_phase(public, seat)?,
            }
            require(leaves_nothing(hand), Illegal::CardsLeftOver)
        }
        Action::Challenge | Action::Fold => check_answer(public, seat),
    }
}

/// Calls `each` for every legal action of the seat, each once.
pub fn for_each_legal_action(
    public: &PublicState,
    seat: Seat,
    hand: CardSet,
    mut each: impl FnMut(Action),
) {
    match public.phase {
        Phase::Draw { seat: turn, .. } if turn == seat => {
            each(Action::Draw);
            if let Some(discard) = public.discards.top() {
                // Mostly there is none, which costs less to find out than to list all melds.
                if can_chow(hand, discard) {
                    for_each_chow(hand, discard, |cards| each(Action::Chow { cards }));
                }
            }
            if check_fight(public, seat).is_ok() {
                each(Action::Fight);
            }
            if can_spread(public, seat, hand) {
                each(Action::Tongits);
            }
        }
        Phase::Play { seat: turn } if turn == seat => {
            for_each_meld(hand, |cards| each(Action::Drop { cards, face_down: false }));
            if public.rules.bahay {
                for_each_meld(hand, |cards| {
                    if is_secret_here(public, cards) {
                        each(Action::Drop { cards, face_down: true });
                    }
                });
            }
            for (meld, cards, _) in public.melds.iter_open() {
                let fitting = additions(cards).intersection(hand);
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
        variants!(Phase: Starter, Deal, Draw, Play, Fight, Over) => {}
    }
}

/// Returns whether the seat, at the beginning of its turn, can do nothing but draw (rule 3.1).
pub(super) fn can_only_draw(public: &PublicState, seat: Seat, hand: CardSet) -> bool {
    !public.discards.top().is_some_and(|discard| can_chow(hand, discard))
        && check_fight(public, seat).is_err()
        && !can_spread(public, seat, hand)
}

/// Returns the cards of the hand that may be dumped (rules 3.6, 11.1).
pub fn dumpable(public: &PublicState, hand: CardSet) -> CardSet {
    let hand = hand.naturals();
    if public.rules.dump_addable { hand } else { hand.difference(public.melds.additions()) }
}

/// Returns the clock's default action for a seat that is to act (rule 8.2).
pub(super) fn default_action(public: &PublicState, seat: Seat, hand: CardSet) -> Option<Action> {
    match public.phase {
        Phase::Draw { seat: turn, .. } if turn == seat => Some(Action::Draw),
        Phase::Play { seat: turn } if turn == seat => {
            match dumpable(public, hand).iter().max_by_key(dump_rank) {
                Some(card) => Some(Action::Dump { card }),
                // A hand of nothing but jokers, possible only directly after the deal, is Tongits.
                None => highest_addition(public, hand).or(Some(Action::Tongits)),
            }
        }
        Phase::Fight { .. } => check_answer(public, seat).is_ok().then_some(Action::Fold),
        variants!(Phase: Starter, Deal, Draw, Play, Over) => None,
    }
}

/// Orders cards by points, then rank, then suit (rule 8.2); a higher rank never has fewer points.
fn dump_rank(card: &Card) -> (Option<Rank>, Option<Suit>) {
    (card.rank(), card.suit())
}

/// Returns the addition of the highest card that can be added, to the first meld that takes it.
fn highest_addition(public: &PublicState, hand: CardSet) -> Option<Action> {
    let fitting = public.melds.additions().intersection(hand).naturals();
    let card = fitting.iter().max_by_key(dump_rank)?;
    let (meld, ..) =
        public.melds.iter_open().find(|(_, meld, _)| additions(*meld).contains(card))?;
    Some(Action::Sapaw { card, meld })
}

fn check_draw_phase(public: &PublicState, seat: Seat) -> Result<(), Illegal> {
    require(is_own_draw_phase(public, seat)?, Illegal::NotDrawPhase)
}

fn check_play_phase(public: &PublicState, seat: Seat) -> Result<(), Illegal> {
    require(!is_own_draw_phase(public, seat)?, Illegal::NotPlayPhase)
}

/// Checks that it is the seat's turn, and returns whether it is in the draw phase.
fn is_own_draw_phase(public: &PublicState, seat: Seat) -> Result<bool, Illegal> {
    let (turn, is_draw) = match public.phase {
        Phase::Starter | Phase::Deal { .. } => return Err(Illegal::NotDealt),
        Phase::Over => return Err(Illegal::GameOver),
        Phase::Fight { .. } => return Err(Illegal::FightOpen),
        Phase::Draw { seat, .. } => (seat, true),
        Phase::Play { seat } => (seat, false),
    };
    require(turn == seat, Illegal::NotYourTurn)?;
    Ok(is_draw)
}

fn check_answer(public: &PublicState, seat: Seat) -> Result<(), Illegal> {
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

fn check_chow(public: &PublicState, hand: CardSet, cards: CardSet) -> Result<(), Illegal> {
    let discard = public.discards.top().ok_or(Illegal::NothingToChow)?;
    require(hand.contains_all(cards), Illegal::ChowCardNotInHand)?;
    require(cards.len() >= 2, Illegal::ChowTooFew)?;
    require(is_meld(cards.with(discard)), Illegal::ChowNoMeld)
}

/// Checks rule 4.1, in the draw phase of the seat's own turn.
fn check_fight(public: &PublicState, seat: Seat) -> Result<(), Illegal> {
    require(public.melds.is_open(seat), Illegal::NotOpen)?;
    let blocked = matches!(public.phase, Phase::Draw { fight_blocked: true, .. });
    require(!blocked, Illegal::FightBlocked)
}

/// Checks rule 10.3, in the draw phase of the seat's own turn.
fn can_spread(public: &PublicState, seat: Seat, hand: CardSet) -> bool {
    public.rules.spread && public.yet_to_act.contains(seat) && leaves_nothing(hand)
}

fn is_secret_here(public: &PublicState, cards: CardSet) -> bool {
    is_secret(cards, public.rules.secret_run_min)
}
