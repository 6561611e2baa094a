//! Reads functions from Python source: `def` lines with their docstrings; for classes see `classes`.
//!
//! Types and defaults are kept as written (`str`, `List[int]`); `fix` converts them to BFCL's words, so that the change
//! is recorded. It also converts two keys that no schema has: `rest`, for `*args` and `**kwargs`, and
//! `default_expression`, for a default that is not a literal. A parameter is required if the signature has no default
//! for it, whatever the docstring states. An unreadable definition is a separate fault.

mod classes;
pub(crate) mod docstring;
mod heads;
mod inheritance;
mod models;
pub(super) mod signature;

use std::borrow::Cow;

use super::found::{MAX_FAULTS, Source, afford, place};
use crate::parse::fault::{ParseFault, ParseFaultKind};
use crate::parse::step::ParseStep;
use callsieve_notation::allowance::Allowance;
use callsieve_notation::python::{self, SyntaxError};

/// Returns the functions of a text of function definitions.
pub(super) fn read(
    text: &str,
    steps: &mut Vec<ParseStep>,
    allowance: &Allowance,
) -> Option<Result<Source, ParseFault>> {
    is_source(text).then(|| functions(text, steps, allowance))
}

/// Returns true if a text is function definitions, or a module that has some.
pub(super) fn is_source(text: &str) -> bool {
    begins(text) || is_module(text)
}

/// Returns true if the first line of a text that is not a comment, import or decorator is a definition.
fn begins(text: &str) -> bool {
    let is_preamble = |line: &str| {
        line.is_empty()
            || line.starts_with(['#', '@'])
            || line == BLOCK_TITLE
            || line.starts_with("import ")
            || (line.starts_with("from ") && line.contains(" import "))
    };
    let first = text.lines().map(str::trim).find(|line| !is_preamble(line));
    first.is_some_and(|line| defines(line.strip_prefix(FUNC_START).map_or(line, str::trim_start)))
}

/// Returns true if a text is a module: it begins like one, and has a definition at its outermost level.
fn is_module(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let Some(first) = lines.next() else { return false };
    let begins_well = MODULE_STARTS.iter().any(|start| first.starts_with(start)) || is_binding(first);
    begins_well && lines.any(defines)
}

/// Prefixes of a module's first line, in addition to assignments.
const MODULE_STARTS: [&str; 12] =
    ["\"", "'", "r\"", "r'", "R\"", "import ", "from ", "try:", "if ", "with ", "@", "assert "];

/// Returns true if a line assigns a value that is not JSON: `NAME = (`, `name: int = 3`.
fn is_binding(line: &str) -> bool {
    // Several names may be on the left.
    let end =
        line.find(|c: char| !(c == '_' || c == ',' || c == ' ' || c.is_alphanumeric())).unwrap_or(line.len());
    let (name, rest) = line.split_at(end);
    let has_words = name.split(',').any(|name| name.trim().contains(' '));
    let value = rest.trim_start().strip_prefix('=').map(str::trim_start);
    let is_annotated = rest.starts_with(": ") && rest.contains(" = ");
    !name.trim().is_empty()
        && !has_words
        && (is_annotated || value.is_some_and(|value| !value.starts_with(['=', '>'])))
}

/// Returns true if a line begins a function or a class of Python.
fn defines(line: &str) -> bool {
    let line = line.strip_prefix("async ").map_or(line, str::trim_start);
    line.strip_prefix("def ").is_some_and(|head| head.contains('('))
        || line.strip_prefix("class ").is_some_and(|head| head.contains(':') && !head.contains('{'))
}

fn functions(text: &str, steps: &mut Vec<ParseStep>, allowance: &Allowance) -> Result<Source, ParseFault> {
    afford(text, allowance)?;
    let source = if text.contains(FUNC_START) { unblocked(text)? } else { Cow::Borrowed(text) };
    let mut module = python::module(&source);
    let is_as_sent = matches!(source, Cow::Borrowed(_));
    let faults = std::mem::take(&mut module.faults);
    let faults: Vec<ParseFault> =
        faults.into_iter().take(MAX_FAULTS).map(|error| unread(&error, &source, is_as_sent)).collect();
    let mut read = match classes::functions(&module, &source, steps, allowance) {
        Err(_) if !faults.is_empty() => Source::default(),
        read => read?,
    };
    if !is_as_sent {
        read.faults.iter_mut().for_each(|fault| fault.at = None);
    }
    let more = std::mem::replace(&mut read.faults, faults);
    read.faults.extend(more);
    if read.functions.is_empty() {
        // If a text has no function, its first fault is the fault of the whole text.
        let first = read.faults.swap_remove(0);
        let kind = if first.kind == ParseFaultKind::UnreadableRecord {
            ParseFaultKind::SourceCode
        } else {
            first.kind
        };
        return Err(ParseFault { kind, ..first });
    }
    Ok(read)
}

/// Returns the fault of an unreadable definition.
fn unread(error: &SyntaxError, source: &str, is_as_sent: bool) -> ParseFault {
    let rest = source.get(error.offset..).unwrap_or_default();
    // In a text that ends in a bracket or in a string, the error is at the opening quote.
    let is_cut = rest.trim().is_empty() || rest.starts_with(['"', '\'']);
    let kind = if is_cut { ParseFaultKind::Truncated } else { ParseFaultKind::UnreadableRecord };
    let at = is_as_sent.then_some(error.offset);
    ParseFault { kind, at, message: format!("{}: {}", place(source, error.offset), error.message) }
}

const BLOCK_TITLE: &str = "OPTION:";
const FUNC_START: &str = "<func_start>";
const FUNC_END: &str = "<func_end>";
const DOC_START: &str = "<docstring_start>";
const DOC_END: &str = "<docstring_end>";

/// Returns the source in `<func_start>…<func_end> <docstring_start>…<docstring_end>` blocks.
fn unblocked(text: &str) -> Result<Cow<'_, str>, ParseFault> {
    let fault = |fault, message: &str| ParseFault::new(fault, message);
    let mut source = String::new();
    let mut rest = text;
    while let Some((before, block)) = rest.split_once(FUNC_START) {
        if before.lines().map(str::trim).any(|line| !line.is_empty() && line != BLOCK_TITLE) {
            return Err(fault(
                ParseFaultKind::SourceCode,
                "there is text between the blocks of two functions",
            ));
        }
        let cut = || fault(ParseFaultKind::Truncated, "a block has no end");
        let (head, after) = block.split_once(FUNC_END).ok_or_else(cut)?;
        source += &format!("{}:\n", head.trim().trim_end_matches(':'));
        rest = after;
        if let Some(doc) = after.trim_start().strip_prefix(DOC_START) {
            let (doc, after) = doc.split_once(DOC_END).ok_or_else(cut)?;
            source += &format!("    {}\n", doc.trim());
            rest = after;
        }
    }
    if rest.trim().is_empty() {
        Ok(Cow::Owned(source))
    } else {
        Err(fault(ParseFaultKind::SourceCode, "there is text after the last block"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn read_all(text: &str) -> Result<Vec<Value>, ParseFault> {
        functions(text, &mut Vec::new(), &Allowance::of(text)).and_then(Source::sure)
    }

    fn one(text: &str) -> Value {
        let functions = read_all(text).unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
        assert_eq!(functions.len(), 1, "{text}");
        functions[0].clone()
    }

    fn doc(kind: &str, text: &str) -> Value {
        json!({ "type": kind, "description": text })
    }

    #[test]
    fn every_style_of_docstring_is_read_equally() {
        let styles = [
            "Rings.\n\n    Args:\n        bell (str): Which bell.\n        times (int, optional): How often,\n            at most nine.\n\n    Returns:\n        bool: Whether it rang.",
            "Rings.\n\n    Parameters\n    ----------\n    bell : str\n        Which bell.\n    times : int, optional\n        How often,\n        at most nine.\n\n    Returns\n    -------\n    bool\n        Whether it rang.",
            "Rings.\n\n    :param bell: Which bell.\n    :type bell: str\n    :param int times: How often,\n        at most nine.\n    :return:\n        Whether it rang.",
            "\n    Rings.\n\n    Args:\n    - bell: str, required, Which bell.\n    - times: int, optional, How often, at most nine.\n    ",
            "\n    Rings.\n\n    Args:\n    - bell, str, required, Which bell.\n    - times, int, optional, How often, at most nine.\n    ",
            "Rings.\n\n    bell (str): Which bell.\n    times (int): How often, at most nine.",
            "\n    Rings.\n\n    bell (str) – Which bell.\n    times (int) — How often, at most nine.",
            "\n    Rings.\n\n    Args\n    - bell (str) : Which bell.\n    - times (int): How often, at most nine.",
        ];
        let mut times = doc("int", "How often, at most nine.");
        times["default"] = json!(1);
        let expected = json!({"name": "ring", "description": "Rings.", "parameters": {"type": "dict",
            "properties": {"bell": doc("str", "Which bell."), "times": times}, "required": ["bell"]}});
        for style in styles {
            for head in ["def ring(bell, times=1):", "async def ring(self, bell, *, times = 1) -> bool :"] {
                let text = format!("{head}\n    \"\"\"{style}\"\"\"\n    return times > 0\n");
                assert_eq!(one(&text), expected, "{text}");
            }
        }
    }

    #[test]
    fn annotations_and_defaults_are_kept_as_written() {
        let read = one(
            "def f(a: List[int], b: 'str', c: Optional[str], d: int | None = None, e: float = -1.5, g=('x',)): ...",
        );
        assert_eq!(
            read["parameters"],
            json!({"type": "dict", "required": ["a", "b", "c"], "properties": {
                "a": {"type": "List[int]"}, "b": {"type": "str"}, "c": {"type": "str"},
                "d": {"type": "int", "default": null}, "e": {"type": "float", "default": -1.5}, "g": {"default": ["x"]}}})
        );
        assert_eq!(read["description"], "");
    }

    #[test]
    fn annotated_types_and_fields_have_descriptions_and_constraints() {
        let read = one(
            "def f(a: Annotated[List[int], 'One, ' 'two.'], /, b: typing.Annotated[str, Field(description='B.', max_length=3)] = 'x',\n      *, c: int = Field(3, description='C.', ge=1), d: str = pydantic.Field(..., description=None), e: list = Field(default_factory=list),\n      g: Annotated[int, Doc('G.')] | None = None, h: Literal['a, b', 'c'] = 'c'): ...",
        );
        assert_eq!(
            read["parameters"],
            json!({"type": "dict", "required": ["a", "d"], "properties": {
                "a": {"type": "List[int]", "description": "One, two."},
                "b": {"type": "str", "description": "B.", "maxLength": 3, "default": "x"},
                "c": {"type": "int", "description": "C.", "minimum": 1, "default": 3},
                "d": {"type": "str"},
                "e": {"type": "list", "default": []},
                "g": {"type": "int", "description": "G.", "default": null},
                "h": {"type": "Literal['a, b', 'c']", "default": "c"}}})
        );
    }

    #[test]
    fn forms_that_no_schema_has_are_kept_for_fix() {
        let read = one("def f(a, *args, b=os.sep, key=lambda x, y: x, **kwargs: int): pass");
        assert_eq!(read["rest"], json!(["*args", "**kwargs"]));
        assert_eq!(
            read["parameters"],
            json!({"type": "dict", "required": ["a"], "properties": {"a": {},
                "b": {"default_expression": "os.sep"}, "key": {"default_expression": "lambda x, y: x"}}})
        );
        let text =
            "def f(a, *, b): pass\nclass C:\n    def __init__(self, **rest): ...\n    def g(self): ...";
        assert!(read_all(text).unwrap().iter().all(|function| function.get("rest").is_none()));
    }

    #[test]
    fn names_of_constants_are_replaced_by_their_values() {
        let read = one(
            "from enum import Enum\nSIZE = 3\nTWICE = 1\nTWICE = 2\nclass Tone(str, Enum):\n    LOW = 'low'\n\ndef f(size=SIZE, tone: Tone = Tone.LOW, name: str = Tone.LOW.value, twice=TWICE, sum=SIZE + 1): pass",
        );
        assert_eq!(
            read["parameters"],
            json!({"type": "dict", "required": [], "properties": {"size": {"default": 3},
                "tone": {"type": "str", "enum": ["low"], "default": "low"}, "name": {"type": "str", "default": "low"},
                "twice": {"default_expression": "TWICE"}, "sum": {"default_expression": "SIZE + 1"}}})
        );
    }

    #[test]
    fn keys_of_a_typed_dict_may_be_missing() {
        for (fields, required) in [
            ("TypedDict):\n    a: int\n    b: NotRequired[str]", json!(["a"])),
            ("TypedDict, total=False):\n    a: int\n    b: Required[str]", json!(["b"])),
        ] {
            let read = one(&format!("class Opts({fields}\ndef f(opts: Opts): pass"));
            let opts = &read["parameters"]["properties"]["opts"];
            assert_eq!((&opts["required"], &opts["properties"]["b"]), (&required, &json!({"type": "str"})));
        }
    }

    #[test]
    fn each_unreadable_function_is_a_separate_fault() {
        let text = "import os\n\ndef f(a: int): pass\n\ndef g(a, a):\n    return 1\n\nclass C:\n    def m(self, x=Field(alias='y')): pass\n    def n(self): pass\nNow call f.\n";
        let source = functions(text, &mut Vec::new(), &Allowance::of(text)).unwrap();
        let names: Vec<_> = source.functions.iter().map(|function| function["name"].clone()).collect();
        assert_eq!(names, ["f", "n"]);
        let faults: Vec<_> = source.faults.iter().map(|fault| (fault.kind, fault.message.as_str())).collect();
        let kind = ParseFaultKind::UnreadableRecord;
        assert_eq!(
            faults,
            [
                (kind, "line 5, column 10: a second parameter `a`"),
                (kind, "line 9, column 25: the meaning of the keyword `alias` is unknown"),
                (kind, "line 11, column 1: expected a definition or a statement of Python"),
            ]
        );
        assert_eq!(source.faults[0].at, Some(41));
    }

    #[test]
    fn an_unclosed_bracket_does_not_swallow_the_next_definition() {
        let text = "def f(a: int): pass\n\ndef g(b: str,\n    return (1\n\ndef h(c): pass\n";
        let source = functions(text, &mut Vec::new(), &Allowance::of(text)).unwrap();
        let names: Vec<_> = source.functions.iter().map(|function| function["name"].clone()).collect();
        assert_eq!((names, source.faults.len()), (vec![json!("f"), json!("h")], 1));
    }

    #[test]
    fn an_unclosed_bracket_in_a_body_ends_at_the_next_definition() {
        let names = |text: &str| {
            let source = functions(text, &mut Vec::new(), &Allowance::of(text)).unwrap();
            let names: Vec<_> = source.functions.iter().map(|function| function["name"].clone()).collect();
            (names, source.faults.len())
        };
        let all = || vec![json!("f"), json!("g"), json!("h")];
        assert_eq!(names("def f(a):\n    x = (1,\n\ndef g(b): pass\ndef h(c): pass"), (all(), 0));
        assert_eq!(names("import os\ndef f(a): pass\nx = (1,\ndef g(b): pass\ndef h(c): pass\n"), (all(), 1));
    }

    #[test]
    fn only_a_lambda_contains_commas() {
        let read = one("def f(a=mylambda, b=2, key=lambda x, y={1: 2}, *z: (x, y), c: int = 3): pass");
        let properties = &read["parameters"]["properties"];
        assert_eq!(properties["a"], json!({"default_expression": "mylambda"}));
        assert_eq!(properties["key"], json!({"default_expression": "lambda x, y={1: 2}, *z: (x, y)"}));
        assert_eq!((&properties["b"]["default"], &properties["c"]["default"]), (&json!(2), &json!(3)));
    }

    #[test]
    fn too_many_unreadable_definitions_end_the_reading() {
        let text = "import os\n".to_owned() + &"def f(a: int\n".repeat(5_000);
        let fault = functions(&text, &mut Vec::new(), &Allowance::of(&text)).unwrap_err();
        assert!(fault.message.contains("reading ends here"), "{fault:?}");
    }

    #[test]
    fn a_module_is_read_whatever_its_first_line() {
        for start in [
            "#!/usr/bin/env python\n\"\"\"Bells.\"\"\"",
            "\"\"\"Bells.\n\n{\"a\": 1}\n\"\"\"",
            "__version__ = '1.0'",
            "try:\n    import fast\nexcept ImportError:\n    fast = None",
            "SIZES = [\n    1,\n]\nALL: list[int] = SIZES",
            "if TYPE_CHECKING:\n    from a import b",
            "r'''Bells.'''\nfrom a import (\n    b,\n)\nlog = get('x')\nlog.debug('y')\nx[0] += 1\nassert x, 'no'",
        ] {
            let text = format!("{start}\n\ndef f(a): pass\n\nif __name__ == '__main__':\n    f(1)\n");
            let read = read(&text, &mut Vec::new(), &Allowance::of(&text));
            let source =
                read.unwrap_or_else(|| panic!("{text}")).unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
            assert_eq!((source.functions.len(), source.faults), (1, vec![]), "{text}");
        }
        for text in ["tools = [{'name': 'f'}]", "please\ndef f(a): pass", "x == 1\ndef f(a): pass"] {
            assert!(!is_module(text), "{text}");
        }
    }

    #[test]
    fn several_definitions_and_blocks_are_read() {
        let names = |text: &str| -> Vec<String> {
            read_all(text).unwrap().iter().map(|f| f["name"].as_str().unwrap().to_owned()).collect()
        };
        let several = "import json\nfrom typing import List\n\n@tool(name='x')\ndef a():\n    '''A.'''\n    text = \"\"\"\ndef no(): pass\n\"\"\"\n    if text:\n        return (\n1)\n\n# next\ndef b(x: float): return x\ndef c(y)";
        assert_eq!(names(several), ["x", "b", "c"]);
        let blocks = "\nOPTION:\n<func_start>def a(x: str)<func_end>\n<docstring_start>\n\"\"\"\nReturns a.\n\"\"\"\n<docstring_end>\nOPTION:\n<func_start>def b()<func_end>";
        assert!(begins(blocks));
        assert_eq!(names(blocks), ["a", "b"]);
        assert_eq!(read_all(blocks).unwrap()[0]["description"], "Returns a.");
    }

    #[test]
    fn prose_never_becomes_a_parameter_and_is_never_lost() {
        let read = one(
            "def f(comments, size=3):\n    '''Lists things.\n\n    - comments: the remarks of all\n    - files: others\n\n    Args:\n        size: How many.\n        rest: Not in the signature.\n    '''",
        );
        assert_eq!(
            read["description"],
            "Lists things.\n\n- comments: the remarks of all\n- files: others\n\nrest: Not in the signature."
        );
        assert_eq!(read["parameters"]["properties"]["comments"], json!({}));
        assert_eq!(read["parameters"]["properties"]["size"]["description"], "How many.");
    }

    #[test]
    fn a_sphinx_field_about_another_name_does_not_belong_to_the_previous_entry() {
        let read = one(
            "def f(url, **kwargs):\n    '''Fetches.\n\n    :param url: Which page.\n    :param headers: (optional) More.\n        Of any kind.\n    :type headers: dict\n    :return: The page.\n    '''",
        );
        assert_eq!(read["parameters"]["properties"]["url"]["description"], "Which page.");
        assert_eq!(
            read["description"],
            "Fetches.\n\n:param headers: (optional) More.\nOf any kind.\n:type headers: dict"
        );
    }

    #[test]
    fn the_signature_decides_what_is_required_and_contradicting_words_are_kept() {
        let read = one(
            "def f(a, b=1):\n    '''F.\n\n    Args:\n    - a: string, optional, One.\n    - b, int, required, Two.\n    '''",
        );
        assert_eq!(read["parameters"]["required"], json!(["a"]));
        assert_eq!(read["parameters"]["properties"]["a"]["description"], "string, optional, One.");
        assert_eq!(read["parameters"]["properties"]["b"]["description"], "int, required, Two.");
    }

    #[test]
    fn ambiguous_source_is_a_fault() {
        for (text, fault) in [
            ("def f(a: str = Field(..., alias='x')):\n    pass", ParseFaultKind::SourceCode),
            ("def f(a: Annotated[str, Injected]):\n    pass", ParseFaultKind::SourceCode),
            ("def f(a: Annotated[str, 'x'] | int):\n    pass", ParseFaultKind::SourceCode),
            ("def f(a=): pass", ParseFaultKind::SourceCode),
            ("def f(a, a): pass", ParseFaultKind::SourceCode),
            ("def f(a): pass\nand that is all", ParseFaultKind::UnreadableRecord),
            ("def f(a): pass\nclass C:\n    g = 1", ParseFaultKind::UnreadableRecord),
            ("def f(a: str, b", ParseFaultKind::Truncated),
            ("def f(a: str):\n    \"\"\"Tells the", ParseFaultKind::Truncated),
            ("<func_start>def f(a: str)", ParseFaultKind::Truncated),
            ("<func_start>def f()<func_end> and more", ParseFaultKind::SourceCode),
        ] {
            assert!(begins(text), "{text}");
            assert_eq!(read_all(text).map_err(|fault| fault.kind), Err(fault), "{text}");
        }
        for text in ["class C {\n    f: string }", "please def something", "x = 1\ndef f(): pass", "# [1]"] {
            assert!(!begins(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_source_is_read_or_refused(text in "(def |async |class |A|f|g|Annotated\\[|Field\\(|\\(|\\)|:|,|=|->|\n|    |'''|\"|'|#|\\\\|a|1|@|\\[|\\]|é|Args:|- ){0,40}") {
            let _ = begins(&text);
            for text in [text.clone(), format!("def f(a, b=1):\n    '''{text}'''")] {
                if let Ok(functions) = read_all(&text) {
                    prop_assert!(functions.iter().all(|function| function["name"].is_string()));
                }
            }
        }

        #[test]
        fn a_signature_is_read_back(names in prop::collection::btree_set("[a-z]{2,6}", 0..6), from in 0..6_usize) {
            let names: Vec<String> = names.into_iter().map(|name| format!("p_{name}")).collect();
            let from = from.min(names.len());
            let parameters: Vec<String> = names.iter().enumerate()
                .map(|(at, name)| if at < from { format!("{name}: str") } else { format!("{name}: int = {at}") }).collect();
            let read = one(&format!("def f({}):\n    'Text.'", parameters.join(", ")));
            let properties: Vec<&String> = read["parameters"]["properties"].as_object().unwrap().keys().collect();
            prop_assert_eq!(properties, names.iter().collect::<Vec<_>>());
            prop_assert_eq!(&read["parameters"]["required"], &json!(names[..from]));
        }
    }
}
