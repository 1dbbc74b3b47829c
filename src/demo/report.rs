//! What the demo prints.

use bahay_engine::coins::Coins;
use bahay_engine::games::tongits::Ending;
use bahay_engine::table::{Record, TableId, Verified};

use crate::client::Wallet;
use crate::tables::catalog::Tongits;

pub(super) fn seated(base: &str, room: &str, table: TableId, names: &[&str], wallets: &[Wallet]) {
    println!("{base}: {} sit in the {room} room, at table {table}", list(names));
    for (name, wallet) in names.iter().zip(wallets) {
        println!("  {name:<8} {:>10} coins", wallet.available.to_string());
    }
}

pub(super) fn game(
    number: usize,
    record: &Record<Tongits>,
    ending: Option<Ending>,
    verified: &Verified,
    names: &[String],
) {
    let settlement = &record.settlement;
    let winner = settlement.winner.map_or("nobody", |seat| &names[seat.index()]);
    let seconds = record.finished_at.ms_since(record.opened_at) / 1_000;
    let ms = record.finished_at.ms_since(record.opened_at) % 1_000;
    println!();
    let by = match ending {
        Some(Ending::Tongits) => "by Tongits",
        Some(Ending::Fight) => "a fight",
        Some(Ending::Stock) => "on the last card",
        None => "",
    };
    println!("Game {number}: {winner} wins {by}  ({}, {seconds}.{ms:03} s)", record.game);
    let ante = record.terms.price.bet;
    println!("  antes    3 × {ante} into the POT: {}", record.pot_before);
    for payment in &settlement.payments {
        let items: Vec<String> =
            payment.items.iter().map(|item| format!("{} {}", item.name, item.counts)).collect();
        let (from, to) = (&names[payment.from.index()], &names[payment.to.index()]);
        println!("  {from:<8} pays {to} {}  ({})", payment.paid, items.join(", "));
    }
    for fee in &settlement.fees {
        let name = &names[fee.seat.index()];
        println!("  {name:<8} receives {}, less the fee of {}", fee.gross, fee.fee);
    }
    match (settlement.pot, record.crown_after) {
        (Some(pot), _) => {
            let name = &names[pot.seat.index()];
            println!("  {name:<8} has two hits in a row and takes the POT: {}", pot.amount);
        }
        (None, Some(crown)) => println!("  {winner:<8} wears crown {}", crown.wins),
        (None, None) => println!("  the POT stays"),
    }
    println!("  verified: {} actions, the deal, the settlement", verified.actions);
}

pub(super) fn end(names: &[&str], before: &[Wallet], after: &[Wallet], fees: Coins) {
    println!();
    println!("Wallets, before and after:");
    for (name, (before, after)) in names.iter().zip(before.iter().zip(after)) {
        let (before, after) = (before.available, after.available);
        let change = after.checked_sub(before).unwrap_or_default();
        println!("  {name:<8} {:>10} {:>10}  {change:+}", before.to_string(), after.to_string());
    }
    println!("  the house took {fees} in fees; nothing else left the table");
}

fn list(names: &[&str]) -> String {
    match names {
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
        [] => String::new(),
    }
}
