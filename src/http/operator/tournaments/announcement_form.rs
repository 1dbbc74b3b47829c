//! The form that announces a tournament, in units for people: coins, minutes, times of the house's
//! zone.

use bahay_api::operator::tournaments::{AnnounceTournament, PayoutStep};
use bahay_desk_ui::PeriodBound;
use bahay_engine::coins::Coins;
use bahay_engine::tournament::presets;
use maud::{Markup, html};
use serde::Deserialize;

use super::announcement::{FieldError, list_games};
use crate::http::operator::desk_ui::{Field, HouseZone, field, parse_amount, select};

/// The names of the fields, in their order.
const NAMES: [&str; 14] = [
    "preset",
    "name",
    "game",
    "buy_in",
    "fee",
    "guarantee",
    "payouts",
    "starts_at",
    "late",
    "pause",
    "code",
    "passes",
    "bots",
    "bots_after",
];

/// The fields of the form as they were typed.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct AnnouncementForm {
    preset: String,
    name: String,
    /// The kind and the rule set, separated by a slash.
    game: String,
    buy_in: String,
    fee: String,
    guarantee: String,
    payouts: String,
    /// A time without a zone, as browsers send it.
    starts_at: String,
    /// The late registration, in minutes.
    late: String,
    /// The time between two rounds, in seconds.
    pause: String,
    code: String,
    passes: String,
    bots: String,
    /// The wait before bots complete a sit-and-go, in seconds.
    bots_after: String,
}

impl AnnouncementForm {
    /// Returns whether the form has been filled in.
    pub(crate) fn is_filled(&self) -> bool {
        !self.preset.is_empty()
    }

    /// Returns the fields with their values.
    fn fields(&self) -> [(&'static str, &str); NAMES.len()] {
        let values = [
            &self.preset,
            &self.name,
            &self.game,
            &self.buy_in,
            &self.fee,
            &self.guarantee,
            &self.payouts,
            &self.starts_at,
            &self.late,
            &self.pause,
            &self.code,
            &self.passes,
            &self.bots,
            &self.bots_after,
        ];
        std::array::from_fn(|place| (NAMES[place], values[place].as_str()))
    }

    /// Converts the fields into the request of the API.
    pub(crate) fn to_request(&self, zone: &HouseZone) -> Result<AnnounceTournament, FieldError> {
        let (kind, rule_set) = self.game.split_once('/').unwrap_or((&self.game, ""));
        let starts_at = match self.starts_at.trim() {
            "" => None,
            typed => {
                let at = zone.parse_time(typed, PeriodBound::From);
                Some(at.ok_or_else(|| FieldError::new("starts_at", "it is a day and a time"))?)
            }
        };
        let late = parse_whole("late_registration_s", &self.late)?.unwrap_or(0);
        let late = late.checked_mul(60);
        Ok(AnnounceTournament {
            preset: self.preset.clone(),
            name: self.name.trim().to_owned(),
            kind: filled(kind),
            rule_set: filled(rule_set),
            buy_in: parse_coins("buy_in", &self.buy_in)?,
            fee: parse_coins("fee", &self.fee)?,
            accepts_passes: self.passes == "yes",
            guarantee: parse_coins("guarantee", &self.guarantee)?,
            payouts: parse_payouts(&self.payouts)?,
            starts_in_s: None,
            starts_at,
            late_registration_s: late.unwrap_or(u32::MAX),
            break_s: parse_whole("break_s", &self.pause)?,
            bots: self.bots == "yes",
            bots_after_s: parse_whole("bots_after_s", &self.bots_after)?,
            code: filled(self.code.trim()),
        })
    }

    /// Draws the fields, with the reason why one of them was refused.
    pub(crate) fn draw_fields(&self, refused: Option<&FieldError>) -> Markup {
        let error = |name: &str| match refused {
            Some(refused) if input_of(refused.field) == name => refused.message.as_str(),
            _ => "",
        };
        let text = |name: &'static str, label, value, hint, inputmode| {
            let error = error(name);
            field(Field { value, hint, error, inputmode, ..Field::optional(name, label) })
        };
        let presets: Vec<(&str, &str)> = presets().iter().map(|one| (one.name, one.name)).collect();
        let games: Vec<(String, String)> = list_games()
            .into_iter()
            .map(|game| {
                let value = format!("{}/{}", game.kind, game.rule_set);
                (value, format!("{}, {}", game.kind_title, game.rule_set_title))
            })
            .collect();
        let games: Vec<(&str, &str)> =
            games.iter().map(|(value, text)| (value.as_str(), text.as_str())).collect();
        let choice = [("", "No"), ("yes", "Yes")];
        let bots_after = format!(
            "Seconds that the first player of a sit-and-go waits; if empty those of the preset: {}. \
             Other tournaments have none: bots complete their minimum at the start.",
            list_bot_waits()
        );
        html! {
            (select("preset", "Preset", &presets, &self.preset))
            @if !error("preset").is_empty() { p class="alert" { "Preset: " (error("preset")) "." } }
            (field(Field {
                value: &self.name, error: error("name"), hint: "At most 80 bytes; players see it.",
                ..Field::required("name", "Name")
            }))
            (select("game", "Game and rules", &games, &self.game))
            @if !error("game").is_empty() { p class="alert" { "Game: " (error("game")) "." } }
            (text("buy_in", "Buy-in", &self.buy_in, "Coins of each entry that go into the pool.", "decimal"))
            (text("fee", "Fee", &self.fee, "Coins of each entry for the house.", "decimal"))
            (text("guarantee", "Guarantee", &self.guarantee, "The pool is at least this; the house adds what is missing.", "decimal"))
            (text("payouts", "Payouts", &self.payouts, "Shares from the first place, such as 50 30 20; by entrants, such as 0: 100; 6: 65 35. Empty for those of the preset.", ""))
            (field(Field {
                kind: "datetime-local", value: &self.starts_at, error: error("starts_at"),
                hint: "In the house's zone. Empty for a sit-and-go.",
                ..Field::optional("starts_at", "Start")
            }))
            (text("late", "Late registration", &self.late, "Minutes after the start.", "numeric"))
            (text("pause", "Break between rounds", &self.pause, "Seconds; 10 if empty.", "numeric"))
            (text("code", "Code", &self.code, "4 to 16 capital letters and digits for a private tournament; empty for a public one.", ""))
            (select("passes", "Passes pay an entry", &choice, &self.passes))
            (select("bots", "House bots complete the entrants", &choice, &self.bots))
            (text("bots_after", "Bots after", &self.bots_after, &bots_after, "numeric"))
        }
    }

    /// Draws the fields as hidden inputs of the form that confirms them.
    pub(crate) fn draw_hidden(&self) -> Markup {
        html! {
            @for (name, value) in self.fields() { input type="hidden" name=(name) value=(value); }
        }
    }
}

/// Returns the waits for house bots, in seconds, by the presets that have one.
fn list_bot_waits() -> String {
    let presets = presets().into_iter().filter(|preset| preset.bots_after_ms > 0);
    let waits = presets.map(|preset| format!("{} {}", preset.name, preset.bots_after_ms / 1_000));
    waits.collect::<Vec<_>>().join(", ")
}

/// Returns the name of the input for a field of the request.
fn input_of(field: &str) -> &str {
    match field {
        "kind" | "rule_set" => "game",
        "starts_in_s" => "starts_at",
        "late_registration_s" => "late",
        "break_s" => "pause",
        "bots_after_s" => "bots_after",
        field => field,
    }
}

/// Returns the label of the input for a field of the request.
pub(crate) fn label_of(field: &str) -> String {
    match input_of(field) {
        "starts_at" => "start".to_owned(),
        "late" => "late registration".to_owned(),
        "pause" => "break between rounds".to_owned(),
        input => input.replace('_', " "),
    }
}

fn filled(text: &str) -> Option<String> {
    Some(text).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn parse_coins(name: &'static str, text: &str) -> Result<i64, FieldError> {
    if text.trim().is_empty() {
        return Ok(0);
    }
    let amount = parse_amount(text).map(Coins::hundredths);
    amount.ok_or_else(|| FieldError::new(name, "an amount has at most two decimal places"))
}

fn parse_whole(name: &'static str, text: &str) -> Result<Option<u32>, FieldError> {
    let number = filled(text.trim()).map(|text| text.parse::<u32>()).transpose();
    number.map_err(|_| FieldError::new(name, "it is a whole number"))
}

/// Parses shares in steps, such as `0: 100; 6: 65 35`. Without a number of entrants, a step begins
/// at 0.
fn parse_payouts(text: &str) -> Result<Option<Vec<PayoutStep>>, FieldError> {
    let invalid = || FieldError::new("payouts", "shares are whole numbers, such as 50 30 20");
    if text.trim().is_empty() {
        return Ok(None);
    }
    let parse_step = |step: &str| -> Option<PayoutStep> {
        let (from, shares) = step.split_once(':').unwrap_or(("0", step));
        let shares = shares.split_whitespace().map(|share| share.parse().ok());
        Some(PayoutStep {
            entrants_from: from.trim().parse().ok()?,
            shares: shares.collect::<Option<Vec<u32>>>()?,
        })
    };
    let steps = text.split(';').filter(|step| !step.trim().is_empty()).map(parse_step);
    steps.collect::<Option<Vec<_>>>().map(Some).ok_or_else(invalid)
}

#[cfg(test)]
mod tests {
    use super::{AnnouncementForm, HouseZone, parse_payouts};

    #[test]
    fn payouts_are_parsed_in_steps() {
        let steps = |text| {
            let steps = parse_payouts(text).unwrap().unwrap_or_default();
            let steps = steps.into_iter().map(|step| (step.entrants_from, step.shares));
            steps.collect::<Vec<_>>()
        };
        assert_eq!(steps(" "), []);
        assert_eq!(steps("50 30 20"), [(0, vec![50, 30, 20])]);
        assert_eq!(steps("0: 100; 6: 65 35;"), [(0, vec![100]), (6, vec![65, 35])]);
        for text in ["a", "1: ", "-1: 5", "50,30"] {
            let refused = parse_payouts(text);
            let is_empty = refused.as_ref().is_ok_and(|steps| {
                steps.as_ref().is_some_and(|steps| steps.iter().all(|step| step.shares.is_empty()))
            });
            assert!(refused.is_err() || is_empty, "{text}: {refused:?}");
        }
    }

    #[test]
    fn fields_are_converted_in_the_units_of_people() {
        let zone = HouseZone::new("Asia/Manila".parse().unwrap());
        let form = AnnouncementForm {
            preset: "arena_hour".to_owned(),
            name: " Friday ".to_owned(),
            game: "tongits/kingdom".to_owned(),
            buy_in: "1,250".to_owned(),
            starts_at: "2026-03-01T20:00".to_owned(),
            late: "5".to_owned(),
            passes: "yes".to_owned(),
            ..AnnouncementForm::default()
        };
        let request = form.to_request(&zone).unwrap();
        assert_eq!((request.name.as_str(), request.buy_in, request.fee), ("Friday", 125_000, 0));
        assert_eq!((request.late_registration_s, request.break_s), (300, None));
        assert_eq!(request.rule_set.as_deref(), Some("kingdom"));
        let start = "2026-03-01T12:00:00Z".parse().unwrap();
        assert_eq!(request.starts_at, Some(start));
        assert!(request.accepts_passes && request.code.is_none());
        let refused = AnnouncementForm { fee: "1.234".to_owned(), ..form };
        assert_eq!(refused.to_request(&zone).unwrap_err().field, "fee");
    }
}
