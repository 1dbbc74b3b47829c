//! The view model, at a practice table of each game.

use bahay_client::{
    ClientCore, Effect, Input, Options, Outcome, SeatBadge, SeedText, SocketData, Time, Wish,
};
use bahay_engine::catalog;

use crate::house::House;

#[test]
fn a_screen_shows_the_hand_the_actions_and_their_reasons() {
    for kind in catalog::kinds().iter().filter(|kind| !kind.is_hidden) {
        let mut house = House::new(kind);
        house.advance(50);
        let screen = house.core.screen(house.now_ms);
        let table = screen.table.expect("the table is shown");
        assert_eq!((screen.link, table.phase, table.is_current), ("live", "preparing", true));
        assert!(table.countdown.is_some_and(|countdown| countdown.left_ms > 0));
        let badges: Vec<_> = table.seats.iter().map(|seat| seat.badge).collect();
        assert_eq!(badges[..2], [SeatBadge::Present, SeatBadge::Bot], "{}", kind.name);

        let wish = Wish::Ready { seed_text: SeedText::Drawn };
        house.handle(Input::Command { command: 1, wish });
        for _ in 0..400 {
            if house.core.state().table.as_ref().is_some_and(|table| table.is_prompted()) {
                break;
            }
            house.advance(250);
        }
        let table = house.core.screen(house.now_ms).table.expect("the table is shown");
        assert_eq!(table.phase, "playing", "{}", kind.name);
        assert!(!table.hand.is_empty() && !table.lines.is_empty(), "{table:?}");
        assert!(table.seats[0].is_own && table.seats[0].is_prompted);
        let action = table.actions.first().expect("the player is prompted").clone();
        assert!(!action.words.is_empty());

        // Every listed action is legal; the same action is refused once another seat acts.
        for listed in &table.actions {
            let read = house.core.read_action(&listed.json).expect("an action of the game");
            assert_eq!(house.core.find_refusal(&read), None, "{}", listed.words);
        }
        assert_eq!(house.core.read_action(r#"{"type":"dance"}"#), None);
        let read = house.core.read_action(&action.json).expect("an action of the game");
        house.handle(Input::Command { command: 2, wish: Wish::Act { action: read.clone() } });
        assert!(matches!(house.outcomes[..], [Outcome::Done { .. }, Outcome::Done { .. }]));
        let refusal = house.core.find_refusal(&read);
        let is_prompted = house.core.state().table.as_ref().is_some_and(|one| one.is_prompted());
        assert!(is_prompted || refusal.is_some(), "{} after {}", kind.name, action.words);
    }
}

#[test]
fn three_unreadable_messages_in_a_row_break_the_link() {
    let mut core = ClientCore::new(Options::new("http://house", [5; 32], Time::default()));
    let mut now_ms = 0;
    let handle = |core: &mut ClientCore, now_ms: i64, input: Input| {
        core.handle_input(Time { now_ms, wall_ms: now_ms }, input);
        let effects = std::iter::from_fn(|| core.poll_effect());
        let opened = effects.filter_map(|effect| match effect {
            Effect::Open { socket, .. } => Some(socket),
            _ => None,
        });
        opened.last()
    };
    let mut socket = handle(&mut core, now_ms, Input::Start);
    for attempt in 1..=3 {
        let opened = socket.take().expect("a socket is opened");
        handle(&mut core, now_ms, Input::Opened { socket: opened, protocol: String::new() });
        let data = SocketData::Text("<html>".into());
        handle(&mut core, now_ms, Input::Received { socket: opened, data });
        let screen = core.screen(now_ms);
        assert!(screen.link_reason.is_some_and(|reason| reason.contains("could not be read")));
        if attempt == 3 {
            assert_eq!(screen.link, "broken");
            break;
        }
        assert_eq!(screen.link, "pausing");
        assert!(screen.retry_in_ms.is_some_and(|ms| ms > 0));
        while socket.is_none() {
            now_ms = core.poll_timeout().expect("the client retries");
            socket = handle(&mut core, now_ms, Input::Timeout);
        }
    }
}
