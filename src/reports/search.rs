//! The search for players, games, tables, tournaments, operations, accounts and corrections by
//! parts of their names and ids. Each part of the search reads an index.

use bahay_api::operator::players::PlayerMatch;
use bahay_api::operator::search::{SearchHit, SearchKind};
use bahay_engine::coins::Coins;
use uuid::Uuid;

use super::{ReportError, Reports};
use crate::db;
use crate::ids::TOURNAMENT_ROOM;

/// The least number of hexadecimal digits that are searched for as the beginning of an id.
const ID_DIGITS_MIN: usize = 4;

/// The least number of characters that are searched for within names.
const NAME_PART_MIN: usize = 3;

/// The maximum number of matches of each kind.
pub const MATCHES_MAX: usize = 20;

impl Reports {
    /// Finds players by a part of the name, or by the beginning of the id. Names that begin with the
    /// text precede the others. If the text has fewer than three characters, only those are found.
    pub async fn find_players(&self, text: &str) -> Result<Vec<PlayerMatch>, ReportError> {
        let (least, greatest) = parse_id_range(text).unzip();
        let begins = text.to_lowercase();
        let ends = format!("{begins}\u{10ffff}");
        let contains = to_pattern(&begins);
        let once = || {
            sqlx::query_as!(
                PlayerMatch,
                r#"
                select f.id as "id!", f.name as "name!"
                from (
                    (
                        select p.id, p.name
                        from players p
                        where p.id between $1 and $2
                        order by p.id
                        limit $6
                    )
                    union
                    (
                        select p.id, p.name
                        from players p
                        where lower(p.name) collate "C" >= $3 and lower(p.name) collate "C" < $4
                        order by lower(p.name) collate "C", p.id
                        limit $6
                    )
                    union
                    (select p.id, p.name from players p where lower(p.name) like $5 limit $6)
                ) f
                order by not starts_with(lower(f.name), $3), lower(f.name) collate "C", f.id
                limit $6
                "#,
                least,
                greatest,
                begins,
                ends,
                contains,
                matches_max()
            )
            .fetch_all(&self.pool)
        };
        db::retry(once).await
    }

    /// Finds all that the database knows by the text: players, tournaments, games, tables,
    /// corrections, operations and accounts, in this order.
    pub async fn search(&self, text: &str) -> Result<Vec<SearchHit>, ReportError> {
        let hit = |kind, id: String, title| SearchHit { kind, id, title };
        let players = self.find_players(text).await?.into_iter();
        let mut hits: Vec<SearchHit> = players
            .map(|player| hit(SearchKind::Player, player.id.to_string(), player.name))
            .collect();
        hits.extend(self.find_tournaments(text).await?);
        if let Some((least, greatest)) = parse_id_range(text) {
            hits.extend(self.find_by_id(least, greatest).await?);
        }
        hits.extend(self.find_in_ledger(text).await?);
        Ok(hits)
    }

    async fn find_tournaments(&self, text: &str) -> Result<Vec<SearchHit>, ReportError> {
        let (least, greatest) = parse_id_range(text).unzip();
        let once = || {
            sqlx::query!(
                r#"
                select f.id::text as "id!", f.name as "name!"
                from (
                    (
                        select t.id, t.terms ->> 'name' as name, t.created_at
                        from tournaments t
                        where t.id between $1 and $2
                        order by t.id
                        limit $4
                    )
                    union
                    (
                        select t.id, t.terms ->> 'name', t.created_at
                        from tournaments t
                        where lower(t.terms ->> 'name') like $3
                        order by t.created_at desc, t.id desc
                        limit $4
                    )
                ) f
                order by f.created_at desc, f.id desc
                limit $4
                "#,
                least,
                greatest,
                to_pattern(&text.to_lowercase()),
                matches_max()
            )
            .fetch_all(&self.pool)
        };
        let rows = db::retry(once).await?.into_iter();
        let kind = SearchKind::Tournament;
        Ok(rows.map(|row| SearchHit { kind, id: row.id, title: row.name }).collect())
    }

    async fn find_by_id(&self, least: Uuid, greatest: Uuid) -> Result<Vec<SearchHit>, ReportError> {
        let once = || {
            sqlx::query!(
                r#"
                (
                    select 'game' as "kind!", g.id::text as "id!", g.room as "title!"
                    from games g
                    where g.id between $1 and $2
                    order by g.id
                    limit $3
                )
                union all
                (
                    select 'table', f.table_id::text, min(f.room)
                    from (
                        (
                            select distinct g.table_id, g.room
                            from games g
                            where g.table_id between $1 and $2
                            limit $3
                        )
                        union all
                        (
                            select distinct g.table_id, $4::text
                            from tournament_games g
                            where g.table_id between $1 and $2
                            limit $3
                        )
                        union all
                        (
                            select h.table_id, coalesce(h.room, '')
                            from halted_tables h
                            where h.table_id between $1 and $2 and h.released_at is null
                            limit $3
                        )
                    ) f
                    group by f.table_id
                    limit $3
                )
                union all
                (
                    select 'correction', c.id::text, c.state
                    from corrections c
                    where c.id between $1 and $2
                    order by c.id
                    limit $3
                )
                "#,
                least,
                greatest,
                matches_max(),
                TOURNAMENT_ROOM
            )
            .fetch_all(&self.pool)
        };
        let rows = db::retry(once).await?.into_iter();
        rows.map(|row| to_hit(&row.kind, row.id, row.title)).collect()
    }

    async fn find_in_ledger(&self, text: &str) -> Result<Vec<SearchHit>, ReportError> {
        let operation: Option<i64> = text.parse().ok();
        let once = || {
            sqlx::query!(
                r#"
                select 'operation' as "kind!", o.id::text as "id!", o.key as "title!",
                    null::bigint as "balance?"
                from operations o
                where o.id = $1
                union
                select 'operation', k.operation::text, k.key, null
                from operation_keys k
                where k.key = $2
                union
                select 'account', a.code, '', a.balance
                from accounts a
                where a.code = $2
                "#,
                operation,
                text
            )
            .fetch_all(&self.pool)
        };
        let rows = db::retry(once).await?.into_iter();
        let title = |balance: i64| Coins::from_hundredths(balance).to_string();
        rows.map(|row| to_hit(&row.kind, row.id, row.balance.map_or(row.title, title))).collect()
    }
}

fn to_hit(kind: &str, id: String, title: String) -> Result<SearchHit, ReportError> {
    let kind = kind.parse().map_err(|error| sqlx::Error::Decode(Box::new(error)))?;
    Ok(SearchHit { kind, id, title })
}

/// Returns the least and the greatest id that begin with these hexadecimal digits, which may be
/// separated by hyphens.
pub fn parse_id_range(text: &str) -> Option<(Uuid, Uuid)> {
    const DIGITS: usize = 32;
    let digits: String = text.chars().filter(|one| *one != '-').collect();
    let is_range = (ID_DIGITS_MIN..=DIGITS).contains(&digits.len())
        && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let id = |fill: &str| {
        let padded = format!("{digits}{}", fill.repeat(DIGITS - digits.len()));
        Uuid::try_parse(&padded).ok()
    };
    if is_range { id("0").zip(id("f")) } else { None }
}

/// Returns the pattern of `like` for names that contain a text; `None` for a text that is too short
/// for the index of the names.
fn to_pattern(text: &str) -> Option<String> {
    (text.chars().count() >= NAME_PART_MIN).then(|| format!("%{}%", escape_like(text)))
}

fn matches_max() -> i64 {
    i64::try_from(MATCHES_MAX).unwrap_or(i64::MAX)
}

/// Escapes the wildcards of a pattern of `like`.
fn escape_like(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '%' | '_' | '\\') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::{escape_like, parse_id_range};

    #[test]
    fn the_beginning_of_an_id_is_a_range() {
        let range = |text: &str| {
            parse_id_range(text).map(|(least, greatest)| format!("{least} {greatest}"))
        };
        assert_eq!(
            range("0123-4567-89").as_deref(),
            Some("01234567-8900-0000-0000-000000000000 01234567-89ff-ffff-ffff-ffffffffffff")
        );
        let id = "01234567-89ab-cdef-0123-456789abcdef";
        assert_eq!(range(id), Some(format!("{id} {id}")));
        for text in ["", "abc", "maria", "01234567-89ab-cdef-0123-456789abcdef0"] {
            assert_eq!(range(text), None, "{text}");
        }
    }

    #[test]
    fn wildcards_are_searched_for_as_such() {
        assert_eq!(escape_like(r"50%_\x"), r"50\%\_\\x");
    }
}
