//! House bots: they join players who have waited, are marked as bots everywhere, play on when a
//! node stops, and make room for players.

use std::collections::BTreeSet;
use std::time::Duration;

use bahay::clock::Timestamp;
use bahay::live_store::SeatClaim;
use bahay::lobby::{self, HouseBot, Matcher, house_rooms};
use bahay::ratings::Ratings;
use bahay::records::Records;
use bahay::standings::{self, Calendar};
use bahay_client_tokio::{Client, Play};
use bahay_engine::table::{Clocks, PhaseView, PlayerId, TableId};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::bank::{Bank, PotGoes, table};
use crate::support::checks::check_ledger;
use crate::support::db::{execute, read_row, read_rows, read_value};
use crate::support::house::{House, Setup, ai_clocks, join_table, unhurried_clocks};
use crate::support::node::Node;
use crate::support::play::{TestPlay as _, is_playing};
use crate::support::rest::post_json;
use crate::support::waiting::{wait_for, wait_until};

const NEWBIE: &str = "newbie";

/// Starts a house with this many bots, which join almost at once.
async fn house(bots: u16) -> House {
    let bots_after = Duration::from_millis(1);
    let lobby = lobby::Options { bots, bots_after, ..lobby::Options::default() };
    let clocks = Clocks { prepare_ms: 5_000, ..ai_clocks(20) };
    House::with_setup(Setup { rooms: house_rooms(clocks), lobby, ..Setup::default() }).await
}

async fn seek(client: &Client) -> Value {
    let body = json!({ "rooms": [NEWBIE] });
    post_json(client, "/v1/matchmaking/tickets", &body).await.expect(200)
}

/// Reads a resource until the answer satisfies the condition.
async fn until(client: &Client, path: &str, is_it: impl Fn(&Value) -> bool) -> Value {
    wait_for(path, async || client.read::<Value>(path).await.ok().filter(&is_it)).await
}

async fn seated(client: &Client, ticket: &Value) -> TableId {
    let path = format!("/v1/matchmaking/tickets/{}", ticket["id"].as_str().unwrap());
    let ticket = until(client, &path, |ticket| ticket["state"] == "seated").await;
    TableId(ticket["table"].as_str().unwrap().parse().unwrap())
}

fn seats(play: &Play) -> Vec<(PlayerId, bool)> {
    let view = play.view().unwrap();
    view.seats.iter().flatten().map(|seat| (seat.player, seat.bot)).collect()
}

/// Opens a connection and waits until bots have filled the client's table.
async fn join_full_table(client: &Client) -> Play {
    let mut play = join_table(client).await;
    play.read_until("full table", |play| seats(play).len() == 3).await;
    play
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_player_plays_with_bots_even_if_the_node_stops() {
    let mut house = house(3).await;
    let client = house.guest("Althea").await;
    let ticket = seek(&client).await;
    seated(&client, &ticket).await;
    let mut play = join_full_table(&client).await;
    let view = play.view().unwrap().clone();
    for seat in view.seats.iter().flatten() {
        assert_eq!(seat.bot, seat.player != client.player());
        assert_eq!(seat.bot, seat.name.starts_with("Bot "), "{seat:?}");
        assert!(seat.avatar.is_some());
    }
    let bots: Vec<PlayerId> =
        seats(&play).into_iter().filter(|(_, bot)| *bot).map(|(player, _)| player).collect();
    assert_eq!(bots.len(), 2);
    let game = play.prepared_game().await;
    let PhaseView::Preparing { ready, .. } = play.view().unwrap().phase else { panic!("{view:?}") };
    assert!(ready.is_empty(), "the readiness of others is hidden: {ready:?}");
    play.confirm_ready(game).await;
    // The bots were ready at once, so the answer already opens the game.
    let phase = &play.view().unwrap().phase;
    assert!(!matches!(phase, PhaseView::Preparing { .. }), "{phase:?}");
    play.read_until("a game", is_playing).await;

    // The node stops and its player stays away: another node plays all three seats.
    let (base, running) = house.node().await;
    play.drop_connection();
    house.stop().await;
    let client = client.with_base(&base);
    let games = until(&client, "/v1/me/games", |games| games["items"] != json!([])).await;
    assert_eq!(games["items"][0]["bots"], 2);
    let path = format!("/v1/games/{}", games["items"][0]["id"].as_str().unwrap());
    let game: Value = client.read(&path).await.unwrap();
    for seat in game["seats"].as_array().unwrap() {
        let is_bot = seat["player"] != json!(client.player());
        assert_eq!(seat["is_bot"], is_bot);
        assert_eq!(is_bot, seat["name"].as_str().unwrap().starts_with("Bot "));
        if is_bot {
            assert_eq!(seat["actions"]["player"], 0);
            assert_eq!(seat["actions"]["clock"], 0);
        }
    }
    let record: Value = client.read(&format!("{path}/record")).await.unwrap();
    assert_eq!(record["bots"].as_array().unwrap().len(), 2);

    // Bots have profiles, which mark them as bots.
    let profile: Value = client.read(&format!("/v1/players/{}", bots[0])).await.unwrap();
    assert_eq!((&profile["is_bot"], &profile["statistics"][0]["games"]), (&json!(true), &json!(0)));
    let mine: Value = client.read(&format!("/v1/players/{}", client.player())).await.unwrap();
    assert_eq!(mine["is_bot"], false);

    // Bots leave when the player does not come to the next game.
    let (live, _publications) = house.live.connect().await;
    for bot in &bots {
        let is_gone = async || live.seat_claim(*bot).await.unwrap() == SeatClaim::None;
        wait_until("bots leave with the player", is_gone).await;
    }

    // The game counts for the player's own statistics, but for no leaderboard and no rating.
    let done = |answer: &Value| answer["items"][0]["games"] == 1;
    until(&client, "/v1/me/statistics", done).await;
    let board: Value = client.read("/v1/leaderboards/coins/ever").await.unwrap();
    assert_eq!(board["total"], 0);
    let ratings = Ratings::new(house.pool.clone());
    house.rate_all(&ratings).await;
    let counts =
        "select (select count(*) from ratings), count(*) from games where state = 'settled'";
    let counts: (i64, i64) = read_row(&house.pool, counts).await;
    assert_eq!(counts, (0, 1));

    // The grants to bots come from `issue` under a code of their own, and the books hold.
    let given = "select count(*), min(a.player::text) is not null
        from transfers t
        join accounts a on a.id = t.destination
        join accounts i on i.id = t.source and i.kind = 'issue'
        where t.code = 'house_bot'";
    let given: (i64, bool) = read_row(&house.pool, given).await;
    assert_eq!(given, (2, true));

    // The remaining coins are swept back once, under another code.
    let left = "select coalesce(sum(a.balance), 0)::bigint from accounts a
        join players p on p.id = a.player and p.kind = 'bot'";
    wait_until("bots without a seat have no coins", async || {
        read_value::<i64>(&house.pool, left).await <= 0
    })
    .await;
    let back = "select t.code, count(distinct t.source), sum(t.amount)::bigint > 0
        from transfers t
        join accounts i on i.id = t.destination and i.kind = 'issue'
        group by t.code";
    let back: Vec<(String, i64, bool)> = read_rows(&house.pool, back).await;
    assert_eq!(back, [("sweep".to_owned(), 2, true)]);
    running.stop().await.unwrap();
    check_ledger(&house.pool).await;
    let (records, calendar) = (Records::without_archive(), Calendar::default());
    let checked = standings::check(&house.pool, &records, &calendar).await.unwrap();
    assert_eq!(checked.differences, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn bots_make_room_for_players_who_wait() {
    let house = house(2).await;
    let one = house.guest("Althea").await;
    let ticket = seek(&one).await;
    let table = seated(&one, &ticket).await;
    let mut play = join_full_table(&one).await;
    // No bot is free, so the second player is seated beside the first.
    let other = house.guest("Benjie").await;
    let ticket = seek(&other).await;
    assert_eq!(seated(&other, &ticket).await, table);
    play.read_until("second player", |play| {
        seats(play).iter().any(|(player, _)| *player == other.player())
    })
    .await;
    assert!(seats(&play).iter().filter(|(_, bot)| *bot).count() < 2);
}

/// A player who asks for a seat at once gets that of a bot before a table alone.
#[tokio::test(flavor = "multi_thread")]
async fn a_bot_gives_its_seat_to_a_player_who_asks_for_one_at_once() {
    let house = house(4).await;
    let one = house.guest("Althea").await;
    let table = one.seat(NEWBIE).await.unwrap();
    let mut play = join_full_table(&one).await;
    let other = house.guest("Benjie").await;
    assert_eq!(other.seat(NEWBIE).await.unwrap(), table);
    play.read_until("second player", |play| {
        let seats = seats(play);
        seats.len() == 3 && seats.iter().filter(|(_, bot)| *bot).count() == 1
    })
    .await;
}

/// The matcher's state about waiting players passes on with the lease.
#[tokio::test]
async fn waiting_times_outlive_the_matcher() {
    let (bank, live, node) = Node::with_stores(unhurried_clocks()).await;
    let live = live.connect().await.0;
    let waiting = bank.player(1_000_000).await;
    let table = node.lobby.seat(waiting, NEWBIE).await.unwrap();
    let bot =
        HouseBot { player: bank.player(1).await, name: "Bot Una".into(), avatar: "carabao".into() };
    let mut remembered = BTreeSet::new();
    for _ in 0..3 {
        let bots_after = Duration::from_hours(1);
        let options = lobby::Options { bots_after, ..lobby::Options::default() };
        let mut matcher = Matcher::new(node.lobby_with(std::slice::from_ref(&bot), options));
        // Companions are provided in one of every few rounds, which these include.
        for _ in 0..10 {
            assert!(matcher.run_round().await.unwrap().is_some(), "the lease was released");
        }
        matcher.release_lease().await.unwrap();
        let memory =
            live.matching_memory().await.unwrap().expect("the matcher stores the waiting tables");
        assert!(memory.contains(&table.to_string()), "{memory}");
        remembered.insert(memory);
    }
    assert_eq!(remembered.len(), 1, "{remembered:?}");
}

/// Bots that are due join at once, before the next regular pass.
#[tokio::test]
async fn bots_come_in_the_round_in_which_they_are_due() {
    let (bank, _live, node) = Node::with_stores(unhurried_clocks()).await;
    let mut bots = Vec::new();
    for name in ["Bot Una", "Bot Amihan"] {
        let player = bank.player(1_000_000).await;
        bots.push(HouseBot { player, name: name.into(), avatar: "carabao".into() });
    }
    let options = lobby::Options { bots_after: Duration::ZERO, ..lobby::Options::default() };
    let mut matcher = Matcher::new(node.lobby_with(&bots, options));
    matcher.run_round().await.unwrap();
    let player = bank.player(1_000_000).await;
    let ticket = node.lobby.create_ticket(player, &[NEWBIE.into()], None).await.unwrap();
    matcher.run_round().await.unwrap();
    let ticket = node.lobby.ticket(player, ticket.id).await.unwrap();
    let table = node.read_table(ticket.table.unwrap()).await;
    assert_eq!(table.occupants().filter(|(_, who)| who.bot).count(), 2);
}

/// Bots also join a player who waits at a table.
#[tokio::test(flavor = "multi_thread")]
async fn bots_join_a_waiting_player_and_are_the_same_on_all_nodes() {
    let house = house(2).await;
    let (base, running) = house.node().await;
    let client = house.guest("Althea").await;
    client.seat(NEWBIE).await.unwrap();
    let _play = join_full_table(&client).await;
    let bots = "select count(*), count(distinct name) from players where kind = 'bot'";
    let bots: (i64, i64) = read_row(&house.pool, bots).await;
    assert_eq!(bots, (2, 2));
    // Players cannot take names like those of bots.
    let device = format!("test-device-{}", Uuid::new_v4());
    let refused = Client::guest(&base, &device, "Bot Amihan").await.unwrap_err();
    assert!(refused.to_string().contains("name_reserved"), "{refused}");
    running.stop().await.unwrap();
}

/// Creates house bots without coins, with accounts as the server makes them.
pub(crate) async fn house_bots(bank: &Bank, count: usize) -> Vec<HouseBot> {
    let owner = bank.database.owner_pool().await;
    let mut bots = vec![];
    for number in 0..count {
        let (player, name) = (bank.player(0).await, format!("Bot {number}"));
        let change =
            format!("update players set kind = 'bot', name = '{name}' where id = '{player}'");
        execute(&owner, &change).await;
        bots.push(HouseBot { player, name, avatar: "carabao".into() });
    }
    bots
}

/// The house's grants bound the winnings from bots, whatever the bet of a room.
#[tokio::test]
async fn grants_to_bots_stay_within_the_daily_limit() {
    let (bank, _live, node) = Node::with_stores(unhurried_clocks()).await;
    let room = |id: &str| {
        let rooms = house_rooms(unhurried_clocks());
        rooms.into_iter().find(|room| room.id() == id).unwrap()
    };
    // The limit suffices for two bots in the cheapest room, and for none in the next one.
    let needed = room(NEWBIE).wallet_min();
    let bots_day_max = needed.checked_add(needed).unwrap();
    assert!(room("barkada").wallet_min() > bots_day_max);
    let bots = house_bots(&bank, 4).await;
    let bots_after = Duration::ZERO;
    let options = lobby::Options { bots_day_max, bots_after, ..lobby::Options::default() };
    let lobby = node.lobby_with(&bots, options);
    let mut matcher = Matcher::new(lobby.clone());
    matcher.run_round().await.unwrap();
    let coins = async || granted_to_bots(&bank).await;

    let dear = bank.player(100_000_000).await;
    let ticket = lobby.create_ticket(dear, &["barkada".into()], None).await.unwrap();
    for _ in 0..20 {
        matcher.run_round().await.unwrap();
    }
    let ticket = lobby.ticket(dear, ticket.id).await.unwrap();
    assert_eq!(ticket.table, None, "no bot can be funded for this room");
    assert_eq!(coins().await, 0);

    let cheap = bank.player(1_000_000).await;
    let ticket = lobby.create_ticket(cheap, &[NEWBIE.into()], None).await.unwrap();
    matcher.run_round().await.unwrap();
    let seated = lobby.ticket(cheap, ticket.id).await.unwrap().table.unwrap();
    let table = node.read_table(seated).await;
    assert_eq!(table.occupants().filter(|(_, who)| who.bot).count(), 2);
    assert_eq!(coins().await, bots_day_max.hundredths());

    // Two more bots are free, but the purse is empty.
    let late = bank.player(1_000_000).await;
    let late_ticket = lobby.create_ticket(late, &[NEWBIE.into()], None).await.unwrap();
    for _ in 0..20 {
        matcher.run_round().await.unwrap();
    }
    // One bot may have made room for the waiting player and returned its coins.
    assert!(coins().await <= bots_day_max.hundredths());
    let seat = lobby.ticket(late, late_ticket.id).await.unwrap().table;
    assert!(seat.is_none_or(|table| table == seated), "no table with other bots");
}

/// Returns the coins granted to bots, less those swept back.
async fn granted_to_bots(bank: &Bank) -> i64 {
    let given = "select coalesce(sum(
            case t.code when 'house_bot' then t.amount when 'sweep' then -t.amount else 0 end
        ), 0)::bigint from transfers t";
    read_value(&bank.pool, given).await
}

/// The losses of bots and the coins that they hold add up to their grants.
#[tokio::test]
async fn coins_of_bots_are_lost_or_held() {
    let bank = Bank::new().await;
    let player = bank.player(10_000).await;
    let bots = house_bots(&bank, 2).await;
    for bot in &bots {
        bank.grant(bot.player, bahay::ledger::Grant::HouseBot, 10_000).await.unwrap();
    }
    let seats = [player, bots[0].player, bots[1].player];
    let ever = Timestamp::from_ms(0);
    let coins = async |since: Timestamp| {
        let coins = bank.ledger.house_bot_coins(since).await.unwrap();
        (coins.lost.hundredths(), coins.held.hundredths())
    };
    assert_eq!(coins(ever).await, (0, 20_000));
    let place = table();
    // The player wins three counts and the antes wait in the POT; then a bot wins a game with the
    // POT.
    bank.play(place, &seats, 0, 3, PotGoes::Nowhere).await;
    assert_eq!(coins(ever).await, (800, 19_200));
    bank.play(place, &seats, 1, 1, PotGoes::ToWinner).await;
    let (lost, held) = coins(ever).await;
    assert_eq!((lost + held, held), (20_000, 19_200 - 200 - 100 + 190 + 600));
    // Stakes and antes of a running game are held, not lost.
    let game = bank.deal(place, &seats);
    bank.open(&game).await;
    assert_eq!(coins(ever).await, (lost, held));
    assert_eq!(coins(Timestamp::from_ms(bank.now_ms())).await, (0, held));
}
