//! The rules of a file, checked when it is read.

use regex::Regex;
use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

use super::body::{Body, has_content};
use super::log::Probe;

/// The rules that are used if there is no file.
pub const DEFAULT: &str = include_str!("../../configs/probe_rules.toml");

/// Members that are true if the call succeeded.
const SUCCESS: [&str; 2] = ["success", "ok"];

/// A file of rules that cannot be used.
#[derive(Debug, Error)]
pub enum RulesError {
    /// It is not TOML, or has keys or values that no rule has.
    #[error("{0}")]
    Toml(#[from] toml::de::Error),
    /// A rule cannot be used.
    #[error("rule {number} ({code}): {message}")]
    Rule {
        /// The number of the rule in the file, from 1.
        number: usize,
        /// Its reason code.
        code: String,
        /// What is wrong.
        message: String,
    },
    /// The limits of the verdict cannot be used.
    #[error("[verdict]: {0}")]
    Verdict(&'static str),
}

/// The rules of a file, in its order.
#[derive(Debug, Clone)]
pub struct ProbeRules {
    pub(super) rules: Vec<Rule>,
    pub(super) limits: Limits,
    envelope: Vec<String>,
    errors: Vec<String>,
}

/// When a function is kept.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// The fewest good calls of a kept function; higher keeps fewer functions.
    pub min_good_calls: usize,
    /// The largest share of bad calls of a kept function (0 to 1); higher keeps more functions.
    pub max_bad_share: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { min_good_calls: 1, max_bad_share: 1.0 }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    envelope: Vec<String>,
    #[serde(default)]
    errors: Vec<String>,
    #[serde(default)]
    verdict: Limits,
    #[serde(default)]
    rule: Vec<Written>,
}

/// A rule as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    code: String,
    what: String,
    #[serde(default)]
    status: Vec<String>,
    #[serde(default)]
    content_type: Vec<String>,
    json: Option<bool>,
    empty: Option<bool>,
    text: Option<String>,
    max_chars: Option<usize>,
    #[serde(default)]
    members: Vec<String>,
    value: Option<String>,
    #[serde(default)]
    alone: bool,
    over_bytes: Option<u64>,
    p95_latency_ms: Option<f64>,
}

/// A rule: all of its conditions must hold.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    pub(super) code: String,
    pub(super) what: String,
    conditions: Vec<Condition>,
    /// A condition for all calls of a function together.
    pub(super) p95_latency_ms: Option<f64>,
}

#[derive(Debug, Clone)]
enum Condition {
    Status(Vec<(u16, u16)>),
    ContentType(Vec<String>),
    IsJson(bool),
    IsEmpty(bool),
    Text { pattern: Regex, max_chars: Option<usize> },
    Members { names: Vec<String>, value: Option<Regex>, alone: bool },
    OverBytes(u64),
}

impl ProbeRules {
    /// Returns the rules of the program.
    ///
    /// # Panics
    /// Never: a test reads them.
    pub fn built_in() -> Self {
        Self::read(DEFAULT).expect("a test reads the rules of the program")
    }

    /// Reads a file of rules.
    ///
    /// # Errors
    /// It is not TOML, has an unknown key, or a rule without a condition or with an unusable one.
    pub fn read(text: &str) -> Result<Self, RulesError> {
        let file: File = toml::from_str(text)?;
        if !(0.0..=1.0).contains(&file.verdict.max_bad_share) {
            return Err(RulesError::Verdict("max_bad_share is not between 0 and 1"));
        }
        let rule = |(index, written): (usize, Written)| {
            let code = written.code.clone();
            Rule::of(written).map_err(|message| RulesError::Rule { number: index + 1, code, message })
        };
        let rules = file.rule.into_iter().enumerate().map(rule).collect::<Result<_, _>>()?;
        Ok(Self { rules, limits: file.verdict, envelope: lower(file.envelope), errors: lower(file.errors) })
    }

    /// Returns the first rule that hits a single call, by its place in the file.
    pub(super) fn hit(&self, probe: &Probe) -> Option<usize> {
        let hits = |rule: &Rule| {
            !rule.conditions.is_empty()
                && rule.conditions.iter().all(|condition| self.holds(condition, probe))
        };
        self.rules.iter().position(|rule| rule.p95_latency_ms.is_none() && hits(rule))
    }

    /// Returns true if all conditions of a rule, except that of all calls together, hold for a call.
    pub(super) fn applies(&self, rule: &Rule, probe: &Probe) -> bool {
        rule.conditions.iter().all(|condition| self.holds(condition, probe))
    }

    fn holds(&self, condition: &Condition, probe: &Probe) -> bool {
        let body = probe.body.as_ref();
        match condition {
            Condition::Status(sets) => probe
                .status
                .is_some_and(|status| sets.iter().any(|(from, to)| (*from..=*to).contains(&status))),
            Condition::ContentType(kinds) => {
                probe.content_type.as_ref().is_some_and(|kind| kinds.contains(kind))
            }
            Condition::IsJson(is) => body.is_some_and(|body| matches!(body, Body::Json(_)) == *is),
            Condition::IsEmpty(is) => body.is_some_and(|body| body.is_empty() == *is),
            Condition::Text { pattern, max_chars } => body.and_then(Body::text).is_some_and(|text| {
                max_chars.is_none_or(|max| text.chars().nth(max).is_none()) && pattern.is_match(text)
            }),
            Condition::Members { names, value, alone } => {
                body.is_some_and(|body| self.has_member(body, names, value.as_ref(), *alone))
            }
            Condition::OverBytes(limit) => probe.n_bytes() > *limit,
        }
    }

    /// Returns true if one of the members of a JSON object has content, and nothing else if it must be alone.
    fn has_member(&self, body: &Body, names: &[String], value: Option<&Regex>, alone: bool) -> bool {
        let Some(map) = body.object() else { return false };
        let is_named = |name: &str| names.contains(&name.to_lowercase());
        let matches = |member: &Value| {
            let text = member.as_str().map_or_else(|| member.to_string(), str::to_owned);
            value.is_none_or(|pattern| pattern.is_match(&text))
        };
        let found = map.iter().any(|(name, member)| is_named(name) && has_content(member) && matches(member));
        // Members of the envelope are single values; those about errors may be lists and objects.
        let is_result = |(name, member): (&String, &Value)| {
            let lower = name.to_lowercase();
            let is_single = !member.is_array() && !member.is_object();
            let is_envelope = self.errors.contains(&lower) || is_single && self.envelope.contains(&lower);
            let is_success = SUCCESS.contains(&lower.as_str()) && *member == Value::Bool(true);
            is_success || has_content(member) && !is_named(name) && !is_envelope
        };
        found && !(alone && map.iter().any(is_result))
    }
}

impl Rule {
    fn of(written: Written) -> Result<Self, String> {
        if !written.code.contains('/') {
            return Err("expected a code such as `probe/slow`".to_owned());
        }
        let mut conditions = Vec::new();
        if !written.status.is_empty() {
            let sets = written.status.iter().map(|set| status_set(set)).collect::<Result<_, _>>()?;
            conditions.push(Condition::Status(sets));
        }
        if !written.content_type.is_empty() {
            conditions.push(Condition::ContentType(lower(written.content_type)));
        }
        conditions.extend(written.json.map(Condition::IsJson));
        conditions.extend(written.empty.map(Condition::IsEmpty));
        if let Some(text) = written.text {
            conditions.push(Condition::Text { pattern: pattern(&text)?, max_chars: written.max_chars });
        } else if written.max_chars.is_some() {
            return Err("`max_chars` needs `text`".to_owned());
        }
        if !written.members.is_empty() {
            let value = written.value.as_deref().map(pattern).transpose()?;
            conditions.push(Condition::Members {
                names: lower(written.members),
                value,
                alone: written.alone,
            });
        } else if written.value.is_some() || written.alone {
            return Err("`value` and `alone` need `members`".to_owned());
        }
        conditions.extend(written.over_bytes.map(Condition::OverBytes));
        if conditions.is_empty() && written.p95_latency_ms.is_none() {
            return Err("it has no condition".to_owned());
        }
        let Written { code, what, p95_latency_ms, .. } = written;
        Ok(Self { code, what, conditions, p95_latency_ms })
    }
}

fn lower(names: Vec<String>) -> Vec<String> {
    names.into_iter().map(|name| name.to_lowercase()).collect()
}

fn pattern(text: &str) -> Result<Regex, String> {
    Regex::new(text).map_err(|error| format!("the pattern cannot be used: {error}"))
}

/// Reads `404`, `5xx` or `400-499`.
fn status_set(text: &str) -> Result<(u16, u16), String> {
    let number = |text: &str| text.trim().parse::<u16>().ok();
    let class = text.strip_suffix("xx").and_then(number).filter(|class| (1..=9).contains(class));
    let range = text.split_once('-').and_then(|(from, to)| Some((number(from)?, number(to)?)));
    class
        .map(|class| (class * 100, class * 100 + 99))
        .or(range)
        .or_else(|| number(text).map(|code| (code, code)))
        .filter(|(from, to)| from <= to)
        .ok_or_else(|| {
            format!("{text:?} is not a set of status codes such as \"404\", \"5xx\" or \"400-499\"")
        })
}
