//! Signatures of functions without `def`: `ring(bell: str, times: int = 1) -> bool`.
//!
//! A call looks the same except for types: `ring(bell="b")` may be either. So a signature needs a type or `->`; among
//! others that have them, it may also have no parameters. Texts that do not look like signatures are ignored.

use serde_json::Value;

use super::heads::function;
use super::models::Models;
use crate::parse::fault::{ParseFault, ParseFaultKind};
use crate::source::found::afford;
use callsieve_notation::allowance::Allowance;
use callsieve_notation::python::{self, PySignature};

/// Returns the functions of a text in which each statement looks like a signature.
pub(in crate::source) fn read(text: &str, allowance: &Allowance) -> Option<Result<Vec<Value>, ParseFault>> {
    if !begins(text) {
        return None;
    }
    if let Err(fault) = afford(text, allowance) {
        return Some(Err(fault));
    }
    let signatures = python::signatures(text).ok().filter(|signatures| !signatures.is_empty())?;
    Some(functions(&signatures, allowance))
}

/// Returns true if a text begins with a name and a bracket.
fn begins(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    let line = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    line.is_some_and(|line| {
        let rest = line.trim_start_matches(is_part);
        rest.len() < line.len() && rest.starts_with('(')
    })
}

fn functions(signatures: &[PySignature], allowance: &Allowance) -> Result<Vec<Value>, ParseFault> {
    let is_any_sure = signatures.iter().any(is_sure);
    let is_bare = |signature: &PySignature| signature.def.parameters.is_empty();
    let unsure =
        signatures.iter().filter(|signature| !is_sure(signature)).find(|one| !(is_any_sure && is_bare(one)));
    if let Some(signature) = unsure {
        let message =
            format!("`{}(…)` may be a call or a signature: expected a type or `->`", signature.def.name);
        return Err(ParseFault::new(ParseFaultKind::SourceCode, message));
    }
    let models = Models::new(allowance);
    signatures.iter().map(|signature| function(&signature.def, &models)).collect()
}

/// Returns true if it can only be a signature.
fn is_sure(signature: &PySignature) -> bool {
    signature.has_result || signature.def.parameters.iter().any(|parameter| parameter.annotation.is_some())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Option<Result<Vec<Value>, ParseFault>> {
        super::read(text, &Allowance::of(text))
    }

    #[test]
    fn signatures_are_read_on_one_line_or_several() {
        let read = read(
            "# bells\nring(bell: str,\n     times: int = 1) -> Dict[str, int]\ntower.hush() ;\nlist_all() -> list  # all\n",
        );
        let names = ["ring", "tower.hush", "list_all"];
        let functions = read.unwrap().unwrap();
        assert_eq!(functions.iter().map(|f| f["name"].as_str().unwrap()).collect::<Vec<_>>(), names);
        assert_eq!(
            functions[0]["parameters"],
            json!({"type": "dict", "required": ["bell"],
                "properties": {"bell": {"type": "str"}, "times": {"type": "int", "default": 1}}})
        );
    }

    #[test]
    fn a_call_is_not_a_signature() {
        for text in ["f(x=1)", "f(city, unit='c')", "f()", "f(a: int)\ng(x=1)"] {
            assert_eq!(read(text).unwrap().unwrap_err().kind, ParseFaultKind::SourceCode, "{text}");
        }
        for text in [
            "call f(x)",
            "f(x) and more",
            "please (do)",
            "f(",
            "f(a: int) -> str: Rings.",
            "f(a: int) -> str - Rings",
            "f() -> Dict[str, int] and more",
            "f[a]",
            "x = f(a: int)",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
