//! The alerts on every page of the desk, and the same over the API.

use bahay::live_store::NodeId;
use bahay::operators::Role;
use serde_json::json;
use uuid::Uuid;

use super::browser::Browser;
use crate::http::server::{REASON, Server, Setup, ok};
use crate::support::db::execute;
use crate::support::live::TestLive;
use crate::support::rest::assert_fields;
use crate::support::wire::Wire;

const ALERTS: &str = "/desk/alerts";

#[tokio::test]
async fn alerts_name_failures_and_waiting_work_with_links() {
    let (server, guest) = Server::with_guest().await;
    let mut luz = Browser::enrolled(&server, "ate.luz", Role::Admin).await;
    let mut ben = Browser::enrolled(&server, "kuya.ben", Role::Viewer).await;
    assert_eq!(luz.get(ALERTS).await.expect(200).text, "<ul></ul>");
    luz.get("/desk/audit").await.shows("data-live=\"/desk/alerts\"");

    let token = luz.create_token().await;
    let well = json!({
        "is_live_store_writable": true, "silent_nodes": 0, "dead_nodes": 0, "is_house_open": true,
        "ledger_differences": 0, "tables_halted": 0, "corrections_open": 0,
        "tournament_requests_open": 0, "tournaments_stuck": 0, "reports_open": 0, "jobs_dead": 0,
    });
    assert_fields(&ok(server.get("/v1/operator/alerts", &token)).await, well);

    let fields = [
        ("attempt", "0199a944-3c00-7000-8000-00000007ab1e"),
        ("kind", "adjustment"),
        ("player", &guest.id),
        ("amount", "12.50"),
        ("reason", REASON),
    ];
    luz.send("/desk/corrections/new", "/desk/corrections", &fields).await.expect(303);
    let closing = "/desk/switches/house/closing";
    luz.send("/desk/switches", closing, &[("reason", REASON)]).await.expect(303);
    let (live, _publications) = server.live.connect().await;
    live.record_dead_node(NodeId(Uuid::new_v4()), server.clock.now()).await.unwrap();
    let owner = server.owner_pool().await;
    for plant in [
        "insert into ledger_checks (slot, extent, started_at, finished_at, counted, differences)
            values (now(), 'recent', now(), now(), '{}', '{\"a coin is missing\"}')",
        "insert into halted_tables (table_id, reason)
            select gen_random_uuid(), 'it does not replay' from generate_series(1, 2)",
        "insert into jobs (name, payload, attempts, last_error, died_at)
            values ('push', '{}', 12, 'no answer', now())",
    ] {
        execute(&owner, plant).await;
    }
    let listed = luz.get(ALERTS).await.expect(200);
    for (path, words) in [
        ("/desk/tables", "1 server died within the hour"),
        ("/desk/ledger#checks", "1 difference in the ledger"),
        ("/desk/tables#halted", "2 tables halted"),
        ("/desk/switches", "The house is closed"),
        ("/desk/corrections?state=open", "1 correction to decide"),
        ("/desk/jobs", "1 failed job"),
    ] {
        listed.shows(&format!("href=\"{path}\">{words}</a>"));
    }
    listed.hides("live store").hides("report");
    // Only administrators can see the page of jobs.
    ben.get(ALERTS).await.expect(200).shows("2 tables halted").hides("failed job");
    let waiting = json!({
        "dead_nodes": 1, "is_house_open": false, "ledger_differences": 1, "tables_halted": 2,
        "corrections_open": 1, "jobs_dead": 1,
    });
    assert_fields(&ok(server.get("/v1/operator/alerts", &token)).await, waiting);
}

#[tokio::test]
async fn a_stalled_live_store_is_an_alert_and_delays_no_other() {
    let wire = Wire::redis(&TestLive::new().options().url).await;
    let live = TestLive::with_url(wire.url());
    let server = Server::with_setup(Setup { live, ..Setup::default() }).await;
    let mut luz = Browser::enrolled(&server, "ate.luz", Role::Support).await;
    luz.get(ALERTS).await.hides("live store");
    wire.hold();
    luz.get(ALERTS).await.expect(200).shows("The live store does not respond");
    wire.release();
    luz.get(ALERTS).await.hides("live store");
}
