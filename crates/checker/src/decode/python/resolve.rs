//! The value of a syntax tree (`resolve_ast_call`, `resolve_ast_by_type`).

use num_bigint::BigInt;
use ruff_python_ast::{Expr, ExprCall, Number};

use super::{arithmetic, unparse};
use crate::decode::DecodeError;
use crate::mode::Mode;
use crate::value::{PyDict, PyValue};

/// Python refuses integers with more decimal digits.
const MAX_DIGITS: usize = 4300;

/// Returns a call: its name with its arguments by name. Other arguments are dropped.
pub(super) fn call(call: &ExprCall, mode: Mode) -> Result<PyValue, DecodeError> {
    let mut arguments = PyDict::with_capacity(call.arguments.keywords.len());
    for keyword in &call.arguments.keywords {
        let name = keyword.arg.as_ref().map_or(PyValue::None, |name| PyValue::text(name.as_str()));
        arguments.insert(name, value(&keyword.value, mode)?);
    }
    let name = PyValue::Str(name_of(&call.func));
    Ok(PyValue::Dict(PyDict::from_iter([(name, PyValue::Dict(arguments))])))
}

/// Returns the dotted name. A root that is no name is dropped.
fn name_of(function: &Expr) -> String {
    let mut parts = Vec::new();
    let mut part = function;
    while let Expr::Attribute(attribute) = part {
        parts.push(attribute.attr.as_str());
        part = &attribute.value;
    }
    if let Expr::Name(name) = part {
        parts.push(name.id.as_str());
    }
    parts.reverse();
    parts.join(".")
}

/// Returns the value of an argument.
fn value(expression: &Expr, mode: Mode) -> Result<PyValue, DecodeError> {
    if let Some(constant) = constant(expression)? {
        return Ok(constant);
    }
    let each = |element: &Expr| value(element, mode);
    match expression {
        Expr::UnaryOp(_) if mode == Mode::Strict => arithmetic::computed(expression),
        // The evaluator negates the constant, whatever the operator is.
        Expr::UnaryOp(unary) => match constant(&unary.operand)? {
            Some(constant) => arithmetic::negated(&constant),
            None => {
                Err(DecodeError::new("AttributeError", "an operator before something other than a constant"))
            }
        },
        Expr::List(list) => list.elts.iter().map(each).collect::<Result<_, _>>().map(PyValue::List),
        Expr::Tuple(tuple) => tuple.elts.iter().map(each).collect::<Result<_, _>>().map(PyValue::Tuple),
        Expr::Dict(dict) => {
            let mut members = PyDict::with_capacity(dict.items.len());
            for item in &dict.items {
                let Some(key) = &item.key else { return Err(unsupported("an unpacked dict")) };
                let key = value(key, mode)?;
                let member = value(&item.value, mode)?;
                insert(&mut members, key, member)?;
            }
            Ok(PyValue::Dict(members))
        }
        Expr::BinOp(_) => arithmetic::computed(expression),
        Expr::Name(name) => Ok(PyValue::text(name.id.as_str())),
        Expr::Call(inner) if inner.arguments.keywords.is_empty() => {
            unparse::source(expression).map(PyValue::Str)
        }
        Expr::Call(inner) => call(inner, mode),
        Expr::Subscript(subscript) => {
            let (of, slice) = (unparse::source(&subscript.value)?, unparse::source(&subscript.slice)?);
            Ok(PyValue::Str(format!("{of}[{slice}]")))
        }
        Expr::Lambda(_) => Err(DecodeError::new("TypeError", "a lambda is no value")),
        _ => Err(unsupported("this expression")),
    }
}

fn unsupported(what: &str) -> DecodeError {
    DecodeError::new("Exception", format!("{what} is not supported as an argument"))
}

/// Sets a member of a dict.
pub(super) fn insert(members: &mut PyDict, key: PyValue, value: PyValue) -> Result<(), DecodeError> {
    if !key.is_hashable() {
        return Err(DecodeError::new("TypeError", format!("{} is no key of a dict", key.type_of().name())));
    }
    members.insert(key, value);
    Ok(())
}

/// Returns the value of a constant; an ellipsis is its text.
pub(super) fn constant(expression: &Expr) -> Result<Option<PyValue>, DecodeError> {
    Ok(Some(match expression {
        Expr::StringLiteral(literal) => PyValue::text(literal.value.to_str()),
        Expr::BytesLiteral(literal) => PyValue::Bytes(literal.value.bytes().collect()),
        Expr::BooleanLiteral(literal) => PyValue::Bool(literal.value),
        Expr::NoneLiteral(_) => PyValue::None,
        Expr::EllipsisLiteral(_) => PyValue::text("..."),
        Expr::NumberLiteral(literal) => match &literal.value {
            Number::Int(whole) => PyValue::Int(integer(whole)?),
            Number::Float(value) => PyValue::Float(*value),
            Number::Complex { real, imag } => PyValue::Complex(*real, *imag),
        },
        _ => return Ok(None),
    }))
}

fn integer(whole: &ruff_python_ast::Int) -> Result<BigInt, DecodeError> {
    if let Some(small) = whole.as_u64() {
        return Ok(small.into());
    }
    let text = whole.to_string().replace('_', "").to_ascii_lowercase();
    let (digits, radix) = match text.get(..2) {
        Some("0x") => (&text[2..], 16),
        Some("0o") => (&text[2..], 8),
        Some("0b") => (&text[2..], 2),
        _ if text.len() > MAX_DIGITS => {
            return Err(DecodeError::new("SyntaxError", "an integer has more than 4300 digits"));
        }
        _ => (text.as_str(), 10),
    };
    BigInt::parse_bytes(digits.as_bytes(), radix)
        .ok_or_else(|| DecodeError::new("SyntaxError", "an integer cannot be read"))
}
