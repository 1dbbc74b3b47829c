//! Examples of every command and message for asyncapi.yaml: values of the types that the socket
//! sends, taken from a table that three players create, fill and play. They are reproducible,
//! because ids, times and seeds are fixed.

use bahay_engine::catalog::{self, AnyAction, AnyGame, AnyRules};
use bahay_engine::chance::{ClientSeed, Commitment, ServerSeed};
use bahay_engine::coins::Coins;
use bahay_engine::game::{Game, Item, Skill, Viewer};
use bahay_engine::games::tongits::Action;
use bahay_engine::hex::Hex;
use bahay_engine::matchmaking::TicketId;
use bahay_engine::seat::Seat;
use bahay_engine::table::{
    Clocks, ConnectionId, Crown, Event, Fee, GameEntropy, GameId, Input, Payment, PhaseView,
    PlayerId, Price, Settlement, Spectators, Table, TableId, TableView, Terms, Timestamp,
    TournamentId,
};
use bahay_protocol::{
    Closing, Command, Credential, Message, OpenPrompt, Phrase, SUBPROTOCOL, SeekState, Tag,
    WaitReason,
};
use uuid::Uuid;

type TableEvent = Event<<AnyGame as Game>::Event>;

/// Noon of 1 March 2026 UTC.
const NOON_MS: i64 = 1_772_366_400_000;
/// The leading bits of the examples' ids, which have the form of version 7.
const ID: u128 = 0x019c_a944_3c00_7000_8000_0000_0000_0000;
const TABLE: TableId = TableId(Uuid::from_u128(ID + 0x7ab1e));
const TOURNAMENT: TournamentId = TournamentId(Uuid::from_u128(ID + 0x70_0b3a));
const GAME: GameId = GameId(Uuid::from_u128(ID + 0x9a3e));
const NEXT_GAME: GameId = GameId(Uuid::from_u128(ID + 0x9a3f));
const NAMES: [&str; 3] = ["Althea", "Benjie", "Carmela"];
/// The seed texts of the first two players' clients; the third does not commit.
const TEXTS: [&str; 2] = ["luck", "swerte"];
const SEED: ServerSeed = ServerSeed(Hex([0x5e; 32]));

/// Returns each command with a description.
pub fn commands() -> Vec<(&'static str, Command<AnyAction>)> {
    let prompt = playing_example().prompt;
    let dump = prompt
        .legal
        .iter()
        .find(|action| matches!(action, AnyAction::Tongits(Action::Dump { .. })));
    let act = |action| Command::Act { id: 4, game: GAME, prompt: prompt.number, action };
    let token = Some(Credential::new("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOi.c2lnbmF0dXJl".into()));
    let ticket = Some(Credential::new(format!("pt_{}", "0".repeat(64))));
    vec![
        ("Authenticate by a token", Command::Authenticate { id: 0, token, ticket: None }),
        ("Authenticate by a ticket", Command::Authenticate { id: 0, token: None, ticket }),
        ("The first join", Command::Join { id: 1, from: None, tag: None, table: None }),
        (
            "Resume from a known version",
            Command::Join { id: 1, from: Some(12), tag: Some(tag(12)), table: Some(TABLE) },
        ),
        (
            "Ready, with a seed",
            Command::Ready { id: 2, game: GAME, commitment: commitment_to(TEXTS[0]) },
        ),
        ("Ready, without one", Command::Ready { id: 2, game: GAME, commitment: None }),
        ("Reveal the seed text", Command::Reveal { id: 3, game: GAME, text: TEXTS[0].into() }),
        ("Dump a card", act(dump.expect("the starter may dump").clone())),
        ("Answer a fight", act(AnyAction::Tongits(Action::Challenge))),
        ("Ask for advice", Command::Hint { id: 5 }),
        ("Take the seat back", Command::TakeBack { id: 6 }),
        ("Leave the table", Command::Leave { id: 7 }),
        ("Say something", Command::Say { id: 9, phrase: Phrase::WellPlayed }),
        ("Watch a table", Command::Watch { id: 10, table: TABLE }),
        ("Watch no more", Command::Unwatch { id: 11 }),
        ("Request a seat", Command::Seek { id: 12, rooms: vec!["newbie".into()] }),
        ("Cancel the request", Command::CancelSeek { id: 13 }),
        ("Test the connection", Command::Ping { id: 8 }),
    ]
}

/// Returns each message with a description.
pub fn messages() -> Vec<(&'static str, Message<AnyGame>)> {
    let preparing = ExampleTable::with_players();
    let preparing_view = preparing.table.view(Some(player(0)));
    let [texts_requested, text_revealed] = revealing_updates();
    let PlayingExample { version, at, view, events, prompt } = playing_example();
    let prompt = Some(prompt);
    let over_at = Timestamp::from_ms(NOON_MS + 84_000);
    let settled_at = over_at.after_ms(12);
    vec![
        (
            "The greeting",
            Message::Hello {
                player: player(0),
                protocol: SUBPROTOCOL.into(),
                server_time_ms: Timestamp::from_ms(NOON_MS),
                notices: Some(0),
            },
        ),
        (
            "A table that prepares a game",
            snapshot(preparing.version, preparing.at, preparing_view, None),
        ),
        ("The texts of the seeds are asked for", texts_requested),
        ("The client has revealed its own, as command 3", text_revealed),
        ("A running game; it is the player's turn", snapshot(version, at, view, prompt.clone())),
        (
            "The last text is revealed and the cards are dealt",
            update(version, at, events, prompt, None),
        ),
        ("The game is over", update(97, over_at, vec![game_over_event()], None, None)),
        (
            "The coins have moved, and the next game is prepared",
            update(98, settled_at, settlement_events(settled_at), None, None),
        ),
        ("The table was voided", Message::Closed { table: TABLE, reason: Closing::Voided }),
        ("The table is lost", Message::Closed { table: TABLE, reason: Closing::Lost }),
        (
            "A player says a phrase",
            Message::Said {
                player: player(2),
                phrase: Phrase::WellPlayed,
                server_time_ms: over_at.after_ms(900),
            },
        ),
        ("The action that a bot would choose", advice()),
        ("The ticket waits", ticket(SeekState::Waiting, None, None)),
        (
            "Others wait too, but all of them are on the same network",
            ticket(SeekState::Waiting, None, Some(WaitReason::OnlySameNetwork)),
        ),
        ("A table is found: join", ticket(SeekState::Seated, Some(TABLE), None)),
        (
            "An invitation to a rematch",
            Message::Invited {
                code: "K7MWQ2XA".into(),
                from: player(2),
                name: NAMES[2].into(),
                game: GAME,
            },
        ),
        (
            "The player has moved up in a tournament",
            Message::Standing {
                tournament: TOURNAMENT,
                rank: 4,
                score: 12,
                tie_break: Coins::from_hundredths(31_00),
                entrants: 87,
            },
        ),
        ("Done, as part of version 98", Message::Ack { id: 4, version: Some(98) }),
        ("The answer to a ping", Message::Ack { id: 8, version: None }),
        (
            "The rules forbid it",
            Message::Refusal {
                id: Some(4),
                code: "card_addable".into(),
                rule: Some("3.6".into()),
                detail: "a card that could be added to an exposed meld may not be dumped".into(),
                retryable: false,
                retry_after_ms: None,
            },
        ),
        (
            "A penalty for not being ready",
            Message::Refusal {
                id: Some(9),
                code: "not_ready_before".into(),
                rule: None,
                detail: "wait 10 s for the next seat: you were not ready for a game".into(),
                retryable: false,
                retry_after_ms: Some(10_000),
            },
        ),
        (
            "An invalid command without a readable id",
            Message::Refusal {
                id: None,
                code: "malformed".into(),
                rule: None,
                detail: "not a command: expected value at line 1 column 1".into(),
                retryable: false,
                retry_after_ms: None,
            },
        ),
    ]
}

fn snapshot(
    version: u64,
    server_time_ms: Timestamp,
    view: TableView<AnyGame>,
    prompt: Option<OpenPrompt<AnyAction>>,
) -> Message<AnyGame> {
    let view = Box::new(view);
    Message::Snapshot { version, tag: tag(version), server_time_ms, view, prompt }
}

fn update(
    version: u64,
    server_time_ms: Timestamp,
    events: Vec<TableEvent>,
    prompt: Option<OpenPrompt<AnyAction>>,
    ack: Option<u32>,
) -> Message<AnyGame> {
    Message::Update { version, tag: tag(version), server_time_ms, events, prompt, ack }
}

fn ticket(
    state: SeekState,
    table: Option<TableId>,
    reason: Option<WaitReason>,
) -> Message<AnyGame> {
    Message::Ticket {
        ticket: TicketId(Uuid::from_u128(ID + 0x71c)),
        state,
        rooms: vec!["newbie".into()],
        table,
        reason,
        expires_at_ms: Timestamp::from_ms(NOON_MS + 120_000),
    }
}

/// Returns the terms of the example's table: those of the first room of a new house.
///
/// # Panics
/// Never: the house has a game, and the game a rule set.
pub fn terms() -> Terms<AnyRules> {
    let game = catalog::kinds().into_iter().find(|kind| !kind.is_hidden).expect("a game");
    let set = game.rule_sets.into_iter().next().expect("a rule set");
    Terms {
        room: "newbie".into(),
        rules: set.rules,
        price: Price { bet: Coins::from_hundredths(100), multiplier: 1, fee_basis_points: 500 },
        hits: set.hits,
        clocks: Clocks::default(),
        spectators: Spectators::Anybody,
        bots: Skill::Greedy,
        private: None,
        practice: false,
        tournament: None,
    }
}

/// Returns the advice of a practice table for the same prompt.
fn advice() -> Message<AnyGame> {
    let OpenPrompt { game, number, legal, .. } = playing_example().prompt;
    let action = legal.into_iter().next().expect("the player has a legal action");
    Message::Advice { game, prompt: number, action, by: "quick".into() }
}

/// The messages to the player who acts first in a game.
struct PlayingExample {
    version: u64,
    at: Timestamp,
    view: TableView<AnyGame>,
    events: Vec<TableEvent>,
    prompt: OpenPrompt<AnyAction>,
}

/// The example's table, after each accepted input.
struct ExampleTable {
    table: Table<AnyGame>,
    version: u64,
    at: Timestamp,
    events: Vec<TableEvent>,
}

impl ExampleTable {
    /// Returns a table with three connected players.
    fn with_players() -> Self {
        let at = Timestamp::from_ms(NOON_MS);
        let mut table = Self { table: Table::new(TABLE, terms()), version: 0, at, events: vec![] };
        for (number, name) in (0..).zip(NAMES) {
            table.apply(Input::sit(player(number), name));
            let connection = ConnectionId(Uuid::from_u128(ID + 0xc0 + u128::from(number)));
            table.apply(Input::Connect { player: player(number), connection });
        }
        table
    }

    /// Makes all players ready and opens the game in the ledger.
    fn open_game(&mut self) {
        let [first, second] = TEXTS.map(commitment_to);
        for (number, commitment) in (0..).zip([first, second, None]) {
            self.apply(Input::Ready { player: player(number), game: GAME, commitment });
        }
        let stakes = vec![Coins::from_hundredths(1_400); 3];
        self.apply(Input::Opened { game: GAME, stakes, pot: Coins::from_hundredths(300) });
    }

    fn reveal_seeds(&mut self) {
        for (number, text) in (0..).zip(TEXTS) {
            self.apply(Input::Reveal { player: player(number), game: GAME, text: text.into() });
        }
    }

    /// Returns the update of the last line for the first player, with the id of its command.
    fn to_update(&self, ack: Option<u32>) -> Message<AnyGame> {
        let viewer = self.table.viewer(player(0));
        let events = self.events.iter().filter_map(|event| event.redact::<AnyGame>(viewer));
        update(self.version, self.at, events.collect(), None, ack)
    }

    fn apply(&mut self, input: Input<AnyAction>) {
        self.at = self.at.after_ms(250);
        let fresh = || GameEntropy { seed: SEED, game: GAME };
        let decided =
            self.table.decide(self.at, input, fresh).expect("the example's inputs are valid");
        self.table = decided.table;
        self.events = decided.events;
        self.version += 1;
    }
}

/// Returns the updates while the second of two committed clients has not revealed yet.
fn revealing_updates() -> [Message<AnyGame>; 2] {
    let mut table = ExampleTable::with_players();
    table.open_game();
    let first = table.to_update(None);
    table.apply(Input::Reveal { player: player(0), game: GAME, text: TEXTS[0].into() });
    [first, table.to_update(Some(3))]
}

fn commitment_to(text: &str) -> Option<Commitment> {
    Some(ClientSeed::from_text(text).commitment())
}

fn playing_example() -> PlayingExample {
    let mut table = ExampleTable::with_players();
    table.open_game();
    table.reveal_seeds();
    let ExampleTable { table, version, at, events } = table;
    (0..3)
        .find_map(|number| {
            let view = table.view(Some(player(number)));
            let prompt = OpenPrompt::from_view(&view).filter(|prompt| !prompt.legal.is_empty())?;
            let viewer = Viewer::Seat(view.seat?);
            let events = events.iter().filter_map(|event| event.redact::<AnyGame>(viewer));
            debug_assert!(matches!(view.phase, PhaseView::Playing { .. }));
            Some(PlayingExample { version, at, events: events.collect(), view, prompt })
        })
        .expect("a new game has a prompt")
}

/// Returns the end of a game: a fight that nobody could answer, both others burned, a king in the
/// winner's hand, and the winner's first crown, so that the POT waits.
fn game_over_event() -> TableEvent {
    let item = |name: &'static str, rule: &'static str| Item {
        name: name.into(),
        rule: rule.into(),
        counts: 1,
    };
    let payment = |from| Payment {
        from: seat(from),
        to: seat(1),
        items: vec![item("normal", "6.1"), item("special", "6.3"), item("burned", "6.6")],
        owed: Coins::from_hundredths(300),
        paid: Coins::from_hundredths(300),
    };
    let fee =
        Fee { seat: seat(1), gross: Coins::from_hundredths(600), fee: Coins::from_hundredths(30) };
    let settlement = Settlement {
        winner: Some(seat(1)),
        payments: vec![payment(2), payment(0)],
        fees: vec![fee],
        pot: None,
    };
    Event::Over { game: GAME, settlement, server_seed: Some(SEED) }
}

/// Returns the events after the settlement; the next game is prepared at once.
fn settlement_events(at: Timestamp) -> Vec<TableEvent> {
    let crown = Some(Crown { player: player(1), wins: 1 });
    let commitment = ServerSeed(Hex([0x5f; 32])).commitment();
    let deadline_ms = at.after_ms(Clocks::default().prepare_ms);
    vec![
        Event::Settled { game: GAME, pot: Coins::from_hundredths(300), crown },
        Event::Preparing { game: NEXT_GAME, commitment, deadline_ms },
    ]
}

/// Returns the tag of the line that led to a version.
fn tag(version: u64) -> Tag {
    let [.., a, b] = version.to_be_bytes();
    Tag(Hex([0x7a, 0x61, 0x67, 0x3a, a, b]))
}

fn player(number: u8) -> PlayerId {
    PlayerId(Uuid::from_u128(ID + 0x91a7e0 + u128::from(number)))
}

fn seat(number: u8) -> Seat {
    Seat::new(number).expect("a table has this seat")
}
