//! The sanctions of a player on the player's page: a list, and the forms that impose and lift them;
//! and the page of all sanctions in force.

use axum::extract::State;
use axum::response::{Redirect, Response};
use bahay_api::operator::sanctions::{SanctionFilter, SanctionInForce, SanctionRequest};
use maud::{Markup, html};
use serde::Deserialize;
use uuid::Uuid;

use super::{NamedPlayers, query};
use crate::accounts::{SanctionKind, SanctionRecord};
use crate::http::operator::desk_ui::{
    ErrorPage, Field, FilterForm, HouseZone, OperatorForm, OperatorSession, author_text, field,
    page, pager, select, table, text_area,
};
use crate::http::{Code, CodeExt as _, Cursors, PageQuery, PageRequest, Path, Problem, Services};
use crate::ids::PlayerId;
use crate::operators::Sanctions;
use crate::reason::Reason;

const HERE: &str = "/desk/sanctions";

/// The number of sanctions on one page.
const PAGE: u32 = 50;

/// The kinds of sanctions with their names.
const KINDS: [(SanctionKind, &str); 2] = [(SanctionKind::Ban, "Ban"), (SanctionKind::Mute, "Mute")];

/// The durations that an operator can choose, in hours. None is chosen at first.
const DURATIONS: [(&str, &str); 8] = [
    ("", "Choose"),
    ("1", "1 hour"),
    ("24", "1 day"),
    ("72", "3 days"),
    ("168", "7 days"),
    ("720", "30 days"),
    (OTHER, "Another number of hours"),
    (PERMANENT, "Permanent"),
];
const OTHER: &str = "other";
const PERMANENT: &str = "permanent";

/// Draws the sanctions of a player and, for operators who may moderate, the forms that change them.
/// `here` is the path of the player's page.
pub(crate) async fn section(
    sanctions: &Sanctions,
    session: &OperatorSession,
    player: PlayerId,
    here: &str,
) -> Result<Markup, ErrorPage> {
    let now = sanctions.now();
    let mut rows = Vec::new();
    let mut in_force = Vec::new();
    for (kind, name) in KINDS {
        let listed = sanctions.list(player, kind).await?;
        match listed.iter().filter(|sanction| sanction.is_in_force(now)).count() {
            0 => {}
            1 => in_force.push((kind, format!("Lift the {}", kind.as_str()))),
            // All of a kind are lifted at once.
            count => in_force.push((kind, format!("Lift all {count} {}s", kind.as_str()))),
        }
        rows.extend(listed.iter().map(|record| {
            let lift = html! {
                @if record.is_in_force(now) {
                    (lift_button(session, record.id, LiftPage::Player, &format!("Lift this {}", kind.as_str())))
                }
            };
            let mut row = row(&session.zone, name, record);
            row.push(lift);
            (record.imposed_at, row)
        }));
    }
    rows.sort_by_key(|(imposed_at, _)| std::cmp::Reverse(*imposed_at));
    let rows = rows.iter().map(|(_, row)| row);
    let columns = "Kind | Since | By | Until | Lifted | Lifted by | Reason | Action";
    let kinds = KINDS.map(|(kind, name)| (kind.as_str(), name));
    Ok(html! {
        (table("Bans and mutes, newest first", columns, rows))
        @if session.operator.require_moderator().is_ok() {
            @for (kind, lift) in &in_force {
                form class="inline" method="post" action={ (here) "/sanctions/lifting" }
                    data-confirm={ (lift) " of this player?" } {
                    (session.form_token())
                    input type="hidden" name="kind" value=(kind.as_str());
                    button { (lift) }
                }
            }
            form method="post" action={ (here) "/sanctions" }
                data-confirm="{kind}: {duration} {hours}. The player is told the reason and the end. Impose it?" {
                (session.form_token())
                (select("kind", "Ban or mute", &kinds, ""))
                (select("duration", "Duration", &DURATIONS, ""))
                (field(Field {
                    inputmode: "numeric", hint: "For another duration: 1 to 87600.",
                    ..Field::optional("hours", "Hours")
                }))
                (text_area("reason", "Reason", "10 to 500 characters. The player reads it."))
                button { "Ban or mute this player" }
            }
        }
    })
}

fn row(
    zone: &HouseZone,
    kind: &str,
    SanctionRecord { sanction, imposed_at, lifted_at, imposed_by, lifted_by, .. }: &SanctionRecord,
) -> Vec<Markup> {
    vec![
        html! { (kind) },
        zone.time(*imposed_at),
        author_text(imposed_by.as_deref()),
        sanction.ends_at.map_or_else(|| html! { "permanent" }, |at| zone.time(at)),
        lifted_at.map_or_else(|| html! {}, |at| zone.time(at)),
        html! { @if lifted_at.is_some() { (author_text(lifted_by.as_deref())) } },
        html! { (sanction.reason) },
    ]
}

pub(crate) async fn list(
    State(services): State<Services>,
    State(sanctions): State<Sanctions>,
    State(cursors): State<Cursors>,
    session: OperatorSession,
    FilterForm(query): FilterForm<PageQuery<SanctionFilter>>,
) -> Result<Response, ErrorPage> {
    let kind = query.filter.kind.map_or("", SanctionKind::as_str);
    let request = PageRequest::new(session.operator.clone(), query, PAGE, cursors);
    let listed = query::list_in_force(&sanctions, &request).await?;
    let players = listed.items.iter().map(|sanction| sanction.player);
    let named = NamedPlayers::load(&services, players).await?;
    let rows = listed.items.iter().map(|sanction| row_in_force(&session, &named, sanction));
    let columns = "Player | Kind | Since | By | Until | Reason | Action";
    let kinds = [("", "All"), ("ban", "Bans"), ("mute", "Mutes")];
    let body = html! {
        form class="filter" method="get" action=(HERE) {
            (select("kind", "Kind", &kinds, kind))
            button { "Show" }
        }
        p { "A sanction is imposed on the page of its player." }
        (table("Bans and mutes in force, newest first", columns, rows))
        (pager(HERE, &[("kind", kind)], listed.next_cursor.as_deref()))
    };
    Ok(page(&session, "Sanctions", body))
}

fn row_in_force(
    session: &OperatorSession,
    named: &NamedPlayers,
    sanction: &SanctionInForce,
) -> Vec<Markup> {
    let zone = &session.zone;
    let kinds = KINDS.into_iter().find(|(kind, _)| *kind == sanction.kind);
    let lift = format!("Lift this {} of {}", sanction.kind.as_str(), sanction.name);
    vec![
        named.link(sanction.player, &sanction.name),
        html! { @if let Some((_, name)) = kinds { (name) } },
        zone.time(sanction.imposed_at),
        author_text(sanction.imposed_by.as_deref()),
        sanction.ends_at.map_or_else(|| html! { "permanent" }, |at| zone.time(at)),
        html! { (sanction.reason) },
        lift_button(session, sanction.id, LiftPage::List, &lift),
    ]
}

/// The page from which one sanction is lifted, to which the answer leads back.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum LiftPage {
    List,
    Player,
}

/// Draws the button that lifts one sanction, for operators who may. `name` is its full name.
fn lift_button(session: &OperatorSession, id: Uuid, page: LiftPage, name: &str) -> Markup {
    let page = match page {
        LiftPage::List => "list",
        LiftPage::Player => "player",
    };
    html! {
        @if session.operator.require_moderator().is_ok() {
            form class="inline" method="post" action={ (HERE) "/" (id) "/lifting" }
                data-confirm={ (name) "? Others of the player stay in force." } {
                (session.form_token())
                input type="hidden" name="page" value=(page);
                button aria-label=(name) { "Lift" }
            }
        }
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct SanctionForm {
    kind: SanctionKind,
    duration: String,
    hours: String,
    reason: Reason,
}

impl SanctionForm {
    /// Returns the duration in hours, `None` for a permanent sanction.
    fn hours(&self) -> Result<Option<u32>, Problem> {
        let hours = match self.duration.as_str() {
            PERMANENT => return Ok(None),
            OTHER => self.hours.trim(),
            hours => hours,
        };
        let missing = |_| Code::BodyInvalid.with_detail("choose a duration, in whole hours");
        hours.parse().map(Some).map_err(missing)
    }
}

pub(crate) async fn begin(
    State(sanctions): State<Sanctions>,
    Path(player): Path<Uuid>,
    OperatorForm { session, input }: OperatorForm<SanctionForm>,
) -> Result<Redirect, ErrorPage> {
    let by = session.operator.require_moderator()?;
    let hours = input.hours()?;
    let SanctionForm { kind, reason, .. } = input;
    let request = query::check(SanctionRequest { reason, hours })?;
    query::impose(&sanctions, &by, PlayerId(player), kind, request).await?;
    Ok(redirect_to_player(player))
}

#[derive(Debug, Deserialize)]
pub(crate) struct LiftForm {
    kind: SanctionKind,
}

pub(crate) async fn lift(
    State(sanctions): State<Sanctions>,
    Path(player): Path<Uuid>,
    OperatorForm { session, input: LiftForm { kind } }: OperatorForm<LiftForm>,
) -> Result<Redirect, ErrorPage> {
    sanctions.lift(&session.operator.require_moderator()?, PlayerId(player), kind).await?;
    Ok(redirect_to_player(player))
}

#[derive(Debug, Deserialize)]
pub(crate) struct LiftOneForm {
    page: LiftPage,
}

pub(crate) async fn lift_one(
    State(sanctions): State<Sanctions>,
    Path(id): Path<Uuid>,
    OperatorForm { session, input: LiftOneForm { page } }: OperatorForm<LiftOneForm>,
) -> Result<Redirect, ErrorPage> {
    let (player, _) = sanctions.lift_one(&session.operator.require_moderator()?, id).await?;
    Ok(match page {
        LiftPage::List => Redirect::to(HERE),
        LiftPage::Player => redirect_to_player(player.0),
    })
}

fn redirect_to_player(player: Uuid) -> Redirect {
    Redirect::to(&format!("/desk/players/{player}"))
}
