//! The public evidence of fair dealing, which requires no sign-in.

use bahay_base::clock::BoundedDate;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::PageQuery;
use crate::operation::operations;
use crate::values::{IdText, Time};

operations! {
    /// Show how a game was dealt
    ///
    /// Requires no sign-in. Shows the commitment that was published before the deal, the seeds, and
    /// the steps of verification. Available once the game is over; the deal of a voided game is not
    /// shown, and that of a duplicate's game only when the round is over at all tables.
    SHOW_FAIRNESS = Get "/v1/games/{id}/fairness", Games, Anyone {
        path id: IdText = "The game",
        200 json Fairness: "The deal, with the steps of verification",
        refuses GameNotFound GameVoided ArchiveUnreachable,
    }

    /// Show how many games were voided
    ///
    /// Requires no sign-in. Shows whether the house voids deals that it dislikes. A game is opened
    /// before the first client reveals its seed (rule 9.1a). Every commitment of the house whose
    /// clients were asked for their seeds is therefore among the opened games, and one that was
    /// never dealt is among the games that were voided or have not ended. Counted once an hour.
    SHOW_DEALS = Get "/v1/fairness", Games, Anyone {
        200 json DealsReport: "The counts of games",
    }

    /// List the commitments that were never revealed
    ///
    /// Requires no sign-in. Lists the house's commitments of two sorts of games: those that were
    /// voided, and those that were opened more than an hour ago and have not ended (rule 9.1a).
    /// Each of these games had been opened and so had asked its clients for their seeds. Newest
    /// first. Compare the list with the commitments that your client was shown.
    LIST_UNREVEALED_COMMITMENTS = Get "/v1/fairness/commitments", Games, Anyone {
        query PageQuery<UnrevealedFilter>,
        200 page UnrevealedBody: "A page of commitments",
    }
}

/// The deal of a finished game, with everything that is needed to verify it.
#[derive(Debug, Serialize, ToSchema)]
pub struct Fairness {
    pub game: Uuid,
    /// The id in the key of the deal: the game's, or the tournament's if all tables of a duplicate's
    /// round have played the deal.
    pub deal_id: Uuid,
    /// The game's kind.
    #[schema(example = "tongits")]
    pub kind: String,
    #[schema(example = "bahay/engine/v1")]
    pub engine: String,
    /// The SHA-256 of the server's seed, in hexadecimal, as the table showed it with `preparing`
    /// before it knew any client's seed.
    #[schema(
        pattern = "^[0-9a-f]{64}$",
        example = "9985b2e4b9b71b28ce59ea5ce77f0b110637b625c6d7f41e982c9510940a2056"
    )]
    pub commitment: String,
    /// The server's seed, which was secret until the game was over.
    #[schema(
        pattern = "^[0-9a-f]{64}$",
        example = "5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e"
    )]
    pub server_seed: String,
    /// The contributions of the clients, by seat.
    pub clients: Vec<ClientContribution>,
    /// The seat that began because of an earlier win; null if chance decided.
    #[schema(required = true, maximum = 7)]
    pub starter: Option<u8>,
    /// The outcomes of chance, in order. The deck of a card game is one of them.
    pub chance: Vec<ChanceOutcome>,
    /// The steps of verification.
    pub how_to_verify: Vec<&'static str>,
}

/// The contribution of one client to a deal.
#[derive(Debug, Serialize, ToSchema)]
pub struct ClientContribution {
    /// The commitment that the client sent with `ready`, shown to all before the first text was
    /// asked for; zeros for a client that took no part.
    #[schema(
        pattern = "^[0-9a-f]{64}$",
        example = "2628609eb0a2dc24983f986277ec63d43024eaa83a4b1814fdfbe7f960d8f95c"
    )]
    pub commitment: String,
    /// The text that the client revealed when all were ready; null if it revealed none.
    #[schema(required = true, max_length = 256, example = "luck")]
    pub text: Option<String>,
    /// The seed that entered the deal.
    #[schema(
        pattern = "^[0-9a-f]{64}$",
        example = "a7a45ea923c6229b341e2d21ff8fde3a4ca180f38c920a479dcfb7679389841b"
    )]
    pub seed: String,
}

/// One outcome of chance.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChanceOutcome {
    /// A number below the bound that was asked for.
    Number(u32),
    /// A permutation of items that are numbered from 0.
    Order(Vec<u8>),
}

/// Counts of opened, settled and voided games, up to a full hour.
#[derive(Debug, Serialize, ToSchema)]
pub struct DealsReport {
    /// The end of the last hour that is counted.
    pub to: Time,
    /// The last day, the last week, and the last thirty days.
    pub spans: Vec<DealsSpan>,
    /// The number of games that were opened more than an hour before `to` and are neither settled
    /// nor voided.
    #[schema(minimum = 0, example = 0)]
    pub games_unended: i64,
}

/// The counts of the hours before `to`. A game counts in each span in which it was opened, and
/// again in each in which it was settled or voided.
#[derive(Debug, Serialize, ToSchema)]
pub struct DealsSpan {
    #[schema(minimum = 1, example = 24)]
    pub hours: i64,
    #[schema(minimum = 0, example = 12_480)]
    pub games_opened: i64,
    /// Games played to their end; each has a record that anybody can verify.
    #[schema(minimum = 0, example = 12_471)]
    pub games_settled: i64,
    /// Games that ended without a settlement, with all coins returned. This includes games for
    /// which seeds were requested but which were never dealt.
    #[schema(minimum = 0, example = 3)]
    pub games_voided: i64,
    /// The number of voided games per million that ended; null if none ended.
    #[schema(required = true, minimum = 0, maximum = 1_000_000, example = 240)]
    pub voided_per_million: Option<i64>,
}

/// Selects commitments that were never revealed.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct UnrevealedFilter {
    /// A day of UTC: the day on which the games were voided, or were opened if they have not ended.
    /// Defaults to today.
    #[param(value_type = Option<String>, format = Date, example = "2026-03-01")]
    pub date: Option<BoundedDate>,
    /// Restricts the list to one table.
    pub table: Option<Uuid>,
}

/// A commitment of the house whose seed was never revealed.
#[derive(Debug, Serialize, ToSchema)]
pub struct UnrevealedBody {
    pub game: Uuid,
    pub table: Uuid,
    /// The game's kind.
    #[schema(example = "tongits")]
    pub kind: String,
    /// The SHA-256 of the house's seed, in hexadecimal, as the table showed it with `preparing`.
    #[schema(
        pattern = "^[0-9a-f]{64}$",
        example = "9985b2e4b9b71b28ce59ea5ce77f0b110637b625c6d7f41e982c9510940a2056"
    )]
    pub commitment: String,
    pub opened_at: Time,
    /// Null if the game has not ended.
    #[schema(required = true)]
    pub voided_at: Option<Time>,
}
