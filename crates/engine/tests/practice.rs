//! Practice tables (rule 8.7): one player with bots and without coins. No ledger opens or settles a
//! game, advice is given only there, and a player who leaves is free at once.

use bahay_bots::Ai;
use bahay_bots::table::{Hint, hint};
use bahay_engine::catalog::{AnyGame, AnyRefusal, AnyRules, kinds};
use bahay_engine::coins::Coins;
use bahay_engine::game::{Game, GameRules, Viewer};
use bahay_engine::table::{
    Clocks, Event, Input, Phase, PlayerId, PracticeBot, Reason, Rejection, Table, TableId, Terms,
    Timestamp,
};
use uuid::Uuid;

use crate::support::desk::{Desk, player};

type Practice = Desk<AnyGame>;

impl Practice {
    /// Returns a table with player 0, connected, and bots.
    fn practice(rules: AnyRules) -> Self {
        let most = rules.seats().most;
        let terms = Terms::for_practice("practice", rules, Clocks::default());
        let bots = (1..most).map(|number| PracticeBot {
            player: PlayerId(Uuid::from_u64_pair(9, number.into())),
            name: format!("Bot {number}"),
            avatar: "eagle".into(),
        });
        let table = Table::new(TableId(Uuid::from_u64_pair(3, 0)), terms).with_bots(bots);
        let mut practice = Self::at_table(table);
        practice.sit(0).unwrap();
        practice
    }

    fn practice_of_tongits() -> Self {
        Self::practice(AnyRules::find_rule_set("tongits", "kingdom").unwrap().rules)
    }

    /// Returns a table of Tong-its at which the player is prompted.
    fn with_prompt() -> Self {
        let mut practice = Self::practice_of_tongits();
        practice.ready(0).unwrap();
        practice.go_on_until(|practice| practice.hint().is_ok());
        practice
    }

    fn hint(&self) -> Result<Hint<<AnyGame as Game>::Action>, Rejection<AnyRefusal>> {
        hint(&self.table, player(0))
    }

    /// Plays the prepared game to its end by the advice.
    fn play_by_hints(&mut self) -> u32 {
        self.ready(0).unwrap();
        let mut taken = 0;
        for _ in 0..20_000 {
            if matches!(self.table.phase(), Phase::Settling(_)) {
                return taken;
            }
            match self.hint() {
                Ok(Hint { game, prompt, action, .. }) => {
                    self.tell(Input::Act { player: player(0), game, prompt, action }).unwrap();
                    taken += 1;
                }
                Err(Rejection::NotAsked | Rejection::NoSuchPhase) => self.go_on(),
                Err(other) => panic!("{other}"),
            }
        }
        panic!("a game goes on for ever");
    }
}

#[test]
fn every_rule_set_is_practised_by_hints_and_nobody_is_asked_for_coins() {
    for kind in kinds() {
        for set in &kind.rule_sets {
            let mut practice = Practice::practice(set.rules.clone());
            assert!(practice.play_by_hints() > 0, "{} {}", kind.name, set.name);
            let settlement = &practice.record().settlement;
            assert!(settlement.payments.iter().all(|payment| payment.owed.is_zero()));
            assert!(settlement.fees.is_empty() && settlement.pot.is_none());
            assert_eq!(practice.table.pot(), Coins::ZERO);
            practice.go_on();
            let settled = |event: &Event<_>| matches!(event, Event::Settled { .. });
            assert_eq!(practice.events.iter().filter(|event| settled(event)).count(), 1);
            // It ends once: a second tick finds the next game.
            assert_eq!(practice.tell(Input::Tick), Err(Rejection::NothingDue));
            assert!(matches!(practice.table.phase(), Phase::Preparing(_)));
            // The journal alone restores the table.
            assert_eq!(practice.replayed(), practice.table);
        }
    }
}

#[test]
fn a_timeout_action_is_due_at_once() {
    let mut practice = Practice::practice_of_tongits();
    practice.ready(0).unwrap();
    assert!(matches!(practice.table.phase(), Phase::Opening(_)));
    assert_eq!(practice.table.deadline(), Some(practice.now));
    practice.go_on();
    assert!(practice.table.phase().is_running(), "no time has passed");
    assert_eq!(practice.now, Timestamp::from_ms(0));
}

#[test]
fn a_hint_is_what_the_ai_plays_that_it_names() {
    let practice = Practice::with_prompt();
    let Hint { game, prompt, action, by } = practice.hint().unwrap();
    let playing = practice.running();
    assert_eq!((game, prompt), (playing.game, playing.prompt.number));
    let view = playing.state.view(Viewer::Seat(practice.table.seat_of(player(0)).unwrap()));
    assert_eq!(AnyGame::choose_action_with_skill(by, &view), Some(action));
}

#[test]
fn hints_are_refused_where_nothing_is_asked_and_where_coins_can_be_lost() {
    let mut practice = Practice::practice_of_tongits();
    assert_eq!(practice.hint(), Err(Rejection::NoSuchPhase), "no game is played");
    assert_eq!(hint(&practice.table, player(7)), Err(Rejection::NotSeated));
    practice.ready(0).unwrap();
    practice.go_on_until(|practice| practice.hint() == Err(Rejection::NotAsked));
    // The same terms for coins, in every field.
    let mut terms = practice.table.terms().clone();
    terms.practice = false;
    let mut table = Table::<AnyGame>::new(practice.table.id(), terms);
    let sat = table.decide(practice.now, Input::sit(player(0), "Ana"), || panic!("one is too few"));
    table = sat.unwrap().table;
    assert_eq!(hint(&table, player(0)), Err(Rejection::NotPractice));
    assert_eq!(Rejection::<AnyRefusal>::NotPractice.code(), "not_practice");
}

#[test]
fn leaving_ends_the_game_and_frees_the_player_at_once() {
    let mut practice = Practice::with_prompt();
    practice.leave(0).unwrap();
    let left = |event: &Event<_>| matches!(event, Event::Left { player: left, reason: Reason::Left, .. } if *left == player(0));
    assert!(practice.events.iter().any(left));
    assert!(matches!(practice.table.phase(), Phase::Waiting));
    assert!(practice.table.is_deserted());
    assert_eq!(practice.table.deadline(), None, "nothing is due any more");
    // The bots belong to the table: every player who sits down plays.
    assert_eq!(practice.table.bots().len(), 2);
    practice.sit(7).unwrap();
    assert!(matches!(practice.table.phase(), Phase::Preparing(_)));
}

#[test]
fn a_table_that_is_abandoned_plays_its_game_to_the_end_and_waits_for_nobody() {
    let mut practice = Practice::with_prompt();
    practice.disconnect(0).unwrap();
    practice.go_on_until(|practice| practice.table.is_deserted());
    assert!(matches!(practice.table.phase(), Phase::Waiting));
    assert_eq!(practice.table.deadline(), None);
}
