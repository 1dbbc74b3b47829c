//! The position of every card: hands, kept cards, piles, sections and decks. The game and the view
//! of the record hold it, and update it by events.
//!
//! [`OwnKnowledge`] is the part that a seat knows: its hand, its kept cards, and during its
//! assessment the sections that it sees.

use serde::{Deserialize, Serialize};

use crate::games::tongo_assets::card::{Card, CardSet};
use crate::games::tongo_assets::deck::Deck;
use crate::games::tongo_assets::event::{AcquireDestination, Event, Face};
use crate::games::tongo_assets::phase::{Offer, Phase};
use crate::games::tongo_assets::public::PublicState;
use crate::games::tongo_assets::ring::Ring;
use crate::games::tongo_assets::rules::{DEALT, SLOTS};
use crate::games::tongo_assets::slots::{Assets, HiddenSection, SlotSet};
use crate::seat::Seat;

/// The positions of all cards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoAssetsHidden"))]
pub struct Hidden {
    pub hands: Ring<CardSet>,
    pub kept: Ring<CardSet>,
    pub piles: Ring<CardSet>,
    pub sections: Ring<HiddenSection>,
    pub assets: Deck,
    pub acquires: Deck,
}

impl Hidden {
    /// Creates the state before any shuffle.
    pub fn new(public: &PublicState) -> Self {
        let seats = public.seats();
        Self {
            hands: Ring::new(seats),
            kept: Ring::new(seats),
            piles: Ring::new(seats),
            sections: Ring::new(public.rules.sections),
            assets: Deck::default(),
            acquires: Deck::default(),
        }
    }

    /// Returns the assets of the section before a seat (rule 3).
    pub(super) fn section_assets(&self, public: &PublicState, seat: Seat) -> Assets {
        self.sections[public.section_of(seat)].assets
    }

    /// Updates the cards by a complete event, which has not been applied to `public` yet.
    pub(super) fn apply(&mut self, public: &PublicState, event: &Event) {
        if let Some((seat, slots)) = event.taken_slots() {
            clear_slots(&mut self.sections[public.section_of(seat)].assets, slots);
        }
        if let Some((seat, kind)) = event.played_kept_card()
            && let Some(card) = self.kept[seat].first_of(kind)
        {
            self.put_on_pile(seat, card);
        }
        match event {
            Event::AssetsShuffled { deck: Some(deck) } => self.assets = **deck,
            Event::AcquiresShuffled { deck: Some(deck) } => self.acquires = **deck,
            Event::Dealt { hands, rotation } => self.deal(public, *rotation, hands),
            Event::Opened { .. } => self.refill(),
            Event::Retreated { seat } => self.retreat(*seat),
            Event::Acquired { seat, to, taken, .. } => {
                let section = public.section_of(*seat);
                self.sections[section].take_acquire();
                if let (AcquireDestination::Pile, Some(card)) = (to, taken.card()) {
                    self.put_on_pile(*seat, card);
                }
            }
            Event::Sold { seat, .. } => {
                self.piles[*seat] = self.piles[*seat].union(self.hands[*seat]);
            }
            Event::AssetsShuffled { deck: None }
            | Event::AcquiresShuffled { deck: None }
            | variants!(Event: DealerChosen, Paid, Raised, Stopped, Assessing, Swapped, Purchased,
                FreeSpent, Audited, Revealed, DividendTaken, Done, Confronted, Evaded, Indexed,
                Leveraged, BribeOffered, BribeAnswered, Shown, Over) => {}
        }
        for seat in Seat::all(public.seats()) {
            let held = HeldCards { hand: self.hands[seat], kept: self.kept[seat] };
            let next = held.after_event(seat, event, public.offer);
            self.hands[seat] = next.hand;
            self.kept[seat] = next.kept;
        }
        if let Some((seat, faces)) = event.discarded_cards() {
            let cards = faces.iter().filter_map(|face| face.card());
            cards.for_each(|card| self.put_on_pile(seat, card));
        }
    }

    fn put_on_pile(&mut self, seat: Seat, card: Card) {
        self.piles[seat] = self.piles[seat].with(card);
    }

    /// Deals the sections (rule 1.4). The hands are part of the event.
    fn deal(&mut self, public: &PublicState, rotation: u8, hands: &Ring<Option<CardSet>>) {
        self.refill();
        for (seat, _) in hands.by_seat() {
            let section = &mut self.sections[public.section_at(seat, rotation)];
            section.assets[..usize::from(DEALT)].fill(None);
        }
    }

    /// Returns the hands that the seats receive for this rotation, before the deal (rule 1.4).
    pub(super) fn hands_to_deal(
        &self,
        public: &PublicState,
        rotation: u8,
    ) -> Ring<Option<CardSet>> {
        let mut hands = Ring::new(public.seats());
        for seat in Seat::all(public.seats()) {
            let first = public.section_at(seat, rotation) * SLOTS;
            let cards = self.assets.iter().skip(usize::from(first)).take(usize::from(DEALT));
            hands[seat] = Some(cards.collect());
        }
        hands
    }

    /// Refills the sections in ascending order of section and slot, while the decks last (rule
    /// 1.4).
    fn refill(&mut self) {
        for section in self.sections.as_mut_slice() {
            for asset in section.assets.iter_mut().filter(|asset| asset.is_none()) {
                *asset = self.assets.draw_card();
            }
            for acquire in section.acquires.iter_mut().filter(|acquire| acquire.is_none()) {
                *acquire = self.acquires.draw_card();
            }
        }
    }

    /// Puts the cards of a seat under the decks in ascending order of index (rule 2.2).
    pub(super) fn retreat(&mut self, seat: Seat) {
        let cards = self.hands[seat].union(self.kept[seat]).union(self.piles[seat]);
        self.assets.put_under(cards.assets());
        self.acquires.put_under(cards.acquires());
        self.piles[seat] = CardSet::EMPTY;
    }
}

fn clear_slots(assets: &mut Assets, slots: SlotSet) {
    slots.iter().for_each(|slot| assets[usize::from(slot)] = None);
}

/// The cards that a seat holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct HeldCards {
    pub(super) hand: CardSet,
    pub(super) kept: CardSet,
}

impl HeldCards {
    /// Returns the cards that the seat holds after an event in which its own cards are visible,
    /// both for the game and for the seat's view. `offer` is the bribe that was pending before the
    /// event.
    pub(super) fn after_event(self, own: Seat, event: &Event, offer: Option<Offer>) -> Self {
        let Self { mut hand, mut kept } = self;
        if let Some((seat, faces)) = event.discarded_cards()
            && seat == own
        {
            hand = faces.iter().filter_map(|face| face.card()).fold(hand, CardSet::without);
        }
        if let Some((seat, kind)) = event.played_kept_card()
            && seat == own
        {
            kept = kept.first_of(kind).map_or(kept, |card| kept.without(card));
        }
        let with = |cards: CardSet, face: &Face| face.card().map_or(cards, |card| cards.with(card));
        match event {
            Event::Dealt { hands, .. } => Self { hand: hands[own].unwrap_or_default(), kept },
            Event::Retreated { seat } if *seat == own => Self::default(),
            Event::Swapped { seat, taken, .. }
            | Event::Purchased { seat, taken, .. }
            | Event::Acquired { seat, taken, to: AcquireDestination::Hand, .. }
                if *seat == own =>
            {
                Self { hand: with(hand, taken), kept }
            }
            Event::Acquired { seat, taken, to: AcquireDestination::Kept, .. } if *seat == own => {
                Self { hand, kept: with(kept, taken) }
            }
            Event::Sold { seat, hand, .. } if *seat == own => {
                Self { hand: hand.unwrap_or_default(), kept }
            }
            Event::BribeAnswered { accepted: true, .. } => self.after_bribe(own, offer),
            variants!(Event: DealerChosen, AssetsShuffled, AcquiresShuffled, Opened, Paid, Raised,
                Retreated, Stopped, Assessing, Swapped, Purchased, Acquired, FreeSpent, Audited,
                Sold, Revealed, DividendTaken, Done, Confronted, Evaded, Indexed, Leveraged,
                BribeOffered, BribeAnswered, Shown, Over) => Self { hand, kept },
        }
    }

    /// Returns the cards after an accepted bribe (rule 4.6).
    fn after_bribe(self, own: Seat, offer: Option<Offer>) -> Self {
        let Some(offer) = offer else { return self };
        let of_hand = offer.cards.assets().union(offer.cards.wilds());
        let apart = offer.cards.difference(of_hand);
        if own == offer.from {
            Self { hand: self.hand.difference(of_hand), kept: self.kept.difference(apart) }
        } else if own == offer.to {
            Self { hand: self.hand.union(of_hand), kept: self.kept.union(apart) }
        } else {
            self
        }
    }
}

/// A section that a seat has looked at by a reveal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TongoAssetsLook"))]
pub struct RevealedSection {
    pub section: u8,
    pub assets: Assets,
}

/// The knowledge of a seat in addition to the public state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TongoAssetsOwn"))]
pub struct OwnKnowledge {
    pub hand: CardSet,
    pub kept: CardSet,
    /// The assets before the seat, during its assessment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Assets>,
    /// The section that the seat looked at last, during its assessment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub look: Option<RevealedSection>,
}

impl OwnKnowledge {
    pub(super) fn from_state(public: &PublicState, hidden: &Hidden, seat: Seat) -> Self {
        let mut own =
            Self { hand: hidden.hands[seat], kept: hidden.kept[seat], before: None, look: None };
        if let Phase::Assess { seat: turn, revealed, .. } = public.phase
            && turn == seat
        {
            own.before = Some(hidden.section_assets(public, seat));
            own.look = revealed.map(|section| RevealedSection {
                section,
                assets: hidden.sections[section].assets,
            });
        }
        own
    }

    /// Updates the knowledge by an event that was redacted for this seat. `public` has already been
    /// updated; `offer` is the bribe that was pending before the event.
    pub(super) fn apply(
        &mut self,
        public: &PublicState,
        own: Seat,
        event: &Event,
        offer: Option<Offer>,
    ) {
        let held = HeldCards { hand: self.hand, kept: self.kept }.after_event(own, event, offer);
        (self.hand, self.kept) = (held.hand, held.kept);
        if let Event::Assessing { seat, assets } = event
            && *seat == own
        {
            self.before = *assets;
        }
        if let Event::Revealed { seat, section, assets: Some(assets), .. } = event
            && *seat == own
        {
            self.look = Some(RevealedSection { section: *section, assets: *assets });
        }
        if let (Some((seat, slots)), Some(before)) = (event.taken_slots(), &mut self.before)
            && seat == own
        {
            clear_slots(before, slots);
        }
        let assesses = matches!(public.phase, Phase::Assess { seat, .. } if seat == own);
        if !assesses {
            (self.before, self.look) = (None, None);
        }
    }
}

#[cfg(feature = "testing")]
impl Hidden {
    /// Returns the set of all cards at some position, and the number of positions that hold a card.
    pub fn all_cards(&self) -> (CardSet, usize) {
        let decks = self.assets.iter().chain(self.acquires.iter());
        let lying = self.sections.iter();
        let lying =
            lying.flat_map(|section| section.assets.iter().chain(&section.acquires)).flatten();
        let held = [&self.hands, &self.kept, &self.piles];
        let held = held.into_iter().flat_map(Ring::iter).flat_map(|cards| cards.iter());
        let all = decks.chain(lying.copied()).chain(held);
        all.fold((CardSet::EMPTY, 0), |(all, count), card| (all.with(card), count + 1))
    }
}
