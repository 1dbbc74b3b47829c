//! Tournaments: their list, entries, standings and games.

use bahay_base::states::TournamentState;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::PageQuery;
use crate::operation::operations;
use crate::player::leaderboards::Section;
use crate::player::rooms::SeatedTable;
use crate::values::{Coins, IdText, Time};

operations! {
    /// List the tournaments
    ///
    /// Newest first. Private ones are listed by their code, and among the
    /// player's own.
    LIST_TOURNAMENTS = Get "/v1/tournaments", Tournaments, Player {
        query PageQuery<TournamentFilter>,
        200 page Tournament: "A page of tournaments",
    }

    /// Show a tournament
    SHOW_TOURNAMENT = Get "/v1/tournaments/{id}", Tournaments, Player {
        path id: IdText = "The tournament",
        200 json TournamentDetail: "The tournament, with the player's own entry",
        refuses TournamentNotFound,
    }

    /// Register for a tournament
    ///
    /// The price is held at once and returned on a withdrawal. With the `payment` `pass` an unused
    /// pass is held instead: that of the least `buy_in_max` which pays the buy-in. Idempotent: a
    /// player who is registered already pays nothing. A private tournament requires its `code`.
    REGISTER_FOR_TOURNAMENT = Put "/v1/tournaments/{id}/entry", Tournaments, Player {
        path id: IdText = "The tournament",
        body RegistrationRequest,
        200 json TournamentDetail: "The tournament, with the entry",
        refuses Banned TournamentNotFound TournamentCodeRequired TournamentOver RegistrationClosed
            TournamentFull TooFewCoins PassesNotAccepted PassMissing,
    }

    /// List my passes
    ///
    /// At most 500, those that are neither used nor revoked first. A pass pays one entry of a
    /// tournament that accepts passes, if the buy-in is at most `buy_in_max`; it pays no fee.
    LIST_MY_PASSES = Get "/v1/me/passes", Me, Player {
        200 json TournamentPasses: "The passes",
    }

    /// Withdraw from a tournament
    ///
    /// Possible until the start; the price is returned.
    WITHDRAW_FROM_TOURNAMENT = Delete "/v1/tournaments/{id}/entry", Tournaments, Player {
        path id: IdText = "The tournament",
        204 empty (): "The entry is returned",
        refuses TournamentNotFound NotRegistered TournamentStarted TournamentOver,
    }

    /// Show my table of a tournament
    ///
    /// The seat is the player's, so a `join` over the socket leads there, unless the player is in a
    /// game at another table; that game comes first.
    SHOW_TOURNAMENT_TABLE = Get "/v1/tournaments/{id}/table", Tournaments, Player {
        path id: IdText = "The tournament",
        200 json SeatedTable: "The table",
        refuses TournamentNotFound NotSeated Seating TableHalted,
    }

    /// List the standings of a tournament
    ///
    /// The best first. Equal scores share a rank. The player's own rank is in the `entry` of the
    /// tournament.
    LIST_TOURNAMENT_STANDINGS = Get "/v1/tournaments/{id}/standings", Tournaments, Player {
        path id: IdText = "The tournament",
        query PageQuery<StandingsFilter>,
        200 page TournamentStanding: "A page of players",
        refuses TournamentNotFound,
    }

    /// List the results of a tournament
    ///
    /// The append-only list of everything that decides about places and payments, in order: anybody
    /// can recompute both from it (`docs/verify_tournament.py`).
    LIST_TOURNAMENT_RESULTS = Get "/v1/tournaments/{id}/results", Tournaments, Player {
        path id: IdText = "The tournament",
        query PageQuery,
        200 page TournamentResults: "A page of results",
        refuses TournamentNotFound,
    }

    /// List the games of a tournament
    ///
    /// In the order of their ends. The record of each shows its players everything.
    LIST_TOURNAMENT_GAMES = Get "/v1/tournaments/{id}/games", Tournaments, Player {
        path id: IdText = "The tournament",
        query PageQuery,
        200 page TournamentGame: "A page of games",
        refuses TournamentNotFound,
    }
}

/// Selects tournaments.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct TournamentFilter {
    /// Restricts the list to tournaments in this state.
    #[param(inline)]
    pub state: Option<TournamentState>,
    /// If true, the list has the tournaments for which the player is registered.
    #[serde(default)]
    #[param(required = false, default = false)]
    pub mine: bool,
    /// If present, the list has the private tournament with this code.
    #[param(max_length = 16, example = "K7MWQ2XA")]
    pub code: Option<String>,
}

/// Selects the first page of standings.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct StandingsFilter {
    /// The part of the standings to begin with: the top (the default), or half a page above the
    /// player, if the player is ranked.
    #[param(inline)]
    pub section: Option<Section>,
}

/// A request to register for a tournament.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RegistrationRequest {
    /// The code of a private tournament.
    #[serde(default)]
    #[schema(max_length = 16, example = "K7MWQ2XA")]
    pub code: Option<String>,
    /// The form of the payment; `coins` by default.
    #[serde(default)]
    #[schema(value_type = String, pattern = "^(coins|pass)$", example = "coins")]
    pub payment: EntryPayment,
}

bahay_base::text_enum! {
    /// The form in which a player pays an entry.
    #[derive(Default)]
    pub enum EntryPayment {
        #[default]
        Coins = "coins",
        /// An unused pass of the player.
        Pass = "pass",
    }
}

/// The passes of a player.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TournamentPasses {
    pub items: Vec<TournamentPass>,
}

/// A pass, which pays one entry.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct TournamentPass {
    pub id: Uuid,
    /// The largest buy-in that the pass pays.
    pub buy_in_max: Coins,
    pub granted_at: Time,
    /// The tournament whose entry holds the pass; null while it is unused.
    #[schema(required = true)]
    pub used_in: Option<Uuid>,
    /// The time of the registration; null while it is unused.
    #[schema(required = true)]
    pub used_at: Option<Time>,
    /// The time at which the house revoked the pass, which pays no entry any more; null for others.
    #[schema(required = true)]
    pub revoked_at: Option<Time>,
}

/// A tournament.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Tournament {
    pub id: Uuid,
    #[schema(example = "Three in a ring")]
    pub name: String,
    pub state: TournamentState,
    /// The way in which it is played: `sit_and_go`, `knock_out`, `arena` or `duplicate`.
    #[schema(example = "sit_and_go")]
    pub format: String,
    /// The kind of the game.
    #[schema(example = "tongits")]
    pub kind: String,
    /// The number of players of a table.
    pub seats: u8,
    /// The number of players who are registered.
    pub entrants: u32,
    /// The number of players without whom it does not take place.
    pub entrants_min: u32,
    pub entrants_max: u32,
    /// The part of the price that goes into the pool.
    pub buy_in: Coins,
    /// The part of the price that the house keeps.
    pub fee: Coins,
    /// The minimum of the pool.
    pub guarantee: Coins,
    /// True if house bots complete the entrants, without prizes.
    pub has_bots: bool,
    /// The time of the start; null if it starts when it is full.
    #[schema(required = true)]
    pub starts_at: Option<Time>,
}

/// A tournament, with the entry of the player who asks.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TournamentDetail {
    #[serde(flatten)]
    pub tournament: Tournament,
    /// The last round that has begun, from 1; 0 before the first.
    pub round: u32,
    /// The sum of the prizes; null until registration is closed.
    #[schema(required = true)]
    pub pool: Option<Coins>,
    /// The prizes from the first place; empty until registration is closed.
    pub prizes: Vec<Coins>,
    /// The `pool`, once it is fixed. Before, the pool of the present entrants, completed to the
    /// minimum of entrants, or to one entrant where house bots complete them.
    pub expected_pool: Coins,
    /// The prizes of the expected pool, from the first place.
    pub expected_prizes: Vec<Coins>,
    /// The stages of a tournament by rounds, in order; empty for an arena tournament.
    pub stages: Vec<TournamentStage>,
    /// The duration of an arena tournament, in seconds; null for others.
    #[schema(required = true)]
    pub duration_s: Option<u32>,
    /// The time after the start in which players may still register, in seconds.
    pub late_registration_s: u32,
    /// True while players may register.
    pub is_registration_open: bool,
    /// True if only players with a code may register.
    pub is_private: bool,
    /// True if a pass pays an entry instead of coins.
    pub accepts_passes: bool,
    /// The player's unused passes that pay an entry.
    pub passes: Vec<TournamentPass>,
    /// The time of the next round, or of the end of an arena tournament; null if none is fixed.
    #[schema(required = true)]
    pub next_at: Option<Time>,
    /// The first rows of the standings, at most three; empty before the start.
    pub leaders: Vec<TournamentStanding>,
    /// The SHA-256 of the seed of all draws, which the results show at the end.
    pub commitment: String,
    /// Null unless the player is registered.
    #[schema(required = true)]
    pub entry: Option<TournamentEntry>,
}

/// A stage of a tournament, which ends with a cut unless it is the last.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct TournamentStage {
    pub rounds: u32,
    /// The number of games of a round.
    pub games: u32,
    /// The number of players who advance; 0 in the last stage.
    pub advance: u32,
}

bahay_base::text_enum! {
    /// The state of a player's entry.
    #[derive(ToSchema)]
    pub enum EntryState {
        /// The price is not held yet.
        Pending = "pending",
        /// The player waits for the start.
        Registered = "registered",
        /// The player has a table.
        Playing = "playing",
        /// The player waits for the next round or pairing.
        Waiting = "waiting",
        /// The player of an arena tournament is not paired.
        Paused = "paused",
        /// The player lost at a cut.
        Eliminated = "eliminated",
        /// The tournament is over.
        Finished = "finished",
    }
}

/// The entry of a player.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TournamentEntry {
    pub state: EntryState,
    /// True if a pass pays the entry, and not coins.
    pub is_paid_by_pass: bool,
    /// The player's rank, from 1; null before the start.
    #[schema(required = true)]
    pub rank: Option<u32>,
    /// The player's score: hundredths of a point, or whole points in an arena tournament.
    pub score: i64,
    /// The number of games that have been scored.
    pub games: u32,
    /// The table at which the player plays, if any.
    #[schema(required = true)]
    pub table: Option<Uuid>,
    /// True if the player of an arena tournament is not paired (rule 4.5).
    pub is_paused: bool,
    /// The final place, from 1; null while games can change it.
    #[schema(required = true)]
    pub place: Option<u32>,
    /// The prize of the final place, which may be 0; null without a final place.
    #[schema(required = true)]
    pub prize: Option<Coins>,
    /// The amount that came back to the player when the tournament was cancelled; null otherwise.
    #[schema(required = true)]
    pub refund: Option<Coins>,
}

/// A player in the standings of a tournament.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TournamentStanding {
    /// The rank, from 1; equal scores share it. Null for a bot.
    #[schema(required = true)]
    pub rank: Option<u32>,
    pub player: Uuid,
    #[schema(example = "Benjie")]
    pub name: String,
    pub is_bot: bool,
    /// The score: hundredths of a point, or whole points in an arena tournament.
    pub score: i64,
    /// The number of games that have been scored.
    pub games: u32,
    /// True if the player takes no part in further rounds.
    pub is_eliminated: bool,
}

/// The lines of the list of results that follow from one line of the journal.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TournamentResults {
    /// The version of the journal, which increases; 0 for the announcement.
    pub version: i64,
    /// Objects with a `type` and the time `at` in ms, except the announcement's. Types may be added.
    #[schema(value_type = Vec<Object>)]
    pub results: Vec<Value>,
}

/// A finished game of a tournament.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TournamentGame {
    /// The id, by which its players may request the record.
    pub id: Uuid,
    pub table: Uuid,
    /// The round, from 1.
    pub round: u32,
    /// The number of the table in the round, from 1.
    pub table_number: u32,
    /// The number of the game at its table, from 1.
    pub number: u32,
    pub scores: Vec<TournamentScore>,
    pub finished_at: Time,
}

/// The result of a player in a game of a tournament.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TournamentScore {
    pub player: Uuid,
    /// The points, in hundredths; those of a game sum to zero.
    pub points: i64,
}
