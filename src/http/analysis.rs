//! A finished game judged by the house's strongest bot, for those who played it.
//!
//! An analysis takes up to a second or two of a processor. So one goes on at a time on a node, in a
//! thread of the lowest priority, some more wait, and a player asks for so many a minute. Answers
//! are kept for a while: the same game has the same answer.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use axum::Json;
use axum::extract::{FromRef, State};
use bahay_engine::seat::Seat;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::{Semaphore, oneshot};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::auth::Player;
use crate::db::PgPool;
use crate::edge::{Buckets, Rate};
use crate::ids::PlayerId;
use crate::records::Records;
use crate::replay::{GameReplay, JudgedStep, Unplayable};

use super::games::{number, record_of};
use super::{Code, Path, Problem, ProblemBody, Services};

/// The bot that judges, as in docs/BOTS.md.
const ENGINE: &str = "strong";

/// How many analyses wait on a node for the one that goes on.
const WAITING_MAX: usize = 4;

/// How many analyses a node keeps.
const KEPT_MAX: usize = 512;

/// How often a player asks for an analysis that a node does not have.
const ASKED_PER_PLAYER: Rate = Rate { per_second: 1, burst: 6 };

/// The lowest priority that Linux knows, of a thread that shares its processor.
const NICE: i32 = 19;

/// The decisions of one player in a game, as the bot judged them.
type Judged = Arc<[JudgedStep]>;

/// The analyses of this node. Clones share them.
#[derive(Clone, Debug)]
pub struct Analyses(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// Requests that are let in: the one at work and those that wait.
    places: Arc<Semaphore>,
    /// The request at work.
    turn: Arc<Semaphore>,
    asked: Buckets<PlayerId>,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    /// `None` where no bot judges.
    by_seat: HashMap<(Uuid, Seat), Option<Judged>>,
    /// The oldest first.
    order: VecDeque<(Uuid, Seat)>,
}

impl Default for Analyses {
    fn default() -> Self {
        Self(Arc::new(Inner {
            places: Arc::new(Semaphore::new(1 + WAITING_MAX)),
            turn: Arc::new(Semaphore::new(1)),
            asked: Buckets::new(ASKED_PER_PLAYER),
            kept: Mutex::default(),
        }))
    }
}

impl Analyses {
    /// Returns what the bot says of a player's decisions, from what is kept or by thinking.
    async fn judge(
        &self,
        player: PlayerId,
        game: Uuid,
        seat: Seat,
        record: Value,
    ) -> Result<Option<Judged>, Problem> {
        if let Some(known) = self.kept().by_seat.get(&(game, seat)) {
            return Ok(known.clone());
        }
        self.0.asked.take(player)?;
        let busy = || Code::AnalysisBusy.because("ask again in a moment");
        let place = self.0.places.clone().try_acquire_owned().map_err(|_| busy())?;
        let turn = self.0.turn.clone().acquire_owned().await.map_err(|_| busy())?;
        if let Some(known) = self.kept().by_seat.get(&(game, seat)) {
            // Found while this one waited.
            return Ok(known.clone());
        }
        let (answer, answered) = oneshot::channel();
        let analyses = self.clone();
        let think = move || {
            let judged = think(record, seat).map(|judged| judged.map(Judged::from));
            if let Ok(judged) = &judged {
                analyses.kept().keep((game, seat), judged.clone());
            }
            // Let go only now, whether or not somebody still waits.
            drop((place, turn));
            let _ = answer.send(judged);
        };
        let began = thread::Builder::new().name("analyst".into()).spawn(think);
        began.map_err(|error| Problem::unavailable(&error))?;
        let judged = answered.await.map_err(|_| Problem::internal(&"an analysis panicked"))?;
        judged.map_err(|error| Problem::internal(&error))
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn keep(&mut self, of: (Uuid, Seat), judged: Option<Judged>) {
        if self.by_seat.insert(of, judged).is_some() {
            return;
        }
        self.order.push_back(of);
        if self.order.len() > KEPT_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.by_seat.remove(&oldest);
        }
    }
}

fn think(record: Value, seat: Seat) -> Result<Option<Vec<JudgedStep>>, Unplayable> {
    if let Err(error) = rustix::process::nice(NICE) {
        tracing::warn!(%error, "an analysis has no lower priority");
    }
    GameReplay::of_value(record)?.analyze(seat)
}

impl FromRef<Services> for Analyses {
    fn from_ref(services: &Services) -> Self {
        services.analyses.clone()
    }
}

/// A finished game, as the house's strongest bot judges it for one player.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct GameAnalysis {
    game: Uuid,
    /// The player's seat.
    #[schema(maximum = 7)]
    seat: u8,
    /// The bot that judged; null where the house has none that judges this game by these rules.
    #[schema(required = true, example = "strong")]
    engine: Option<&'static str>,
    /// At most three decisions in which the bot prefers another action, by falling loss. None where
    /// it saw nothing better.
    items: Vec<AnalysisItem>,
}

/// A decision of the player, and what the bot would have done. Values are what a seat wins of the
/// others on average, less what it loses to them, in hundredths of a bet times the multiplier, before
/// the fee and without ante and POT: 150 is one and a half bets.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct AnalysisItem {
    /// The number of the step in `/steps` whose action it was.
    #[schema(minimum = 1, example = 12)]
    step: u64,
    /// The player's action: the schema `TongitsAction` of asyncapi.yaml.
    #[schema(value_type = Object)]
    action: Value,
    /// The bot's action, from what the seat had been shown.
    #[schema(value_type = Object)]
    advised: Value,
    /// The value of the action, in hundredths of a bet.
    #[schema(example = -120)]
    value: i64,
    /// The value of what the bot would have done, in hundredths of a bet.
    #[schema(example = -40)]
    advised_value: i64,
    /// How much better that is, in hundredths of a bet.
    #[schema(minimum = 1, example = 80)]
    loss: i64,
}

impl From<&JudgedStep> for AnalysisItem {
    fn from(judged: &JudgedStep) -> Self {
        let JudgedStep { step, action, advised, value, advised_value } = judged;
        Self {
            step: *step as u64,
            action: action.clone(),
            advised: advised.clone(),
            value: *value,
            advised_value: *advised_value,
            loss: advised_value - value,
        }
    }
}

/// Analyse one of my games
///
/// The house's strongest bot looks at each decision that the player took itself, from what its seat
/// had been shown by then and nothing else, and names at most three in which it would have done
/// something else that is better by more than the noise of its search. The same game has the same
/// answer. At Tong-its (`kingdom`, `relaxed`) and Tongo (assets); at other rules `engine` is null and
/// there are no items. Only for the players of the game; to everybody else it does not exist.
#[utoipa::path(
    get,
    path = "/v1/games/{id}/analysis",
    tag = "games",
    security(("access_token" = [])),
    params(("id" = Uuid, Path, description = "The game")),
    responses(
        (status = 200, description = "What the bot would have done otherwise", body = GameAnalysis),
        (status = 404, description = "`game_not_found`: there is no such game, or it was not yours",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "`game_not_finished` or `game_voided`: there is no record",
            body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "`analysis_busy`: others wait for theirs; ask again. \
            `archive_unreachable`, `timed_out`, `unavailable`",
            body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(super) async fn analyze_game(
    State(analyses): State<Analyses>,
    State(pool): State<PgPool>,
    State(records): State<Records>,
    player: Player,
    Path(id): Path<Uuid>,
) -> Result<Json<GameAnalysis>, Problem> {
    let caller = player.id;
    let (game, record) = record_of(&pool, &records, player, id).await?;
    let place = game.players.iter().position(|one| *one == caller);
    let seat = place.and_then(|place| u8::try_from(place).ok()).and_then(Seat::new);
    let seat = seat.ok_or_else(|| Problem::internal(&"a player of a game has no seat in it"))?;
    let judged = analyses.judge(caller, id, seat, record).await?;
    let engine = judged.is_some().then_some(ENGINE);
    let items = judged.iter().flat_map(|judged| judged.iter()).map(AnalysisItem::from).collect();
    Ok(Json(GameAnalysis { game: id, seat: number(seat), engine, items }))
}

#[cfg(test)]
mod tests {
    use super::{ASKED_PER_PLAYER, Analyses, Code, KEPT_MAX, Kept, PlayerId, Seat};
    use serde_json::Value;
    use uuid::Uuid;

    #[tokio::test]
    async fn a_player_asks_for_so_many_analyses_and_others_for_theirs() {
        let analyses = Analyses::default();
        let [player, other] = [1, 2].map(|id| PlayerId(Uuid::from_u128(id)));
        let ask = async |player: PlayerId, game: u32| {
            let game = Uuid::from_u128(game.into());
            let seat = Seat::new(0).unwrap();
            analyses.judge(player, game, seat, Value::Null).await.unwrap_err().code
        };
        let mut refused = 0;
        // A token may have come back meanwhile.
        for game in 0..10 * ASKED_PER_PLAYER.burst {
            refused += u32::from(ask(player, game).await == Code::TooManyRequests);
        }
        assert!(refused > 0);
        assert_eq!(ask(other, 0).await, Code::Internal, "no record");
    }

    #[test]
    fn the_oldest_analyses_are_forgotten() {
        let mut kept = Kept::default();
        let seat = Seat::new(0).unwrap();
        let of = |game: usize| (Uuid::from_u128(game as u128), seat);
        for game in 0..=KEPT_MAX {
            kept.keep(of(game), None);
            kept.keep(of(game), None);
        }
        assert_eq!((kept.by_seat.len(), kept.order.len()), (KEPT_MAX, KEPT_MAX));
        assert!(!kept.by_seat.contains_key(&of(0)) && kept.by_seat.contains_key(&of(KEPT_MAX)));
    }
}
