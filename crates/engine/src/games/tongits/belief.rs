//! Which cards others are likely to hold, after all that a seat was shown of the game.
//!
//! Every way in which the unseen cards can lie is as likely as another before anybody has played.
//! What the others did makes some of them likelier: who dumped a king held no two more; for whom the
//! table drew could chow nothing (rule 3.1). How likely somebody with certain cards does what it
//! did is told by [`Habits`], those of a greedy player or of a quick one; which of them each of the
//! others is belongs to a way to lie too. A [`Chain`] goes from one to the next by small changes, so
//! that it comes to each as often as that is likely (Metropolis).
//!
//! A hand was another one when somebody played: cards were drawn since. So which card came by which
//! draw belongs to a way to lie.
//!
//! Deliberately absent: rule sets with jokers or melds face down, and answers to fights.

use alloc::vec::Vec;

use crate::cards::{Card, CardSet};
use crate::chance::Dice;
use crate::game::Skill;
use crate::games::tongits::arrange::deadwood;
use crate::games::tongits::event::{BySeat, Event};
use crate::games::tongits::habits::{
    Habits, NEVER, Neighbours, ONE, deadwood_step, gain_step, stage, times_in_65_536,
};
use crate::games::tongits::habits_counted::{GREEDY, QUICK};
use crate::games::tongits::meld::{can_chow, has_secret};
use crate::games::tongits::phase::{Phase, Public};
use crate::games::tongits::pile::Pile;
use crate::games::tongits::rules::SEATS;
use crate::games::tongits::view::View;
use crate::seat::{Seat, SeatSet};

/// Changes that are tried before the first way to lie is taken, and between one and the next. Most
/// are not made.
const CHANGES_TO_SETTLE: u32 = 500;
const CHANGES_BETWEEN: u32 = 20;

/// The bots of a room play at one grade: so much likelier, in natural logarithms, are both of the
/// others of one kind.
const OF_ONE_KIND: i32 = 2 * ONE;

/// What a seat did, as all see it.
#[derive(Clone, Copy, Debug)]
enum Beat {
    /// The turn began, with this discard to chow.
    Began {
        discard: Option<Card>,
        may_fight: bool,
        is_open: bool,
        others_open: usize,
        stock: u8,
        did: Did,
    },
    /// A card came to the hand.
    Drew,
    /// Cards left it for the table.
    Laid(CardSet),
    Dumped {
        card: Card,
        on_table: CardSet,
        is_open: bool,
        has_laid: bool,
        seen: CardSet,
        stock: u8,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Did {
    /// It could do nothing else.
    DrewByTable,
    Drew,
    Chowed,
    Fought,
}

/// What each seat did, the latest last.
#[derive(Clone, Debug)]
struct Story {
    beats: BySeat<Vec<Beat>>,
    secret_run_min: u8,
}

impl Story {
    /// From what a seat heard; `None` when it did not hear everything.
    fn of(view: &View, heard: &[Event]) -> Option<Self> {
        let rules = &view.public.rules;
        let from_the_deal =
            matches!(heard.first(), Some(Event::StarterChosen { .. } | Event::Dealt { .. }));
        if rules.jokers || rules.bahay || !from_the_deal {
            return None;
        }
        let mut public = Public::new(rules, None);
        let mut beats = [const { Vec::new() }; SEATS as usize];
        let mut has_laid = false;
        for event in heard {
            let began = |seat: Seat, did: Did| {
                let Phase::Draw { fight_blocked, .. } = public.phase else { return None };
                let is_open = public.melds.is_open(seat);
                let open = seat.others(SEATS).filter(|other| public.melds.is_open(*other));
                Some(Beat::Began {
                    discard: public.discards.top(),
                    may_fight: is_open && !fight_blocked,
                    is_open,
                    others_open: open.count(),
                    stock: public.stock_count,
                    did,
                })
            };
            match event {
                Event::Drawn { seat, auto, .. } => {
                    has_laid = false;
                    let did = if *auto { Did::DrewByTable } else { Did::Drew };
                    beats[seat.index()].extend(began(*seat, did));
                    beats[seat.index()].push(Beat::Drew);
                }
                Event::Chowed { seat, cards, .. } => {
                    has_laid = true;
                    beats[seat.index()].extend(began(*seat, Did::Chowed));
                    beats[seat.index()].push(Beat::Laid(*cards));
                }
                Event::Fought { seat, .. } => {
                    beats[seat.index()].extend(began(*seat, Did::Fought));
                }
                Event::Dropped { seat, cards } => {
                    has_laid = true;
                    beats[seat.index()].push(Beat::Laid(*cards));
                }
                Event::Sapawed { seat, card, .. } => {
                    beats[seat.index()].push(Beat::Laid(CardSet::only(*card)));
                }
                Event::Dumped { seat, card } => beats[seat.index()].push(Beat::Dumped {
                    card: *card,
                    on_table: public.melds.additions(),
                    is_open: public.melds.is_open(*seat),
                    has_laid,
                    seen: public
                        .melds
                        .cards()
                        .union(public.discards.cards().iter().copied().collect()),
                    stock: public.stock_count,
                }),
                Event::StarterChosen { .. }
                | Event::Dealt { .. }
                | Event::LaidFaceDown { .. }
                | Event::Sagasa { .. }
                | Event::TongitsDeclared { .. }
                | Event::Answered { .. }
                | Event::Shown { .. }
                | Event::Over { .. } => {}
            }
            if matches!(event, Event::Dumped { .. }) {
                has_laid = false;
            }
            public.apply(event);
        }
        // Who has missed something knows nothing for sure.
        (public == view.public).then_some(Self { beats, secret_run_min: rules.secret_run_min })
    }

    /// The discard that a seat could take when its latest turn began, if it did this.
    #[cfg(test)]
    fn latest_turn(&self, seat: Seat, what: Did) -> Option<Card> {
        let began = self.beats[seat.index()].iter().rev().find_map(|beat| match beat {
            Beat::Began { discard, did, .. } => Some((*discard, *did)),
            Beat::Drew | Beat::Laid(_) | Beat::Dumped { .. } => None,
        });
        began.filter(|(_, did)| *did == what)?.0
    }

    /// The draws of a seat, from the first on.
    fn draws(&self, seat: Seat) -> usize {
        self.beats[seat.index()].iter().filter(|beat| matches!(beat, Beat::Drew)).count()
    }

    /// The logarithm of how likely a seat with these cards and habits did what it did.
    fn likelihood(&self, seat: Seat, habits: &Habits, hand: CardSet, drawn: &[Card]) -> i32 {
        let mut hand = hand;
        let mut drawn = drawn.iter().rev();
        let mut sum = 0;
        for beat in self.beats[seat.index()].iter().rev() {
            match *beat {
                Beat::Laid(cards) => hand = hand.union(cards),
                Beat::Drew => {
                    hand = drawn.next().map_or(hand, |card| hand.without(*card));
                }
                Beat::Dumped { card, on_table, is_open, has_laid, seen, stock } => {
                    let left = hand;
                    hand = hand.with(card);
                    let may_be = hand.difference(on_table);
                    let neighbours = Neighbours::of(hand, seen, stock, is_open);
                    sum += habits.dumps(&neighbours, may_be, card);
                    if !has_laid && neighbours.has_meld_without(card) {
                        let secret = has_secret(left, self.secret_run_min);
                        let keeps = &habits.keeps_meld[stage(stock)][usize::from(is_open)];
                        sum += keeps[usize::from(secret)];
                    }
                    let kept = left.intersection(on_table).len();
                    sum += habits.keeps_addable * i32::try_from(kept).unwrap_or(0);
                }
                Beat::Began { discard, may_fight, is_open, others_open, stock, did } => {
                    let can = discard.filter(|discard| can_chow(hand, *discard));
                    match (did, can) {
                        (Did::DrewByTable, Some(_)) => sum += NEVER,
                        (Did::Drew, Some(discard)) => {
                            sum += habits.declines[usize::from(is_open)][gain_step(hand, discard)];
                        }
                        (Did::Chowed, Some(discard)) => {
                            sum += habits.chows[usize::from(is_open)][gain_step(hand, discard)];
                        }
                        (Did::Drew, None) if !may_fight => sum += NEVER,
                        (Did::DrewByTable | Did::Drew | Did::Chowed | Did::Fought, _) => {}
                    }
                    if may_fight {
                        let step = deadwood_step(deadwood(hand));
                        let fought = did == Did::Fought;
                        let chances = if fought { &habits.fights } else { &habits.waits };
                        sum += chances[stage(stock)][others_open][step];
                    }
                }
            }
        }
        sum
    }
}

/// A way in which the unseen cards can lie.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    story: Story,
    /// The other two.
    others: [Seat; 2],
    hands: [CardSet; 2],
    /// What came by each draw.
    drawn: [Vec<Card>; 2],
    /// What a draw may have brought and is no longer in the hand: by draw.
    gone: [Vec<CardSet>; 2],
    stock: Vec<Card>,
    /// What they are taken for.
    skills: [Skill; 2],
    likelihood: [i32; 2],
}

impl Chain {
    pub(super) fn new(view: &View, heard: &[Event], dice: &mut Dice) -> Option<Self> {
        let (viewer, own) = (view.viewer?, view.hand()?);
        let story = Story::of(view, heard)?;
        let public = &view.public;
        let discards: CardSet = public.discards.cards().iter().copied().collect();
        let seen = own.union(discards).union(public.melds.cards());
        let mut unseen: Vec<Card> = public.rules.deck().difference(seen).iter().collect();
        shuffle(&mut unseen, dice);
        let others = [viewer.next(SEATS), viewer.previous(SEATS)];
        let hands = others.map(|other| {
            let count = usize::from(public.hand_counts[other.index()]);
            unseen.drain(..count).collect::<CardSet>()
        });
        let gone = others.map(|other| gone(&story.beats[other.index()]));
        let mut drawn = [const { Vec::new() }; 2];
        for place in 0..2 {
            let mut taken = CardSet::EMPTY;
            // Who has few cards left to choose from chooses first: the latest draw.
            let mut chosen = Vec::new();
            for draw in (0..story.draws(others[place])).rev() {
                let may_be = hands[place].union(gone[place][draw]).difference(taken);
                let card = any_of(may_be, dice)?;
                taken = taken.with(card);
                chosen.push(card);
            }
            chosen.reverse();
            drawn[place] = chosen;
        }
        let mut chain = Self {
            story,
            others,
            hands,
            drawn,
            gone,
            stock: unseen,
            skills: [Skill::Quick; 2],
            likelihood: [0; 2],
        };
        chain.likelihood = [0, 1].map(|place| chain.likelihood_of(place));
        Some(chain)
    }

    fn likelihood_of(&self, place: usize) -> i32 {
        let habits = match self.skills[place] {
            Skill::Greedy => &GREEDY,
            Skill::Quick => &QUICK,
        };
        self.story.likelihood(self.others[place], habits, self.hands[place], &self.drawn[place])
    }

    /// Who is taken for a quick player.
    pub(super) fn quick(&self) -> SeatSet {
        let skills = self.others.iter().zip(self.skills);
        skills.filter(|(_, skill)| *skill == Skill::Quick).map(|(seat, _)| *seat).collect()
    }

    /// Forgets where it began.
    pub(super) fn settle(&mut self, dice: &mut Dice) {
        self.change(CHANGES_TO_SETTLE, dice);
    }

    /// Goes on to the next way to lie: the hands by seat with the own one, and the stock.
    pub(super) fn next(
        &mut self,
        viewer: Seat,
        own: CardSet,
        dice: &mut Dice,
    ) -> (BySeat<CardSet>, Pile) {
        self.change(CHANGES_BETWEEN, dice);
        let mut hands = [CardSet::EMPTY; SEATS as usize];
        for (seat, hand) in self.others.iter().zip(self.hands) {
            hands[seat.index()] = hand;
        }
        hands[viewer.index()] = own;
        // Nothing tells one order of the stock from another.
        shuffle(&mut self.stock, dice);
        (hands, self.stock.iter().copied().collect())
    }

    fn change(&mut self, times: u32, dice: &mut Dice) {
        for _ in 0..times {
            match dice.below(17) {
                0..4 => self.draw_another(dice),
                4..8 => self.change_hands(dice),
                8..12 => self.change_with_stock(0, dice),
                12..16 => self.change_with_stock(1, dice),
                _ => self.change_skills(dice),
            }
        }
    }

    /// One of the others, or both, are taken for another player.
    fn change_skills(&mut self, dice: &mut Dice) {
        let before = (self.skills, self.likelihood, self.weight());
        let changed: &[usize] = match dice.below(3) {
            0 => &[0],
            1 => &[1],
            _ => &[0, 1],
        };
        for place in changed.iter().copied() {
            self.skills[place] = match self.skills[place] {
                Skill::Greedy => Skill::Quick,
                Skill::Quick => Skill::Greedy,
            };
            self.likelihood[place] = self.likelihood_of(place);
        }
        if !is_taken(self.weight() - before.2, dice) {
            (self.skills, self.likelihood) = (before.0, before.1);
        }
    }

    /// The logarithm of how likely this way is, beside others.
    fn weight(&self) -> i32 {
        let of_one_kind = if self.skills[0] == self.skills[1] { OF_ONE_KIND } else { 0 };
        of_one_kind + self.likelihood[0] + self.likelihood[1]
    }

    fn change_with_stock(&mut self, place: usize, dice: &mut Dice) {
        if self.stock.is_empty() {
            return self.change_hands(dice);
        }
        let Some(card) = any_of(self.hands[place], dice) else { return };
        let at = dice.below(self.stock.len());
        let other = self.stock[at];
        self.replace(place, card, other);
        let likelihood = self.likelihood_of(place);
        if is_taken(likelihood - self.likelihood[place], dice) {
            self.likelihood[place] = likelihood;
            self.stock[at] = card;
        } else {
            self.replace(place, other, card);
        }
    }

    fn change_hands(&mut self, dice: &mut Dice) {
        let (Some(one), Some(other)) = (any_of(self.hands[0], dice), any_of(self.hands[1], dice))
        else {
            return;
        };
        self.replace(0, one, other);
        self.replace(1, other, one);
        let likelihood = [0, 1].map(|place| self.likelihood_of(place));
        let more = likelihood[0] + likelihood[1] - self.likelihood[0] - self.likelihood[1];
        if is_taken(more, dice) {
            self.likelihood = likelihood;
        } else {
            self.replace(0, other, one);
            self.replace(1, one, other);
        }
    }

    /// Another card came by some draw.
    fn draw_another(&mut self, dice: &mut Dice) {
        let place = dice.below(2);
        let draws = self.drawn[place].len();
        if draws == 0 {
            return;
        }
        let draw = dice.below(draws);
        let may_be = self.hands[place].union(self.gone[place][draw]);
        let (old, Some(new)) = (self.drawn[place][draw], any_of(may_be, dice)) else { return };
        let other = self.drawn[place].iter().position(|card| *card == new);
        if let Some(other) = other {
            if !self.hands[place].union(self.gone[place][other]).contains(old) {
                return;
            }
            self.drawn[place][other] = old;
        }
        self.drawn[place][draw] = new;
        let likelihood = self.likelihood_of(place);
        if is_taken(likelihood - self.likelihood[place], dice) {
            self.likelihood[place] = likelihood;
        } else {
            self.drawn[place][draw] = old;
            if let Some(other) = other {
                self.drawn[place][other] = new;
            }
        }
    }

    fn replace(&mut self, place: usize, card: Card, by: Card) {
        self.hands[place] = self.hands[place].without(card).with(by);
        if let Some(drawn) = self.drawn[place].iter_mut().find(|drawn| **drawn == card) {
            *drawn = by;
        }
    }
}

/// By draw: the cards that left the hand after it.
fn gone(beats: &[Beat]) -> Vec<CardSet> {
    let (mut sum, mut gone) = (CardSet::EMPTY, Vec::new());
    for beat in beats.iter().rev() {
        match *beat {
            Beat::Laid(cards) => sum = sum.union(cards),
            Beat::Dumped { card, .. } => sum = sum.with(card),
            Beat::Drew => gone.push(sum),
            Beat::Began { .. } => {}
        }
    }
    gone.reverse();
    gone
}

fn any_of(cards: CardSet, dice: &mut Dice) -> Option<Card> {
    cards.iter().nth(dice.below(cards.len().max(1)))
}

fn shuffle(cards: &mut [Card], dice: &mut Dice) {
    for last in (1..cards.len()).rev() {
        cards.swap(last, dice.below(last + 1));
    }
}

/// Metropolis: what is likelier always, else as often as it is as likely.
fn is_taken(more: i32, dice: &mut Dice) -> bool {
    more >= 0 || (dice.below(1 << 16) as u64) < times_in_65_536(more)
}

#[cfg(test)]
mod tests {
    use super::{Chain, Did, Story};
    use crate::chance::Dice;
    use crate::game::{Game, Imagined, Turn, Viewer};
    use crate::games::tongits::event::Event;
    use crate::games::tongits::imagine;
    use crate::games::tongits::meld::can_chow;
    use crate::games::tongits::rules::{Rules, SEATS};
    use crate::games::tongits::state::Tongits;
    use crate::games::tongits::view::View;
    use crate::seat::Seat;
    use alloc::vec::Vec;

    /// Each question of a game between greedy players, with what the seat was shown until then.
    fn questions(number: u8) -> Vec<(Tongits, View, Vec<Event>)> {
        let mut chance = Dice::numbered(number);
        let mut game = Tongits::new(&Rules::kingdom(), SEATS, None);
        let (mut events, mut questions) = (Vec::new(), Vec::new());
        loop {
            game = match game.turn() {
                Turn::Over => return questions,
                Turn::Chance(request) => game.resolve(&chance.draw(request), &mut events),
                Turn::Wait(_) => game.expire(&mut events),
                Turn::Players(prompt) => {
                    let seat = prompt.seats.iter().next().unwrap();
                    let view = game.view(Viewer::Seat(seat));
                    let shown = |event| Tongits::redact(event, Viewer::Seat(seat));
                    let heard: Vec<Event> = events.iter().filter_map(shown).collect();
                    let action = Tongits::advise(&view).unwrap();
                    questions.push((game.clone(), view, heard));
                    game.act(seat, &action, &mut events).unwrap()
                }
            };
        }
    }

    #[test]
    fn every_game_believed_in_is_one_that_the_seat_could_be_playing() {
        let mut dice = Dice::numbered(1);
        for number in 0..6 {
            for (game, view, heard) in questions(number) {
                assert!(Chain::new(&view, &heard, &mut dice).is_some(), "all was heard");
                for believed in imagine::likely(&view, &heard, 3, &mut dice) {
                    assert_eq!(believed.game.view(Viewer::Seat(view.viewer.unwrap())), view);
                    assert_eq!(believed.game.stock.len(), game.stock.len());
                }
            }
        }
    }

    #[test]
    fn who_has_not_heard_everything_believes_nothing() {
        let mut dice = Dice::numbered(1);
        let (_, view, heard) = questions(1).pop().unwrap();
        assert!(Chain::new(&view, &[], &mut dice).is_none());
        assert!(Chain::new(&view, &heard[2..], &mut dice).is_none());
        assert!(Chain::new(&view, &heard[..heard.len() - 1], &mut dice).is_none());
    }

    /// What comes true is believed in more than what is drawn without knowledge: of the cards of
    /// others that are dumped or kept, more lie where they are.
    #[test]
    fn what_is_believed_is_nearer_to_the_truth_than_what_is_drawn() {
        let mut dice = Dice::numbered(2);
        let (mut believed, mut drawn) = (0, 0);
        for number in 0..12 {
            for (game, view, heard) in questions(number) {
                let own = view.viewer.unwrap();
                let right = |imagined: &Imagined<Tongits>| -> usize {
                    let others = own.others(SEATS).map(Seat::index);
                    others
                        .map(|other| {
                            game.hands[other].intersection(imagined.game.hands[other]).len()
                        })
                        .sum()
                };
                believed +=
                    imagine::likely(&view, &heard, 4, &mut dice).iter().map(right).sum::<usize>();
                drawn += imagine::likely(&view, &[], 4, &mut dice).iter().map(right).sum::<usize>();
            }
        }
        assert!(believed * 10 > drawn * 11, "{believed} and {drawn}");
    }

    /// The table draws for who can do nothing else (rule 3.1).
    #[test]
    fn for_whom_the_table_drew_could_not_chow() {
        let mut dice = Dice::numbered(3);
        let (mut could, mut told) = (0, 0);
        for number in 0..12 {
            for (_, view, heard) in questions(number) {
                let own = view.viewer.unwrap();
                // The latest turn before one's own: the hand has changed by a draw and a dump.
                let other = own.previous(SEATS);
                let story = Story::of(&view, &heard).unwrap();
                let Some(discard) = story.latest_turn(other, Did::DrewByTable) else { continue };
                for believed in imagine::likely(&view, &heard, 8, &mut dice) {
                    told += 1;
                    could += usize::from(can_chow(believed.game.hands[other.index()], discard));
                }
            }
        }
        assert!(told > 500 && could * 8 < told, "{could} of {told}");
    }
}
