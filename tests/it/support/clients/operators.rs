//! Operators of houses whose sign-in is not under test.

use bahay::auth::DeskToken;
use bahay::clock::Clock;
use bahay::operators::audit::Actor;
use bahay::operators::{Operators, Role};
use uuid::Uuid;

use crate::support::house::House;

/// Creates an administrator, `ate.luz`, with an open session. Returns the session's token.
pub(crate) async fn admin_session(house: &House) -> String {
    let (owner, now) = (house.database.owner_pool().await, Clock::system().now());
    let name = "ate.luz".parse().expect("the name is valid for an operator");
    let operators = Operators::new(owner.clone());
    let added = operators.add(&Actor::COMMAND_LINE, &name, Role::Admin, now).await;
    added.expect("the operator is created");
    let token = DeskToken::random();
    let insert = "
        insert into operator_sessions (id, operator, token_hash, opened_at, last_seen_at)
        select $1, o.id, $2, now(), now() from operators o where o.name = 'ate.luz'";
    let insert = sqlx::query(insert).bind(Uuid::new_v4()).bind(token.hash().0.to_vec());
    insert.execute(&owner).await.expect("the session is opened");
    token.reveal().to_owned()
}
