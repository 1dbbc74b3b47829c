//! The accounts of house bots: players of their own kind without a device, a password or an
//! identity, so that nobody can sign in as one. They are created when a server that needs them
//! starts, and are kept; a server that needs fewer uses the first ones.

use crate::accounts::{AVATARS, AccountError, Accounts, to_sql};
use crate::clock::Timestamp;
use crate::db;
use crate::entropy;
use crate::ids::PlayerId;

/// The names of bots, used in order, and then again with a number.
const NAMES: [&str; 24] = [
    "Amihan", "Bayani", "Chesa", "Dalisay", "Elena", "Felipe", "Ginto", "Hiraya", "Isagani",
    "Jasmin", "Kidlat", "Ligaya", "Malaya", "Nilo", "Oscar", "Pilar", "Quirino", "Ramon", "Sinag",
    "Tadhana", "Ulan", "Vicente", "Winona", "Yumi",
];

/// A house bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HouseBot {
    pub player: PlayerId,
    pub name: String,
    pub avatar: String,
}

impl Accounts {
    /// Returns the first `count` bots and creates the missing ones. Every node gets the same bots.
    pub async fn load_house_bots(&self, count: u16) -> Result<Vec<HouseBot>, AccountError> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let now = self.clock.now();
        let mut tx = db::begin(&self.pool).await?;
        // The advisory lock admits one process at a time, so that all processes find the same bots.
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
            .map(|row| HouseBot { player: PlayerId(row.id), name: row.name, avatar: row.avatar })
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
    /// Creates a bot without an account, for a table that is not stored. Its name has no number.
    pub fn without_account(number: usize) -> Self {
        Self::new(number % NAMES.len())
    }

    /// Creates a bot. Its name begins with a word that is reserved for players' names.
    fn new(number: usize) -> Self {
        let round = number / NAMES.len();
        let index = number % NAMES.len();
        let name = match round {
            0 => format!("Bot {}", NAMES[index]),
            _ => format!("Bot {} {}", NAMES[index], round + 1),
        };
        let avatar = AVATARS[number % AVATARS.len()].to_owned();
        Self { player: PlayerId(entropy::uuid()), name, avatar }
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
        bot.player.0,
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
    use bahay_names::is_reserved;

    #[test]
    fn a_bot_has_a_name_that_no_player_can_have() {
        for number in 0..NAMES.len() * 2 {
            let HouseBot { name, .. } = HouseBot::new(number);
            assert!(name.parse::<Name>().is_ok(), "{name}");
            assert!(is_reserved(&name), "{name}");
        }
    }
}
