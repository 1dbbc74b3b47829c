//! The house's bots as accounts: players of their own kind, without a device, a password or an
//! identity, so that nobody can sign in as one. They are made when a server starts that wants them,
//! and stay; a server that wants fewer uses the first so many.

use crate::clock::Timestamp;
use crate::entropy;
use crate::ids::PlayerId;

use super::{AVATARS, AccountError, Accounts, to_sql};

/// What bots are called, one after the other, and then again with a number.
const NAMES: [&str; 24] = [
    "Amihan", "Bayani", "Chesa", "Dalisay", "Elena", "Felipe", "Ginto", "Hiraya", "Isagani",
    "Jasmin", "Kidlat", "Ligaya", "Malaya", "Nilo", "Oscar", "Pilar", "Quirino", "Ramon", "Sinag",
    "Tadhana", "Ulan", "Vicente", "Winona", "Yumi",
];

/// A bot of the house.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HouseBot {
    pub id: PlayerId,
    pub name: String,
    pub avatar: String,
}

impl Accounts {
    /// So many bots, made as far as they are not there: the same on every node.
    pub async fn load_house_bots(&self, count: u16) -> Result<Vec<HouseBot>, AccountError> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let now = self.clock.now();
        let mut tx = self.pool.begin().await?;
        // One process at a time, so that all find the same.
        sqlx::query!("select pg_advisory_xact_lock(hashtext('bahay: house bots'))")
            .execute(&mut *tx)
            .await?;
        let rows = sqlx::query!(
            "
            select p.id, p.name, p.avatar
            from players p
            where p.kind = 'bot'
            order by p.id
            limit $1
            ",
            i64::from(count)
        )
        .fetch_all(&mut *tx)
        .await?;
        let mut bots: Vec<HouseBot> = rows
            .into_iter()
            .map(|row| HouseBot { id: PlayerId(row.id), name: row.name, avatar: row.avatar })
            .collect();
        for number in bots.len()..usize::from(count) {
            let bot = HouseBot::new(number);
            insert_bot(&mut tx, &bot, now).await?;
            bots.push(bot);
        }
        tx.commit().await?;
        Ok(bots)
    }
}

impl HouseBot {
    /// A bot that is no account, for a table that nothing is kept of. Its name is one of the first
    /// round.
    pub fn without_account(number: usize) -> Self {
        Self::new(number % NAMES.len())
    }

    /// Its name begins with a word that no player's name may hold.
    fn new(number: usize) -> Self {
        let (round, place) = (number / NAMES.len(), number % NAMES.len());
        let name = match round {
            0 => format!("Bot {}", NAMES[place]),
            _ => format!("Bot {} {}", NAMES[place], round + 1),
        };
        let avatar = AVATARS[number % AVATARS.len()].to_owned();
        Self { id: PlayerId(entropy::uuid()), name, avatar }
    }
}

async fn insert_bot(
    connection: &mut sqlx::PgConnection,
    bot: &HouseBot,
    now: Timestamp,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "
        insert into players (id, name, avatar, kind, created_at)
        values ($1, $2, $3, 'bot', $4)
        ",
        bot.id.0,
        bot.name,
        bot.avatar,
        to_sql(now) as _
    )
    .execute(connection)
    .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{HouseBot, NAMES};
    use crate::accounts::Name;
    use crate::accounts::reserved::is_reserved;

    #[test]
    fn a_bot_has_a_name_that_no_player_can_have() {
        for number in 0..NAMES.len() * 2 {
            let HouseBot { name, .. } = HouseBot::new(number);
            assert!(name.parse::<Name>().is_ok(), "{name}");
            assert!(is_reserved(&name), "{name}");
        }
    }
}
