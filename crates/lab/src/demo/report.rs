//! The output of the demo.

use bahay_engine::catalog::{self, AnyGame};
use bahay_engine::coins::Coins;
use bahay_engine::game::Game;
use bahay_engine::table::{Record, TableId, VerifySummary};

use bahay_client_tokio::Wallet;

pub(super) fn print_seats(
    base: &str,
    room: &str,
    table: TableId,
    names: &[&str],
    wallets: &[Wallet],
) {
    println!("{base}: {} sit in the {room} room, at table {table}", join_names(names));
    for (name, wallet) in names.iter().zip(wallets) {
        println!("  {name:<8} {:>10} coins", wallet.available.to_string());
    }
}

pub(super) fn print_game(
    number: usize,
    record: &Record<AnyGame>,
    end: &AnyGame,
    verified: &VerifySummary,
    names: &[&str],
) {
    let settlement = &record.settlement;
    let winner = settlement.winner.map_or("nobody", |seat| names[seat.index()]);
    let seconds = record.finished_at.ms_since(record.opened_at) / 1_000;
    let ms = record.finished_at.ms_since(record.opened_at) % 1_000;
    println!();
    let ending = end.ending().map_or("", |ending| catalog::ending_title(&record.kind, ending));
    println!("Game {number}, {ending}: {winner} wins  ({}, {seconds}.{ms:03} s)", record.game);
    if record.terms.hits.is_some() {
        let players = names.len();
        let ante = record.terms.ante().unwrap_or_default();
        println!("  antes    {players} × {ante} into the POT: {}", record.pot_before);
    }
    for payment in &settlement.payments {
        let items: Vec<String> =
            payment.items.iter().map(|item| format!("{} {}", item.name, item.counts)).collect();
        let from = &names[payment.from.index()];
        let to = &names[payment.to.index()];
        println!("  {from:<8} pays {to} {}  ({})", payment.paid, items.join(", "));
    }
    for fee in &settlement.fees {
        let name = &names[fee.seat.index()];
        println!("  {name:<8} receives {}, less the fee of {}", fee.gross, fee.fee);
    }
    match (settlement.pot, record.crown_after, record.terms.hits) {
        (Some(pot), _, hits) => {
            let name = names[pot.seat.index()];
            let why = match hits {
                Some(hits) if !record.outcome.takes_pot => hits_in_a_row(hits.to_win),
                Some(_) | None => String::new(),
            };
            println!("  {name:<8} {why}takes the POT: {}", pot.amount);
        }
        (None, Some(crown), _) => println!("  {winner:<8} wears crown {}", crown.wins),
        (None, None, Some(_)) => println!("  the POT stays"),
        (None, None, None) => {}
    }
    println!("  verified: {} actions, the deal, the settlement", verified.actions);
}

pub(super) fn print_wallets(names: &[&str], before: &[Wallet], after: &[Wallet], fees: Coins) {
    println!();
    println!("Wallets, before and after:");
    for (name, (before, after)) in names.iter().zip(before.iter().zip(after)) {
        let before = before.available;
        let after = after.available;
        let change = after.checked_sub(before).unwrap_or_default();
        println!("  {name:<8} {:>10} {:>10}  {change:+}", before.to_string(), after.to_string());
    }
    println!("  the house took {fees} in fees; nothing else left the table");
}

fn hits_in_a_row(hits: u8) -> String {
    match hits {
        2 => "has two hits in a row and ".to_owned(),
        3 => "has three hits in a row and ".to_owned(),
        other => format!("has {other} hits in a row and "),
    }
}

fn join_names(names: &[&str]) -> String {
    match names {
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
        [] => String::new(),
    }
}
