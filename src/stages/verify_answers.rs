//! Holds requests whose answer the BFCL checker would not accept as written.
//!
//! The output with the first alternative of each parameter must pass, every other alternative must match some output, and
//! no required parameter may be marked as omittable. This proves the form of an answer, not its truth, so the tier stays.
//! A request without an answer is not judged.
//!
//! `draft-answers` writes answers that pass; this stage notices if it ever does not, and checks answers by people, whose
//! alternatives are free.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Settings;
use crate::cells::TypedCells as _;
use crate::checker::{Kind, Language, Problem, ProblemKind, acceptance};
use crate::columns::{ANSWER, FUNCTIONS};
use crate::engine::contract::{Contract, Partition};
use crate::engine::error::Result;
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::opinion::Opinion;
use crate::engine::stage::RowStage;
use crate::engine::view::Row;
use crate::engine::vocabulary::{Evidence, Reason, TableId};

static REFUSED: Reason = Reason::policy(
    "answer/refused-by-checker",
    "The checker refuses the output that takes the first alternative of each parameter.",
);
static DEAD_ALTERNATIVE: Reason =
    Reason::policy("answer/dead-alternative", "An alternative can never match an output.");
static OMITTABLE_REQUIRED: Reason = Reason::policy(
    "answer/omittable-required",
    "The alternatives allow a required parameter to be omitted, which the evaluator refuses.",
);

/// The stage; it has no settings.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct VerifyAnswers {}

/// Tables with a function that rings a bell, and the alternatives of its required parameter.
macro_rules! bell {
    ($alternatives:literal) => {
        concat!(
            r#"{"doc_lists": [{"functions": [{"name": "ring", "description": "Rings a bell.", "parameters": {"#,
            r#""type": "dict", "required": ["bell"], "properties": {"#,
            r#""bell": {"type": "string", "description": "Which bell."}}}}]}], "#,
            r#""requests": [{"answer": [{"ring": {"bell": "#,
            $alternatives,
            r#"}}]}]}"#
        )
    };
}

impl Settings for VerifyAnswers {
    const NAME: &'static str = "verify-answers";
    const SUMMARY: &'static str = "Holds requests whose answer the BFCL checker would not accept as written.";
    const FUNNEL_LABEL: &'static str = "answers pass the checker";

    fn examples() -> Vec<Example> {
        const QUIET: &str = bell!(r#"["noon", "the noon bell"]"#);
        vec![
            Example::tables(REFUSED.code, bell!("[]"), QUIET),
            Example::tables(DEAD_ALTERNATIVE.code, bell!(r#"["noon", 12]"#), QUIET),
            Example::tables(OMITTABLE_REQUIRED.code, bell!(r#"["noon", ""]"#), QUIET),
        ]
    }
}

impl RowStage for VerifyAnswers {
    type Parent = Value;

    fn contract(&self) -> Contract {
        Contract::of(TableId::Requests).partition(Partition::Rows).reads([ANSWER, FUNCTIONS]).reasons([
            &REFUSED,
            &DEAD_ALTERNATIVE,
            &OMITTABLE_REQUIRED,
        ])
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(1);
        Ok(())
    }

    fn parent(&self, list: Row<'_>) -> Value {
        Value::Array(list.functions())
    }

    fn judge_row(&self, request: Row<'_>, functions: &Value) -> Opinion {
        let Some(answer) = request.answer() else { return Opinion::keep() };
        let n_functions = functions.as_array().map_or(0, Vec::len);
        let kind = match (n_functions, answer.len()) {
            (1, 1) => Kind::Simple,
            (_, 1) => Kind::Multiple,
            _ => Kind::Parallel,
        };
        match fault(functions, &Value::Array(answer), kind) {
            Some((reason, detail)) => Opinion::hold(reason, Evidence::detail(detail)),
            None => Opinion::keep(),
        }
    }
}

/// Returns the reason to hold an answer.
fn fault(functions: &Value, answer: &Value, kind: Kind) -> Option<(&'static Reason, Value)> {
    let accepted = acceptance(functions, answer, kind, Language::Python);
    let of = |wanted: ProblemKind| accepted.problems.iter().find(|problem| problem.kind == wanted);
    if let Some(refused) = &accepted.first_refused {
        let cause = of(ProblemKind::Unsatisfiable).or_else(|| of(ProblemKind::OnlyEmpty));
        let mut detail = json!({ "found": refused });
        if let Some(at) = cause.and_then(place) {
            detail = json!({ "at": at, "found": refused });
        }
        return Some((&REFUSED, detail));
    }
    let (reason, problem) = of(ProblemKind::DeadAlternative)
        .map(|problem| (&DEAD_ALTERNATIVE, problem))
        .or_else(|| of(ProblemKind::UselessOmission).map(|problem| (&OMITTABLE_REQUIRED, problem)))?;
    Some((reason, json!({ "at": place(problem), "found": problem.detail })))
}

/// Returns the place of a problem in the form of `draft-answers`: `ring.bell[2]`.
fn place(problem: &Problem) -> Option<String> {
    let parameter = problem.parameter.as_ref()?;
    let at = problem.alternative.map(|at| format!("[{at}]")).unwrap_or_default();
    Some(format!("{}.{parameter}{at}", problem.function))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::stage::Rows;
    use crate::fixture::judged;

    #[test]
    fn answers_that_do_not_pass_are_held_with_the_words_of_the_checker() {
        let function = |name: &str| {
            json!({"name": name, "description": "Rings a bell.", "parameters": {"type": "dict",
                "required": ["bell"], "properties": {"bell": {"type": "string", "description": "Which."},
                "times": {"type": "integer", "description": "How often.", "default": 1}}}})
        };
        let answers = [
            json!([{"ring": {"bell": ["noon"], "times": ["", 1]}}]),
            json!([{"ring": {"bell": ["noon"]}}, {"toll": {"bell": ["noon"], "times": [2]}}]),
            json!([{"ring": {"bell": ["noon"], "pitch": ["high"]}}]),
            json!([{"ring": {"bell": ["noon"], "times": [1, "1"]}}]),
            json!([{"ring": {"bell": ["", "noon"]}}]),
            json!([{"ring": {"bell": [""]}}]),
            Value::Null,
        ];
        let requests: Vec<Value> = answers
            .iter()
            .map(|answer| if answer.is_null() { json!({}) } else { json!({ "answer": answer }) })
            .collect();
        let tables =
            json!({"doc_lists": [{"functions": [function("ring"), function("toll")]}], "requests": requests});
        let judged = judged(&Rows(VerifyAnswers::default()), &tables);
        let fates: Vec<_> = (0..answers.len()).map(|row| judged.fate(row)).collect();
        assert_eq!(
            fates,
            [
                None,
                None,
                Some("answer/refused-by-checker"),
                Some("answer/dead-alternative"),
                Some("answer/omittable-required"),
                Some("answer/refused-by-checker"),
                None,
            ]
        );
        let (_, detail) = fault(&tables["doc_lists"][0]["functions"], &answers[3], Kind::Multiple).unwrap();
        assert_eq!(
            detail,
            json!({"at": "ring.times[1]",
                "found": "Incorrect type for parameter 'times'. Expected type integer, got str. Parameter value: '1'."})
        );
    }
}
