//! Calls in the syntax of Python (`ast_parse` and `resolve_ast_*` of the evaluator).
//!
//! `plain` reads calls with literals, which is fast. Of everything else, the syntax tree comes from ruff's parser, with the
//! grammar of Python 3.11, which the evaluator needs: `resolve` turns it into values, `arithmetic` computes operators on
//! constants, `unparse` writes the source of what the evaluator keeps as text. Nothing is executed: where the evaluator
//! calls `eval`, only constants are computed, and everything else is an error.

mod arithmetic;
mod bounds;
mod format;
mod literal;
mod plain;
mod resolve;
mod unparse;

use ruff_python_ast::{Expr, Mod, PythonVersion, Stmt};
use ruff_python_parser::{Mode as ParseMode, ParseOptions, parse_unchecked};

pub(crate) use literal::literal;

use super::DecodeError;
use crate::mode::Mode;
use crate::value::PyValue;

/// Decodes calls: one, or a list, tuple or set of them.
pub(super) fn decode(text: &str, mode: Mode) -> Result<PyValue, DecodeError> {
    let text = text.trim_matches(is_space).trim_matches('\'');
    plain::decode(text).map_or_else(|| by_tree(text, mode), Ok)
}

/// Decodes calls from the syntax tree of their text.
fn by_tree(text: &str, mode: Mode) -> Result<PyValue, DecodeError> {
    with_expression(text, |expression| {
        let calls = match expression {
            Expr::Call(_) => std::slice::from_ref(expression),
            Expr::List(list) => &list.elts,
            Expr::Tuple(tuple) => &tuple.elts,
            Expr::Set(set) => &set.elts,
            _ => return Err(DecodeError::new("AttributeError", "the text is no list of calls")),
        };
        let call = |call: &Expr| match call {
            Expr::Call(call) => resolve::call(call, mode),
            _ => Err(DecodeError::new("AssertionError", "an element of the list is no call")),
        };
        calls.iter().map(call).collect::<Result<_, _>>().map(PyValue::List)
    })
}

/// Decodes the statements of a program that are all calls, or name the value of a call (`x = f(a=1)`).
///
/// # Errors
/// If the text is no program of Python, or a statement has no call as its value.
pub(crate) fn statements(text: &str, mode: Mode) -> Result<Vec<PyValue>, DecodeError> {
    let no_call = || DecodeError::new("AssertionError", "the value of a statement is no call");
    with_syntax(text, ParseMode::Module, |program| {
        let Mod::Module(program) = program else { return Err(no_call()) };
        let call = |statement: &Stmt| {
            let value = match statement {
                Stmt::Expr(statement) => Some(&statement.value),
                Stmt::Assign(statement) => Some(&statement.value),
                Stmt::AugAssign(statement) => Some(&statement.value),
                Stmt::AnnAssign(statement) => statement.value.as_ref(),
                Stmt::Return(statement) => statement.value.as_ref(),
                _ => None,
            };
            let value = value.ok_or_else(no_call)?;
            bounds::check_depth(value)?;
            let Expr::Call(value) = value.as_ref() else { return Err(no_call()) };
            resolve::call(value, mode)
        };
        program.body.iter().map(call).collect()
    })
}

/// Returns whether Python's `str.strip` removes a character.
fn is_space(char: char) -> bool {
    char.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&char)
}

/// Parses one expression and gives its tree to a function, on a stack that is large enough for both.
fn with_expression<T>(
    text: &str,
    use_it: impl FnOnce(&Expr) -> Result<T, DecodeError>,
) -> Result<T, DecodeError> {
    with_syntax(text, ParseMode::Expression, |parsed| {
        let Mod::Expression(parsed) = parsed else {
            return Err(DecodeError::new("SyntaxError", "the text is no expression"));
        };
        bounds::check_depth(&parsed.body)?;
        use_it(&parsed.body)
    })
}

/// Parses a text and gives its tree to a function, on a stack that is large enough for both.
fn with_syntax<T>(
    text: &str,
    mode: ParseMode,
    use_it: impl FnOnce(&Mod) -> Result<T, DecodeError>,
) -> Result<T, DecodeError> {
    if text.contains('\0') {
        return Err(DecodeError::new("SyntaxError", "source code cannot contain null bytes"));
    }
    bounds::with_stack(text, || {
        let options = ParseOptions::from(mode).with_target_version(PythonVersion::PY311);
        let parsed = parse_unchecked(text, options);
        if let Some(error) = parsed.errors().first() {
            return Err(DecodeError::new("SyntaxError", error.error.to_string()));
        }
        if let Some(error) = parsed.unsupported_syntax_errors().first() {
            return Err(DecodeError::new("SyntaxError", error.to_string()));
        }
        use_it(parsed.syntax())
    })
}

#[cfg(test)]
mod tests {
    use crate::decode::{OutputFormat, decode_text, decode_text_strict};

    fn decoded(text: &str) -> String {
        match decode_text(text, OutputFormat::Python, false) {
            Ok(value) => value.repr(),
            Err(error) => error.exception.to_owned(),
        }
    }

    #[test]
    fn outputs_are_decoded_like_the_evaluator() {
        for (text, expected) in [
            ("water(bay=4)", "[{'water': {'bay': 4}}]"),
            ("[a.b.water(bay=4), ring()]", "[{'a.b.water': {'bay': 4}}, {'ring': {}}]"),
            ("```\n[water(bay=4)]\n```", "[{'water': {'bay': 4}}]"),
            ("'[water(bay=4)]'", "AssertionError"),
            ("```python\n[water(bay=4)]\n```", "SyntaxError"),
            ("Sure! [water(bay=4)]", "SyntaxError"),
            ("", "[]"),
            ("[water(bay=4)]  # done", "[{'water': {'bay': 4}}]"),
            ("[water(4, *b, bay=5, **c)]", "[{'water': {'bay': 5, None: 'c'}}]"),
            ("[water(bay=1, bay=2)]", "[{'water': {'bay': 2}}]"),
            ("[a().water(bay=1)]", "[{'water': {'bay': 1}}]"),
            ("[a[0](bay=1)]", "[{'': {'bay': 1}}]"),
            ("[water(class=1)]", "SyntaxError"),
            ("[water(b-ay=1)]", "SyntaxError"),
            ("[1]", "AssertionError"),
            ("[water(bay='a\0b')]", "SyntaxError"),
            ("[water(bay=ﬁ)]", "[{'water': {'bay': 'fi'}}]"),
            (
                "[water(bay=None, dry=True, wet=true)]",
                "[{'water': {'bay': None, 'dry': True, 'wet': 'true'}}]",
            ),
            (
                "[water(bay=1_000, x=0x1F, y=1e400, z=2j)]",
                "[{'water': {'bay': 1000, 'x': 31, 'y': inf, 'z': 2j}}]",
            ),
            (
                "[water(bay=..., x=b'a' b'b', y='a' \"b\")]",
                "[{'water': {'bay': '...', 'x': b'ab', 'y': 'ab'}}]",
            ),
            ("[water(bay={1: [2, (3,)], 1.0: 4})]", "[{'water': {'bay': {1: 4}}}]"),
            ("[water(bay={[1]: 2})]", "TypeError"),
            ("[water(bay={**a})]", "Exception"),
            ("[water(bay={1, 2})]", "Exception"),
            ("[water(bay=a.b)]", "Exception"),
            ("[water(bay=a < b)]", "Exception"),
            ("[water(bay=lambda: 1)]", "TypeError"),
        ] {
            assert_eq!(decoded(text), expected, "{text}");
        }
    }

    #[test]
    fn every_sign_negates_its_constant() {
        for (text, expected) in [
            ("[water(a=-5, b=+5, c=~5, d=not True)]", "[{'water': {'a': -5, 'b': -5, 'c': -5, 'd': -1}}]"),
            ("[water(a=-5.5)]", "[{'water': {'a': -5.5}}]"),
            ("[water(a=- -5)]", "AttributeError"),
            ("[water(a=-b)]", "AttributeError"),
            ("[water(a=-'b')]", "TypeError"),
        ] {
            assert_eq!(decoded(text), expected, "{text}");
        }
    }

    #[test]
    fn a_sign_does_what_python_says_in_strict_mode() {
        let decoded =
            decode_text_strict("[water(a=+5, b=~5, c=not True, d=- -5)]", OutputFormat::Python, false);
        assert_eq!(decoded.unwrap().repr(), "[{'water': {'a': 5, 'b': -6, 'c': False, 'd': 5}}]");
        assert!(decode_text_strict("[water(a=-b)]", OutputFormat::Python, false).is_err());
    }

    #[test]
    fn a_call_without_arguments_by_name_is_its_source() {
        for (text, expected) in [
            ("f(x=g( 1 ,\"a\",b [0]))", "[{'f': {'x': \"g(1, 'a', b[0])\"}}]"),
            ("f(x=g(h=1))", "[{'f': {'x': {'g': {'h': 1}}}}]"),
            ("f(x=a['k'])", "[{'f': {'x': \"a['k']\"}}]"),
            ("f(x=a[1,2:3,...])", "[{'f': {'x': 'a[(1, 2:3, ...)]'}}]"),
            (
                "f(x=g(1 .r, (-1)**2, 2**-1, not a, a if b else c, -1 .x))",
                "[{'f': {'x': 'g(1 .r, (-1) ** 2, 2 ** (-1), not a, a if b else c, -1 .x)'}}]",
            ),
            (
                "f(x=g(lambda a,/,b=1,*c,d=2,**e: a, (y:=1), a<b<=c, a and b or c, {1:2,**c}, {1}))",
                "[{'f': {'x': 'g(lambda a, /, b=1, *c, d=2, **e: a, (y := 1), a < b <= c, a and b or c, {1: 2, **c}, \
                 {1})'}}]",
            ),
            (
                "f(x=g([i for i in a if b], u'a', 1e400))",
                "[{'f': {'x': \"g([i for i in a if b], u'a', 1e309)\"}}]",
            ),
        ] {
            assert_eq!(decoded(text), expected, "{text}");
        }
    }

    #[test]
    fn deep_and_large_texts_are_errors_at_the_bounds_of_python() {
        let nested = |n: usize| format!("f(x={}{})", "[".repeat(n), "]".repeat(n));
        assert!(decoded(&nested(198)).starts_with("[{"));
        assert_eq!(decoded(&nested(199)), "SyntaxError");
        let chain = |n: usize| format!("f(x=1{})", "+1".repeat(n));
        assert_eq!(decoded(&chain(328)), "[{'f': {'x': 329}}]");
        assert_eq!(decoded(&chain(329)), "RecursionError");
        for part in
            ["-", "not ", "lambda:", "a.", "f()", "(", "1 if 1 else ", "1+", "[", "{", "x[0]", "**", "await "]
        {
            let error = decoded(&format!("f({}1)", part.repeat(60_000)));
            assert!(
                ["SyntaxError", "RecursionError", "MemoryError"].contains(&error.as_str()),
                "{part}: {error}"
            );
        }
        assert!(decoded(&format!("f(x={})", "9".repeat(4300))).starts_with("[{"));
        assert_eq!(decoded(&format!("f(x={})", "9".repeat(4301))), "SyntaxError");
    }
}
