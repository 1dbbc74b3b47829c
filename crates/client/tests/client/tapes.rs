//! Plays the tapes of clients/tapes. Corrupted tapes must fail.

use std::fs;
use std::path::Path;

use crate::tape::play_tape;

/// Returns every tape of the repository, with its name.
fn read_tapes() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../clients/tapes");
    let files = fs::read_dir(folder).expect("the folder of the tapes");
    let files = files.map(|file| file.expect("an entry of the folder").path());
    let mut tapes: Vec<(String, String)> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .map(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            (name, fs::read_to_string(path).expect("a tape"))
        })
        .collect();
    tapes.sort();
    tapes
}

#[test]
fn the_client_agrees_with_every_tape() {
    let tapes = read_tapes();
    assert!(tapes.len() >= 60, "only {} tapes", tapes.len());
    let (mut connections, mut shows) = (0, 0);
    let mut failures = Vec::new();
    for (name, text) in &tapes {
        match play_tape(text) {
            Ok(summary) => {
                connections += summary.connections;
                shows += summary.shows;
            }
            Err(error) => failures.push(format!("{name}: {}", &error[..error.len().min(1_500)])),
        }
    }
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
    println!("{} tapes, {connections} connections, {shows} views compared", tapes.len());
}

/// Returns the place of the first line that contains every part.
fn find_line(lines: &[String], parts: &[&str]) -> Option<usize> {
    lines.iter().position(|line| parts.iter().all(|part| line.contains(part)))
}

/// Checks that a tape fails if a line with these parts is removed, or changed if `change` returns
/// another text.
#[track_caller]
fn check_corrupted(parts: &[&str], change: impl Fn(&str) -> Option<String>) {
    let mut found = 0;
    for (name, text) in read_tapes() {
        let mut lines: Vec<String> = text.trim_end().lines().map(str::to_owned).collect();
        let Some(place) = find_line(&lines, parts) else {
            continue;
        };
        match change(&lines[place]) {
            Some(line) => lines[place] = line,
            None => drop(lines.remove(place)),
        }
        found += 1;
        assert!(play_tape(&lines.join("\n")).is_err(), "{name} is played to its end");
    }
    assert!(found > 0, "no tape has {parts:?}");
}

/// Returns a line in which the digits after a part are replaced.
fn replace_digits(line: &str, part: &str, digits: &str) -> Option<String> {
    let place = line.find(part)? + part.len();
    let end = line[place..].find(|letter: char| !letter.is_ascii_digit())? + place;
    Some(format!("{}{digits}{}", &line[..place], &line[end..]))
}

#[test]
fn a_tape_without_one_of_its_lines_fails() {
    for parts in [
        [r#""send":{"action""#].as_slice(),
        &[r#""type":"reveal""#],
        &[r#""end""#],
        &[r#""close":4001"#],
        &[r#"[\"countdown\",20000]]"}"#],
    ] {
        check_corrupted(parts, |_| None);
    }
}

#[test]
fn a_tape_with_a_changed_line_fails() {
    check_corrupted(&[r#""digest":""#], |line| {
        let place = line.find(r#""digest":""#)? + r#""digest":""#.len();
        Some(format!("{}0000{}", &line[..place], &line[place + 4..]))
    });
    check_corrupted(&[r#""show""#, r#""version":"#], |line| {
        let place = line.find(r#""version":"#)? + r#""version":"#.len();
        Some(format!("{}9{}", &line[..place], &line[place..]))
    });
    check_corrupted(&[r#""outcome":"done""#], |line| {
        Some(line.replace(r#""outcome":"done""#, r#""outcome":"overtaken""#))
    });
    check_corrupted(&[r#""send""#, r#""from":"#], |line| replace_digits(line, r#""from":"#, "1"));
}
