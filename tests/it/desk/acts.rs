//! The acts of operators over the API, at the desk and on the command line. An operation that one
//! of them lacks has a reason here; without a line the test fails.

use std::collections::BTreeSet;

use bahay::cli::Cli;
use bahay_api::Tag;
use clap::CommandFactory as _;

/// The place of an act, or the reason for its absence.
type Place = Result<&'static str, &'static str>;

const READ: Place = Err("what is read: people have the desk, programs the API");
const SIGNED_IN: Place = Err("a session or its token: the command line acts for no operator");
const TWO_PEOPLE: Place = Err("the act takes two people, whom the command line cannot tell apart");
const NAMED: Place = Err("the act is judged by its author, whom the command line does not know");
const DEAD_JOBS: Place =
    Err("the decision rests on the job's error, which the desk and the API show");
const SETTINGS: Place =
    Err("settings are checked against each other and by revision: a form, or a program's request");
const AMOUNTS: Place =
    Err("the amounts by player are looked at before, which the desk and the API show");
const HOUSE: Place = Err("the command line closes the house; a single room waits for the desk");

/// Each operation, with its route at the desk and its command.
const ACTS: &[(&str, Place, Place)] = &[
    ("sign_in_operator", Ok("POST /desk/sign-in"), SIGNED_IN),
    ("sign_out_operator", Ok("POST /desk/sign-out"), SIGNED_IN),
    ("create_token", Ok("POST /desk/token"), SIGNED_IN),
    ("revoke_token", Ok("POST /desk/token/revocation"), SIGNED_IN),
    ("list_operators", Ok("GET /desk/operators"), Ok("operator list")),
    ("add_operator", Ok("POST /desk/operators"), Ok("operator add")),
    ("reset_operator", Ok("POST /desk/operators/{name}/enrolment"), Ok("operator reset")),
    ("change_operator_role", Ok("POST /desk/operators/{name}/role"), Ok("operator change-role")),
    ("disable_operator", Ok("POST /desk/operators/{name}/disabling"), Ok("operator disable")),
    ("request_correction", Ok("POST /desk/corrections"), TWO_PEOPLE),
    ("list_corrections", Ok("GET /desk/corrections"), READ),
    ("show_correction", Ok("GET /desk/corrections/{id}"), READ),
    ("preview_correction", Ok("GET /desk/corrections/{id}"), READ),
    ("approve_correction", Ok("POST /desk/corrections/{id}/approval"), TWO_PEOPLE),
    ("reject_correction", Ok("POST /desk/corrections/{id}/rejection"), TWO_PEOPLE),
    ("withdraw_correction", Ok("POST /desk/corrections/{id}/withdrawal"), TWO_PEOPLE),
    ("list_reports", Ok("GET /desk/reports"), READ),
    ("decide_report", Ok("POST /desk/reports/{id}/decision"), NAMED),
    ("list_pairs", Ok("GET /desk/collusion"), READ),
    ("show_pair", Ok("GET /desk/collusion/{first}/{second}"), READ),
    ("review_pair", Ok("POST /desk/collusion/{first}/{second}/review"), NAMED),
    ("create_room", Ok("POST /desk/rooms"), SETTINGS),
    ("change_room", Ok("POST /desk/rooms/{room}"), SETTINGS),
    ("open_room", Ok("POST /desk/rooms/{room}/opening"), HOUSE),
    ("close_room", Ok("POST /desk/rooms/{room}/closing"), HOUSE),
    ("list_room_revisions", Ok("GET /desk/rooms/{room}"), READ),
    ("show_house", Ok("GET /desk/switches"), Ok("house show")),
    ("close_house", Ok("POST /desk/switches/house/closing"), Ok("house close")),
    ("open_house", Ok("POST /desk/switches/house/opening"), Ok("house open")),
    ("list_sanctions_in_force", Ok("GET /desk/sanctions"), READ),
    ("list_sanctions", Ok("GET /desk/players/{id}"), Ok("ban list")),
    ("impose_sanction", Ok("POST /desk/players/{id}/sanctions"), Ok("ban add")),
    ("lift_sanctions", Ok("POST /desk/players/{id}/sanctions/lifting"), Ok("ban lift")),
    (
        "lift_sanction",
        Ok("POST /desk/sanctions/{id}/lifting"),
        Err("the command line lists no ids of sanctions"),
    ),
    ("list_tables", Ok("GET /desk/tables"), READ),
    ("list_stranded", Ok("GET /desk/tables"), Ok("table list-halted")),
    ("show_operated_table", Ok("GET /desk/tables/{id}"), READ),
    ("view_hands", Ok("POST /desk/tables/{id}/hands"), NAMED),
    // One person suffices: the coins only return to the players who paid them.
    ("void_table", Ok("POST /desk/tables/{id}/voiding"), Ok("table void")),
    ("release_table", Ok("POST /desk/tables/{id}/release"), Ok("table release")),
    ("refund_lost_pot", Ok("POST /desk/tables/{id}/pot-refund"), Ok("table refund-pot")),
    ("announce_tournament", Ok("POST /desk/tournaments"), SETTINGS),
    ("list_operated_tournaments", Ok("GET /desk/tournaments"), READ),
    ("show_operated_tournament", Ok("GET /desk/tournaments/{id}"), READ),
    ("list_operated_standings", Ok("GET /desk/tournaments/{id}"), READ),
    ("list_operated_results", Ok("GET /desk/tournaments/{id}/results.jsonl"), READ),
    ("list_tournament_pairs", Ok("GET /desk/tournaments/{id}/collusion"), READ),
    ("preview_cancellation", Ok("GET /desk/tournaments/{id}/cancellation"), READ),
    ("cancel_tournament", Ok("POST /desk/tournaments/{id}/cancellation"), AMOUNTS),
    ("request_tournament", Ok("POST /desk/tournament-requests"), TWO_PEOPLE),
    ("list_tournament_requests", Ok("GET /desk/tournament-requests"), READ),
    ("show_tournament_request", Ok("GET /desk/tournament-requests/{id}"), READ),
    ("approve_tournament", Ok("POST /desk/tournament-requests/{id}/approval"), TWO_PEOPLE),
    ("reject_tournament", Ok("POST /desk/tournament-requests/{id}/rejection"), TWO_PEOPLE),
    (
        "withdraw_tournament_request",
        Ok("POST /desk/tournament-requests/{id}/withdrawal"),
        TWO_PEOPLE,
    ),
    ("create_tournament_schedule", Ok("POST /desk/tournament-schedules"), SETTINGS),
    ("list_tournament_schedules", Ok("GET /desk/tournament-schedules"), READ),
    ("pause_tournament_schedule", Ok("POST /desk/tournament-schedules/{id}/pause"), SETTINGS),
    ("resume_tournament_schedule", Ok("POST /desk/tournament-schedules/{id}/resumption"), SETTINGS),
    ("delete_tournament_schedule", Ok("POST /desk/tournament-schedules/{id}/deletion"), SETTINGS),
    ("list_dead_jobs", Ok("GET /desk/jobs"), READ),
    ("retry_dead_job", Ok("POST /desk/jobs/{job}/retry"), DEAD_JOBS),
    ("discard_dead_job", Ok("POST /desk/jobs/{job}/discarding"), DEAD_JOBS),
    ("list_audit_entries", Ok("GET /desk/audit"), READ),
    ("export_audit_entries", Ok("GET /desk/audit.csv"), READ),
    ("show_alerts", Ok("GET /desk/alerts"), READ),
    ("search", Ok("GET /desk/search"), READ),
    ("show_today", Ok("GET /desk/today"), READ),
    ("compare_periods", Ok("GET /desk/today/compare"), READ),
    ("list_settlements", Ok("GET /desk/settlements"), READ),
    ("total_settlements", Ok("GET /desk/settlements"), READ),
    ("export_settlements", Ok("GET /desk/settlements.csv"), READ),
    ("show_dossier", Ok("GET /desk/games/{id}"), READ),
    ("replay_game", Ok("GET /desk/games/{id}/replay"), READ),
    ("find_players", Ok("GET /desk/players"), READ),
    ("show_player_report", Ok("GET /desk/players/{id}"), READ),
    ("list_partners", Ok("GET /desk/players/{id}"), READ),
    ("list_passes", Ok("GET /desk/players/{id}"), READ),
    ("show_statement", Ok("GET /desk/players/{id}/statement"), READ),
    ("export_statement", Ok("GET /desk/players/{id}/statement.csv"), READ),
    ("write_note", Ok("POST /desk/players/{id}/notes"), NAMED),
    ("end_sessions", Ok("POST /desk/players/{id}/sign-out"), Err("a ban ends them as well")),
    ("total_transfers", Ok("GET /desk/transfers"), READ),
    ("export_transfers", Ok("GET /desk/transfers.csv"), READ),
    ("export_bookings", Ok("GET /desk/transfers/bookings.csv"), READ),
    ("show_books", Ok("GET /desk/ledger"), READ),
    ("show_account", Ok("GET /desk/ledger"), READ),
    ("list_account_entries", Ok("GET /desk/ledger"), READ),
    ("list_operations", Ok("GET /desk/ledger"), READ),
    ("show_operation", Ok("GET /desk/ledger"), READ),
];

/// The routes of forms that no operation has, with the reasons.
const DESK_ALONE: &[(&str, &str)] = &[
    ("POST /desk/enrolment", "the key of the second factor is displayed to a person"),
    ("POST /desk/enrolment/completion", "as above"),
];

/// The commands that no operation has, with the reasons.
const COMMAND_ALONE: &[(&str, &str)] = &[
    ("table list-lost", "the second half of `list_stranded`"),
    ("mute add", "`impose_sanction`, of which `ban add` is the other kind"),
    ("mute lift", "`lift_sanctions`"),
    ("mute list", "`list_sanctions`"),
];

/// The groups of commands with which the house is run.
const GROUPS: [&str; 5] = ["operator", "house", "table", "ban", "mute"];

/// Returns the routes of the desk, such as `GET /desk/rooms`.
pub(super) fn read_routes() -> BTreeSet<String> {
    let source = include_str!("../../../src/http/operator/desk_ui/mod.rs");
    let mut routes = BTreeSet::new();
    for part in source.split(".route(").skip(1) {
        let path = part.split('"').nth(1).expect("a route has a path");
        let handlers: String = part.lines().take_while(|line| !line.contains(".layer(")).collect();
        for (method, call) in [("GET", "get("), ("POST", "post(")] {
            if handlers.contains(call) {
                routes.insert(format!("{method} {path}"));
            }
        }
    }
    routes
}

/// Returns the commands of the groups, such as `table void`.
fn read_commands() -> BTreeSet<String> {
    let cli = Cli::command();
    let commands = GROUPS.iter().flat_map(|group| {
        let group = cli.find_subcommand(group).expect("the group exists");
        let names = group.get_subcommands().filter(|command| command.get_name() != "help");
        names.map(|command| format!("{} {}", group.get_name(), command.get_name()))
    });
    commands.collect()
}

#[test]
fn every_act_has_a_place_at_the_desk_and_on_the_command_line_or_a_reason() {
    let (routes, commands) = (read_routes(), read_commands());
    let operations = bahay_api::operations().filter(|operation| operation.tag == Tag::Operators);
    let operations: BTreeSet<String> = operations.map(|operation| operation.name()).collect();
    let acts: BTreeSet<String> = ACTS.iter().map(|(name, ..)| (*name).to_owned()).collect();
    assert_eq!(acts, operations);
    assert_eq!(ACTS.len(), operations.len(), "each operation has one line");

    let with_places = |at: fn(&(&'static str, Place, Place)) -> Place,
                       alone: &[(&'static str, _)]| {
        let named = ACTS.iter().filter_map(|act| at(act).ok());
        let alone = alone.iter().map(|(place, _): &(&str, &str)| *place);
        named.chain(alone).map(str::to_owned).collect::<BTreeSet<String>>()
    };
    let at_the_desk = with_places(|act| act.1, DESK_ALONE);
    let unknown: Vec<_> = at_the_desk.difference(&routes).collect();
    assert!(unknown.is_empty(), "the desk has no {unknown:?}");
    let forms = routes.iter().filter(|route| route.starts_with("POST "));
    let idle: Vec<_> = forms.filter(|form| !at_the_desk.contains(*form)).collect();
    assert!(idle.is_empty(), "{idle:?} are of no operation and have no reason");
    assert_eq!(with_places(|act| act.2, COMMAND_ALONE), commands);
}
