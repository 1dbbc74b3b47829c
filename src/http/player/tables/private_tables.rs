//! Tables that a player opens: private ones, rematches among them, and practice tables.

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use bahay_api::player::private_tables::{
    OpenPrivateTableRequest, PracticeTableRequest, PrivateSeat, PrivateTable,
};
use bahay_api::player::rooms::SeatedTable;
use bahay_engine::coins;
use bahay_engine::game::GameRules as _;
use uuid::Uuid;

use crate::auth::Player;
use crate::db::PgPool;
use crate::http::player::games::records::load_record;
use crate::http::{Body, Code, CodeExt as _, Path, Problem, Services};
use crate::ids::PlayerId;
use crate::lobby::{self, FinishedGame, Invitation, PrivateView, Rematch};
use crate::notices::{InvitationResult, Notices, RematchInvitation};
use crate::rate_limit::Address;
use crate::records::Records;
use crate::replay::GameReplay;

impl From<lobby::PrivateSeat> for PrivateSeat {
    fn from(lobby::PrivateSeat { code, link, table }: lobby::PrivateSeat) -> Self {
        Self { code, link, table: table.0 }
    }
}

impl From<PrivateView> for PrivateTable {
    fn from(view: PrivateView) -> Self {
        let terms = view.terms;
        Self {
            code: view.code,
            link: view.link,
            table: view.table.0,
            host: view.host.0,
            bet: terms.price.bet.into(),
            multiplier: terms.price.multiplier,
            fee_basis_points: terms.price.fee_basis_points,
            kind: terms.rules.kind(),
            hits_to_win: terms.hits.map(|hits| hits.to_win),
            rule_set: terms.rules.rule_set(),
            rules: serde_json::to_value(&terms.rules).unwrap_or_default(),
            wallet_min: terms.wallet_min().unwrap_or_default().into(),
            loss_max: terms.loss_max().unwrap_or_default().into(),
            short_stakes: terms.private.is_some_and(|private| private.short_stakes),
            seats: view.seats,
            seats_min: terms.rules.seats().least,
            players: view.players.into_iter().map(|player| player.0).collect(),
        }
    }
}

pub(crate) async fn open_private_table(
    State(services): State<Services>,
    player: Player,
    Body(body): Body<OpenPrivateTableRequest>,
) -> Result<(StatusCode, Json<PrivateSeat>), Problem> {
    let OpenPrivateTableRequest { room, bet, kind, rule_set, rules, short_stakes } = body;
    let bet = coins::Coins::from_hundredths(bet);
    let is_wanted = kind.is_some() || rule_set.is_some() || !rules.is_null();
    let rules = is_wanted.then_some(lobby::RuleSetRequest { kind, rule_set, switches: rules });
    let request = lobby::PrivateTableRequest { room, rules, bet, short_stakes };
    let seat = services.lobby.open_private(player.id, request).await?;
    Ok((StatusCode::CREATED, Json(seat.into())))
}

pub(crate) async fn show_private_table(
    State(services): State<Services>,
    _player: Player,
    Path(code): Path<String>,
) -> Result<Json<PrivateTable>, Problem> {
    Ok(Json(services.lobby.private_view(&code).await?.into()))
}

pub(crate) async fn join_private_table(
    State(services): State<Services>,
    player: Player,
    Path(code): Path<String>,
) -> Result<Json<PrivateSeat>, Problem> {
    Ok(Json(services.lobby.join_private(player.id, &code).await?.into()))
}

pub(crate) async fn fill_private_table(
    State(services): State<Services>,
    player: Player,
    Path(code): Path<String>,
) -> Result<Json<PrivateTable>, Problem> {
    Ok(Json(services.lobby.fill_private_table(player.id, &code).await?.into()))
}

pub(crate) async fn remove_from_private_table(
    State(services): State<Services>,
    player: Player,
    Path((code, id)): Path<(String, Uuid)>,
) -> Result<StatusCode, Problem> {
    services.lobby.kick_player(player.id, &code, PlayerId(id)).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) async fn request_rematch(
    State(services): State<Services>,
    State(pool): State<PgPool>,
    State(records): State<Records>,
    State(notices): State<Notices>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<(StatusCode, Json<PrivateSeat>), Problem> {
    let from = player.id;
    let (game, record) = load_record(&pool, &records, player, id).await?;
    let replay = GameReplay::from_value(record).map_err(|error| Problem::internal(&error))?;
    let record = replay.record();
    if record.terms.tournament.is_some() {
        return Err(Code::RematchOver.with_detail("a game of a tournament is not played again"));
    }
    let finished = FinishedGame {
        game: game.game,
        table: record.table,
        terms: record.terms.clone(),
        finished_at_ms: record.finished_at.ms(),
    };
    let Rematch { seat, is_host } = services.lobby.join_rematch(from, &finished).await?;
    if is_host {
        let game = game.game;
        let code = seat.code.clone();
        let invitation = RematchInvitation { game, from, code: code.clone() };
        let InvitationResult { players, name } = notices.invite(&invitation).await?;
        let invitation = Invitation { code, from, name, game };
        if let Err(error) = services.lobby.send_invitation(players, &invitation).await {
            // The invitations remain available as notices.
            tracing::warn!(%game, %error, "the players of a rematch were not invited at once");
        }
    }
    Ok((StatusCode::CREATED, Json(seat.into())))
}

pub(crate) async fn open_practice_table(
    State(services): State<Services>,
    player: Player,
    Extension(from): Extension<Address>,
    Body(PracticeTableRequest { kind, rule_set, rules, players }): Body<PracticeTableRequest>,
) -> Result<Json<SeatedTable>, Problem> {
    let rules = lobby::RuleSetRequest { kind: Some(kind), rule_set, switches: rules };
    let table = services.lobby.join_practice(player.id, rules, players, Some(from)).await?;
    Ok(Json(SeatedTable::new(table)))
}
