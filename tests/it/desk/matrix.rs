//! The authorisation matrix of the desk: every page and every form, by role. The table is compared
//! with the routes, so that a page without a line fails the test.

use bahay::operators::Role;
use uuid::Uuid;

use super::acts::read_routes;
use super::browser::{Browser, form_token};
use crate::http::server::{REASON, Server};

/// The status for each role. 303: the request succeeded and redirects the browser. 404, 409, 422:
/// the role is authorised, and the request is rejected for its content. Without a session every GET
/// redirects to the sign-in page and every POST is rejected.
const TABLE: &str = "
                                              viewer support finance admin
GET  /desk                                    303    303     303     303
GET  /desk/alerts                             200    200     200     200
GET  /desk/search                             200    200     200     200
GET  /desk/search/names                       200    200     200     200
GET  /desk/today                              200    200     200     200
GET  /desk/today/live                         200    200     200     200
GET  /desk/today/compare                      200    200     200     200
GET  /desk/settlements                        200    200     200     200
GET  /desk/settlements/live                   200    200     200     200
GET  /desk/settlements.csv                    200    200     200     200
GET  /desk/games/{id}                         404    404     404     404
GET  /desk/games/{id}/replay                  403    404     403     404
GET  /desk/players                            200    200     200     200
GET  /desk/players/{id}                       404    404     404     404
GET  /desk/players/{id}/statement             404    404     404     404
GET  /desk/players/{id}/statement.csv         404    404     404     404
POST /desk/players/{id}/notes                 403    404     403     404
POST /desk/players/{id}/sign-out              403    404     403     404
POST /desk/players/{id}/sanctions                  403    404     403     404
POST /desk/players/{id}/sanctions/lifting          403    409     403     409
GET  /desk/reports                            200    200     200     200
GET  /desk/sanctions                          200    200     200     200
POST /desk/sanctions/{id}/lifting             403    404     403     404
POST /desk/reports/{id}/decision              403    404     403     404
GET  /desk/collusion                          200    200     200     200
GET  /desk/collusion/{first}/{second}         404    404     404     404
POST /desk/collusion/{first}/{second}/review  403    404     403     404
GET  /desk/transfers                          200    200     200     200
GET  /desk/transfers.csv                      200    200     200     200
GET  /desk/transfers/bookings.csv             200    200     200     200
GET  /desk/ledger                             200    200     200     200
GET  /desk/ledger/trial-balance               200    200     200     200
GET  /desk/rooms                              200    200     200     200
GET  /desk/rooms/newbie                       200    200     200     200
POST /desk/rooms                              403    403     403     404
POST /desk/rooms/newbie                       403    403     403     409
POST /desk/rooms/newbie/closing               403    403     403     303
POST /desk/rooms/newbie/opening               403    403     403     303
GET  /desk/tables                             200    200     200     200
GET  /desk/tables/{id}                        200    200     200     200
GET  /desk/tables/{id}/live                   200    200     200     200
POST /desk/tables/{id}/hands                  403    403     403     404
GET  /desk/tables/{id}/voiding                403    403     403     404
POST /desk/tables/{id}/voiding                403    403     403     404
POST /desk/tables/{id}/release                403    403     403     404
GET  /desk/tables/{id}/pot-refund             403    403     403     404
POST /desk/tables/{id}/pot-refund             403    403     403     409
GET  /desk/tournaments                        200    200     200     200
GET  /desk/tournaments/new                    403    403     403     200
GET  /desk/tournaments/{id}                   404    404     404     404
GET  /desk/tournaments/{id}/collusion         404    404     404     404
GET  /desk/tournaments/{id}/results.jsonl     404    404     404     404
GET  /desk/tournaments/{id}/cancellation      403    403     403     404
POST /desk/tournaments                        403    403     403     422
POST /desk/tournaments/{id}/cancellation      403    403     403     404
GET  /desk/tournament-schedules               200    200     200     200
GET  /desk/tournament-schedules/new           403    403     403     200
POST /desk/tournament-schedules               403    403     403     422
POST /desk/tournament-schedules/{id}/pause    403    403     403     404
POST /desk/tournament-schedules/{id}/resumption 403  403     403     404
POST /desk/tournament-schedules/{id}/deletion 403    403     403     404
GET  /desk/tournament-requests                200    200     200     200
GET  /desk/tournament-requests/{id}           404    404     404     404
POST /desk/tournament-requests                403    403     403     422
POST /desk/tournament-requests/{id}/approval  403    403     403     404
POST /desk/tournament-requests/{id}/rejection 403    403     403     404
POST /desk/tournament-requests/{id}/withdrawal 403   403     403     404
GET  /desk/corrections                        200    200     200     200
GET  /desk/corrections/new                    403    403     200     200
GET  /desk/corrections/{id}                   404    404     404     404
POST /desk/corrections                        403    403     404     404
POST /desk/corrections/{id}/approval          403    403     404     404
POST /desk/corrections/{id}/rejection         403    403     404     404
POST /desk/corrections/{id}/withdrawal        403    403     404     404
GET  /desk/switches                           200    200     200     200
POST /desk/switches/house/closing             403    403     403     303
POST /desk/switches/house/opening             403    403     403     303
GET  /desk/operators                          403    403     403     200
POST /desk/operators                          403    403     403     422
POST /desk/operators/nobody/role              403    403     403     404
POST /desk/operators/nobody/enrolment         403    403     403     404
POST /desk/operators/nobody/disabling         403    403     403     404
GET  /desk/jobs                               403    403     403     200
POST /desk/jobs/17/retry                      403    403     403     404
POST /desk/jobs/17/discarding                 403    403     403     404
GET  /desk/audit                              403    403     403     200
GET  /desk/audit.csv                          403    403     403     200
GET  /desk/token                              200    200     200     200
POST /desk/token                              200    200     200     200
POST /desk/token/revocation                   303    303     303     303
POST /desk/sign-out                           303    303     303     303
";

/// Returns the fields of a form: sufficient to be rejected for the role or for the content.
fn fields(line: &str) -> Vec<(&'static str, String)> {
    let why = || ("reason", REASON.to_owned());
    let id = || Uuid::new_v4().to_string();
    match line {
        "POST /desk/rooms" => {
            ["id", "name", "kind", "like"].map(|name| (name, "nowhere".into())).into()
        }
        "POST /desk/rooms/newbie" => {
            vec![("bet", "2.00".into()), ("revision", "99".into())]
        }
        "POST /desk/corrections" => vec![
            ("attempt", id()),
            ("kind", "adjustment".into()),
            ("player", id()),
            ("amount", "1.00".into()),
            why(),
        ],
        "POST /desk/tournaments"
        | "POST /desk/tournament-requests"
        | "POST /desk/tournament-schedules" => {
            vec![("attempt", id()), ("preset", "nothing".into()), why()]
        }
        "POST /desk/tournaments/{id}/cancellation" => vec![("shown", "0".repeat(64)), why()],
        "POST /desk/players/{id}/notes" => {
            vec![("attempt", id()), ("words", REASON.into())]
        }
        "POST /desk/players/{id}/sanctions" => {
            let (permanent, none) = ("permanent".into(), String::new());
            vec![("kind", "mute".into()), ("duration", permanent), ("hours", none), why()]
        }
        "POST /desk/players/{id}/sanctions/lifting" => vec![("kind", "ban".into())],
        "POST /desk/sanctions/{id}/lifting" => vec![("page", "list".into())],
        "POST /desk/reports/{id}/decision" => {
            vec![("outcome", "dismissed".into()), ("note", REASON.into())]
        }
        "POST /desk/operators" => vec![("name", "Luz".into()), ("role", "viewer".into())],
        "POST /desk/operators/nobody/role" => vec![("role", "admin".into())],
        _ => vec![why()],
    }
}

#[tokio::test]
async fn every_role_is_authorised_as_the_table_states() {
    let server = Server::new().await;
    let mut browsers = Vec::new();
    for role in Role::ALL.iter().copied() {
        let mut browser = Browser::new(&server);
        browser.enrol(&format!("the.{role}"), role).await;
        browsers.push(browser);
    }
    let mut visitor = Browser::new(&server);
    let mut wrong = Vec::new();
    for line in TABLE.lines().skip(2) {
        let mut words = line.split_whitespace();
        let (method, path) = (words.next().unwrap(), words.next().unwrap());
        let what = format!("{method} {path}");
        let path = path.replace("{id}", &Uuid::new_v4().to_string());
        let path = path.replace("{first}", &Uuid::new_v4().to_string());
        let path = path.replace("{second}", &Uuid::new_v4().to_string());
        let fields = fields(&what);
        let fields: Vec<(&str, &str)> =
            fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let refused = match method {
            "GET" => visitor.get(&path).await.status == 303,
            _ => visitor.send_with("none", &path, &fields).await.status == 403,
        };
        if !refused {
            wrong.push(format!("{what} by nobody"));
        }
        for (browser, expected) in browsers.iter_mut().zip(words) {
            let page = match method {
                "GET" => browser.get(&path).await,
                _ => {
                    let token = form_token(&browser.get("/desk/rooms").await.text);
                    browser.send_with(&token, &path, &fields).await
                }
            };
            if page.status.to_string() != expected {
                wrong.push(format!("{what}: {}, not {expected}: {}", page.status, page.text));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

/// Compares the routes in the source with the table.
#[test]
fn every_page_of_the_desk_is_in_the_table() {
    // These have no line in the table: they are for visitors, or are static files.
    let free =
        ["/desk/sign-in", "/desk/enrolment", "/desk/enrolment/completion", "/desk/assets/{name}"];
    for route in read_routes() {
        let (method, path) = route.split_once(' ').expect("a method and a path");
        if free.contains(&path) {
            continue;
        }
        let path = path.replace("{room}", "newbie").replace("{name}", "nobody");
        let line = format!("{method:4} {} ", path.replace("{job}", "17"));
        assert!(TABLE.contains(&line), "{line} has no line in the table");
    }
}
