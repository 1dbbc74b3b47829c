//! Rooms, as operators create and change them.

use bahay_engine::game::Skill;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::operation::operations;
use crate::values::{RoomText, Time};

operations! {
    /// List a room's revisions
    ///
    /// Newest first, at most a hundred. For operators of every role.
    LIST_ROOM_REVISIONS = Get "/v1/operator/rooms/{room}/revisions", Operators, Operator {
        path room: RoomText = "The room's id",
        200 json RoomRevisions: "Its revisions",
        refuses RoomNotFound,
    }

    /// Create a room
    ///
    /// For the role `admin`.
    CREATE_ROOM = Post "/v1/operator/rooms", Operators, Operator {
        headers RequiredKey,
        body CreateRoom,
        201 json RoomRevision: "The room",
        refuses RoomTaken RoomNameTaken TooManyRooms RoomUnsound,
    }

    /// Change a room
    ///
    /// Takes effect on every node within a second. Tables take new terms when they begin to prepare
    /// their next game, and new POT rules once no POT waits. If the rule set changes, a table
    /// continues to play for its POT, if one waits, and then frees its seats. For the role `admin`.
    CHANGE_ROOM = Put "/v1/operator/rooms/{room}", Operators, Operator {
        path room: RoomText = "The room's id",
        headers RequiredKey,
        body ChangeRoom,
        200 json RoomRevision: "The changed room",
        refuses RoomNotFound RoomChanged RoomNameTaken RoomUnsound,
    }

    /// Open a room
    ///
    /// For the role `admin`.
    OPEN_ROOM = Post "/v1/operator/rooms/{room}/opening", Operators, Operator {
        path room: RoomText = "The room's id",
        headers RequiredKey,
        200 json RoomRevision: "The opened room",
        refuses RoomNotFound RoomChanged,
    }

    /// Close a room
    ///
    /// Running games are finished; no other begins, and seats are freed between games. A POT waits
    /// until the room opens again. For the role `admin`.
    CLOSE_ROOM = Post "/v1/operator/rooms/{room}/closing", Operators, Operator {
        path room: RoomText = "The room's id",
        headers RequiredKey,
        200 json RoomRevision: "The closed room",
        refuses RoomNotFound RoomChanged,
    }
}

/// The settings of a room. Amounts are in hundredths of a coin.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RoomSettings {
    /// The name that is displayed to people, which no other room has.
    #[schema(example = "Newbie", min_length = 1, max_length = 40)]
    pub name: String,
    /// True if games may begin.
    #[schema(example = true)]
    pub is_open: bool,
    /// The kind of game, which a room never changes.
    #[schema(example = "tongits", max_length = 32)]
    pub kind: String,
    /// The name of one of the game's rule sets.
    #[schema(example = "kingdom", max_length = 32)]
    pub rule_set: String,
    /// In a request, the fields of the game's rules that differ from the rule set, such as
    /// `{"countdowns": {"draw_ms": 5000}}`. In a response, all rules.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub rules: serde_json::Value,
    /// The value of one count at multiplier 1.
    #[schema(minimum = 1, maximum = 1_000_000_000, example = 100)]
    pub bet: i64,
    #[schema(minimum = 1, example = 1)]
    pub multiplier: u32,
    /// The house's share of a winner's receipts, in ten-thousandths.
    #[schema(maximum = 5000, example = 500)]
    pub fee_basis_points: u32,
    /// The settings of the POT; null for a room without one.
    #[schema(required = true, inline)]
    pub pot: Option<RoomPot>,
    /// The minimum balance of a wallet, if it exceeds the stakes.
    #[schema(minimum = 0, example = 0)]
    pub coins_min: i64,
    /// The maximum balance of a wallet; null for no limit.
    #[schema(required = true, minimum = 0, example = 5_000_000)]
    pub coins_max: Option<i64>,
    #[schema(inline)]
    pub clocks: RoomClocks,
    /// True if anybody may watch the open cards at the room's tables, one turn late. A table keeps
    /// the value with which it was created.
    #[serde(default)]
    pub watchable: bool,
    /// The skill of the house bots.
    #[serde(default)]
    #[schema(value_type = BotSkill)]
    pub bots: Skill,
    /// True if guests may not sit down, only players with a password or an identity.
    #[serde(default)]
    pub needs_account: bool,
}

/// The skill of house bots.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum BotSkill {
    /// By rules of thumb.
    Greedy,
    /// The skill with which the AI acts for players after a takeover.
    Quick,
}

/// The settings of a POT.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RoomPot {
    /// The number of bets that each seat pays into the POT before each game.
    #[schema(minimum = 1, example = 1)]
    pub ante: u32,
    /// The number of consecutive wins that take the POT.
    #[schema(minimum = 2, maximum = 3, example = 2)]
    pub hits_to_win: u8,
    /// The number of counts that each loser pays for the second consecutive win, if three take the
    /// POT.
    #[schema(example = 0)]
    pub second_hit_bonus: u32,
}

/// The time limits of a room, in milliseconds, up to ten minutes.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RoomClocks {
    /// The time in which players declare that they are ready.
    #[schema(minimum = 1, maximum = 600_000, example = 10_000)]
    pub prepare_ms: u32,
    /// The thinking time of the AI; less than every countdown.
    #[schema(example = 1_000)]
    pub think_ms: u32,
    /// The grace of a player whose connection is lost, before the AI takes over (rule 8.3).
    #[schema(minimum = 1, maximum = 600_000, example = 15_000)]
    pub grace_ms: u32,
    /// The number of consecutive countdowns that a player may miss before the AI takes over.
    #[schema(minimum = 1, maximum = 255, example = 2)]
    pub missed_turns_to_takeover: u8,
    /// The time for which a disconnected player keeps a seat at a table that waits for others.
    #[schema(minimum = 1, maximum = 600_000, example = 30_000)]
    pub absence_ms: u32,
}

/// A room to create.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateRoom {
    /// The id in paths and accounts: a lower-case letter, then letters, digits and hyphens.
    #[schema(example = "weekend", pattern = "^[a-z][a-z0-9-]{0,31}$")]
    pub id: String,
    pub settings: RoomSettings,
}

/// A change of a room's settings.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangeRoom {
    /// The revision on which the change is based (optimistic concurrency).
    #[schema(example = 3)]
    pub revision: u32,
    pub settings: RoomSettings,
}

/// A revision of a room.
#[derive(Debug, Serialize, ToSchema)]
pub struct RoomRevision {
    #[schema(example = "newbie")]
    pub id: String,
    /// The revision's number, which every change increments.
    #[schema(example = 3)]
    pub revision: u32,
    pub settings: RoomSettings,
    /// The operator's name; null for the initial rooms of the house.
    #[schema(required = true, example = "ate.luz")]
    pub changed_by: Option<String>,
    pub changed_at: Time,
}

/// The revisions of a room.
#[derive(Debug, Serialize, ToSchema)]
pub struct RoomRevisions {
    pub items: Vec<RoomRevision>,
}
