//! The terms that a request to announce a tournament asks for, with refusals that name its fields.

use bahay_api::Code;
use bahay_api::operator::tournaments::{AnnounceTournament, PAYOUT_SHARES_MAX, PAYOUT_STEPS_MAX};
use bahay_engine::catalog::{self, AnyRules};
use bahay_engine::coins::Coins;
use bahay_engine::game::GameRules as _;
use bahay_engine::tournament::{
    DURATION_MAX_MS, EntryPrice, PayoutStep, Preset, TermsError, TournamentGame, TournamentTerms,
    presets,
};

use crate::clock::Timestamp;
use crate::http::{CodeExt as _, Problem};
use crate::tournaments::{TournamentDraft, TournamentError};

/// The time between two rounds unless the request has another, in seconds.
const BREAK_S: u32 = 10;

/// The longest time until the start: a year, in seconds.
const START_MAX_S: u32 = 365 * 24 * 60 * 60;

/// The number of players of a table of the presets.
const SEATS: u8 = 3;

/// An invalid field of a request, with its requirement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldError {
    /// The name of the field in the request.
    pub(crate) field: &'static str,
    pub(crate) message: String,
}

impl FieldError {
    pub(crate) fn new(field: &'static str, message: impl Into<String>) -> Self {
        Self { field, message: message.into() }
    }

    /// Names the field of the request that an invalid field of the terms follows from. The request
    /// has its start in the field `start`.
    fn from_terms(error: TermsError, start: &'static str) -> Self {
        let field = match error.field {
            "name" => "name",
            "starts_at" => start,
            "entry.buy_in" => "buy_in",
            "entry.fee" => "fee",
            "entry.accepts_passes" => "accepts_passes",
            "guarantee" => "guarantee",
            "late_registration_ms" => "late_registration_s",
            "break_ms" => "break_s",
            "bots_after_ms" => "bots_after_s",
            "code" => "code",
            field if field.starts_with("payouts") => "payouts",
            field if field.starts_with("game") => "rule_set",
            _ => "preset",
        };
        Self::new(field, error.message)
    }
}

impl From<FieldError> for Problem {
    fn from(FieldError { field, message }: FieldError) -> Self {
        Code::TournamentUnsound.with_detail(format!("{field}: {message}"))
    }
}

/// Converts an error of an announcement, so that a refusal of the terms names the request's field.
/// The request has its start in the field `start`.
pub(crate) fn to_problem(error: TournamentError, start: &'static str) -> Problem {
    match error {
        TournamentError::Terms(error) => FieldError::from_terms(error, start).into(),
        error => error.into(),
    }
}

/// Returns the field in which a request has its start.
pub(super) fn start_field(request: &AnnounceTournament) -> &'static str {
    if request.starts_at.is_some() { "starts_at" } else { "starts_in_s" }
}

/// Returns the tournament that a request asks for.
pub(crate) fn to_draft(
    now: Timestamp,
    request: AnnounceTournament,
) -> Result<TournamentDraft, FieldError> {
    let start = start_field(&request);
    let preset = presets().into_iter().find(|known| known.name == request.preset);
    let preset = preset.ok_or_else(|| FieldError::new("preset", "there is none of this name"))?;
    let game = find_game(request.kind.as_deref(), request.rule_set.as_deref())?;
    let is_code = |code: &String| {
        (4..=16).contains(&code.len())
            && code.bytes().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit())
    };
    if !request.code.as_ref().is_none_or(is_code) {
        return Err(FieldError::new("code", "it has 4 to 16 capital letters and digits"));
    }
    let starts_at = find_start(now, &request)?;
    let late_registration_ms = to_ms("late_registration_s", request.late_registration_s)?;
    let break_ms = to_ms("break_s", request.break_s.unwrap_or(BREAK_S))?;
    let bots_after_ms = match request.bots_after_s {
        Some(seconds) => to_ms("bots_after_s", seconds)?,
        None if request.bots => preset.bots_after_ms,
        None => 0,
    };
    let payouts = find_payouts(&request, &preset)?;
    let Preset { format, entrants, .. } = preset;
    let AnnounceTournament { name, buy_in, fee, accepts_passes, guarantee, bots, code, .. } =
        request;
    let terms = TournamentTerms {
        name,
        game,
        format,
        entrants,
        entry: EntryPrice {
            buy_in: Coins::from_hundredths(buy_in),
            fee: Coins::from_hundredths(fee),
            accepts_passes,
        },
        guarantee: Coins::from_hundredths(guarantee),
        payouts,
        starts_at,
        late_registration_ms,
        break_ms,
        is_private: code.is_some(),
        bots,
        bots_after_ms,
    };
    terms.check().map_err(|error| FieldError::from_terms(error, start))?;
    Ok(TournamentDraft { terms, code })
}

/// Returns the game of a kind by a rule set; Tong-its and the first rule set by default.
fn find_game(kind: Option<&str>, rule_set: Option<&str>) -> Result<TournamentGame, FieldError> {
    let kind = kind.unwrap_or("tongits");
    let known = catalog::find_kind(kind).filter(|kind| !kind.is_hidden);
    let known = known.ok_or_else(|| FieldError::new("kind", "there is no such game"))?;
    let first = known.rule_sets.first().map(|set| set.name);
    let rule_set = rule_set.or(first).unwrap_or_default();
    let set = AnyRules::find_rule_set(kind, rule_set);
    let set = set.ok_or_else(|| FieldError::new("rule_set", "the game has none of this name"))?;
    if !set.rules.seats().contains(SEATS) {
        return Err(FieldError::new("kind", "the presets are for tables of three"));
    }
    let mut game = TournamentGame::new(set.rules, SEATS);
    game.bet = Coins::from_hundredths(100 * i64::from(game.rules.counts_per_bet()));
    Ok(game)
}

/// A rule set of a game whose tables the presets fit.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlayableRules {
    pub(super) kind: &'static str,
    pub(super) kind_title: &'static str,
    pub(super) rule_set: &'static str,
    pub(super) rule_set_title: &'static str,
}

/// Returns the rule sets of all games whose tables the presets fit.
pub(super) fn list_games() -> Vec<PlayableRules> {
    let mut games = Vec::new();
    for kind in catalog::kinds().into_iter().filter(|kind| !kind.is_hidden) {
        let fits = kind.rule_sets.iter().filter(|set| set.rules.seats().contains(SEATS));
        games.extend(fits.map(|set| PlayableRules {
            kind: kind.name,
            kind_title: kind.title,
            rule_set: set.name,
            rule_set_title: set.title,
        }));
    }
    games
}

fn find_start(
    now: Timestamp,
    request: &AnnounceTournament,
) -> Result<Option<Timestamp>, FieldError> {
    match (request.starts_at, request.starts_in_s) {
        (Some(_), Some(_)) => {
            Err(FieldError::new("starts_in_s", "it is absent if `starts_at` is given"))
        }
        (Some(start), None) => {
            let start = Timestamp::from(start);
            let last = now.ms() + 1_000 * i64::from(START_MAX_S);
            if start > now && start.ms() <= last {
                Ok(Some(start))
            } else {
                Err(FieldError::new("starts_at", "it is later than now, by at most a year"))
            }
        }
        (None, Some(seconds)) if !(1..=START_MAX_S).contains(&seconds) => {
            Err(FieldError::new("starts_in_s", "it is a second to a year"))
        }
        (None, seconds) => {
            let after = |seconds| Timestamp::from_ms(now.ms() + 1_000 * i64::from(seconds));
            Ok(seconds.map(after))
        }
    }
}

fn to_ms(field: &'static str, seconds: u32) -> Result<u32, FieldError> {
    let ms = seconds.checked_mul(1_000).filter(|ms| *ms <= DURATION_MAX_MS);
    ms.ok_or_else(|| FieldError::new(field, "it is at most a day"))
}

/// Returns the payouts of a request, or those of the preset if there is a pool.
fn find_payouts(
    request: &AnnounceTournament,
    preset: &Preset,
) -> Result<Vec<PayoutStep>, FieldError> {
    let Some(steps) = &request.payouts else {
        let has_pool = request.buy_in > 0 || request.guarantee > 0;
        return Ok(if has_pool { preset.payouts.clone() } else { Vec::new() });
    };
    let is_bounded = (1..=PAYOUT_STEPS_MAX).contains(&steps.len())
        && steps.iter().all(|step| step.shares.len() <= PAYOUT_SHARES_MAX);
    if !is_bounded {
        let message = "there are 1 to 16 steps, each with at most 500 shares";
        return Err(FieldError::new("payouts", message));
    }
    let steps = steps
        .iter()
        .map(|step| PayoutStep { entrants_from: step.entrants_from, shares: step.shares.clone() });
    Ok(steps.collect())
}

#[cfg(test)]
mod tests {
    use bahay_api::operator::tournaments::{self, AnnounceTournament};

    use super::to_draft;
    use crate::clock::Timestamp;

    /// A request for an arena, which is sound.
    fn arena() -> AnnounceTournament {
        AnnounceTournament {
            preset: "arena_hour".to_owned(),
            name: "Friday".to_owned(),
            buy_in: 5_000,
            starts_in_s: Some(60),
            ..AnnounceTournament::default()
        }
    }

    fn refused_field(request: AnnounceTournament) -> &'static str {
        to_draft(Timestamp::from_ms(1_000), request).unwrap_err().field
    }

    #[test]
    fn a_refusal_names_the_field_of_the_request() {
        assert!(to_draft(Timestamp::from_ms(1_000), arena()).is_ok());
        assert_eq!(
            refused_field(AnnounceTournament { starts_in_s: None, ..arena() }),
            "starts_in_s"
        );
        let past = "1970-01-01T00:00:00Z".parse().unwrap();
        let of_the_past =
            AnnounceTournament { starts_in_s: None, starts_at: Some(past), ..arena() };
        assert_eq!(refused_field(of_the_past), "starts_at");
        assert_eq!(refused_field(AnnounceTournament { fee: -1, ..arena() }), "fee");
        assert_eq!(refused_field(AnnounceTournament { buy_in: -1, ..arena() }), "buy_in");
        let late = AnnounceTournament { late_registration_s: 3_600, ..arena() };
        assert_eq!(refused_field(late), "late_registration_s");
        let long = AnnounceTournament { break_s: Some(u32::MAX), ..arena() };
        assert_eq!(refused_field(long), "break_s");
        assert_eq!(refused_field(AnnounceTournament { name: " ".to_owned(), ..arena() }), "name");
        let rising = tournaments::PayoutStep { entrants_from: 0, shares: vec![1, 2] };
        let rising = AnnounceTournament { payouts: Some(vec![rising]), ..arena() };
        assert_eq!(refused_field(rising), "payouts");
        let without_bots = AnnounceTournament { bots_after_s: Some(30), ..arena() };
        assert_eq!(refused_field(without_bots), "bots_after_s");
        let lower = AnnounceTournament { code: Some("abcd".to_owned()), ..arena() };
        assert_eq!(refused_field(lower), "code");
    }

    #[test]
    fn the_terms_have_what_the_request_asks_for() {
        let request = AnnounceTournament {
            late_registration_s: 600,
            break_s: Some(30),
            bots: true,
            accepts_passes: true,
            ..arena()
        };
        let terms = to_draft(Timestamp::from_ms(1_000), request).unwrap().terms;
        assert_eq!(terms.starts_at, Some(Timestamp::from_ms(61_000)));
        assert_eq!((terms.late_registration_ms, terms.break_ms), (600_000, 30_000));
        assert!(terms.bots && terms.entry.accepts_passes);
        assert_eq!(terms.bots_after_ms, 0);
        let ring = AnnounceTournament {
            preset: "sit_and_go_3".to_owned(),
            starts_in_s: None,
            bots: true,
            ..arena()
        };
        let terms = to_draft(Timestamp::from_ms(1_000), ring).unwrap().terms;
        assert_eq!(terms.bots_after_ms, 30_000);
    }
}
