//! The public state of a game and its transitions: the part that is visible to every viewer.
//!
//! The game and each viewer's view both hold a [`PublicState`] and advance it by the same
//! [`PublicState::apply`], so that a view cannot diverge from the game. The phases of a game:
//!
//! `Starter` (chance) → `Deal` (chance) → `Play` of the starter → per turn `Draw` → `Play`, from
//! `Draw` possibly to `Fight` → `Over`. A step that ends the game passes through no further phase.
//!
//! Deliberately absent: hands, the order of the stock and other seats' answers.

use alloc::boxed::Box;

use serde::{Deserialize, Serialize};

use crate::chance::Request;
use crate::game::{Prompt, Turn, Viewer, is_default};
use crate::games::tongits::event::{BySeat, EndingKind, Event, ShownHand, SpecialEnding};
use crate::games::tongits::exposed::ExposedMelds;
use crate::games::tongits::pile::Pile;
use crate::games::tongits::rules::{Additions, Rules, SEATS};
use crate::seat::{Seat, SeatSet};

/// The phase of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "snake_case")]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "TongitsPhase", tag = "type")
)]
pub enum Phase {
    /// Chance is to choose the starter (rule 2.2).
    Starter,
    /// The deck is to be shuffled (rule 2.3).
    Deal {
        starter: Seat,
    },
    /// The seat draws, chows or fights (rules 3.1 to 3.3).
    Draw {
        seat: Seat,
        /// `true` if additions to the seat's melds take its right to fight in this turn (rule 4.1).
        fight_blocked: bool,
    },
    /// The seat drops, adds, and ends its turn by dumping or Tongits (rules 3.4 to 3.7).
    Play {
        seat: Seat,
    },
    /// Seats answer a fight (rule 4.2). The phase lasts its whole countdown if some seat may have
    /// been asked because of a concealed meld, whether or not one was.
    Fight {
        fighter: Seat,
        /// The seats that are asked because they are open or have a face-down meld.
        asked: SeatSet,
        /// The seats that are asked because of a concealed meld; a viewer sees only itself here.
        asked_secretly: SeatSet,
        /// The seats that have answered; a viewer sees only itself here.
        answered: SeatSet,
    },
    Over,
}

tagged!(Phase);

/// The end of a game (rules 3.8, 4.3, 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TongitsEnd"))]
pub struct TongitsEnd {
    pub ending: EndingKind,
    pub winner: Option<Seat>,
    /// The fighter and its challengers, if anybody challenged.
    pub showdown: SeatSet,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub special: Option<SpecialEnding>,
}

/// The public state of a game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TongitsPublic"))]
pub struct PublicState {
    pub rules: Rules,
    pub phase: Phase,
    /// The number of the current prompt; see [`Prompt`].
    pub prompt: u32,
    /// The number of the running countdown; see [`Prompt`].
    pub countdown: u32,
    pub hand_counts: BySeat<u8>,
    pub stock_count: u8,
    pub discards: Pile,
    pub melds: ExposedMelds,
    /// The seats whose melds were added to since their own latest turn began (rule 4.1). Such a
    /// seat may not fight at the beginning of its next turn.
    pub added_to: SeatSet,
    /// The seats that have not acted yet, if the rules have the Spread (rule 10.3).
    #[serde(default, skip_serializing_if = "is_default")]
    pub yet_to_act: SeatSet,
    /// The seat that drew the last card of the stock (rules 5.1, 5.2).
    pub drew_last: Option<Seat>,
    /// All hands by seat, once the game has ended.
    pub shown: Option<Box<BySeat<ShownHand>>>,
    pub end: Option<TongitsEnd>,
}

impl PublicState {
    /// Returns the state before the deal.
    pub fn new(rules: &Rules, starter: Option<Seat>) -> Self {
        Self {
            rules: *rules,
            phase: starter.map_or(Phase::Starter, |starter| Phase::Deal { starter }),
            prompt: 0,
            countdown: 0,
            hand_counts: [0; SEATS as usize],
            stock_count: 0,
            discards: Pile::default(),
            melds: ExposedMelds::empty(),
            added_to: SeatSet::EMPTY,
            yet_to_act: SeatSet::EMPTY,
            drew_last: None,
            shown: None,
            end: None,
        }
    }

    /// Returns the next turn, as far as this viewer knows it; see [`Phase::Fight`].
    pub fn turn(&self) -> Turn {
        let countdowns = &self.rules.countdowns;
        let (seats, countdown_ms) = match self.phase {
            Phase::Starter => return Turn::Chance(Request::Number(u32::from(SEATS))),
            Phase::Deal { .. } => return Turn::Chance(Request::Order(self.rules.deck_count())),
            Phase::Draw { seat, .. } => (SeatSet::only(seat), countdowns.draw_ms),
            Phase::Play { seat } => (SeatSet::only(seat), countdowns.play_ms),
            Phase::Fight { asked, asked_secretly, answered, .. } => {
                (asked.union(asked_secretly).difference(answered), countdowns.fight_ms)
            }
            Phase::Over => return Turn::Over,
        };
        let Self { prompt: number, countdown, .. } = *self;
        let prompt = Prompt { number, seats, countdown, countdown_ms };
        if seats.is_empty() { Turn::Wait(prompt) } else { Turn::Players(prompt) }
    }

    /// Returns the open prompt, as far as this viewer knows it: in a fight it lists the open seats,
    /// answered or not, and the viewer. Returns `None` if there is none.
    pub fn prompt(&self) -> Option<Prompt> {
        self.turn().prompt()
    }

    /// Returns whether the answers to a fight are shown only at the end of its countdown. This is
    /// so if some seat may hold a concealed meld, which the duration of the fight must not reveal
    /// (rule 4.2).
    pub(super) fn shows_answers_late(&self) -> bool {
        let Phase::Fight { asked, .. } = self.phase else { return false };
        self.rules.secret_may_challenge && asked.len() < usize::from(SEATS) - 1
    }

    /// Returns the state without the information that the viewer may not know.
    pub(super) fn redact_for(&self, viewer: Viewer) -> Self {
        let mut redacted = self.clone();
        let visible: SeatSet = Seat::all(SEATS).filter(|seat| viewer.sees(*seat)).collect();
        if self.rules.bahay && self.shown.is_none() {
            redacted.melds.conceal_face_down(visible);
        }
        if let Phase::Fight { asked_secretly, answered, .. } = &mut redacted.phase {
            *asked_secretly = asked_secretly.intersection(visible);
            *answered = answered.intersection(visible);
        }
        redacted
    }

    /// Applies an event, complete or redacted.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::StarterChosen { seat } => self.phase = Phase::Deal { starter: *seat },
            Event::Dealt { starter, .. } => self.deal(*starter),
            Event::Drawn { seat, .. } => {
                self.record_action(*seat);
                self.hand_counts[seat.index()] += 1;
                self.stock_count -= 1;
                if self.stock_count == 0 {
                    self.drew_last = Some(*seat);
                }
                self.enter_phase(Phase::Play { seat: *seat });
            }
            Event::Chowed { seat, discard, cards } => {
                self.record_action(*seat);
                self.discards.pop();
                self.melds.lay_meld(*seat, cards.with(*discard));
                self.take_from_hand(*seat, cards.len());
                self.enter_phase(Phase::Play { seat: *seat });
            }
            Event::Dropped { seat, cards } => {
                self.record_action(*seat);
                self.melds.lay_meld(*seat, *cards);
                self.take_from_hand(*seat, cards.len());
                self.prompt += 1;
            }
            Event::LaidFaceDown { seat, cards, count } => {
                self.record_action(*seat);
                self.melds.lay_face_down(*seat, *cards, *count);
                self.take_from_hand(*seat, usize::from(*count));
                self.prompt += 1;
            }
            Event::Sagasa { meld, .. } => self.melds.mark_sagasa(*meld),
            Event::Sapawed { seat, card, meld } => {
                self.record_action(*seat);
                self.melds.add_card(*meld, *seat, *card);
                self.take_from_hand(*seat, 1);
                self.record_addition(*seat, *meld);
                self.prompt += 1;
            }
            Event::Dumped { seat, card } => {
                self.record_action(*seat);
                self.discards.push(*card);
                self.take_from_hand(*seat, 1);
                if self.hand_counts[seat.index()] > 0 && self.stock_count > 0 {
                    self.begin_turn(seat.next(SEATS));
                }
            }
            Event::Fought { seat, asked, asked_secretly } => self.enter_phase(Phase::Fight {
                fighter: *seat,
                asked: *asked,
                asked_secretly: *asked_secretly,
                answered: SeatSet::EMPTY,
            }),
            Event::Answered { seat, .. } => {
                if let Phase::Fight { answered, .. } = &mut self.phase {
                    *answered = answered.with(*seat);
                }
            }
            Event::TongitsDeclared { .. } => {}
            Event::Shown { hands } => {
                for (seat, shown) in Seat::all(SEATS).zip(hands.iter()) {
                    self.melds.reveal_face_down(seat, &shown.face_down);
                }
                self.shown = Some(hands.clone());
            }
            &Event::Over { ending, winner, showdown, special } => {
                self.phase = Phase::Over;
                self.end = Some(TongitsEnd { ending, winner, showdown, special });
            }
        }
    }

    fn deal(&mut self, starter: Seat) {
        let each = self.rules.hand_cards;
        self.hand_counts = [each; SEATS as usize];
        self.hand_counts[starter.index()] += 1;
        self.stock_count = self.rules.deck_count() - SEATS * each - 1;
        if self.rules.spread {
            self.yet_to_act = Seat::all(SEATS).collect();
        }
        self.enter_phase(Phase::Play { seat: starter });
    }

    /// Begins a turn: fixes the right to fight in this turn and restarts the record of additions
    /// (rule 4.1).
    fn begin_turn(&mut self, seat: Seat) {
        let fight_blocked = self.added_to.contains(seat);
        self.added_to = self.added_to.without(seat);
        self.enter_phase(Phase::Draw { seat, fight_blocked });
    }

    /// Records that a seat has acted, which rules out a Spread (rule 10.3).
    const fn record_action(&mut self, seat: Seat) {
        self.yet_to_act = self.yet_to_act.without(seat);
    }

    fn enter_phase(&mut self, phase: Phase) {
        self.phase = phase;
        self.prompt += 1;
        self.countdown += 1;
    }

    fn take_from_hand(&mut self, seat: Seat, cards: usize) {
        let cards = u8::try_from(cards).expect("no more cards than the deck has");
        self.hand_counts[seat.index()] -= cards;
    }

    /// Records an addition to a meld, if it counts against the owner's right to fight (rule 4.1).
    fn record_addition(&mut self, by: Seat, meld: u8) {
        let owner = self.melds.owners()[usize::from(meld)];
        let counts = match self.rules.fight_blocked_by {
            Additions::Anyone => true,
            Additions::Opponents => owner != by,
        };
        if counts {
            self.added_to = self.added_to.with(owner);
        }
    }
}
