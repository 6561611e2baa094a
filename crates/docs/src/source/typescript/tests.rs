//! Tests each form of a signature on one function, each form of a type, and random texts.

use proptest::prelude::*;
use serde_json::{Map, json};

use super::*;

fn read(text: &str) -> Option<Result<Vec<Value>, ParseFault>> {
    super::read(text, &Allowance::of(text))
}

fn functions(text: &str) -> Vec<Value> {
    read(text).unwrap_or_else(|| panic!("not seen: {text}")).unwrap_or_else(|fault| panic!("{text}: {fault}"))
}

fn properties(kind: &str) -> Value {
    functions(&format!("function f(a: {kind}): void"))[0]["parameters"]["properties"]["a"].clone()
}

fn fault(text: &str) -> ParseFaultKind {
    read(text).unwrap_or_else(|| panic!("not seen: {text}")).expect_err(text).kind
}

#[test]
fn every_form_of_a_signature_is_read_equally() {
    let expected = json!({"name": "ring", "description": "Rings a bell.", "parameters": {"type": "dict",
        "properties": {"bell": {"type": "string", "description": "Which bell."},
            "tone": {"type": "string", "enum": ["low", "high"], "description": "How it sounds.", "default": "low"}},
        "required": ["bell"]}});
    for text in [
        "// Rings a bell.\ntype ring = (_: {\n// Which bell.\nbell: string,\n// How it sounds.\ntone?: \"low\" | \"high\", // default: low\n}) => any;",
        "# Tools\n\n## functions\n\nnamespace functions {\n\n// Rings a bell.\ntype ring = (_: { // Which bell.\n bell: string; \n // How it sounds.\n // default: low\n tone?: 'low' | 'high'\n}) => any;\n\n} // namespace functions",
        "/**\n * Rings a bell.\n * @param bell - Which bell.\n * @param {Tone} tone How it\n *   sounds.\n * @returns {boolean} Whether it rang.\n */\nexport async function ring(bell: string, tone: \"low\" | \"high\" = \"low\"): Promise<boolean> {\n  const x = `}${bell}`; // }\n  return /[}]\"/.test('}') || 4 / 2 > 1;\n}\n",
        "/** Rings a bell.\n * @param {string} bell Which bell.\n * @param {\"low\"|\"high\"} [tone=low] How it sounds. */\nfunction ring(bell, tone) { return 1 }",
        "// Rings a bell.\nexport const ring = async (\n  bell: string, // Which bell.\n  tone: 'low' | 'high' = 'low', // How it sounds.\n): Promise<{ ok: boolean }> => {\n  return { ok: true };\n};",
        "enum Tone { Low = 'low', High = 'high' }\ninterface Args {\n  /** Which bell. */\n  bell: string;\n  /** How it sounds. */\n  tone?: Tone;\n}\n/** Rings a bell. */\ndeclare function ring({ bell, tone = 'low' }: Args): void;",
        "interface Bells {\n  // Rings a bell.\n  ring(\n    /* Which bell. */ bell: string,\n    tone: 'low' | 'high' | undefined = \"low\" // How it sounds.\n  ): void;\n}",
    ] {
        assert_eq!(functions(text), std::slice::from_ref(&expected), "{text}");
    }
}

#[test]
fn types_become_schemas() {
    for (kind, expected) in [
        ("string", json!({"type": "string"})),
        ("boolean | null", json!({"type": "boolean"})),
        ("string[][]", json!({"type": "array", "items": {"type": "array", "items": {"type": "string"}}})),
        ("Array<number>", json!({"type": "array", "items": {"type": "number"}})),
        ("readonly ('a' | 'b')[]", json!({"type": "array", "items": {"type": "string", "enum": ["a", "b"]}})),
        ("1 | 2 | -3.5", json!({"type": "number", "enum": [1, 2, -3.5]})),
        ("true | false", json!({"type": "boolean"})),
        ("'a'", json!({"type": "string", "enum": ["a"]})),
        ("string | number", json!({"anyOf": [{"type": "string"}, {"type": "number"}]})),
        (
            "[x: number, y?: string]",
            json!({"type": "array", "items": [{"type": "number"}, {"type": "string"}]}),
        ),
        ("Record<string, number>", json!({"type": "object", "additionalProperties": {"type": "number"}})),
        ("{ [key: string]: any }", json!({"type": "object", "additionalProperties": {"type": "any"}})),
        (
            "{ a: string, 'b-c'?: { d: Date } }",
            json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "string"},
                "b-c": {"type": "object", "properties": {"d": {"type": "Date"}}, "required": ["d"]}}}),
        ),
        (
            "{ a: string } & { b?: number }",
            json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}, "b": {"type": "number"}}}),
        ),
        (
            "Pick<{ a: string; b: number }, 'a'>",
            json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}}),
        ),
        (
            "Partial<Omit<{ a: string; b: number }, 'a'>>",
            json!({"type": "object", "required": [], "properties": {"b": {"type": "number"}}}),
        ),
    ] {
        assert_eq!(properties(kind), expected, "{kind}");
    }
}

#[test]
fn several_functions_keep_their_order_and_the_name_of_their_namespace() {
    let text = "import { x } from 'y';\nnamespace browser {\n// Opens.\ntype open = (_: { url: string }) => any;\ntype back = () => any;\n}\nnamespace functions { type now = () => any; }\nlet later = (a) => a\n  .b(c);\nexport default later;\nexport { later };\nring(1);";
    assert_eq!(fault(text), ParseFaultKind::SourceCode);
    let names: Vec<_> = functions(text.trim_end_matches("ring(1);"));
    let names: Vec<_> = names.iter().map(|function| function["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["browser.open", "browser.back", "now", "later"]);
}

#[test]
fn signatures_without_a_keyword_need_types() {
    let read_one = |text: &str| read(text).map(|read| read.unwrap()[0]["parameters"].clone());
    assert_eq!(
        read_one("// Rings.\nring(bell: string, times?: number): Promise<void>;"),
        Some(json!({"type": "dict", "required": ["bell"],
            "properties": {"bell": {"type": "string"}, "times": {"type": "number"}}}))
    );
    for text in
        ["ring('b')", "ring(bell)", "ring(a, b);", "please (do)", "ring(a: string) and more", "ring: x", ""]
    {
        assert!(read(text).is_none(), "{text}");
    }
}

#[test]
fn jsdoc_describes_members_of_an_object() {
    let text = "/**\n * @param {Object} options\n * @param {string} options.bell - Which.\n * @param {number=} options.times\n */\nconst ring = function (options) {};";
    assert_eq!(
        functions(text)[0]["parameters"]["properties"]["options"],
        json!({"type": "object", "required": ["bell"], "properties": {
            "bell": {"type": "string", "description": "Which."}, "times": {"type": "number"}}})
    );
}

#[test]
fn unknown_syntax_is_a_fault() {
    for (text, expected) in [
        ("function f(a: string", ParseFaultKind::Truncated),
        ("type f = (_: { a: string", ParseFaultKind::Truncated),
        ("function f(a: string) { return", ParseFaultKind::Truncated),
        ("function f<T>(a: T) {}", ParseFaultKind::SourceCode),
        ("function f(a: keyof B) {}", ParseFaultKind::SourceCode),
        ("function f(a: B['c']) {}", ParseFaultKind::SourceCode),
        ("function f(a: A extends B ? C : D) {}", ParseFaultKind::SourceCode),
        ("function f(a: () => void) {}", ParseFaultKind::SourceCode),
        ("function f(a: List<string>) {}", ParseFaultKind::SourceCode),
        ("function f(a = other()) {}", ParseFaultKind::SourceCode),
        ("function f({ a }: string) {}", ParseFaultKind::SourceCode),
        ("interface A { b: A[] }\nfunction f(a: A) {}", ParseFaultKind::SourceCode),
        ("interface A { b: string }", ParseFaultKind::SourceCode),
        ("function f() {}\nclass C {}", ParseFaultKind::SourceCode),
        ("function f() {}\nf(1)", ParseFaultKind::SourceCode),
    ] {
        assert_eq!(fault(text), expected, "{text}");
    }
    for text in
        ["const tools = [{}]", "type of thing", "function of a bell", "// it\n[1]", "let x = 3", "interface"]
    {
        assert!(read(text).is_none(), "{text}");
    }
}

#[test]
fn a_fault_has_a_place() {
    let text = "function f(a: string, b # c) {}";
    let fault = read(text).unwrap().unwrap_err();
    assert_eq!(fault.at.map(|at| &text[at..=at]), Some("#"));
    assert_eq!(fault.message, "expected `)`, found '#' at byte 24");
}

#[test]
fn depth_and_growth_are_limited() {
    for open in ["[", "(", "{a:", "Array<", "readonly ", "keyof ", "string | (", "(a: "] {
        let text = format!("function f(a: {}", open.repeat(100_000));
        assert!(read(&text).unwrap().is_err(), "{open}");
    }
    for text in [
        format!("function f(a: string{}) {{}}", "[]".repeat(100_000)),
        format!("function f(a = {}) {{}}", "[".repeat(100_000)),
        format!("function f() {}", "{".repeat(100_000)),
        format!("{} function f() {{}}", "namespace a {".repeat(100_000)),
        format!("function f(a: {}", "// x\n".repeat(100_000)),
    ] {
        assert!(read(&text).unwrap().is_err());
    }
    let mut types = "type A0 = { x: string };\n".to_owned();
    for n in 1..30 {
        types += &format!("type A{n} = {{ x: A{0}, y: A{0} }};\n", n - 1);
    }
    assert_eq!(fault(&format!("{types}function f(a: A29) {{}}")), ParseFaultKind::SourceCode);
}

/// Generates a type, and the schema it means.
fn any_type() -> impl Strategy<Value = (String, Value)> {
    let word = prop::sample::select(vec!["string", "number", "boolean", "any"]);
    let choices = prop::collection::vec("[a-z' \"]{0,5}", 2..4);
    let leaf = prop_oneof![
        word.prop_map(|word| (word.to_owned(), json!({"type": word}))),
        choices.prop_map(|choices| {
            let written: Vec<_> = choices.iter().map(|choice| json!(choice).to_string()).collect();
            (written.join(" | "), json!({"type": "string", "enum": choices}))
        }),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(|(text, schema)| {
                (format!("({text})[]"), json!({"type": "array", "items": schema}))
            }),
            prop::collection::vec((any::<bool>(), "[^\\p{C}*/]{0,12}", inner), 1..4).prop_map(object),
        ]
    })
}

#[test]
fn a_skipped_statement_hides_no_truncation() {
    for text in [
        "function f(a: string): void;\nimport { x \nfunction g(b: number): void;",
        "function f(a: string): void;\nexport { x",
        "function f(a: string): void;\nconst g = (a: string) => k({ a;",
    ] {
        let fault = read(text).unwrap().unwrap_err();
        assert_eq!(fault.kind, ParseFaultKind::Truncated, "{text}");
    }
    let whole = "import x from 'x' // it's {\nexport { y } // not ours\nconst f = (a: string) => a\n\n  // and\n  .trim()\nfunction g(): void;";
    assert_eq!(functions(whole).len(), 2);
}

/// Returns an object type with members `m0`, `m1`, … that have a comment, a type, and may be optional.
fn object(members: Vec<(bool, String, (String, Value))>) -> (String, Value) {
    let (mut text, mut properties, mut required) = ("{\n".to_owned(), Map::new(), Vec::new());
    for (n, (is_optional, said, (kind, mut schema))) in members.into_iter().enumerate() {
        let mark = if is_optional { "?" } else { "" };
        // Text that begins like a tag would be read as one.
        let said = said.trim().trim_start_matches('@').trim().to_owned();
        if !said.is_empty() {
            text += &format!("  // {said}\n");
            schema["description"] = json!(said);
        }
        text += &format!("  m{n}{mark}: {kind},\n");
        properties.insert(format!("m{n}"), schema);
        if !is_optional {
            required.push(format!("m{n}"));
        }
    }
    (text + "}", json!({"type": "object", "properties": properties, "required": required}))
}

proptest! {
    #[test]
    fn a_printed_type_is_read_back((text, schema) in any_type()) {
        let read = functions(&format!("type f = (a: {text}) => any;"));
        prop_assert_eq!(&read[0]["parameters"]["properties"]["a"], &schema);
    }

    #[test]
    fn any_text_is_read_or_refused(
        text in "(function |type |interface |namespace |const |enum |export |f|a|=>|[=:;,|&?<>(){}\\[\\]/*@'\"`\\\\.1# \n]|//|/\\*\\*|\\*/|string|é|@param ){0,40}"
    ) {
        for text in [format!("function f({text}"), format!("function f(a: {text}"), format!("type f = (_: {{{text}}}) => any\n{text}"), text] {
            match read(&text) {
                Some(Err(fault)) => prop_assert!(fault.at.is_none_or(|at| text.is_char_boundary(at)), "{:?}", fault),
                Some(Ok(functions)) => prop_assert!(functions.iter().all(|function| function["name"].is_string())),
                None => {}
            }
        }
    }
}

#[test]
fn contradicting_joined_types_are_refused() {
    let kind = fault("function f(a: { b: string } & { b: number }): void");
    assert_eq!(kind, ParseFaultKind::SourceCode);
}
