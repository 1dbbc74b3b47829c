//! What a player may do, and why the rules refuse it.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::cards::{Card, CardSet};
use crate::game::Refusal;

/// An action of a player. Unknown fields are refused: they are a client's mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", from = "Wire")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongitsAction", deny_unknown_fields))]
pub enum Action {
    /// Rule 3.1.
    Draw,
    /// Rule 3.2: the hand cards that form a new meld with the top discard.
    Chow { cards: CardSet },
    /// Rule 3.3.
    Fight,
    /// Rule 3.4.
    Drop {
        cards: CardSet,
        /// A secret meld that stays concealed, where the rules allow it.
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        face_down: bool,
    },
    /// Rule 3.5: the number of a meld is its place in the order in which they were laid.
    Sapaw { card: Card, meld: u8 },
    /// Rule 3.6.
    Dump { card: Card },
    /// Rule 3.7.
    Tongits,
    /// Rule 4.2.
    Challenge,
    /// Rule 4.2.
    Fold,
}

/// An action as read. Its variants all have fields, if none, because only then does the reader
/// refuse a field too many.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
enum Wire {
    Draw {},
    Chow {
        cards: CardSet,
    },
    Fight {},
    Drop {
        cards: CardSet,
        #[serde(default)]
        face_down: bool,
    },
    Sapaw {
        card: Card,
        meld: u8,
    },
    Dump {
        card: Card,
    },
    Tongits {},
    Challenge {},
    Fold {},
}

impl From<Wire> for Action {
    fn from(wire: Wire) -> Self {
        match wire {
            Wire::Draw {} => Self::Draw,
            Wire::Chow { cards } => Self::Chow { cards },
            Wire::Fight {} => Self::Fight,
            Wire::Drop { cards, face_down } => Self::Drop { cards, face_down },
            Wire::Sapaw { card, meld } => Self::Sapaw { card, meld },
            Wire::Dump { card } => Self::Dump { card },
            Wire::Tongits {} => Self::Tongits,
            Wire::Challenge {} => Self::Challenge,
            Wire::Fold {} => Self::Fold,
        }
    }
}

/// Why an action is refused, in the order in which the reasons are looked for: the first that
/// holds is the one given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Illegal {
    NotDealt,
    GameOver,
    /// A fight waits for answers, and this is none.
    FightOpen,
    NoFight,
    NotAsked,
    AlreadyAnswered,
    NotYourTurn,
    NotDrawPhase,
    NotPlayPhase,
    NothingToChow,
    ChowCardNotInHand,
    ChowTooFew,
    ChowNoMeld,
    NotOpen,
    FightBlocked,
    /// The rules know no melds face down.
    FaceDownOff,
    DropCardNotInHand,
    DropNoMeld,
    DropNoSecret,
    SapawCardNotInHand,
    NoSuchMeld,
    MeldFaceDown,
    SapawNoMeld,
    DumpCardNotInHand,
    JokerDumped,
    CardAddable,
    /// Tongits in the draw phase is a Spread, and for that it is too late.
    NotFirstAction,
    CardsLeftOver,
}

impl Illegal {
    /// Every reason, in order of precedence.
    pub const ALL: [Self; 28] = [
        Self::NotDealt,
        Self::GameOver,
        Self::FightOpen,
        Self::NoFight,
        Self::NotAsked,
        Self::AlreadyAnswered,
        Self::NotYourTurn,
        Self::NotDrawPhase,
        Self::NotPlayPhase,
        Self::NothingToChow,
        Self::ChowCardNotInHand,
        Self::ChowTooFew,
        Self::ChowNoMeld,
        Self::NotOpen,
        Self::FightBlocked,
        Self::FaceDownOff,
        Self::DropCardNotInHand,
        Self::DropNoMeld,
        Self::DropNoSecret,
        Self::SapawCardNotInHand,
        Self::NoSuchMeld,
        Self::MeldFaceDown,
        Self::SapawNoMeld,
        Self::DumpCardNotInHand,
        Self::JokerDumped,
        Self::CardAddable,
        Self::NotFirstAction,
        Self::CardsLeftOver,
    ];

    /// Code, rule and sentence in one place, so that none is forgotten.
    const fn page(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::NotDealt => ("not_dealt", "2.3", "the cards are not dealt yet"),
            Self::GameOver => ("game_over", "2.5", "the game is over"),
            Self::FightOpen => {
                ("fight_open", "4.2", "a fight is going on; answer challenge or fold if asked")
            }
            Self::NoFight => ("no_fight", "4.2", "there is no fight to answer"),
            Self::NotAsked => ("not_asked", "4.2", "this seat is not asked to answer the fight"),
            Self::AlreadyAnswered => {
                ("already_answered", "4.2", "this seat has answered the fight already")
            }
            Self::NotYourTurn => ("not_your_turn", "1.1", "it is another seat's turn"),
            Self::NotDrawPhase => {
                ("not_draw_phase", "3.1", "draw, chow and fight are for the beginning of a turn")
            }
            Self::NotPlayPhase => {
                ("not_play_phase", "3.1", "a turn begins with one of draw, chow and fight")
            }
            Self::NothingToChow => ("nothing_to_chow", "3.2", "there is no discard to chow"),
            Self::ChowCardNotInHand => {
                ("chow_card_not_in_hand", "3.2", "a card to chow with is not in the hand")
            }
            Self::ChowTooFew => ("chow_too_few", "3.2", "a chow takes two or more hand cards"),
            Self::ChowNoMeld => {
                ("chow_no_meld", "3.2", "the cards form no meld with the top discard")
            }
            Self::NotOpen => {
                ("not_open", "4.1", "only a seat with an exposed meld of its own may fight")
            }
            Self::FightBlocked => (
                "fight_blocked",
                "4.1",
                "a card was added to this seat's melds since its previous turn began",
            ),
            Self::FaceDownOff => {
                ("face_down_off", "3.4", "at this table no meld is laid face down")
            }
            Self::DropCardNotInHand => {
                ("drop_card_not_in_hand", "3.4", "a card to drop is not in the hand")
            }
            Self::DropNoMeld => ("drop_no_meld", "3.4", "the cards to drop are not a meld"),
            Self::DropNoSecret => {
                ("drop_no_secret", "3.4", "only a secret meld may be laid face down")
            }
            Self::SapawCardNotInHand => {
                ("sapaw_card_not_in_hand", "3.5", "the card to add is not in the hand")
            }
            Self::NoSuchMeld => ("no_such_meld", "3.5", "there is no exposed meld of this number"),
            Self::MeldFaceDown => {
                ("meld_face_down", "3.4", "a meld that lies face down takes no cards")
            }
            Self::SapawNoMeld => {
                ("sapaw_no_meld", "3.5", "with this card the exposed meld would be none")
            }
            Self::DumpCardNotInHand => {
                ("dump_card_not_in_hand", "3.6", "the card to dump is not in the hand")
            }
            Self::JokerDumped => ("joker_dumped", "11.1", "a joker is never dumped"),
            Self::CardAddable => (
                "card_addable",
                "3.6",
                "a card that could be added to an exposed meld may not be dumped",
            ),
            Self::NotFirstAction => (
                "not_first_action",
                "10.3",
                "before drawing Tongits is declared as the very first action or not at all",
            ),
            Self::CardsLeftOver => {
                ("cards_left_over", "3.7", "Tongits takes a hand that melds leave no card of")
            }
        }
    }
}

impl Refusal for Illegal {
    fn code(self) -> &'static str {
        self.page().0
    }

    fn rule(self) -> &'static str {
        self.page().1
    }
}

impl fmt::Display for Illegal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.page().2)
    }
}

impl core::error::Error for Illegal {}

#[cfg(test)]
mod tests {
    use super::{Action, Illegal};
    use crate::game::Refusal;
    use alloc::collections::BTreeSet;
    use alloc::string::ToString;

    #[test]
    fn actions_read_as_they_are_written() {
        for json in [
            r#"{"type":"draw"}"#,
            r#"{"type":"chow","cards":["7H","8H"]}"#,
            r#"{"type":"fight"}"#,
            r#"{"type":"drop","cards":["7H","8H","9H"]}"#,
            r#"{"type":"drop","cards":["7C","7D","7H","7S"],"face_down":true}"#,
            r#"{"type":"drop","cards":["7C","7D","X1"]}"#,
            r#"{"type":"sapaw","card":"TH","meld":2}"#,
            r#"{"type":"dump","card":"KS"}"#,
            r#"{"type":"tongits"}"#,
            r#"{"type":"challenge"}"#,
            r#"{"type":"fold"}"#,
        ] {
            let action: Action = serde_json::from_str(json).unwrap();
            assert_eq!(serde_json::to_string(&action).unwrap(), json);
        }
    }

    #[test]
    fn what_is_no_action_is_refused() {
        for json in [
            r#"{"type":"draw","card":"KS"}"#,
            r#"{"type":"dump","card":"KS","why":1}"#,
            r#"{"type":"drop","cards":["7H","7H","9H"]}"#,
            r#"{"type":"dump","card":"KS","face_down":true}"#,
            r#"{"type":"drop","cards":["7H","8H","9H"],"face_down":1}"#,
            r#"{"type":"dump"}"#,
            r#"{"type":"sapaw","card":"TH","meld":-1}"#,
            r#"{"type":"Draw"}"#,
            r#"{"card":"KS"}"#,
            r#""draw""#,
        ] {
            assert!(serde_json::from_str::<Action>(json).is_err(), "{json}");
        }
    }

    #[test]
    fn every_refusal_has_a_code_of_its_own_a_rule_and_a_sentence() {
        let codes: BTreeSet<_> = Illegal::ALL.iter().map(|illegal| illegal.code()).collect();
        assert_eq!(codes.len(), Illegal::ALL.len());
        assert!(Illegal::ALL.is_sorted(), "listed in order of precedence");
        for illegal in Illegal::ALL {
            let code = illegal.code();
            assert!(code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{code}");
            assert!(illegal.rule().split_once('.').is_some(), "{code}");
            assert!(illegal.to_string().len() > 10, "{code}");
        }
    }
}
