//! What a player may be shown: the own hand and what lies open, and no seed before its game is over.
//! Looked for in the text itself, so that a field nobody reads hides nothing.
//!
//! Deliberately absent: what only the server's state can tell, such as whether a view is the true
//! one. The chaos suite and the simulated house hold views against that.

use bahay_engine::cards::{Card, CardSet};
use bahay_engine::game::Viewer;
use bahay_engine::games::tongits::Event as GameEvent;
use bahay_engine::table::{Event, GameId, PhaseView, TableView};

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
    /// Checks a text against what its reader may know, after it was taken into the view.
    pub(super) fn check(
        &mut self,
        text: &str,
        message: &Message<Tongits>,
        view: Option<&TableView<Tongits>>,
    ) -> Result<(), String> {
        if matches!(message, Message::Ack { .. } | Message::Hello { .. }) {
            return if named(text).is_empty() { Ok(()) } else { Err(text.to_owned()) };
        }
        let events: &[_] = match message {
            Message::Update { events, .. } => events,
            _ => &[],
        };
        let is_over = events.iter().any(|event| matches!(event, Event::Over { .. }));
        if !is_over && text.contains(SECRET) {
            return Err(format!("the secret of a deal that is not over: {text}"));
        }
        let Some(view) = view else {
            return Ok(());
        };
        let may_see = self.may_see(view, is_over);
        let hidden = named(text).difference(may_see);
        if !hidden.is_empty() {
            return Err(format!("{hidden} to one who may see {may_see}: {text}"));
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

/// Every card that a text names, as a string of its own.
fn named(text: &str) -> CardSet {
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

#[cfg(test)]
mod tests {
    use super::{Seen, named};
    use crate::tables::catalog::Tongits;
    use crate::ws::protocol::Message;

    #[test]
    fn cards_are_found_wherever_they_stand() {
        assert_eq!(named(r#"{"x":"AS","y":["TD","10"],"z":"ASX"}"#).len(), 2);
        assert!(named("\"é\" \"🂡\"").is_empty());
    }

    #[test]
    fn a_seed_or_a_card_that_is_not_due_is_a_fault() {
        let update: Message<Tongits> = serde_json::from_str(
            r#"{"type":"update","version":1,"tag":"7a61673a0001","server_time_ms":0,"events":[]}"#,
        )
        .unwrap();
        let mut seen = Seen::default();
        assert!(seen.check("{}", &update, None).is_ok());
        assert!(seen.check(r#"{"server_seed":"00"}"#, &update, None).is_err());
        let ack = Message::Ack { id: 1, version: None };
        assert!(seen.check(r#"{"id":1,"next":"AS"}"#, &ack, None).is_err());
    }
}
