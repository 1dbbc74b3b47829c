//! Monitoring: alerts, dashboard and documents name metrics and labels that a running server
//! exposes, alerts lead to the runbook, and metrics change with the house.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use bahay::ws::protocol::Command;
use bahay_client_tokio::{Client, Play};
use bahay_engine::table::TableId;
use serde_json::Value;
use uuid::Uuid;

use crate::support::house::{House, guest_at, join_table};
use crate::support::play::{TestPlay as _, deal_game, refusal_code};
use crate::support::promql::{Names, Selector};
use crate::support::waiting::wait_until;

const DASHBOARD: &str = include_str!("../../../docs/grafana.json");
const ALERTS: &str = include_str!("../../../containers/watch/alerts.yml");
const ALERT_TESTS: &str = include_str!("../../monitoring/alerts.yml");
const OPERATIONS: &str = include_str!("../../../docs/OPERATIONS.md");

/// The document that alerts lead to, as they name it.
const RUNBOOK: &str = "docs/OPERATIONS.md#";

/// The labels that Prometheus adds to each sample of a server.
const TARGET_LABELS: [&str; 2] = ["job", "instance"];

/// Other names in documents that begin like a metric: roles of the database, and the prefix itself.
const NOT_METRICS: [&str; 4] = ["bahay_", "bahay_owner", "bahay_server", "bahay_service"];

/// The samples of a server: the values of each label of each metric.
#[derive(Debug, Default)]
struct Exposition(BTreeMap<String, BTreeMap<String, BTreeSet<String>>>);

/// An expression with the texts in which the labels of its results are written.
#[derive(Debug)]
struct Query {
    /// The panel or alert of the expression.
    place: String,
    expression: String,
    texts: Vec<String>,
}

impl Exposition {
    fn parse(text: &str) -> Self {
        let mut metrics = BTreeMap::<_, BTreeMap<_, BTreeSet<_>>>::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let sample = line.rsplit_once(' ').expect("a sample has a value").0;
            let [Selector { metric, matchers }] =
                <[Selector; 1]>::try_from(Names::in_expression(sample).selectors)
                    .unwrap_or_else(|_| panic!("{line} is not a sample"));
            let labels = metrics.entry(metric).or_default();
            for matcher in matchers {
                labels.entry(matcher.label).or_default().extend(matcher.values);
            }
        }
        Self(metrics)
    }

    fn has_label(&self, metric: &str, label: &str) -> bool {
        TARGET_LABELS.contains(&label)
            || self.0.get(metric).is_some_and(|labels| labels.contains_key(label))
    }

    /// Returns the names in a query that no sample has.
    fn unknown_names(&self, query: &Query) -> Vec<String> {
        let Names { selectors, grouping } = Names::in_expression(&query.expression);
        let mut unknown = Vec::new();
        let metrics = || selectors.iter().map(|selector| &*selector.metric);
        let metrics_exist = metrics().filter(|name| *name != "up" && !self.0.contains_key(*name));
        unknown.extend(metrics_exist.map(str::to_owned));
        for Selector { metric, matchers } in &selectors {
            for matcher in matchers.iter().filter(|one| !TARGET_LABELS.contains(&&*one.label)) {
                let exposed = self.0.get(metric).and_then(|labels| labels.get(&matcher.label));
                let is_exposed = |value| exposed.is_some_and(|values| values.contains(value));
                if exposed.is_none() {
                    unknown.push(format!("{metric}{{{}}}", matcher.label));
                }
                let values = matcher.values.iter().filter(|value| !is_exposed(*value));
                unknown
                    .extend(values.map(|value| format!("{metric}{{{}={value}}}", matcher.label)));
            }
        }
        let is_label = |label: &str| metrics().any(|metric| self.has_label(metric, label));
        unknown.extend(grouping.iter().filter(|label| !is_label(label)).cloned());
        let written = query.texts.iter().flat_map(|text| labels_in(text));
        let is_of_result = |label: &str| {
            if grouping.is_empty() {
                is_label(label)
            } else {
                grouping.iter().any(|of| of == label)
            }
        };
        unknown.extend(written.filter(|label| !is_of_result(label)));
        unknown
    }
}

/// Returns the labels in a legend (`{{code}}`) or a summary (`{{ $labels.code }}`).
fn labels_in(text: &str) -> Vec<String> {
    let inner = text.split("{{").skip(1).filter_map(|rest| rest.split("}}").next());
    let inner = inner.map(str::trim).filter(|inner| !inner.starts_with("$value"));
    inner.map(|inner| inner.trim_start_matches("$labels.").to_owned()).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

fn items(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("{value} is no list"))
}

fn panels() -> Vec<Query> {
    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let panels = items(&dashboard["panels"]).iter().filter(|panel| panel["type"] != "row");
    let mut queries = Vec::new();
    for panel in panels {
        let place = format!("panel {}", panel["title"]);
        assert!(!items(&panel["targets"]).is_empty(), "{place} is empty");
        for target in items(&panel["targets"]) {
            let texts = vec![text(&target["legendFormat"])];
            queries.push(Query { place: place.clone(), expression: text(&target["expr"]), texts });
        }
    }
    queries
}

fn alerts() -> Vec<Value> {
    let rules: Value = yaml_serde::from_str(ALERTS).unwrap();
    let groups = items(&rules["groups"]).iter();
    groups.flat_map(|group| items(&group["rules"])).cloned().collect()
}

/// Starts a house that plays, and returns what it exposes. A series of each metric exists: those of
/// refusals begin with the first one.
async fn expose_house() -> Exposition {
    let (house, _, clients) = House::with_table().await;
    let mut plays = begin_game(&clients).await;
    let table = TableId(Uuid::new_v4());
    let refused = plays[0].execute(|id| Command::Watch { id, table }).await;
    assert_eq!(refusal_code(refused), "already_joined");
    let sampled = ["bahay_service_ready{", "bahay_room_players{", "bahay_projection_lag_seconds{"];
    let sampled = [&sampled[..], &["bahay_refusals_total{"]].concat();
    wait_until("everything is sampled", async || {
        let text = read_metrics(&house, &clients[0]).await;
        sampled.iter().all(|name| text.contains(name))
    })
    .await;
    Exposition::parse(&read_metrics(&house, &clients[0]).await)
}

/// Joins the clients' table, and begins a game.
async fn begin_game(clients: &[Client]) -> Vec<Play> {
    let mut plays = Vec::new();
    for client in clients {
        plays.push(join_table(client).await);
    }
    deal_game(&mut plays).await;
    plays
}

async fn read_metrics(house: &House, client: &Client) -> String {
    client.metrics(&house.probes).await.unwrap()
}

/// Returns the value of a sample, by its name with its labels.
fn sample(text: &str, name: &str) -> i64 {
    let found = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    found.unwrap_or_else(|| panic!("{name} is not in {text}")).parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn alerts_panels_and_documents_use_existing_metrics_and_labels() {
    let exposed = expose_house().await;
    for (metric, labels) in &exposed.0 {
        assert!(metric.starts_with("bahay_"), "{metric}");
        let hidden = TARGET_LABELS.iter().find(|label| labels.contains_key(**label));
        assert_eq!(hidden, None, "Prometheus renames this label of {metric}");
    }
    let of_alert = |alert: Value| Query {
        place: format!("alert {}", alert["alert"]),
        expression: text(&alert["expr"]),
        texts: vec![text(&alert["annotations"]["summary"])],
    };
    let queries: Vec<_> = panels().into_iter().chain(alerts().into_iter().map(of_alert)).collect();
    assert!(queries.len() > 80, "{queries:?}");
    for query in &queries {
        let unknown = exposed.unknown_names(query);
        assert!(unknown.is_empty(), "{}: no server exposes {unknown:?}", query.place);
    }
    for (document, name) in metrics_in_documents() {
        let is_known = exposed.0.contains_key(&name)
            || exposed.0.contains_key(&format!("{name}_bucket"))
            || exposed.0.contains_key(&format!("{name}_total"));
        assert!(is_known, "{document} names {name}, which no server exposes");
    }
}

/// Returns the names of metrics in documents, with their documents.
fn metrics_in_documents() -> BTreeSet<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let documents = fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let documents = documents.filter(|path| path.extension().is_some_and(|kind| kind == "md"));
    let mut found = BTreeSet::new();
    for path in documents {
        let document = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let content = fs::read_to_string(&path).unwrap();
        let is_of_name = |letter: char| letter.is_ascii_lowercase() || letter == '_';
        for (at, _) in content.match_indices("`bahay_") {
            let name: String =
                content[at + 1..].chars().take_while(|one| is_of_name(*one)).collect();
            if !NOT_METRICS.contains(&&*name) {
                found.insert((document.clone(), name));
            }
        }
    }
    assert!(found.len() > 10, "{found:?}");
    found
}

#[test]
fn unknown_names_are_found() {
    let exposed = Exposition::parse(
        "# TYPE bahay_a counter\nbahay_a_total{code=\"x\"} 3\nbahay_a_total{code=\"y\"} 3\nbahay_b 1",
    );
    let unknown = |expression: &str, text: &str| {
        let texts = vec![text.to_owned()];
        let query = Query { place: String::new(), expression: expression.to_owned(), texts };
        exposed.unknown_names(&query)
    };
    let none: [&str; 0] = [];
    assert_eq!(unknown("sum by (code) (rate(bahay_a_total[1m])) > 0", "{{code}}"), none);
    assert_eq!(unknown("bahay_a_total{code=~\"x|y\"} / bahay_b", "{{ $labels.job }}"), none);
    assert_eq!(unknown("up{job=\"bahay\"} == 0", "{{ $labels.instance }} {{ $value }}"), none);
    assert_eq!(unknown("bahay_a + bahay_b", ""), ["bahay_a"]);
    assert_eq!(unknown("bahay_b{code=\"x\"}", ""), ["bahay_b{code}", "bahay_b{code=x}"]);
    assert_eq!(unknown("bahay_a_total{code=~\"x|z\"}", ""), ["bahay_a_total{code=z}"]);
    assert_eq!(unknown("sum by (room) (bahay_b)", ""), ["room"]);
    assert_eq!(unknown("sum by (code) (bahay_a_total)", "{{ $labels.instance }}"), ["instance"]);
}

/// Returns the identifier that a heading has as the target of a link.
fn heading_id(heading: &str) -> String {
    let kept = |letter: &char| letter.is_alphanumeric() || " -_".contains(*letter);
    heading.trim().to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-")
}

#[test]
fn every_alert_leads_to_its_paragraph_in_the_runbook() {
    let sections = OPERATIONS.split("\n#").skip(1);
    let sections: BTreeMap<_, _> = sections
        .map(|section| {
            let (heading, paragraphs) = section.split_once('\n').unwrap_or((section, ""));
            (heading_id(heading.trim_start_matches('#')), paragraphs)
        })
        .collect();
    let mut linked = BTreeSet::new();
    for alert in alerts() {
        let name = text(&alert["alert"]);
        let severity = text(&alert["labels"]["severity"]);
        assert!(["page", "ticket"].contains(&&*severity), "{name} has severity {severity}");
        let quiet = format!("alertname: {name}, exp_alerts: []");
        let fires = format!("alertname: {name}\n        exp_alerts:\n");
        for test in [quiet, fires] {
            assert!(ALERT_TESTS.contains(&test), "no test of promtool has {test:?}");
        }
        let link = text(&alert["annotations"]["runbook_url"]);
        let heading = link.strip_prefix(RUNBOOK).unwrap_or_else(|| panic!("{name}: {link}"));
        let section = sections.get(heading);
        let section = section.unwrap_or_else(|| panic!("{name}: {link} is no heading"));
        for word in [&*format!("`{name}`"), "**Cause:**", "**Check:**", "**Act:**"] {
            assert!(section.contains(word), "{name}: {link} lacks {word}");
        }
        linked.insert(heading.to_owned());
    }
    let runbook = OPERATIONS.split("\n## Runbook\n").nth(1).expect("there is a runbook");
    let runbook = runbook.split("\n## ").next().unwrap_or_default();
    let headings = runbook.split("\n### ").skip(1).filter_map(|section| section.lines().next());
    let unused: Vec<_> =
        headings.filter(|heading| !linked.contains(&heading_id(heading))).collect();
    assert!(unused.is_empty(), "no alert leads to {unused:?}");
}

/// The coins by code are those of the ledger, and players are counted by node and room.
#[tokio::test(flavor = "multi_thread")]
async fn metrics_of_the_business_are_those_of_the_ledger() {
    let (house, _, clients) = House::with_table().await;
    let _plays = begin_game(&clients).await;
    let booked = "select t.code, sum(t.amount)::bigint from operations o \
        cross join unnest(o.codes, o.amounts) as t (code, amount) group by t.code";
    let booked: BTreeMap<String, i64> =
        sqlx::query_as(booked).fetch_all(&house.pool).await.unwrap().into_iter().collect();
    assert!(
        ["welcome", "ante", "hold"].iter().all(|code| booked.contains_key(*code)),
        "{booked:?}"
    );
    wait_until("the transfers are sealed and counted", async || {
        let text = read_metrics(&house, &clients[0]).await;
        ["welcome", "ante", "hold", "fee", "pot"].iter().all(|code| {
            let name = format!("bahay_transferred_hundredths_total{{code=\"{code}\"}}");
            sample(&text, &name) == booked.get(*code).copied().unwrap_or(0)
        })
    })
    .await;
    wait_until("the players are counted", async || {
        let text = read_metrics(&house, &clients[0]).await;
        text.contains("bahay_players_online 3\n")
            && text.contains("bahay_room_players{room=\"newbie\"} 3\n")
            && text.contains("bahay_room_tables{room=\"newbie\"} 1\n")
    })
    .await;
    let text = read_metrics(&house, &clients[0]).await;
    for service in ["postgres", "redis"] {
        assert_eq!(sample(&text, &format!("bahay_service_ready{{service=\"{service}\"}}")), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rejections_are_counted_by_limit() {
    let house = House::with_rate_limits(|limits| limits.sockets_per_address = 1).await;
    let client = guest_at(&house.base, "Althea").await;
    let _first = client.play().await.unwrap();
    client.play().await.unwrap_err();
    let text = read_metrics(&house, &client).await;
    let rejections =
        |limit| sample(&text, &format!("bahay_rate_limit_rejections_total{{limit=\"{limit}\"}}"));
    assert_eq!(["sockets", "connections", "requests"].map(rejections), [1, 0, 0]);
}
