//! The terms of a tournament in words.

use bahay_engine::catalog;
use bahay_engine::coins::Coins;
use bahay_engine::tournament::{Format, PayoutStep, Stage, TournamentTerms};
use maud::{Markup, html};

use crate::http::operator::desk_ui::{HouseZone, coins, facts, table_of};

/// Draws all terms of a tournament, with the code of a private one.
pub(crate) fn draw_terms(zone: &HouseZone, terms: &TournamentTerms, code: Option<&str>) -> Markup {
    let game = &terms.game;
    let entry = &terms.entry;
    let start = match terms.starts_at {
        Some(at) => zone.time(at),
        None => html! { "as soon as it is full" },
    };
    let limits = &terms.entrants;
    let entrants = if limits.least == limits.most {
        format!("{}", limits.most)
    } else {
        format!("{} to {}", limits.least, limits.most)
    };
    let code = match code {
        Some(code) => html! { "private, by the code " code { (code) } },
        None if terms.is_private => html! { "private, by a code" },
        None => html! { "public" },
    };
    let yes_or_no = |is_yes: bool| html! { (if is_yes { "yes" } else { "no" }) };
    html! {
        (facts(&[
            ("Name", html! { (terms.name) }),
            ("Format", html! { (describe_format(&terms.format)) }),
            ("Game", html! { (catalog::kind_title(game.kind())) ", tables of " (game.seats) }),
            ("Entrants", html! { (entrants) }),
            ("Start", start),
            ("Late registration", html! { (describe_duration(terms.late_registration_ms)) }),
            ("Break between rounds", html! { (describe_duration(terms.break_ms)) }),
            ("Buy-in", coins(entry.buy_in)),
            ("Fee", coins(entry.fee)),
            ("Guarantee", coins(terms.guarantee)),
            ("Registration", code),
            ("Passes pay an entry", yes_or_no(entry.accepts_passes)),
            ("House bots", html! { (describe_bots(terms)) }),
        ]))
        @if !terms.payouts.is_empty() {
            (table_of("Shares of the places, by the number of entrants", &terms.payouts, &[
                ("#From entrants", &|step| html! { (step.entrants_from) }),
                ("Shares from the first place", &|step| html! { (describe_shares(step)) }),
                ("#First prize at the guarantee", &|step| first_prize(terms.guarantee, step)),
            ]))
        }
    }
}

/// Returns the name of a format.
pub(crate) const fn format_title(format: &Format) -> &'static str {
    match format {
        Format::SitAndGo { .. } => "Sit-and-go",
        Format::KnockOut { .. } => "Knock-out",
        Format::Arena { .. } => "Arena",
        Format::Duplicate { .. } => "Duplicate",
    }
}

/// Describes a format in a sentence.
fn describe_format(format: &Format) -> String {
    let title = format_title(format);
    match format {
        Format::SitAndGo { games } => {
            format!("{title}: {games} games at each table, the best player of a table advances")
        }
        Format::KnockOut { stages } => {
            let stages: Vec<String> = stages.iter().map(describe_stage).collect();
            format!("{title}: {}", stages.join("; then "))
        }
        Format::Arena { duration_ms, pairing_ms } => format!(
            "{title}: {}, pairing every {}",
            describe_duration(*duration_ms),
            describe_duration(*pairing_ms)
        ),
        Format::Duplicate { rounds, games } => {
            format!("{title}: {rounds} rounds, games of each: {games}")
        }
    }
}

/// Describes when house bots complete the entrants.
fn describe_bots(terms: &TournamentTerms) -> String {
    match terms.format {
        _ if !terms.bots => "none".to_owned(),
        Format::SitAndGo { .. } if terms.bots_after_ms == 0 => {
            "complete it at the first registration".to_owned()
        }
        Format::SitAndGo { .. } => {
            let wait = describe_duration(terms.bots_after_ms);
            format!("complete it when its first player has waited {wait}")
        }
        Format::KnockOut { .. } | Format::Arena { .. } | Format::Duplicate { .. } => {
            format!("complete {} entrants at the start", terms.entrants.least)
        }
    }
}

fn describe_stage(stage: &Stage) -> String {
    let Stage { groups, rounds, games, advance } = stage;
    let groups = if *groups == 1 { "one group".to_owned() } else { format!("{groups} groups") };
    let cut = match advance {
        0 => "to the end".to_owned(),
        advance => format!("{advance} advance"),
    };
    format!("{groups}, {rounds} rounds of {games} games, {cut}")
}

/// Describes a duration in hours, minutes and seconds.
fn describe_duration(ms: u32) -> String {
    let seconds = ms / 1_000;
    let parts = [(seconds / 3_600, "h"), (seconds / 60 % 60, "min"), (seconds % 60, "s")];
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts.map(|(count, unit)| format!("{count} {unit}")).collect();
    if parts.is_empty() { "none".to_owned() } else { parts.join(" ") }
}

fn describe_shares(step: &PayoutStep) -> String {
    let shares: Vec<String> = step.shares.iter().map(u32::to_string).collect();
    shares.join(" ")
}

/// Draws the first prize of a step if the pool is the guarantee.
fn first_prize(guarantee: Coins, step: &PayoutStep) -> Markup {
    let sum: i64 = step.shares.iter().map(|share| i64::from(*share)).sum();
    let first = step.shares.first().map_or(0, |share| i64::from(*share));
    let prize =
        (sum > 0).then(|| i128::from(guarantee.hundredths()) * i128::from(first) / i128::from(sum));
    let prize = prize.and_then(|prize| i64::try_from(prize).ok()).unwrap_or_default();
    coins(Coins::from_hundredths(prize))
}

#[cfg(test)]
mod tests {
    use super::{Format, Stage, describe_duration, describe_format};

    #[test]
    fn formats_and_durations_are_described() {
        assert_eq!(describe_duration(0), "none");
        assert_eq!(describe_duration(3_690_000), "1 h 1 min 30 s");
        let stages = vec![
            Stage { groups: 3, rounds: 20, games: 3, advance: 63 },
            Stage { groups: 1, rounds: 6, games: 3, advance: 0 },
        ];
        assert_eq!(
            describe_format(&Format::KnockOut { stages }),
            "Knock-out: 3 groups, 20 rounds of 3 games, 63 advance; then one group, 6 rounds of 3 \
             games, to the end"
        );
    }
}
