//! Positions for tests: a dealt game with some cards, chips and prices replaced.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::chance::{ChanceAnswer, Request};
use crate::game::{Game, GameRules, Turn, ensure};
use crate::games::tongo_assets::card::{Card, CardSet};
use crate::games::tongo_assets::deck::Deck;
use crate::games::tongo_assets::phase::Phase;
use crate::games::tongo_assets::rules::Rules;
use crate::games::tongo_assets::slots::Assets;
use crate::games::tongo_assets::state::TongoAssets;
use crate::seat::{SEATS_MAX, Seat};

/// A position. Everything that is not specified is as dealt from decks in ascending order of index.
#[derive(Clone, Debug)]
pub struct GameSetup {
    pub rules: Rules,
    pub seats: u8,
    /// The seat that opens first.
    pub dealer: Seat,
    /// The tops of the decks before the deal; the other cards follow in order of index.
    pub assets: Vec<Card>,
    pub acquires: Vec<Card>,
    /// The rotation of the deal.
    pub rotation: u8,
    pub hands: Vec<(Seat, CardSet)>,
    pub kept: Vec<(Seat, CardSet)>,
    pub piles: Vec<(Seat, CardSet)>,
    pub sections: Vec<(u8, Assets)>,
    /// The acquire cards of a section, the next one first.
    pub lying: Vec<(u8, Vec<Card>)>,
    /// The number of assets, and of acquire cards, left in the decks; the others are on the
    /// dealer's pile.
    pub decks: Option<(u8, u8)>,
    /// The chips by seat; the pot holds the rest.
    pub chips: Vec<(Seat, u32)>,
    pub retreated: Vec<Seat>,
    /// The risk, the purchase price and the sell price.
    pub prices: Option<(u32, u32, u32)>,
    pub rounds: Option<u8>,
    /// The seat whose turn it is, to open a round or, if true, in its assessment as the first seat
    /// after the opener.
    pub turn: Option<(Seat, bool)>,
}

impl GameSetup {
    pub fn new(rules: Rules, seats: u8, dealer: Seat) -> Self {
        Self {
            rules,
            seats,
            dealer,
            assets: Vec::new(),
            acquires: Vec::new(),
            rotation: 0,
            hands: Vec::new(),
            kept: Vec::new(),
            piles: Vec::new(),
            sections: Vec::new(),
            lying: Vec::new(),
            decks: None,
            chips: Vec::new(),
            retreated: Vec::new(),
            prices: None,
            rounds: None,
            turn: None,
        }
    }

    /// Builds the game in this position.
    ///
    /// # Errors
    /// The first contradiction in the position.
    pub fn build_game(&self) -> Result<TongoAssets, String> {
        let can_deal = self.rules.check().is_ok() && self.rules.seats().contains(self.seats);
        ensure(can_deal, || "no game can be dealt by these rules".into())?;
        let seats = self.hands.iter().chain(&self.kept).chain(&self.piles).map(|(seat, _)| *seat);
        let seats = seats.chain(self.chips.iter().map(|(seat, _)| *seat));
        let seats = seats.chain(self.retreated.iter().copied()).chain([self.dealer]);
        for seat in seats.chain(self.turn.map(|(seat, _)| seat)) {
            ensure(seat.number() < self.seats, || format!("{seat:?} is not at this table"))?;
        }
        let sections = self.sections.iter().map(|(section, _)| *section);
        for section in sections.chain(self.lying.iter().map(|(section, _)| *section)) {
            ensure(section < self.rules.sections, || format!("there is no section {section}"))?;
        }
        let mut game = self.deal_game()?;
        self.put_cards(&mut game)?;
        self.put_numbers(&mut game)?;
        recount_public(&mut game);
        Ok(game)
    }

    fn deal_game(&self) -> Result<TongoAssets, String> {
        let mut game = TongoAssets::new(&self.rules, self.seats, Some(self.dealer));
        let mut events = Vec::new();
        while let Turn::Chance(request) = game.turn() {
            let answer = match (game.public.phase, request) {
                (Phase::Assets, Request::Order(count)) => {
                    ChanceAnswer::Order(build_order(&self.assets, count, 0)?)
                }
                (Phase::Acquires, Request::Order(count)) => {
                    ChanceAnswer::Order(build_order(&self.acquires, count, 98)?)
                }
                _ => ChanceAnswer::Number(u32::from(self.rotation % self.rules.sections)),
            };
            game = game.resolve(&answer, &mut events);
        }
        Ok(game)
    }

    /// Moves the named cards to their positions; the cards that were there go under the decks.
    fn put_cards(&self, game: &mut TongoAssets) -> Result<(), String> {
        let held = self.hands.iter().chain(&self.kept).chain(&self.piles);
        let held = held.flat_map(|(_, cards)| cards.iter());
        let lying = self.sections.iter().flat_map(|(_, assets)| assets.iter().flatten().copied());
        let acquires = self.lying.iter().flat_map(|(_, cards)| cards.iter().copied());
        let mut named = CardSet::EMPTY;
        for card in held.chain(lying).chain(acquires) {
            ensure(!named.contains(card), || format!("{card} is in two places"))?;
            named = named.with(card);
        }
        let hidden = &mut game.hidden;
        for section in hidden.sections.as_mut_slice() {
            for slot in section.assets.iter_mut().chain(&mut section.acquires) {
                *slot = slot.filter(|card| !named.contains(*card));
            }
        }
        for (sets, put) in [
            (&mut hidden.hands, &self.hands),
            (&mut hidden.kept, &self.kept),
            (&mut hidden.piles, &self.piles),
        ] {
            for seat in Seat::all(self.seats) {
                let cards = put.iter().find(|(owner, _)| *owner == seat).map(|(_, cards)| *cards);
                sets[seat] = cards.unwrap_or(sets[seat].difference(named));
            }
        }
        let rest =
            |deck: &Deck| deck.iter().filter(|card| !named.contains(*card)).collect::<Deck>();
        (hidden.assets, hidden.acquires) = (rest(&hidden.assets), rest(&hidden.acquires));
        for (section, assets) in &self.sections {
            let misplaced = assets.iter().flatten().find(|card| !card.is_asset());
            misplaced.map_or(Ok(()), |card| Err(format!("{} does not belong there", *card)))?;
            hidden.sections[*section].assets = *assets;
        }
        for (section, cards) in &self.lying {
            let misplaced = cards.iter().find(|card| card.is_asset());
            misplaced.map_or(Ok(()), |card| Err(format!("{} does not belong there", *card)))?;
            let mut cards = cards.iter().copied();
            hidden.sections[*section].acquires = core::array::from_fn(|_| cards.next());
        }
        let (placed, _) = hidden.all_cards();
        let under = Card::all().collect::<CardSet>().difference(placed);
        hidden.assets.put_under(under.assets());
        hidden.acquires.put_under(under.acquires());
        for seat in self.retreated.iter().copied() {
            hidden.retreat(seat);
            (hidden.hands[seat], hidden.kept[seat]) = (CardSet::EMPTY, CardSet::EMPTY);
        }
        let Some((assets, acquires)) = self.decks else { return Ok(()) };
        for (deck, left) in [(&mut hidden.assets, assets), (&mut hidden.acquires, acquires)] {
            ensure(deck.len() >= left, || {
                "the decks have fewer cards than they shall have".into()
            })?;
            let all: Vec<Card> = deck.iter().collect();
            let (kept, gone) = all.split_at(usize::from(left));
            *deck = kept.iter().copied().collect();
            let pile = &mut hidden.piles[self.dealer];
            *pile = gone.iter().fold(*pile, |pile, card| pile.with(*card));
        }
        Ok(())
    }

    fn put_numbers(&self, game: &mut TongoAssets) -> Result<(), String> {
        let public = &mut game.public;
        for (seat, chips) in &self.chips {
            public.players[*seat].chips = *chips;
        }
        let all = self.rules.latinum * u32::from(self.seats);
        let held: u32 = public.players.iter().map(|player| player.chips).sum();
        public.pot = all
            .checked_sub(held)
            .ok_or_else(|| String::from("the seats have more chips than they began with"))?;
        for seat in &self.retreated {
            public.playing = public.playing.without(*seat);
        }
        if let Some((risk, purchase, sell)) = self.prices {
            (public.risk, public.purchase, public.sell) = (risk, purchase, sell);
        }
        public.rounds = self.rounds.unwrap_or_default();
        let Some((seat, assesses)) = self.turn else { return Ok(()) };
        public.phase = Phase::Open { seat };
        if assesses {
            public.rounds = self.rounds.unwrap_or(1);
            let mut opener = seat.previous(SEATS_MAX.min(self.seats));
            while !public.playing.contains(opener) {
                opener = opener.previous(self.seats);
            }
            public.opener = Some(opener);
            public.phase =
                Phase::Assess { seat, began: true, swapped: false, sold: false, revealed: None };
        }
        Ok(())
    }
}

/// Returns the order of `count` cards from the index `from` on, with the cards of `top` first.
fn build_order(top: &[Card], count: u8, from: u8) -> Result<Vec<u8>, String> {
    let mut order: Vec<u8> = Vec::new();
    for card in top {
        let index = card.index().checked_sub(from).filter(|index| *index < count);
        let index = index.ok_or(format!("{} does not belong there", *card))?;
        ensure(!order.contains(&index), || format!("{} is in two places", *card))?;
        order.push(index);
    }
    let rest: Vec<u8> = (0..count).filter(|index| !order.contains(index)).collect();
    order.extend(rest);
    Ok(order)
}

/// Recomputes the public counts from the positions of the cards.
fn recount_public(game: &mut TongoAssets) {
    let TongoAssets { public, hidden } = game;
    for seat in Seat::all(public.seats()) {
        let hand = hidden.hands[seat];
        let pile = hidden.piles[seat];
        let player = &mut public.players[seat];
        (player.assets, player.wilds) = (hand.assets().count(), hand.wilds().count());
        player.kept = hidden.kept[seat].count();
        (player.pile_assets, player.pile_acquires) =
            (pile.assets().count(), pile.acquires().count());
    }
    public.sections = hidden.sections.map(|section| section.public_section());
    (public.asset_deck, public.acquire_deck) = (hidden.assets.len(), hidden.acquires.len());
}
