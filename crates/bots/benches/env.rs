//! Steps of games for learning programs in one process: alone, with a tensor for each, and
//! requested in lines, many games at once. `./dev env bench` measures the overhead of the pipe.
//! `./dev bench` prints this with the other benchmarks, `cargo bench -p bahay-engine --bench env`
//! without instructions.

#[path = "../../engine/benches/rows/mod.rs"]
mod rows;

use std::hint::black_box;

use bahay_bots::Ai;
use bahay_bots::gym::{Env, EnvSettings, TensorForm, open_protocol};
use bahay_engine::game::GameRules;
use bahay_engine::games::tongits::Tongits;
use bahay_engine::games::tongo_assets::TongoAssets;
use bahay_engine::games::tongo_options::TongoOptions;
use bahay_engine::spaces::{Spaces, Tensor, tensor_len};
use bahay_engine::testing::TestRng;

use rows::Rows;

const GAMES: u64 = 40;
const SIDE_BY_SIDE: usize = 256;
/// The lines of a round; each is a step of every game.
const LINES: usize = 20;

fn main() {
    let rows = Rows::new("games for programs that learn");
    report::<Tongits>(&rows);
    report::<TongoOptions>(&rows);
    report::<TongoAssets>(&rows);
}

fn report<G: Ai + Spaces + 'static>(rows: &Rows) {
    let title = G::TITLE;
    rows.round(&format!("{title}, a step"), || steps::<G>(false));
    rows.round(&format!("{title}, a step and its tensor"), || steps::<G>(true));
    let seen = views::<G>();
    rows.each(&format!("{title}, a tensor"), &seen, |view| {
        let mut tensor = Vec::with_capacity(tensor_len::<G>());
        G::write_tensor(view, &mut Tensor(&mut tensor));
        tensor
    });
    rows.bytes(&format!("{title}, a tensor"), size_of::<i16>() * tensor_len::<G>());
    for (form, name) in [(TensorForm::None, "without tensors"), (TensorForm::Hex, "with tensors")] {
        rows.round(&format!("{title}, a step in a line of 256, {name}"), || lines::<G>(form));
    }
}

/// Plays random games, the same each time. Returns the number of steps.
fn steps<G: Ai + Spaces>(has_tensor: bool) -> u64 {
    let rules = (G::rule_sets()[0].rules)();
    let mut env = Env::<G>::new(rules.clone(), rules.seats().least, 0);
    let (mut dice, mut numbers, mut tensor) = (TestRng::new(1), Vec::new(), Vec::new());
    let mut steps = 0;
    for seed in 0..GAMES {
        env.reset(seed);
        while let Some(seat) = env.seat_to_act() {
            numbers.clear();
            numbers.extend(env.legal_actions().filter_map(|(_, number)| number));
            let number = *dice.choose(&numbers).expect("something is legal");
            env.play_number(number).expect("it is legal");
            if has_tensor {
                tensor.clear();
                env.write_tensor(seat, &mut tensor);
                black_box(&tensor);
            }
            steps += 1;
        }
    }
    steps
}

/// Returns the views at the first steps of random games.
fn views<G: Ai + Spaces>() -> Vec<G::View> {
    let rules = (G::rule_sets()[0].rules)();
    let (mut dice, mut views) = (TestRng::new(1), Vec::new());
    for seed in 0..GAMES {
        let mut env = Env::<G>::new(rules.clone(), rules.seats().least, seed);
        for _ in 0..20 {
            let Some(view) = env.view() else { break };
            views.push(view.clone());
            let numbers: Vec<u16> = env.legal_actions().filter_map(|(_, number)| number).collect();
            let number = *dice.choose(&numbers).expect("something is legal");
            env.play_number(number).expect("it is legal");
        }
    }
    views
}

/// Plays steps by requests, including their serialisation.
fn lines<G: Ai + Spaces + 'static>(tensor: TensorForm) -> u64 {
    let set = &G::rule_sets()[0];
    let (rules, rule_set) = ((set.rules)(), set.name.to_owned());
    let seats = rules.seats().least;
    let setting = EnvSettings { rules, rule_set, seats, games: SIDE_BY_SIDE, tensor };
    let mut talk = open_protocol::<G>(setting).expect("there are as many games as may be");
    let (mut dice, mut steps) = (TestRng::new(1), 0);
    let mut items: Vec<String> = (0..SIDE_BY_SIDE).map(|game| seed(game as u64)).collect();
    let mut answer = String::new();
    for line in 1..=LINES {
        let request = format!("{{\"do\":\"batch\",\"games\":[{}]}}", items.join(","));
        answer.clear();
        talk.answer_line(request.as_bytes(), &mut answer);
        let legal = answer.split_once("\"legal\":[[").expect("a batch was answered").1;
        let legal = legal.split_once("]]").expect("lists end").0;
        for (game, legal) in legal.split("],[").enumerate() {
            let numbers: Vec<&str> = legal.split(',').filter(|it| !it.is_empty()).collect();
            items[game] = match dice.choose(&numbers) {
                Some(number) => (*number).to_owned(),
                None => seed((line * SIDE_BY_SIDE + game) as u64),
            };
            steps += u64::from(!numbers.is_empty());
        }
    }
    steps
}

fn seed(seed: u64) -> String {
    format!("{{\"seed\":{seed}}}")
}
