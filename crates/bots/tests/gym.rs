//! The environment for learning programs (`bahay_bots::gym`): every kind of the catalogue with
//! every rule set and any number of seats.

use std::collections::{BTreeMap, BTreeSet};

use bahay_bots::Ai;
use bahay_bots::gym::{Env, EnvProtocol, EnvSettings, PlayError, TensorForm, open_protocol};
use bahay_engine::game::{Game, GameRules, RuleSet, Viewer};
use bahay_engine::games::tongits::{self, Tongits};
use bahay_engine::games::tongo_assets::TongoAssets;
use bahay_engine::games::tongo_options::TongoOptions;
use bahay_engine::seat::Seat;
use bahay_engine::spaces::{Spaces, Tensor, tensor_len};
use bahay_engine::testing::guess_the_die::{GuessTheDie, GuessTheDieProbe};
use bahay_engine::testing::{
    Probe, TestRng, TongitsProbe, TongoAssetsProbe, TongoOptionsProbe, for_each_twin_pair,
};
use serde_json::{Value, json};

/// The number of games for each rule set and number of seats.
const GAMES: u64 = 12;

/// Expands an expression for every kind of the catalogue.
macro_rules! each_game {
    ($check:ident) => {
        $check::<Tongits>(&TongitsProbe);
        $check::<TongoOptions>(&TongoOptionsProbe);
        $check::<TongoAssets>(&TongoAssetsProbe);
        $check::<GuessTheDie>(&GuessTheDieProbe);
    };
}

/// Calls `each` with each rule set and the least and the most seats.
fn each_setting<G: Ai + Spaces>(mut each: impl FnMut(&RuleSet<G::Rules>, u8)) {
    for set in G::rule_sets() {
        let range = (set.rules)().seats();
        let seats: BTreeSet<u8> = [range.least, range.most].into();
        seats.into_iter().for_each(|seats| each(set, seats));
    }
}

/// Plays some legal action. Returns its number.
fn play_any<G: Ai + Spaces>(env: &mut Env<G>, dice: &mut TestRng) -> u16 {
    let legal: Vec<u16> = env.legal_actions().filter_map(|(_, number)| number).collect();
    let number = *dice.choose(&legal).expect("a seat that is asked can act");
    assert_eq!(env.play_number(number), Ok(()));
    number
}

/// Calls `each` at every step of random games with each setting.
fn each_position<G: Ai + Spaces>(mut each: impl FnMut(&Env<G>)) {
    each_setting::<G>(|set, seats| {
        for seed in 0..GAMES {
            let mut env = Env::<G>::new((set.rules)(), seats, seed);
            let mut dice = TestRng::new(seed);
            while env.seat_to_act().is_some() {
                each(&env);
                play_any(&mut env, &mut dice);
            }
        }
    });
}

/// A session of the protocol.
struct ProtocolSession(Box<dyn EnvProtocol>);

impl ProtocolSession {
    fn open<G: Ai + Spaces + 'static>(
        set: &RuleSet<G::Rules>,
        seats: u8,
        games: usize,
        tensor: TensorForm,
    ) -> Self {
        let (rules, rule_set) = ((set.rules)(), set.name.to_owned());
        let settings = EnvSettings { rules, rule_set, seats, games, tensor };
        Self(open_protocol::<G>(settings).expect("some games are wanted"))
    }

    /// Opens a session for the first rule set with the fewest seats.
    fn first<G: Ai + Spaces + 'static>(games: usize, tensor: TensorForm) -> Self {
        let set = &G::rule_sets()[0];
        Self::open::<G>(set, (set.rules)().seats().least, games, tensor)
    }

    fn ask(&mut self, request: &Value) -> Value {
        let mut out = String::new();
        self.0.answer_line(request.to_string().as_bytes(), &mut out);
        assert!(!out.contains('\n'), "an answer is one line: {out}");
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"))
    }

    /// Plays random action numbers until the game is over. Returns all responses.
    fn play_out(&mut self, seed: u64, luck: u64) -> Vec<Value> {
        let mut dice = TestRng::new(luck);
        let mut answers = vec![self.ask(&json!({"do": "reset", "seed": seed}))];
        loop {
            let last = answers.last().expect("the reset was answered");
            if last["seat"].is_null() {
                return answers;
            }
            let legal = last["legal"].as_array().expect("legal actions are a list");
            let action = dice.choose(legal).expect("somebody who is asked can act").clone();
            answers.push(self.ask(&json!({"do": "step", "action": action})));
        }
    }
}

#[test]
fn actions_have_names_of_their_own_and_fields_too() {
    fn check<G: Ai + Spaces>(_probe: &impl Probe<G>) {
        let names = G::action_names();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{}", G::NAME);
        assert!(names.len() <= usize::from(u16::MAX));
        let fields: BTreeSet<&str> = G::FIELDS.iter().map(|field| field.name).collect();
        assert_eq!(fields.len(), G::FIELDS.len(), "{}", G::NAME);
    }
    each_game!(check);
}

/// Every legal action has a number below the count of names, and a tensor matches its declared
/// fields, for every seat at every step.
#[test]
fn every_legal_action_has_a_number_and_every_tensor_its_form() {
    fn check<G: Ai + Spaces>(_probe: &impl Probe<G>) {
        let names = G::action_names().len();
        let mut used = BTreeSet::new();
        let mut tensor = Vec::new();
        each_position::<G>(|env| {
            for (action, number) in env.legal_actions() {
                let number = number.unwrap_or_else(|| panic!("{action:?} has no number"));
                assert!(usize::from(number) < names, "{action:?} is {number}");
                used.insert(number);
            }
            for seat in Seat::all(env.seats()) {
                tensor.clear();
                env.write_tensor(seat, &mut tensor);
                check_tensor::<G>(&tensor);
            }
        });
        assert!(used.len() > names / 20, "{}: {} of {names} were legal", G::NAME, used.len());
    }
    each_game!(check);
}

fn check_tensor<G: Ai + Spaces>(tensor: &[i16]) {
    assert_eq!(tensor.len(), tensor_len::<G>(), "{}", G::NAME);
    let mut left = tensor;
    for field in G::FIELDS {
        let (numbers, after) = left.split_at(field.len);
        let fits = numbers.iter().all(|number| (0..=field.most).contains(number));
        assert!(fits, "{} of {}: {numbers:?}", field.name, G::NAME);
        left = after;
    }
}

/// A number stands for several legal actions only if the page of the game says so.
#[test]
fn a_number_stands_for_one_action_but_for_jokers_and_two_runs() {
    fn check<G: Ai + Spaces>(_probe: &impl Probe<G>) {
        each_position::<G>(|env| {
            let mut by_number: BTreeMap<u16, Vec<String>> = BTreeMap::new();
            for (action, number) in env.legal_actions() {
                let text = serde_json::to_string(action).expect("an action is written");
                by_number.entry(number.expect("it has one")).or_default().push(text);
            }
            for actions in by_number.values().filter(|actions| actions.len() > 1) {
                let excused =
                    actions.iter().all(|text| text.contains("\"X") || text.contains("sapaw"));
                assert!(G::NAME == "tongits" && excused, "{actions:?}");
            }
        });
    }
    each_game!(check);
}

#[test]
fn the_same_seed_and_actions_are_the_same_game_and_returns_add_up_to_zero() {
    fn check<G: Ai + Spaces + 'static>(_probe: &impl Probe<G>) {
        each_setting::<G>(|set, seats| {
            let mut talk = ProtocolSession::open::<G>(set, seats, 1, TensorForm::List);
            let played = talk.play_out(5, 1);
            let again = ProtocolSession::open::<G>(set, seats, 1, TensorForm::List).play_out(5, 1);
            assert_eq!(played, again, "{} {}", G::NAME, set.name);
            let others = (6..12).map(|seed| talk.play_out(seed, 1));
            assert!(others.into_iter().any(|other| other != played));
            let end = played.last().expect("a game has answers");
            let returns = end["returns"].as_array().expect("a game that is over has returns");
            assert_eq!(returns.len(), usize::from(seats));
            let sum: i64 = returns.iter().map(|one| one.as_i64().expect("a whole number")).sum();
            assert_eq!(sum, 0);
            let known = |ending: &&str| G::ENDINGS.iter().any(|named| named.name == *ending);
            assert!(end["ending"].as_str().filter(known).is_some(), "{end}");
        });
    }
    each_game!(check);
}

/// A deal follows from the seed by rules 9.1 to 9.4, as docs/FAIRNESS.md explains.
#[test]
fn chance_is_that_of_a_dealt_game() {
    use bahay_engine::chance::{ChanceRng as Stream, Contribution, Request, ServerSeed};
    use bahay_engine::hex::Hex;
    let rules = tongits::Rules::kingdom();
    let env = Env::<Tongits>::new(rules, 3, 0x0102_0304_0506_0708);
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&[8, 7, 6, 5, 4, 3, 2, 1]);
    let clients = vec![Contribution::none(); 3];
    let mut stream = Stream::new(ServerSeed(Hex(bytes)).key(&[0; 16], &clients));
    let dealt = Tongits::new(&rules, 3, None);
    let dealt = dealt.resolve(&stream.draw(Request::Number(3)), &mut Vec::new());
    let dealt = dealt.resolve(&stream.draw(Request::Order(52)), &mut Vec::new());
    assert_eq!(*env.game(), dealt);
}

/// All forms of naming an action are equivalent.
#[test]
fn an_action_is_named_by_number_name_or_as_it_is() {
    fn check<G: Ai + Spaces + 'static>(_probe: &impl Probe<G>) {
        let mut dice = TestRng::new(3);
        let mut talk = ProtocolSession::first::<G>(3, TensorForm::None);
        for game in 0..3 {
            talk.ask(&json!({"do": "reset", "game": game, "seed": 9}));
        }
        loop {
            let legal = talk.ask(&json!({"do": "legal"}));
            let told = legal["legal"].as_array().expect("a list");
            let Some(told) = dice.choose(told) else { break };
            // A number and its name stand for the first of its actions.
            let first = legal["legal"].as_array().expect("a list").iter();
            let first = first.into_iter().find(|it| it["number"] == told["number"]);
            let first = first.expect("it is itself one");
            let names = [&told["number"], &told["name"], &first["action"]];
            let answers: Vec<Value> = (0..3)
                .map(|game| {
                    let action = names[game];
                    talk.ask(&json!({"do": "step", "game": game, "action": action}))
                })
                .collect();
            assert!(answers[0].get("error").is_none(), "{answers:?}");
            assert_eq!(answers[0], answers[1]);
            assert_eq!(answers[0], answers[2]);
        }
        assert_eq!(talk.ask(&json!({"do": "state"}))["seat"], Value::Null);
    }
    each_game!(check);
}

/// A batch is equivalent to one request for each game.
#[test]
fn a_batch_plays_as_single_steps_do() {
    fn check<G: Ai + Spaces + 'static>(_probe: &impl Probe<G>) {
        const MANY: usize = 5;
        let mut batch = ProtocolSession::first::<G>(MANY, TensorForm::Hex);
        let mut single = ProtocolSession::first::<G>(MANY, TensorForm::Hex);
        let mut dice = TestRng::new(8);
        let mut items: Vec<Value> = (0..MANY).map(|game| json!({"seed": game})).collect();
        for step in 0..200_usize {
            let told = batch.ask(&json!({"do": "batch", "games": items}));
            let mut tensors = String::new();
            for (game, item) in items.iter().enumerate() {
                let request = match item {
                    Value::Null => json!({"do": "state", "game": game}),
                    Value::Object(seed) => {
                        json!({"do": "reset", "game": game, "seed": seed["seed"]})
                    }
                    action => json!({"do": "step", "game": game, "action": action}),
                };
                let alone = single.ask(&request);
                assert_eq!(told["seats"][game], alone["seat"]);
                assert_eq!(told["legal"][game], alone["legal"]);
                assert_eq!(told["returns"][game], *alone.get("returns").unwrap_or(&Value::Null));
                let zeros = "0000".repeat(tensor_len::<G>());
                tensors.push_str(
                    alone.get("tensor").map_or(&zeros, |it| it.as_str().expect("a text")),
                );
            }
            assert_eq!(told["tensor"], tensors);
            let next = |game: usize| match told["legal"][game].as_array() {
                Some(legal) if legal.is_empty() => json!({"seed": step * MANY + game}),
                Some(legal) => dice.choose(legal).expect("it is not empty").clone(),
                None => panic!("legal actions are a list"),
            };
            items = (0..MANY).map(next).collect();
            if step % 7 == 0 {
                items[step % MANY] = Value::Null;
            }
        }
    }
    each_game!(check);
}

/// A saved text can be restored by another process at any point, and both continue identically.
#[test]
fn a_saved_game_goes_on_the_same_elsewhere() {
    fn check<G: Ai + Spaces + 'static>(_probe: &impl Probe<G>) {
        let mut talk = ProtocolSession::first::<G>(1, TensorForm::List);
        let mut dice = TestRng::new(4);
        let mut last = talk.ask(&json!({"do": "reset", "seed": 77}));
        for step in 0..60 {
            let saved = talk.ask(&json!({"do": "clone"}));
            let mut other = ProtocolSession::first::<G>(2, TensorForm::List);
            let restored = other.ask(&json!({"do": "restore", "game": 1, "state": saved["state"]}));
            assert_eq!(restored, last, "{} step {step}", G::NAME);
            let copied = other.ask(&json!({"do": "copy", "from": 1, "to": 0}));
            assert_eq!(copied, last);
            let Some(action) = dice.choose(last["legal"].as_array().expect("a list")) else {
                return;
            };
            let action = action.clone();
            last = talk.ask(&json!({"do": "step", "action": action}));
            for game in 0..2 {
                let there = other.ask(&json!({"do": "step", "game": game, "action": action}));
                assert_eq!(there, last);
            }
        }
    }
    each_game!(check);
}

/// An action with free numbers that no list names is accepted and part of a saved game.
#[test]
fn an_action_that_is_not_listed_is_played_if_the_rules_take_it() {
    let mut talk = ProtocolSession::first::<TongoAssets>(1, TensorForm::None);
    talk.ask(&json!({"do": "reset", "seed": 1}));
    let open = json!({"type": "open", "risk": 4, "purchase": 3, "sell": 2});
    let legal = talk.ask(&json!({"do": "legal"}));
    let listed = legal["legal"].as_array().expect("a list");
    assert!(listed.iter().all(|told| told["action"] != open), "the test wants one that is not");
    let after = talk.ask(&json!({"do": "step", "action": open}));
    assert!(after.get("error").is_none(), "{after}");
    let saved = talk.ask(&json!({"do": "clone"}));
    let mut other = ProtocolSession::first::<TongoAssets>(1, TensorForm::None);
    let restored = other.ask(&json!({"do": "restore", "state": saved["state"]}));
    assert_eq!(restored, after);
}

/// An observation holds nothing that is hidden from the seat.
#[test]
fn an_observation_holds_nothing_hidden() {
    fn check<G: Ai + Spaces + 'static>(probe: &impl Probe<G>) {
        each_setting::<G>(|set, seats| {
            let mut talk = ProtocolSession::open::<G>(set, seats, 1, TensorForm::Hex);
            for seed in 0..3 {
                let mut env = Env::<G>::new((set.rules)(), seats, seed);
                let mut dice = TestRng::new(seed);
                talk.ask(&json!({"do": "reset", "seed": seed}));
                while env.seat_to_act().is_some() {
                    for seat in Seat::all(seats) {
                        let request = json!({"do": "observe", "seat": seat.number()});
                        let told = talk.ask(&request)["view"].to_string();
                        let hidden = probe.hidden_texts(env.game(), Viewer::Seat(seat));
                        let leaked = hidden.iter().find(|text| told.contains(text.as_str()));
                        assert_eq!(leaked, None, "{seat:?} is told {told}");
                    }
                    let action = play_any(&mut env, &mut dice);
                    talk.ask(&json!({"do": "step", "action": action}));
                }
            }
        });
    }
    each_game!(check);
}

/// Two games that differ only in what is hidden from a seat have equal tensors and action numbers
/// for it.
#[test]
fn games_that_differ_in_hidden_cards_are_the_same_to_who_cannot_see_them() {
    fn check<G: Ai + Spaces>(probe: &impl Probe<G>) {
        let (mut compared, rules) = (0, (G::rule_sets()[0].rules)());
        for seed in 0..20 {
            for_each_twin_pair::<G>(probe, G::choose_action, &rules, seed, |pair| {
                for viewer in pair.alike_for {
                    let [one, other] = pair.games.each_ref().map(|game| {
                        let view = game.view(viewer);
                        let (mut tensor, mut legal) = (Vec::new(), Vec::new());
                        G::write_tensor(&view, &mut Tensor(&mut tensor));
                        G::legal_in_view(&view, &mut legal);
                        let numbers: Vec<Option<u16>> =
                            legal.iter().map(|action| G::action_number(&view, action)).collect();
                        (tensor, numbers)
                    });
                    assert_eq!(one, other);
                    compared += 1;
                }
            });
        }
        assert!(compared > 50, "{}: {compared} were compared", G::NAME);
    }
    check::<Tongits>(&TongitsProbe);
    check::<TongoOptions>(&TongoOptionsProbe);
    check::<TongoAssets>(&TongoAssetsProbe);
}

#[test]
fn a_line_that_cannot_be_taken_is_answered_by_its_code_and_changes_nothing() {
    let mut talk = ProtocolSession::first::<Tongits>(2, TensorForm::List);
    let code = |talk: &mut ProtocolSession, request: Value| talk.ask(&request)["error"].clone();
    assert_eq!(code(&mut talk, json!({"do": "state"})), "not_begun");
    assert_eq!(code(&mut talk, json!({"do": "batch", "games": [null, {"seed": 1}]})), "not_begun");
    let begun = talk.ask(&json!({"do": "reset", "seed": 3}));
    let illegal = json!({"type": "fight"});
    for (request, expected) in [
        (json!(7), "not_a_request"),
        (json!({"do": "dance"}), "not_a_request"),
        (json!({"do": "reset"}), "not_a_request"),
        (json!({"do": "reset", "seed": -1}), "not_a_request"),
        (json!({"do": "reset", "seed": 1, "deck": []}), "not_a_request"),
        (json!({"do": "reset", "seed": 1, "game": 2}), "no_such_game"),
        (json!({"do": "step", "game": 9, "action": 0}), "no_such_game"),
        (json!({"do": "step", "game": 1, "action": 0}), "not_begun"),
        (json!({"do": "step", "action": 65_000}), "no_such_action"),
        (json!({"do": "step", "action": 1_000_000_000_000_u64}), "no_such_action"),
        (json!({"do": "step", "action": "dump 1X"}), "no_such_action"),
        (json!({"do": "step", "action": "fight"}), "illegal"),
        (json!({"do": "step", "action": illegal}), "illegal"),
        (json!({"do": "step", "action": [1]}), "not_a_request"),
        (json!({"do": "batch", "games": [null]}), "not_a_request"),
        (json!({"do": "batch", "games": [1, {"seed": 1}]}), "illegal"),
        (json!({"do": "observe", "seat": 3}), "no_such_seat"),
        (json!({"do": "restore", "state": "{}"}), "bad_state"),
        (json!({"do": "copy", "from": 0, "to": 7}), "no_such_game"),
        (json!({"do": "copy", "from": 1, "to": 0}), "not_begun"),
    ] {
        assert_eq!(code(&mut talk, request.clone()), expected, "{request}");
        assert_eq!(talk.ask(&json!({"do": "state"})), begun, "{request}");
        assert_eq!(code(&mut talk, json!({"do": "state", "game": 1})), "not_begun", "{request}");
    }
    let refused = talk.ask(&json!({"do": "step", "action": {"type": "fight"}}));
    assert_eq!(refused["refusal"], "not_draw_phase", "the rules' own code");
}

#[test]
fn a_saved_game_that_was_changed_is_refused() {
    let mut talk = ProtocolSession::first::<Tongits>(1, TensorForm::None);
    let played = talk.play_out(2, 2);
    let saved = talk.ask(&json!({"do": "clone"}))["state"].clone();
    let saved = saved.as_str().expect("a text");
    assert!(saved.len() < 8 * played.len() + 120, "{saved}");
    for changed in [
        saved.replace("tongits", "chess"),
        saved.replace("kingdom", "classic"),
        saved.replace("\"seats\":3", "\"seats\":4"),
        saved.replace("\"moves\":[", "\"moves\":[900,"),
        saved.replace("\"moves\":[", "\"moves\":[{\"type\":\"fight\"},"),
        saved.replace(']', ",0]"),
        saved.replace('}', ""),
    ] {
        assert_ne!(changed, saved);
        let told = talk.ask(&json!({"do": "restore", "state": changed}));
        assert_eq!(told["error"], "bad_state", "{changed}");
    }
}

/// Any bytes are answered by a line of JSON, and the session continues.
#[test]
fn no_line_ends_a_talk() {
    fn check<G: Ai + Spaces + 'static>(_probe: &impl Probe<G>) {
        let mut talk = ProtocolSession::first::<G>(2, TensorForm::Hex);
        let mut dice = TestRng::new(6);
        let known = [
            r#"{"do":"reset","seed":1}"#,
            r#"{"do":"step","action":0}"#,
            r#"{"do":"batch","games":[{"seed":1},null]}"#,
            r#"{"do":"restore","state":"{\"seed\":1,\"moves\":[0]}"}"#,
            r#"{"do":"observe","seat":1}"#,
            r#"{"do":"step","action":{"type":"draw"}}"#,
        ];
        let mut refused = 0;
        for _ in 0..4_000 {
            let mut line = dice.choose(&known).expect("there are some").as_bytes().to_vec();
            for _ in 0..dice.below(4) {
                let place =
                    dice.below(u32::try_from(line.len()).expect("lines are short")) as usize;
                line[place] = dice.word().to_le_bytes()[0];
            }
            let mut out = String::new();
            talk.0.answer_line(&line, &mut out);
            let told: Value = serde_json::from_str(&out).expect("an answer is JSON");
            assert!(told.is_object() && !out.contains('\n'), "{out}");
            refused += u32::from(told.get("error").is_some());
        }
        assert!((1_000..4_000).contains(&refused), "{refused} lines were refused");
    }
    each_game!(check);
}

#[test]
fn the_first_line_tells_what_numbers_mean() {
    let talk = ProtocolSession::first::<Tongits>(4, TensorForm::Hex);
    let mut out = String::new();
    talk.0.write_hello(&mut out);
    let told: Value = serde_json::from_str(&out).expect("a hello is JSON");
    for (field, value) in [
        ("game", json!("tongits")),
        ("rule_set", json!("kingdom")),
        ("seats", json!(3)),
        ("games", json!(4)),
        ("unit", json!("count")),
    ] {
        assert_eq!(told[field], value, "{field}");
    }
    let tensor = &told["tensor"];
    assert_eq!((&tensor["len"], &tensor["form"]), (&json!(tensor_len::<Tongits>()), &json!("hex")));
    let fields = tensor["fields"].as_array().expect("fields are a list");
    let mut at = 0;
    for field in fields {
        assert_eq!(field["at"], at, "{field}");
        at += field["len"].as_u64().expect("a length");
    }
    assert_eq!(at, tensor["len"]);
    assert_eq!(told["actions"][0], "draw");
    assert_eq!(told["actions"].as_array().map(Vec::len), Some(Tongits::action_names().len()));
}

/// The house's AI receives the seat's view, so its advice is legal there.
#[test]
fn the_ai_plays_a_whole_game() {
    fn check<G: Ai + Spaces + 'static>(_probe: &impl Probe<G>) {
        let mut talk = ProtocolSession::first::<G>(1, TensorForm::None);
        talk.ask(&json!({"do": "reset", "seed": 3}));
        for _ in 0..5_000 {
            let advised = talk.ask(&json!({"do": "advise"}));
            if advised.get("error").is_some() {
                assert_eq!(advised["error"], "game_over");
                return;
            }
            let told = talk.ask(&json!({"do": "step", "action": advised["action"]}));
            assert!(told.get("error").is_none(), "{told}");
        }
        panic!("{} does not end", G::NAME);
    }
    each_game!(check);
}

#[test]
fn a_game_that_is_over_takes_nothing() {
    let rules = tongits::Rules::kingdom();
    let mut env = Env::<Tongits>::new(rules, 3, 1);
    let mut dice = TestRng::new(1);
    while env.seat_to_act().is_some() {
        play_any(&mut env, &mut dice);
    }
    assert_eq!(env.play_number(0), Err(PlayError::Over));
    assert_eq!(env.play(&tongits::Action::Draw), Err(PlayError::Over));
    assert!(env.returns().is_some() && env.view().is_none());
}
