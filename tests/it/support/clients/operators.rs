//! Operators of houses whose sign-in is not under test.

use bahay::auth::DeskToken;
use bahay::clock::Clock;
use bahay::operators::audit::Actor;
use bahay::operators::{Operators, Role};
use sqlx::PgPool;
use uuid::Uuid;

/// Creates an operator with an open session. Returns the session's token.
pub(crate) async fn operator_session(owner: &PgPool, name: &str, role: Role) -> String {
    let now = Clock::system().now();
    let parsed = name.parse().expect("the name is valid for an operator");
    let added = Operators::new(owner.clone()).add(&Actor::COMMAND_LINE, &parsed, role, now).await;
    added.expect("the operator is created");
    let token = DeskToken::random();
    let insert = "
        insert into operator_sessions (id, operator, token_hash, opened_at, last_seen_at)
        select $1, o.id, $2, now(), now() from operators o where o.name = $3";
    let insert = sqlx::query(insert).bind(Uuid::new_v4()).bind(token.hash().0.to_vec()).bind(name);
    insert.execute(owner).await.expect("the session is opened");
    token.reveal().to_owned()
}
