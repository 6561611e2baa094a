//! JSON made of the words of the dialects: reading the frames and fixing what is inside never panics or hangs.
//!
//! The bytes are instructions for building a value, so nearly every input is one that gets
//! past the first key; a fuzzer that had to find the brackets first would seldom see a doc.

#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value, json};
use callsieve_docs::dialect;
use callsieve_docs::fix::{Safety, fix};

const WORDS: &[&str] = &[
    "name", "description", "parameters", "type", "properties", "required", "items", "enum", "default", "function",
    "functions", "tools", "tool", "functionDeclarations", "function_declarations", "input_schema", "inputSchema", "toolSpec",
    "json", "api_name", "api_description", "api_list", "api_call", "api_arguments", "required_parameters",
    "optional_parameters", "query_parameters", "input_parameters", "output_parameters", "arguments", "args", "title", "optional",
    "anyOf", "oneOf", "allOf", "$ref", "$defs", "#/$defs/a", "#/properties/a", "const", "format", "minimum", "additionalProperties",
    "type_", "OBJECT", "STRING", "object", "dict", "string", "str", "List[int]", "Optional[str]", "number", "array", "null",
    "result", "openapi", "swagger", "paths", "info", "item", "request", "url", "a", "b", "class", "get-x", "get_x", "", "1", "true",
    "Default is 3.", "{\"name\": \"f\"}", "def f(a: int): pass",
];

/// Builds a value from bytes: one says what comes, the next which word or how many.
struct Builder<'b> {
    bytes: std::slice::Iter<'b, u8>,
}

impl Builder<'_> {
    fn byte(&mut self) -> u8 {
        self.bytes.next().copied().unwrap_or_default()
    }

    fn word(&mut self) -> &'static str {
        WORDS[usize::from(self.byte()) % WORDS.len()]
    }

    fn value(&mut self, depth: usize) -> Value {
        match self.byte() % 16 {
            0..=6 if depth > 0 => self.object(depth - 1),
            7..=9 if depth > 0 => self.list(depth - 1),
            10 => json!(self.byte()),
            11 => json!(self.byte().is_multiple_of(2)),
            12 => Value::Null,
            _ => json!(self.word()),
        }
    }

    fn object(&mut self, depth: usize) -> Value {
        let n_members = self.byte() % 6;
        (0..n_members).map(|_| (self.word().to_owned(), self.value(depth))).collect::<Map<_, _>>().into()
    }

    fn list(&mut self, depth: usize) -> Value {
        let n_elements = self.byte() % 4;
        (0..n_elements).map(|_| self.value(depth)).collect()
    }
}

fuzz_target!(|bytes: &[u8]| {
    let value = Builder { bytes: bytes.iter() }.value(8);
    let Ok(functions) = dialect::functions(value, &mut Vec::new()) else { return };
    for allow in [Safety::Safe, Safety::Unsafe] {
        let fixed = fix(&functions, allow);
        let again = fix(&fixed.functions, allow);
        assert!(again.edits.is_empty(), "fixing twice changes nothing: {:?}", again.edits);
    }
});
