//! Tests of repeated commands: one of two takes effect, and the refusal of the other differs from
//! that of a failure.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bahay::ws::protocol::{Command, Message};
use bahay_client_tokio::{Play, PlayError};
use bahay_engine::catalog::AnyAction;
use bahay_engine::table::GameId;
use tokio::time::timeout;

use crate::support::house::{House, PATIENCE, join_table};
use crate::support::play::{TestPlay as _, join_new_table, rejoin};

/// The codes that refuse the repetition of a command that has already taken effect.
const STALE: [&str; 4] = ["stale_prompt", "not_asked", "other_game", "wrong_phase"];

struct Question {
    game: GameId,
    prompt: u32,
    action: AnyAction,
}

impl Question {
    fn act(&self, id: u32) -> Command<AnyAction> {
        Command::Act { id, game: self.game, prompt: self.prompt, action: self.action.clone() }
    }
}

async fn check_ready_once(play: &mut Play) {
    let game = play.prepared_game().await;
    let first = play.ready(game, None).await.unwrap();
    let second = play.ready(game, None).await.unwrap();
    play.confirm(first).await;
    let code = play.refusal_of(second).await;
    // If the third player to become ready sends the second command, the game may have been opened
    // already.
    assert!(["already_ready", "wrong_phase"].contains(&code.as_str()), "{code}");
}

/// Returns the refusal code, or a description of the close, if a command is not acknowledged.
async fn await_answer(play: &mut Play, command: u32) -> Result<(), String> {
    match timeout(PATIENCE, play.wait_for_answer(command)).await.unwrap() {
        Ok(_) => Ok(()),
        Err(PlayError::Refused { code, .. }) => Err(code),
        Err(PlayError::Closed { code, .. }) => Err(format!("closed {code}")),
        Err(PlayError::Socket(_)) => Err("broken".to_owned()),
        Err(other) => panic!("{other}"),
    }
}

fn read_question(play: &Play) -> Option<Question> {
    let (prompt, action) = (play.prompt()?, play.advice()?);
    Some(Question { game: prompt.game, prompt: prompt.number, action })
}

async fn wait_for_question(plays: &mut [Play]) -> (usize, Question) {
    loop {
        for (place, play) in plays.iter_mut().enumerate() {
            if let Some(question) = read_question(play) {
                return (place, question);
            }
            if let Ok(message) = timeout(std::time::Duration::from_millis(5), play.next()).await {
                message.unwrap();
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_action_takes_effect_once() {
    let house = House::new().await;
    let (_, clients, mut plays) = join_new_table(&house).await;
    for play in &mut plays {
        check_ready_once(play).await;
    }

    // The action is repeated after the first one is acknowledged.
    let (turn, question) = wait_for_question(&mut plays).await;
    let first = plays[turn].send(|id| question.act(id)).await.unwrap();
    await_answer(&mut plays[turn], first).await.unwrap();
    let again = plays[turn].send(|id| question.act(id)).await.unwrap();
    let refused = await_answer(&mut plays[turn], again).await.unwrap_err();
    assert!(STALE.contains(&refused.as_str()), "{refused}");

    // The action is repeated before the first one is acknowledged, on the same connection.
    let (turn, question) = wait_for_question(&mut plays).await;
    let first = plays[turn].send(|id| question.act(id)).await.unwrap();
    let again = plays[turn].send(|id| question.act(id)).await.unwrap();
    await_answer(&mut plays[turn], first).await.unwrap();
    let refused = await_answer(&mut plays[turn], again).await.unwrap_err();
    assert!(STALE.contains(&refused.as_str()), "{refused}");

    // The action is sent from an older and a newer connection at once. The server may close the
    // older one without an answer.
    let (turn, question) = wait_for_question(&mut plays).await;
    let mut newer = clients[turn].play().await.unwrap();
    let known = plays[turn].version().unwrap();
    let first = plays[turn].send(|id| question.act(id)).await.unwrap();
    let joining = newer.join().await.unwrap();
    let again = newer.send(|id| question.act(id)).await.unwrap();
    let joined = await_answer(&mut newer, joining).await;
    assert_eq!(joined, Ok(()));
    let second = await_answer(&mut newer, again).await;
    let first = await_answer(&mut plays[turn], first).await;
    println!("older: {first:?}, newer: {second:?}");
    match (first, second) {
        (Ok(()), Ok(())) => panic!("both actions took effect"),
        (Ok(()), Err(code)) => assert!(STALE.contains(&code.as_str()), "{code}"),
        (Err(ended), Ok(())) => {
            let is_ended = ended.starts_with("closed") || ended == "broken";
            assert!(is_ended || STALE.contains(&ended.as_str()), "{ended}");
        }
        // The action of the older connection took effect, and its acknowledgement was lost with the
        // connection.
        (Err(ended), Err(code)) => {
            assert!(ended.starts_with("closed") || ended == "broken", "{ended}");
            assert!(STALE.contains(&code.as_str()), "{code}");
        }
    }
    assert!(newer.version().unwrap() > known, "one of the actions takes effect");
    plays[turn] = newer;

    // The action is sent, the connection breaks, and the resumed connection repeats the action.
    let (turn, question) = wait_for_question(&mut plays).await;
    plays[turn].send(|id| question.act(id)).await.unwrap();
    let mut back = rejoin(&clients[turn], plays.remove(turn).drop_connection()).await;
    let again = back.send(|id| question.act(id)).await.unwrap();
    if let Err(code) = await_answer(&mut back, again).await {
        assert!(STALE.contains(&code.as_str()), "{code}");
    }
    back.ping().await;
}

/// A join of a player who has already joined writes no line and notifies nobody. Nor does a new
/// connection that replaces one that is still connected notify anybody.
#[tokio::test(flavor = "multi_thread")]
async fn joining_again_writes_no_line_and_notifies_nobody() {
    let house = House::new().await;
    let (table, clients, mut plays) = join_new_table(&house).await;
    let connects = async || {
        let journal = house.live.table_key(table, "journal");
        let mut redis = house.live.raw().await;
        let lines: Vec<String> =
            redis::cmd("lrange").arg(journal).arg(0).arg(-1).query_async(&mut redis).await.unwrap();
        lines.iter().filter(|line| line.contains("\"connect\"")).count()
    };
    let before = connects().await;
    assert_eq!(before, 3);
    for play in &mut plays {
        play.messages_until_ping().await;
    }
    for _ in 0..15 {
        let joining = plays[0].join().await.unwrap();
        let acked = match plays[0].next_message().await {
            Message::Ack { id, version } if id == joining => version,
            other => panic!("the join is not answered by its acknowledgement: {other:?}"),
        };
        assert_eq!((acked, acked.is_some()), (plays[0].version(), true));
    }
    assert_eq!(connects().await, before);
    // The other players received nothing, not even a repeated snapshot.
    for play in &mut plays[1..] {
        assert_eq!(play.messages_until_ping().await, []);
    }
    // The connection is still subscribed to its table and receives its updates.
    check_ready_once(&mut plays[0]).await;
    // A newer connection replaces the older one, and only the older one is notified.
    let mut newer = join_table(&clients[0]).await;
    let replaced = plays[0].closing_error().await;
    assert!(matches!(replaced, PlayError::Closed { .. }), "{replaced}");
    let joining = newer.join().await.unwrap();
    assert_eq!(await_answer(&mut newer, joining).await, Ok(()));
    assert_eq!(connects().await, before + 1);
    check_ready_once(&mut plays[1]).await;
    plays[0] = newer;
    for play in &mut plays {
        for message in play.messages_until_ping().await {
            if let Message::Update { events, .. } = message {
                assert!(!events.is_empty());
            }
        }
    }
}

/// Two players at two nodes join repeatedly while a third one disconnects and resumes at a node of
/// its own. No client receives a version twice, a lower version, or an unrequested snapshot, since
/// the journal is one sequence of lines.
#[tokio::test(flavor = "multi_thread")]
async fn joining_again_at_two_nodes_repeats_no_update() {
    /// The minimum number of resumptions of the third player; each writes one line or two.
    const RESUMES_MIN: usize = 60;
    /// The minimum number of joins of the other two players.
    const JOINS_MIN: usize = 16;
    /// The number of joins of a connection in flight.
    const AHEAD: usize = 4;
    /// The interval between two joins of a connection, below its limit of 20 commands a second.
    const PACE: std::time::Duration = std::time::Duration::from_millis(52);

    async fn join_again(
        mut play: Play,
        mut stop: tokio::sync::watch::Receiver<bool>,
        joins: Arc<AtomicUsize>,
    ) {
        let mut waiting = std::collections::VecDeque::new();
        let mut pace = tokio::time::interval(PACE);
        loop {
            while waiting.len() < AHEAD && !*stop.borrow_and_update() {
                pace.tick().await;
                waiting.push_back(play.join().await.unwrap());
            }
            let Some(next) = waiting.front() else {
                return;
            };
            let before = play.version().unwrap();
            match play.next_message().await {
                Message::Ack { id, .. } if id == *next => {
                    waiting.pop_front();
                    joins.fetch_add(1, Ordering::Relaxed);
                }
                Message::Update { version, ack: None, .. } => assert_eq!(version, before + 1),
                other => panic!("after version {before}: {other:?}"),
            }
        }
    }

    let house = House::new().await;
    let (second, second_running) = house.node().await;
    let (third, third_running) = house.node().await;
    let (_, clients) = house.table().await;
    let bases = [house.base.clone(), second, third];
    let clients: Vec<_> =
        clients.iter().zip(&bases).map(|(client, base)| client.with_base(base)).collect();
    let (stopping, stop) = tokio::sync::watch::channel(false);
    let joins = Arc::new(AtomicUsize::new(0));
    let mut joining_players = tokio::task::JoinSet::new();
    for client in &clients[..2] {
        joining_players.spawn(join_again(join_table(client).await, stop.clone(), joins.clone()));
    }
    let mut play = join_table(&clients[2]).await;
    let mut resumes = 0;
    while resumes < RESUMES_MIN || joins.load(Ordering::Relaxed) < JOINS_MIN {
        resumes += 1;
        play = rejoin(&clients[2], play.drop_connection()).await;
    }
    stopping.send_replace(true);
    timeout(PATIENCE, joining_players.join_all()).await.unwrap();
    second_running.stop().await.unwrap();
    third_running.stop().await.unwrap();
}
