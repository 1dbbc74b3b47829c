//! The settings of Redis on which the safety of running tables depends: eviction, persistence and
//! the memory limit. They are read with `INFO`, which most hosted services allow although they
//! forbid `CONFIG`.

use std::collections::HashMap;

use redis::Value;

use crate::LiveStore;

/// The memory limit in bytes below which Redis holds too few tables.
const MEMORY_MIN_BYTES: u64 = 64 * 1024 * 1024;

/// The used part of the memory limit, in percent, that causes a warning.
const MEMORY_WARNING_PERCENT: u64 = 80;

/// An error that keeps a server from starting with this Redis.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RedisSetupError {
    #[error(
        "Redis{server} evicts keys (maxmemory-policy {policy}), and with them tables in play: set \
         maxmemory-policy noeviction"
    )]
    Evicts { server: String, policy: String },
}

impl LiveStore {
    /// Rejects Redis servers that evict keys. Returns a warning for each setting that endangers
    /// games or cannot be read.
    pub async fn check_setup(&self) -> Result<Vec<String>, RedisSetupError> {
        let mut warnings = Vec::new();
        for (server, answer) in self.commands.info().await {
            let server = if server.is_empty() { server } else { format!(" at {server}") };
            match answer {
                Ok(answer) => warnings.extend(check(&server, &Info::parse(&answer))?),
                Err(error) => warnings.push(unreadable_warning(&server, &error)),
            }
        }
        Ok(warnings)
    }
}

fn unreadable_warning(server: &str, why: &dyn std::fmt::Display) -> String {
    format!(
        "the settings of Redis{server} cannot be read ({why}): see to it that maxmemory-policy is \
         noeviction and appendonly is yes"
    )
}

/// The fields of an answer to `INFO`.
struct Info(HashMap<String, String>);

impl Info {
    fn parse(answer: &Value) -> Self {
        let text: String = redis::from_redis_value_ref(answer).unwrap_or_default();
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

fn check(server: &str, info: &Info) -> Result<Vec<String>, RedisSetupError> {
    let mut warnings = Vec::new();
    match info.text("maxmemory_policy") {
        Some("noeviction") => {}
        Some(policy) => {
            return Err(RedisSetupError::Evicts {
                server: server.to_owned(),
                policy: policy.to_owned(),
            });
        }
        None => warnings.push(unreadable_warning(server, &"INFO names no maxmemory_policy")),
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
    use super::{Info, RedisSetupError, check};

    const SOUND: &str = "# Memory\r\nused_memory:900000\r\nmaxmemory:268435456\r\n\
        maxmemory_policy:noeviction\r\n# Persistence\r\naof_enabled:1\r\n";

    fn check_text(answer: &str) -> Result<Vec<String>, RedisSetupError> {
        check("", &Info::parse(&redis::Value::BulkString(answer.as_bytes().to_vec())))
    }

    #[test]
    fn a_sound_setup_is_accepted_without_a_word() {
        assert_eq!(check_text(SOUND), Ok(Vec::new()));
    }

    #[test]
    fn every_policy_that_evicts_is_rejected() {
        for policy in ["allkeys-lru", "volatile-ttl", "volatile-lru", "allkeys-random"] {
            let refused = check_text(&SOUND.replace("noeviction", policy)).unwrap_err().to_string();
            assert!(refused.contains(policy) && refused.contains("noeviction"), "{refused}");
        }
    }

    #[test]
    fn a_warning_names_the_risk_and_its_remedy() {
        for (from, to, named) in [
            ("aof_enabled:1", "aof_enabled:0", "appendonly yes"),
            ("maxmemory:268435456", "maxmemory:0", "set maxmemory"),
            ("maxmemory:268435456", "maxmemory:1000000", "67108864"),
            ("used_memory:900000", "used_memory:268000000", "raise maxmemory"),
            ("maxmemory_policy:noeviction", "x:y", "cannot be read"),
        ] {
            let warnings = check_text(&SOUND.replace(from, to)).unwrap();
            assert!(warnings.len() == 1 && warnings[0].contains(named), "{warnings:?}");
        }
    }
}
