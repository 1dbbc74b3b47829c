//! The form of a room's settings. A field has the name of its setting, such as `clocks.prepare_ms`,
//! and a value in a unit for people: coins, percent, seconds.

use std::borrow::Cow;
use std::collections::BTreeMap;

use bahay_api::operator::rooms::RoomSettings;
use bahay_engine::catalog;
use bahay_engine::coins::Coins;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;

use crate::http::operator::desk_ui::{
    Field, OperatorSession, field, format_decimal, group_thousands, parse_amount, parse_decimal,
    select,
};
use crate::http::{Code, CodeExt as _, Problem};
use crate::rooms::{Room, RoomError, SettingChange, choose_rules, flatten_object};

/// The refusals of settings by name.
pub(super) type FieldErrors = BTreeMap<String, String>;

/// The name of the button that confirms a change.
const CONFIRM: &str = "confirm";

/// The setting whose absence means a room without a POT.
const HITS: &str = "pot.hits_to_win";

/// A setting of a room as the form has it.
struct Setting {
    name: Cow<'static, str>,
    label: Cow<'static, str>,
    hint: &'static str,
    unit: Unit,
    is_optional: bool,
}

/// The unit of a setting in the form.
enum Unit {
    Text,
    /// A whole number up to a maximum.
    Whole(u32),
    /// An amount; the setting is in hundredths of a coin.
    Coins,
    /// A number; the setting is its multiple of 10 to the power of `places`.
    Decimal {
        places: usize,
        suffix: &'static str,
    },
    /// The labels of true and false.
    Choice([&'static str; 2]),
    /// Names with their labels.
    Select(Vec<(&'static str, &'static str)>),
}

const PERCENT: Unit = Unit::Decimal { places: 2, suffix: " %" };
const SECONDS: Unit = Unit::Decimal { places: 3, suffix: " s" };

impl Unit {
    /// Returns the text of a field.
    fn format(&self, value: &Value) -> String {
        let number = || value.as_u64().and_then(|number| u32::try_from(number).ok());
        match (self, value) {
            (_, Value::Null) => String::new(),
            (Self::Coins, _) => {
                Coins::from_hundredths(value.as_i64().unwrap_or_default()).to_string()
            }
            (Self::Decimal { places, .. }, _) => {
                number().map_or_else(|| value.to_string(), |n| format_decimal(n, *places))
            }
            (Self::Choice(_), _) => {
                if *value == Value::Bool(true) { "yes" } else { "no" }.to_owned()
            }
            (_, Value::String(text)) => text.clone(),
            _ => value.to_string(),
        }
    }

    /// Returns a value in words.
    fn describe(&self, value: &Value) -> String {
        let text = self.format(value);
        match (self, value) {
            (_, Value::Null) => "none".to_owned(),
            (Self::Coins, _) => group_thousands(&text),
            (Self::Decimal { suffix, .. }, _) => format!("{text}{suffix}"),
            (Self::Choice([yes, no]), _) => {
                if *value == Value::Bool(true) { *yes } else { *no }.to_owned()
            }
            (Self::Select(options), _) => {
                let option = options.iter().find(|(name, _)| *name == text);
                option.map_or(text.clone(), |(_, label)| (*label).to_owned())
            }
            _ => text,
        }
    }

    /// Parses the text of a field, or returns the requirement that it does not meet.
    fn parse(&self, text: &str) -> Result<Value, String> {
        match self {
            Self::Text => Ok(text.into()),
            Self::Whole(max) => {
                let number = text.parse().ok().filter(|number: &u32| number <= max);
                number.map(Value::from).ok_or_else(|| format!("a whole number from 0 to {max}"))
            }
            Self::Coins => {
                let amount = parse_amount(text).map(|amount| amount.hundredths().into());
                amount.ok_or_else(|| "an amount such as 12.50".to_owned())
            }
            Self::Decimal { places, .. } => {
                let number = parse_decimal(text, *places).and_then(|n| u32::try_from(n).ok());
                let why = || format!("a number with at most {places} decimal places");
                number.map(Value::from).ok_or_else(why)
            }
            Self::Choice(_) if matches!(text, "yes" | "no") => Ok((text == "yes").into()),
            Self::Select(options) if options.iter().any(|(name, _)| *name == text) => {
                Ok(text.into())
            }
            Self::Choice(_) | Self::Select(_) => Err("one of the options".to_owned()),
        }
    }
}

impl Setting {
    fn new(name: &'static str, label: &'static str, hint: &'static str, unit: Unit) -> Self {
        let is_optional = false;
        Self { name: Cow::Borrowed(name), label: Cow::Borrowed(label), hint, unit, is_optional }
    }

    fn optional(name: &'static str, label: &'static str, hint: &'static str, unit: Unit) -> Self {
        Self { is_optional: true, ..Self::new(name, label, hint, unit) }
    }

    /// Returns a value of the game's rules, whose type is that of `value`.
    fn from_rule(path: &str, value: &Value) -> Self {
        let seconds = path.strip_suffix("_ms");
        let unit = match value {
            Value::Bool(_) => Unit::Choice(["Yes", "No"]),
            Value::Number(_) if seconds.is_some() => SECONDS,
            Value::Number(_) => Unit::Whole(u32::MAX),
            _ => Unit::Text,
        };
        Self {
            name: format!("{RULES}{path}").into(),
            label: seconds.unwrap_or(path).replace(['.', '_'], " ").into(),
            hint: if seconds.is_some() { "Seconds." } else { "" },
            unit,
            is_optional: false,
        }
    }

    /// Returns true if a person types the value, so that its field has a place for a refusal.
    fn is_input(&self) -> bool {
        !matches!(self.unit, Unit::Choice(_) | Unit::Select(_))
    }

    fn draw(&self, value: &str, error: &str) -> Markup {
        let Self { name, label, hint, unit, is_optional } = self;
        let options = match unit {
            Unit::Choice([yes, no]) => vec![("yes", *yes), ("no", *no)],
            Unit::Select(options) => options.clone(),
            Unit::Text | Unit::Whole(_) | Unit::Coins | Unit::Decimal { .. } => {
                let inputmode = if matches!(unit, Unit::Text) { "" } else { "decimal" };
                let input = Field { value, hint, error, inputmode, ..Field::optional(name, label) };
                return field(Field { is_required: !is_optional, ..input });
            }
        };
        select(name, label, &options, value)
    }
}

/// The prefix of the names of rules.
const RULES: &str = "rules.";

/// Returns the settings of a room of a game, without its rules.
fn list_settings(kind: &str) -> Vec<Setting> {
    let bots = vec![("greedy", "By rules of thumb"), ("quick", "Like the AI after a takeover")];
    let watchers = ["Anybody, with a delay", "Nobody"];
    let players = ["Players with a password or an identity", "Anybody"];
    let whole = || Unit::Whole(u32::MAX);
    let small = || Unit::Whole(u8::MAX.into());
    let new = Setting::new;
    let optional = Setting::optional;
    vec![
        new("name", "Name", "", Unit::Text),
        new("rule_set", "Rule set", "", Unit::Select(list_rule_sets(kind))),
        new("watchable", "Who may watch", "", Unit::Choice(watchers)),
        new("bots", "Skill of house bots", "", Unit::Select(bots)),
        new("needs_account", "Who may play", "", Unit::Choice(players)),
        new("bet", "Bet", "In coins, such as 1.00.", Unit::Coins),
        new("multiplier", "Multiplier", "", whole()),
        new("fee_basis_points", "Fee", "Percent, 50 at most.", PERCENT),
        optional(
            HITS,
            "Consecutive wins that take the POT",
            "2 or 3; empty for a room without a POT.",
            small(),
        ),
        optional(
            "pot.ante",
            "Ante",
            "Bets that each seat pays into the POT before a game.",
            whole(),
        ),
        optional("pot.second_hit_bonus", "Bonus of the second hit", "In counts.", whole()),
        new("coins_min", "Minimum wallet", "In coins; 0 if only the stakes matter.", Unit::Coins),
        optional("coins_max", "Maximum wallet", "In coins; empty for no limit.", Unit::Coins),
        new("clocks.prepare_ms", "Time to get ready", "Seconds.", SECONDS),
        new("clocks.think_ms", "Thinking time of the AI", "Seconds.", SECONDS),
        new("clocks.grace_ms", "Grace after a lost connection", "Seconds.", SECONDS),
        new("clocks.missed_turns_to_takeover", "Missed turns before takeover", "", small()),
        new("clocks.absence_ms", "Seat is kept for", "Seconds.", SECONDS),
    ]
}

/// Returns the rules of a room.
fn list_rules(settings: &RoomSettings) -> Vec<Setting> {
    let rules = flatten_object(settings.rules.clone());
    rules.iter().map(|(path, value)| Setting::from_rule(path, value)).collect()
}

/// Returns the rule sets of a game, as options of a selection.
pub(super) fn list_rule_sets(kind: &str) -> Vec<(&'static str, &'static str)> {
    let sets = catalog::find_kind(kind).map(|known| known.rule_sets).unwrap_or_default();
    sets.into_iter().map(|set| (set.name, set.title)).collect()
}

/// The sent fields by name.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(crate) struct RoomForm(BTreeMap<String, String>);

impl RoomForm {
    /// Returns the form of a room as it is.
    pub(super) fn from_room(room: &Room) -> Self {
        let settings = room.settings();
        let stored = serde_json::to_value(&settings).unwrap_or_default();
        let shown = list_settings(room.kind()).into_iter().chain(list_rules(&settings));
        let texts = shown.map(|setting| {
            let text = setting.unit.format(get_setting(&stored, &setting.name));
            (setting.name.into_owned(), text)
        });
        let revision = ("revision".to_owned(), room.revision().to_string());
        Self(texts.chain([revision]).collect())
    }

    /// Returns the revision that the operator has seen.
    pub(super) fn revision(&self) -> Result<u32, Problem> {
        let revision = self.0.get("revision").and_then(|text| text.parse().ok());
        revision.ok_or_else(|| Code::BodyInvalid.with_detail("revision is a whole number"))
    }

    pub(super) fn is_confirmed(&self) -> bool {
        self.0.contains_key(CONFIRM)
    }

    /// Returns the settings of the room with the form's changes; those without a field stay
    /// unchanged. Another rule set is taken without changes.
    pub(super) fn to_settings(&self, room: &Room) -> Result<RoomSettings, FieldErrors> {
        let settings = room.settings();
        let mut changed = serde_json::to_value(&settings).unwrap_or_default();
        let mut errors = FieldErrors::new();
        let has_pot = self.0.get(HITS).is_none_or(|hits| !hits.trim().is_empty());
        for setting in list_settings(room.kind()) {
            let Some(text) = self.0.get(&*setting.name).map(|text| text.trim()) else { continue };
            if setting.name.starts_with("pot.") && !has_pot {
                continue;
            }
            match setting.unit.parse(text) {
                _ if text.is_empty() && setting.name == "coins_max" => {
                    *get_setting_mut(&mut changed, &setting.name) = Value::Null;
                }
                Ok(value) => *get_setting_mut(&mut changed, &setting.name) = value,
                Err(why) => drop(errors.insert(setting.name.into_owned(), why)),
            }
        }
        if !has_pot {
            changed["pot"] = Value::Null;
        }
        let is_other_set = changed["rule_set"] != settings.rule_set.as_str();
        if is_other_set {
            changed["rules"] = Value::Null;
        } else {
            self.apply_rules(&settings, &mut changed, &mut errors);
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let invalid = |error: serde_json::Error| [(String::new(), error.to_string())].into();
        serde_json::from_value(changed).map_err(invalid)
    }

    /// Applies the changed rules, each of which the game must be able to read.
    fn apply_rules(&self, now: &RoomSettings, changed: &mut Value, errors: &mut FieldErrors) {
        let stored = serde_json::to_value(now).unwrap_or_default();
        for setting in list_rules(now) {
            let Some(text) = self.0.get(&*setting.name).map(|text| text.trim()) else { continue };
            let checked = setting.unit.parse(text).and_then(|value| {
                let mut one = stored.clone();
                *get_setting_mut(&mut one, &setting.name) = value.clone();
                match choose_rules(&now.kind, &now.rule_set, &one["rules"]) {
                    Err(RoomError::Unsound { field, .. }) if field == "switches" => {
                        Err("the game has no such value".to_owned())
                    }
                    _ => Ok(value),
                }
            });
            match checked {
                Ok(value) => *get_setting_mut(changed, &setting.name) = value,
                Err(why) => drop(errors.insert(setting.name.into_owned(), why)),
            }
        }
    }

    /// Draws the form with the texts that were sent, and the refusals beside their fields.
    pub(super) fn draw(
        &self,
        session: &OperatorSession,
        action: &str,
        room: &Room,
        errors: &FieldErrors,
    ) -> Markup {
        let settings = list_settings(room.kind());
        let rules = list_rules(&room.settings());
        let text = |name: &str| self.0.get(name).map_or("", String::as_str);
        let error = |name: &str| errors.get(name).map_or("", String::as_str);
        let draw = |setting: &Setting| setting.draw(text(&setting.name), error(&setting.name));
        let has_input = |name: &String| {
            let mut inputs = settings.iter().chain(&rules).filter(|setting| setting.is_input());
            inputs.any(|setting| setting.name == name.as_str())
        };
        html! {
            @for (name, why) in errors.iter().filter(|(name, _)| !has_input(name)) {
                p class="alert" role="alert" { @if !name.is_empty() { (name) ": " } (why) "." }
            }
            form method="post" action=(action) {
                (session.form_token())
                input type="hidden" name="revision" value=(text("revision"));
                div class="columns" { @for setting in &settings { (draw(setting)) } }
                h3 { "Rules of " (catalog::kind_title(room.kind())) }
                p { "Another rule set selected above is taken unchanged; its rules can be edited afterwards." }
                div class="columns" { @for rule in &rules { (draw(rule)) } }
                p { "Tables take the changes when they prepare their next game; POT rules when no POT waits." }
                button class="main" { "Preview the change" }
            }
        }
    }

    /// Draws the button that sends the same values again, to change the room.
    pub(super) fn draw_confirmation(&self, session: &OperatorSession, action: &str) -> Markup {
        html! {
            form method="post" action=(action) {
                (session.form_token())
                @for (name, value) in &self.0 { input type="hidden" name=(name) value=(value); }
                button class="main" name=(CONFIRM) value="yes" { "Confirm the change" }
            }
        }
    }
}

/// Returns the name of the form's field for a field that the domain refuses.
pub(super) fn find_field(room: &Room, refused: &str) -> String {
    let rules = list_rules(&room.settings());
    let names = list_settings(room.kind()).into_iter().chain(rules).map(|setting| setting.name);
    let is_refused = |name: &Cow<'_, str>| name.strip_prefix(RULES).unwrap_or(name) == refused;
    names.into_iter().find(is_refused).map_or_else(|| refused.to_owned(), Cow::into_owned)
}

/// A change of a setting in words.
pub(super) struct ChangeText {
    pub(super) label: Cow<'static, str>,
    pub(super) before: String,
    pub(super) after: String,
}

/// Describes the changes of a room's settings with the labels and units of the form.
pub(super) fn describe_changes(kind: &str, changes: Vec<SettingChange>) -> Vec<ChangeText> {
    let mut settings = list_settings(kind);
    settings.push(Setting::new("is_open", "State", "", Unit::Choice(["open", "closed"])));
    let describe = |SettingChange { setting: name, before, after }: SettingChange| {
        let setting = match name.strip_prefix(RULES) {
            Some(path) => Setting::from_rule(path, if before.is_null() { &after } else { &before }),
            None => settings.iter().position(|setting| setting.name == name.as_str()).map_or_else(
                || Setting::from_rule(&name, &after),
                |place| settings.swap_remove(place),
            ),
        };
        let unit = setting.unit;
        let before = unit.describe(&before);
        ChangeText { label: setting.label, before, after: unit.describe(&after) }
    };
    changes.into_iter().map(describe).collect()
}

/// Returns the value of a setting; null if it is absent.
fn get_setting<'v>(settings: &'v Value, name: &str) -> &'v Value {
    name.split('.').fold(settings, |value, field| &value[field])
}

/// Returns the place of a setting's value.
fn get_setting_mut<'v>(settings: &'v mut Value, name: &str) -> &'v mut Value {
    name.split('.').fold(settings, |value, field| &mut value[field])
}
