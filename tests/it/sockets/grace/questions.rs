//! The kinds of prompts of each game, rooms in which all of them occur, and a choice of actions
//! that makes them occur soon.

use bahay::lobby::Room;
use bahay_engine::catalog::{AnyAction, AnyGame, AnyRules};
use bahay_engine::chance::ChanceRng;
use bahay_engine::coins::Coins;
use bahay_engine::game::{Game as _, Skill};
use bahay_engine::games::{tongits, tongo_assets, tongo_options};
use bahay_engine::seat::Seat;
use bahay_engine::table::{Price, Spectators, Terms};

use crate::support::house::unhurried_clocks;

/// The length of every countdown, in milliseconds. About half of all interruptions end before the
/// AI answers.
pub(super) const COUNTDOWN_MS: u32 = 6_000;

/// A room, its number of seats, and the kinds of prompts of its game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RoomPlan {
    pub(super) room: &'static str,
    pub(super) seats: usize,
    /// Every kind of prompt, as [`prompt_kind`] names them.
    pub(super) kinds: &'static [&'static str],
}

pub(super) const TONGITS: RoomPlan =
    RoomPlan { room: "tongits", seats: 3, kinds: &["draw", "play", "fight"] };

pub(super) const OPTIONS: RoomPlan = RoomPlan {
    room: "options",
    seats: 3,
    kinds: &["stop", "turn", "stand", "join", "acquisition", "reserves"],
};

pub(super) const ASSETS: RoomPlan = RoomPlan {
    room: "assets",
    seats: 4,
    kinds: &["open", "risk", "assess", "confront", "last_answer", "debt", "bribe"],
};

/// Returns the kind of the prompt of this seat.
pub(super) fn prompt_kind(game: &AnyGame, seat: Seat) -> &'static str {
    match game {
        AnyGame::Tongits(game) => match game.public().phase {
            tongits::Phase::Draw { .. } => "draw",
            tongits::Phase::Play { .. } => "play",
            _ => "fight",
        },
        AnyGame::TongoOptions(game) => match game.public().phase {
            tongo_options::Phase::Stop { .. } => "stop",
            tongo_options::Phase::Turn(turn) => {
                let is_wagering = game.public().reserves.is_some() && turn.wager.is_none();
                if is_wagering { "reserves" } else { "turn" }
            }
            tongo_options::Phase::Challenge(challenge) => match challenge.target {
                None => "acquisition",
                Some(target) if target == seat => "stand",
                Some(_) => "join",
            },
            other => panic!("no seat is prompted: {other:?}"),
        },
        AnyGame::TongoAssets(game) if game.public().offer.is_some() => "bribe",
        AnyGame::TongoAssets(game) => match game.public().phase {
            tongo_assets::Phase::Open { .. } => "open",
            tongo_assets::Phase::Risk { .. } => "risk",
            tongo_assets::Phase::Assess { .. } => "assess",
            tongo_assets::Phase::Confront { seat, confronter } if seat == confronter => {
                "last_answer"
            }
            tongo_assets::Phase::Confront { .. } => "confront",
            tongo_assets::Phase::Debts { .. } => "debt",
            other => panic!("no seat is prompted: {other:?}"),
        },
        _ => panic!("the tests do not play this game"),
    }
}

/// Chooses an action that makes every kind of prompt occur; without one, returns the AI's advice.
pub(super) fn choose_action(
    game: &AnyGame,
    seat: Seat,
    advice: AnyAction,
    dice: &mut ChanceRng,
) -> AnyAction {
    let mut legal = Vec::new();
    game.legal_actions(seat, &mut legal);
    let wanted = match game {
        AnyGame::Tongits(game) => {
            let melds = &game.public().melds;
            let is_answered = seat.others(tongits::SEATS).any(|other| melds.is_open(other));
            let fight = AnyAction::Tongits(tongits::Action::Fight);
            legal.iter().find(|action| is_answered && **action == fight)
        }
        AnyGame::TongoOptions(game) => {
            let wanted = options_predicate(game, dice);
            legal
                .iter()
                .find(|action| matches!(action, AnyAction::TongoOptions(action) if wanted(action)))
        }
        AnyGame::TongoAssets(game) => {
            let wanted = assets_predicates(game, seat, dice);
            let find = |wanted: &fn(&tongo_assets::Action) -> bool| {
                legal.iter().find(
                    |action| matches!(action, AnyAction::TongoAssets(action) if wanted(action)),
                )
            };
            wanted.iter().find_map(find)
        }
        _ => None,
    };
    wanted.cloned().unwrap_or(advice)
}

/// Returns a predicate for challenges of every kind, some of which are answered.
fn options_predicate(
    game: &tongo_options::TongoOptions,
    dice: &mut ChanceRng,
) -> fn(&tongo_options::Action) -> bool {
    use tongo_options::{Action, Phase};
    match (game.public().phase, dice.below(3)) {
        (Phase::Turn(turn), _) if game.public().reserves.is_some() => match turn.wager {
            Some(_) => |action| *action == Action::End,
            None => |action| *action == Action::ConvertReserves,
        },
        (Phase::Turn(_), 0) => |action| matches!(action, Action::Confront { .. }),
        (Phase::Turn(_), 1) => |action| *action == Action::Acquire,
        (Phase::Turn(_), _) => |action| *action == Action::ConvertReserves,
        (Phase::Challenge(_), 0) => {
            |action| matches!(action, Action::Stand | Action::Join | Action::Confront { .. })
        }
        (Phase::Challenge(_), _) => |action| matches!(action, Action::Stand | Action::Fold),
        _ => |_| false,
    }
}

/// A predicate of a legal action.
type ActionPredicate = fn(&tongo_assets::Action) -> bool;

/// Returns predicates, in order of preference, for hands of seven cards, confronts, margins, bribes
/// and retreats.
fn assets_predicates(
    game: &tongo_assets::TongoAssets,
    seat: Seat,
    dice: &mut ChanceRng,
) -> Vec<ActionPredicate> {
    use tongo_assets::{Action, Phase};
    let public = game.public();
    let pay: ActionPredicate = |action| *action == Action::Pay;
    let mut wanted: Vec<ActionPredicate> = Vec::new();
    if public.offer.is_some() {
        wanted.push(|action| *action == Action::Refuse);
        return wanted;
    }
    if dice.below(6) == 0 {
        wanted.push(|action| matches!(action, Action::Bribe { chips: 1.., .. }));
    }
    match (public.phase, dice.below(4)) {
        (Phase::Assess { .. }, _) => {
            wanted.push(|action| *action == Action::Confront);
            wanted.push(|action| {
                matches!(action, Action::Purchase { discard: None, free: false, .. })
            });
            wanted.push(|action| *action == Action::Done);
        }
        (Phase::Confront { confronter, .. }, 0 | 1) if confronter != seat => {
            wanted.push(|action| matches!(action, Action::Index { .. }));
        }
        (Phase::Confront { confronter, .. }, 2) if confronter != seat => {
            wanted.push(|action| *action == Action::Retreat);
        }
        _ => {}
    }
    wanted.push(pay);
    wanted
}

/// Returns a room for each game, with countdowns of [`COUNTDOWN_MS`] and rules that permit all
/// kinds of prompts.
pub(super) fn rooms() -> Vec<Room> {
    let tongits = tongits::Rules {
        countdowns: tongits::Countdowns {
            draw_ms: COUNTDOWN_MS,
            play_ms: COUNTDOWN_MS,
            fight_ms: COUNTDOWN_MS,
        },
        ..tongits::Rules::kingdom()
    };
    let options = tongo_options::Rules {
        seats_min: 3,
        seats_max: 3,
        countdowns: tongo_options::Countdowns {
            stop_ms: COUNTDOWN_MS,
            turn_ms: COUNTDOWN_MS,
            answer_ms: COUNTDOWN_MS,
        },
        ..tongo_options::Rules::seed()
    };
    let assets = tongo_assets::Rules {
        margins: true,
        bribes: true,
        confront_all_rounds: 0,
        countdowns: tongo_assets::Countdowns {
            risk_ms: COUNTDOWN_MS,
            assess_ms: COUNTDOWN_MS,
            answer_ms: COUNTDOWN_MS,
        },
        ..tongo_assets::Rules::personal()
    };
    vec![
        build_room(TONGITS, "kingdom", AnyRules::Tongits(tongits)),
        build_room(OPTIONS, "seed", AnyRules::TongoOptions(options)),
        build_room(ASSETS, "personal", AnyRules::TongoAssets(assets)),
    ]
}

fn build_room(plan: RoomPlan, rule_set: &'static str, rules: AnyRules) -> Room {
    let terms = Terms {
        room: plan.room.to_owned(),
        rules,
        price: Price { bet: Coins::from_hundredths(2), multiplier: 1, fee_basis_points: 500 },
        hits: None,
        clocks: unhurried_clocks(),
        spectators: Spectators::Nobody,
        bots: Skill::default(),
        private: None,
        practice: false,
        tournament: None,
    };
    Room::new(plan.room, rule_set, terms).expect("the room's amounts are in range")
}
