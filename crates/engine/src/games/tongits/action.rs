//! The actions of a player, and the reasons for refusing them.

use serde::{Deserialize, Serialize};

use crate::cards::{Card, CardSet};

actions! {
    /// An action of a player. Unknown fields are rejected, since they indicate a client's mistake.
    #[derive(PartialOrd, Ord)]
    #[cfg_attr(feature = "schema", schemars(rename = "TongitsAction", deny_unknown_fields))]
    pub enum Action {
        /// Draws the top card of the stock (rule 3.1).
        Draw,
        /// Forms a new meld with the top discard from these hand cards (rule 3.2).
        Chow { cards: CardSet },
        /// Calls a fight (rule 3.3).
        Fight,
        /// Lays a meld (rule 3.4).
        Drop {
            cards: CardSet,
            /// `true` if a secret meld stays concealed, where the rules allow it.
            face_down: bool = "core::ops::Not::not",
        },
        /// Adds a card to an exposed meld (rule 3.5). The number of a meld is its position in the
        /// order in which the melds were laid.
        Sapaw { card: Card, meld: u8 },
        /// Discards a card and ends the turn (rule 3.6).
        Dump { card: Card },
        /// Declares Tongits (rule 3.7).
        Tongits,
        /// Challenges the fighter (rule 4.2).
        Challenge,
        /// Folds in a fight (rule 4.2).
        Fold,
    }
}

refusals! {
    /// The reasons for refusing an action, in the order of their checks: the first that applies is
    /// returned.
    pub enum Illegal {
        NotDealt => "not_dealt", "2.3", "the cards have not been dealt yet";
        GameOver => "game_over", "2.5", "the game is over";
        /// A fight is open, and the action is not an answer to it.
        FightOpen => "fight_open", "4.2", "a fight is going on; answer challenge or fold if asked";
        NoFight => "no_fight", "4.2", "there is no fight to answer";
        NotAsked => "not_asked", "4.2", "this seat is not asked to answer the fight";
        AlreadyAnswered => "already_answered", "4.2", "this seat has answered the fight already";
        NotYourTurn => "not_your_turn", "1.1", "it is another seat's turn";
        NotDrawPhase => "not_draw_phase", "3.1",
            "draw, chow and fight are for the beginning of a turn";
        NotPlayPhase => "not_play_phase", "3.1", "a turn begins with one of draw, chow and fight";
        NothingToChow => "nothing_to_chow", "3.2", "there is no discard to chow";
        ChowCardNotInHand => "chow_card_not_in_hand", "3.2",
            "a card to chow with is not in the hand";
        ChowTooFew => "chow_too_few", "3.2", "a chow takes two or more hand cards";
        ChowNoMeld => "chow_no_meld", "3.2", "the cards form no meld with the top discard";
        NotOpen => "not_open", "4.1", "only a seat with an exposed meld of its own may fight";
        FightBlocked => "fight_blocked", "4.1",
            "a card was added to this seat's melds since its previous turn began";
        /// The rules do not allow melds face down.
        FaceDownOff => "face_down_off", "3.4", "at this table no meld is laid face down";
        DropCardNotInHand => "drop_card_not_in_hand", "3.4", "a card to drop is not in the hand";
        DropNoMeld => "drop_no_meld", "3.4", "the cards to drop are not a meld";
        DropNoSecret => "drop_no_secret", "3.4", "only a secret meld may be laid face down";
        SapawCardNotInHand => "sapaw_card_not_in_hand", "3.5", "the card to add is not in the hand";
        NoSuchMeld => "no_such_meld", "3.5", "there is no exposed meld of this number";
        MeldFaceDown => "meld_face_down", "3.4", "a meld that lies face down takes no cards";
        SapawNoMeld => "sapaw_no_meld", "3.5", "with this card the exposed meld would be none";
        DumpCardNotInHand => "dump_card_not_in_hand", "3.6", "the card to dump is not in the hand";
        JokerDumped => "joker_dumped", "11.1", "a joker is never dumped";
        CardAddable => "card_addable", "3.6",
            "a card that could be added to an exposed meld may not be dumped";
        /// Tongits in the draw phase is a Spread, which is only possible as the first action.
        NotFirstAction => "not_first_action", "10.3",
            "before drawing Tongits is declared as the very first action or not at all";
        CardsLeftOver => "cards_left_over", "3.7",
            "Tongits takes a hand that melds leave no card of";
    }
}

#[cfg(test)]
mod tests {
    use super::Action;

    #[test]
    fn actions_round_trip_through_json() {
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
    fn invalid_actions_are_rejected() {
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
}
