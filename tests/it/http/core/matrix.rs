//! The access matrix: every operation of openapi.yaml with every kind of caller.
//!
//! A new operation requires a new line of the table; without one the test fails. Each cell is a
//! request of its own, with players of its own. The objects named in the path belong to `self`;
//! `other` is another player. Under `/v1/me` every caller acts on its own account.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

use bahay::ledger::{Document, OpenGame, SettleGame};
use bahay::lobby::house_rooms;
use bahay::operators::Role;
use bahay::tournaments::{TournamentDraft, announce_in_tx};
use bahay_bots::simulation::{Habits, Simulation};
use bahay_engine::catalog::AnyGame;
use bahay_engine::coins::Coins;
use bahay_engine::table::Clocks;
use bahay_engine::tournament::EntryPrice;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use uuid::Uuid;

use super::contract::list_operations;
use crate::http::operator::room_admin::settings;
use crate::http::server::{Guest, PASSWORD, REASON, Server, adjustment, ok, status_of, text};
use crate::support::db::{execute, read_value};
use crate::tournaments::sit_and_go;

const CALLERS: [&str; 7] = ["nobody", "other", "self", "viewer", "support", "finance", "admin"];

/// The status that each caller gets. 401 means that the caller is not authenticated or has a token
/// of the wrong kind. Another 4xx in the column of an admitted caller means that the request itself
/// is refused.
const TABLE: &str = "
                                                  nobody other self viewer support finance admin
POST   /v1/sign-in/guest                          200    200   200  200    200     200     200
POST   /v1/sign-in/password                       401    401   401  401    401     401     401
POST   /v1/sign-in/openid/nonce                   200    200   200  200    200     200     200
POST   /v1/sign-in/openid                         404    404   404  404    404     404     404
POST   /v1/token/refresh                          401    401   401  401    401     401     401
POST   /v1/sign-out                               401    204   204  401    401     401     401

GET    /v1/me                                     401    200   200  401    401     401     401
PATCH  /v1/me                                     401    200   200  401    401     401     401
DELETE /v1/me                                     401    204   204  401    401     401     401
GET    /v1/me/export                              401    200   200  401    401     401     401
POST   /v1/me/password                            401    200   200  401    401     401     401
PUT    /v1/me/password                            401    409   409  401    401     401     401
POST   /v1/me/proof                               401    403   200  401    401     401     401
GET    /v1/me/sign-in-methods                     401    200   200  401    401     401     401
POST   /v1/me/identities                          401    404   404  401    401     401     401
DELETE /v1/me/identities/{issuer}                 401    204   204  401    401     401     401
GET    /v1/me/sessions                            401    200   200  401    401     401     401
DELETE /v1/me/sessions                            401    204   204  401    401     401     401
DELETE /v1/me/sessions/{id}                       401    404   204  401    401     401     401
DELETE /v1/me/devices                             401    409   409  401    401     401     401
PUT    /v1/me/device                              401    403   204  401    401     401     401
GET    /v1/me/wallet                              401    200   200  401    401     401     401
GET    /v1/me/wallet/entries                      401    200   200  401    401     401     401
GET    /v1/me/games                               401    200   200  401    401     401     401
GET    /v1/me/rewards                             401    200   200  401    401     401     401
POST   /v1/me/rewards/daily                       401    200   200  401    401     401     401
POST   /v1/me/rewards/relief                      401    409   409  401    401     401     401
GET    /v1/me/passes                              401    200   200  401    401     401     401
GET    /v1/me/notices                             401    200   200  401    401     401     401
POST   /v1/me/notices/{id}/read                   401    404   204  401    401     401     401
GET    /v1/me/statistics                          401    200   200  401    401     401     401
GET    /v1/me/blocks                              401    200   200  401    401     401     401
PUT    /v1/me/blocks/{id}                         401    204   204  401    401     401     401
DELETE /v1/me/blocks/{id}                         401    204   204  401    401     401     401
GET    /v1/me/mutes                               401    200   200  401    401     401     401
PUT    /v1/me/mutes/{id}                          401    204   204  401    401     401     401
DELETE /v1/me/mutes/{id}                          401    204   204  401    401     401     401

GET    /v1/players                                401    200   200  401    401     401     401
GET    /v1/players/{id}                           401    200   200  401    401     401     401
GET    /v1/leaderboards/{board}/{span}            401    200   200  401    401     401     401
GET    /v1/avatars                                200    200   200  200    200     200     200

GET    /v1/rooms                                  200    200   200  200    200     200     200
POST   /v1/rooms/{room}/seat                      401    200   200  401    401     401     401
GET    /v1/rooms/{room}/tables                    401    200   200  401    401     401     401
GET    /v1/table                                  401    404   404  401    401     401     401
DELETE /v1/table                                  401    404   404  401    401     401     401
POST   /v1/play/tickets                           401    200   200  401    401     401     401
POST   /v1/matchmaking/tickets                    401    200   200  401    401     401     401
GET    /v1/matchmaking/tickets/{id}               401    404   200  401    401     401     401
DELETE /v1/matchmaking/tickets/{id}               401    404   200  401    401     401     401
POST   /v1/practice-tables                        401    200   200  401    401     401     401
POST   /v1/private-tables                         401    201   201  401    401     401     401
GET    /v1/private-tables/{code}                  401    200   200  401    401     401     401
POST   /v1/private-tables/{code}/seat             401    200   200  401    401     401     401
POST   /v1/private-tables/{code}/bots             401    403   409  401    401     401     401
DELETE /v1/private-tables/{code}/players/{id}     401    403   404  401    401     401     401

GET    /v1/tournaments                            401    200   200  401    401     401     401
GET    /v1/tournaments/{id}                       401    200   200  401    401     401     401
PUT    /v1/tournaments/{id}/entry                 401    200   200  401    401     401     401
DELETE /v1/tournaments/{id}/entry                 401    409   204  401    401     401     401
GET    /v1/tournaments/{id}/table                 401    404   404  401    401     401     401
PUT    /v1/tournaments/{id}/pause                 401    409   409  401    401     401     401
DELETE /v1/tournaments/{id}/pause                 401    409   409  401    401     401     401
GET    /v1/tournaments/{id}/standings             401    200   200  401    401     401     401
GET    /v1/tournaments/{id}/results               401    200   200  401    401     401     401
GET    /v1/tournaments/{id}/games                 401    200   200  401    401     401     401
GET    /v1/tournaments/{id}/rounds/{round}/deals  404    404   404  404    404     404     404
GET    /v1/tournaments/{id}/rounds/{round}/comparison 401 404  404  401    401     401     401

GET    /v1/games/{id}/record                      401    404   200  401    401     401     401
GET    /v1/games/{id}                             401    404   200  401    401     401     401
GET    /v1/games/{id}/steps                       401    404   200  401    401     401     401
GET    /v1/games/{id}/analysis                    401    404   200  401    401     401     401
POST   /v1/games/{id}/rematch                     401    404   409  401    401     401     401
GET    /v1/games/{id}/fairness                    200    200   200  200    200     200     200
GET    /v1/fairness                               200    200   200  200    200     200     200
GET    /v1/fairness/commitments                   200    200   200  200    200     200     200
POST   /v1/games/{id}/reports                     401    404   404  401    401     401     401
POST   /v1/sort                                   401    200   200  401    401     401     401

POST   /v1/operator/sign-in                       401    401   401  401    401     401     401
POST   /v1/operator/sign-out                      401    401   401  204    204     204     204
POST   /v1/operator/token                         401    401   401  201    201     201     201
DELETE /v1/operator/token                         401    401   401  204    204     204     204
GET    /v1/operator/corrections                   401    401   401  200    200     200     200
POST   /v1/operator/corrections                   401    401   401  403    403     201     201
GET    /v1/operator/corrections/{id}              401    401   401  200    200     200     200
POST   /v1/operator/corrections/{id}/approval     401    401   401  403    403     200     200
POST   /v1/operator/corrections/{id}/rejection    401    401   401  403    403     200     200
POST   /v1/operator/corrections/{id}/withdrawal   401    401   401  403    403     409     409
GET    /v1/operator/corrections/{id}/preview      401    401   401  200    200     200     200

GET    /v1/operator/collusion                     401    401   401  200    200     200     200
GET    /v1/operator/collusion/{first}/{second}        401 401   401  404    404     404     404
POST   /v1/operator/collusion/{first}/{second}/review 401 401   401  403    404     403     404

GET    /v1/operator/reports                       401    401   401  200    200     200     200
POST   /v1/operator/reports/{id}/decision         401    401   401  403    404     403     404

POST   /v1/operator/rooms                         401    401   401  403    403     403     201
PUT    /v1/operator/rooms/{room}                  401    401   401  403    403     403     409
POST   /v1/operator/rooms/{room}/opening          401    401   401  403    403     403     200
POST   /v1/operator/rooms/{room}/closing          401    401   401  403    403     403     200
GET    /v1/operator/rooms/{room}/revisions        401    401   401  200    200     200     200
GET    /v1/operator/sanctions                          401    401   401  200    200     200     200
GET    /v1/operator/players/{id}/{sanctions}           401    401   401  200    200     200     200
POST   /v1/operator/players/{id}/{sanctions}           401    401   401  403    201     403     201
POST   /v1/operator/players/{id}/{sanctions}/lifting   401    401   401  403    409     403     409
POST   /v1/operator/sanctions/{id}/lifting             401    401   401  403    404     403     404
GET    /v1/operator/tables                        401    401   401  200    200     200     200
GET    /v1/operator/stranded                      401    401   401  200    200     200     200
GET    /v1/operator/tables/{id}                   401    401   401  404    404     404     404
POST   /v1/operator/tables/{id}/hands-look        401    401   401  403    403     403     404
POST   /v1/operator/tables/{id}/voiding           401    401   401  403    403     403     404
POST   /v1/operator/tables/{id}/release           401    401   401  403    403     403     404
POST   /v1/operator/tables/{id}/pot-refund        401    401   401  403    403     403     409
GET    /v1/operator/jobs                        401    401   401  403    403     403     200
POST   /v1/operator/jobs/{job}/retry            401    401   401  403    403     403     404
POST   /v1/operator/jobs/{job}/discarding       401    401   401  403    403     403     404
GET    /v1/operator/audit                       401    401   401  403    403     403     200
GET    /v1/operator/audit.csv                   401    401   401  403    403     403     200
GET    /v1/operator/operators                     401    401   401  403    403     403     200
POST   /v1/operator/operators                     401    401   401  403    403     403     201
PUT    /v1/operator/operators/{name}/role         401    401   401  403    403     403     204
POST   /v1/operator/operators/{name}/enrolment    401    401   401  403    403     403     200
POST   /v1/operator/operators/{name}/disabling    401    401   401  403    403     403     204
GET    /v1/operator/house                         401    401   401  200    200     200     200
POST   /v1/operator/house/closing                 401    401   401  403    403     403     200
POST   /v1/operator/house/opening                 401    401   401  403    403     403     200

POST   /v1/operator/tournaments                   401    401   401  403    403     403     201
GET    /v1/operator/tournaments                   401    401   401  200    200     200     200
GET    /v1/operator/tournaments/{id}              401    401   401  200    200     200     200
GET    /v1/operator/tournaments/{id}/standings    401    401   401  200    200     200     200
GET    /v1/operator/tournaments/{id}/pairs        401    401   401  200    200     200     200
GET    /v1/operator/tournaments/{id}/results      401    401   401  200    200     200     200
GET    /v1/operator/tournament-schedules          401    401   401  200    200     200     200
POST   /v1/operator/tournament-schedules          401    401   401  403    403     403     201
POST   /v1/operator/tournament-schedules/{id}/pause    401 401 401  403    403     403     200
POST   /v1/operator/tournament-schedules/{id}/resumption 401 401 401 403   403     403     200
POST   /v1/operator/tournament-schedules/{id}/deletion 401 401 401  403    403     403     204
GET    /v1/operator/tournament-requests           401    401   401  200    200     200     200
POST   /v1/operator/tournament-requests           401    401   401  403    403     403     201
GET    /v1/operator/tournament-requests/{id}      401    401   401  200    200     200     200
POST   /v1/operator/tournament-requests/{id}/approval  401 401 401  403    403     403     200
POST   /v1/operator/tournament-requests/{id}/rejection 401 401 401  403    403     403     200
POST   /v1/operator/tournament-requests/{id}/withdrawal 401 401 401 403    403     403     409
GET    /v1/operator/tournaments/{id}/cancellation 401    401   401  200    200     200     200
POST   /v1/operator/tournaments/{id}/cancellation 401    401   401  403    403     403     200

GET    /v1/operator/alerts                        401    401   401  200    200     200     200
GET    /v1/operator/search                        401    401   401  200    200     200     200
GET    /v1/operator/today                         401    401   401  200    200     200     200
GET    /v1/operator/today/comparison              401    401   401  200    200     200     200
GET    /v1/operator/transfers/totals              401    401   401  200    200     200     200
GET    /v1/operator/transfers/totals.csv          401    401   401  200    200     200     200
GET    /v1/operator/transfers/bookings.csv        401    401   401  200    200     200     200
GET    /v1/operator/settlements                   401    401   401  200    200     200     200
GET    /v1/operator/settlements/totals            401    401   401  200    200     200     200
GET    /v1/operator/settlements.csv               401    401   401  200    200     200     200
GET    /v1/operator/games/{id}                    401    401   401  200    200     200     200
GET    /v1/operator/games/{id}/steps              401    401   401  403    200     403     200
GET    /v1/operator/players                       401    401   401  200    200     200     200
GET    /v1/operator/players/{id}                  401    401   401  200    200     200     200
GET    /v1/operator/players/{id}/partners         401    401   401  200    200     200     200
GET    /v1/operator/players/{id}/passes           401    401   401  200    200     200     200
GET    /v1/operator/players/{id}/statement        401    401   401  200    200     200     200
GET    /v1/operator/players/{id}/statement.csv    401    401   401  200    200     200     200
POST   /v1/operator/players/{id}/notes            401    401   401  403    204     403     204
POST   /v1/operator/players/{id}/sign-out         401    401   401  403    204     403     204
GET    /v1/operator/ledger                        401    401   401  200    200     200     200
GET    /v1/operator/ledger/accounts/{code}        401    401   401  200    200     200     200
GET    /v1/operator/ledger/accounts/{code}/entries 401   401   401  200    200     200     200
GET    /v1/operator/ledger/operations             401    401   401  200    200     200     200
GET    /v1/operator/ledger/operations/{operation} 401    401   401  200    200     200     200

GET    /healthz                                   200    200   200  200    200     200     200
";

/// The operations that require an account proof beside the access token.
const PROVEN: [&str; 5] = [
    "DELETE /v1/me",
    "POST /v1/me/password",
    "POST /v1/me/identities",
    "DELETE /v1/me/identities/{issuer}",
    "DELETE /v1/me/devices",
];

/// Returns the query and the body that an operation needs so that only the caller can be the reason
/// for a refusal.
fn query_and_body(
    operation: &str,
    owner: &Guest,
    owners_device: &str,
) -> (&'static str, Option<Value>) {
    let device = format!("device-{}", Uuid::new_v4());
    // Every caller uses a name of its own, because all names are claimed on one server.
    let name = format!("N{}", &Uuid::new_v4().simple().to_string()[..18]);
    let password = PASSWORD;
    let body = match operation {
        "POST /v1/sign-in/guest" | "POST /v1/sign-in/openid/nonce" => {
            json!({ "device_id": device })
        }
        "POST /v1/sign-in/password" => json!({ "name": name, "password": password }),
        "POST /v1/sign-in/openid" | "POST /v1/me/identities" => {
            json!({ "issuer": "nobody", "id_token": "x", "device_id": device })
        }
        "POST /v1/token/refresh" => json!({ "refresh_token": format!("rt_{}", "0".repeat(64)) }),
        "PATCH /v1/me" => json!({ "name": name, "avatar": "tarsier" }),
        "POST /v1/me/password" => json!({ "name": name, "password": password }),
        "PUT /v1/me/password" => json!({ "current_password": password, "password": password }),
        "POST /v1/me/proof" => json!({ "by": "device", "device_id": owners_device }),
        "PUT /v1/me/device" => json!({ "device_id": owners_device, "new_device_id": device }),
        "POST /v1/sort" => json!({ "cards": ["AS", "2S"], "by": "suit" }),
        "POST /v1/matchmaking/tickets" => json!({ "rooms": ["newbie"] }),
        "POST /v1/practice-tables" => json!({ "kind": "tongits" }),
        "POST /v1/private-tables" => json!({ "room": "newbie", "bet": 100 }),
        "POST /v1/operator/sign-in" => {
            json!({ "name": unused_operator_name(), "password": password, "code": "000000" })
        }
        "POST /v1/operator/rooms" => {
            let id = format!("r{}", &Uuid::new_v4().simple().to_string()[..12]);
            json!({ "id": id, "settings": settings() })
        }
        // This revision does not exist.
        "PUT /v1/operator/rooms/{room}" => json!({ "revision": 99, "settings": settings() }),
        "POST /v1/games/{id}/reports" => json!({ "player": Uuid::nil(), "reason": "abuse" }),
        "POST /v1/operator/reports/{id}/decision" => {
            json!({ "outcome": "dismissed", "note": "nothing in the record" })
        }
        "POST /v1/operator/collusion/{first}/{second}/review" => {
            json!({ "reason": "for the test only" })
        }
        "POST /v1/operator/corrections" => adjustment(&owner.id, 100),
        "POST /v1/operator/players/{id}/notes" => json!({ "words": "Asked for a refund." }),
        "POST /v1/operator/corrections/{id}/rejection" => json!({ "reason": "not in our books" }),
        "POST /v1/operator/players/{id}/{sanctions}"
        | "POST /v1/operator/house/closing"
        | "POST /v1/operator/tournaments/{id}/cancellation"
        | "POST /v1/operator/tables/{id}/hands-look"
        | "POST /v1/operator/tables/{id}/voiding" => json!({ "reason": "for the test only" }),
        "PUT /v1/tournaments/{id}/entry" => json!({}),
        "POST /v1/operator/tournaments" => json!({ "preset": "sit_and_go_3", "name": "Ring" }),
        "POST /v1/operator/tournament-schedules" => schedule(),
        "POST /v1/operator/tournament-requests" => json!({
            "tournament": { "preset": "sit_and_go_3", "name": "Ring" }, "reason": REASON
        }),
        "POST /v1/operator/tournament-requests/{id}/rejection" => json!({ "reason": REASON }),
        "POST /v1/operator/operators" => {
            json!({ "name": unused_operator_name(), "role": "viewer" })
        }
        "PUT /v1/operator/operators/{name}/role" => json!({ "role": "support" }),
        "GET /v1/operator/tables" => return ("?room=newbie", None),
        "GET /v1/players" => {
            return ("?ids=019ca944-3c00-7000-8000-00000091a7e0", None);
        }
        "GET /v1/operator/players" => return ("?search=al", None),
        "GET /v1/operator/today/comparison" => {
            return ("?first=2026-03-01&second=2026-02-28", None);
        }
        "GET /v1/operator/search" => return ("?text=al", None),
        _ => return ("", None),
    };
    ("", Some(body))
}

/// Returns an operator name that does not exist.
fn unused_operator_name() -> String {
    format!("o.{}", &Uuid::new_v4().simple().to_string()[..20])
}

/// Fills the parameters of a path with objects of the owner.
async fn build_path(server: &Server, operation: &str, owner: &Guest) -> String {
    let (_, path) = operation.split_once(' ').expect("a method and a path");
    let id = match path {
        "/v1/me/sessions/{id}" => text(&owner.answer["session"]),
        "/v1/me/notices/{id}/read" => create_notice(server, owner).await,
        "/v1/me/blocks/{id}" | "/v1/me/mutes/{id}" | "/v1/private-tables/{code}/players/{id}" => {
            server.bank.player(100).await.to_string()
        }
        "/v1/players/{id}" => owner.id.clone(),
        path if path.starts_with("/v1/operator/players/{id}") => owner.id.clone(),
        path if path.starts_with("/v1/operator/games/{id}") => play_game(server, owner).await,
        path if path.contains("/tournament-schedules/{id}") => create_schedule(server).await,
        path if path.contains("/tournament-requests/{id}") => request_tournament(server).await,
        path if path.contains("/tournaments/{id}") => enter_tournament(server, owner).await,
        // This table does not exist.
        path if path.starts_with("/v1/operator/tables/{id}") => Uuid::new_v4().to_string(),
        "/v1/matchmaking/tickets/{id}" => create_ticket(server, owner).await,
        path if path.starts_with("/v1/games/{id}") => play_game(server, owner).await,
        path if path.starts_with("/v1/operator/corrections/{id}") => {
            create_correction(server, owner).await
        }
        // This report and this sanction do not exist.
        "/v1/operator/reports/{id}/decision" | "/v1/operator/sanctions/{id}/lifting" => {
            Uuid::nil().to_string()
        }
        _ => String::new(),
    };
    // Some operations close this room, which no other operation uses.
    let room = if path.starts_with("/v1/operator") { "maharlika" } else { "newbie" };
    let code = if path.starts_with("/v1/operator/ledger") {
        format!("wallet:{}", owner.id)
    } else if path.contains("{code}") {
        open_private_table(server, owner).await
    } else {
        String::new()
    };
    let path = path.replace("{room}", room).replace("{issuer}", "local").replace("{id}", &id);
    let mut name = String::new();
    if path.contains("{name}") {
        name = unused_operator_name();
        server.session(&name, Role::Viewer).await;
    }
    let first = "select min(id)::text from operations";
    let booked: String = read_value(&server.bank.pool, first).await;
    let path = path.replace("{name}", &name).replace("{operation}", &booked);
    // These players have not played.
    let path = path.replace("{first}", &owner.id).replace("{second}", &Uuid::nil().to_string());
    // This job does not exist.
    let path = path.replace("{job}", "17");
    let path = path.replace("{sanctions}", "mutes").replace("{round}", "1");
    let path = path.replace("{code}", &code).replace("{board}", "coins").replace("{span}", "week");
    assert!(!path.contains('{') && !path.contains("//"), "{operation} needs a parameter");
    path
}

async fn create_notice(server: &Server, owner: &Guest) -> String {
    let (id, player) = (Uuid::new_v4(), &owner.id);
    let notice =
        format!("insert into notices (id, player, kind) values ('{id}', '{player}', 'a_test')");
    execute(&server.bank.pool, &notice).await;
    id.to_string()
}

/// Announces a free tournament, for which the owner registers.
async fn enter_tournament(server: &Server, owner: &Guest) -> String {
    let mut terms = sit_and_go();
    terms.entry = EntryPrice::default();
    let mut tx = server.bank.pool.begin().await.expect("a transaction begins");
    let draft = TournamentDraft { terms, code: None };
    let id = announce_in_tx(&mut tx, draft).await.expect("the terms are sound");
    tx.commit().await.expect("the tournament is announced");
    let entry = format!("/v1/tournaments/{id}/entry");
    ok(server.call(Method::PUT, &entry, owner).json(&json!({}))).await;
    id.to_string()
}

/// Returns the body of a schedule.
fn schedule() -> Value {
    json!({
        "tournament": { "preset": "arena_hour", "name": "Friday" },
        "days": ["friday"], "times": ["20:00"], "announce_before_s": 3_600
    })
}

async fn create_schedule(server: &Server) -> String {
    let token = server.session(&unused_operator_name(), Role::Admin).await;
    let created = server.post_once(&token, "/v1/operator/tournament-schedules", &schedule());
    text(&ok(created).await["id"])
}

/// Requests a tournament as an operator of its own.
async fn request_tournament(server: &Server) -> String {
    let token = server.session(&unused_operator_name(), Role::Admin).await;
    let body = json!({
        "tournament": { "preset": "sit_and_go_3", "name": "Ring" }, "reason": REASON
    });
    let asked = server.post_once(&token, "/v1/operator/tournament-requests", &body);
    text(&ok(asked).await["id"])
}

async fn create_ticket(server: &Server, owner: &Guest) -> String {
    // No other player looks for a table in this room.
    let ask = server.post_by(owner, "/v1/matchmaking/tickets", &json!({ "rooms": ["barkada"] }));
    text(&ok(ask).await["id"])
}

async fn open_private_table(server: &Server, owner: &Guest) -> String {
    let open = json!({ "room": "newbie", "bet": 100 });
    text(&ok(server.post_once(owner, "/v1/private-tables", &open)).await["code"])
}

/// Plays a game of bots, with the owner recorded as one of the players.
pub(crate) async fn play_game(server: &Server, owner: &Guest) -> String {
    static PLAYED: AtomicU64 = AtomicU64::new(0);
    let mut players = vec![owner.player()];
    players.extend(server.bank.players([100_000; 2]).await);
    let terms = house_rooms(Clocks::default())[0].terms().clone();
    let seed = PLAYED.fetch_add(1, Ordering::Relaxed);
    let welcome = Coins::from_hundredths(100_000);
    let mut records = Vec::new();
    let mut table = Simulation::<AnyGame>::new(seed, terms, Habits::default(), welcome);
    table.play(1, |_, record| records.push(record.clone()));
    let mut record = records.pop().expect("a game was played");
    record.players.clone_from(&players);
    let opening = OpenGame {
        game: record.game,
        kind: record.kind.clone(),
        room: record.terms.room.clone(),
        ante: record.terms.ante().expect("the amount is in range"),
        stake_max: record.terms.stake_max(3).expect("the amount is in range"),
        commitment: record.commitment,
        opened_at_ms: record.opened_at.ms(),
        ..server.bank.deal(record.table, &players)
    };
    let settling = SettleGame {
        record: Document::canonicalize(&record).expect("a record is JSON"),
        finished_at_ms: record.finished_at.ms(),
        ..server.bank.finish(&opening, record.settlement.clone())
    };
    server.bank.ledger.open_game(opening).await.expect("the game is opened");
    server.bank.ledger.settle_game(settling).await.expect("the game is settled");
    record.game.to_string()
}

async fn create_correction(server: &Server, owner: &Guest) -> String {
    let name = format!("asker.{}", &Uuid::new_v4().simple().to_string()[..12]);
    let asker = server.session(&name, Role::Finance).await;
    let asked = adjustment(&owner.id, 100);
    text(&ok(server.post_once(&asker, "/v1/operator/corrections", &asked)).await["id"])
}

/// Parses the lines of the table: an operation, and the status that each caller gets.
fn parse_rows() -> Vec<(String, Vec<StatusCode>)> {
    let mut lines = TABLE.lines().filter(|line| !line.trim().is_empty());
    let header = lines.next().expect("the table has a header");
    let head: Vec<&str> = header.split_whitespace().collect();
    assert_eq!(head, CALLERS);
    let rows = lines.map(|line| {
        let mut words = line.split_whitespace();
        let [method, path] = [(); 2].map(|()| words.next().expect("a method and a path"));
        let statuses: Vec<StatusCode> = words.map(|word| word.parse().expect("a status")).collect();
        assert_eq!(statuses.len(), CALLERS.len(), "{line}");
        (format!("{method} {path}"), statuses)
    });
    rows.collect()
}

#[tokio::test]
async fn every_operation_of_the_contract_is_in_the_table() {
    let server = Server::new().await;
    let document = ok(server.request(Method::GET, "/openapi.json")).await;
    let operations = list_operations(&document);
    let operations =
        operations.map(|(path, method, _)| format!("{} {path}", method.to_uppercase()));
    let contract: BTreeSet<String> = operations.collect();
    let rows: Vec<String> = parse_rows().into_iter().map(|(operation, _)| operation).collect();
    let table: BTreeSet<String> = rows.iter().cloned().collect();
    assert_eq!(table.len(), rows.len(), "each operation has one line");
    assert_eq!(table, contract);
}

#[tokio::test]
async fn every_caller_gets_the_status_in_the_table() {
    let server = Server::new().await;
    let mut operators = Vec::new();
    for role in Role::ALL.iter().copied() {
        operators.push(server.session(&format!("the.{role}"), role).await);
    }
    let mut wrong = Vec::new();
    for (operation, statuses) in parse_rows() {
        for (caller, expected) in CALLERS.into_iter().zip(statuses) {
            let devices = [(); 2].map(|()| format!("device-{}", Uuid::new_v4()));
            let owner = server.guest(&devices[0]).await;
            let other = server.guest(&devices[1]).await;
            let token = match caller {
                "nobody" => None,
                "other" => Some(other.access_token.clone()),
                "self" => Some(owner.access_token.clone()),
                operator => {
                    let role = Role::ALL.iter().position(|role| role.to_string() == operator);
                    let role = role.expect("a role");
                    Some(if operation == "POST /v1/operator/sign-out" {
                        // The operation ends the session of its caller.
                        server.session(&unused_operator_name(), Role::ALL[role]).await
                    } else {
                        operators[role].clone()
                    })
                }
            };
            let path = build_path(&server, &operation, &owner).await;
            let (query, body) = query_and_body(&operation, &owner, &devices[0]);
            let method: Method = operation.split(' ').next().unwrap().parse().unwrap();
            let mut request = server.request(method, &format!("{path}{query}"));
            request = request.header("Idempotency-Key", Uuid::new_v4().to_string());
            let device = match caller {
                "self" => Some(&devices[0]),
                "other" => Some(&devices[1]),
                _ => None,
            };
            if let (Some(token), Some(device)) = (&token, device)
                && PROVEN.contains(&operation.as_str())
            {
                let proof = server.device_proof(token, device).await;
                request = request.header("account-proof", proof);
            }
            if let Some(token) = token {
                request = request.bearer_auth(token);
            }
            if let Some(body) = &body {
                request = request.json(body);
            }
            let response = request.send().await.expect("the server responds");
            let status = response.status();
            if operation.contains("tickets/{id}") {
                status_of(server.call(Method::DELETE, &path, &owner)).await;
            }
            let body = response.text().await.unwrap_or_default();
            let is_operator = Role::ALL.iter().any(|role| role.to_string() == caller);
            let is_refused_for_role = body.contains("\"operator_role_missing\"");
            if is_operator && status == 403 && !is_refused_for_role {
                wrong.push(format!("{operation} by {caller} is not refused for the role: {body}"));
            }
            if status != expected {
                wrong.push(format!("{operation} by {caller}: {status}, not {expected}: {body}"));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
    server.bank.audit_clean().await;
}
