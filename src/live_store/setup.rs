//! The settings of Redis that decide whether tables in play are safe in it: eviction, persistence and
//! the memory limit. They are read with `INFO`, which most hosted services allow where `CONFIG` is
//! forbidden.

use std::collections::HashMap;

use redis::Value;

use crate::live_store::LiveStore;

/// Less memory than this holds few tables.
const MEMORY_MIN_BYTES: u64 = 64 * 1024 * 1024;

/// A part of the memory limit, in percent, from which on a warning is given.
const MEMORY_WARNING_PERCENT: u64 = 80;

/// An error that keeps a server from starting on a Redis.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    #[error(
        "Redis{server} evicts keys (maxmemory-policy {policy}), and with them tables in play: set \
         maxmemory-policy noeviction"
    )]
    Evicts { server: String, policy: String },
}

impl LiveStore {
    /// Rejects servers of Redis that evict keys; returns a line for each setting that puts games at
    /// risk, or that cannot be read.
    pub async fn check_setup(&self) -> Result<Vec<String>, SetupError> {
        let mut warnings = Vec::new();
        for (server, said) in self.commands.info().await {
            let server = if server.is_empty() { server } else { format!(" at {server}") };
            match said {
                Ok(said) => warnings.extend(check(&server, &Info::read(&said))?),
                Err(error) => warnings.push(unread(&server, &error)),
            }
        }
        Ok(warnings)
    }
}

fn unread(server: &str, why: &dyn std::fmt::Display) -> String {
    format!(
        "the settings of Redis{server} cannot be read ({why}): see to it that maxmemory-policy is \
         noeviction and appendonly is yes"
    )
}

/// The fields of an answer to `INFO`.
struct Info(HashMap<String, String>);

impl Info {
    fn read(said: &Value) -> Self {
        let text: String = redis::from_redis_value_ref(said).unwrap_or_default();
        let fields = text.lines().filter_map(|line| line.split_once(':'));
        Self(fields.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect())
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.text(name)?.parse().ok()
    }
}

fn check(server: &str, info: &Info) -> Result<Vec<String>, SetupError> {
    let mut warnings = Vec::new();
    match info.text("maxmemory_policy") {
        Some("noeviction") => {}
        Some(policy) => {
            return Err(SetupError::Evicts {
                server: server.to_owned(),
                policy: policy.to_owned(),
            });
        }
        None => warnings.push(unread(server, &"INFO names no maxmemory_policy")),
    }
    if info.number("aof_enabled") == Some(0) {
        warnings.push(format!(
            "Redis{server} keeps no append-only file, so games in play are voided when it restarts: \
             set appendonly yes"
        ));
    }
    match info.number("maxmemory") {
        Some(0) => warnings.push(format!(
            "Redis{server} has no memory limit, so its machine may end it: set maxmemory below the \
             memory that it may have"
        )),
        Some(limit) if limit < MEMORY_MIN_BYTES => warnings.push(format!(
            "Redis{server} may use {limit} bytes only, and refuses writes beyond that: set maxmemory \
             to {MEMORY_MIN_BYTES} at least"
        )),
        Some(limit) => {
            let used = info.number("used_memory").unwrap_or_default();
            if used >= limit / 100 * MEMORY_WARNING_PERCENT {
                warnings.push(format!(
                    "Redis{server} uses {used} of {limit} bytes, and refuses writes beyond that: raise \
                     maxmemory"
                ));
            }
        }
        None => {}
    }
    Ok(warnings)
}

#[cfg(test)]
mod tests {
    use super::{Info, SetupError, check};

    const SOUND: &str = "# Memory\r\nused_memory:900000\r\nmaxmemory:268435456\r\n\
        maxmemory_policy:noeviction\r\n# Persistence\r\naof_enabled:1\r\n";

    fn checked(said: &str) -> Result<Vec<String>, SetupError> {
        check("", &Info::read(&redis::Value::BulkString(said.as_bytes().to_vec())))
    }

    #[test]
    fn a_sound_setup_is_accepted_without_a_word() {
        assert_eq!(checked(SOUND), Ok(Vec::new()));
    }

    #[test]
    fn every_policy_that_evicts_is_rejected() {
        for policy in ["allkeys-lru", "volatile-ttl", "volatile-lru", "allkeys-random"] {
            let refused = checked(&SOUND.replace("noeviction", policy)).unwrap_err().to_string();
            assert!(refused.contains(policy) && refused.contains("noeviction"), "{refused}");
        }
    }

    #[test]
    fn what_puts_games_at_risk_is_named_with_its_cure() {
        for (from, to, named) in [
            ("aof_enabled:1", "aof_enabled:0", "appendonly yes"),
            ("maxmemory:268435456", "maxmemory:0", "set maxmemory"),
            ("maxmemory:268435456", "maxmemory:1000000", "67108864"),
            ("used_memory:900000", "used_memory:268000000", "raise maxmemory"),
            ("maxmemory_policy:noeviction", "x:y", "cannot be read"),
        ] {
            let warnings = checked(&SOUND.replace(from, to)).unwrap();
            assert!(warnings.len() == 1 && warnings[0].contains(named), "{warnings:?}");
        }
    }
}
