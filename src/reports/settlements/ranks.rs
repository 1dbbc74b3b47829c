//! The ranks of the texts by which settlements are ordered: kinds and endings of games by their
//! titles, rooms by their names. Queries compare ranks as they compare amounts.

use bahay_api::operator::settlements::SettlementKey;
use bahay_engine::catalog;
use sqlx::PgPool;

use crate::db;
use crate::ids::PRIVATE_ROOM;

/// The texts of an attribute in their order. The rank of a text is its place from 1, and 0 for an
/// unknown one.
#[derive(Clone, Debug, Default)]
pub(super) struct TextRanks(Vec<String>);

impl TextRanks {
    /// Loads the ranks of an attribute, which are empty unless it is a text.
    pub(super) async fn load(pool: &PgPool, key: SettlementKey) -> Result<Self, sqlx::Error> {
        let kinds = catalog::kinds();
        let titled = match key {
            SettlementKey::Kind => kinds.iter().map(|kind| (kind.title, kind.name)).collect(),
            SettlementKey::Ending => {
                let endings = kinds.iter().flat_map(|kind| kind.endings);
                endings.map(|ending| (ending.title, ending.name)).collect()
            }
            SettlementKey::Room => return load_rooms(pool).await,
            SettlementKey::FinishedAt
            | SettlementKey::Gross
            | SettlementKey::Fee
            | SettlementKey::Pot
            | SettlementKey::Ante
            | SettlementKey::ReversedAt
            | SettlementKey::TakenOver => Vec::new(),
        };
        Ok(Self::from_titles(titled))
    }

    /// Sorts texts by their titles. A text with several titles has the rank of the first.
    fn from_titles<T: Ord, N: Ord + Into<String>>(mut titled: Vec<(T, N)>) -> Self {
        titled.sort();
        Self(titled.into_iter().map(|(_, name)| name.into()).collect())
    }

    pub(super) fn as_slice(&self) -> &[String] {
        &self.0
    }

    /// Returns the rank of a text.
    pub(super) fn rank(&self, text: &str) -> i64 {
        let place = self.0.iter().position(|one| one == text);
        place.map_or(0, |place| i64::try_from(place).map_or(i64::MAX, |place| place + 1))
    }
}

async fn load_rooms(pool: &PgPool) -> Result<TextRanks, sqlx::Error> {
    let once = || {
        sqlx::query!(
            r#"
            select r.id, lower(v.name) as "name!"
            from rooms r
            join room_revisions v on v.room = r.id and v.revision = r.revision
            "#
        )
        .fetch_all(pool)
    };
    let rooms = db::retry(once).await?.into_iter().map(|room| (room.name, room.id));
    let private = ("private tables".to_owned(), PRIVATE_ROOM.to_owned());
    Ok(TextRanks::from_titles(rooms.chain([private]).collect()))
}

#[cfg(test)]
mod tests {
    use super::TextRanks;

    #[test]
    fn a_text_has_the_rank_of_its_first_title() {
        let ranks = TextRanks::from_titles(vec![("Z", "last"), ("B", "twice"), ("C", "twice")]);
        let ranks = ["twice", "last", "unknown", ""].map(|text| ranks.rank(text));
        assert_eq!(ranks, [1, 3, 0, 0]);
    }
}
