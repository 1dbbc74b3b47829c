//! The players whose names a page displays, with their sanctions.

use std::collections::BTreeMap;

use axum::extract::FromRef as _;
use maud::{Markup, Render, html};
use uuid::Uuid;

use crate::http::operator::desk_ui::{badge, player_link};
use crate::http::{Problem, Services};
use crate::operators::{PlayerSummary, Sanctions};

/// The summaries of the players of a page, by their ids.
#[derive(Clone, Debug, Default)]
pub(crate) struct NamedPlayers(BTreeMap<Uuid, PlayerSummary>);

impl NamedPlayers {
    /// Reads the summaries of players, in one statement.
    pub(crate) async fn load(
        services: &Services,
        players: impl IntoIterator<Item = Uuid>,
    ) -> Result<Self, Problem> {
        Ok(Self(Sanctions::from_ref(services).summarize_players(players).await?))
    }

    /// Draws a link to a player, and the badges of one who is banned, muted or deleted.
    pub(crate) fn link(&self, player: Uuid, text: impl Render) -> Markup {
        html! { (player_link(player, text)) (self.badges(player)) }
    }

    /// Returns the present name of a player.
    pub(crate) fn name(&self, player: Uuid) -> Option<&str> {
        self.0.get(&player).map(|one| one.name.as_str())
    }

    /// Draws a link to a player under its present name, or under its id if there is no such player.
    pub(crate) fn name_link(&self, player: Uuid) -> Markup {
        let name = self.name(player).map_or_else(|| player.to_string(), str::to_owned);
        self.link(player, name)
    }

    /// Draws the badges of a player who is banned, muted or deleted.
    pub(crate) fn badges(&self, player: Uuid) -> Markup {
        html! {
            @if let Some(PlayerSummary { is_banned, is_muted, is_deleted, .. }) = self.0.get(&player) {
                @if *is_banned { " " (badge("bad", "banned")) }
                @if *is_muted { " " (badge("waiting", "muted")) }
                @if *is_deleted { " " (badge("bad", "deleted")) }
            }
        }
    }
}
