//! The conformance probe of Tongo (assets): arbitrary actions, hidden cards, and conservation of
//! cards and chips.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::game::{Game, Viewer};
use crate::games::tongo_assets::{
    Acquire, Action, Card, CardSet, HALVES, OwnKnowledge, Phase, PriceBounds, SlotSet, TongoAssets,
};
use crate::seat::{SEATS_MAX, Seat};
use crate::testing::{Probe, TestRng, legal_actions};

/// The conformance probe of Tongo (assets).
#[derive(Clone, Copy, Debug)]
pub struct TongoAssetsProbe;

impl Probe<TongoAssets> for TongoAssetsProbe {
    fn wild_action(&self, game: &TongoAssets, dice: &mut TestRng) -> Action {
        let risk = game.public().risk.saturating_sub(1) + dice.below(14);
        let PriceBounds { purchase_min, max } = PriceBounds::for_risk(risk);
        let purchase = (purchase_min + dice.below(max + 1)).saturating_sub(dice.below(2));
        let sell = dice.below(max + 2);
        let owner = Seat::new(dice.below_u8(game.public().seats())).unwrap_or(FIRST);
        let mut held: Vec<Card> = game.hidden().hands[owner].iter().collect();
        held.extend(game.hidden().kept[owner].iter());
        if dice.below(6) == 0 {
            held = Card::all().collect();
        }
        let any = |dice: &mut TestRng| dice.choose(&held).copied().unwrap_or(SOME);
        let card = any(dice);
        let slot = dice.below_u8(8);
        let named = Some(card).filter(|_| dice.below(2) == 0);
        let free = dice.below(3) == 0;
        let cards: CardSet = (0..3).map(|_| any(dice)).collect();
        let slots: SlotSet = (0..7).filter(|_| dice.below(2) == 0).collect();
        let to = Seat::new(dice.below_u8(8)).unwrap_or(FIRST);
        let chips = dice.below(3) * dice.below(60);
        let offered = if chips == 0 { CardSet::only(card) } else { CardSet::EMPTY };
        let margin = dice.below_u8(60);
        let margin = if dice.below(2) == 0 { margin / 5 * 5 } else { margin };
        let actions = [
            Action::Open { risk, purchase, sell },
            Action::Pay,
            Action::Raise { risk, purchase, sell },
            Action::RaiseConfront { risk },
            Action::Retreat,
            Action::Swap { discard: card, slot },
            Action::Purchase { slot, discard: named, free },
            Action::Acquire { replace: named, free },
            Action::Sell { slots },
            Action::Reveal { section: slot },
            Action::Dividend,
            Action::Done,
            Action::Confront,
            Action::Evade { discards: cards },
            Action::Index { margin },
            Action::Leverage { percent: dice.below_u8(100) },
            Action::Bribe { to, chips, cards: offered },
            Action::Accept,
            Action::Refuse,
        ];
        *dice.choose(&actions).expect("there are actions")
    }

    /// Maps an action with a free number to one that is listed, if the number is legal by an
    /// independent reading of rules 2.1, 2.2, 4.5 and 4.6.
    fn listed_equivalent(&self, game: &TongoAssets, seat: Seat, action: Action) -> Action {
        let public = game.public();
        let chips = public.players[seat].chips;
        let fits = |risk: u32, purchase: u32, sell: u32| {
            let most = if risk == 1 { 1 } else { risk * 3 / 2 };
            2 * purchase >= risk && purchase <= most && sell >= 1 && sell <= most
        };
        match action {
            Action::Open { risk, purchase, sell } => {
                let (least, most) = if public.rounds == 0 {
                    (1, public.rules.opening_max)
                } else {
                    (public.risk, public.risk + public.rules.raise_max)
                };
                let may = risk >= least && risk <= most.min(chips) && fits(risk, purchase, sell);
                if may { cheapest_of(game, seat, action) } else { action }
            }
            Action::Raise { risk, purchase, sell } => {
                let most =
                    (public.risk + public.rules.raise_max).min(chips + public.players[seat].paid);
                let may = risk > public.risk && risk <= most && fits(risk, purchase, sell);
                if may { cheapest_of(game, seat, action) } else { action }
            }
            Action::Leverage { percent } if (5..=95).contains(&percent) => {
                let paid = (public.risk * u32::from(percent)).div_ceil(100);
                if paid <= chips { Action::Leverage { percent: 5 } } else { action }
            }
            Action::Bribe { to, chips: offered, cards } => {
                if cards.is_empty() && (1..=chips).contains(&offered) {
                    return Action::Bribe { to, chips: 1, cards };
                }
                let held = game.hidden().hands[seat].union(game.hidden().kept[seat]);
                let player = &public.players[to];
                let for_hand = cards.assets().count() + cards.wilds().count();
                let room = player.assets + player.wilds + for_hand <= 7;
                let room_apart = player.kept + cards.count() - for_hand <= 3;
                let fits = room || for_hand == 0;
                let fits_apart = room_apart || cards.count() == for_hand;
                let may = offered == 0 && held.contains_all(cards) && fits && fits_apart;
                match cards.first().filter(|_| may) {
                    Some(first) => Action::Bribe { to, chips: 0, cards: CardSet::only(first) },
                    None => action,
                }
            }
            variants!(Action: Pay, RaiseConfront, Retreat, Swap, Purchase, Acquire, Sell, Reveal,
                Dividend, Done, Confront, Evade, Index, Leverage, Accept, Refuse) => action,
        }
    }

    /// Returns every card except those that the viewer holds, sees before it, or has been shown
    /// openly: no card is shown again once it was turned down.
    fn hidden_texts(&self, game: &TongoAssets, viewer: Viewer) -> Vec<String> {
        let public = game.public();
        let own = viewer.seat();
        let mut known = CardSet::EMPTY;
        if let (Some(seat), Some(own)) = (own, own.and_then(|_| game.view(viewer).own)) {
            let OwnKnowledge { hand, kept, before: _, look: _ } = own;
            known = known.union(hand).union(kept);
            if let Phase::Assess { seat: turn, revealed, .. } = public.phase
                && turn == seat
            {
                let sections = revealed.into_iter().chain([public.section_of(seat)]);
                let seen = sections.flat_map(|section| game.hidden().sections[section].assets);
                known = seen.flatten().fold(known, CardSet::with);
            }
            // The viewer saw the cards that it discarded.
            known = known.union(game.hidden().piles[seat]);
        }
        if let Some(offer) = public.offer {
            known = known.union(offer.cards);
        }
        if let Some(shown) = &public.shown {
            known = shown.iter().flatten().fold(known, |known, shown| known.union(shown.hand));
        }
        // Everybody sees an audit when it takes effect.
        let audits = Card::all().filter(|card| card.kind() == Some(Acquire::Audit));
        known = audits.fold(known, CardSet::with);
        let hidden = Card::all().filter(|card| !known.contains(*card));
        hidden.map(|card| format!("\"{card}\"")).collect()
    }

    /// Returns whether both cards are of one deck: assets begin with a number, acquire cards with a
    /// letter.
    fn can_swap(&self, one: &str, other: &str) -> bool {
        let is_asset = |text: &str| text.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
        is_asset(one) == is_asset(other)
    }

    /// Checks that every card is in exactly one place and that the chips add up.
    fn broken_invariant(&self, game: &TongoAssets) -> Option<String> {
        let public = game.public();
        let hidden = game.hidden();
        let chips: u32 = public.players.iter().map(|player| player.chips * HALVES).sum();
        let awards: u32 = public.end.map_or(0, |end| end.awards.iter().sum());
        let all = public.rules.latinum * HALVES * u32::from(public.seats());
        if chips + public.pot * HALVES + awards != all {
            return Some(format!("{chips} half chips, pot {}, awards {awards}", public.pot));
        }
        if matches!(public.phase, Phase::Dealer | Phase::Assets | Phase::Acquires | Phase::Deal) {
            return None;
        }
        let (cards, count) = hidden.all_cards();
        if (cards.len(), count) != (128, 128) {
            return Some(format!("{count} cards lie somewhere, {} differ", cards.len()));
        }
        for seat in Seat::all(public.seats()) {
            let hand = hidden.hands[seat];
            let kept = hidden.kept[seat];
            let pile = hidden.piles[seat];
            let player = &public.players[seat];
            let counts = [hand.assets(), hand.wilds(), kept, pile.assets(), pile.acquires()];
            let public_counts = [
                player.assets,
                player.wilds,
                player.kept,
                player.pile_assets,
                player.pile_acquires,
            ];
            if counts.map(CardSet::count) != public_counts || hand.count() > 7 || kept.count() > 3 {
                return Some(format!(
                    "{seat:?} holds {hand} and keeps {kept}, but the public counts are {public_counts:?}"
                ));
            }
            if !public.playing.contains(seat) && public_counts != [0; 5] {
                return Some(format!("{seat:?} has retreated and holds {hand}"));
            }
        }
        let sections = hidden.sections.map(|section| section.public_section());
        let decks = (hidden.assets.len(), hidden.acquires.len());
        let agrees =
            sections == public.sections && decks == (public.asset_deck, public.acquire_deck);
        (!agrees)
            .then(|| format!("sections {sections:?}, decks {decks:?} differ from the public ones"))
    }
}

const FIRST: Seat = Seat::new(0).expect("every table has seat 0");
const SOME: Card = Card::from_index(0).expect("there are cards");

/// Returns the first listed action of the same kind; the action itself if none is listed.
fn cheapest_of(game: &TongoAssets, seat: Seat, action: Action) -> Action {
    let same = |other: &Action| core::mem::discriminant(other) == core::mem::discriminant(&action);
    legal_actions(game, seat).into_iter().find(same).unwrap_or(action)
}

const _: () = assert!(SEATS_MAX == 8, "wild actions name eight seats");
