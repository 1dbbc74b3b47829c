//! What a fight tells to those who fight and look on, over the real socket: the same in the same
//! time, whether somebody was asked in secret or not, and whatever that one answered (rule 4.2).

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bahay::client::{Client, Play};
use bahay::lobby::{Room, house_rooms};
use bahay::ws::protocol::Message;
use bahay_engine::catalog::{AnyAction, AnyEvent, AnyGame, AnyRules};
use bahay_engine::games::tongits::{Action, Event as GameEvent};
use bahay_engine::seat::SeatSet;
use bahay_engine::table::{Clocks, Event, GameId, PhaseView, Readable as _};
use tokio::time::timeout;

use crate::support::house::{House, Setup, joined};

const FIGHT_MS: u32 = 700;

/// How late a message may come on a busy machine.
const LATE: Duration = Duration::from_secs(5);

const TABLES: usize = 8;

/// Played at each table: many more fights than it takes to meet both kinds.
const GAMES: usize = 6;

/// No test hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// A fight as the fighter has seen it.
#[derive(Debug)]
struct Fight {
    game: GameId,
    /// What came after the fight began: how many events each message told of.
    messages: Vec<usize>,
    took: Duration,
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fight_tells_nobody_who_was_asked_in_secret() {
    let house = House::with(Setup { rooms: vec![room()], ..Setup::default() }).await;
    let fights = timeout(PATIENCE, fights(&house)).await.expect("the games come to their end");
    let mut of_each: BTreeMap<bool, usize> = BTreeMap::new();
    let countdown = Duration::from_millis(FIGHT_MS.into());
    for (client, fight) in &fights {
        let was_secret = !asked_secretly(client, fight.game).await.is_empty();
        *of_each.entry(was_secret).or_default() += 1;
        let seen = format!("somebody was asked in secret: {was_secret}: {fight:?}");
        assert_eq!(fight.messages.len(), 1, "only the end is told: {seen}");
        // The clocks of two programs that wait for the same moment.
        assert!(fight.took + Duration::from_millis(50) >= countdown, "{seen}");
        assert!(fight.took < countdown + LATE, "{seen}");
    }
    assert!(of_each.len() == 2, "fights with and without a secret: {of_each:?}");
}

/// A room where everybody has much time but in a fight, and a run of four is secret.
fn room() -> Room {
    let mut terms = house_rooms(Clocks::default())[0].terms().clone();
    let AnyRules::Tongits(rules) = &mut terms.rules else {
        panic!("the first room is for Tong-its");
    };
    rules.countdowns.fight_ms = FIGHT_MS;
    rules.secret_run_min = 4;
    Room::new("Fights", "kingdom", terms).unwrap()
}

/// Some games at each of some tables. Gives the fights that were fought, with who did.
async fn fights(house: &House) -> Vec<(Client, Fight)> {
    let mut playing = Vec::new();
    for _ in 0..TABLES {
        let (_, clients) = house.table().await;
        for (place, client) in clients.into_iter().enumerate() {
            playing.push(tokio::spawn(async move {
                let mut play = joined(&client).await;
                let mut fights = Vec::new();
                for _ in 0..GAMES {
                    let fight = game(&mut play, place == 0).await;
                    fights.extend(fight.map(|fight| (client.clone(), fight)));
                }
                fights
            }));
        }
    }
    let mut fights = Vec::new();
    for player in playing {
        fights.extend(player.await.unwrap());
    }
    fights
}

/// Plays one game. Who fights does so as soon as it may; the others lay down nothing, so that
/// nobody knows whether they hold a secret meld. Gives the fight that the player has fought.
async fn game(play: &mut Play, fights: bool) -> Option<Fight> {
    let mut fight: Option<(Instant, Fight)> = None;
    let mut answered = None;
    loop {
        if let Some(PhaseView::Preparing { game, .. }) = play.view().map(|view| &view.phase)
            && answered != Some((*game, u32::MAX))
        {
            answered = Some((*game, u32::MAX));
            play.ready(*game, None).await.unwrap();
        }
        let asked = play.prompt().filter(|prompt| !prompt.legal.is_empty());
        if let Some(prompt) = asked
            && answered != Some((prompt.game, prompt.number))
        {
            answered = Some((prompt.game, prompt.number));
            let action = chosen(play, fights);
            play.act(action).await.unwrap();
        }
        let Message::Update { events, .. } = play.next().await.unwrap() else {
            continue;
        };
        if let Some((begun, fight)) = &mut fight {
            fight.messages.push(events.len());
            fight.took = begun.elapsed();
        }
        for event in &events {
            match event {
                Event::Game { event: AnyEvent::Tongits(GameEvent::Fought { .. }) } if fights => {
                    let Some(PhaseView::Playing { game, .. }) = play.view().map(|view| &view.phase)
                    else {
                        panic!("a fight is fought in a game");
                    };
                    let begun = Fight { game: *game, messages: vec![], took: Duration::ZERO };
                    fight = Some((Instant::now(), begun));
                }
                Event::Over { .. } => return fight.map(|(_, fight)| fight),
                _ => {}
            }
        }
    }
}

fn chosen(play: &Play, fights: bool) -> AnyAction {
    let advice = play.advice().expect("somebody is asked");
    let legal = &play.prompt().expect("somebody is asked").legal;
    let is = |wanted: fn(&Action) -> bool| {
        let is_wanted =
            |action: &&AnyAction| matches!(action, AnyAction::Tongits(it) if wanted(it));
        legal.iter().find(is_wanted).cloned()
    };
    let fight = is(|action| matches!(action, Action::Fight)).filter(|_| fights);
    let quiet = is(|action| matches!(action, Action::Draw | Action::Dump { .. } | Action::Fold));
    match fight {
        Some(fight) => fight,
        None if fights => advice,
        None => quiet.unwrap_or(advice),
    }
}

/// Who was asked in secret in the fight of this game.
async fn asked_secretly(client: &Client, game: GameId) -> SeatSet {
    let record = loop {
        if let Ok(record) = client.record(game).await {
            break record;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    let record = AnyGame::read_record(&record.to_string()).unwrap();
    let mut found = SeatSet::EMPTY;
    record
        .replay(|step| {
            for event in step.events {
                if let AnyEvent::Tongits(GameEvent::Fought { asked, asked_secretly, .. }) = event {
                    assert!(asked.is_empty(), "nobody else has laid anything down");
                    found = *asked_secretly;
                }
            }
        })
        .unwrap();
    found
}
