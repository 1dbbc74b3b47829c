//! The texts of refusals for players, which clients ship: `clients/refusals`.

use std::collections::{BTreeMap, BTreeSet};

use bahay_api::socket::refusals;
use bahay_api::{Caller, Code, Tag, operations};

/// The languages of the texts.
const LANGUAGES: [&str; 2] = ["en", "fil"];

/// Texts by language.
type Texts = BTreeMap<String, String>;

/// Reads the texts of the house or of a game, by code.
fn read_texts(list: &str) -> BTreeMap<String, Texts> {
    let path = format!("{}/../../clients/refusals/{list}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the list of texts exists");
    serde_json::from_str(&text).expect("a list has a text by code and language")
}

/// Returns the codes with which a table or a session refuses, by the game that they belong to.
fn socket_codes() -> BTreeMap<Option<&'static str>, BTreeSet<String>> {
    let mut codes = BTreeMap::<_, BTreeSet<String>>::new();
    for refused in refusals() {
        codes.entry(refused.kind).or_default().insert(refused.code.into());
    }
    codes
}

/// Returns the codes of the operations that players call.
fn player_codes() -> BTreeSet<String> {
    let is_player =
        |caller: &Caller, tag: &Tag| *caller != Caller::Operator && *tag != Tag::Operators;
    let called = operations().filter(|operation| is_player(&operation.caller, &operation.tag));
    called.flat_map(|operation| operation.refusals()).map(|code| code.as_str().into()).collect()
}

#[test]
fn every_refusal_of_a_player_has_a_text_in_both_languages() {
    let house = read_texts("house");
    let mut missing: Vec<String> =
        player_codes().into_iter().filter(|code| !house.contains_key(code)).collect();
    let mut lists = vec![("client", read_texts("client"))];
    for (kind, codes) in socket_codes() {
        let own = kind.map(read_texts).unwrap_or_default();
        let has_text = |code: &String| own.contains_key(code) || house.contains_key(code);
        missing.extend(codes.into_iter().filter(|code| !has_text(code)));
        lists.extend(kind.map(|kind| (kind, own)));
    }
    assert!(missing.is_empty(), "codes without texts in clients/refusals: {missing:?}");
    lists.push(("house", house));
    for (list, texts) in lists {
        for (code, texts) in texts {
            let languages: Vec<&str> = texts.keys().map(String::as_str).collect();
            assert_eq!(languages, LANGUAGES, "{code} in {list}.json");
            assert!(texts.values().all(|text| !text.is_empty()), "{code} in {list}.json");
        }
    }
}

#[test]
fn every_text_belongs_to_a_code() {
    let socket = socket_codes();
    let of_session = socket.get(&None).expect("the session refuses");
    let is_of_house = |code: &String| {
        of_session.contains(code) || Code::ALL.iter().any(|known| known.as_str() == code)
    };
    let mut unknown: Vec<String> =
        read_texts("house").into_keys().filter(|code| !is_of_house(code)).collect();
    for (kind, codes) in &socket {
        let own = kind.map(read_texts).unwrap_or_default();
        unknown.extend(own.into_keys().filter(|code| !codes.contains(code) && !is_of_house(code)));
    }
    assert!(unknown.is_empty(), "texts of clients/refusals without a code: {unknown:?}");
}
