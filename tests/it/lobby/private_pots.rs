//! The POT of a private table (rule 7.4): the host alone decides who plays there, so a kicked
//! player takes its share along, and the POT is refunded when the table ends.

use std::time::Duration;

use bahay::ledger::audit::Difference;
use bahay::ledger::{LedgerError, PotRefundRequest};
use bahay::lobby::{self, PRIVATE_TABLES_MAX, house_rooms};
use bahay_client_tokio::{Client, Play};
use bahay_engine::table::{Share, TableId};
use redis::AsyncCommands as _;
use serde_json::{Value, json};

use crate::support::bank::{self, ANTE, Bank, PotGoes};
use crate::support::checks::check_ledger;
use crate::support::db::execute;
use crate::support::house::{FRIENDS, House, Setup, ai_clocks};
use crate::support::operators::admin_session;
use crate::support::play::{TestPlay as _, become_ready, join_tables, prepared_game};
use crate::support::rest::{call_at, delete, get, items, post, post_json};
use crate::support::waiting::wait_until;

/// The ante of each player, in hundredths of a coin.
const BET: i64 = 300;

/// Three friends at a private table; the first is its host.
pub(crate) struct Party {
    pub(crate) house: House,
    pub(crate) code: String,
    table: TableId,
    pub(crate) clients: Vec<Client>,
}

impl Party {
    async fn new(private_ends_after: Duration) -> Self {
        Self::with_options(lobby::Options { private_ends_after, ..lobby::Options::default() }, BET)
            .await
    }

    /// Creates a party in a house with these options, at this bet.
    pub(crate) async fn with_options(lobby: lobby::Options, bet: i64) -> Self {
        let setup = Setup { rooms: house_rooms(ai_clocks(20)), lobby, ..Setup::default() };
        let house = House::with_setup(setup).await;
        let clients = house.guests(FRIENDS).await;
        let body = json!({ "room": "newbie", "bet": bet, "rule_set": "kingdom" });
        let opened = post_json(&clients[0], "/v1/private-tables", &body).await.expect(201);
        let code = opened["code"].as_str().unwrap().to_owned();
        let table = TableId(opened["table"].as_str().unwrap().parse().unwrap());
        let party = Self { house, code, table, clients };
        for guest in &party.clients[1..] {
            party.join(guest).await;
        }
        party
    }

    fn path(&self, rest: &str) -> String {
        format!("/v1/private-tables/{}{rest}", self.code)
    }

    async fn join(&self, guest: &Client) {
        post(guest, &self.path("/seat")).await.expect(200);
    }

    async fn kick(&self, guest: &Client) {
        let path = self.path(&format!("/players/{}", guest.player()));
        delete(&self.clients[0], &path).await.expect(204);
    }

    /// Asserts that the books and their proofs hold.
    async fn audit_clean(&self) {
        check_ledger(&self.house.pool).await;
    }
}

/// Plays a whole game, with the AI for all but the first player, who watches to the end.
pub(crate) async fn play_game<'a>(clients: impl IntoIterator<Item = &'a Client>) -> Play {
    let mut plays = join_tables(clients).await;
    let played = become_ready(&mut plays).await;
    let mut play = plays.swap_remove(0);
    drop(plays);
    let is_over = |play: &Play| prepared_game(play).is_some_and(|game| game != played);
    play.act_until("the end of the game", is_over).await;
    play
}

async fn available(client: &Client) -> i64 {
    client.wallet().await.unwrap().available.hundredths()
}

/// Waits until the wallet holds this amount.
async fn until_available(client: &Client, hundredths: i64) {
    let what = format!("{} has {hundredths}", client.player());
    wait_until(&what, async || available(client).await == hundredths).await;
}

/// Returns the amounts of the notices about POT refunds.
async fn refund_notices(client: &Client) -> Vec<i64> {
    let notices: Value = client.read("/v1/me/notices").await.unwrap();
    let returned = items(&notices).iter().filter(|notice| notice["kind"] == "pot_refunded");
    returned.map(|notice| notice["amount"].as_i64().unwrap()).collect()
}

/// A host kicks the player with the crown and invites a friend, to win that player's coins.
#[tokio::test(flavor = "multi_thread")]
async fn a_kicked_player_takes_its_share_of_the_pot_along() {
    let party = Party::new(Duration::from_secs(3_600)).await;
    let [host, guest, other] = &party.clients[..] else { panic!("three have sat down") };
    let mut play = play_game([host, guest, other]).await;
    assert_eq!(play.view().unwrap().pot.hundredths(), 3 * BET);
    let wallet = available(guest).await;
    party.kick(guest).await;
    until_available(guest, wallet + BET).await;
    assert_eq!(refund_notices(guest).await, [BET]);
    let has_shrunk = |play: &Play| play.view().unwrap().pot.hundredths() == 2 * BET;
    play.read_until("the smaller POT", has_shrunk).await;
    play.drop_connection();

    let friend = party.house.guest("Dante").await;
    party.join(&friend).await;
    let play = play_game([host, other, &friend]).await;
    let pot = play.view().unwrap().pot.hundredths();
    assert!(pot == 0 || pot == 5 * BET, "{pot}");
    assert_eq!(refund_notices(guest).await, [BET], "the refund happens once");
    party.audit_clean().await;
}

/// If nobody returns, the POT is refunded to those who paid it, and nothing of the table remains.
#[tokio::test(flavor = "multi_thread")]
async fn an_abandoned_table_ends_and_refunds_its_pot() {
    let party = Party::new(Duration::from_millis(500)).await;
    drop(play_game(&party.clients).await);
    let mut wallets = vec![];
    for client in &party.clients {
        client.leave().await.unwrap();
        wallets.push(available(client).await);
    }
    for (client, wallet) in party.clients.iter().zip(wallets) {
        until_available(client, wallet + BET).await;
        assert_eq!(refund_notices(client).await, [BET]);
    }
    get(&party.clients[0], &party.path("")).await.expect_refusal(404, "code_not_found");
    post(&party.clients[1], &party.path("/seat")).await.expect_refusal(404, "code_not_found");
    // The keys of the table expire, and no list contains it: lists follow the writes of a table.
    let mut raw = party.house.live.raw().await;
    let head = party.house.live.table_key(party.table, "head");
    wait_until("the table is forgotten", async || raw.pttl::<_, i64>(&head).await.unwrap() >= 0)
        .await;
    let lists = format!("{}:{{room:private}}:*", party.house.live.prefix);
    wait_until("no list has the table", async || {
        raw.keys::<_, Vec<String>>(&lists).await.unwrap().is_empty()
    })
    .await;
    party.audit_clean().await;
}

/// An operator ends the table, which is not the fault of its players.
#[tokio::test(flavor = "multi_thread")]
async fn a_voided_private_table_refunds_its_pot() {
    let party = Party::new(Duration::from_secs(3_600)).await;
    drop(play_game(&party.clients).await);
    let session = admin_session(&party.house).await;
    let mut before = vec![];
    for client in &party.clients {
        before.push(available(client).await);
    }
    let path = format!("/v1/operator/tables/{}/voiding", party.table);
    let body = json!({ "reason": "it does not go on" });
    call_at(&party.house.base, &session, "POST", &path, Some(&body)).await.expect(200);
    for (client, before) in party.clients.iter().zip(before) {
        assert_eq!(available(client).await, before + BET);
        assert_eq!(refund_notices(client).await, [BET]);
    }
    party.audit_clean().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_number_of_private_tables_of_a_player_is_limited() {
    let (house, host) = House::with_guest().await;
    let body = json!({ "room": "newbie", "bet": BET });
    let open = || post_json(&host, "/v1/private-tables", &body);
    let mut tables = vec![];
    for _ in 0..PRIVATE_TABLES_MAX {
        let opened = open().await.expect(201);
        tables.push(TableId(opened["table"].as_str().unwrap().parse().unwrap()));
        host.leave().await.unwrap();
    }
    open().await.expect_refusal(409, "too_many_private_tables");
    let another = house.guest("Benjie").await;
    post_json(&another, "/v1/private-tables", &body).await.expect(201);
    // A forgotten table frees a place, unless it is being created just now.
    let mut raw = house.live.raw().await;
    let _: i64 = raw.del(house.live.table_key(tables[0], "head")).await.unwrap();
    assert_eq!(open().await.status, 409);
    let hosted = format!("{}:{{p{}}}:hosted", house.live.prefix, host.player());
    let _: i64 = raw.zadd(&hosted, tables[0].to_string(), 0).await.unwrap();
    open().await.expect(201);
}

/// In the ledger, each refund happens once, equals exactly the payments, and never during a game.
#[tokio::test]
async fn a_pot_refund_is_what_its_player_has_paid_since_the_pot_was_last_won() {
    const FUNDS: i64 = 100_000;
    let (bank, table) = (Bank::new().await, bank::table());
    let players = bank.players([FUNDS; 3]).await;
    let newcomers = [players[0], players[1], bank.player(FUNDS).await];
    bank.play(table, &players, 0, 1, PotGoes::ToWinner).await;
    bank.play(table, &players, 0, 1, PotGoes::Nowhere).await;
    let last = bank.deal(table, &newcomers);
    bank.open(&last).await;
    let part = PotRefundRequest { table, game: last.game, player: Some(players[0]) };
    let refused = bank.ledger.perform_pot_refund(part).await;
    assert!(matches!(refused, Err(LedgerError::TableBusy { .. })), "{refused:?}");
    bank.play_out(last.clone(), 0, 1, PotGoes::Nowhere).await;

    let ante = ANTE.hundredths();
    let wallet = bank.wallets(&players[..1]).await[0];
    for _ in 0..2 {
        let (returned, pot) = bank.ledger.perform_pot_refund(part).await.unwrap();
        let amount = ANTE.checked_mul(2).unwrap();
        assert_eq!(returned.shares, [Share { player: players[0], amount }]);
        assert_eq!(pot.hundredths(), 4 * ante);
        assert_eq!(bank.wallets(&players[..1]).await[0], wallet + 2 * ante);
    }
    // A player without payments gets no refund.
    let stranger = PotRefundRequest { player: Some(bank.player(FUNDS).await), ..part };
    let (returned, pot) = bank.ledger.perform_pot_refund(stranger).await.unwrap();
    assert_eq!((returned.shares, pot.hundredths()), (vec![], 4 * ante));
    // A player who took its share and pays again has only the new payments.
    bank.play(table, &players, 1, 1, PotGoes::Nowhere).await;
    let (game, _) = bank.play(table, &players, 1, 1, PotGoes::Nowhere).await;
    let (returned, _) =
        bank.ledger.perform_pot_refund(PotRefundRequest { game, ..part }).await.unwrap();
    assert_eq!(returned.shares[0].amount, ANTE.checked_mul(2).unwrap());

    let all = PotRefundRequest { table, game, player: None };
    let at_once =
        tokio::join!(bank.ledger.perform_pot_refund(all), bank.ledger.perform_pot_refund(all));
    for answer in [at_once.0, at_once.1] {
        // The second request may have to be repeated.
        let (returned, pot) = match answer {
            Ok(answer) => answer,
            Err(_) => bank.ledger.perform_pot_refund(all).await.unwrap(),
        };
        let mut shares: Vec<_> =
            returned.shares.iter().map(|share| (share.player, share.amount.hundredths())).collect();
        shares.sort();
        let mut expected =
            vec![(players[1], 4 * ante), (players[2], 3 * ante), (newcomers[2], ante)];
        expected.sort();
        assert_eq!((shares, pot.hundredths()), (expected, 0));
    }
    bank.audit_clean().await;

    // The audit itself is tested: coins sent to another player are found.
    let owner = bank.database.owner_pool().await;
    let swap = format!(
        "update operations o
        set destinations = array_fill(a.id, array[cardinality(o.destinations)])
        from accounts a
        where a.code = 'wallet:{}' and o.kind = 'pot_refund'",
        players[0]
    );
    execute(&owner, &swap).await;
    let report = bank.audit().await;
    let is_it = |one: &Difference| matches!(one, Difference::PotRefundDiffers { .. });
    assert!(report.differences.iter().any(is_it), "{:?}", report.differences);
}
