//! The layers as data: the permitted imports. Arrows go down only.

/// The source folders of packages with layers, and their arrows: a module, and the modules or parts
/// of them that it may import. An arrow to a module allows all of it, an arrow to a part only that
/// part.
pub(crate) const LAYERS: &[(&str, &str)] = &[
    ("src/", ARROWS),
    ("crates/bots/src/", BOTS_ARROWS),
    ("crates/engine/src/", ENGINE_ARROWS),
    ("crates/protocol/src/", PROTOCOL_ARROWS),
    ("crates/shell/src/", SHELL_ARROWS),
];

/// The packages that the service has as modules: a path that begins with one counts as the other.
pub(crate) const LEAVES: &[(&str, &str)] = &[
    ("bahay::", "crate::"),
    ("bahay_auth::", "crate::auth::"),
    ("bahay_base::clock::", "crate::clock::"),
    ("bahay_base::entropy::", "crate::entropy::"),
    ("bahay_base::ids::", "crate::ids::"),
    ("bahay_base::reason::", "crate::reason::"),
    ("bahay_db::", "crate::db::"),
    ("bahay_ledger::", "crate::ledger::"),
    ("bahay_live_store::", "crate::live_store::"),
    ("bahay_notices::", "crate::notices::"),
    ("bahay_openid::", "crate::openid::"),
    ("bahay_rate_limit::", "crate::rate_limit::"),
    ("bahay_records::", "crate::records::"),
    ("bahay_telemetry::", "crate::telemetry::"),
];

/// The arrows of the service. Leaf packages count as modules.
const ARROWS: &str = "
# A bound on collecting the coins of many accounts.
grant_limits: clock
metrics:
# Authentication and accounts.
accounts: auth clock db entropy grant_limits ids ledger notices openid reason
# Stored state.
idempotency: db entropy
archive: clock db ids records
passes: clock db ids notices
# Refusals as responses.
problem: auth db records
# Monthly partitions, created ahead of time.
months: db ledger metrics
# The removal of old data.
retention: clock db idempotency
# Relations and standings of players: projected from records, some time after the game.
social: db ids reason
replay:
# The runner of projections of the ledger.
projections: clock db ids metrics
standings: clock db ids live_store projections records replay zone
# Coins apart from tables: the house's grants and operators' corrections.
rewards: clock db grant_limits ids ledger
operators: accounts auth clock db entropy ids ledger passes rate_limit reason social
# Reports for operators.
reports: archive clock db ids ledger projections records replay verify
# Projections of finished games.
ratings: db ids projections
# Tables, and the path to them.
tables: archive clock db entropy ids ledger live_store metrics reason
rooms: clock db ids operators reason tables
lobby: accounts clock entropy ledger live_store rate_limit ratings reason rooms tables
# Tournaments: their journals, and the runner of their effects.
tournaments: archive clock db entropy ids ledger lobby notices operators passes rate_limit reason
# The registration of jobs.
jobs: metrics months records reports retention tournaments verify::hourly
# The two public interfaces, which share the protocol.
ws: accounts auth clock entropy ids live_store lobby metrics notices problem rate_limit social
    tables
http: accounts archive auth clock db entropy idempotency ids ledger live_store lobby metrics notices
    openid operators passes problem rate_limit reason records replay reports rewards rooms social
    standings tables telemetry tournaments verify::hourly
verify: archive db ledger metrics records
# Operators' commands on the services of a running house.
operate: archive clock config db ledger live_store operators reason tables
# Settings, the wiring, the commands.
config: accounts auth grant_limits ledger::allowance live_store lobby openid
    operators::AdjustmentBounds rate_limit records reports::pairs::signs retention rewards standings
    telemetry zone
app: accounts auth clock config db http idempotency jobs ledger live_store lobby metrics notices
    operators projections rate_limit ratings records reports retention rewards rooms social
    standings tables tournaments verify ws
cli: accounts app clock config db ids operate operators projections ratings reason records reports
    rooms standings telemetry verify
main: cli
";

/// The arrows of the engine.
const ENGINE_ARROWS: &str = "
coins:
hex:
seat:
cards:
chance: hex
# Values of unknown types, and enums that are objects with a type.
document:
tagged: document
game: chance document seat
refusals:
actions:
bit_set:
variants:
short_events:
# A game in the form for learning programs.
spaces: game seat
games: cards chance game seat spaces
table: chance coins game seat
catalog_macro: table
catalog: chance game seat spaces table
matchmaking: table
tournament: catalog chance coins game hex matchmaking seat table
testing: cards chance coins document game games seat spaces table
";

/// The arrows of the bots.
const BOTS_ARROWS: &str = "
ai:
tongits: ai
tongo_assets: ai
tongo_options: ai
catalog: ai
table: ai
search: ai table
simulation: ai table
gym: ai
arena: ai search
";

/// The arrows of the protocol.
const PROTOCOL_ARROWS: &str = "
phrase:
limits:
refusals:
form:
baseline:
short_fields: baseline form
brief: baseline form short_fields
game_reader:
short_reader: baseline brief form game_reader short_fields
reader: brief game_reader short_reader
known: brief game_reader reader
command_reader:
";

/// The arrows of the shell.
const SHELL_ARROWS: &str = "
synced_clock:
failure:
limits:
guard:
terms:
lost:
mutation:
history: failure guard limits
presence: failure
halting: guard history limits
context: halting history limits mutation terms
delivery: context failure guard halting history mutation
host: context delivery failure guard halting history mutation
lobby: failure host
tournaments:
simulation: is_departure_known lobby redact_events tournaments
";
