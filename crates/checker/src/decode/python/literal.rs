//! A literal (`ast.literal_eval`), as in the values of XML calls.

use ruff_python_ast::{Expr, Operator, UnaryOp};

use super::{arithmetic, resolve, with_expression};
use crate::decode::DecodeError;
use crate::value::{PyDict, PyValue};

/// Returns the value of a literal: constants, lists, tuples, dicts, signed numbers and complex sums. No names, calls or
/// other operators.
///
/// # Errors
/// If the text is no literal. Sets are refused too, because no parameter has that type.
pub(crate) fn literal(text: &str) -> Result<PyValue, DecodeError> {
    with_expression(text.trim_start_matches([' ', '\t']), value)
}

fn malformed() -> DecodeError {
    DecodeError::new("ValueError", "the text is no literal")
}

fn value(expression: &Expr) -> Result<PyValue, DecodeError> {
    if matches!(expression, Expr::EllipsisLiteral(_)) {
        return Err(malformed());
    }
    if let Some(constant) = resolve::constant(expression)? {
        return Ok(constant);
    }
    match expression {
        Expr::List(list) => list.elts.iter().map(value).collect::<Result<_, _>>().map(PyValue::List),
        Expr::Tuple(tuple) => tuple.elts.iter().map(value).collect::<Result<_, _>>().map(PyValue::Tuple),
        Expr::Dict(dict) => {
            let mut members = PyDict::with_capacity(dict.items.len());
            for item in &dict.items {
                let key = value(item.key.as_ref().ok_or_else(malformed)?)?;
                resolve::insert(&mut members, key, value(&item.value)?)?;
            }
            Ok(PyValue::Dict(members))
        }
        Expr::BinOp(sum) if matches!(sum.op, Operator::Add | Operator::Sub) => {
            let (left, right) = (number(&sum.left)?, number(&sum.right)?);
            match (&left, &right) {
                (PyValue::Int(_) | PyValue::Float(_), PyValue::Complex(..)) => {
                    arithmetic::apply(sum.op, left, right)
                }
                _ => Err(malformed()),
            }
        }
        _ => number(expression),
    }
}

/// Returns a number with or without a sign.
fn number(expression: &Expr) -> Result<PyValue, DecodeError> {
    let (operand, is_negative) = match expression {
        Expr::UnaryOp(unary) if unary.op == UnaryOp::USub => (unary.operand.as_ref(), true),
        Expr::UnaryOp(unary) if unary.op == UnaryOp::UAdd => (unary.operand.as_ref(), false),
        other => (other, false),
    };
    let number = resolve::constant(operand)?;
    let is_number =
        |value: &PyValue| matches!(value, PyValue::Int(_) | PyValue::Float(_) | PyValue::Complex(..));
    let number = number.filter(is_number).ok_or_else(malformed)?;
    if is_negative { arithmetic::negated(&number) } else { Ok(number) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_literals_have_a_value() {
        for (text, expected) in [
            ("[1, 'a', (2.5,)]", Some("[1, 'a', (2.5,)]")),
            (" {'a': None, 'b': -1}", Some("{'a': None, 'b': -1}")),
            ("1 + 2j", Some("(1+2j)")),
            ("+5", Some("5")),
            ("1 + 2", None),
            ("f()", None),
            ("a", None),
            ("...", None),
            ("--1", None),
        ] {
            assert_eq!(literal(text).ok().map(|value| value.repr()).as_deref(), expected, "{text}");
        }
    }
}
