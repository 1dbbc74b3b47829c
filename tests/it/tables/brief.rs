//! The short forms of messages: they carry the content of the full form without the prompt, which
//! follows from the view; and docs/PROTOCOL.md shows them correctly.

use bahay::lobby::house_rooms;
use bahay::ws::protocol::brief::{Form, Shorthand, TABLE_WORDS, short_words};
use bahay::ws::protocol::{Message, MessageReader, OpenPrompt};
use bahay_api::socket::example_messages;
use bahay_bots::simulation::{Habits, Simulation};
use bahay_engine::cards::Card;
use bahay_engine::catalog::{self, AnyEvent, AnyGame, AnyRules};
use bahay_engine::game::{GameKind, GameRules, Viewer};
use bahay_engine::games::tongits::{Event as GameEvent, Tongits};
use bahay_engine::games::tongo_assets::TongoAssets;
use bahay_engine::games::tongo_options::TongoOptions;
use bahay_engine::seat::Seat;
use bahay_engine::table::{Clocks, Event, Input, PlayerId, TableView, Terms, Timestamp};
use serde_json::Value;
use uuid::Uuid;

const PAGE: &str = include_str!("../../../docs/PROTOCOL.md");
const ASSETS_PAGE: &str = include_str!("../../../docs/protocol/tongo_assets.md");
const OPTIONS_PAGE: &str = include_str!("../../../docs/protocol/tongo_options.md");

/// The time of the hello on the page.
const HELLO_MS: i64 = 1_772_366_400_000;

/// Both ends of an open connection.
struct ConnectionEnds {
    server: Shorthand,
    client: MessageReader,
}

impl ConnectionEnds {
    fn greeted(form: Form, now: Timestamp) -> Self {
        let mut ends = Self { server: Shorthand::new(form), client: MessageReader::new(form) };
        let hello = Message::Hello {
            player: PlayerId(Uuid::from_u128(1)),
            protocol: form.subprotocol().into(),
            server_time_ms: now,
            notices: None,
        };
        assert_eq!(ends.send(&hello).0, hello);
        ends
    }

    /// Sends a message and returns what the client reads, with the number of its bytes.
    fn send(&mut self, message: &Message<AnyGame>) -> (Message<AnyGame>, usize) {
        let mut bytes = Vec::new();
        self.server.write(message, &mut bytes).unwrap();
        (self.client.read(&bytes).unwrap(), bytes.len())
    }
}

#[test]
fn a_client_of_any_form_knows_the_same() {
    let newbie = house_rooms(Clocks::default())[0].terms().clone();
    for kind in catalog::kinds() {
        for set in kind.rule_sets {
            let (rules, hits) = (set.rules, set.hits);
            let terms = Terms { rules, hits, ..newbie.clone() };
            let name = format!("{}, {}", kind.name, set.name);
            let tenths = any_form_knows_the_same(&name, &terms);
            if (kind.name, set.name) == (Tongits::NAME, Tongits::rule_sets()[0].name) {
                assert!(tenths < 55, "{name}: {tenths} tenths of a message for each move");
            }
        }
    }
}

/// Returns the player whose command an input is.
fn commanding_player<A>(input: &Input<A>) -> Option<PlayerId> {
    match input {
        Input::Ready { player, .. }
        | Input::Reveal { player, .. }
        | Input::Act { player, .. }
        | Input::TakeBack { player }
        | Input::Leave { player } => Some(*player),
        _ => None,
    }
}

/// Returns the number of messages to all players for each move, in tenths.
fn any_form_knows_the_same(name: &str, terms: &Terms<AnyRules>) -> usize {
    let seats = terms.rules.seats().most;
    let welcome = terms.wallet_min().unwrap().checked_mul(2).unwrap();
    let (mut moves, mut messages, mut of_moves) = (0, 0, [0; Form::ALL.len()]);
    for seed in 0..4 {
        let mut tables = Simulation::<AnyGame>::new(seed, terms.clone(), Habits::ROUGH, welcome);
        let mut ends = Form::ALL.map(|form| ConnectionEnds::greeted(form, tables.now()));
        // As a snapshot would set it.
        ends.iter_mut().for_each(|ends| ends.client.set_game_kind(terms.rules.kind()));
        // As each seat's player folds it.
        let mut views: Vec<Option<TableView<AnyGame>>> = vec![None; usize::from(seats)];
        let mut bytes = [0; Form::ALL.len()];
        for version in 1..=900_u64 {
            let happened = tables.step();
            let table = tables.table();
            let is_move = matches!(happened.line.input, Input::Act { .. });
            moves += usize::from(is_move);
            let commanding = commanding_player(&happened.line.input);
            for (seat, view) in Seat::all(seats).zip(&mut views) {
                let player = table.occupant(seat).map(|who| who.player);
                let now = table.view(player);
                let known = view.take().filter(|view| view.seat == now.seat);
                let Some(mut known) = known else {
                    *view = Some(now);
                    continue;
                };
                let viewer = now.viewer();
                let events = happened.events.iter();
                let events = events.filter_map(|event| event.redact::<AnyGame>(viewer));
                let events: Vec<_> = events.collect();
                for event in &events {
                    known.observe(event);
                }
                let prompt = OpenPrompt::from_view(&now);
                assert_eq!(OpenPrompt::from_view(&known), prompt, "{name}, seed {seed}, {version}");
                let ack = (player.is_some() && player == commanding).then_some(200);
                let tag = bahay::entropy::tag();
                let answer = |prompt| match ack {
                    Some(id) if events.is_empty() => Message::Ack { id, version: Some(version) },
                    _ => Message::Update {
                        version,
                        tag,
                        server_time_ms: tables.now(),
                        events: events.clone(),
                        prompt,
                        ack,
                    },
                };
                *view = (now.seat.is_some()).then_some(known);
                // A line that shows the player nothing sends nothing.
                if events.is_empty() && ack.is_none() {
                    continue;
                }
                messages += 1;
                let full = answer(prompt.clone());
                for (place, (form, ends)) in Form::ALL.into_iter().zip(&mut ends).enumerate() {
                    let expected = answer(prompt.clone().filter(|_| !form.is_short()));
                    let (read, length) = ends.send(&full);
                    assert_eq!(read, expected, "{name}, seed {seed}, {version}, {form:?}");
                    bytes[place] += length;
                    of_moves[place] += if is_move { length } else { 0 };
                }
            }
        }
        let [compact, brief, full] = bytes;
        assert!(compact < brief && brief < full, "{name}, seed {seed}: {bytes:?}");
    }
    let [compact, brief, full] = of_moves.map(|bytes| bytes / moves.max(1));
    let tenths = 10 * messages / moves.max(1);
    println!(
        "{name}: at a table of up to {seats}: {}.{} messages to all for each move; bytes of a \
         move to all: full {full}, brief {brief}, compact {compact}",
        tenths / 10,
        tenths % 10
    );
    tenths
}

#[test]
fn short_events_of_games_have_the_documented_fields() {
    let newbie = house_rooms(Clocks::default())[0].terms().clone();
    let pages = [
        (Tongits::NAME, section_of_short_forms()),
        (TongoAssets::NAME, ASSETS_PAGE),
        (TongoOptions::NAME, OPTIONS_PAGE),
    ];
    for (kind, page) in pages {
        let rows: Vec<_> = rows_of_short_events(page).collect();
        let mut compared = 0;
        for set in catalog::find_kind(kind).unwrap().rule_sets {
            let terms = Terms { rules: set.rules, hits: set.hits, ..newbie.clone() };
            let welcome = terms.wallet_min().unwrap().checked_mul(2).unwrap();
            let mut tables = Simulation::<AnyGame>::new(5, terms, Habits::ROUGH, welcome);
            for version in 1..=900 {
                let happened = tables.step();
                let viewer = Viewer::Seat(Seat::new(0).unwrap());
                let events = happened.events.iter();
                let events = events.filter_map(|event| event.redact::<AnyGame>(viewer));
                let update = Message::Update {
                    version,
                    tag: bahay::entropy::tag(),
                    server_time_ms: tables.now(),
                    events: events.collect(),
                    prompt: None,
                    ack: None,
                };
                compared += compare_with_rows(&update, &rows);
            }
        }
        assert!(compared > 0, "{kind}");
    }
}

/// Compares the short and full forms of an update's game events with the documented rows, and
/// returns their number.
fn compare_with_rows(update: &Message<AnyGame>, rows: &[(u8, &str, &str)]) -> usize {
    let mut bytes = Vec::new();
    Shorthand::new(Form::Brief).write(update, &mut bytes).unwrap();
    let short: Vec<Value> = serde_json::from_slice(&bytes).unwrap();
    let full = serde_json::to_value(update).unwrap();
    let mut compared = 0;
    for (short, full) in short[3..].iter().zip(full["events"].as_array().unwrap()) {
        let (Some(short), Some(event)) = (short.as_array(), full["event"].as_object()) else {
            continue;
        };
        let (word, values) = short.split_first().unwrap();
        let row = rows.iter().find(|(_, name, _)| word == name);
        let (_, _, fields) = row.unwrap_or_else(|| panic!("no row {word}"));
        let names: Vec<_> = fields.split_whitespace().collect();
        let is_written = |name: &&&str| !name.contains(['[', ']']);
        let required = names.iter().take_while(is_written).count();
        assert!((required..=names.len()).contains(&values.len()), "{word}: {values:?}");
        let names: Vec<_> = names.iter().map(|name| name.trim_matches(['[', ']'])).collect();
        for (name, value) in names.iter().zip(values) {
            assert_eq!(event.get(*name).unwrap_or(&Value::Null), value, "{name} of {event:?}");
        }
        let is_documented = |name: &String| name == "type" || names.contains(&name.as_str());
        assert!(event.keys().all(is_documented), "{event:?}");
        compared += 1;
    }
    compared
}

#[test]
fn every_other_message_is_what_it_was() {
    for form in Form::ALL {
        for (_, message) in example_messages() {
            if matches!(message, Message::Update { .. }) {
                continue;
            }
            assert_eq!(
                ConnectionEnds::greeted(form, Timestamp::default()).send(&message).0,
                message
            );
        }
    }
}

#[test]
fn nonsense_is_refused() {
    for text in [
        "",
        "[]",
        "3",
        "[-1]",
        "[4294967296]",
        r#"[1,"x"]"#,
        r#"[1,"7a61673a000b"]"#,
        r#"[1,"7a61673a000b",0,[]]"#,
        r#"[1,"7a61673a000b",0,["won",1]]"#,
        r#"[1,"7a61673a000b",0,["dumped",1]]"#,
        r#"[1,"7a61673a000b",0,[63,1]]"#,
        r#"[1,"7a61673a000b",0,4294967296]"#,
        r#"[1,"7a61673a000b",0,-4]"#,
        r#"[1,"7a61673a000b",0,"4"]"#,
        r#"["7a61673a000b",0,["ready",2]]"#,
        r#"[1,"7a61673a000b",0,["opening",null]]"#,
        r#"{"type":"won"}"#,
    ] {
        assert!(MessageReader::new(Form::Brief).read(text.as_bytes()).is_err(), "{text}");
    }
    for bytes in
        [&[] as &[u8], &[0x90], &[0x92, 0x01], &[0xc1], &[0x93, 0x01, 0xc4, 0x01, 0x00, 0x00]]
    {
        assert!(MessageReader::new(Form::Compact).read(bytes).is_err(), "{bytes:?}");
    }
    // Additions of a later version are ignored.
    let later = br#"[1,"7a61673a000b",0,["dumped",1,"AC","later"],["ready",2,{}]]"#;
    assert!(MessageReader::new(Form::Brief).read(later).is_ok());
}

#[test]
fn a_server_takes_what_it_knows() {
    for form in Form::ALL {
        assert_eq!(Form::from_subprotocol(Some(form.subprotocol())), form);
        assert!(PAGE.contains(&format!("`{}`", form.subprotocol())));
    }
    assert_eq!(Form::from_subprotocol(None), Form::Full);
    assert_eq!(Form::from_subprotocol(Some("bahay.v9")), Form::Full);
}

#[test]
fn an_update_carries_the_ack_in_every_form() {
    for form in Form::ALL {
        for ack in [None, Some(0), Some(13), Some(u32::MAX)] {
            let update = Message::Update {
                version: 7,
                tag: "7a61673a0007".parse().unwrap(),
                server_time_ms: Timestamp::from_ms(HELLO_MS + 5),
                events: vec![Event::Waiting],
                prompt: None,
                ack,
            };
            let hello = Timestamp::from_ms(HELLO_MS);
            assert_eq!(ConnectionEnds::greeted(form, hello).send(&update).0, update, "{form:?}");
            assert_eq!(update.acked_command(), ack);
        }
    }
    for version in [None, Some(7)] {
        assert_eq!(Message::<AnyGame>::Ack { id: 13, version }.acked_command(), Some(13));
    }
}

/// The update and the ack that the page also shows in the full form, after the page's update that
/// begins the countdown before.
#[test]
fn the_page_shows_the_short_forms_as_they_are() {
    let hello = Timestamp::from_ms(HELLO_MS);
    let before = PAGE.lines().find(|line| line.starts_with(r#"{"type":"update","version":12,"#));
    let before = MessageReader::new(Form::Full).read(before.unwrap().as_bytes()).unwrap();
    let seat = |number| Seat::new(number).unwrap();
    let card: Card = "2C".parse().unwrap();
    let game = |event| Event::Game { event: AnyEvent::Tongits(event) };
    let events = vec![
        game(GameEvent::Dumped { seat: seat(0), card }),
        game(GameEvent::Drawn { seat: seat(1), card: None, auto: true }),
        Event::Countdown { deadline_ms: Timestamp::from_ms(HELLO_MS + 29_120) },
    ];
    let update = Message::Update {
        version: 13,
        tag: "7a61673a000d".parse().unwrap(),
        server_time_ms: Timestamp::from_ms(HELLO_MS + 9_120),
        events,
        prompt: None,
        ack: Some(4),
    };
    let section = section_of_short_forms();
    let blocks = section.split("```text\n").skip(1).filter_map(|rest| rest.split_once("\n```"));
    let blocks: Vec<&str> = blocks.map(|(block, _)| block).take(2).collect();
    for (form, block) in [(Form::Brief, blocks[0]), (Form::Compact, blocks[1])] {
        let mut server = ConnectionEnds::greeted(form, hello).server;
        server.write(&before, &mut Vec::new()).unwrap();
        let written = [&update, &Message::Ack { id: 8, version: None }].map(|message| {
            let mut bytes = Vec::new();
            server.write(message, &mut bytes).unwrap();
            match form {
                Form::Full | Form::Brief => String::from_utf8(bytes).unwrap(),
                Form::Compact => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
            }
        });
        assert_eq!(written.join("\n"), block);
    }
    let words = |page| -> Vec<_> {
        rows_of_short_events(page).map(|(number, word, _)| (word, number)).collect()
    };
    assert_eq!(words(section), short_words::<Tongits>().collect::<Vec<_>>());
    assert_eq!(words(ASSETS_PAGE), words_of_game::<TongoAssets>());
    assert_eq!(words(OPTIONS_PAGE), words_of_game::<TongoOptions>());
}

fn words_of_game<G: GameKind>() -> Vec<(&'static str, u8)> {
    short_words::<G>().filter(|row| !TABLE_WORDS.contains(row)).collect()
}

fn section_of_short_forms() -> &'static str {
    PAGE.split_once("## Shorter messages").unwrap().1
}

/// Returns the rows of the short events on a page: the number, the word and the fields, of which
/// the bracketed ones may be omitted from the end.
fn rows_of_short_events(page: &str) -> impl Iterator<Item = (u8, &str, &str)> {
    page.lines().filter_map(|line| {
        let (number, rest) = line.split_once(' ')?;
        let (word, fields) = rest.split_once(' ').unwrap_or((rest, ""));
        Some((number.parse().ok()?, word, fields))
    })
}
