//! The player's own account: profile, wallet, and deletion.

use bahay_base::clock::BoundedTimestamp;
use bahay_names::{Avatar, Name, TimeZone};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::PageQuery;
use crate::operation::operations;
use crate::values::{Coins, NameText, Time, TimeZoneText, TransferCode};

/// The maximum number of codes in one query.
const CODES_MAX: usize = 32;

operations! {
    /// Show my profile
    SHOW_ME = Get "/v1/me", Me, Player {
        200 json OwnProfile: "The player",
    }

    /// Change my profile
    ///
    /// A name may be changed once in seven days; the detail of `name_changed_lately` states the
    /// time of the next change. A chosen name is reserved for the player: nobody else can take it
    /// or a confusable name. Names that suggest the house are reserved for the house. A player with
    /// a password signs in by the new name. If any part of the change is refused, nothing is
    /// changed.
    CHANGE_ME = Patch "/v1/me", Me, Player {
        body ProfileChangeRequest,
        200 json OwnProfile: "The player after the change",
        refuses NameTaken NameChangedLately NameReserved TimeZoneUnknown,
    }

    /// Delete my account
    ///
    /// Deletes name, picture, time zone, devices, password, identities and the origin data of
    /// sessions, for good. All sessions end, so a retry is refused with `token_revoked`. Bookings
    /// and games remain under an id that no longer identifies a person; remaining coins belong to
    /// nobody. Not possible while the player sits at a table: leave it first.
    DELETE_ME = Delete "/v1/me", Me, Player {
        headers Proof,
        204 empty (): "The account is deleted",
        refuses InGame Seating TableHalted,
    }

    /// Show my wallet
    SHOW_WALLET = Get "/v1/me/wallet", Me, Player {
        200 json Wallet: "The wallet",
    }

    /// List the entries of my wallet
    ///
    /// Newest first. Entries never change, and each one starts from the balance that the previous
    /// one left. A cursor is valid only with the filters for which it was issued. Entries beyond
    /// the house's retention time are not listed.
    LIST_WALLET_ENTRIES = Get "/v1/me/wallet/entries", Me, Player {
        query PageQuery<EntryFilter>,
        200 page WalletEntry: "A page of entries",
    }
}

/// A player's own profile.
#[derive(Debug, Serialize, ToSchema)]
pub struct OwnProfile {
    pub id: Uuid,
    #[schema(example = "Maria")]
    pub name: String,
    /// One of `GET /v1/avatars`.
    #[schema(example = "carabao")]
    pub avatar: String,
    /// The time zone whose days count for rewards; null for the house's time zone.
    #[schema(required = true, example = "Asia/Manila")]
    pub time_zone: Option<String>,
    pub created_at: Time,
    /// The time from which the name may be changed again; null if it was never changed.
    #[schema(required = true)]
    pub renamable_at: Option<Time>,
}

/// A change of the player's own profile. Absent fields stay as they are.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ProfileChangeRequest {
    #[schema(value_type = Option<NameText>)]
    pub name: Option<Name>,
    /// One of `GET /v1/avatars`.
    #[schema(value_type = Option<String>, pattern = "^[a-z-]{1,32}$", example = "tarsier")]
    pub avatar: Option<Avatar>,
    /// The IANA name of the time zone whose days count for rewards.
    #[schema(value_type = Option<TimeZoneText>)]
    pub time_zone: Option<TimeZone>,
}

/// The balances of a player.
#[derive(Debug, Serialize, ToSchema)]
pub struct Wallet {
    /// The amount that can be spent.
    pub available: Coins,
    /// The amount that is held as the stake of a running game.
    pub held: Coins,
    /// The number of the newest entry; 0 if there is none.
    pub version: i64,
}

/// One entry of a wallet.
#[derive(Debug, Serialize, ToSchema)]
pub struct WalletEntry {
    /// The number of the entry; entries are numbered from 1 without gaps.
    pub version: i64,
    /// The purpose of the transfer.
    pub code: TransferCode,
    /// The change of the balance; negative if coins left the wallet.
    pub amount: Coins,
    pub balance_before: Coins,
    pub balance_after: Coins,
    /// The game to which the transfer belongs, if any.
    #[schema(required = true)]
    pub game: Option<Uuid>,
    /// The path of that game's record, once it is settled.
    #[schema(required = true, example = "/v1/games/019a5b1e-7c1d-7d80-8f4e-3a1b2c4d5e6f/record")]
    pub record: Option<String>,
    pub booked_at: Time,
}

/// A filter of a wallet's entries.
#[derive(Clone, Debug, Default, PartialEq, Eq, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct EntryFilter {
    /// Restricts the list to entries with this code; may be repeated to allow several codes.
    #[param(inline, style = Form, explode, required = false, max_items = 32)]
    pub code: Vec<TransferCode>,
    /// Restricts the list to entries booked at or after this time: RFC 3339.
    #[param(value_type = Option<Time>, inline)]
    pub from: Option<BoundedTimestamp>,
    /// Restricts the list to entries booked before this time: RFC 3339, later than `from`.
    #[param(value_type = Option<Time>, inline)]
    pub to: Option<BoundedTimestamp>,
}

/// Parses pairs, because `code` may occur several times and every other parameter only once.
impl<'de> Deserialize<'de> for EntryFilter {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut filter = Self::default();
        for (name, value) in Vec::<(String, String)>::deserialize(deserializer)? {
            let time = match name.as_str() {
                "code" => {
                    filter.code.push(value.parse().map_err(D::Error::custom)?);
                    continue;
                }
                "from" => &mut filter.from,
                "to" => &mut filter.to,
                _ => return Err(D::Error::custom(format_args!("unknown field `{name}`"))),
            };
            if time.replace(value.parse().map_err(D::Error::custom)?).is_some() {
                return Err(D::Error::custom(format_args!("duplicate field `{name}`")));
            }
        }
        if filter.code.len() > CODES_MAX {
            return Err(D::Error::custom(format_args!("more than {CODES_MAX} codes")));
        }
        if filter.from.zip(filter.to).is_some_and(|(from, to)| from >= to) {
            return Err(D::Error::custom("`from` is not before `to`"));
        }
        // The order of the codes does not select another list.
        filter.code.sort_unstable();
        filter.code.dedup();
        Ok(filter)
    }
}

#[cfg(test)]
mod tests {
    use super::EntryFilter;
    use crate::PageQuery;
    use crate::values::TransferCode;

    fn parse(text: &str) -> Result<EntryFilter, serde_urlencoded::de::Error> {
        serde_urlencoded::from_str::<PageQuery<EntryFilter>>(text).map(|query| query.filter)
    }

    #[test]
    fn codes_may_repeat_and_come_in_any_order() {
        let one = parse("code=fee&code=ante&code=fee").unwrap();
        assert_eq!(one.code, [TransferCode::Ante, TransferCode::Fee]);
        assert_eq!(one, parse("code=ante&code=fee").unwrap());
        assert_ne!(one, parse("code=ante").unwrap());
        let manila = parse("from=2026-03-01T00:00:00%2B08:00").unwrap();
        assert_eq!(manila, parse("from=2026-02-28T16:00:00Z").unwrap());
    }

    #[test]
    fn invalid_queries_are_rejected() {
        let time = "2026-03-01T00:00:00Z";
        for text in [
            "code=gift",
            "code=",
            "size=3",
            "limit=0",
            "limit=1&limit=1",
            "from=yesterday",
            "from=2026-03-01",
            &format!("from={time}&from={time}"),
            &format!("from={time}&to={time}"),
            "cursor=a&cursor=a",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
