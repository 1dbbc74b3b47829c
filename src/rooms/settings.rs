//! The settings of a room as clients write them, and the differences between two rooms.

use std::collections::BTreeMap;

use bahay_api::operator::rooms::{RoomClocks, RoomPot, RoomSettings};
use bahay_engine::coins::Coins;
use bahay_engine::table::{Hits, Spectators, Terms};
use serde::Serialize;
use serde_json::Value;

use super::{Room, RoomDraft};

/// A setting that differs between two rooms, or two revisions of one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SettingChange {
    /// The path of the setting, such as `clocks.prepare_ms`.
    pub setting: String,
    /// Null if the setting is absent, such as the ante of a room without a POT.
    pub before: Value,
    /// Null as above.
    pub after: Value,
}

impl Room {
    /// Returns the settings, with all rules.
    pub fn settings(&self) -> RoomSettings {
        let RoomDraft { name, is_open, rule_set, terms, coins_min, coins_max, needs_account } =
            self.draft();
        let Terms { rules, price, hits, clocks, spectators, bots, .. } = terms;
        RoomSettings {
            name: name.clone(),
            is_open: *is_open,
            kind: self.kind().to_owned(),
            rule_set: rule_set.clone(),
            rules: serde_json::to_value(rules).unwrap_or_default(),
            bet: price.bet.hundredths(),
            multiplier: price.multiplier,
            fee_basis_points: price.fee_basis_points,
            pot: hits.map(to_room_pot),
            coins_min: coins_min.hundredths(),
            coins_max: coins_max.map(Coins::hundredths),
            clocks: RoomClocks {
                prepare_ms: clocks.prepare_ms,
                think_ms: clocks.think_ms,
                grace_ms: clocks.grace_ms,
                missed_turns_to_takeover: clocks.missed_turns_to_takeover,
                absence_ms: clocks.absence_ms,
            },
            watchable: *spectators == Spectators::Anybody,
            bots: *bots,
            needs_account: *needs_account,
        }
    }

    /// Returns the settings that `after` has different, by path.
    pub fn compare_settings(&self, after: &Self) -> Vec<SettingChange> {
        let mut before = flatten_settings(self);
        let mut after = flatten_settings(after);
        let settings: Vec<String> = before.keys().chain(after.keys()).cloned().collect();
        let changes = settings.into_iter().filter_map(|setting| {
            let before = before.remove(&setting).unwrap_or_default();
            let after = after.remove(&setting).unwrap_or_default();
            (before != after).then_some(SettingChange { setting, before, after })
        });
        changes.collect()
    }
}

/// Returns the settings of a POT.
pub fn to_room_pot(Hits { ante, to_win: hits_to_win, second_hit_bonus }: Hits) -> RoomPot {
    RoomPot { ante, hits_to_win, second_hit_bonus }
}

/// Returns the scalar values of a JSON object by their paths, such as `countdowns.draw_ms`.
pub fn flatten_object(value: Value) -> BTreeMap<String, Value> {
    let Value::Object(fields) = value else {
        return BTreeMap::new();
    };
    let flatten = |(name, value): (String, Value)| match value {
        Value::Object(_) => {
            let within = flatten_object(value).into_iter();
            within.map(|(path, value)| (format!("{name}.{path}"), value)).collect()
        }
        value => vec![(name, value)],
    };
    fields.into_iter().flat_map(flatten).collect()
}

fn flatten_settings(room: &Room) -> BTreeMap<String, Value> {
    flatten_object(serde_json::to_value(room.settings()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use bahay_engine::table::Clocks;
    use serde_json::json;

    use super::SettingChange;
    use crate::rooms::house_rooms;

    #[test]
    fn a_room_differs_from_another_by_each_setting() {
        let rooms = house_rooms(Clocks::default());
        assert_eq!(rooms[0].compare_settings(&rooms[0]), []);
        let mut without_pot = rooms[0].clone();
        without_pot.draft.terms.hits = None;
        without_pot.draft.terms.clocks.prepare_ms += 500;
        let changes = rooms[0].compare_settings(&without_pot);
        let change = |setting: &str| changes.iter().find(|change| change.setting == setting);
        let prepare_ms = Clocks::default().prepare_ms;
        let expected = SettingChange {
            setting: "clocks.prepare_ms".to_owned(),
            before: json!(prepare_ms),
            after: json!(prepare_ms + 500),
        };
        assert_eq!(change("clocks.prepare_ms"), Some(&expected));
        assert_eq!(change("pot.ante").map(|change| &change.after), Some(&json!(null)));
        assert_eq!(changes.len(), 4, "{changes:?}");
    }
}
