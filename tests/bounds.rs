//! Tests that adversarial texts take little more memory than their length.
//!
//! An allocator of this test binary counts the memory that the program requests. It counts all threads, so there is
//! only one test, which reads one text after another. `endless` tests that reading ends.

// A test may panic if its set-up fails.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use callsieve::docs::parse::parse;
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// The memory that reading any text may take, and the memory for each byte of the text.
const FIXED_BYTES: usize = 64 << 20;
const TIMES: usize = 10;

const MIB: usize = 1 << 20;

/// The beginning, the repeated part and the end of a text; `#` is the number of the repetition.
type Form = (&'static str, &'static str, &'static str);

/// At least one form for each step of the parser chain and each reader of source code and descriptions.
const FORMS: [Form; 46] = [
    // strict JSON
    ("[", "0,", "0]"),
    ("[", "[],", "0]"),
    ("[", "{\"a\":0},", "0]"),
    ("[", "{\"a\":{\"a\":{\"a\":[0]}}},", "0]"),
    ("[", "{\"name\":\"f#\"},", "{}]"),
    ("{", "\"k#\":0,", "\"z\":0}"),
    ("{", "\"f#\":{\"description\":\"d\",\"parameters\":{}},", "\"z\":{\"parameters\":{}}}"),
    ("{", "\"f#\":{\"function\":{\"name\":\"g\"}},", "\"z\":1}"),
    ("{\"name\":\"f\",\"query\":{", "\"k#\":{},", "\"z\":{}}}"),
    ("{\"name\":\"f\",\"properties\":{", "\"k#\":{},", "\"z\":{}}}"),
    ("{\"f\":\"{\\\"description\\\":\\\"d\\\",\\\"parameters\\\":[", "0,", "0]}\"}"),
    // envelopes and encodings
    ("x = ", "{\"a\":1},", ""),
    ("", "<tool>{\"name\":\"f#\"}</tool>\n", ""),
    ("", "```json\n{\"name\":\"f#\"}\n```\n", ""),
    ("", "Use {\"name\":\"f#\"} or\n", ""),
    ("&#91;", "0&comma;", "0]"),
    ("\"[", "\\u005b\\u005d\\u002c", "0]\""),
    ("[{\\\"a\\\":0", ",0", "]"),
    // Python, JSON5, slips
    ("[", "'',", "0]"),
    ("[", "(1,),", "0]"),
    ("{'a':", "'b' ", "}"),
    ("[", "1 ", ""),
    ("[", "0,", ""),
    ("[", "True ", "]"),
    ("{", "k#:0,", "}"),
    ("[\"", "\" ", ""),
    ("{\"a\": \"", "\n}\"", ""),
    ("[", "“", ""),
    // adjacent values
    ("", "{\"name\":\"f#\"}\n", ""),
    ("", "[]", ""),
    ("", "{\"name\":\"f#\", x}\n", ""),
    // YAML
    ("", "- a:\n", ""),
    ("", "- name: f#\n  description: d\n", ""),
    ("a: &a {b: c, d: e, f: g}\nx:\n", "- *a\n", ""),
    // source
    ("", "f(a: int)\n", ""),
    ("", "def f#(a: int): pass\n", ""),
    ("def f(a", ",a#", "): pass"),
    ("", "class F#(BaseModel):\n  x: int\n", ""),
    ("class M(BaseModel):\n  a: int\n  b: int\n  c: int\ndef f(x: M", ",a#:M", "): pass"),
    ("", "type F = (_: {a: string}) => any;\n", ""),
    ("type M = {a: string, b: string};\ndeclare function f(x: M", ",a#:M", "): void;"),
    // descriptions of APIs
    ("{\"openapi\":\"3.0.0\",\"paths\":{", "\"/p#\":{\"get\":{\"summary\":\"x\"}},", "\"/z\":{}}}"),
    ("openapi: 3.0.0\npaths:\n", "  /p#:\n    get:\n      summary: x\n", ""),
    (
        "{\"openapi\":\"3.0.0\",\"paths\":{\"/p\":{\"get\":{\"parameters\":[",
        "{\"in\":\"query\",\"name\":\"a#\"},",
        "{\"in\":\"query\",\"name\":\"z\"}]}}}}",
    ),
    (
        "{\"info\":{\"schema\":\"postman\"},\"item\":[{\"name\":\"a\",\"request\":{\"url\":{\"query\":[",
        "{\"key\":\"a\"},",
        "{}]}}}]}",
    ),
    (
        "{\"info\":{\"schema\":\"postman\"},\"item\":[{\"name\":\"a\",\"request\":\"http://x/y?",
        "a#&",
        "\"}]}",
    ),
];

fn text((prefix, unit, suffix): Form, n_bytes: usize) -> String {
    let mut text = prefix.to_owned();
    for n in 0.. {
        if text.len() >= n_bytes {
            break;
        }
        text.push_str(&unit.replace('#', &n.to_string()));
    }
    text + suffix
}

/// Returns the maximum memory in use while the text was read, minus the memory in use before.
fn peak_bytes(text: &str) -> usize {
    ALLOCATOR.reset_peak_usage();
    let before = ALLOCATOR.current_usage();
    let read = parse(text);
    let peak = ALLOCATOR.peak_usage() - before;
    drop(read);
    peak
}

#[test]
fn no_text_takes_much_more_memory_than_its_length() {
    for form in FORMS {
        let text = text(form, 3 * MIB / 2);
        let peak = peak_bytes(&text);
        let (unit, n_bytes) = (form.1, text.len());
        println!("{:6.1} MiB for {:4.1} MiB of {unit:?}", mib(peak), mib(n_bytes));
        assert!(peak <= FIXED_BYTES + TIMES * n_bytes, "{peak} bytes for {n_bytes} of {unit:?}");
    }
    for (open, inner, close) in DEEP {
        read_deep(open, inner, close);
    }
}

#[allow(clippy::cast_precision_loss)]
fn mib(n_bytes: usize) -> f64 {
    n_bytes as f64 / MIB as f64
}

/// Texts with a hundred thousand opening parts, a middle, and as many closing parts.
const DEEP: [Form; 14] = [
    ("[", "0", "]"),
    ("{\"a\":", "0", "}"),
    ("(", "1", ")"),
    ("{'a': [", "1", "]}"),
    ("a: [", "b", "]"),
    ("- ", "a", ""),
    ("<tools>", "[]", "</tools>"),
    ("```", "[]", "```"),
    ("x = [", "1", "]"),
    ("def f(a=[", "1", "]): pass"),
    ("def f(a: Optional[", "int", "]): pass"),
    ("type A = Array<", "string", ">;"),
    ("type A = {a: ", "string", "};"),
    ("f(a: List[", "int", "])"),
];

fn read_deep(open: &str, inner: &str, close: &str) {
    const N_TIMES: usize = 100_000;
    let (first, rest) = open.split_at(open.rfind([' ', '=']).map_or(0, |at| at + 1));
    let (body, last) = close.split_at(close.find(')').unwrap_or(close.len()));
    for close in ["", body] {
        let text = format!("{first}{}{inner}{}{last}", rest.repeat(N_TIMES), close.repeat(N_TIMES));
        let peak = peak_bytes(&text);
        assert!(peak <= FIXED_BYTES + TIMES * text.len(), "{open} takes {peak} bytes");
    }
}
