//! Reversed settlements: the game, the list, its sums, the file, the day and the ledger all show
//! the same coins.

use std::ops::Deref;

use bahay::clock::{self, Timestamp};
use bahay::operators::Role;
use bahay::reports::Reports;
use bahay_engine::table::GameId;
use jiff::tz::{Offset, TimeZone};
use serde_json::{Value, json};

use super::corrections::Office;
use crate::desk::browser::Browser;
use crate::http::server::{Guest, expect_refusal, list_players, ok};
use crate::support::bank::{PotGoes, table};
use crate::support::checks::{count_reports, count_standings};
use crate::support::csv::CsvFile;
use crate::support::db::{execute, read_values};
use crate::support::rest::items;

/// An office with a game to be reversed, one that is not reversed, and one that paid a POT.
struct SettledGames {
    office: Office,
    guests: Vec<Guest>,
    ids: Vec<GameId>,
}

impl Deref for SettledGames {
    type Target = Office;

    fn deref(&self) -> &Office {
        &self.office
    }
}

impl SettledGames {
    async fn new() -> Self {
        let office = Office::new().await;
        let server = &office.server;
        let guests = server.guests(3).await;
        let players = list_players(&guests);
        let mut ids = Vec::new();
        for (winner, counts, pot) in
            [(1, 3, PotGoes::Nowhere), (0, 2, PotGoes::Nowhere), (2, 1, PotGoes::ToWinner)]
        {
            ids.push(server.bank.play(table(), &players, winner, counts, pot).await.0);
        }
        Self { office, guests, ids }
    }

    async fn find_settlement(&self, game: usize) -> i64 {
        self.find_operation(&format!("settle:{}", self.ids[game])).await
    }

    async fn reverse_game(&self, game: usize) {
        self.reverse(self.find_settlement(game).await).await;
    }

    /// Projects all bookings.
    async fn run_reports(&self) -> Reports {
        self.server.bank.ledger.seal_operations().await.unwrap();
        count_standings(&self.server.bank.pool).await;
        count_reports(&self.server.bank.pool).await
    }

    async fn load_totals(&self, query: &str) -> Value {
        let path = format!("/v1/operator/settlements/totals{query}");
        ok(self.server.get(&path, &self.luz)).await
    }

    async fn load_csv(&self) -> CsvFile {
        let request = self.server.get("/v1/operator/settlements.csv", &self.luz);
        CsvFile::parse(&request.send().await.unwrap().text().await.unwrap())
    }

    /// Asserts that pages with one settlement each list the reversed ones in an order.
    async fn assert_reversals(&self, order: &str) {
        let path = format!("/v1/operator/settlements?order={order}&limit=1");
        let first = ok(self.server.get(&path, &self.luz)).await;
        let next = format!("{path}&cursor={}", first["next_cursor"].as_str().unwrap());
        let second = ok(self.server.get(&next, &self.luz)).await;
        assert_eq!(second["next_cursor"], Value::Null);
        let listed = [&first, &second].map(|page| items(page)[0]["game"].as_str().unwrap());
        let direction = if order.starts_with("newest") { "desc" } else { "asc" };
        let expected = format!(
            "select game::text from settlements where reversed_at is not null
            order by reversed_at {direction}"
        );
        let expected: Vec<String> = read_values(&self.server.bank.pool, &expected).await;
        assert_eq!(listed.as_slice(), expected, "{order}");
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
        let file = self.load_csv().await;
        assert_eq!(file.hundredths("paid").iter().sum::<i64>(), gross);
        assert_eq!(file.hundredths("fee").iter().sum::<i64>(), fees);
        file.assert_no_empty_column(&["ending"]);
        let marked = file.column("reversed").into_iter().filter(|word| *word == "yes").count();
        assert_eq!(i64::try_from(marked), Ok(reversed));
        // The columns of reversals exist only if there are some.
        let has_times = file.columns.iter().any(|name| name == "reversed_at");
        assert_eq!(has_times, reversed > 0);

        // A day in which it is noon now, so that everything was booked today.
        let now = jiff::Timestamp::now();
        let hour = now.to_zoned(TimeZone::UTC).hour();
        let zone = TimeZone::fixed(Offset::constant(12 - hour));
        let at = Timestamp::from_ms(clock::from_jiff(now).ms() + 60_000);
        let today = reports.today(at, &zone).await.unwrap();
        let day = today.day.booked;
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
    let games = SettledGames::new().await;
    games.assert_agree(0).await;
    let before = games.load_totals("").await;
    games.reverse_game(0).await;
    games.assert_agree(1).await;
    // Six of twelve counts, and their fee.
    let after = games.load_totals("").await;
    let gained = |name: &str| before[name].as_i64().unwrap() - after[name].as_i64().unwrap();
    assert_eq!((gained("gross"), gained("fees")), (600, 30));

    let listed = ok(games.server.get("/v1/operator/settlements", &games.luz)).await;
    for row in items(&listed) {
        assert_eq!(row["kind"], "tongits");
        let is_reversed = row["game"] == games.ids[0].to_string();
        assert_eq!(row["reversed_at"].is_string(), is_reversed, "{row}");
        let seats = row["seats"].as_array().unwrap();
        let nets: Vec<_> = seats.iter().map(|seat| &seat["net"]).collect();
        let is_unpaid = row["gross"] == 0 && row["fee"] == 0 && nets == [0, 0, 0];
        assert_eq!(is_unpaid, is_reversed, "{row}");
    }
    // Filters by amount and by player use the amounts after the reversal.
    assert_eq!(games.load_totals("?gross_min=600").await["games"], 0);
    assert_eq!(games.load_totals("?gross_max=0").await["games"], 1);
    let of_player = format!("?player={}", games.guests[0].id);
    let mut totals = games.load_totals(&of_player).await;
    let own = totals["player"].take();
    assert_eq!(totals, after);
    let [net, antes, change] = ["net", "antes", "change"].map(|name| own[name].as_i64().unwrap());
    assert_eq!(net - antes, change);
    let mine = ok(games.server.get("/v1/me/games", &games.guests[1])).await;
    let mine = items(&mine);
    let reversed = mine.iter().find(|game| game["id"] == games.ids[0].to_string()).unwrap();
    assert_eq!((&reversed["net"], reversed["reversed_at"].is_string()), (&json!(0), true));
    assert_eq!(mine.iter().filter(|game| game["reversed_at"] == Value::Null).count(), 2);

    let mut cora = Browser::enrolled(&games.server, "cora", Role::Finance).await;
    let page = cora.load(&format!("/desk/games/{}", games.ids[0])).await;
    page.shows("reversed").hides("Request its reversal");
    let path = format!("/v1/operator/games/{}", games.ids[0]);
    let dossier = ok(games.server.get(&path, &games.luz)).await;
    assert!(dossier["reversed_at"].is_string());
    assert!(dossier["seats"].as_array().unwrap().iter().all(|seat| seat["net"] == 0));
    let operations = dossier["operations"].as_array().unwrap().iter();
    let kinds: Vec<_> = operations
        .map(|one| (one["kind"].as_str().unwrap(), one["reversed_by"].is_i64()))
        .collect();
    assert_eq!(kinds, [("open", false), ("settle", true), ("reverse", false)]);
    cora.load("/desk/settlements").await.shows("reversed");
}

/// The projection follows from the seals alone: rebuilt, it has the same sums.
#[tokio::test]
async fn a_rebuilt_projection_of_reversals_has_the_same_sums() {
    let games = SettledGames::new().await;
    games.assert_agree(0).await;
    games.reverse_game(0).await;
    games.reverse_game(1).await;
    games.assert_agree(2).await;
    let before = games.load_totals("").await;
    let owner = games.server.owner_pool().await;
    for again in [
        "truncate settlements, settlement_days, player_settlements, newcomer_coins, booked_hours,
            operation_hours, held_by_kind, held_pots",
        "update projections set seal = 0 where name = 'figures'",
    ] {
        execute(&owner, again).await;
    }
    games.assert_agree(2).await;
    assert_eq!(games.load_totals("").await, before);
    for order in ["newest_reversal", "oldest_reversal"] {
        games.assert_reversals(order).await;
    }
}

#[tokio::test]
async fn a_reversal_is_offered_only_if_it_can_be_requested() {
    let games = SettledGames::new().await;
    let mut cora = Browser::enrolled(&games.server, "cora", Role::Finance).await;
    let mut load_game_page =
        async |game: usize| cora.load(&format!("/desk/games/{}", games.ids[game])).await;
    let is_offered = async |game: usize| {
        let path = format!("/v1/operator/ledger/operations/{}", games.find_settlement(game).await);
        ok(games.server.get(&path, &games.luz)).await["is_reversible"].as_bool().unwrap()
    };
    // The settlement paid a POT.
    load_game_page(2).await.shows("It paid a POT").hides("Request its reversal");
    assert!(!is_offered(2).await);
    expect_refusal(games.request_reversal(games.find_settlement(2).await), 409, "not_reversible")
        .await;

    let operation = games.find_settlement(0).await;
    load_game_page(0).await.shows("Request its reversal");
    assert!(is_offered(0).await);
    ok(games.request_reversal(operation)).await;
    load_game_page(0).await.shows("waits for a decision").hides("Request its reversal");
    assert!(!is_offered(0).await);
    expect_refusal(games.request_reversal(operation), 409, "reversal_requested").await;
}
