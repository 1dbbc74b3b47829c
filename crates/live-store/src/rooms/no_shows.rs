//! No-shows: a short list for each player, each device and each network, in the order of time,
//! which expires with its last entry. Devices and networks are named by the house's keyed digests,
//! and only for players who were seated, so that no caller chooses a key.
//!
//! Bounds: [`ENTRIES_MAX`] entries in a list, [`NO_SHOW_KEPT_MS`]; the digests of a seated player
//! expire after [`SEATED_MS`].

use bahay_engine::matchmaking::ConflictKey;
use bahay_engine::table::{PlayerId, Timestamp};
use bahay_shell::NoShow;
use bahay_shell::lobby::NO_SHOW_KEPT_MS;

use crate::{LiveStore, Unavailable};

/// The maximum number of entries in a list.
const ENTRIES_MAX: isize = 64;

/// The lifetime of a seated player's origin in milliseconds, which exceeds the time that anybody
/// sits at one table.
const SEATED_MS: u32 = 24 * 60 * 60 * 1_000;

/// The owner of a list of no-shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoShowSubject {
    Player(PlayerId),
    Device(ConflictKey),
    Network(ConflictKey),
}

/// The devices and the network of a player at the time of seating.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeatOrigin {
    pub devices: Vec<ConflictKey>,
    pub network: Option<ConflictKey>,
}

impl LiveStore {
    /// Stores the origin of a player who takes a seat.
    pub async fn set_seat_origin(
        &self,
        player: PlayerId,
        origin: &SeatOrigin,
    ) -> Result<(), Unavailable> {
        let mut call = redis::cmd("SET");
        call.arg(self.seat_origin_key(player)).arg(origin.encode()).arg("PX").arg(SEATED_MS);
        self.query(&call).await
    }

    /// Returns the origin of a player who took a seat.
    async fn seat_origin(&self, player: PlayerId) -> Result<SeatOrigin, Unavailable> {
        let text: Option<String> =
            self.query(redis::cmd("GET").arg(self.seat_origin_key(player))).await?;
        Ok(text.map(|text| SeatOrigin::decode(&text)).unwrap_or_default())
    }

    /// Records a no-show for its player, and for the devices and the network of the seat's origin.
    pub async fn record_no_show(&self, no_show: NoShow) -> Result<(), Unavailable> {
        let SeatOrigin { devices, network } = self.seat_origin(no_show.player).await?;
        let player = [NoShowSubject::Player(no_show.player)].into_iter();
        let devices = devices.into_iter().map(NoShowSubject::Device);
        for subject in player.chain(devices).chain(network.map(NoShowSubject::Network)) {
            self.add_no_show(subject, no_show).await?;
        }
        Ok(())
    }

    /// Appends a no-show to a list.
    async fn add_no_show(
        &self,
        subject: NoShowSubject,
        no_show: NoShow,
    ) -> Result<(), Unavailable> {
        let key = self.no_shows_key(subject);
        let NoShow { player, at, weight } = no_show;
        let mut pipe = redis::pipe();
        pipe.atomic().rpush(&key, format!("{} {weight} {player}", at.ms())).ignore();
        pipe.ltrim(&key, -ENTRIES_MAX, -1).ignore();
        pipe.cmd("PEXPIRE").arg(&key).arg(NO_SHOW_KEPT_MS).ignore();
        self.query_all(&pipe).await
    }

    /// Returns a list, in the order of time.
    pub async fn no_shows(&self, subject: NoShowSubject) -> Result<Vec<NoShow>, Unavailable> {
        let mut call = redis::cmd("LRANGE");
        call.arg(self.no_shows_key(subject)).arg(0).arg(-1);
        let entries: Vec<String> = self.query(&call).await?;
        Ok(entries.iter().filter_map(|entry| parse_no_show(entry)).collect())
    }

    /// Takes the one turn that newcomers of a network have within `every_ms`. Returns the remaining
    /// milliseconds if the turn is taken already.
    pub async fn take_newcomer_turn(
        &self,
        network: ConflictKey,
        every_ms: u32,
    ) -> Result<Option<u64>, Unavailable> {
        let key = format!("{}:turn", self.no_shows_key(NoShowSubject::Network(network)));
        let left_ms = self.create_expiring(&key, u64::from(every_ms)).await?;
        Ok(left_ms.map(|left_ms| u64::try_from(left_ms).unwrap_or(1)))
    }

    fn no_shows_key(&self, subject: NoShowSubject) -> String {
        let prefix = &self.prefix;
        match subject {
            NoShowSubject::Player(player) => self.player_key(player, "no_shows"),
            NoShowSubject::Device(key) => format!("{prefix}:{{d{:016x}}}:no_shows", key.0),
            NoShowSubject::Network(key) => format!("{prefix}:{{n{:016x}}}:no_shows", key.0),
        }
    }

    fn seat_origin_key(&self, player: PlayerId) -> String {
        self.player_key(player, "origin")
    }
}

impl SeatOrigin {
    fn encode(&self) -> String {
        let network = self.network.map(|key| format!("n{:016x}", key.0));
        let devices = self.devices.iter().map(|key| format!("d{:016x}", key.0));
        network.into_iter().chain(devices).collect::<Vec<_>>().join(" ")
    }

    fn decode(text: &str) -> Self {
        let key = |digits: &str| u64::from_str_radix(digits, 16).ok().map(ConflictKey);
        let words = || text.split(' ');
        let devices = words().filter_map(|word| key(word.strip_prefix('d')?)).collect();
        let network = words().find_map(|word| key(word.strip_prefix('n')?));
        Self { devices, network }
    }
}

fn parse_no_show(entry: &str) -> Option<NoShow> {
    let mut words = entry.split(' ');
    let at = Timestamp::from_ms(words.next()?.parse().ok()?);
    let weight = words.next()?.parse().ok()?;
    Some(NoShow { player: words.next()?.parse().ok()?, at, weight })
}

#[cfg(test)]
mod tests {
    use bahay_engine::matchmaking::ConflictKey;

    use super::SeatOrigin;

    #[test]
    fn an_origin_is_read_as_it_was_written() {
        let some = SeatOrigin { devices: vec![ConflictKey(1), ConflictKey(2)], network: None };
        let all = SeatOrigin { network: Some(ConflictKey(u64::MAX)), ..some.clone() };
        for origin in [SeatOrigin::default(), some, all] {
            assert_eq!(SeatOrigin::decode(&origin.encode()), origin);
        }
    }
}
