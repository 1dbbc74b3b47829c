//! Temporary.
use bahay_engine::game::{Game, Turn, Viewer};
use bahay_engine::games::tongo_options::*;
use bahay_engine::testing::Dice as D;
use std::collections::BTreeMap;
const PLACES: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
#[test]
fn diag() {
    let games: u64 = std::env::var("G").ok().and_then(|t| t.parse().ok()).unwrap_or(1000);
    for (name, rules) in [("lively", Rules::lively()), ("seed", Rules::seed())] {
        let mut count: BTreeMap<String, (u32, u32)> = BTreeMap::new();
        let mut rounds = 0u32;
        for seed in 0..games {
            let places = PLACES[(seed % 6) as usize];
            let mut dice = D::new(seed);
            let mut game = TongoOptions::new(&rules, 4, None);
            let (mut events, mut actions) = (Vec::new(), Vec::new());
            let mut notes: Vec<String> = vec![];
            loop {
                events.clear();
                game = match game.turn() {
                    Turn::Over => break,
                    Turn::Wait(_) => unreachable!(),
                    Turn::Chance(r) => game.resolve(&dice.answer(r), &mut events),
                    Turn::Players(p) => {
                        let seat = p.seats.iter().next().unwrap();
                        let bot = places.contains(&seat.index());
                        let action = if bot {
                            TongoOptions::advise(&game.view(Viewer::Seat(seat))).unwrap()
                        } else {
                            actions.clear();
                            game.legal_actions(seat, &mut actions);
                            *dice.choose(&actions).unwrap()
                        };
                        let who = if bot { "B" } else { "R" };
                        if std::env::var("SHOW").is_ok() && seed < 6 {
                            println!(
                                "{seed} {who}{seat} r{} risk {} pot {} hand {} {action:?}",
                                game.public().round,
                                game.public().risk(),
                                game.public().pot,
                                game.hands()[seat.index()]
                            );
                        }
                        match action {
                            Action::Fold => notes.push(format!(
                                "{who} fold {}",
                                match game.public().phase {
                                    Phase::Challenge(c) =>
                                        if c.target.is_some() {
                                            "join"
                                        } else {
                                            "acq"
                                        },
                                    Phase::Turn(_) =>
                                        if game.public().reserves.is_some() {
                                            "res"
                                        } else {
                                            "turn"
                                        },
                                    _ => "?",
                                }
                            )),
                            Action::Acquire => notes.push(format!("{who} acquires")),
                            Action::Confront { target: Some(_) } => {
                                notes.push(format!("{who} confronts"))
                            }
                            Action::ConvertReserves => notes.push(format!("{who} converts")),
                            _ => {}
                        }
                        game.act(seat, &action, &mut events).unwrap()
                    }
                };
            }
            let end = game.public().end.unwrap();
            rounds += u32::from(game.public().round);
            let won = places.contains(&end.winner.index());
            let last: Vec<_> = notes
                .iter()
                .filter(|n| {
                    n.contains("acquires") || n.contains("confronts") || n.contains("converts")
                })
                .take(1)
                .collect();
            let e = count.entry(format!("{:?} {:?}", end.ending, last)).or_default();
            if won {
                e.0 += 1
            } else {
                e.1 += 1
            }
            for n in notes {
                if !won {
                    count.entry(format!("LOST with {n}")).or_default().1 += 1;
                }
            }
        }
        println!("{name} rounds {rounds}");
        for (k, v) in count {
            println!("  {k}: won {} lost {}", v.0, v.1);
        }
    }
}
