//! Takes a stratified sample of the requests, with caps per doc list and user.
//!
//! The selection depends only on the seed of the run and the content of each row, so one more
//! row in the log changes little. The column `weight` holds the number of input rows that each
//! kept row represents: weighted sums over the sample estimate sums over all input rows.
//! `allocation` computes the sample size of each stratum, `draw` selects the rows. The stage
//! belongs at the end of a pipeline, after all other stages that drop rows.

mod allocation;
mod draw;

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use xxhash_rust::xxh3::xxh3_128_with_seed;

use self::draw::{Candidate, Plan, Selection, draw};
use super::Settings;
use crate::columns::{self, USER, WEIGHT};
use crate::engine::context::Context;
use crate::engine::contract::Contract;
use crate::engine::error::{Error, Result};
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::stage::Stage;
use crate::engine::verdict::Verdict;
use crate::engine::view::{Row, View};
use crate::engine::vocabulary::{ColumnKind, ColumnSpec, Evidence, Reason, RowIx, TableId};

// Binding: if a person kept another row, the weights would no longer add up.
static NOT_DRAWN: Reason = Reason::policy(
    "sample/not-drawn",
    "The row was not selected: the sample has enough rows of its stratum.",
)
.binding();
static OVER_LIST_CAP: Reason =
    Reason::policy("sample/over-list-cap", "The sample has the maximum number of rows of this doc list.")
        .binding();
static OVER_USER_CAP: Reason =
    Reason::policy("sample/over-user-cap", "The sample has the maximum number of rows of this user.")
        .binding();

/// How the rows of the sample are allocated to strata.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Allocation {
    /// In proportion to the rows of each stratum.
    Proportional,
    /// The same number for each stratum.
    Equal,
}

/// The stage and its settings.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Sample {
    /// Number of rows to keep, at least 1 [default: all]. Higher keeps more.
    pub size: Option<u64>,
    /// Columns of requests that define the strata: rows with the same values in all of them are one stratum
    /// [default: a single stratum].
    pub strata: Vec<String>,
    /// How the rows to keep are allocated to strata, by largest remainder: "proportional" to the rows of each stratum,
    /// or "equal". Each stratum gets at least one row if `size` allows it.
    pub allocation: Allocation,
    /// Maximum number of rows of one doc list, at least 1 [default: no limit]. Higher keeps more.
    pub max_per_list: Option<u64>,
    /// Maximum number of rows of one user, at least 1 [default: no limit]. Rows without a user have no limit. Higher
    /// keeps more.
    pub max_per_user: Option<u64>,
}

impl Default for Sample {
    fn default() -> Self {
        Self {
            size: None,
            strata: Vec::new(),
            allocation: Allocation::Proportional,
            max_per_list: None,
            max_per_user: None,
        }
    }
}

impl Settings for Sample {
    const NAME: &'static str = "sample";
    const SUMMARY: &'static str =
        "Takes a stratified sample of the requests, and notes how many rows each of them represents.";
    const FUNNEL_LABEL: &'static str = "in the sample";

    fn examples() -> Vec<Example> {
        const ONE: &str = r#"{"requests": [{"user": "ann"}]}"#;
        const TWO: &str = r#"{"requests": [{"user": "ann"}, {"user": "ann"}]}"#;
        vec![
            Example::tables(NOT_DRAWN.code, TWO, ONE).with_settings("size = 1"),
            Example::tables(
                OVER_LIST_CAP.code,
                TWO,
                r#"{"doc_lists": [{"text": "a"}, {"text": "b"}], "requests": [{"list": 0}, {"list": 1}]}"#,
            )
            .with_settings("max_per_list = 1"),
            Example::tables(
                OVER_USER_CAP.code,
                TWO,
                r#"{"requests": [{"user": "ann"}, {"user": "bo"}, {}, {}]}"#,
            )
            .with_settings("max_per_user = 1"),
        ]
    }

    fn check(&self) -> std::result::Result<(), String> {
        let numbers =
            [("size", self.size), ("max_per_list", self.max_per_list), ("max_per_user", self.max_per_user)];
        if let Some((key, _)) = numbers.into_iter().find(|(_, number)| *number == Some(0)) {
            return Err(format!("{key} must be at least 1, not 0: leave it out for no limit"));
        }
        for (at, name) in self.strata.iter().enumerate() {
            column(name)?;
            if self.strata[..at].contains(name) {
                return Err(format!("strata names the column \"{name}\" twice"));
            }
        }
        Ok(())
    }
}

/// Columns of long text, which cannot define strata because nearly every cell is different.
const CONVERSATION: [ColumnSpec; 3] = [columns::MESSAGES, columns::RESPONSE, columns::FOLLOWING_MESSAGES];

/// Returns a column that can define strata of requests.
fn column(name: &str) -> std::result::Result<ColumnSpec, String> {
    let of_requests = || columns::ALL.iter().filter(|column| column.table == TableId::Requests);
    match of_requests().find(|column| column.name == name) {
        Some(column) if CONVERSATION.contains(column) => Err(format!(
            "strata: column \"{name}\" holds conversations, which are nearly all different\nhint: name a column with few distinct values"
        )),
        Some(column) => Ok(*column),
        None if columns::ALL.iter().any(|column| column.name == name) => Err(format!(
            "strata: \"{name}\" is a column of doc_lists, not of requests\nhint: max_per_list limits the rows of one doc list"
        )),
        None => {
            let known: Vec<&str> = of_requests()
                .filter(|column| !CONVERSATION.contains(column))
                .map(|column| column.name)
                .collect();
            Err(format!(
                "strata: there is no column \"{name}\"\nhint: columns of requests: {}",
                known.join(", ")
            ))
        }
    }
}

impl Stage for Sample {
    fn contract(&self) -> Contract {
        let mut reads = self.columns();
        if self.max_per_user.is_some() && !reads.contains(&USER) {
            reads.push(USER);
        }
        Contract::of(TableId::Requests)
            .reads(reads)
            .writes([WEIGHT])
            .reasons([&NOT_DRAWN, &OVER_LIST_CAP, &OVER_USER_CAP])
            // A sample of a sample has weights that refer to the first sample.
            .not_idempotent()
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(1);
        Ok(())
    }

    fn judge(&self, view: &View<'_>, cx: &Context<'_>, out: &mut Verdict<'_>) -> Result<()> {
        let columns = self.columns();
        let Population { rows, candidates, strata } = self.read(view, cx, &columns)?;
        let plan = Plan {
            size: self.size,
            allocation: self.allocation,
            max_per_list: self.max_per_list,
            max_per_user: self.max_per_user,
        };
        let (drawn, n_pooled) = draw(&candidates, plan);
        if n_pooled > 0 {
            cx.progress.warn(&format!(
                "sample: {n_pooled} of {} strata get no row of their own; they are pooled with the smallest stratum that does",
                strata.len()
            ));
        }
        for ((&row, candidate), drawn) in rows.iter().zip(&candidates).zip(drawn) {
            let named = columns.iter().zip(&strata[candidate.stratum]);
            let stratum: Map<String, Value> =
                named.map(|(column, value)| (column.name.to_owned(), json!(value))).collect();
            let (reason, detail) = match drawn {
                Selection::Kept { weight } => {
                    out.set(row, WEIGHT, weight.to_string())?;
                    continue;
                }
                Selection::OverList(rank) => {
                    (&OVER_LIST_CAP, json!({"stratum": stratum, "rank": rank, "cap": self.max_per_list}))
                }
                Selection::OverUser(rank) => {
                    (&OVER_USER_CAP, json!({"stratum": stratum, "rank": rank, "cap": self.max_per_user}))
                }
                Selection::NotDrawn { rank, drawn } => {
                    (&NOT_DRAWN, json!({"stratum": stratum, "rank": rank, "drawn": drawn}))
                }
            };
            out.drop(row, reason, Evidence::detail(detail))?;
        }
        Ok(())
    }
}

/// The cells of a stratum's columns.
type Values = Vec<Option<String>>;

/// The kept rows.
struct Population {
    rows: Vec<RowIx>,
    /// The same rows, as candidates for the sample.
    candidates: Vec<Candidate>,
    /// The values that define each stratum, sorted.
    strata: Vec<Values>,
}

impl Sample {
    fn columns(&self) -> Vec<ColumnSpec> {
        self.strata.iter().filter_map(|name| column(name).ok()).collect()
    }

    fn read(&self, view: &View<'_>, cx: &Context<'_>, columns: &[ColumnSpec]) -> Result<Population> {
        let mut users: FxHashMap<String, u32> = FxHashMap::default();
        let mut strata: BTreeMap<Values, Vec<usize>> = BTreeMap::new();
        let (mut rows, mut candidates): (Vec<RowIx>, Vec<Candidate>) = (Vec::new(), Vec::new());
        view.for_each_batch(cx, |batch| {
            for &row in batch.rows() {
                if cx.cancelled() {
                    return Err(Error::Interrupted);
                }
                let cells = batch.row(row);
                let user = self.max_per_user.and_then(|_| cells.text(USER)).map(|user| {
                    let next = u32::try_from(users.len()).expect("a run holds fewer than 2^32 requests");
                    *users.entry(user.to_owned()).or_insert(next)
                });
                let values = columns.iter().map(|&column| value(cells, column)).collect();
                strata.entry(values).or_default().push(rows.len());
                let id = view.row_id(row).0;
                let draw = (xxh3_128_with_seed(&id.to_le_bytes(), cx.seed), id);
                rows.push(row);
                candidates.push(Candidate { draw, stratum: 0, list: view.list_of(row), user });
            }
            Ok(())
        })?;
        for (stratum, members) in strata.values().enumerate() {
            for &at in members {
                candidates[at].stratum = stratum;
            }
        }
        Ok(Population { rows, candidates, strata: strata.into_keys().collect() })
    }
}

fn value(row: Row<'_>, column: ColumnSpec) -> Option<String> {
    match column.kind {
        ColumnKind::Text => row.text(column).map(str::to_owned),
        ColumnKind::Int => row.int(column).map(|number| number.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::Environment;
    use crate::fixture::judged;

    fn built(settings: &str) -> std::result::Result<Value, String> {
        let table = toml::de::ValueDeserializer::parse(settings).unwrap();
        let built = (super::super::kind("sample").unwrap().build)(table, &Environment::default());
        built.map(|(_, resolved)| resolved).map_err(|error| error.message().to_owned())
    }

    #[test]
    fn invalid_settings_are_refused_with_a_hint() {
        for (settings, expected) in [
            (
                r#"{strata = ["categories"]}"#,
                "strata: there is no column \"categories\"\nhint: columns of requests: external_id",
            ),
            (
                r#"{strata = ["text"]}"#,
                "strata: \"text\" is a column of doc_lists, not of requests\nhint: max_per_list",
            ),
            (
                r#"{strata = ["messages"]}"#,
                "strata: column \"messages\" holds conversations, which are nearly all different\nhint: ",
            ),
            (r#"{strata = ["user", "user"]}"#, "strata names the column \"user\" twice"),
            ("{size = 0}", "size must be at least 1, not 0"),
            (r#"{allocation = "fair"}"#, "unknown variant `fair`"),
        ] {
            let error = built(settings).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
        assert!(built(r#"{size = 10, strata = ["category", "language", "status"]}"#).is_ok());
    }

    #[test]
    fn the_stage_reads_the_columns_of_its_settings() {
        let sample = Sample { strata: vec!["language".into()], max_per_user: Some(2), ..Sample::default() };
        let names: Vec<&str> = sample.contract().reads.iter().map(|column| column.name).collect();
        assert_eq!(names, ["language", "user"]);
        assert!(Sample::default().contract().reads.is_empty());
    }

    #[test]
    fn each_stratum_gets_its_share_and_kept_rows_their_weight() {
        let row = |at: usize| json!({"category": if at < 6 { "simple" } else { "parallel" }, "line": at});
        let tables = json!({"requests": (0..9).map(row).collect::<Vec<_>>()});
        let settings = |allocation| Sample {
            size: Some(3),
            strata: vec!["category".into()],
            allocation,
            ..Sample::default()
        };
        let weights = |allocation| {
            let judged = judged(&settings(allocation), &tables);
            (0..9)
                .filter_map(|row| judged.cell(row, WEIGHT).map(|weight| (row < 6, weight.to_owned())))
                .collect::<Vec<_>>()
        };
        let of = |is_simple, weight: &str| (is_simple, weight.to_owned());
        assert_eq!(weights(Allocation::Proportional), [of(true, "3"), of(true, "3"), of(false, "3")]);
        assert_eq!(weights(Allocation::Equal).iter().filter(|(is_simple, _)| *is_simple).count(), 2);
        let delta = judged(&settings(Allocation::Proportional), &tables).delta;
        let detail = delta.fates[0].evidence.detail.as_deref().unwrap();
        assert_eq!((delta.fates.len(), &detail["stratum"]), (6, &json!({"category": "simple"})));
        assert!(detail["rank"].as_u64().unwrap() > 2 && detail["drawn"] == 2, "{detail}");
    }

    #[test]
    fn without_settings_every_row_is_kept_with_weight_one() {
        let judged = judged(&Sample::default(), &json!({"requests": [{}, {}]}));
        assert!(judged.delta.fates.is_empty());
        assert_eq!([judged.cell(0, WEIGHT), judged.cell(1, WEIGHT)], [Some("1"), Some("1")]);
    }
}
