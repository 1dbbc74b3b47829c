//! A test of the traffic of a fight over the real socket: fighters and onlookers receive the same
//! messages in the same time, whether or not a seat was prompted in secret, and whatever that seat
//! answered (rule 4.2).

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bahay::lobby::{Room, house_rooms};
use bahay::ws::protocol::Message;
use bahay_client_tokio::{Client, Play};
use bahay_engine::catalog::{AnyAction, AnyEvent, AnyGame};
use bahay_engine::games::tongits::{Action, Event as GameEvent};
use bahay_engine::seat::SeatSet;
use bahay_engine::table::{Clocks, Event, GameId, PhaseView, Readable as _};
use tokio::time::timeout;

use crate::support::house::{House, Setup, join_table, with_tongits_rules};
use crate::support::waiting::wait_for;

const FIGHT_MS: u32 = 700;

/// The maximum delay of a message on a busy machine.
const DELAY_MAX: Duration = Duration::from_secs(5);

const TABLES: usize = 8;

/// The number of games at each table, which gives many more fights than are needed to meet both
/// kinds.
const GAMES: usize = 6;

/// The deadline of the test, which prevents it from hanging.
const PATIENCE: Duration = Duration::from_secs(120);

/// A fight as its fighter saw it.
#[derive(Debug)]
struct Fight {
    game: GameId,
    /// The number of events of each message that arrived after the fight began.
    messages: Vec<usize>,
    /// The time from the action that began the fight to the last of these messages.
    took: Duration,
}

#[tokio::test(flavor = "multi_thread")]
async fn the_traffic_of_a_fight_does_not_reveal_secret_prompts() {
    let house = House::with_setup(Setup { rooms: vec![fight_room()], ..Setup::default() }).await;
    let fights = timeout(PATIENCE, play_fights(&house)).await.expect("all games finish in time");
    let mut fight_counts: BTreeMap<bool, usize> = BTreeMap::new();
    let countdown = Duration::from_millis(FIGHT_MS.into());
    for (client, fight) in &fights {
        let is_secret = !find_secretly_prompted_seats(client, fight.game).await.is_empty();
        *fight_counts.entry(is_secret).or_default() += 1;
        let seen = format!("a seat was prompted in secret: {is_secret}: {fight:?}");
        assert_eq!(fight.messages.len(), 1, "the end of the fight is the only message: {seen}");
        // The server's clock counts whole milliseconds.
        assert!(fight.took + Duration::from_millis(1) >= countdown, "{seen}");
        assert!(fight.took < countdown + DELAY_MAX, "{seen}");
    }
    assert!(fight_counts.len() == 2, "fights of both kinds occur: {fight_counts:?}");
}

/// Returns a room with long countdowns except in a fight, where a run of four is a secret meld.
fn fight_room() -> Room {
    with_tongits_rules(&house_rooms(Clocks::default())[0], |rules| {
        rules.countdowns.fight_ms = FIGHT_MS;
        rules.secret_run_min = 4;
    })
}

/// Plays [`GAMES`] games at each of [`TABLES`] tables, and returns each fight with the client that
/// fought it.
async fn play_fights(house: &House) -> Vec<(Client, Fight)> {
    let mut playing = Vec::new();
    for _ in 0..TABLES {
        let (_, clients) = house.table().await;
        for (seat, client) in clients.into_iter().enumerate() {
            playing.push(tokio::spawn(async move {
                let mut play = join_table(&client).await;
                let mut fights = Vec::new();
                for _ in 0..GAMES {
                    let fight = play_game(&mut play, seat == 0).await;
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

/// Plays one game, and returns the fight that this player fought in it. A player with `fights` set
/// fights as soon as it may. The other players lay down nothing, so that nobody knows whether they
/// hold a secret meld.
async fn play_game(play: &mut Play, fights: bool) -> Option<Fight> {
    let mut fight: Option<(Instant, Fight)> = None;
    let mut answered = None;
    // A fight begins after its action was sent, however late the client receives the event.
    let mut acted_at = Instant::now();
    loop {
        if let Some(PhaseView::Preparing { game, .. }) = play.view().map(|view| &view.phase)
            && answered != Some((*game, u32::MAX))
        {
            answered = Some((*game, u32::MAX));
            play.ready(*game, None).await.unwrap();
        }
        let prompt = play.prompt().filter(|prompt| !prompt.legal.is_empty());
        if let Some(prompt) = prompt
            && answered != Some((prompt.game, prompt.number))
        {
            answered = Some((prompt.game, prompt.number));
            let action = choose_action(play, fights);
            acted_at = Instant::now();
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
                        panic!("a fight happens during a game");
                    };
                    let begun = Fight { game: *game, messages: vec![], took: Duration::ZERO };
                    fight = Some((acted_at, begun));
                }
                Event::Over { .. } => return fight.map(|(_, fight)| fight),
                _ => {}
            }
        }
    }
}

fn choose_action(play: &Play, fights: bool) -> AnyAction {
    let advice = play.advice().expect("this player is prompted");
    let legal = &play.prompt().expect("this player is prompted").legal;
    let is = |wanted: fn(&Action) -> bool| {
        let is_wanted =
            |action: &&AnyAction| matches!(action, AnyAction::Tongits(action) if wanted(action));
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

/// Returns the seats that were prompted in secret in the fight of this game.
async fn find_secretly_prompted_seats(client: &Client, game: GameId) -> SeatSet {
    let record = wait_for("the game is recorded", async || client.record(game).await.ok()).await;
    let record = AnyGame::read_record(&record.to_string()).unwrap();
    let mut found = SeatSet::EMPTY;
    record
        .replay(|step| {
            for event in step.events {
                if let AnyEvent::Tongits(GameEvent::Fought { asked, asked_secretly, .. }) = event {
                    assert!(asked.is_empty(), "no other player has laid down a meld");
                    found = *asked_secretly;
                }
            }
        })
        .unwrap();
    found
}
