//! The pairs of players of one tournament by signs of collusion.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use bahay_api::operator::players::SharedSignal;
use bahay_api::operator::tournaments::{TournamentPair, TournamentPairs};
use bahay_engine::coins::Coins;
use bahay_engine::table::TournamentId;
use maud::html;
use uuid::Uuid;

use super::desk::HERE;
use crate::http::operator::desk_ui::{
    ErrorPage, OperatorSession, coins, format_decimal, page, table_of,
};
use crate::http::operator::sanctions::NamedPlayers;
use crate::http::{Path, Problem, Services};
use crate::operators::Operator;
use crate::reports::TournamentPair as RankedPair;

/// The number of pairs that are listed.
const PAIRS: usize = 100;

pub(crate) async fn list_tournament_pairs(
    State(services): State<Services>,
    _operator: Operator,
    Path(id): Path<Uuid>,
) -> Result<Json<TournamentPairs>, Problem> {
    Ok(Json(TournamentPairs { items: list_pairs(&services, id).await? }))
}

pub(crate) async fn show_pairs(
    State(services): State<Services>,
    session: OperatorSession,
    Path(id): Path<Uuid>,
) -> Result<Response, ErrorPage> {
    let pairs = list_pairs(&services, id).await?;
    let players = pairs.iter().flat_map(|pair| [pair.payer, pair.winner]);
    let named = NamedPlayers::load(&services, players).await?;
    let thousandths = |number: i64| format_decimal(u32::try_from(number).unwrap_or(u32::MAX), 3);
    let body = html! {
        p {
            "Pairs that met at least twice. A net transfer is compared with those of all pairs of the "
            "tournament, the conduct of each of the two with that in its games without the other. "
            "Signs are no proof."
        }
        (table_of("Pairs, strongest signs first", &pairs, &[
            ("Paid", &|pair| named.name_link(pair.payer)),
            ("To", &|pair| named.name_link(pair.winner)),
            ("#Games together", &|pair| html! { (pair.games) }),
            ("#Points", &|pair| coins(Coins::from_hundredths(pair.net_transfer))),
            ("#Deviations", &|pair| html! { (thousandths(pair.deviations)) }),
            ("#Conduct", &|pair| html! { (thousandths(pair.conduct)) }),
            ("Shared", &|pair| html! {
                @match pair.shared {
                    Some(SharedSignal::Device) => "device",
                    Some(SharedSignal::Address) => "address",
                    None => "–",
                }
            }),
        ]))
        p { a href={ (HERE) "/" (id) } { "The tournament" } }
    };
    Ok(page(&session, "Collusion in a tournament", body))
}

async fn list_pairs(services: &Services, id: Uuid) -> Result<Vec<TournamentPair>, Problem> {
    let id = TournamentId(id);
    services.tournaments.read(id).await?;
    let ranked = services.reports.tournament_pairs(id, PAIRS).await?;
    let to_body = |pair: &RankedPair| TournamentPair {
        payer: pair.payer,
        winner: pair.winner,
        games: pair.games,
        net_transfer: pair.net_transfer,
        deviations: pair.deviations,
        conduct: pair.conduct,
        shared: pair.shared,
    };
    Ok(ranked.iter().map(to_body).collect())
}
