//! Checks the text of an instruction and the number of its functions by rules.
//!
//! Nothing is checked without a setting. The profile `toolbench` has the rules of ToolLLM's instructions (Qin et al., 2023): at
//! least 30 words, two to five functions, and no function named in the text.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Settings;
use crate::columns::PROGRAM;
use crate::engine::contract::{Contract, Partition};
use crate::engine::error::Result;
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::opinion::Opinion;
use crate::engine::stage::RowStage;
use crate::engine::view::Row;
use crate::engine::vocabulary::{Evidence, Reason, TableId};
use crate::instruct::record::Record;
use crate::instruct::text_rules::named_function;

static SHORT: Reason =
    Reason::policy("instruction/too-short", "The messages of the user have too few words.");
static LONG: Reason = Reason::policy("instruction/too-long", "The messages of the user have too many words.");
static FEW: Reason = Reason::policy("instruction/too-few-functions", "The calls are of too few functions.");
static MANY: Reason =
    Reason::policy("instruction/too-many-functions", "The calls are of too many functions.");
static NAMED: Reason = Reason::policy(
    "instruction/names-function",
    "A message of the user has the name of an offered function.",
);

/// The tables of a request: its text, and its calls.
macro_rules! beds {
    ($text:literal, $calls:expr) => {
        concat!(
            r#"{"requests": [{"messages": [{"role": "user", "content": ""#,
            $text,
            r#""}], "program": {"instruction": "", "stratum": "chain", "style": "ask", "wording": "template", "tier": "executed", "turns": [{"user": ""#,
            $text,
            r#"", "calls": [], "answer": ""}], "calls": ["#,
            $calls,
            r#"], "answer": "", "answer_from": [], "together": false, "offered": ["a_b"], "environment": "beds", "origin": "declared", "state": "s", "end_state": null}}]}"#
        )
    };
}

/// A call of a function.
macro_rules! call {
    ($name:literal) => {
        concat!(
            r#"{"name": ""#,
            $name,
            r#"", "arguments": {}, "result": 1, "references": {}, "provenance": {}}"#
        )
    };
}

/// Rules under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// At least 30 words, two to five functions, none of them named.
    Toolbench,
}

/// The stage and its settings. A rule that is not set is that of the profile; without one it is off.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CheckInstructions {
    /// A set of rules: `toolbench`.
    pub profile: Option<Profile>,
    /// The fewest words of all messages of the user.
    pub min_words: Option<usize>,
    /// The most words.
    pub max_words: Option<usize>,
    /// The fewest functions that are called.
    pub min_functions: Option<usize>,
    /// The most functions that are called.
    pub max_functions: Option<usize>,
    /// Whether a message may have the name of an offered function. Names of one lower-case word are words of the language,
    /// and are not looked for.
    pub function_names: Option<bool>,
}

/// The rules that hold.
struct Rules {
    min_words: usize,
    max_words: usize,
    min_functions: usize,
    max_functions: usize,
    function_names: bool,
}

impl CheckInstructions {
    fn rules(&self) -> Rules {
        let of_profile = match self.profile {
            None => Rules {
                min_words: 0,
                max_words: usize::MAX,
                min_functions: 0,
                max_functions: usize::MAX,
                function_names: true,
            },
            Some(Profile::Toolbench) => Rules {
                min_words: 30,
                max_words: usize::MAX,
                min_functions: 2,
                max_functions: 5,
                function_names: false,
            },
        };
        Rules {
            min_words: self.min_words.unwrap_or(of_profile.min_words),
            max_words: self.max_words.unwrap_or(of_profile.max_words),
            min_functions: self.min_functions.unwrap_or(of_profile.min_functions),
            max_functions: self.max_functions.unwrap_or(of_profile.max_functions),
            function_names: self.function_names.unwrap_or(of_profile.function_names),
        }
    }
}

impl Settings for CheckInstructions {
    const NAME: &'static str = "check-instructions";
    const SUMMARY: &'static str =
        "Drops instructions by their length, the number of their functions, and names in the text.";
    const FUNNEL_LABEL: &'static str = "instructions that meet the rules";

    fn examples() -> Vec<Example> {
        const KEPT: &str = beds!("Please water bed 4 by a_bc.", call!("a_b"));
        vec![
            Example::tables(SHORT.code, beds!("Water bed 4 now.", call!("a_b")), KEPT),
            Example::tables(
                LONG.code,
                beds!("Please water bed 4, and bed 5, and bed 6, and bed 7.", call!("a_b")),
                KEPT,
            ),
            Example::tables(FEW.code, beds!("Please water bed 4 now.", ""), KEPT),
            Example::tables(
                MANY.code,
                beds!(
                    "Please water bed 4 now.",
                    concat!(call!("a_b"), ", ", call!("a_c"), ", ", call!("a_d"))
                ),
                beds!("Please water bed 4 now.", concat!(call!("a_b"), ", ", call!("a_c"))),
            ),
            Example::tables(NAMED.code, beds!("Please water bed 4 by A_B.", call!("a_b")), KEPT),
        ]
    }

    fn for_examples() -> Self {
        Self {
            min_words: Some(5),
            max_words: Some(10),
            min_functions: Some(1),
            max_functions: Some(2),
            function_names: Some(false),
            ..Self::default()
        }
    }
}

impl RowStage for CheckInstructions {
    type Parent = ();

    fn contract(&self) -> Contract {
        let reasons = [&SHORT, &LONG, &FEW, &MANY, &NAMED];
        Contract::of(TableId::Requests).partition(Partition::Rows).reads([PROGRAM]).reasons(reasons)
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(2);
        Ok(())
    }

    fn judge_row(&self, row: Row<'_>, (): &()) -> Opinion {
        let Some(record) = row.json::<Record>(PROGRAM) else { return Opinion::keep() };
        match self.rules().fault(&record) {
            Some((reason, detail)) => Opinion::drop(reason, Evidence::detail(detail)),
            None => Opinion::keep(),
        }
    }
}

impl Rules {
    /// The first rule that an instruction does not meet.
    fn fault(&self, record: &Record) -> Option<(&'static Reason, Value)> {
        let n_words: usize = record.turns.iter().map(|turn| turn.user.split_whitespace().count()).sum();
        let functions: BTreeSet<&str> = record.calls.iter().map(|call| call.name.as_str()).collect();
        let n_functions = functions.len();
        let count = |n: usize, limit: usize| json!({"found": n, "limit": limit});
        if n_words < self.min_words {
            return Some((&SHORT, count(n_words, self.min_words)));
        }
        if n_words > self.max_words {
            return Some((&LONG, count(n_words, self.max_words)));
        }
        if n_functions < self.min_functions {
            return Some((&FEW, count(n_functions, self.min_functions)));
        }
        if n_functions > self.max_functions {
            return Some((&MANY, count(n_functions, self.max_functions)));
        }
        let is_named = |name: &&String| {
            record.turns.iter().any(|turn| named_function(&turn.user, [name.as_str()]).is_some())
        };
        let named = record.offered.iter().find(|name| !self.function_names && is_named(name));
        named.map(|name| (&NAMED, json!({ "function": name })))
    }
}
