//! The layers as data: the permitted imports. Arrows go down only.

/// The permitted imports in `src`: a module, and the parts of the crate that it may name. An arrow
/// to a module allows all of it, an arrow to a part only that part.
pub(super) const ARROWS: &[(&str, &[&str])] = &[
    // At the bottom: time, ids, randomness, the pool, logs.
    ("clock", &[]),
    ("ids", &[]),
    ("reason", &[]),
    // Bounds on collecting the coins of many accounts: pure, or with a count of its own.
    ("allowance", &[]),
    ("grant_limits", &["clock"]),
    ("entropy", &["ids"]),
    ("db", &["clock", "entropy"]),
    ("metrics", &[]),
    ("telemetry", &["entropy"]),
    // Authentication and accounts.
    ("auth", &["clock", "entropy", "ids"]),
    (
        "accounts",
        &["auth", "clock", "db", "entropy", "grant_limits", "ids", "ledger", "openid", "reason"],
    ),
    ("openid", &["auth::install_algorithms", "clock"]),
    // Admission.
    ("rate_limit", &["ids"]),
    // Stored and live state. They are independent, but for the ledger, which stores a game's record
    // in the transaction that settles it.
    ("idempotency", &["db", "entropy"]),
    ("records", &["clock", "db"]),
    ("archive", &["clock", "db", "ids", "records"]),
    ("notices", &["clock", "db", "ids"]),
    // Monthly partitions, created ahead of time.
    ("months", &["metrics"]),
    // The removal of old data.
    ("retention", &["clock", "db", "idempotency"]),
    ("ledger", &["allowance", "clock", "db", "entropy", "archive", "ids", "months", "reason"]),
    ("live_store", &["clock", "entropy", "ids"]),
    // Relations and standings of players: projected from records, some time after the game.
    ("social", &["db", "ids", "reason"]),
    ("replay", &[]),
    ("standings", &["clock", "db", "archive", "ids", "live_store", "records", "replay"]),
    // Coins apart from tables: the house's grants and operators' corrections.
    ("rewards", &["clock", "db", "grant_limits", "ids", "ledger"]),
    (
        "operators",
        &[
            "accounts", "auth", "clock", "db", "rate_limit", "entropy", "ids", "ledger", "social",
            "reason",
        ],
    ),
    // Events for other systems' books.
    ("ledger_events", &["entropy"]),
    // Reports for operators.
    ("reports", &["clock", "db", "archive", "ids", "ledger", "records", "verify"]),
    // Projections of finished games.
    ("ratings", &["db", "ids"]),
    // Tables, and the path to them.
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
    // The two public interfaces, which share the protocol.
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
    // Programs beside the server, with public knowledge only.
    ("client", &["entropy", "ws::protocol"]),
    ("demo", &["client", "entropy", "ids", "ws::protocol"]),
    ("loadtest", &["client", "clock", "entropy", "ws::protocol"]),
    ("simulate", &["lobby"]),
    ("arena", &["lobby", "simulate"]),
    ("env", &[]),
    ("tapes", &["ids", "lobby", "ws::protocol"]),
    ("verify", &["db", "archive", "ids", "ledger", "metrics", "records"]),
    // Operators' commands on the services of a running house.
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
    // The measurement of collusion signals among bots.
    ("collusion", &[]),
    // The gain of attackers who create accounts, computed with the server's functions.
    ("farm", &["allowance", "rate_limit", "grant_limits", "lobby", "ratings", "rewards"]),
    // Generated games for development.
    ("fixtures", &["clock", "ledger", "rooms", "standings"]),
    // Settings, the wiring, the commands.
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

/// The arrows of the engine.
pub(super) const ENGINE_ARROWS: &[(&str, &[&str])] = &[
    ("coins", &[]),
    ("hex", &[]),
    ("seat", &[]),
    ("cards", &[]),
    ("chance", &["hex"]),
    ("game", &["chance", "seat"]),
    ("refusals", &["game"]),
    // A game in the form for learning programs, and games to learn.
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

/// The arrows of the protocol.
pub(super) const PROTOCOL_ARROWS: &[(&str, &[&str])] =
    &[("phrase", &[]), ("brief", &[]), ("reading", &["brief"]), ("received", &[])];

/// The arrows of the shell.
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
