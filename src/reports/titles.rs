//! Titles of the values that the books name by codes, for pages and for files that people read. The
//! API and the columns for programs have the codes.

use crate::ledger::Code;

/// Returns the title of the purpose of a transfer.
pub const fn purpose_title(code: Code) -> &'static str {
    match code {
        Code::Ante => "Ante",
        Code::Hold => "Stake held",
        Code::Payment => "Payment",
        Code::Fee => "Fee",
        Code::Release => "Stake released",
        Code::Pot => "POT won",
        Code::Refund => "Ante refunded",
        Code::Welcome => "Welcome grant",
        Code::Daily => "Daily reward",
        Code::Relief => "Relief",
        Code::Adjustment => "Adjustment",
        Code::Reversal => "Reversal",
        Code::PotRefund => "POT refund",
        Code::HouseBot => "Grant to a house bot",
        Code::Sweep => "Coins of a house bot returned",
        Code::TournamentEntry => "Tournament entry",
        Code::TournamentReturn => "Tournament entry returned",
        Code::TournamentFee => "Tournament fee",
        Code::TournamentFeeReturn => "Tournament fee returned",
        Code::Guarantee => "Guarantee",
        Code::GuaranteeReturn => "Guarantee returned",
        Code::Prize => "Prize",
        Code::TournamentRefund => "Tournament refund",
    }
}

/// Returns the title of a kind of operation.
pub fn operation_title(kind: &str) -> &str {
    match kind {
        "open" => "Game opened",
        "settle" => "Game settled",
        "void" => "Game voided",
        "grant" => "Grant",
        "adjust" => "Adjustment",
        "reverse" => "Reversal",
        "pot_refund" => "POT refund",
        "sweep" => "House bot swept",
        "tournament" => "Tournament",
        kind => kind,
    }
}

/// Returns the title of a kind of accounts.
pub fn account_title(kind: &str) -> &str {
    match kind {
        "wallet" => "Wallets",
        "stake" => "Stakes",
        "pot" => "POTs",
        "tournament" => "Tournaments",
        "fee" => "Fees of the house",
        "issue" => "Issue of the house",
        "suspense" => "Suspense",
        kind => kind,
    }
}

/// Describes an item of a payment by its name, its rule and its counts.
pub fn describe_item(name: &str, rule: &str, counts: u32) -> String {
    let title = match name {
        "normal" => "win",
        "special" => "special cards",
        "secret" => "secret melds",
        "challenge" => "showdown",
        "burned" => "burned hand",
        "zero_count_fight" => "zero-count fight",
        "variable" => "difference of points",
        name => return format!("{counts} {} (rule {rule})", name.replace('_', " ")),
    };
    format!("{counts} {title} (rule {rule})")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{account_title, describe_item, operation_title, purpose_title};
    use crate::ledger::Code;

    #[test]
    fn every_value_of_the_books_has_a_title_of_its_own() {
        let purposes: BTreeSet<&str> = Code::ALL.iter().map(|code| purpose_title(*code)).collect();
        assert_eq!(purposes.len(), Code::ALL.len());
        // The domain of the column and the chart of accounts.
        let schema = include_str!("../../migrations/0003_ledger.sql");
        let kinds = schema.split_once("create domain operation_kind").unwrap().1;
        let kinds = kinds.split_once(';').unwrap().0;
        let kinds: Vec<&str> = kinds.split('\'').skip(1).step_by(2).collect();
        assert!(kinds.contains(&"settle") && kinds.len() > 5, "{kinds:?}");
        let titles: BTreeSet<&str> = kinds.iter().map(|kind| operation_title(kind)).collect();
        assert_eq!(titles.len(), kinds.len());
        let accounts = ["wallet", "stake", "pot", "tournament", "fee", "issue", "suspense"];
        let accounts = accounts.map(|kind| (kind, account_title(kind)));
        for (value, title) in
            kinds.iter().map(|kind| (*kind, operation_title(kind))).chain(accounts)
        {
            assert_ne!(value, title);
            assert!(title.starts_with(|first: char| first.is_ascii_uppercase()), "{title}");
        }
    }

    #[test]
    fn an_item_has_its_counts_and_its_rule() {
        assert_eq!(describe_item("burned", "6.6", 2), "2 burned hand (rule 6.6)");
        assert_eq!(describe_item("second_hit", "7.3", 1), "1 second hit (rule 7.3)");
    }
}
