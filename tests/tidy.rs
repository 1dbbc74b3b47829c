//! The conventions of the repository as a test: permitted imports, banned items, the length of
//! files, and the existence of what documents cite.
//!
//! The tables in `tidy` are the rules; the code below them applies them. Every complaint names a
//! file and a line and the remedy. The checks read text, not syntax trees:
//! comments and strings are separated from code, paths through `crate::` and `super::` are
//! followed, macros are not expanded. The last test gives each check a violation and expects a
//! complaint.

mod tidy {
    pub(crate) mod arrows;
    pub(crate) mod circles;
    pub(crate) mod documents;
    pub(crate) mod floats;
    pub(crate) mod games;
    pub(crate) mod glossary;
    pub(crate) mod layers;
    pub(crate) mod names;
    pub(crate) mod packages;
    pub(crate) mod purity;
    pub(crate) mod rust;
    pub(crate) mod schemas;
    pub(crate) mod tables;
    pub(crate) mod versions;
}

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, OnceLock};

use tidy::arrows::{self, arrows, unused_arrows};
use tidy::circles::circles;
use tidy::documents::{citations, links, tests_named};
use tidy::floats::floats;
use tidy::games::games_named;
use tidy::glossary::{self, glossary};
use tidy::names::{self, banned, clocks, doors, unused_doors};
use tidy::packages::{packages, restricted_crates};
use tidy::purity::purity;
use tidy::rust::{Parts, is_of_word};
use tidy::schemas::twins;
use tidy::tables::written_tables;
use tidy::versions::versions;

/// The longest file of these kinds, in lines.
const LINES_MAX: usize = 600;
const COUNTED: [&str; 8] = ["rs", "sql", "sh", "lua", "py", "ts", "tsx", "mjs"];

/// Generated files in the repository that a test compares.
const CONTRACTS: [&str; 2] = ["openapi.yaml", "asyncapi.yaml"];

/// The page whose rule numbers are cited if a file's path names no other game with a page.
const RULES_PAGE: &str = "docs/rules/tongits.md";

/// The folder of the rules pages, each named after its game.
const RULES_PAGES: &str = "docs/rules/";

/// A file of the repository.
#[derive(Clone)]
struct File {
    path: String,
    text: String,
    /// The text of a Rust file without comments and strings, separated when first asked for.
    parts: OnceLock<Parts>,
}

type Complaints = Vec<String>;

/// Defines a test for each check of the repository.
macro_rules! hold {
    ($(fn $test:ident() = $check:ident;)+) => {$(
        #[test]
        fn $test() {
            let complaints = $check(&REPOSITORY);
            assert!(complaints.is_empty(), "\n\n{}\n", complaints.join("\n"));
        }
    )+};
}

hold! {
    fn modules_import_only_what_the_table_of_arrows_allows() = arrows;
    fn every_arrow_is_used() = unused_arrows;
    fn no_imports_form_a_circle() = circles;
    fn packages_depend_only_on_what_their_line_permits() = packages;
    fn restricted_crates_are_used_only_by_their_packages() = restricted_crates;
    fn a_table_is_written_only_by_its_modules() = written_tables;
    fn crates_with_a_door_are_named_only_behind_it() = doors;
    fn every_door_is_used() = unused_doors;
    fn only_the_clock_tells_the_time() = clocks;
    fn nothing_banned_is_said() = banned;
    fn the_packages_without_io_name_nothing_that_waits() = purity;
    fn games_are_named_only_in_their_folders() = games_named;
    fn coins_never_meet_floating_point_numbers() = floats;
    fn no_file_is_too_long() = lengths;
    fn every_module_and_migration_begins_with_what_it_is_for() = first_words;
    fn documents_point_to_what_exists() = links;
    fn tests_that_documents_name_exist() = tests_named;
    fn cited_rules_exist() = citations;
    fn the_code_uses_the_terms_of_the_glossary() = glossary;
    fn a_schema_has_a_name_of_its_own() = twins;
    fn every_place_has_the_same_version() = versions;
    fn contracts_are_kept() = contracts;
}

static REPOSITORY: LazyLock<Vec<File>> = LazyLock::new(repository);

fn lengths(files: &[File]) -> Complaints {
    let is_counted =
        |file: &&File| COUNTED.contains(&file.extension()) && !file.path.contains("/gen/");
    let counted = files.iter().filter(is_counted);
    let lengths = counted.map(|file| (&file.path, file.text.lines().count()));
    let too_long = lengths.filter(|(_, lines)| *lines > LINES_MAX);
    let complain =
        |(path, lines)| format!("{path}:{lines}: more than {LINES_MAX} lines: split it by subject");
    too_long.map(complain).collect()
}

fn first_words(files: &[File]) -> Complaints {
    let mut complaints = Vec::new();
    for file in files {
        let (mark, what) = match file.extension() {
            "rs" => ("//! ", "a `//!` paragraph that says what the module is for"),
            "sql" => ("-- ", "a comment that says what changes and why"),
            "lua" => ("-- ", "a comment that says what the script does"),
            _ => continue,
        };
        if !file.text.starts_with(mark) {
            complaints.push(format!("{}:1: begin with {what}", file.path));
        }
    }
    complaints
}

fn contracts(files: &[File]) -> Complaints {
    let missing = CONTRACTS.iter().filter(|path| !files.iter().any(|file| file.path == **path));
    missing.map(|path| format!("{path}:1: missing: print it with `bahay`, and commit it")).collect()
}

/// Reads a table of names: a line has a name with a colon, and the names that belong to it. Indented
/// lines continue the previous one, and lines with `#` are comments.
fn read_table(text: &str) -> Vec<(&str, Vec<&str>)> {
    let mut table: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        if !line.starts_with(' ') {
            let name = words.next().and_then(|name| name.strip_suffix(':'));
            table.push((name.expect("a line begins with a name and a colon"), Vec::new()));
        }
        table.last_mut().expect("the first line is not indented").1.extend(words);
    }
    table
}

/// Returns the lines, from 1, with a whole-word occurrence.
fn lines_with(code: &str, word: &str) -> Vec<usize> {
    let has = |line: &str| {
        line.match_indices(word).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            let after = line[at + word.len()..].chars().next();
            let bound = |edge: Option<char>, neighbour: Option<char>| {
                !edge.is_some_and(is_of_word) || !neighbour.is_some_and(is_of_word)
            };
            bound(word.chars().next(), before) && bound(word.chars().next_back(), after)
        })
    };
    (1..).zip(code.lines()).filter(|(_, line)| has(line)).map(|(line, _)| line).collect()
}

impl File {
    fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned(), parts: OnceLock::new() }
    }

    fn extension(&self) -> &str {
        self.path.rsplit_once('.').map_or("", |(_, extension)| extension)
    }

    fn is_rust(&self) -> bool {
        self.extension() == "rs"
    }

    fn parts(&self) -> &Parts {
        self.parts.get_or_init(|| Parts::of(&self.text))
    }

    /// Returns the code of a Rust file, without comments and strings.
    fn code(&self) -> &str {
        &self.parts().code
    }

    /// Returns the code of a Rust file before its unit tests.
    fn code_without_tests(&self) -> &str {
        let code = self.code();
        let opens = |at: usize| code[at..].lines().nth(1).is_some_and(|line| line.ends_with('{'));
        let mut modules = code.match_indices("#[cfg(test)]\nmod ").map(|(at, _)| at);
        &code[..modules.find(|at| opens(*at)).unwrap_or(code.len())]
    }

    /// Returns the source folder of the file's package, such as `crates/engine/src/`.
    fn source_root(&self) -> Option<&str> {
        if self.path.starts_with("src/") {
            return Some("src/");
        }
        let inner = self.path.strip_prefix("crates/")?;
        let name = inner.find('/')?;
        let is_source = inner[name..].starts_with("/src/");
        is_source.then(|| &self.path[.."crates/".len() + name + "/src/".len()])
    }
}

/// Returns every text of the repository by path, without built, downloaded or generated local
/// files.
fn repository() -> Vec<File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders: Vec<PathBuf> = vec![root.to_owned()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the repository can be read") {
            let path = entry.expect("an entry of a folder can be read").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                if !name.starts_with('.') && !["target", "assets", "node_modules"].contains(&&*name)
                {
                    folders.push(path);
                }
            } else {
                // Of a binary file only the name is read.
                let text = fs::read_to_string(&path).unwrap_or_default();
                let path = path.strip_prefix(root).unwrap_or(&path).to_string_lossy();
                files.push(File::new(&path.replace('\\', "/"), &text));
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// The canary: each check gets a violation and a similar valid text.
#[test]
fn the_checks_find_what_is_wrong_and_only_that() {
    type Case = (fn(&[File]) -> Complaints, &'static str, &'static str, &'static str);
    let rules = || File::new(RULES_PAGE, "**3.6 Dump** a card.\n| 6.10 | known |\n");
    let terms = || File::new(glossary::PAGE, "| `Told` | delivery cursor |\n");
    let cases: &[Case] = &[
        (arrows, "src/lobby/mod.rs", "use crate::http::Problem;", "use crate::tables::Tables;"),
        (arrows, "src/metrics.rs", "use super::db;", "mod tests {\n use super::Id;\n}"),
        (arrows, "src/lobby/rooms.rs", "use super::super::ws;", "use super::ws;"),
        (arrows, "src/http/mod.rs", "use crate::verify::Ledger;", "use crate::verify::hourly::C;"),
        (
            arrows,
            "src/http/mod.rs",
            "use crate::{db::A, verify::{hourly::B, Ledger}};",
            "use crate::{db::A, verify::{hourly::{B, C as D}}};",
        ),
        (arrows, "src/archive/mod.rs", "fn f() { crate::ledger::post() }", "// crate::ledger"),
        (arrows, "crates/engine/src/table/mod.rs", "use crate::cards::Card;", "use crate::seat;"),
        (
            arrows,
            "crates/shell/src/history/replica.rs",
            "use crate::host::Call;",
            "use crate::limits::L;",
        ),
        (purity, "crates/shell/src/x.rs", "tokio::spawn(f())", "use crate::tokio_like;"),
        (purity, "crates/engine/src/x.rs", "use std::fs;", "use core::fmt;"),
        (doors, "src/tables/mod.rs", "let c = sqlx::query(\"X\");", "let c = \"sqlx::query\";"),
        (doors, "src/lobby/mod.rs", "use sqlx::PgPool;", "use my_sqlx::PgPool;"),
        (clocks, "crates/auth/src/lib.rs", "let now = Instant::now();", "/// Instant. \nfn f() {}"),
        (clocks, "crates/auth/src/lib.rs", "jiff::Timestamp::now()", "clock.now()"),
        (
            games_named,
            "src/lobby/mod.rs",
            "use bahay_engine::games::tongits::Rules;",
            "use bahay_engine::catalog::AnyRules;",
        ),
        (games_named, "src/http/x.rs", "fn f(g: &Tongits) {}", "/// Tongits\nfn f() {}"),
        (banned, "crates/db/src/lib.rs", "fn f() { todo!() }", "fn f() { /* */ g(\"todo!\") }"),
        (banned, "crates/db/src/lib.rs", "#[allow(dead_code)]", "#[expect(dead_code)]"),
        (banned, "tests/it/x.rs", "#[ignore]\nfn f() {}", "let r = r#\"#[ignore]\"#;"),
        (banned, "src/x.rs", "self.pool.begin().await?", "db::begin(&self.pool).await?"),
        (floats, "crates/ledger/src/fee.rs", "let fee = 0.05_f64 as f64;", "let f64s = self.0.5;"),
        (floats, "src/http/core/pagination.rs", "fn of(coins: f32) {}", "let r = \"f32\"; // f64"),
        (floats, "src/ws/x.rs", "let s = pause.as_secs_f64();", "let s = pause.as_millis();"),
        (floats, "src/live_store/x.rs", "let half = 0.5 * sum;", "for half in 0..5 {}"),
        (floats, "src/archive/x.rs", "q(\"select a\n::float8\")", "q(\"select a::bigint\")"),
        (floats, "crates/engine/src/x.rs", "let fee = 1e2;", "let fee = 0x1e2;"),
        (floats, "migrations/0001.sql", "amount REAL not null", "amount bigint -- a real one"),
        (
            packages,
            "crates/engine/Cargo.toml",
            "[dependencies]\nbahay-db.workspace = true",
            "[dev-dependencies]\nbahay-db.workspace",
        ),
        (
            restricted_crates,
            "crates/names/Cargo.toml",
            "[dependencies]\nredis.workspace = true",
            "[dependencies]\nredis-like = \"1\"",
        ),
        (written_tables, "src/ws/x.rs", "q(\"Update\n players set\")", "q(\"update of players\")"),
        (first_words, "src/x.rs", "use std::fs;", "//! Reads."),
        (first_words, "migrations/1.sql", "create table t ();", "-- Things.\ncreate table t ();"),
        (links, "docs/A.md", "[b](B.md)", "[a](A.md#top) [c](https://a.b/c)"),
        (links, "docs/A.md", "see `src/nowhere.rs`", "see `docs/A.md` and `src/*.rs`"),
        (links, "src/x.rs", "//! As docs/NONE.md has it.", "//! As docs/rules/tongits.md has it."),
        (tests_named, "docs/A.md", "`tests/tidy.rs::holds`", "`sqlx::query` and `src/*.rs::x`"),
        (citations, "docs/A.md", "by rules 3.6 and 3.99", "by rules 3.6 and 6.10"),
        (citations, "src/x.rs", "/// (rule 12.1)", "/// (rule 3.6), version 1.2"),
        (citations, "src/x.rs", "fn rule() { \"3.7\" }", "fn rule() { \"3.6\" }"),
        (glossary, "src/x.rs", "struct Told;", "struct Retold; // Told"),
        (glossary, "migrations/1.sql", "create table Told ();", "-- Told\ncreate table t ();"),
    ];
    for (check, path, bad, good) in cases {
        let complaints = check(&[File::new(path, bad), rules(), terms()]);
        assert_eq!(complaints.len(), 1, "{path} with {bad:?}: {complaints:?}");
        assert!(complaints[0].starts_with(&format!("{path}:")), "{complaints:?}");
        let complaints = check(&[File::new(path, good), rules(), terms()]);
        assert!(complaints.is_empty(), "{path} with {good:?}: {complaints:?}");
    }
    let long = "//! Long.\n".repeat(LINES_MAX + 1);
    assert_eq!(lengths(&[File::new("src/x.rs", &long)]).len(), 1);
    assert!(lengths(&[File::new("docs/X.md", &long)]).is_empty());
    assert_eq!(contracts(&[]).len(), CONTRACTS.len());
    assert_eq!(citations(&[]).len(), 1);
    assert_eq!(glossary(&[]).len(), 1);
    let term = File::new(glossary::PAGE, "- **delivery cursor** (`src/x.rs`): A position.");
    let complaints = |text| glossary(&[term.clone(), File::new("src/x.rs", text)]).len();
    assert_eq!(complaints("struct Cursor;"), 1);
    assert_eq!(complaints("struct DeliveryCursor;"), 0);
    assert_eq!(complaints("//! A delivery\n//! cursor."), 0);
    let circle = |test| {
        let imports = |of: &str| format!("{test}use super::{of}::X;");
        let a = File::new("src/lobby/a.rs", &imports("b"));
        circles(&[a, File::new("src/lobby/b.rs", &imports("a"))]).len()
    };
    assert_eq!(circle(""), 1);
    assert_eq!(circle("#[cfg(test)]\nmod tests {\n"), 0);
    let importing = [File::new("src/a.rs", "use crate::b::C;\nuse bahay_db::D;")];
    let unused = |table| arrows::unused_in(&importing, "src/", table).len();
    assert_eq!([unused("a: b db::D"), unused("a: b::D db"), unused("z:")], [0, 1, 1]);
    let naming = [File::new("src/a/mod.rs", "use axum::Router;")];
    let unused = |table| names::unused(&naming, table, names::module).len();
    assert_eq!([unused("axum: a"), unused("axum: a b")], [0, 1]);
    let unlisted = arrows(&[File::new("src/casino.rs", "fn f() {}")]);
    assert_eq!(unlisted.len(), 1, "{unlisted:?}");
}
