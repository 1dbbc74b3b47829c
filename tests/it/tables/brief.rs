//! The short forms of messages: they carry the content of the full form without the prompt, which
//! follows from the view; and docs/PROTOCOL.md shows them correctly.

use bahay::lobby::house_rooms;
use bahay::ws::protocol::brief::{Form, Shorthand, short_words};
use bahay::ws::protocol::{Message, MessageReader, OpenPrompt};
use bahay_api::socket::example_messages;
use bahay_bots::simulation::{Habits, Simulation};
use bahay_engine::cards::Card;
use bahay_engine::catalog::{self, AnyEvent, AnyGame, AnyRules};
use bahay_engine::game::GameRules;
use bahay_engine::games::tongits::{Event as GameEvent, Tongits};
use bahay_engine::games::tongo_assets::TongoAssets;
use bahay_engine::games::tongo_options::TongoOptions;
use bahay_engine::seat::Seat;
use bahay_engine::table::{Clocks, Event, Input, PlayerId, TableView, Terms, Timestamp};
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
            any_form_knows_the_same(&format!("{}, {}", kind.name, set.name), &terms);
        }
    }
}

fn any_form_knows_the_same(name: &str, terms: &Terms<AnyRules>) {
    let seats = terms.rules.seats().most;
    let welcome = terms.wallet_min().unwrap().checked_mul(2).unwrap();
    let (mut moves, mut of_moves) = (0, [0; Form::ALL.len()]);
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
                let events = events.filter_map(|event| event.redact::<AnyGame>(viewer)).collect();
                let prompt = OpenPrompt::from_view(&now);
                let tag = bahay::entropy::tag();
                let update = |events, prompt| {
                    let server_time_ms = tables.now();
                    Message::Update { version, tag, server_time_ms, events, prompt }
                };
                let full = update(events, prompt.clone());
                let Message::Update { events, .. } = &full else { unreachable!("it is one") };
                for event in events {
                    known.observe(event);
                }
                assert_eq!(OpenPrompt::from_view(&known), prompt, "{name}, seed {seed}, {version}");
                for (place, (form, ends)) in Form::ALL.into_iter().zip(&mut ends).enumerate() {
                    let prompt = prompt.clone().filter(|_| !form.is_short());
                    let expected = update(events.clone(), prompt);
                    let (read, length) = ends.send(&full);
                    assert_eq!(read, expected, "{name}, seed {seed}, {version}, {form:?}");
                    bytes[place] += length;
                    of_moves[place] += if is_move { length } else { 0 };
                }
                *view = (now.seat.is_some()).then_some(known);
            }
        }
        let [compact, brief, full] = bytes;
        assert!(compact < brief && brief < full, "{name}, seed {seed}: {bytes:?}");
    }
    let [compact, brief, full] = of_moves.map(|bytes| bytes / moves.max(1));
    println!(
        "{name}: bytes a move to all at a table of up to {seats}: full {full}, brief {brief}, \
         compact {compact}"
    );
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
        r#"[1,"7a61673a000b",0,[7,1]]"#,
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

/// The update and the ack that the page also shows in the full form.
#[test]
fn the_page_shows_the_short_forms_as_they_are() {
    let hello = Timestamp::from_ms(HELLO_MS);
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
    };
    let (_, section) = PAGE.split_once("## Shorter messages").unwrap();
    let blocks = section.split("```text\n").skip(1).filter_map(|rest| rest.split_once("\n```"));
    let blocks: Vec<&str> = blocks.map(|(block, _)| block).take(2).collect();
    for (form, block) in [(Form::Brief, blocks[0]), (Form::Compact, blocks[1])] {
        let mut server = ConnectionEnds::greeted(form, hello).server;
        let written = [&update, &Message::Ack { id: 4, version: Some(13) }].map(|message| {
            let mut bytes = Vec::new();
            server.write(message, &mut bytes).unwrap();
            match form {
                Form::Full | Form::Brief => String::from_utf8(bytes).unwrap(),
                Form::Compact => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
            }
        });
        assert_eq!(written.join("\n"), block);
    }
    let is_other = |(word, _): &(&str, _)| !section.contains(word);
    let rows = short_words::<Tongits>().map(|row| (row, section));
    let assets = short_words::<TongoAssets>().filter(is_other).map(|row| (row, ASSETS_PAGE));
    let options = short_words::<TongoOptions>().filter(is_other).map(|row| (row, OPTIONS_PAGE));
    for ((word, number), page) in rows.chain(assets).chain(options) {
        let row = format!("| {number} | `{word}` | ");
        assert!(page.lines().any(|line| line.starts_with(&row)), "no row {row}");
    }
}
