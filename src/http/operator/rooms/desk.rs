//! Rooms: the list, the settings, opening and closing, and the creation of a room after the model
//! of another one.

use std::collections::BTreeMap;
use std::str::FromStr;

use axum::extract::State;
use axum::response::{Redirect, Response};
use bahay_api::operator::rooms::{RoomClocks, RoomPot, RoomSettings};
use bahay_engine::catalog;
use bahay_engine::coins::Coins;
use bahay_engine::game::Skill;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;

use super::query;
use crate::http::operator::desk_ui::{
    ErrorPage, Field, HouseZone, OperatorForm, OperatorSession, badge, button, coins, field,
    format_decimal, page, parse_amount, parse_decimal, select, table,
};
use crate::http::{Code, CodeExt as _, Path, Problem, Services};
use crate::lobby::Room;
use crate::rooms::{Catalog, RoomRevision, choose_rules};

const HERE: &str = "/desk/rooms";

pub(crate) async fn list(
    State(services): State<Services>,
    session: OperatorSession,
) -> Result<Response, ErrorPage> {
    let playing = services.lobby.playing_counts().await;
    let playing = playing.map_err(|error| Problem::unavailable(&error))?;
    let rooms = services.lobby.rooms();
    let row = |room: &Room| {
        let now = playing.get(room.id()).copied().unwrap_or_default();
        let price = room.terms().price;
        vec![
            html! { a href={ (HERE) "/" (room.id()) } { (room.name()) } },
            html! { (catalog::kind_title(room.kind())) ", " (rule_set_title(room)) },
            if room.is_open() { badge("good", "open") } else { badge("bad", "closed") },
            coins(price.bet),
            html! { (price.multiplier) },
            html! { (hundredths(price.fee_basis_points)) " %" },
            html! { (now.players) },
            html! { a href={ "/desk/tables?room=" (room.id()) } { (now.tables) } },
        ]
    };
    let columns = "Room | Game | State | #Bet | #Multiplier | #Fee | #Players | #Tables";
    let ids: Vec<(&str, &str)> = rooms.iter().map(|room| (room.id(), room.name())).collect();
    let body = html! {
        (table("Rooms, by ascending bet", columns, rooms.iter().map(|room| row(room))))
        @if !services.lobby.catalog().house().is_open {
            p class="alert" { "The house is closed, and so is every room: see " a href="/desk/switches" { "Switches" } "." }
        }
        @if session.operator.require_administrator().is_ok() {
            h2 { "Create a room" }
            form method="post" action=(HERE) {
                (session.form_token())
                (field(Field {
                    hint: "Used in paths: a lower-case letter, then letters, digits and hyphens.",
                    ..Field::required("id", "Id")
                }))
                (field(Field::required("name", "Name")))
                (select("kind", "Game", &kinds(), ""))
                (select("like", "Copy settings from", &ids, ""))
                button class="main" { "Create it, closed" }
            }
        }
    };
    Ok(page(&session, "Rooms", body))
}

/// Formats basis points as a percentage with two decimal places.
fn hundredths(basis_points: u32) -> String {
    format!("{}.{:02}", basis_points / 100, basis_points % 100)
}

pub(crate) async fn show_room(
    State(rooms): State<Catalog>,
    session: OperatorSession,
    Path(id): Path<String>,
) -> Result<Response, ErrorPage> {
    let revisions = rooms.revisions(&id).await?;
    let Some(RoomRevision { room, .. }) = revisions.first() else {
        return Err(Code::RoomNotFound.problem().into());
    };
    let columns = "#Revision | Changed at | Changed by | State | #Bet | #Fee";
    let here = format!("{HERE}/{id}");
    let body = html! {
        @if session.operator.require_administrator().is_ok() {
            @if room.is_open() {
                (button(&session, &format!("{here}/closing"), "Close this room", "Running games are finished; no other begins. Close it?"))
            } @else {
                (button(&session, &format!("{here}/opening"), "Open this room", ""))
            }
            h2 { "Change" }
            (form(&session, &here, room))
        }
        h2 { "History" }
        (table("Revisions, newest first", columns, revisions.iter().map(|one| revision(&session.zone, one))))
        p { a href=(HERE) { "All rooms" } " · " a href={ "/desk/tables?room=" (id) } { "Tables of this room" } }
    };
    Ok(page(&session, room.name(), body))
}

fn revision(zone: &HouseZone, revision: &RoomRevision) -> Vec<Markup> {
    let RoomRevision { room, changed_by, changed_at } = revision;
    vec![
        html! { (room.revision()) },
        zone.time(*changed_at),
        html! { (changed_by.as_deref().unwrap_or("")) },
        if room.is_open() { badge("good", "open") } else { badge("bad", "closed") },
        coins(room.terms().price.bet),
        html! { (hundredths(room.terms().price.fee_basis_points)) " %" },
    ]
}

fn form(session: &OperatorSession, here: &str, room: &Room) -> Markup {
    let settings = query::settings(room);
    let amount = |hundredths: i64| Coins::from_hundredths(hundredths).to_string();
    let number = |name: &'static str, label: &'static str, value: String, hint: &'static str| {
        field(Field { value: &value, hint, inputmode: "decimal", ..Field::required(name, label) })
    };
    let choice = |name, label, options: [(&str, &str); 2], is_first: bool| {
        select(name, label, &options, options[usize::from(!is_first)].0)
    };
    let most = settings.coins_max.map_or(String::new(), amount);
    let sets: Vec<(&str, &str)> = rule_sets(room.kind());
    let watchable = [("yes", "Anybody, with a delay"), ("no", "Nobody")];
    let bots = [("greedy", "By rules of thumb"), ("quick", "Like the AI after a takeover")];
    let accounts = [("no", "Anybody"), ("yes", "Players with a password or an identity")];
    let hits = settings.pot.map_or(String::new(), |pot| pot.hits_to_win.to_string());
    let (ante, bonus) = settings.pot.map_or((0, 0), |pot| (pot.ante, pot.second_hit_bonus));
    let clocks = settings.clocks;
    let rules = leaves(&settings.rules);
    html! {
        form method="post" action=(here) {
            (session.form_token())
            input type="hidden" name="revision" value=(room.revision());
            div class="columns" {
                (field(Field { value: room.name(), ..Field::required("name", "Name") }))
                (select("rule_set", "Rule set", &sets, room.rule_set()))
                (choice("watchable", "Who may watch", watchable, settings.watchable))
                (choice("bots", "Skill of house bots", bots, settings.bots == Skill::Greedy))
                (choice("account", "Who may play", accounts, !settings.needs_account))
                (number("bet", "Bet", amount(settings.bet), "In coins, such as 1.00."))
                (number("multiplier", "Multiplier", settings.multiplier.to_string(), ""))
                (number("fee", "Fee", format_decimal(settings.fee_basis_points, 2), "Percent, 50 at most."))
                (field(Field { value: &hits, hint: "2 or 3; empty for a room without a POT.", inputmode: "numeric", ..Field::optional("hits", "Consecutive wins that take the POT") }))
                (number("ante", "Ante", ante.to_string(), "Bets that each seat pays into the POT before a game."))
                (number("bonus", "Bonus of the second hit", bonus.to_string(), "In counts."))
                (number("least", "Minimum wallet", amount(settings.coins_min), "In coins; 0 if only the stakes matter."))
                (field(Field { value: &most, hint: "In coins; empty for no limit.", ..Field::optional("most", "Maximum wallet") }))
                (number("prepare", "Time to get ready", format_decimal(clocks.prepare_ms, 3), "Seconds."))
                (number("think", "Thinking time of the AI", format_decimal(clocks.think_ms, 3), "Seconds."))
                (number("grace", "Grace after a lost connection", format_decimal(clocks.grace_ms, 3), "Seconds."))
                (number("missed_turns", "Missed turns before takeover", clocks.missed_turns_to_takeover.to_string(), ""))
                (number("absence", "Seat is kept for", format_decimal(clocks.absence_ms, 3), "Seconds."))
            }
            h3 { "Rules of " (catalog::kind_title(room.kind())) }
            p { "Another rule set selected above is taken unchanged; its rules can be edited afterwards." }
            div class="columns" {
                @for (path, value) in &rules {
                    (rule(path, value))
                }
            }
            p { "Tables take the changes when they prepare their next game; POT rules when no POT waits." }
            button class="main" { "Change the room" }
        }
    }
}

/// The options of a form's field, by their texts.
const YES_OR_NO: [(&str, bool); 2] = [("yes", true), ("no", false)];
const SKILLS: [(&str, Skill); 2] = [("greedy", Skill::Greedy), ("quick", Skill::Quick)];

/// The fields of the room form by name. The names of rule fields contain the paths of [`leaves`].
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(crate) struct RoomForm(BTreeMap<String, String>);

impl RoomForm {
    fn text(&self, name: &str) -> Result<&str, Problem> {
        let missing = || Code::BodyInvalid.with_detail(format!("{name} is missing"));
        self.0.get(name).map(|text| text.trim()).ok_or_else(missing)
    }

    fn number<T: FromStr>(&self, name: &str) -> Result<T, Problem> {
        let wrong = |_| Code::BodyInvalid.with_detail(format!("{name} is a whole number"));
        self.text(name)?.parse().map_err(wrong)
    }

    /// Returns a number with decimal places, multiplied by 10 to the power of `places`.
    fn decimal(&self, name: &str, places: usize) -> Result<u32, Problem> {
        let why = format!("{name} is a number with at most {places} decimal places");
        let number = parse_decimal(self.text(name)?, places).and_then(|n| u32::try_from(n).ok());
        number.ok_or_else(|| Code::BodyInvalid.with_detail(why))
    }

    /// Returns an amount in hundredths of a coin.
    fn coins(&self, name: &str) -> Result<i64, Problem> {
        let why = format!("{name}: an amount has at most two decimal places, such as 12.50");
        let amount = parse_amount(self.text(name)?).map(Coins::hundredths);
        amount.ok_or_else(|| Code::BodyInvalid.with_detail(why))
    }

    /// Returns the chosen one of two options, or `None` if the form lacks the field.
    fn choose<T: Copy>(&self, name: &str, options: [(&str, T); 2]) -> Result<Option<T>, Problem> {
        let Some(text) = self.0.get(name) else { return Ok(None) };
        let chosen = options.iter().find(|(option, _)| option == text).map(|(_, value)| *value);
        let [(one, _), (other, _)] = options;
        let wrong = || Code::BodyInvalid.with_detail(format!("{name} is {one} or {other}"));
        chosen.map(Some).ok_or_else(wrong)
    }

    /// Returns the settings of the room with the form's changes; those without a field stay
    /// unchanged.
    fn to_settings(&self, now: &Room) -> Result<RoomSettings, Problem> {
        let settings = query::settings(now);
        let rule_set = self.text("rule_set")?;
        let pot = match self.text("hits")? {
            "" => None,
            _ => Some(RoomPot {
                ante: self.number("ante")?,
                hits_to_win: self.number("hits")?,
                second_hit_bonus: self.number("bonus")?,
            }),
        };
        let coins_max = match self.text("most")? {
            "" => None,
            _ => Some(self.coins("most")?),
        };
        let is_same = rule_set == now.rule_set();
        Ok(RoomSettings {
            name: self.text("name")?.to_owned(),
            rules: if is_same { self.rules(&settings.rules)? } else { Value::Null },
            rule_set: rule_set.to_owned(),
            bet: self.coins("bet")?,
            multiplier: self.number("multiplier")?,
            fee_basis_points: self.decimal("fee", 2)?,
            pot,
            coins_min: self.coins("least")?,
            coins_max,
            clocks: RoomClocks {
                prepare_ms: self.decimal("prepare", 3)?,
                think_ms: self.decimal("think", 3)?,
                grace_ms: self.decimal("grace", 3)?,
                missed_turns_to_takeover: self.number("missed_turns")?,
                absence_ms: self.decimal("absence", 3)?,
            },
            watchable: self.choose("watchable", YES_OR_NO)?.unwrap_or(settings.watchable),
            bots: self.choose("bots", SKILLS)?.unwrap_or(settings.bots),
            needs_account: self.choose("account", YES_OR_NO)?.unwrap_or(settings.needs_account),
            ..settings
        })
    }

    /// Returns the room's rules with the form's changes.
    fn rules(&self, now: &Value) -> Result<Value, Problem> {
        let mut rules = now.clone();
        for (path, value) in leaves(now) {
            let Some(text) = self.0.get(&rule_field_name(&path)).map(|text| text.trim()) else {
                continue;
            };
            let wrong = || Code::BodyInvalid.with_detail(format!("{path} cannot be {text}"));
            let new = match value {
                Value::Bool(_) => Value::Bool(text == "yes"),
                Value::Number(_) => {
                    parse_decimal(text, rule_places(&path)).ok_or_else(wrong)?.into()
                }
                Value::String(_) => text.into(),
                Value::Null | Value::Array(_) | Value::Object(_) => continue,
            };
            if let Some(leaf) = rules.pointer_mut(&format!("/{}", path.replace('.', "/"))) {
                *leaf = new;
            }
        }
        Ok(rules)
    }
}

/// Returns the scalar values of a set of rules with their paths, such as `countdowns.draw_ms`.
fn leaves(rules: &Value) -> Vec<(String, Value)> {
    let Value::Object(fields) = rules else {
        return Vec::new();
    };
    let leaf = |(name, value): (&String, &Value)| match value {
        Value::Object(_) => {
            let within = leaves(value).into_iter();
            within.map(|(path, value)| (format!("{name}.{path}"), value)).collect()
        }
        value => vec![(name.clone(), value.clone())],
    };
    fields.iter().flat_map(leaf).collect()
}

/// Returns the decimal places of a rule's number in the form: times are milliseconds in the rules and
/// seconds in the form.
fn rule_places(path: &str) -> usize {
    if path.ends_with("_ms") { 3 } else { 0 }
}

fn rule_field_name(path: &str) -> String {
    format!("rules.{path}")
}

/// Draws the field of one value of the rules.
fn rule(path: &str, value: &Value) -> Markup {
    let places = rule_places(path);
    let label = path.strip_suffix("_ms").unwrap_or(path).replace(['.', '_'], " ");
    let name = rule_field_name(path);
    match value {
        Value::Bool(is_on) => {
            let choices = [("yes", "Yes"), ("no", "No")];
            select(&name, &label, &choices, if *is_on { "yes" } else { "no" })
        }
        Value::Number(number) => {
            let whole = number.as_u64().and_then(|number| u32::try_from(number).ok());
            let value = whole.map_or_else(|| number.to_string(), |n| format_decimal(n, places));
            let hint = if places > 0 { "Seconds." } else { "" };
            let field_ = Field { value: &value, hint, ..Field::required(&name, &label) };
            field(Field { inputmode: "decimal", ..field_ })
        }
        Value::String(text) => field(Field { value: text, ..Field::required(&name, &label) }),
        // Rules contain none of these as leaves.
        Value::Null | Value::Array(_) | Value::Object(_) => html! {},
    }
}

/// Returns the visible kinds of game, as options of a selection.
fn kinds() -> Vec<(&'static str, &'static str)> {
    let shown = catalog::kinds().into_iter().filter(|kind| !kind.is_hidden);
    shown.map(|kind| (kind.name, kind.title)).collect()
}

fn rule_sets(kind: &str) -> Vec<(&'static str, &'static str)> {
    let sets = catalog::find_kind(kind).map(|known| known.rule_sets).unwrap_or_default();
    sets.into_iter().map(|set| (set.name, set.title)).collect()
}

fn rule_set_title(room: &Room) -> &'static str {
    let sets = rule_sets(room.kind()).into_iter();
    let named = sets.filter(|(name, _)| *name == room.rule_set()).map(|(_, title)| title).next();
    named.unwrap_or("own rules")
}

pub(crate) async fn change(
    State(rooms): State<Catalog>,
    Path(id): Path<String>,
    OperatorForm { session, input }: OperatorForm<RoomForm>,
) -> Result<Redirect, ErrorPage> {
    let by = session.operator.require_administrator()?;
    let revisions = rooms.revisions(&id).await?;
    let now = revisions.first().ok_or_else(|| Code::RoomNotFound.problem())?;
    let draft = query::draft(id.clone(), input.to_settings(&now.room)?, now.room.terms().clocks)?;
    rooms.change(&by, input.number("revision")?, &draft).await?;
    Ok(Redirect::to(&format!("{HERE}/{id}")))
}

#[derive(Debug, Deserialize)]
pub(crate) struct CreateRoomForm {
    id: String,
    name: String,
    kind: String,
    like: String,
}

pub(crate) async fn create(
    State(rooms): State<Catalog>,
    OperatorForm { session, input }: OperatorForm<CreateRoomForm>,
) -> Result<Redirect, ErrorPage> {
    let by = session.operator.require_administrator()?;
    let CreateRoomForm { id, name, kind, like } = input;
    let like = rooms.room(&like).ok_or_else(|| Code::RoomNotFound.problem())?;
    let mut settings = RoomSettings { name, is_open: false, ..query::settings(&like) };
    if kind != like.kind() {
        let first = rule_sets(&kind).first().map_or("", |(name, _)| name);
        let chosen = choose_rules(&kind, first, &Value::Null)?;
        settings.pot = chosen.hits.map(query::pot);
        settings =
            RoomSettings { kind, rule_set: first.to_owned(), rules: Value::Null, ..settings };
    }
    rooms.create(&by, &query::draft(id.clone(), settings, like.terms().clocks)?).await?;
    Ok(Redirect::to(&format!("{HERE}/{id}")))
}

pub(crate) async fn open(
    State(rooms): State<Catalog>,
    Path(id): Path<String>,
    OperatorForm { session, .. }: OperatorForm,
) -> Result<Redirect, ErrorPage> {
    rooms.set_open(&session.operator.require_administrator()?, &id, true).await?;
    Ok(Redirect::to(&format!("{HERE}/{id}")))
}

pub(crate) async fn close(
    State(rooms): State<Catalog>,
    Path(id): Path<String>,
    OperatorForm { session, .. }: OperatorForm,
) -> Result<Redirect, ErrorPage> {
    rooms.set_open(&session.operator.require_administrator()?, &id, false).await?;
    Ok(Redirect::to(&format!("{HERE}/{id}")))
}
