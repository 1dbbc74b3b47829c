//! Rooms, and the seats at their tables.

use axum::extract::State;
use axum::{Extension, Json};
use bahay_api::player::rooms::{Room, Rooms, SeatedTable, WatchableTable};
use bahay_engine::catalog;
use uuid::Uuid;

use crate::auth::Player;
use crate::db::Page;
use crate::http::{Coins, PageOf, PageRequest, Path, Problem, Services};
use crate::live_store::PlayingCount;
use crate::lobby::{self, LobbyError};
use crate::rate_limit::Address;

fn room_body(room: &lobby::Room, playing: PlayingCount) -> Room {
    let terms = room.terms();
    Room {
        id: room.id().to_owned(),
        name: room.name().to_owned(),
        kind: room.kind(),
        game: catalog::kind_title(room.kind()),
        seats: room.seats().most,
        seats_min: room.seats().least,
        bet: terms.price.bet.into(),
        multiplier: terms.price.multiplier,
        fee_basis_points: terms.price.fee_basis_points,
        ante: terms.ante().unwrap_or_default().into(),
        hits_to_win: terms.hits.map(|hits| hits.to_win),
        wallet_min: room.wallet_min().into(),
        loss_max: room.loss_max().into(),
        wallet_max: room.wallet_max().map(Coins::from),
        needs_account: room.needs_account(),
        rule_set: room.rule_set().to_owned(),
        has_own_switches: !room.has_plain_rules(),
        is_open: room.is_open(),
        players: playing.players,
        tables: playing.tables,
    }
}

pub(crate) async fn list_rooms(State(services): State<Services>) -> Result<Json<Rooms>, Problem> {
    let playing = services.lobby.playing_counts().await;
    let playing = playing.map_err(|error| Problem::unavailable(&error))?;
    let rooms = services.lobby.rooms();
    let occupancy = |room: &lobby::Room| playing.get(room.id()).copied().unwrap_or_default();
    let items = rooms.iter().map(|room| room_body(room, occupancy(room))).collect();
    Ok(Json(Rooms { items }))
}

pub(crate) async fn take_seat(
    State(services): State<Services>,
    player: Player,
    Extension(from): Extension<Address>,
    Path(room): Path<String>,
) -> Result<Json<SeatedTable>, Problem> {
    let seat = services.lobby.seat_from(player.id, &room, Some(from)).await?;
    Ok(Json(SeatedTable { table: seat.table.0, reason: seat.reason }))
}

pub(crate) async fn show_table(
    State(services): State<Services>,
    player: Player,
) -> Result<Json<SeatedTable>, Problem> {
    let table = services.lobby.seated_at(player.id).await?.ok_or(LobbyError::NotSeated)?;
    Ok(Json(SeatedTable::new(table)))
}

pub(crate) async fn leave_table(
    State(services): State<Services>,
    player: Player,
) -> Result<Json<SeatedTable>, Problem> {
    let table = services.lobby.leave(player.id).await?;
    Ok(Json(SeatedTable::new(table)))
}

pub(crate) async fn list_watchable_tables(
    State(services): State<Services>,
    request: PageRequest<Player>,
    Path(room): Path<String>,
) -> Result<Json<PageOf<WatchableTable>>, Problem> {
    let read = async |after: Option<Uuid>, limit| {
        let mut tables = services.lobby.watchable_tables(&room).await?;
        tables.retain(|table| after.is_none_or(|after| table.table.0 > after));
        Ok::<_, LobbyError>(Page::from_rows(tables, limit, |last| last.table.0))
    };
    let page = request.read(&format!("tables {room}"), read).await?;
    Ok(Json(page.map(|lobby::WatchableTable { table, room, players, seats }| WatchableTable {
        table: table.0,
        room,
        players,
        seats,
    })))
}
