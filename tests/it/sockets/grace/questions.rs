//! The kinds of questions of each game, rooms where they are all asked, and players who see to it that
//! they are asked soon.

use bahay::lobby::Room;
use bahay_engine::catalog::{AnyAction, AnyGame, AnyRules};
use bahay_engine::chance::ChanceRng;
use bahay_engine::coins::Coins;
use bahay_engine::game::{Game as _, Skill};
use bahay_engine::games::{tongits, tongo_assets, tongo_options};
use bahay_engine::seat::Seat;
use bahay_engine::table::{Clocks, Price, Spectators, Terms};

/// Every countdown, so that about half of all cuts end before the AI answers.
pub(super) const COUNTDOWN_MS: u32 = 6_000;

/// What is played in a room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Played {
    pub(super) room: &'static str,
    pub(super) seats: usize,
    /// Every kind of question, as [`kind`] names them.
    pub(super) kinds: &'static [&'static str],
}

pub(super) const TONGITS: Played =
    Played { room: "tongits", seats: 3, kinds: &["draw", "play", "fight"] };

pub(super) const OPTIONS: Played = Played {
    room: "options",
    seats: 3,
    kinds: &["stop", "turn", "stand", "join", "acquisition", "reserves"],
};

pub(super) const ASSETS: Played = Played {
    room: "assets",
    seats: 4,
    kinds: &["open", "risk", "assess", "confront", "last_answer", "debt", "bribe"],
};

/// What this seat is asked.
pub(super) fn kind(game: &AnyGame, seat: Seat) -> &'static str {
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
            other => panic!("nobody is asked: {other:?}"),
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
            other => panic!("nobody is asked: {other:?}"),
        },
        _ => panic!("no such game is played here"),
    }
}

/// What a player does, beside what the AI advises, so that every kind of question comes up.
pub(super) fn choose(
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
            let wanted = option(game, dice);
            let is_wanted = |action: &&AnyAction| matches!(action, AnyAction::TongoOptions(action) if wanted(action));
            legal.iter().find(is_wanted)
        }
        AnyGame::TongoAssets(game) => {
            let wanted = asset(game, seat, dice);
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

/// Challenges of every kind, which are answered or not.
fn option(
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

/// An action that is looked for among the legal ones.
type Wanted = fn(&tongo_assets::Action) -> bool;

/// Hands of seven at once, confronts, margins, bribes and retreats; the first that is legal counts.
fn asset(game: &tongo_assets::TongoAssets, seat: Seat, dice: &mut ChanceRng) -> Vec<Wanted> {
    use tongo_assets::{Action, Phase};
    let public = game.public();
    let pay: Wanted = |action| *action == Action::Pay;
    let mut wanted: Vec<Wanted> = Vec::new();
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

/// A room for each game, with countdowns of [`COUNTDOWN_MS`] and all questions in reach.
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
        room(TONGITS, "kingdom", AnyRules::Tongits(tongits)),
        room(OPTIONS, "seed", AnyRules::TongoOptions(options)),
        room(ASSETS, "personal", AnyRules::TongoAssets(assets)),
    ]
}

fn room(played: Played, rule_set: &'static str, rules: AnyRules) -> Room {
    let terms = Terms {
        room: played.room.to_owned(),
        rules,
        price: Price { bet: Coins::from_hundredths(2), multiplier: 1, fee_basis_points: 500 },
        hits: None,
        // Nobody loses a seat while others are busy.
        clocks: Clocks { prepare_ms: 120_000, absence_ms: 120_000, ..Clocks::default() },
        spectators: Spectators::Nobody,
        bots: Skill::default(),
        private: None,
        practice: false,
    };
    Room::new(played.room, rule_set, terms).expect("amounts that fit")
}
