//! What a player may be shown: the own hand and what lies open, and no seed before its game is over.
//! Looked for in what came over the wire itself, so that a field nobody reads hides nothing.
//!
//! Deliberately absent: what only the server's state can tell, such as whether a view is the true
//! one. The chaos suite and the simulated house hold views against that.

use std::fmt;

use bahay_engine::cards::{Card, CardSet};
use bahay_engine::game::Viewer;
use bahay_engine::games::tongits::Event as GameEvent;
use bahay_engine::table::{Event, GameId, PhaseView, TableView};

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::client::Said;
use crate::tables::catalog::Tongits;
use crate::ws::protocol::Message;

/// The word under which a deal's secret would come.
const SECRET: &str = "server_seed";

/// What one player has rightly seen of the present game.
#[derive(Debug, Default)]
pub(super) struct Seen {
    game: Option<GameId>,
    cards: CardSet,
}

impl Seen {
    /// Checks what came against what its reader may know, after it was taken into the view.
    pub(super) fn check(
        &mut self,
        said: &Said,
        message: &Message<Tongits>,
        view: Option<&TableView<Tongits>>,
    ) -> Result<(), String> {
        let named = named(said).map_err(|error| format!("{error} in {said:?}"))?;
        if matches!(message, Message::Ack { .. } | Message::Hello { .. }) {
            return if named.is_empty() { Ok(()) } else { Err(format!("{named} in {said:?}")) };
        }
        let events: &[_] = match message {
            Message::Update { events, .. } => events,
            _ => &[],
        };
        let is_over = events.iter().any(|event| matches!(event, Event::Over { .. }));
        if !is_over && has_secret(said) {
            return Err(format!("the secret of a deal that is not over: {said:?}"));
        }
        let Some(view) = view else {
            return Ok(());
        };
        let may_see = self.may_see(view, is_over);
        let hidden = named.difference(may_see);
        if !hidden.is_empty() {
            return Err(format!("{hidden} to one who may see {may_see}: {said:?}"));
        }
        own_only(events, view.viewer())
    }

    fn may_see(&mut self, view: &TableView<Tongits>, is_over: bool) -> CardSet {
        let (game, game_view) = match &view.phase {
            _ if is_over => return CardSet::ALL,
            PhaseView::Settling { .. } => return CardSet::ALL,
            PhaseView::Waiting | PhaseView::Preparing { .. } | PhaseView::Opening { .. } => {
                return CardSet::EMPTY;
            }
            PhaseView::Playing { game, view, .. } => (*game, view),
        };
        if self.game != Some(game) {
            *self = Self { game: Some(game), cards: CardSet::EMPTY };
        }
        let public = &game_view.public;
        let discards: CardSet = public.discards.cards().iter().copied().collect();
        let open = discards.union(public.melds.cards());
        self.cards = self.cards.union(open).union(game_view.hand().unwrap_or_default());
        self.cards
    }
}

fn has_secret(said: &Said) -> bool {
    match said {
        Said::Text(text) => text.contains(SECRET),
        Said::Bytes(bytes) => bytes.windows(SECRET.len()).any(|word| word == SECRET.as_bytes()),
    }
}

/// What others do in secret: their answers to a fight.
fn own_only(events: &[Event<GameEvent>], viewer: Viewer) -> Result<(), String> {
    for event in events {
        let Event::Game { event } = event else { continue };
        let is_hidden = match event {
            GameEvent::Answered { seat, .. } => viewer != Viewer::Seat(*seat),
            GameEvent::Dealt { stock, .. } => stock.is_some(),
            GameEvent::Drawn { seat, card, .. } => card.is_some() && viewer != Viewer::Seat(*seat),
            GameEvent::Fought { asked_secretly, .. } => {
                asked_secretly.iter().any(|seat| viewer != Viewer::Seat(seat))
            }
            _ => false,
        };
        if is_hidden {
            return Err(format!("{event:?} is not for {viewer:?}"));
        }
    }
    Ok(())
}

/// Every card that is named, as a string of its own.
fn named(said: &Said) -> Result<CardSet, String> {
    match said {
        Said::Text(text) => Ok(named_in_text(text)),
        Said::Bytes(bytes) => {
            let Named(cards) = rmp_serde::from_slice(bytes).map_err(|error| error.to_string())?;
            Ok(cards)
        }
    }
}

fn named_in_text(text: &str) -> CardSet {
    let bytes = text.as_bytes();
    let mut cards = CardSet::EMPTY;
    for (at, four) in bytes.windows(4).enumerate() {
        if four[0] == b'"'
            && four[3] == b'"'
            && let Some(Ok(card)) = text.get(at + 1..at + 3).map(str::parse::<Card>)
        {
            cards = cards.with(card);
        }
    }
    cards
}

/// The cards among all strings of a document, wherever they stand.
struct Named(CardSet);

impl<'de> Deserialize<'de> for Named {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Anything;

        impl<'de> Visitor<'de> for Anything {
            type Value = CardSet;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }

            fn visit_bool<E>(self, _: bool) -> Result<CardSet, E> {
                Ok(CardSet::EMPTY)
            }

            fn visit_i64<E>(self, _: i64) -> Result<CardSet, E> {
                Ok(CardSet::EMPTY)
            }

            fn visit_u64<E>(self, _: u64) -> Result<CardSet, E> {
                Ok(CardSet::EMPTY)
            }

            fn visit_unit<E>(self) -> Result<CardSet, E> {
                Ok(CardSet::EMPTY)
            }

            fn visit_bytes<E>(self, _: &[u8]) -> Result<CardSet, E> {
                Ok(CardSet::EMPTY)
            }

            fn visit_str<E>(self, text: &str) -> Result<CardSet, E> {
                Ok(text.parse().map_or(CardSet::EMPTY, |card| CardSet::EMPTY.with(card)))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<CardSet, A::Error> {
                let mut cards = CardSet::EMPTY;
                while let Some(Named(more)) = seq.next_element()? {
                    cards = cards.union(more);
                }
                Ok(cards)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<CardSet, A::Error> {
                let mut cards = CardSet::EMPTY;
                while let Some((Named(key), Named(value))) = map.next_entry()? {
                    cards = cards.union(key).union(value);
                }
                Ok(cards)
            }
        }

        deserializer.deserialize_any(Anything).map(Named)
    }
}

#[cfg(test)]
mod tests {
    use super::{Seen, named, named_in_text};
    use crate::client::Said;
    use crate::tables::catalog::Tongits;
    use crate::ws::protocol::Message;

    #[test]
    fn cards_are_found_wherever_they_stand() {
        assert_eq!(named_in_text(r#"{"x":"AS","y":["TD","10"],"z":"ASX"}"#).len(), 2);
        assert!(named_in_text("\"é\" \"🂡\"").is_empty());
        let document =
            (1, -1, ["AS", "no"], std::collections::BTreeMap::from([("TD", (true, ()))]));
        let bytes = Said::Bytes(rmp_serde::to_vec(&document).unwrap().into());
        assert_eq!(named(&bytes).unwrap().len(), 2);
    }

    #[test]
    fn a_seed_or_a_card_that_is_not_due_is_a_fault() {
        let update: Message<Tongits> = serde_json::from_str(
            r#"{"type":"update","version":1,"tag":"7a61673a0001","server_time_ms":0,"events":[]}"#,
        )
        .unwrap();
        let mut seen = Seen::default();
        assert!(seen.check(&Said::Text("{}".into()), &update, None).is_ok());
        assert!(seen.check(&Said::Text(r#"{"server_seed":"00"}"#.into()), &update, None).is_err());
        let ack = Message::Ack { id: 1, version: None };
        assert!(seen.check(&Said::Text(r#"{"id":1,"next":"AS"}"#.into()), &ack, None).is_err());
    }
}
