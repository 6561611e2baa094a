//! Any text goes through every decoder of model outputs: no panic, no hang, and a decoded output is checked in both modes.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use callsieve_checker::decode::{OutputFormat, decode_text, decode_text_strict};
use callsieve_checker::{Case, Checker, Kind, Language, Matching, Mode};
use serde_json::{Value, json};

static FUNCTIONS: LazyLock<Value> = LazyLock::new(|| {
    let properties = json!({
        "a": {"type": "integer"}, "b": {"type": "string"}, "c": {"type": "float"}, "d": {"type": "dict"},
        "e": {"type": "array", "items": {"type": "dict"}}, "f": {"type": "tuple", "items": {"type": "string"}},
        "g": {"type": "any"}, "h": {"type": "number"},
    });
    json!([{"name": "f", "parameters": {"type": "dict", "required": [], "properties": properties}}])
});

static TRUTH: LazyLock<Value> = LazyLock::new(|| {
    json!([{"f": {
        "a": ["", 1], "b": ["", "x"], "c": ["", 1.5], "d": ["", {"k": ["v", ""]}], "e": ["", [{"k": [1]}]],
        "f": ["", ["x"]], "g": ["", null], "h": [""],
    }}])
});

fuzz_target!(|text: &str| {
    for format in
        [OutputFormat::Python, OutputFormat::Java, OutputFormat::JavaScript, OutputFormat::Json, OutputFormat::VerboseXml, OutputFormat::ConciseXml]
    {
        let language = match format {
            OutputFormat::Java => Language::Java,
            OutputFormat::JavaScript => Language::JavaScript,
            _ => Language::Python,
        };
        for decoded in [decode_text(text, format, false), decode_text_strict(text, format, true)].into_iter().flatten() {
            let _ = (decoded.repr(), decoded.to_json());
            for (mode, matching, kind) in [
                (Mode::Official, Matching::Greedy, Kind::Simple),
                (Mode::Strict, Matching::Maximum, Kind::Parallel),
            ] {
                let checker = Checker { mode, matching, underscore_to_dot: true };
                let verdict = checker.check(&Case::new(&FUNCTIONS, &TRUTH, kind, language), &decoded);
                assert!(mode == Mode::Official || verdict.is_ok(), "strict mode always has a verdict");
            }
        }
    }
});
