//! The orders about a table at the desk: a page that shows their effects beforehand, and their
//! outcomes.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::response::{Redirect, Response};
use bahay_api::operator::tables::{
    ExpectedGame, HaltedTable, PlayerRefund, PotShare, PotShares, VoidTable, VoidedTable,
};
use bahay_engine::coins::Coins;
use bahay_engine::table::{PlayerId, TableId};
use maud::{Markup, html};
use serde::Deserialize;
use uuid::Uuid;

use super::query::{self, OperatedTable};
use crate::http::operator::desk_ui::{
    ErrorPage, OperatorForm, OperatorSession, button, coins, facts, game_link, id, page, table_of,
    text_area,
};
use crate::http::operator::sanctions::NamedPlayers;
use crate::http::{Code, CodeExt as _, Path, Problem, Services};
use crate::ledger::WalletHolder;
use crate::reason::Reason;
use crate::tables::HaltCause;

/// The path of the tables at the desk.
pub(super) const HERE: &str = "/desk/tables";

pub(crate) async fn preview(
    State(services): State<Services>,
    session: OperatorSession,
    Path(table): Path<Uuid>,
) -> Result<Response, ErrorPage> {
    session.operator.require_administrator()?;
    let (state, preview) = query::preview_orders(&services, TableId(table)).await?;
    let refunds = query::list_refunds(&preview.refunds);
    let holders = find_holders(&services, &refunds).await?;
    let here = format!("{HERE}/{table}");
    let mut known = vec![
        ("Table", html! { a href=(here) { (id(&table)) } }),
        ("State", html! { (state_text(&state)) }),
    ];
    if let OperatedTable::Halted { halt: Some(halt), .. } = &state {
        known.push(("Halted since", session.zone.time(halt.halted_at)));
        known.push(("Cause", cause_section(halt)));
    }
    let game = html! {
        @if let Some(game) = preview.game { (game_link(game, id(&game))) } @else { "none" }
    };
    known.extend([("Open game", game), ("POT of earlier games", coins(preview.pot))]);
    let body = html! {
        (facts(&known))
        @if let OperatedTable::Halted { release, .. } = &state {
            h2 { "Release" }
            @match release {
                Ok(()) => {
                    p { "The table plays on from where it stopped. No coins move." }
                    (button(&session, &format!("{here}/release"), "Release the table", ""))
                }
                Err(error) => p class="alert" { "The table cannot be released: " (error) "." },
            }
        }
        h2 { "Void" }
        p { (void_text(&state, preview.game.is_some())) }
        (preview_table(&refunds, &holders))
        form method="post" action={ (here) "/voiding" } {
            (session.form_token())
            input type="hidden" name="game" value=(preview.game.map(|game| game.to_string()).unwrap_or_default());
            (text_area("reason", "Reason", "10 to 500 characters, recorded in the audit log and stored with the game."))
            button class="main" { "Void the table and refund " (sum(&refunds)) }
        }
    };
    Ok(page(&session, "Void or release a table", body))
}

fn state_text(state: &OperatedTable) -> &'static str {
    match state {
        OperatedTable::Live => "in play",
        OperatedTable::Halted { .. } => "halted",
        OperatedTable::Gone => "the table no longer exists",
    }
}

fn void_text(state: &OperatedTable, is_game_open: bool) -> &'static str {
    match (state, is_game_open) {
        (OperatedTable::Gone, _) => "The coins below are refunded.",
        (_, true) => {
            "The open game ends without a winner, the table ends, and its players are free. The \
             coins below are refunded."
        }
        (_, false) => {
            "No game is open. The table ends, and its players are free. The POT is refunded."
        }
    }
}

/// Draws the cause of a halt in words, with the reason that the program recorded.
pub(super) fn cause_section(halt: &HaltedTable) -> Markup {
    let cause = match HaltCause::from_reason(&halt.reason) {
        HaltCause::Store => {
            "The database refused to book. The table is released automatically when it books again."
        }
        HaltCause::Panic => {
            "The program has a defect. Release the table after an update that corrects it, or void it."
        }
        HaltCause::Journal => {
            "The stored moves of the table cannot be replayed. Void it unless they are repaired."
        }
        HaltCause::Ledger => "The ledger refuses to book the game. Void the table.",
        HaltCause::Order => {
            "An operator's order to void the table was interrupted. Void it again to complete it."
        }
    };
    html! { (cause) " " code { (halt.reason) } }
}

/// The players who get refunds: their wallets, and their names with badges.
struct Holders {
    wallets: BTreeMap<PlayerId, WalletHolder>,
    named: NamedPlayers,
}

impl Holders {
    /// Returns the coins in the wallet of a player.
    fn wallet(&self, refund: &PlayerRefund) -> Option<Coins> {
        Some(self.wallets.get(&PlayerId(refund.player))?.wallet)
    }
}

async fn find_holders(services: &Services, refunds: &[PlayerRefund]) -> Result<Holders, Problem> {
    let players = || refunds.iter().map(|refund| refund.player);
    Ok(Holders {
        wallets: services.ledger.wallet_holders(players().map(PlayerId)).await?,
        named: NamedPlayers::load(services, players()).await?,
    })
}

fn preview_table(refunds: &[PlayerRefund], holders: &Holders) -> Markup {
    let after = |refund: &PlayerRefund| holders.wallet(refund)?.checked_add(total(refund)?);
    table_of(
        "Refunds by player",
        refunds,
        &[
            ("Player", &|refund| draw_player(refund, holders)),
            ("#Wallet now", &|refund| draw_amount(holders.wallet(refund))),
            ("#Stake", &|refund| coins(refund.stake)),
            ("#Ante", &|refund| coins(refund.ante)),
            ("#Share of the POT", &|refund| coins(refund.pot)),
            ("#Wallet after", &|refund| draw_amount(after(refund))),
        ],
    )
}

/// Draws the shares of a POT with the wallets of their players before and after the refund.
fn shares_table(refunds: &[PlayerRefund], holders: &Holders) -> Markup {
    let after = |refund: &PlayerRefund| holders.wallet(refund)?.checked_add(*refund.pot);
    table_of(
        "Shares by player",
        refunds,
        &[
            ("Player", &|refund| draw_player(refund, holders)),
            ("#Share of the POT", &|refund| coins(refund.pot)),
            ("#Wallet now", &|refund| draw_amount(holders.wallet(refund))),
            ("#Wallet after", &|refund| draw_amount(after(refund))),
        ],
    )
}

fn refunds_table(refunds: &[PlayerRefund], holders: &Holders) -> Markup {
    table_of(
        "Refunds by player",
        refunds,
        &[
            ("Player", &|refund| draw_player(refund, holders)),
            ("#Stake", &|refund| coins(refund.stake)),
            ("#Ante", &|refund| coins(refund.ante)),
            ("#Share of the POT", &|refund| coins(refund.pot)),
            ("#Refunded", &|refund| draw_amount(total(refund))),
        ],
    )
}

fn draw_player(refund: &PlayerRefund, holders: &Holders) -> Markup {
    let name = holders.wallets.get(&PlayerId(refund.player)).map_or("?", |holder| &holder.name);
    holders.named.link(refund.player, name)
}

fn draw_amount(amount: Option<Coins>) -> Markup {
    html! { @if let Some(amount) = amount { (coins(amount)) } }
}

/// Returns the whole refund of a player; `None` if it does not fit.
fn total(refund: &PlayerRefund) -> Option<Coins> {
    Coins::checked_sum([*refund.stake, *refund.ante, *refund.pot])
}

/// Draws the sum of all refunds.
fn sum(refunds: &[PlayerRefund]) -> Markup {
    let totals: Option<Vec<_>> = refunds.iter().map(total).collect();
    draw_amount(totals.and_then(Coins::checked_sum))
}

/// The form that voids a table.
#[derive(Debug, Deserialize)]
pub(crate) struct VoidForm {
    reason: Reason,
    /// The open game that the page has shown; empty for none.
    game: Option<String>,
}

pub(crate) async fn void(
    State(services): State<Services>,
    Path(table): Path<Uuid>,
    OperatorForm { session, input: VoidForm { reason, game } }: OperatorForm<VoidForm>,
) -> Result<Response, ErrorPage> {
    let by = session.operator.require_administrator()?.require_session()?;
    let expected_game = game.map(|game| parse_expected(&game)).transpose()?;
    let order = VoidTable { reason, expected_game };
    let VoidedTable { game, refunds } = query::void(&services, &by, TableId(table), &order).await?;
    let holders = find_holders(&services, &refunds).await?;
    let body = html! {
        @if let Some(game) = game {
            p { "Game " (game_link(game, id(&game))) " was voided. " (sum(&refunds)) " coins were refunded." }
        } @else {
            p { "No game was open. The table has ended. " (sum(&refunds)) " coins were refunded." }
        }
        (refunds_table(&refunds, &holders))
        p { a href=(HERE) { "All tables" } }
    };
    Ok(page(&session, "Table voided", body))
}

fn parse_expected(game: &str) -> Result<ExpectedGame, Problem> {
    let game = Some(game).filter(|game| !game.is_empty()).map(Uuid::try_parse);
    game.transpose().map(ExpectedGame).map_err(|_| Code::BodyInvalid.problem())
}

pub(crate) async fn release(
    State(services): State<Services>,
    Path(table): Path<Uuid>,
    OperatorForm { session, .. }: OperatorForm,
) -> Result<Redirect, ErrorPage> {
    let by = session.operator.require_administrator()?.require_session()?;
    query::release(&services, &by, TableId(table)).await?;
    Ok(Redirect::to(&format!("{HERE}/{table}")))
}

/// Shows the shares of a lost POT by player before they are refunded.
pub(crate) async fn preview_pot_refund(
    State(services): State<Services>,
    session: OperatorSession,
    Path(table): Path<Uuid>,
) -> Result<Response, ErrorPage> {
    session.operator.require_administrator()?;
    let refunds = query::preview_pot_refund(&services, TableId(table)).await?;
    let holders = find_holders(&services, &refunds).await?;
    let here = format!("{HERE}/{table}/pot-refund");
    let body = html! {
        (facts(&[("Table", id(&table)), ("POT", sum(&refunds))]))
        p { "The table no longer exists. Each player gets back the antes that it paid into the POT." }
        (shares_table(&refunds, &holders))
        form method="post" action=(here) {
            (session.form_token())
            button class="main" { "Refund " (sum(&refunds)) }
        }
    };
    Ok(page(&session, "Refund a lost POT", body))
}

pub(crate) async fn refund_pot(
    State(services): State<Services>,
    Path(table): Path<Uuid>,
    OperatorForm { session, .. }: OperatorForm,
) -> Result<Response, ErrorPage> {
    let by = session.operator.require_administrator()?.require_session()?;
    let PotShares { shares } = query::refund_pot(&services, &by, TableId(table)).await?;
    let players = || shares.iter().map(|share| share.player);
    let wallets = services.ledger.wallet_holders(players().map(PlayerId)).await?;
    let named = NamedPlayers::load(&services, players()).await?;
    let wallet = |share: &PotShare| Some(wallets.get(&PlayerId(share.player))?.wallet);
    let refunded = table_of(
        "Refunded shares",
        &shares,
        &[
            ("Player", &|share| named.name_link(share.player)),
            ("#Refunded", &|share| coins(share.amount)),
            ("#Wallet now", &|share| draw_amount(wallet(share))),
        ],
    );
    let body = html! {
        (refunded)
        p { a href=(HERE) { "All tables" } }
    };
    Ok(page(&session, "POT refunded", body))
}
