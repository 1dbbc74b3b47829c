//! Practice tables (rule 8.7): whole games over REST and sockets, across the death of a node, by
//! players without coins, without a trace in the database. Hints are available there and nowhere
//! else.

use bahay::lobby::{self, RuleSetRequest};
use bahay::rate_limit::{self, Rate};
use bahay::ws::protocol::Message;
use bahay_client_tokio::{Client, Play, PlayError};
use bahay_engine::catalog::{self, AnyAction, AnyGame};
use bahay_engine::game::Game;
use bahay_engine::table::{Clocks, Event, Input, Phase, PhaseView, Rejection, Table, TableId};
use serde_json::json;
use sqlx::PgPool;
use tokio::time::timeout;

use crate::support::bank::Bank;
use crate::support::checks::check_ledger;
use crate::support::db::{TestDatabase, count_rows, read_value, read_values};
use crate::support::house::{
    House, PATIENCE, Setup, ai_clocks, guest_at, join_table, wide_rate_limits,
};
use crate::support::live::TestLive;
use crate::support::node::{ConnectedPlayer, Node};
use crate::support::play::{TestPlay as _, is_asked, join_new_table, refusal_code};
use crate::support::process::{Server, serve};
use crate::support::rest::{get, post_json};
use crate::support::waiting::wait_until;

type Happened = Event<<AnyGame as Game>::Event>;

const PATH: &str = "/v1/practice-tables";

/// Returns a digest of every table's rows, by the table's name.
async fn digest_database(pool: &PgPool) -> Vec<(String, String)> {
    let tables = "
        select t.table_name::text from information_schema.tables t
        where t.table_schema = 'public' and t.table_type = 'BASE TABLE'
        order by 1";
    let tables: Vec<String> = read_values(pool, tables).await;
    assert!(tables.len() > 40, "{tables:?}");
    let mut digests = vec![];
    for table in tables {
        let digest = format!(
            "select md5(coalesce(string_agg(r::text, '\n' order by r::text), '')) from {table} r"
        );
        digests.push((table, read_value(pool, &digest).await));
    }
    digests
}

/// Follows a hint or declares readiness, if the player is asked.
async fn follow_hint(node: &Node, seated: &ConnectedPlayer) -> bool {
    let input = match bahay_bots::table::hint(&seated.table, seated.player) {
        Ok(hint) => {
            let (player, game, prompt) = (seated.player, hint.game, hint.prompt);
            Some(Input::Act { player, game, prompt, action: hint.action })
        }
        Err(_) if matches!(seated.table.phase(), Phase::Preparing(_)) => seated.input(),
        Err(_) => None,
    };
    match input {
        // The input is rejected only if the clock was faster.
        Some(input) => node.tables().submit(seated.table.id(), input).await.is_ok(),
        None => false,
    }
}

/// Plays until the table satisfies the condition.
async fn play_until(
    node: &Node,
    seated: &mut ConnectedPlayer,
    holds: impl Fn(&Table<AnyGame>) -> bool,
) {
    while !holds(&seated.table) {
        follow_hint(node, seated).await;
        if !holds(&seated.table) {
            seated.next().await;
        }
    }
}

/// A player without a wallet plays two games of each kind, the first one across the death of its
/// node. No row of the database changes, and the books hold.
#[tokio::test(flavor = "multi_thread")]
async fn a_player_without_coins_practises_and_nothing_is_stored() {
    let (bank, live) = (Bank::new().await, TestLive::new());
    let player = bank.player(0).await;
    let before = digest_database(&bank.pool).await;
    for kind in catalog::kinds().into_iter().filter(|kind| !kind.is_hidden) {
        let doomed = Node::start(&bank, &live, ai_clocks(20)).await;
        let wanted = RuleSetRequest { kind: Some(kind.name.into()), ..RuleSetRequest::default() };
        let table = doomed.lobby.join_practice(player, wanted, None, None).await.unwrap();
        let mut seated = ConnectedPlayer::join(&doomed, table, player).await;
        play_until(&doomed, &mut seated, |table| bahay_bots::table::hint(table, player).is_ok())
            .await;
        let game = seated.table.phase().game().unwrap();
        drop(doomed);
        let node = Node::start(&bank, &live, ai_clocks(20)).await;
        let mut seated = ConnectedPlayer::join(&node, table, player).await;
        assert_eq!(seated.table.phase().game(), Some(game), "{}: it goes on", kind.name);
        let is_next =
            |table: &Table<_>| matches!(table.phase(), Phase::Preparing(next) if next.game != game);
        play_until(&node, &mut seated, is_next).await;
        let next = seated.table.phase().game().unwrap();
        let is_after = |table: &Table<_>| matches!(table.phase(), Phase::Preparing(after) if after.game != next);
        play_until(&node, &mut seated, is_after).await;
        assert_eq!(node.lobby.leave(player).await.unwrap(), table);
        assert_eq!(node.lobby.seated_at(player).await.unwrap(), None);
    }
    assert_eq!(digest_database(&bank.pool).await, before);
    check_ledger(&bank.pool).await;
}

async fn join_practice(client: &Client, kind: &str) -> TableId {
    let seat = post_json(client, PATH, &json!({ "kind": kind })).await.expect(200);
    TableId(seat["table"].as_str().unwrap().parse().unwrap())
}

async fn refuse_practice(client: &Client, code: &str) {
    let body = json!({ "kind": "tongits" });
    post_json(client, PATH, &body).await.expect_refusal(409, code);
}

/// Asks for a hint, and returns its prompt and action.
async fn hint(play: &mut Play) -> Result<(u32, AnyAction), PlayError> {
    hint_with_events(play, &mut vec![]).await
}

/// Asks for a hint, and appends the events until the answer.
async fn hint_with_events(
    play: &mut Play,
    happened: &mut Vec<Happened>,
) -> Result<(u32, AnyAction), PlayError> {
    let id = play.hint().await?;
    let mut told = None;
    loop {
        match timeout(PATIENCE, play.next()).await.expect("a hint is answered")? {
            Message::Advice { prompt, action, by, .. } => {
                assert!(["greedy", "quick"].contains(&&*by), "{by}");
                told = Some((prompt, action));
            }
            Message::Ack { id: answered, .. } if answered == id => {
                return Ok(told.expect("the hint comes before the ack"));
            }
            Message::Refusal { id: Some(answered), code, rule, detail, .. } if answered == id => {
                let (code, rule) = (code.into_owned(), rule.map(|rule| rule.into_owned()));
                return Err(PlayError::Refused { code, rule, detail });
            }
            Message::Update { events, .. } => happened.extend(events),
            _ => {}
        }
    }
}

async fn ready(play: &mut Play) {
    let game = play.prepared_game().await;
    let ready = play.ready(game, Some("luck".into())).await.unwrap();
    play.confirm(ready).await;
    while matches!(play.view().unwrap().phase, PhaseView::Opening { .. }) {
        play.next_message().await;
    }
    // The table rejects a reveal that it does not wait for.
    if let Some(revealing) = play.reveal().await.unwrap() {
        let _ = play.wait_for_answer(revealing).await;
    }
}

/// Plays to the end of the game by hints, and returns the number of hints followed.
async fn play_by_hints(play: &mut Play) -> u32 {
    let mut followed = 0;
    while !matches!(play.view().unwrap().phase, PhaseView::Preparing { .. }) {
        if !is_asked(play) {
            play.next_message().await;
            continue;
        }
        match hint(play).await {
            Ok((prompt, action)) if play.prompt().is_some_and(|open| open.number == prompt) => {
                let acting = play.act(action).await.unwrap();
                match play.wait_for_answer(acting).await {
                    Ok(_) => followed += 1,
                    // The clock or another answer to the same prompt was faster.
                    Err(PlayError::Refused { code, .. }) => assert_eq!(code, "stale_prompt"),
                    Err(other) => panic!("{other}"),
                }
            }
            Ok(_) => {}
            Err(PlayError::Refused { code, .. }) => {
                assert!(["not_asked", "wrong_phase"].contains(&&*code), "{code}");
            }
            Err(other) => panic!("{other}"),
        }
    }
    followed
}

/// Plays over REST and a socket, as a client does.
#[tokio::test(flavor = "multi_thread")]
async fn a_practice_game_by_hints_moves_no_coins() {
    let house = House::with_clocks(ai_clocks(20)).await;
    let client = house.guest("Althea").await;
    let wallet = client.wallet().await.unwrap();
    let operations = count_rows(&house.pool, "operations").await;
    let table = join_practice(&client, "tongits").await;
    let mut play = join_table(&client).await;
    let view = play.view().unwrap();
    assert!(view.terms.practice && view.terms.price.bet.is_zero() && view.terms.hits.is_none());
    assert_eq!(view.terms.room, "practice");
    let bots: Vec<_> = view.seats.iter().flatten().filter(|seat| seat.bot).collect();
    assert_eq!(bots.len(), 2);
    assert!(bots.iter().all(|bot| bot.name.starts_with("Bot ")) && bots[0].name != bots[1].name);
    ready(&mut play).await;
    assert!(play_by_hints(&mut play).await > 0);
    // During another game the player can leave at once.
    ready(&mut play).await;
    play.read_until("a prompt", is_asked).await;
    client.leave().await.unwrap();
    assert_ne!(client.seat("newbie").await.unwrap(), table);
    client.leave().await.unwrap();
    assert_eq!(client.wallet().await.unwrap().available, wallet.available);
    for nothing in ["games", "game_players", "game_records", "settlements", "notices"] {
        assert_eq!(count_rows(&house.pool, nothing).await, 0, "{nothing}");
    }
    assert_eq!(count_rows(&house.pool, "operations").await, operations);
    let games = get(&client, "/v1/me/games").await.body;
    assert_eq!(games["items"], json!([]));
    check_ledger(&house.pool).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hint_is_refused_without_a_prompt_and_at_tables_with_coins() {
    let house = House::with_clocks(ai_clocks(20)).await;
    let client = house.guest("Althea").await;
    let mut play = client.play().await.unwrap();
    assert_eq!(refusal_code(hint(&mut play).await), "not_joined");
    join_practice(&client, "tongits").await;
    drop(play);
    let mut play = join_table(&client).await;
    assert_eq!(refusal_code(hint(&mut play).await), "wrong_phase");
    ready(&mut play).await;
    play.read_until("a prompt", is_asked).await;
    let (_, action) = hint(&mut play).await.unwrap();
    play.confirm_action(action).await;
    while is_asked(&play) {
        let (_, action) = hint(&mut play).await.unwrap();
        play.confirm_action(action).await;
    }
    let refused = hint(&mut play).await;
    if is_asked(&play) {
        // The bots have acted before the request was processed.
        assert!(refused.is_ok() || refusal_code(refused) == "not_asked");
    } else {
        assert_eq!(refusal_code(refused), "not_asked");
    }
    // Tables with coins reject hints before a game and during it.
    let (_, _clients, mut plays) = join_new_table(&house).await;
    assert_eq!(refusal_code(hint(&mut plays[0]).await), "not_practice");
    for play in &mut plays {
        ready(play).await;
    }
    for play in &mut plays {
        play.read_until("the first prompt", |play| play.prompt().is_some()).await;
        assert_eq!(refusal_code(hint(play).await), "not_practice");
    }
}

/// A hint counts like a request.
#[tokio::test(flavor = "multi_thread")]
async fn hints_are_limited_as_requests_are() {
    let requests_per_account = Rate { per_second: 1, burst: 8 };
    let limits = rate_limit::Options { requests_per_account, ..wide_rate_limits() };
    let house = House::with_setup(Setup { rate_limits: limits, ..Setup::default() }).await;
    let client = house.guest("Althea").await;
    join_practice(&client, "tongits").await;
    let mut play = join_table(&client).await;
    let mut refused = vec![];
    for _ in 0..12 {
        refused.push(refusal_code(hint(&mut play).await));
    }
    assert!(refused.contains(&"too_fast".to_owned()), "{refused:?}");
    assert!(refused.contains(&"wrong_phase".to_owned()), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_practising_player_has_one_table_and_sits_nowhere_else() {
    let house = House::with_clocks(ai_clocks(20)).await;
    let client = house.guest("Althea").await;
    let table = join_practice(&client, "tongits").await;
    assert_eq!(join_practice(&client, "tongo_options").await, table, "the same table is returned");
    assert_eq!(client.seat("newbie").await.unwrap(), table);
    let private = json!({ "room": "newbie", "bet": 100 });
    post_json(&client, "/v1/private-tables", &private)
        .await
        .expect_refusal(409, "seated_elsewhere");
    client.leave().await.unwrap();
    client.seat("newbie").await.unwrap();
    refuse_practice(&client, "seated_elsewhere").await;
    client.leave().await.unwrap();
    for (body, why) in [
        (json!({ "kind": "chess" }), "kind"),
        (json!({ "kind": "tongits", "rule_set": "none" }), "rule_set"),
        (json!({ "kind": "tongits", "rules": { "no_such": 1 } }), "switches"),
        (json!({ "kind": "tongits", "players": 2 }), "players"),
    ] {
        let refused = post_json(&client, PATH, &body).await.expect_refusal(422, "rules_invalid");
        assert!(refused["detail"].as_str().unwrap().starts_with(why), "{refused}");
    }
    let eight = json!({ "kind": "tongo_assets", "players": 6 });
    post_json(&client, PATH, &eight).await.expect(200);
    let play = join_table(&client).await;
    assert_eq!(play.view().unwrap().seats.iter().flatten().count(), 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn practice_tables_are_limited_and_one_that_was_left_does_not_count() {
    let lobby = lobby::Options { practice_tables: 1, ..lobby::Options::default() };
    let house = House::with_setup(Setup { lobby, ..Setup::default() }).await;
    let [first, second] = [house.guest("Althea").await, house.guest("Benjie").await];
    join_practice(&first, "tongits").await;
    refuse_practice(&second, "practice_full").await;
    first.leave().await.unwrap();
    wait_until("the table is no longer listed", async || {
        let answer = post_json(&second, PATH, &json!({ "kind": "tongits" })).await;
        assert!(answer.status == 200 || answer.refusal() == (409, "practice_full"), "{answer:?}");
        answer.status == 200
    })
    .await;
    let none = lobby::Options { practice_tables: 0, ..lobby::Options::default() };
    let house = House::with_setup(Setup { lobby: none, ..Setup::default() }).await;
    let third = house.guest("Carmela").await;
    refuse_practice(&third, "practice_full").await;
}

/// A player who disappears loses the table when it is not ready for the next game.
#[tokio::test(flavor = "multi_thread")]
async fn an_abandoned_practice_table_closes_automatically() {
    // The player has to be ready once before it disappears, also on a busy machine.
    let clocks = Clocks { prepare_ms: 3_000, ..ai_clocks(1) };
    let (bank, _live, node) = Node::with_stores(clocks).await;
    let player = bank.player(0).await;
    let tongits = RuleSetRequest { kind: Some("tongits".into()), ..RuleSetRequest::default() };
    let table = node.lobby.join_practice(player, tongits, None, None).await.unwrap();
    let mut seated = ConnectedPlayer::join(&node, table, player).await;
    let game = seated.table.phase().game().unwrap();
    let ready = Input::Ready { player, game, commitment: None };
    node.tables().submit(table, ready).await.unwrap();
    let connection = seated.connection;
    node.tables().submit(table, Input::Disconnect { player, connection }).await.unwrap();
    seated.wait_until(|table| matches!(table.phase(), Phase::Waiting)).await;
    assert!(seated.table.is_deserted());
    let is_free = async || matches!(node.lobby.seated_at(player).await, Ok(None));
    wait_until("the seat claim is released", is_free).await;
    let table = node.read_table(table).await;
    assert!(matches!(bahay_bots::table::hint(&table, player), Err(Rejection::NotSeated)));
}

/// A process dies during a game, and another process ends the game once.
#[tokio::test(flavor = "multi_thread")]
async fn a_killed_process_leaves_a_game_that_ends_once() {
    let database = TestDatabase::new().await;
    let mut command = serve(&database);
    let [doomed, other] = [Server::start(&mut command).await, Server::start(&mut command).await];
    let client = guest_at(&doomed.url, "Althea").await;
    join_practice(&client, "tongits").await;
    let mut play = join_table(&client).await;
    ready(&mut play).await;
    play.read_until("a prompt", is_asked).await;
    let game = play.prompt().unwrap().game;
    doomed.signal("KILL");
    let known = play.drop_connection();
    let mut play = client.with_base(&other.url).play().await.unwrap();
    play.resume(known);
    let joining = play.join().await.unwrap();
    let mut happened = play.wait_for_answer(joining).await.unwrap();
    while !matches!(play.view().unwrap().phase, PhaseView::Preparing { .. }) {
        if !is_asked(&play) {
            if let Message::Update { events, .. } = play.next_message().await {
                happened.extend(events);
            }
            continue;
        }
        // The input is rejected if the AI, which plays for the absent player, was faster.
        if let Ok((prompt, action)) = hint_with_events(&mut play, &mut happened).await
            && play.prompt().is_some_and(|open| open.number == prompt)
        {
            let acting = play.act(action).await.unwrap();
            if let Ok(events) = play.wait_for_answer(acting).await {
                happened.extend(events);
            }
        }
    }
    let is_settled =
        |event: &&Happened| matches!(event, Event::Settled { game: of, .. } if *of == game);
    assert_eq!(happened.iter().filter(is_settled).count(), 1);
    let pool = database.pool().await;
    assert_eq!(count_rows(&pool, "games").await, 0);
}
