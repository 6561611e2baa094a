//! Parses the text of each doc list into functions; calls `docs::parse`.
//!
//! A text that cannot be parsed reliably is dropped, with the fault and its place. A text that
//! is cut off, or that can be repaired in more than one way, is held for a person. Functions
//! that a person writes for a list replace its text; a patch changes the parsed functions.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Settings;
use crate::columns::{FUNCTIONS, PARSE_STEPS, TEXT};
use crate::docs::parse::fault::{ParseFault, ParseFaultKind};
use crate::docs::parse::parse;
use crate::docs::patch::{PatchOp, apply_within};
use crate::engine::contract::{Contract, Partition};
use crate::engine::decision::{Decision, DecisionKind, Ruling};
use crate::engine::error::Result;
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::opinion::Opinion;
use crate::engine::stage::RowStage;
use crate::engine::view::Row;
use crate::engine::vocabulary::{Cell, Evidence, Reason, TableId};
use crate::notation::levels::MAX_KEPT;

/// One reason for each fault of the parser chain. A list without functions has nothing to repair, so its reason is a
/// policy.
static REASONS: LazyLock<Vec<(ParseFaultKind, Reason)>> = LazyLock::new(|| {
    let reason = |fault: ParseFaultKind| match fault {
        ParseFaultKind::NoFunctions | ParseFaultKind::Empty => Reason::policy(fault.code(), fault.what()),
        _ => Reason::fault(fault.code(), fault.what()),
    };
    // Binding: without functions no later stage can use the list, even if a person keeps it.
    ParseFaultKind::ALL.into_iter().map(|fault| (fault, reason(fault).binding())).collect()
});

/// The stage; it has no settings.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ParseDocs {}

impl Settings for ParseDocs {
    const NAME: &'static str = "parse-docs";
    const SUMMARY: &'static str =
        "Parses the text of each doc list into functions, and notes the parser steps used.";
    const FUNNEL_LABEL: &'static str = "docs that can be read";
    fn examples() -> Vec<Example> {
        vec![
            Example::text("parse/empty", " \n", "[{\"name\": \"now\"}]"),
            Example::text("parse/control-characters", "\u{0}\u{1}", "[{\"name\": \"now\"}]"),
            Example::text(
                "parse/html",
                "<html><body>404</body></html>",
                "<tools>[{\"name\": \"now\"}]</tools>",
            ),
            Example::text(
                "parse/source-code",
                "def now(zone=Field('local', alias='z')):\n    return clock(zone)",
                "def now(zone='local'):\n    return clock(zone)",
            ),
            Example::text("parse/not-json", "a clock function please", "functions = [{'name': 'now'}]"),
            Example::text(
                "parse/truncated",
                r#"[{"name": "now", "parameters": {"type": "obj"#,
                r#"[{"name": "now", "parameters": {"type": "object"}}]"#,
            ),
            Example::text(
                "parse/abbreviated",
                r#"[{"name": "now", "parameters": {...}}]"#,
                r#"[{"name": "now", "description": "Tells ..."}]"#,
            ),
            Example::text("parse/too-deep", DEEP, "[[{'name': 'now'}]]"),
            Example::text(
                "parse/functions-too-deep",
                DEEP_FUNCTIONS,
                r#"[{"name": "now", "zones": [[[[["utc"]]]]]}]"#,
            ),
            Example::text("parse/too-large", GROWING, "class Zone(BaseModel):\n    name: str"),
            Example::text(
                "parse/ambiguous-repair",
                r#"[{"name": "now", "zones": ["utc" "cet"]}]"#,
                r#"[{"name": "now", "zones": ["utc", "cet",]}]"#,
            ),
            Example::text(
                "parse/duplicate-key",
                r#"{"name": "now", "description": "a", "description": "b"}"#,
                r#"{"name": "now", "description": "a", "description": "a"}"#,
            ),
            Example::text(
                "parse/not-a-json-value",
                r#"{"name": "now", "default": NaN}"#,
                r#"{"name": "now", "default": null}"#,
            ),
            Example::text(
                "parse/unreadable-record",
                "{\"name\": \"now\"}\n{\"name\": \"then\" \"zone\": oops \"x\"}\n{\"name\": \"soon\"}",
                "{\"name\": \"now\"}\n{\"name\": \"then\"}\n{\"name\": \"soon\"}",
            ),
            Example::text("parse/no-functions", "[]", "[{'name': 'now'}]"),
            Example::text("parse/not-a-function", "['tell me the time']", "[{'name': 'now'}]"),
            Example::text(
                "parse/missing-name",
                r#"[{"description": "Tells the time."}]"#,
                r#"[{"name": "now"}]"#,
            ),
            Example::text(
                "parse/unreadable-operation",
                r##"{"openapi": "3.0.0", "paths": {"/now": {"get": {"parameters": [{"$ref": "#/lost/zone"}]}}}}"##,
                r#"{"openapi": "3.0.0", "paths": {"/now": {"get": {"summary": "Tells the time."}}}}"#,
            ),
        ]
    }
}

const DEEP: &str = concat!(
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
    "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
);

/// Lists that a JSON reader accepts but that nest too deep for an entry of a dataset.
const DEEP_FUNCTIONS: &str = concat!(
    r#"[{"name": "now", "zones": "#,
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
    "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
    "}]"
);

/// Five classes; four of them have five fields of the previous class.
const GROWING: &str = concat!(
    "class A(BaseModel):\n    a: int\n    b: int\n    c: int\n    d: int\n    e: int\n",
    "class B(BaseModel):\n    a: A\n    b: A\n    c: A\n    d: A\n    e: A\n",
    "class C(BaseModel):\n    a: B\n    b: B\n    c: B\n    d: B\n    e: B\n",
    "class D(BaseModel):\n    a: C\n    b: C\n    c: C\n    d: C\n    e: C\n",
    "class E(BaseModel):\n    a: D\n    b: D\n    c: D\n    d: D\n    e: D\n",
);

impl RowStage for ParseDocs {
    type Parent = ();

    fn contract(&self) -> Contract {
        Contract::of(TableId::DocLists)
            .partition(Partition::Rows)
            .reads([TEXT])
            .writes([FUNCTIONS, PARSE_STEPS])
            .reasons(REASONS.iter().map(|(_, reason)| reason))
            // A second run would overwrite the functions that a fix changed.
            .not_idempotent()
            .decisions([DecisionKind::Edit])
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(7);
        Ok(())
    }

    fn judge_row(&self, row: Row<'_>, (): &()) -> Opinion {
        let opinion = Self::opinion(row);
        match row.decision(DecisionKind::Edit) {
            Some(decision) => edited(opinion, decision),
            None => opinion,
        }
    }
}

impl ParseDocs {
    fn opinion(row: Row<'_>) -> Opinion {
        match parse(row.text(TEXT).unwrap_or_default()) {
            Ok(parsed) if parsed.faults.is_empty() => {
                let steps: Vec<&str> = parsed.steps.iter().map(|step| step.code()).collect();
                let functions = serde_json::to_string(&parsed.functions).expect("values are JSON");
                Opinion::keep().with(FUNCTIONS, functions).with(PARSE_STEPS, steps.join(","))
            }
            // Functions that were parsed despite a fault are held for people to check.
            Ok(parsed) => Opinion::hold(reason(&parsed.faults[0]), evidence(&parsed.faults[0])),
            Err(fault) => match fault.kind {
                ParseFaultKind::Truncated | ParseFaultKind::Abbreviated | ParseFaultKind::AmbiguousRepair => {
                    Opinion::hold(reason(&fault), evidence(&fault))
                }
                _ => Opinion::drop(reason(&fault), evidence(&fault)),
            },
        }
    }
}

/// Applies a person's edit to an opinion: new functions replace any fault, a patch needs parsed functions.
fn edited(opinion: Opinion, decision: &Decision) -> Opinion {
    let read = opinion.cells.iter().find_map(|(column, cell)| match cell {
        Cell::Text(text) if *column == FUNCTIONS => serde_json::from_str::<Value>(text).ok(),
        _ => None,
    });
    let functions = match (decision.body.get("functions"), read) {
        (Some(functions), _) => Ok(functions.clone()),
        (None, Some(read)) => patched(read, &decision.body["patch"]),
        (None, None) => {
            Err("the docs cannot be parsed, so there is nothing to patch; write \"functions\" instead"
                .to_owned())
        }
    };
    match functions {
        Err(why) => Opinion { ruling: Some(Ruling::refused(decision, why)), ..opinion },
        Ok(functions) => {
            let ruling = Some(Ruling::of(decision, decision.body.clone()));
            let steps = opinion.cells.into_iter().filter(|(column, _)| *column == PARSE_STEPS);
            Opinion { ruling, cells: steps.collect(), ..Opinion::keep() }
                .with(FUNCTIONS, functions.to_string())
        }
    }
}

fn patched(mut functions: Value, patch: &Value) -> std::result::Result<Value, String> {
    let patch: Vec<PatchOp> = Vec::deserialize(patch).map_err(|error| error.to_string())?;
    apply_within(&mut functions, &patch, MAX_KEPT)
        .map_err(|misfit| format!("the patch cannot be applied: {misfit}"))?;
    let is_list = functions.as_array().is_some_and(|all| !all.is_empty() && all.iter().all(Value::is_object));
    if is_list { Ok(functions) } else { Err("the result of the patch is not a list of functions".to_owned()) }
}

fn reason(fault: &ParseFault) -> &'static Reason {
    let (_, reason) = REASONS.iter().find(|(kind, _)| *kind == fault.kind).expect("every fault has a reason");
    reason
}

fn evidence(fault: &ParseFault) -> Evidence {
    Evidence::detail(json!({ "at_byte": fault.at, "found": fault.message }))
}
