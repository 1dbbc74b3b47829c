//! Reversed settlements: the game, the list, its sums, the file, the day and the ledger all show
//! the same coins.

use bahay::clock::{self, Timestamp};
use bahay::operators::Role;
use bahay::reports::Reports;
use bahay_engine::table::GameId;
use jiff::tz::{Offset, TimeZone};
use reqwest::RequestBuilder;
use serde_json::{Value, json};

use super::reports::{load_page, sign_in_at_desk};
use crate::http::server::{Guest, Server, expect_refusal, list_players, ok, text};
use crate::support::bank::{PotGoes, table};
use crate::support::checks::{count_reports, count_standings};
use crate::support::db::{execute, read_value};
use crate::support::rest::items;

const PATH: &str = "/v1/operator/corrections";

/// A server with a reversed game, one that is not reversed, and one that paid a POT.
struct Office {
    server: Server,
    luz: String,
    ben: String,
    guests: Vec<Guest>,
    games: Vec<GameId>,
}

impl Office {
    async fn new() -> Self {
        let server = Server::new().await;
        let luz = server.session("ate.luz", Role::Finance).await;
        let ben = server.session("kuya.ben", Role::Admin).await;
        let guests = server.node.guests(3).await;
        let players = list_players(&guests);
        let mut games = Vec::new();
        for (winner, counts, pot) in
            [(1, 3, PotGoes::Nowhere), (0, 2, PotGoes::Nowhere), (2, 1, PotGoes::ToWinner)]
        {
            games.push(server.bank.play(table(), &players, winner, counts, pot).await.0);
        }
        Self { server, luz, ben, guests, games }
    }

    fn post(&self, token: &str, path: &str, body: &Value) -> RequestBuilder {
        self.server.node.post_once(token, &format!("{PATH}{path}"), body)
    }

    fn request_reversal(&self, operation: i64) -> RequestBuilder {
        let body = json!({
            "kind": "reversal", "operation": operation, "reason": "they played as one"
        });
        self.post(&self.luz, "", &body)
    }

    async fn find_settlement(&self, game: usize) -> i64 {
        let key = format!("settle:{}", self.games[game]);
        let operation = format!("select operation from operation_keys where key = '{key}'");
        read_value(&self.server.bank.pool, &operation).await
    }

    async fn reverse(&self, game: usize) {
        let correction = ok(self.request_reversal(self.find_settlement(game).await)).await;
        let path = format!("/{}/approval", text(&correction["id"]));
        ok(self.post(&self.ben, &path, &json!({}))).await;
    }

    /// Projects all bookings.
    async fn run_reports(&self) -> Reports {
        self.server.bank.ledger.project_house_entries().await.unwrap();
        count_standings(&self.server.bank.pool).await;
        count_reports(&self.server.bank.pool).await
    }

    async fn load_totals(&self, query: &str) -> Value {
        let path = format!("/v1/operator/settlements/totals{query}");
        ok(self.server.node.get(&path, &self.luz)).await
    }

    /// Returns the sum of a column of the CSV file.
    async fn sum_csv_column(&self, column: &str) -> i64 {
        let request = self.server.node.get("/v1/operator/settlements.csv", &self.luz);
        let file = request.send().await.unwrap().text().await.unwrap();
        let mut lines = file.split("\r\n").filter(|line| !line.is_empty());
        let place = lines.next().unwrap().split(',').position(|name| name == column).unwrap();
        lines.map(|line| line.split(',').nth(place).unwrap().parse::<i64>().unwrap()).sum()
    }

    /// Asserts that every report shows the same coins, and that the ledger's accounts agree.
    async fn assert_agree(&self, reversed: i64) {
        let reports = self.run_reports().await;
        let totals = self.load_totals("").await;
        let sums = ["games", "gross", "fees", "pots", "reversed"];
        let [games, gross, fees, pots, reversed_games] =
            sums.map(|name| totals[name].as_i64().unwrap());
        assert_eq!((games, reversed_games), (3, reversed));
        assert_eq!(self.server.bank.balance("fee:newbie").await, fees);
        assert_eq!(self.sum_csv_column("gross_hundredths").await, gross);
        assert_eq!(self.sum_csv_column("fee_hundredths").await, fees);

        // A day in which it is noon now, so that everything was booked today.
        let now = jiff::Timestamp::now();
        let hour = now.to_zoned(TimeZone::UTC).hour();
        let zone = TimeZone::fixed(Offset::constant(12 - hour));
        let at = Timestamp::from_ms(clock::from_jiff(now).ms() + 60_000);
        let today = reports.today(at, &zone).await.unwrap();
        let day = today.day;
        assert_eq!((day.games_settled, day.settlements_reversed), (games, reversed));
        assert_eq!(day.payments.hundredths(), gross);
        assert_eq!(day.fees.hundredths(), fees);
        assert_eq!(day.pots.hundredths(), pots);
        let room = today.rooms.iter().find(|room| room.room == "newbie").unwrap().figures;
        assert_eq!((room.payments, room.fees), (day.payments, day.fees));
        let balances = reports.trial_balance().await.unwrap();
        assert!(bahay::reports::add_up(&balances), "{balances:?}");
    }
}

#[tokio::test]
async fn a_reversed_settlement_counts_nowhere() {
    let office = Office::new().await;
    office.assert_agree(0).await;
    let before = office.load_totals("").await;
    office.reverse(0).await;
    office.assert_agree(1).await;
    // Six of twelve counts, and their fee.
    let after = office.load_totals("").await;
    let gained = |name: &str| before[name].as_i64().unwrap() - after[name].as_i64().unwrap();
    assert_eq!((gained("gross"), gained("fees")), (600, 30));

    let node = &office.server.node;
    let listed = ok(node.get("/v1/operator/settlements", &office.luz)).await;
    for row in items(&listed) {
        assert_eq!(row["kind"], "tongits");
        let is_reversed = row["game"] == office.games[0].to_string();
        assert_eq!(row["reversed_at"].is_string(), is_reversed, "{row}");
        let nets: Vec<i64> = row["seats"]
            .as_array()
            .unwrap()
            .iter()
            .map(|seat| seat["net"].as_i64().unwrap())
            .collect();
        let amounts = (row["gross"].as_i64().unwrap(), row["fee"].as_i64().unwrap());
        assert_eq!(amounts == (0, 0) && nets == [0, 0, 0], is_reversed, "{row}");
    }
    // Filters by amount and by player use the amounts after the reversal.
    assert_eq!(office.load_totals("?gross_min=600").await["games"], 0);
    assert_eq!(office.load_totals("?gross_max=0").await["games"], 1);
    let of_player = office.load_totals(&format!("?player={}", office.guests[0].id)).await;
    assert_eq!(of_player, after);
    let mine = ok(node.get("/v1/me/games", &office.guests[1].access_token)).await;
    let mine = items(&mine);
    let reversed = mine.iter().find(|game| game["id"] == office.games[0].to_string()).unwrap();
    assert_eq!((&reversed["net"], reversed["reversed_at"].is_string()), (&json!(0), true));
    assert_eq!(mine.iter().filter(|game| game["reversed_at"] == Value::Null).count(), 2);

    let (cookie, _) = sign_in_at_desk(&office.server, "cora", Role::Finance).await;
    let page =
        load_page(&office.server, &format!("/desk/games/{}", office.games[0]), &cookie).await;
    assert!(page.contains("reversed") && !page.contains("Request its reversal"), "{page}");
    let path = format!("/v1/operator/games/{}", office.games[0]);
    let dossier = ok(node.get(&path, &office.luz)).await;
    assert!(dossier["reversed_at"].is_string());
    assert!(dossier["seats"].as_array().unwrap().iter().all(|seat| seat["net"] == 0));
    let operations = dossier["operations"].as_array().unwrap().iter();
    let kinds: Vec<_> = operations
        .map(|one| (one["kind"].as_str().unwrap(), one["reversed_by"].is_i64()))
        .collect();
    assert_eq!(kinds, [("open", false), ("settle", true), ("reverse", false)]);
    let page = load_page(&office.server, "/desk/settlements", &cookie).await;
    assert!(page.contains("reversed"), "{page}");
}

/// The projection follows from the seals alone: rebuilt, it has the same sums.
#[tokio::test]
async fn a_rebuilt_projection_of_reversals_has_the_same_sums() {
    let office = Office::new().await;
    office.assert_agree(0).await;
    office.reverse(0).await;
    office.reverse(1).await;
    office.assert_agree(2).await;
    let before = office.load_totals("").await;
    let owner = office.server.owner_pool().await;
    for again in [
        "truncate settlements, settlement_days, player_settlements, newcomer_coins, booked_hours,
            operation_hours, held_by_kind, held_pots",
        "update projections set seal = 0 where name = 'figures'",
    ] {
        execute(&owner, again).await;
    }
    office.assert_agree(2).await;
    assert_eq!(office.load_totals("").await, before);
}

#[tokio::test]
async fn a_reversal_is_offered_only_if_it_can_be_requested() {
    let office = Office::new().await;
    let (cookie, _) = sign_in_at_desk(&office.server, "cora", Role::Finance).await;
    let load_game_page = async |game: usize| {
        load_page(&office.server, &format!("/desk/games/{}", office.games[game]), &cookie).await
    };
    let is_offered = async |game: usize| {
        let path = format!("/v1/operator/ledger/operations/{}", office.find_settlement(game).await);
        ok(office.server.node.get(&path, &office.luz)).await["is_reversible"].as_bool().unwrap()
    };
    // The settlement paid a POT.
    let page = load_game_page(2).await;
    assert!(page.contains("It paid a POT") && !page.contains("Request its reversal"), "{page}");
    assert!(!is_offered(2).await);
    expect_refusal(office.request_reversal(office.find_settlement(2).await), 409, "not_reversible")
        .await;

    let operation = office.find_settlement(0).await;
    assert!(load_game_page(0).await.contains("Request its reversal") && is_offered(0).await);
    ok(office.request_reversal(operation)).await;
    let page = load_game_page(0).await;
    assert!(
        page.contains("waits for a decision") && !page.contains("Request its reversal"),
        "{page}"
    );
    assert!(!is_offered(0).await);
    expect_refusal(office.request_reversal(operation), 409, "reversal_requested").await;
}
