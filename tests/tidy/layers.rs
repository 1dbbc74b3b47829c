//! The layers as data: who may import whom. Arrows go down only.

/// Who may import whom in `src`: the module, and what of the crate it may name. An arrow to a
/// module allows all of it, an arrow to a part only that part.
pub(super) const ARROWS: &[(&str, &[&str])] = &[
    // At the bottom: time, ids, randomness, the pool, logs.
    ("clock", &[]),
    ("ids", &[]),
    ("reason", &[]),
    // What bounds how coins of many accounts gather at one: pure, or a count of its own.
    ("allowance", &[]),
    ("grant_limits", &["clock"]),
    ("entropy", &["ids"]),
    ("db", &["clock", "entropy"]),
    ("metrics", &[]),
    ("telemetry", &["entropy"]),
    // Who plays, and who may.
    ("auth", &["clock", "entropy", "ids"]),
    (
        "accounts",
        &["auth", "clock", "db", "entropy", "grant_limits", "ids", "ledger", "openid", "reason"],
    ),
    ("openid", &["auth::install_algorithms", "clock"]),
    // Who is let in.
    ("rate_limit", &["ids"]),
    // What is stored, and what is live. They do not know each other, but for the ledger, which
    // stores the record of a game in the transaction that settles it.
    ("idempotency", &["db", "entropy"]),
    ("records", &["clock", "db"]),
    ("archive", &["clock", "db", "ids", "records"]),
    ("notices", &["clock", "db", "ids"]),
    // Parts of tables by months, made ahead of time.
    ("months", &["metrics"]),
    // What of all that is removed when it is old.
    ("retention", &["clock", "db", "idempotency"]),
    ("ledger", &["allowance", "clock", "db", "entropy", "archive", "ids", "months", "reason"]),
    ("live_store", &["clock", "entropy", "ids"]),
    // Between players, and how they stand: counted from records, some time after the game.
    ("social", &["db", "ids", "reason"]),
    ("replay", &[]),
    ("standings", &["clock", "db", "archive", "ids", "live_store", "records", "replay"]),
    // Coins beside the tables: what the house gives, and what those who run it correct.
    ("rewards", &["clock", "db", "grant_limits", "ids", "ledger"]),
    (
        "operators",
        &[
            "accounts", "auth", "clock", "db", "rate_limit", "entropy", "ids", "ledger", "social",
            "reason",
        ],
    ),
    // What others keep books by.
    ("ledger_events", &["entropy"]),
    // What operators read.
    ("reports", &["clock", "db", "archive", "ids", "ledger", "records", "verify"]),
    // What finished games say of their players.
    ("ratings", &["db", "ids"]),
    // Tables, and the way to them.
    (
        "tables",
        &["clock", "db", "entropy", "archive", "ids", "ledger", "live_store", "metrics", "reason"],
    ),
    ("rooms", &["clock", "db", "ids", "operators", "tables", "reason"]),
    (
        "lobby",
        &[
            "accounts",
            "allowance",
            "clock",
            "rate_limit",
            "entropy",
            "ids",
            "ledger",
            "live_store",
            "ratings",
            "rooms",
            "tables",
        ],
    ),
    // The two doors. What is shared between them is the protocol.
    (
        "ws",
        &[
            "accounts",
            "auth",
            "clock",
            "rate_limit",
            "entropy",
            "ids",
            "live_store",
            "lobby",
            "metrics",
            "notices",
            "social",
            "tables",
        ],
    ),
    (
        "http",
        &[
            "accounts",
            "auth",
            "clock",
            "db",
            "rate_limit",
            "entropy",
            "archive",
            "idempotency",
            "ids",
            "ledger",
            "live_store",
            "lobby",
            "metrics",
            "operators",
            "records",
            "replay",
            "reports",
            "rewards",
            "rooms",
            "notices",
            "openid",
            "social",
            "standings",
            "tables",
            "telemetry",
            "verify::hourly",
            "ws::protocol",
            "reason",
        ],
    ),
    // Programs beside the server: they know what anybody may know.
    ("client", &["entropy", "ws::protocol"]),
    ("demo", &["client", "entropy", "ids", "ws::protocol"]),
    ("loadtest", &["client", "clock", "entropy", "ws::protocol"]),
    ("simulate", &["lobby"]),
    ("arena", &["lobby", "simulate"]),
    ("env", &[]),
    ("tapes", &["ids", "lobby", "ws::protocol"]),
    ("verify", &["db", "archive", "ids", "ledger", "metrics", "records"]),
    // What operators do from the command line, on the services of a house that runs.
    (
        "operate",
        &[
            "clock",
            "config",
            "db",
            "archive",
            "ledger",
            "live_store",
            "operators",
            "tables",
            "reason",
        ],
    ),
    // How well signs of collusion tell who colludes, among bots.
    ("collusion", &[]),
    // What attackers who make accounts bring to one wallet, by the functions that the server has.
    ("farm", &["allowance", "rate_limit", "grant_limits", "lobby", "ratings", "rewards"]),
    // Games that nobody has played, to look at.
    ("fixtures", &["clock", "ledger", "rooms", "standings"]),
    // Settings, the wiring list, the commands.
    (
        "config",
        &[
            "accounts",
            "allowance",
            "auth",
            "rate_limit",
            "grant_limits",
            "ids",
            "live_store",
            "lobby",
            "openid",
            "records",
            "retention",
            "rewards",
            "standings",
            "telemetry",
            "operators::AdjustmentBounds",
        ],
    ),
    (
        "app",
        &[
            "accounts",
            "auth",
            "clock",
            "config",
            "db",
            "rate_limit",
            "archive",
            "http",
            "idempotency",
            "ids",
            "ledger",
            "live_store",
            "lobby",
            "metrics",
            "months",
            "operators",
            "ratings",
            "records",
            "reports",
            "retention",
            "rewards",
            "rooms",
            "notices",
            "social",
            "standings",
            "tables",
            "telemetry",
            "verify",
            "ws",
        ],
    ),
    (
        "cli",
        &[
            "accounts",
            "app",
            "arena",
            "clock",
            "collusion",
            "config",
            "db",
            "demo",
            "env",
            "farm",
            "fixtures",
            "http",
            "ids",
            "loadtest",
            "lobby",
            "operators",
            "operate",
            "ledger_events",
            "records",
            "reports",
            "simulate",
            "standings",
            "tapes",
            "telemetry",
            "verify",
            "ws",
            "reason",
        ],
    ),
    ("main", &["cli"]),
];

/// The same for the engine.
pub(super) const ENGINE_ARROWS: &[(&str, &[&str])] = &[
    ("coins", &[]),
    ("hex", &[]),
    ("seat", &[]),
    ("cards", &[]),
    ("chance", &["hex"]),
    ("game", &["chance", "seat"]),
    ("refusals", &["game"]),
    // A game in the form that programs which learn want, and games to be learned.
    ("spaces", &["game", "seat"]),
    ("gym", &["chance", "game", "hex", "seat", "spaces"]),
    ("games", &["cards", "chance", "game", "seat", "spaces"]),
    ("table", &["chance", "coins", "game", "hex", "seat"]),
    ("catalog_macro", &["chance", "game", "seat", "table"]),
    ("catalog", &["chance", "game", "games", "seat", "spaces", "table", "testing"]),
    ("matchmaking", &["table"]),
    // Its tests play every game of the catalogue.
    ("arena", &["catalog", "chance", "coins", "game", "hex", "seat", "table"]),
    ("testing", &["cards", "chance", "coins", "game", "games", "hex", "seat", "spaces", "table"]),
];

/// The same for the protocol.
pub(super) const PROTOCOL_ARROWS: &[(&str, &[&str])] =
    &[("phrase", &[]), ("brief", &[]), ("reading", &["brief"]), ("received", &[])];

/// The same for the shell.
pub(super) const SHELL_ARROWS: &[(&str, &[&str])] = &[
    ("synced_clock", &[]),
    ("journal", &[]),
    ("failure", &[]),
    ("limits", &[]),
    ("guard", &[]),
    ("terms", &[]),
    ("lost", &[]),
    ("delivery_cursor", &["guard", "journal"]),
    ("notice", &["journal", "delivery_cursor"]),
    ("notices", &["notice"]),
    ("codec", &["failure"]),
    ("presence", &["failure"]),
    ("presenter", &["failure", "journal", "notice"]),
    ("direct", &["journal", "notice", "delivery_cursor"]),
    ("replica", &["codec", "failure", "guard", "journal", "limits", "delivery_cursor"]),
    ("halting", &["guard", "journal", "limits", "replica"]),
    ("context", &["halting", "journal", "limits", "terms"]),
    (
        "watchers",
        &["context", "direct", "guard", "journal", "notice", "notices", "replica", "delivery_cursor"],
    ),
    (
        "session",
        &[
            "context",
            "direct",
            "failure",
            "guard",
            "halting",
            "journal",
            "notice",
            "notices",
            "presenter",
            "replica",
            "delivery_cursor",
            "watchers",
        ],
    ),
    (
        "host",
        &[
            "codec", "context", "direct", "failure", "guard", "halting", "journal", "notice",
            "replica", "delivery_cursor", "watchers",
        ],
    ),
    ("simulation", &["is_departure_known", "redact_events"]),
];
