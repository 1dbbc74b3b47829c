//! Requests, tokens and stored values.

use bahay_client::{
    Answer, Call, ClientCore, Effect, HttpAnswer, Input, Link, Options, SeatBadge, Time,
};
use bahay_engine::catalog;
use serde_json::json;

use crate::house::House;

/// A client without a server.
struct LoneClient {
    core: ClientCore,
    now_ms: i64,
}

impl LoneClient {
    fn new() -> Self {
        let core = ClientCore::new(Options::new("http://house", [5; 32], Time::default()));
        Self { core, now_ms: 0 }
    }

    fn handle(&mut self, input: Input) -> Vec<Effect> {
        let time = Time { now_ms: self.now_ms, wall_ms: self.now_ms };
        self.core.handle_input(time, input);
        std::iter::from_fn(|| self.core.poll_effect()).collect()
    }

    /// Runs the next timer.
    fn run_timer(&mut self) -> Vec<Effect> {
        self.now_ms = self.core.poll_timeout().expect("a timer runs");
        self.handle(Input::Timeout)
    }

    fn call(&mut self, method: &str) -> Vec<Effect> {
        let call = Call { method: method.into(), path: "/v1/rooms".into(), ..Call::default() };
        self.handle(Input::Call { number: 7, call })
    }

    fn answer(&mut self, request: u64, status: u16, body: serde_json::Value) -> Vec<Effect> {
        let content_type = Some("application/json".into());
        let body = body.to_string();
        let answer = HttpAnswer { status, content_type, body, retry_after_ms: None };
        self.handle(Input::Answered { request, answer })
    }
}

/// Returns the number, the path and the bearer of the only request.
fn find_request(effects: &[Effect]) -> Option<(u64, String, Option<String>)> {
    effects.iter().find_map(|effect| match effect {
        Effect::Request { request, url, headers, .. } => {
            let path = url.strip_prefix("http://house").unwrap_or_default();
            Some((*request, path.to_owned(), headers.get("authorization").cloned()))
        }
        _ => None,
    })
}

fn find_answer(effects: &[Effect]) -> Option<&Answer> {
    effects.iter().find_map(|effect| match effect {
        Effect::Called { call: 7, answer } => Some(answer),
        _ => None,
    })
}

fn tokens(number: u32) -> serde_json::Value {
    json!({
        "player": { "id": "019ca944-3c00-7000-8000-00000091a7e0", "name": "Maria" },
        "access_token": format!("a{number}"), "access_expires_at": "1970-01-01T00:15:00Z",
        "refresh_token": format!("r{number}"), "session": "s",
    })
}

#[test]
fn a_call_signs_in_and_renews_a_rejected_token_once() {
    let mut client = LoneClient::new();
    let (sign_in, path, _) = find_request(&client.call("POST")).expect("the client signs in");
    assert_eq!(path, "/v1/sign-in/guest");
    let sent = client.answer(sign_in, 200, tokens(1));
    let (call, path, bearer) = find_request(&sent).expect("the call is sent");
    assert_eq!((path.as_str(), bearer.as_deref()), ("/v1/rooms", Some("Bearer a1")));
    // The call has just signed in, so another token would be no better.
    let refused = client.answer(call, 401, json!({ "code": "token_revoked" }));
    assert!(matches!(find_answer(&refused), Some(Answer::Refused { status: 401, .. })));

    let (call, ..) = find_request(&client.call("POST")).expect("the call is sent");
    let sent = client.answer(call, 401, json!({ "code": "token_expired" }));
    let (refresh, path, _) = find_request(&sent).expect("the token is renewed");
    assert_eq!(path, "/v1/token/refresh");
    let sent = client.answer(refresh, 200, tokens(2));
    let (call, _, bearer) = find_request(&sent).expect("the call is repeated");
    assert_eq!(bearer.as_deref(), Some("Bearer a2"));
    let answered = client.answer(call, 200, json!({ "items": [] }));
    let body = r#"{"items":[]}"#.to_owned();
    assert_eq!(find_answer(&answered), Some(&Answer::Ok { status: 200, body }));
}

#[test]
fn only_a_read_is_repeated_if_its_answer_is_lost() {
    for (method, attempts) in [("GET", 4), ("POST", 1)] {
        let mut client = LoneClient::new();
        let (sign_in, ..) = find_request(&client.call(method)).expect("the client signs in");
        let mut sent = client.answer(sign_in, 200, tokens(1));
        let mut count = 0;
        while let Some((request, ..)) = find_request(&sent) {
            count += 1;
            sent = client.handle(Input::Unanswered { request });
            while find_request(&sent).is_none() && find_answer(&sent).is_none() {
                sent = client.run_timer();
            }
        }
        assert_eq!(count, attempts, "{method}");
        let Some(Answer::Refused { status: 0, problem }) = find_answer(&sent) else {
            panic!("{method}: {sent:?}");
        };
        assert_eq!(problem.code, "unreachable");
    }
}

#[test]
fn a_restarted_client_shows_the_table_at_once_and_resumes() {
    for kind in catalog::kinds() {
        let mut house = House::new(&kind);
        house.advance(50);
        let before = house.core.state().clone();
        assert_eq!(before.link, Link::Live, "{}", kind.name);
        assert_eq!(before.wallet.map(|wallet| wallet.available), Some(1_170));

        house.restart_client();
        let state = house.core.state();
        let (shown, known) = (state.table.as_ref(), before.table.as_ref());
        assert_eq!(shown.map(|table| &table.view), known.map(|table| &table.view));
        assert!(shown.is_some_and(|table| !table.is_current));
        house.now_ms += 1_000;
        house.handle(Input::Start);
        for _ in 0..20 {
            house.advance(100);
        }
        let resumed = house.opened.last().expect("a socket is opened");
        assert!(resumed.contains("?type=join&from="), "{resumed}");
        let screen = house.core.screen(house.now_ms);
        let table = screen.table.expect("the table is shown");
        assert_eq!((screen.link, table.is_current), ("live", true), "{}", kind.name);
        assert_eq!(table.seats[0].badge, SeatBadge::Present);
    }
}
