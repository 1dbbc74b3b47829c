//! House bots at a table (rule 8.6): ready at once, played by the AI from the deal on, and present
//! for players only.

use bahay_engine::games::tongits::Tongits;
use bahay_engine::table::{ActionOrigin, Event, Input, Phase, PlayerId, Reason, Record};
use uuid::Uuid;

use crate::support::desk::{Desk, Reply, player};

fn bot(number: u64) -> PlayerId {
    PlayerId(Uuid::from_u64_pair(9, number))
}

impl Desk {
    /// Returns a table with one connected player, player 0, and two bots.
    fn with_bots() -> Self {
        let mut desk = Self::new();
        desk.sit(0).unwrap();
        desk.seat_bot(1).unwrap();
        desk.seat_bot(2).unwrap();
        desk
    }

    fn seat_bot(&mut self, number: u64) -> Reply<Tongits> {
        let (name, avatar) = (format!("Bot {number}"), Some("eagle".to_owned()));
        self.tell(Input::Sit { player: bot(number), name, avatar, bot: true })
    }

    /// Goes on until the game is settled, and returns its record.
    fn finish_game(&mut self) -> Record<Tongits> {
        self.go_on_until(|desk| matches!(desk.table.phase(), Phase::Settling(_)));
        let record = self.record().clone();
        self.go_on();
        record
    }

    fn has_left(&self, player: PlayerId) -> bool {
        self.events.iter().any(|event| {
            matches!(event, Event::Left { player: left, reason: Reason::Left, .. } if *left == player)
        })
    }
}

#[test]
fn bots_are_ready_at_once_and_the_ai_plays_them_from_the_deal_on() {
    let mut desk = Desk::with_bots();
    let ready = desk.events.iter().filter(|event| matches!(event, Event::Ready { .. })).count();
    assert_eq!(ready, 2);
    let view = desk.table.view(Some(player(0)));
    let shown: Vec<_> =
        view.seats.iter().flatten().map(|seat| (seat.bot, seat.connected)).collect();
    assert_eq!(shown, [(false, true), (true, true), (true, true)]);
    assert_eq!(view.seats[1].as_ref().unwrap().avatar.as_deref(), Some("eagle"));
    assert!(desk.table.taken_over_seats().is_empty(), "nobody plays before the deal");
    for _ in 0..3 {
        desk.ready(0).unwrap();
        let record = desk.finish_game();
        assert_eq!(record.bots, desk.table.bots());
        assert!(record.actions.iter().any(|taken| taken.by == ActionOrigin::Ai));
        for taken in &record.actions {
            assert!(!record.bots.contains(taken.seat) || taken.by == ActionOrigin::Ai, "{taken:?}");
        }
        record.verify().unwrap();
        // The player was present and let countdowns expire, which the next game does not count.
        assert_eq!(desk.players(), [player(0), bot(1), bot(2)]);
    }
}

#[test]
fn bots_do_not_stay_without_a_player() {
    let mut desk = Desk::with_bots();
    desk.leave(0).unwrap();
    assert_eq!(desk.players(), []);
    assert!(desk.has_left(bot(1)) && desk.has_left(bot(2)));
    assert!(matches!(desk.table.phase(), Phase::Waiting));
    // A bot that comes too late does not stay either.
    desk.seat_bot(1).unwrap();
    assert!(desk.has_left(bot(1)));

    let mut desk = Desk::with_bots();
    desk.ready(0).unwrap();
    desk.leave(0).unwrap();
    desk.finish_game();
    assert_eq!(desk.players(), [], "the game is played to its end, and then nobody stays");
}

#[test]
fn a_bot_gives_its_seat_away_after_the_game() {
    let mut desk = Desk::with_bots();
    desk.ready(0).unwrap();
    desk.tell(Input::Leave { player: bot(1) }).unwrap();
    assert_eq!(desk.players().len(), 3, "not in the midst of a game");
    desk.finish_game();
    assert_eq!(desk.players(), [player(0), bot(2)]);
    desk.sit(7).unwrap();
    assert!(matches!(desk.table.phase(), Phase::Preparing(_)));
    // While a table waits, a bot is never away.
    desk.leave(7).unwrap();
    assert_eq!(desk.table.deadline(), None);
}
