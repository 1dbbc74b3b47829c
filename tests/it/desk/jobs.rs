//! Dead jobs at the desk and over the API: an administrator retries or discards each once.

use bahay::operators::Role;
use reqwest::Method;
use uuid::Uuid;

use super::browser::Browser;
use crate::http::server::{Server, expect_refusal, ok};
use crate::support::db::{execute, read_rows};
use crate::support::rest::items;

/// Returns the ids of jobs, the dead ones or the living ones.
async fn jobs(server: &Server, are_dead: bool) -> Vec<i64> {
    let query = "select id from jobs where (died_at is not null) = $1 order by id";
    sqlx::query_scalar(query).bind(are_dead).fetch_all(&server.bank.pool).await.unwrap()
}

#[tokio::test]
async fn an_administrator_retries_or_discards_a_dead_job_once() {
    let server = Server::new().await;
    let insert = "insert into jobs (name, payload, attempts, last_error, died_at)
        select 'push', '{}', 12, 'no answer ' || n, now() from generate_series(1, 4) as n";
    execute(&server.bank.pool, insert).await;
    let dead = jobs(&server, true).await;
    let mut luz = Browser::enrolled(&server, "ate.luz", Role::Admin).await;
    let page = luz.get("/desk/jobs").await;
    for number in 1..=4 {
        page.shows(&format!("no answer {number}"));
    }

    let act = async |luz: &mut Browser<'_>, id: i64, act: &str| {
        luz.send("/desk/jobs", &format!("/desk/jobs/{id}/{act}"), &[]).await.status
    };
    assert_eq!(act(&mut luz, dead[0], "retry").await, 303);
    assert_eq!(act(&mut luz, dead[1], "discarding").await, 303);
    // Neither is dead any more.
    assert_eq!(act(&mut luz, dead[0], "discarding").await, 404);
    assert_eq!(act(&mut luz, dead[1], "retry").await, 404);
    assert_eq!(jobs(&server, false).await.len(), 1);

    let token = luz.create_token().await;
    let page = ok(server.get("/v1/operator/jobs?limit=1", &token)).await;
    assert_eq!(page["items"][0]["last_error"], "no answer 4");
    assert_eq!(page["items"][0]["attempts"], 12);
    let cursor = page["next_cursor"].as_str().unwrap();
    let next = ok(server.get(&format!("/v1/operator/jobs?cursor={cursor}"), &token)).await;
    let rest = items(&next);
    assert_eq!((rest.len(), rest[0]["last_error"].as_str()), (1, Some("no answer 3")));
    let send = |id: i64, act: &str| {
        let request = server.call(Method::POST, &format!("/v1/operator/jobs/{id}/{act}"), &token);
        request.header("Idempotency-Key", Uuid::new_v4().to_string())
    };
    assert_eq!(send(dead[2], "retry").send().await.unwrap().status(), 204);
    assert_eq!(send(dead[3], "discarding").send().await.unwrap().status(), 204);
    expect_refusal(send(dead[3], "discarding"), 404, "job_not_found").await;
    assert!(jobs(&server, true).await.is_empty());
    assert_eq!(jobs(&server, false).await.len(), 2);

    let audited = "select action, subject from audit_entries
        where subject like 'job:%' order by id";
    let audited: Vec<(String, String)> = read_rows(&server.bank.pool, audited).await;
    let expected = [("retry", 0), ("discard", 1), ("retry", 2), ("discard", 3)];
    let expected = expected.map(|(act, at)| (format!("job_{act}"), format!("job:{}", dead[at])));
    assert_eq!(audited, expected);
}
