//! The deal of a finished game (rules 9.1 to 9.4): commitments, seeds and cards, and a check that
//! recomputes them by the engine. The house's seed determines the hands, so only those who may see
//! the replay see it.

use bahay_engine::catalog::AnyGame;
use bahay_engine::chance::{ChanceAnswer, ClientSeed, Contribution};
use bahay_engine::game::{Row, Viewer};
use bahay_engine::seat::Seat;
use bahay_engine::table::Record;
use maud::{Markup, html};
use uuid::Uuid;

use super::game_rows::draw_rows;
use super::replay::player_name;
use crate::archive::{GameDetail, SeatDetail};
use crate::http::operator::desk_ui::{badge, facts, id, table, table_of};
use crate::replay::{GameReplay, ReplayError};

/// Draws the deal with its check.
pub(super) fn draw_deal(game: &GameDetail, replayed: &GameReplay) -> Result<Markup, ReplayError> {
    let record = replayed.record();
    let dealt = replayed.steps(Viewer::Everything, 0, 1)?.steps;
    let rows: &[Row] = dealt.first().map_or(&[], |step| &step.rows);
    let name = |seat: Seat| player_name(&game.seats, seat.index());
    Ok(html! {
        h2 { "Deal" }
        (facts(&[
            ("Commitment of the house, before the deal", id(&record.commitment.0)),
            ("Seed of the house, revealed after the game", id(&record.server_seed.0)),
            ("Id in the key of the deal", id(&Uuid::from_bytes(record.terms.deal_id(record.game)))),
        ]))
        (contributions(&record.clients, &game.seats))
        h3 { "Hands and deck as dealt" }
        (draw_rows(rows, name))
        details {
            summary { "Draws of chance" }
            ol { @for answer in &record.chance { li { (answer_text(answer)) } } }
        }
        details {
            summary { "Check it here" }
            p { "The server recomputes each value from the seeds, by the rules 9.1 to 9.4." }
            (check_table(game, record, replayed))
        }
    })
}

/// Draws the clients' contributions to the deal (rule 9.1).
pub(super) fn contributions(clients: &[Contribution], seats: &[SeatDetail]) -> Markup {
    let clients: Vec<(usize, &Contribution)> = clients.iter().enumerate().collect();
    table_of(
        "Contributions of the clients to the deal",
        &clients,
        &[
            ("Player", &|(place, _)| html! { (player_name(seats, *place)) }),
            ("Committed to", &|(_, client)| match &client.commitment {
                commitment if commitment.is_none() => html! { "no commitment" },
                commitment => id(&commitment.0),
            }),
            ("Revealed", &|(_, client)| {
                html! { (client.text.as_deref().unwrap_or("none")) }
            }),
            ("Seed in the deal", &|(_, client)| id(&client.seed.0)),
        ],
    )
}

fn answer_text(answer: &ChanceAnswer) -> String {
    match answer {
        ChanceAnswer::Number(number) => format!("number {number}"),
        ChanceAnswer::Order(order) => {
            let order: Vec<String> = order.iter().map(u8::to_string).collect();
            format!("order {}", order.join(" "))
        }
    }
}

/// A value of the deal as recorded and as recomputed.
struct Comparison {
    name: String,
    recorded: String,
    recomputed: String,
}

/// Draws what a check of the deal has compared, and whether the values agree.
fn check_table(game: &GameDetail, record: &Record<AnyGame>, replayed: &GameReplay) -> Markup {
    let rows = compare(game, record, replayed).into_iter().map(|compared| {
        let verdict = match compared.recorded == compared.recomputed {
            true => badge("good", "same"),
            false => badge("bad", "differs"),
        };
        [html! { (compared.name) }, id(&compared.recorded), id(&compared.recomputed), verdict]
    });
    table("Checks of the deal", "Compared | Recorded | Recomputed | Result", rows)
}

fn compare(game: &GameDetail, record: &Record<AnyGame>, replayed: &GameReplay) -> Vec<Comparison> {
    let of_seed = record.server_seed.commitment().0.to_string();
    let mut compared = vec![
        Comparison {
            name: "Commitment of the house, as booked before the deal".into(),
            recorded: game.commitment.0.to_string(),
            recomputed: of_seed.clone(),
        },
        Comparison {
            name: "Commitment of the house, in the record".into(),
            recorded: record.commitment.0.to_string(),
            recomputed: of_seed,
        },
    ];
    for (place, client) in record.clients.iter().enumerate() {
        let Some(text) = &client.text else { continue };
        let seed = ClientSeed::from_text(text);
        let name = player_name(&game.seats, place);
        compared.extend([
            Comparison {
                name: format!("Seed of {name}, from the revealed text"),
                recorded: client.seed.0.to_string(),
                recomputed: seed.0.to_string(),
            },
            Comparison {
                name: format!("Commitment of {name}, from the seed"),
                recorded: client.commitment.0.to_string(),
                recomputed: seed.commitment().0.to_string(),
            },
        ]);
    }
    let draws = format!("{} draws", record.chance.len());
    compared.push(Comparison {
        name: "Draws of chance: cards and numbers, from all seeds".into(),
        recorded: draws.clone(),
        recomputed: replayed.end().map_or_else(|error| error.to_string(), |_| draws),
    });
    compared
}
