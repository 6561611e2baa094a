//! Operators on constants, with the rules of Python, within bounds.
//!
//! The evaluator gives such expressions to `eval`, which runs whatever the model wrote. Here only operators on constants
//! are computed; names, calls, subscripts and comparisons are errors.

use num_bigint::BigInt;
use num_traits::{Signed as _, ToPrimitive as _, Zero as _};
use ruff_python_ast::{Expr, Operator, UnaryOp};

use super::{bounds, format, resolve, unparse};
use crate::decode::DecodeError;
use crate::value::{PyDict, PyValue};

/// Largest integer, in bits. Python has no bound; an output that needs more is no answer.
const MAX_BITS: u64 = 1 << 20;

/// Largest text or list that repetition makes, in elements.
const MAX_ELEMENTS: usize = 1 << 20;

type Computed = Result<PyValue, DecodeError>;

/// Computes an expression of operators on constants.
pub(super) fn computed(expression: &Expr) -> Computed {
    if bounds::depth_of(expression) > unparse::MAX_DEPTH {
        return Err(DecodeError::new("RecursionError", "the expression is nested too deeply"));
    }
    compute(expression)
}

fn compute(expression: &Expr) -> Computed {
    if matches!(expression, Expr::EllipsisLiteral(_)) {
        return Err(refused());
    }
    if let Some(constant) = resolve::constant(expression)? {
        return Ok(constant);
    }
    match expression {
        Expr::BinOp(operation) => apply(operation.op, compute(&operation.left)?, compute(&operation.right)?),
        Expr::UnaryOp(unary) => signed(unary.op, &compute(&unary.operand)?),
        Expr::List(list) => list.elts.iter().map(compute).collect::<Result<_, _>>().map(PyValue::List),
        Expr::Tuple(tuple) => tuple.elts.iter().map(compute).collect::<Result<_, _>>().map(PyValue::Tuple),
        Expr::Dict(dict) => {
            let mut members = PyDict::with_capacity(dict.items.len());
            for item in &dict.items {
                let key = compute(item.key.as_ref().ok_or_else(refused)?)?;
                resolve::insert(&mut members, key, compute(&item.value)?)?;
            }
            Ok(PyValue::Dict(members))
        }
        Expr::Name(name) => {
            Err(DecodeError::new("NameError", format!("name {} is not defined", name.id.as_str())))
        }
        _ => Err(refused()),
    }
}

/// The error for what the evaluator would execute.
pub(super) fn refused() -> DecodeError {
    DecodeError::new("Exception", "only operators on constants are computed")
}

pub(super) fn too_large() -> DecodeError {
    DecodeError::new("MemoryError", "the value of an operator is too large")
}

fn type_error(operator: &str) -> DecodeError {
    DecodeError::new("TypeError", format!("unsupported operand types for {operator}"))
}

fn by_zero() -> DecodeError {
    DecodeError::new("ZeroDivisionError", "division by zero")
}

fn overflow() -> DecodeError {
    DecodeError::new("OverflowError", "the result is too large for a float")
}

/// Returns the value with the other sign; `True` is 1.
pub(super) fn negated(value: &PyValue) -> Computed {
    match value {
        PyValue::Float(value) => Ok(PyValue::Float(-value)),
        PyValue::Complex(real, imaginary) => Ok(PyValue::Complex(-real, -imaginary)),
        other => Ok(PyValue::Int(-integer(other).ok_or_else(|| type_error("unary -"))?)),
    }
}

fn signed(operator: UnaryOp, value: &PyValue) -> Computed {
    match operator {
        UnaryOp::USub => negated(value),
        UnaryOp::UAdd => match value {
            PyValue::Float(_) | PyValue::Complex(..) => Ok(value.clone()),
            other => integer(other).map(PyValue::Int).ok_or_else(|| type_error("unary +")),
        },
        UnaryOp::Invert => match integer(value) {
            Some(whole) => Ok(PyValue::Int(-whole - 1)),
            None => Err(type_error("unary ~")),
        },
        UnaryOp::Not => Ok(PyValue::Bool(!is_true(value))),
    }
}

fn is_true(value: &PyValue) -> bool {
    match value {
        PyValue::None => false,
        PyValue::Bool(value) => *value,
        PyValue::Int(value) => !value.is_zero(),
        PyValue::Float(value) => *value != 0.0,
        PyValue::Complex(real, imaginary) => *real != 0.0 || *imaginary != 0.0,
        PyValue::Str(text) => !text.is_empty(),
        PyValue::Bytes(bytes) => !bytes.is_empty(),
        PyValue::List(elements) | PyValue::Tuple(elements) => !elements.is_empty(),
        PyValue::Dict(members) => !members.is_empty(),
    }
}

/// Returns an integer, or a boolean as 0 or 1.
pub(super) fn integer(value: &PyValue) -> Option<BigInt> {
    match value {
        PyValue::Bool(value) => Some(BigInt::from(u8::from(*value))),
        PyValue::Int(value) => Some(value.clone()),
        _ => None,
    }
}

/// Applies an operator.
pub(super) fn apply(operator: Operator, left: PyValue, right: PyValue) -> Computed {
    if let (PyValue::Bool(left), PyValue::Bool(right)) = (&left, &right) {
        match operator {
            Operator::BitAnd => return Ok(PyValue::Bool(left & right)),
            Operator::BitOr => return Ok(PyValue::Bool(left | right)),
            Operator::BitXor => return Ok(PyValue::Bool(left ^ right)),
            _ => {}
        }
    }
    if let (Some(left), Some(right)) = (integer(&left), integer(&right)) {
        return of_integers(operator, &left, &right);
    }
    if let (Operator::Mod, PyValue::Str(format)) = (operator, &left) {
        return format::formatted(format, &right);
    }
    let is_complex = matches!((&left, &right), (PyValue::Complex(..), _) | (_, PyValue::Complex(..)));
    if is_complex {
        return match (complex(&left)?, complex(&right)?) {
            (Some(left), Some(right)) => of_complex(operator, left, right),
            _ => Err(type_error(operator.as_str())),
        };
    }
    if let (Some(left), Some(right)) = (float(&left)?, float(&right)?) {
        return of_floats(operator, left, right);
    }
    of_sequences(operator, left, right)
}

/// Returns a number as a float.
fn float(value: &PyValue) -> Result<Option<f64>, DecodeError> {
    match value {
        PyValue::Float(value) => Ok(Some(*value)),
        other => match integer(other) {
            Some(whole) => whole.to_f64().filter(|value| value.is_finite()).map(Some).ok_or_else(overflow),
            None => Ok(None),
        },
    }
}

fn complex(value: &PyValue) -> Result<Option<(f64, f64)>, DecodeError> {
    match value {
        PyValue::Complex(real, imaginary) => Ok(Some((*real, *imaginary))),
        other => Ok(float(other)?.map(|real| (real, 0.0))),
    }
}

fn of_integers(operator: Operator, left: &BigInt, right: &BigInt) -> Computed {
    let whole = match operator {
        Operator::Add => left + right,
        Operator::Sub => left - right,
        Operator::Mult if left.bits() + right.bits() > MAX_BITS => return Err(too_large()),
        Operator::Mult => left * right,
        Operator::Div => return quotient(left, right).map(PyValue::Float),
        Operator::FloorDiv | Operator::Mod if right.is_zero() => return Err(by_zero()),
        Operator::FloorDiv => floor_division(left, right).0,
        Operator::Mod => floor_division(left, right).1,
        Operator::Pow if right.is_negative() => {
            let (Some(base), Some(exponent)) = (left.to_f64(), right.to_f64()) else {
                return Err(overflow());
            };
            return of_floats(operator, base, exponent);
        }
        Operator::Pow => power(left, right)?,
        Operator::LShift | Operator::RShift => shifted(operator, left, right)?,
        Operator::BitAnd => left & right,
        Operator::BitOr => left | right,
        Operator::BitXor => left ^ right,
        Operator::MatMult => return Err(type_error("@")),
    };
    Ok(PyValue::Int(whole))
}

/// Returns quotient and remainder of a division that rounds down.
fn floor_division(left: &BigInt, right: &BigInt) -> (BigInt, BigInt) {
    let (quotient, remainder) = (left / right, left % right);
    if !remainder.is_zero() && remainder.is_negative() != right.is_negative() {
        (quotient - 1, remainder + right)
    } else {
        (quotient, remainder)
    }
}

fn power(base: &BigInt, exponent: &BigInt) -> Result<BigInt, DecodeError> {
    if base.is_zero() || base.abs() == BigInt::from(1) {
        let is_odd = exponent.bit(0);
        return Ok(if exponent.is_zero() || (base.is_negative() && !is_odd) {
            BigInt::from(1)
        } else {
            base.clone()
        });
    }
    let exponent = exponent.to_u32().filter(|&n| base.bits().saturating_mul(u64::from(n)) <= MAX_BITS);
    exponent.map(|exponent| base.pow(exponent)).ok_or_else(too_large)
}

fn shifted(operator: Operator, left: &BigInt, right: &BigInt) -> Result<BigInt, DecodeError> {
    if right.is_negative() {
        return Err(DecodeError::new("ValueError", "negative shift count"));
    }
    let by = right.to_u64().unwrap_or(u64::MAX);
    match operator {
        Operator::RShift => Ok(left >> by.min(left.bits() + 1)),
        _ if left.is_zero() => Ok(BigInt::ZERO),
        _ if left.bits().saturating_add(by) > MAX_BITS => Err(too_large()),
        _ => Ok(left << by),
    }
}

/// Divides integers into the nearest float.
fn quotient(left: &BigInt, right: &BigInt) -> Result<f64, DecodeError> {
    const EXACT: u64 = 53;
    /// Bits of the quotient that is rounded: more than a float has.
    const BITS: i64 = 80;
    if right.is_zero() {
        return Err(by_zero());
    }
    if let (Some(a), Some(b)) = (left.to_f64(), right.to_f64())
        && left.bits() <= EXACT
        && right.bits() <= EXACT
    {
        return Ok(a / b);
    }
    let shift = BITS - (i64::try_from(left.bits()).unwrap_or(0) - i64::try_from(right.bits()).unwrap_or(0));
    let (numerator, denominator) = if shift >= 0 {
        (left.abs() << shift.unsigned_abs(), right.abs())
    } else {
        (left.abs(), right.abs() << shift.unsigned_abs())
    };
    let mut whole = &numerator / &denominator;
    if !(numerator % denominator).is_zero() {
        // A lost remainder decides ties.
        whole |= BigInt::from(1);
    }
    let magnitude = whole.to_f64().unwrap_or(f64::INFINITY);
    let half = i32::try_from(shift / 2).unwrap_or(i32::MAX);
    let rest = i32::try_from(shift - shift / 2).unwrap_or(i32::MAX);
    let value = magnitude * 2_f64.powi(-half) * 2_f64.powi(-rest);
    if value.is_infinite() {
        return Err(overflow());
    }
    Ok(if left.is_negative() == right.is_negative() { value } else { -value })
}

fn of_floats(operator: Operator, left: f64, right: f64) -> Computed {
    let value = match operator {
        Operator::Add => left + right,
        Operator::Sub => left - right,
        Operator::Mult => left * right,
        Operator::Div | Operator::FloorDiv | Operator::Mod if right == 0.0 => return Err(by_zero()),
        Operator::Div => left / right,
        Operator::FloorDiv => floored(left, right).0,
        Operator::Mod => floored(left, right).1,
        Operator::Pow if left == 0.0 && right < 0.0 => return Err(by_zero()),
        Operator::Pow if left < 0.0 && left.is_finite() && right.is_finite() && right.fract() != 0.0 => {
            let (length, angle) = (left.abs().powf(right), std::f64::consts::PI * right);
            return Ok(PyValue::Complex(length * angle.cos(), length * angle.sin()));
        }
        Operator::Pow => {
            let value = left.powf(right);
            if value.is_infinite() && left.is_finite() && right.is_finite() {
                return Err(overflow());
            }
            value
        }
        other => return Err(type_error(other.as_str())),
    };
    Ok(PyValue::Float(value))
}

/// Returns quotient and remainder of a division that rounds down, as Python's `divmod` of floats.
fn floored(left: f64, right: f64) -> (f64, f64) {
    let mut remainder = left % right;
    let mut quotient = (left - remainder) / right;
    if remainder == 0.0 {
        remainder = 0.0_f64.copysign(right);
    } else if (right < 0.0) != (remainder < 0.0) {
        remainder += right;
        quotient -= 1.0;
    }
    let whole = if quotient == 0.0 {
        0.0_f64.copysign(left / right)
    } else {
        let whole = quotient.floor();
        if quotient - whole > 0.5 { whole + 1.0 } else { whole }
    };
    (whole, remainder)
}

fn of_complex(operator: Operator, (a, b): (f64, f64), (c, d): (f64, f64)) -> Computed {
    let (real, imaginary) = match operator {
        Operator::Add => (a + c, b + d),
        Operator::Sub => (a - c, b - d),
        Operator::Mult => (a * c - b * d, a * d + b * c),
        Operator::Div if c == 0.0 && d == 0.0 => return Err(by_zero()),
        Operator::Div => {
            let square = c * c + d * d;
            ((a * c + b * d) / square, (b * c - a * d) / square)
        }
        Operator::Pow => return Err(refused()),
        other => return Err(type_error(other.as_str())),
    };
    Ok(PyValue::Complex(real, imaginary))
}

fn of_sequences(operator: Operator, left: PyValue, right: PyValue) -> Computed {
    match (operator, left, right) {
        (Operator::Add, PyValue::Str(left), PyValue::Str(right)) => Ok(PyValue::Str(left + &right)),
        (Operator::Add, PyValue::Bytes(left), PyValue::Bytes(right)) => {
            Ok(PyValue::Bytes([left, right].concat()))
        }
        (Operator::Add, PyValue::List(left), PyValue::List(right)) => {
            Ok(PyValue::List([left, right].concat()))
        }
        (Operator::Add, PyValue::Tuple(left), PyValue::Tuple(right)) => {
            Ok(PyValue::Tuple([left, right].concat()))
        }
        (Operator::BitOr, PyValue::Dict(mut left), PyValue::Dict(right)) => {
            right.iter().for_each(|(key, value)| left.insert(key.clone(), value.clone()));
            Ok(PyValue::Dict(left))
        }
        (Operator::Mod, PyValue::Bytes(_), _) => Err(refused()),
        (Operator::Mult, sequence, times) if integer(&times).is_some() => repeated(sequence, &times),
        (Operator::Mult, times, sequence) if integer(&times).is_some() => repeated(sequence, &times),
        (operator, ..) => Err(type_error(operator.as_str())),
    }
}

fn repeated(sequence: PyValue, times: &PyValue) -> Computed {
    let times = integer(times).unwrap_or_default();
    let times = if times.is_negative() { 0 } else { times.to_usize().unwrap_or(usize::MAX) };
    let fits = |n: usize| if n.saturating_mul(times) > MAX_ELEMENTS { Err(too_large()) } else { Ok(()) };
    match sequence {
        PyValue::Str(text) => fits(text.len()).map(|()| PyValue::Str(text.repeat(times))),
        PyValue::Bytes(bytes) => fits(bytes.len()).map(|()| PyValue::Bytes(bytes.repeat(times))),
        PyValue::List(elements) => fits(weight(&elements)).map(|()| PyValue::List(again(&elements, times))),
        PyValue::Tuple(elements) => fits(weight(&elements)).map(|()| PyValue::Tuple(again(&elements, times))),
        _ => Err(type_error("*")),
    }
}

fn again(elements: &[PyValue], times: usize) -> Vec<PyValue> {
    // An empty list repeated is empty; its count has no bound.
    let times = if elements.is_empty() { 0 } else { times };
    std::iter::repeat_n(elements, times).flatten().cloned().collect()
}

/// Returns the number of values in all levels, with the bytes of texts.
fn weight(elements: &[PyValue]) -> usize {
    let of = |element: &PyValue| match element {
        PyValue::Str(text) => 1 + text.len(),
        PyValue::Bytes(bytes) => 1 + bytes.len(),
        PyValue::List(inner) | PyValue::Tuple(inner) => 1 + weight(inner),
        PyValue::Dict(members) => {
            1 + members
                .iter()
                .map(|(key, value)| weight(std::slice::from_ref(key)) + weight(std::slice::from_ref(value)))
                .sum::<usize>()
        }
        PyValue::Int(value) => 1 + usize::try_from(value.bits() / 8).unwrap_or(usize::MAX / 2),
        _ => 1,
    };
    elements.iter().map(of).fold(0, usize::saturating_add)
}

#[cfg(test)]
mod tests {
    use crate::decode::{OutputFormat, decode_text};

    fn computed(expression: &str) -> String {
        match decode_text(&format!("f(x={expression})"), OutputFormat::Python, false) {
            Ok(value) => {
                let text = value.repr();
                text["[{'f': {'x': ".len()..text.len() - "}}]".len()].to_owned()
            }
            Err(error) => error.exception.to_owned(),
        }
    }

    #[test]
    fn constants_are_computed_like_python() {
        for (expression, expected) in [
            ("24*60*60", "86400"),
            ("1/3", "0.3333333333333333"),
            ("'a'+'b'*2", "'abb'"),
            ("[1]*3+[2]", "[1, 1, 1, 2]"),
            ("3+True", "4"),
            ("True&False", "False"),
            ("-7//2", "-4"),
            ("7%-3", "-2"),
            ("~5+1", "-5"),
            ("+5-0", "5"),
            ("2**10", "1024"),
            ("2**-1", "0.5"),
            ("(-1)**5", "-1"),
            ("0**0", "1"),
            ("7.5%-2", "-0.5"),
            ("-7.5//2", "-4.0"),
            ("1e308*10", "inf"),
            ("10**400/10**399", "10.0"),
            ("(2**60+1)/2**7", "9007199254740992.0"),
            ("-1<<70", "-1180591620717411303424"),
            ("-5>>1", "-3"),
            ("5&3|8^1", "9"),
            ("1+1j", "(1+1j)"),
            ("(1,)+(2,)", "(1, 2)"),
            ("{'a': 1}|{'a': 2}", "{'a': 2}"),
            ("b'a'+b'b'", "b'ab'"),
            ("'a'*-1", "''"),
            ("'%s-%d'%('a', 2)", "'a-2'"),
            ("[]*10**30", "[]"),
        ] {
            assert_eq!(computed(expression), expected, "{expression}");
        }
    }

    #[test]
    fn faults_names_and_what_would_be_executed_are_errors() {
        for (expression, expected) in [
            ("1/0", "ZeroDivisionError"),
            ("1%0", "ZeroDivisionError"),
            ("0**-1", "ZeroDivisionError"),
            ("2.0**5000", "OverflowError"),
            ("10**400*1.5", "OverflowError"),
            ("1<<-1", "ValueError"),
            ("None+1", "TypeError"),
            ("'a'+1", "TypeError"),
            ("1@2", "TypeError"),
            ("bay+1", "NameError"),
            ("open('x')+1", "Exception"),
            ("b'%s'%b'x'", "Exception"),
            ("9**9**9", "MemoryError"),
            ("'a'*10**9", "MemoryError"),
            ("[[0]*1000000]*1000", "MemoryError"),
            ("1<<10**9", "MemoryError"),
        ] {
            assert_eq!(computed(expression), expected, "{expression}");
        }
    }
}
