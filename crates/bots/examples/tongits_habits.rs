//! Fits the habits of `greedy` and `quick` players of Tong-its, as `games/tongits/habit_tables.rs`
//! holds them.
//!
//! `cargo run --release -p bahay-bots --example tongits_habits -- GAMES` prints the parameters.
#![expect(clippy::float_arithmetic, reason = "probabilities are fitted; no coins are involved")]
#![expect(clippy::cast_possible_truncation, reason = "the numbers are clamped")]

use std::cell::RefCell;
use std::env;
use std::rc::Rc;

use bahay_bots::Ai;
use bahay_bots::arena::play_game;
use bahay_bots::search::{Bot, BotPrompt};
use bahay_bots::tongits::{
    DEADWOODS, DUMP_WEIGHTS, GAINS, Neighbours, STAGES, TRAITS, deadwood_bucket, gain_bucket, stage,
};
use bahay_engine::cards::CardSet;
use bahay_engine::chance::{self, Key};
use bahay_engine::game::{Game, Skill};
use bahay_engine::games::tongits::{
    Action, Phase, Rules, SEATS, Tongits, deadwood, for_each_meld, has_secret,
};
use bahay_engine::hex::Hex;
use bahay_engine::seat::Seat;
use bahay_engine::variants;

/// A dump: the traits of each card that might have been dumped, the dumped one first.
type Dump = Vec<[usize; TRAITS]>;

#[derive(Default)]
struct HabitCounts {
    dumps: Vec<Dump>,
    /// Melds kept and laid, indexed as `Habits::keeps_meld`.
    melds: [[[[f64; 2]; 2]; 2]; STAGES],
    addable: [f64; 2],
    /// Chows declined and taken.
    chows: [[[f64; 2]; GAINS]; 2],
    /// Fights declined and called.
    fights: [[[[f64; 2]; DEADWOODS]; 3]; STAGES],
}

struct WatchedBot {
    skill: Skill,
    counts: Rc<RefCell<[HabitCounts; 2]>>,
    has_laid: bool,
}

impl Bot<Tongits> for WatchedBot {
    fn choose_action(&mut self, prompt: &BotPrompt<'_, Tongits>) -> Action {
        let view = prompt.view;
        let action =
            Tongits::choose_action_with_skill(self.skill, view).expect("the seat is to act");
        let public = &view.public;
        let hand = view.hand().expect("a hand is dealt");
        let is_open = usize::from(public.melds.is_open(prompt.seat));
        let time = stage(public.stock_count);
        let counts = &mut self.counts.borrow_mut()[usize::from(self.skill == Skill::Quick)];
        if let Phase::Draw { fight_blocked, .. } = public.phase {
            self.has_laid = false;
            let may_fight = is_open == 1 && !fight_blocked;
            if may_fight {
                let others = prompt.seat.others(SEATS);
                let open = others.filter(|other| public.melds.is_open(*other)).count();
                let step = deadwood_bucket(deadwood(hand));
                counts.fights[time][open][step][usize::from(action == Action::Fight)] += 1.0;
            }
            let mut legal = Vec::new();
            Tongits::legal_in_view(view, &mut legal);
            let could = legal.iter().any(|action| matches!(action, Action::Chow { .. }));
            if let Some(discard) = public.discards.top()
                && could
                && action != Action::Fight
            {
                let chowed = matches!(action, Action::Chow { .. });
                let gain = gain_bucket(hand, discard);
                counts.chows[is_open][gain][usize::from(chowed)] += 1.0;
            }
        }
        match action {
            Action::Drop { .. } => {
                let secret = usize::from(has_secret(hand, public.rules.secret_run_min));
                counts.melds[time][is_open][secret][1] += 1.0;
                self.has_laid = true;
            }
            Action::Sapaw { .. } => counts.addable[1] += 1.0,
            Action::Dump { card } => {
                let on_table = public.melds.additions();
                let seen = public.discards.cards().iter().copied().collect::<CardSet>();
                let seen = seen.union(public.melds.cards());
                let neighbours = Neighbours::new(hand, seen, public.stock_count, is_open == 1);
                let traits = |card| neighbours.traits_of(card);
                let others = hand.difference(on_table).without(card);
                let dump = std::iter::once(card).chain(others.iter()).map(traits).collect();
                counts.dumps.push(dump);
                let left: CardSet = hand.without(card);
                if has_meld(left) && !self.has_laid {
                    let secret = usize::from(has_secret(left, public.rules.secret_run_min));
                    counts.melds[time][is_open][secret][0] += 1.0;
                }
                counts.addable[0] += left.intersection(on_table).len() as f64;
                self.has_laid = false;
            }
            variants!(Action: Draw, Chow, Fight, Tongits, Challenge, Fold) => {}
        }
        action
    }
}

fn has_meld(hand: CardSet) -> bool {
    let mut found = false;
    for_each_meld(hand, |_| found = true);
    found
}

fn main() {
    let games: u64 = env::args().nth(1).map_or(3_000, |text| text.parse().expect("a number"));
    let counts: Rc<RefCell<[HabitCounts; 2]>> = Rc::default();
    for number in 0..games {
        let mut bots: Vec<Box<dyn Bot<Tongits>>> = Seat::all(SEATS)
            .map(|seat| {
                let skill = if (u64::from(seat.number()) + number) % 2 == 0 {
                    Skill::Greedy
                } else {
                    Skill::Quick
                };
                let counts = Rc::clone(&counts);
                Box::new(WatchedBot { skill, counts, has_laid: false }) as Box<dyn Bot<Tongits>>
            })
            .collect();
        let mut key = [0; 32];
        key[..8].copy_from_slice(&number.to_le_bytes());
        key[31] = 9;
        play_game(&Rules::kingdom(), &mut bots, &mut chance::ChanceRng::new(Key(Hex(key))));
    }
    for (counts, skill) in counts.take().iter().zip(["GREEDY", "QUICK"]) {
        print_habits(counts, skill, games);
    }
}

fn print_habits(counts: &HabitCounts, skill: &str, games: u64) {
    let mut weights = [0.0_f64; DUMP_WEIGHTS];
    let mut squares = [1e-6_f64; DUMP_WEIGHTS];
    let mut lost = 0.0;
    for round in 0..8 {
        lost = 0.0;
        for dump in &counts.dumps {
            let log_weight =
                |one: &[usize; TRAITS]| one.iter().map(|place| weights[*place]).sum::<f64>();
            let scores: Vec<f64> = dump.iter().map(|one| log_weight(one).exp()).collect();
            let sum: f64 = scores.iter().sum();
            lost -= (scores[0] / sum).ln();
            for (place, (one, score)) in dump.iter().zip(&scores).enumerate() {
                let more = f64::from(u8::from(place == 0)) - score / sum;
                for place in one {
                    squares[*place] += more * more;
                    weights[*place] += 0.15 / f64::from(round + 1) * more / squares[*place].sqrt();
                }
            }
        }
    }
    let count = counts.dumps.len() as f64;
    let unknown = counts.dumps.iter().map(|dump| (dump.len() as f64).ln()).sum::<f64>();
    println!(
        "/// Fitted to {games} games with {} dumps; the mean loss per dump is {:.2} nats, and \
         {:.2} nats\n/// for a uniform choice.",
        counts.dumps.len(),
        lost / count,
        unknown / count
    );
    let whole = |of: f64| (of * 64.0).round().clamp(-512.0, 512.0) as i32;
    let log = |part: f64, rest: f64| whole(((part + 0.5) / (part + rest + 1.0)).ln());
    println!("pub(super) static {skill}: Habits = Habits {{");
    println!("dumps: {:?},", weights.map(whole));
    println!(
        "keeps_meld: {:?},",
        counts.melds.map(|by| by.map(|by| by.map(|[kept, laid]| log(kept, laid))))
    );
    println!("keeps_addable: {:?},", log(counts.addable[0], counts.addable[1]));
    println!(
        "declines: {:?},",
        counts.chows.map(|by| by.map(|[declined, taken]| log(declined, taken)))
    );
    println!(
        "chows: {:?},",
        counts.chows.map(|by| by.map(|[declined, taken]| log(taken, declined)))
    );
    println!(
        "fights: {:?},",
        counts.fights.map(|by| by.map(|by| by.map(|[waited, fought]| log(fought, waited))))
    );
    println!(
        "waits: {:?},",
        counts.fights.map(|by| by.map(|by| by.map(|[waited, fought]| log(waited, fought))))
    );
    println!("}};");
}
