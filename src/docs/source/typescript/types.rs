//! The grammar of types: what stands behind a colon, as a tree.
//!
//! Names are not looked up here; that is for `schema`, when all declarations are known.
//! Types with conditions and mapped types are refused.

use serde_json::{Number, Value};

use super::members::{self, Member};
use super::scanner::{MAX_DEPTH, Scanner};
use crate::docs::parse::fault::Fault;

/// A type as it is written.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Type {
    /// A name, with what stands between angle brackets behind it.
    Named(String, Vec<Type>),
    /// A value that stands for itself.
    Literal(Value),
    /// `T[]`.
    List(Box<Type>),
    /// `[A, B]`.
    Tuple(Vec<Type>),
    /// `{ a: A }`, and the type of members that are not named.
    Object(Vec<Member>, Option<Box<Type>>),
    /// `A | B`.
    AnyOf(Vec<Type>),
    /// `A & B`.
    AllOf(Vec<Type>),
    /// `(a: A) => B`, without B.
    Function(Vec<Member>),
}

/// Reads a type.
pub(super) fn read(scanner: &mut Scanner<'_>) -> Result<Type, Fault> {
    scanner.deeper(|scanner| {
        scanner.eat("|");
        let mut kinds = vec![all_of(scanner)?];
        while !scanner.sees("||") && scanner.eat("|") {
            kinds.push(all_of(scanner)?);
        }
        Ok(one_or(kinds, Type::AnyOf))
    })
}

fn all_of(scanner: &mut Scanner<'_>) -> Result<Type, Fault> {
    scanner.eat("&");
    let mut kinds = vec![with_lists(scanner)?];
    while scanner.eat("&") {
        kinds.push(with_lists(scanner)?);
    }
    Ok(one_or(kinds, Type::AllOf))
}

fn one_or(mut kinds: Vec<Type>, several: fn(Vec<Type>) -> Type) -> Type {
    match kinds.pop() {
        Some(only) if kinds.is_empty() => only,
        last => {
            kinds.extend(last);
            several(kinds)
        }
    }
}

fn with_lists(scanner: &mut Scanner<'_>) -> Result<Type, Fault> {
    let mut kind = single(scanner)?;
    // A bracket on the next line would begin a member, not a list.
    let mut n_lists = 0;
    while scanner.rest().trim_start_matches([' ', '\t']).starts_with('[') {
        n_lists += 1;
        if n_lists > MAX_DEPTH {
            return Err(scanner.too_deep());
        }
        scanner.expect("[")?;
        scanner.expect("]")?;
        kind = Type::List(Box::new(kind));
    }
    Ok(kind)
}

fn single(scanner: &mut Scanner<'_>) -> Result<Type, Fault> {
    scanner.skip();
    match scanner.rest().as_bytes().first() {
        Some(b'"' | b'\'') => Ok(Type::Literal(scanner.string()?.into())),
        Some(b'0'..=b'9' | b'-') => number(scanner).map(Type::Literal),
        Some(b'{') => {
            scanner.expect("{")?;
            members::object(scanner)
        }
        Some(b'[') => tuple(scanner),
        Some(b'(') => in_brackets(scanner),
        _ => named(scanner),
    }
}

fn number(scanner: &mut Scanner<'_>) -> Result<Value, Fault> {
    let rest = scanner.rest();
    let end = rest
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_')))
        .unwrap_or(rest.len());
    let number: Number = rest[..end].parse().map_err(|_| scanner.unexpected("a number"))?;
    scanner.at += end;
    Ok(Value::Number(number))
}

fn named(scanner: &mut Scanner<'_>) -> Result<Type, Fault> {
    let word = scanner.word("a type")?;
    match word {
        "true" => return Ok(Type::Literal(true.into())),
        "false" => return Ok(Type::Literal(false.into())),
        "readonly" => return scanner.deeper(with_lists),
        "keyof" | "typeof" | "unique" | "asserts" => {
            scanner.deeper(with_lists)?;
        }
        _ => {}
    }
    let mut name = word.to_owned();
    while scanner.rest().starts_with('.') && !scanner.rest().starts_with("...") {
        scanner.at += 1;
        name.push('.');
        name += scanner.word("a type")?;
    }
    let mut arguments = Vec::new();
    if scanner.rest().starts_with('<') {
        scanner.at += 1;
        while !scanner.eat(">") {
            arguments.push(read(scanner)?);
            if !scanner.eat(",") {
                scanner.expect(">")?;
                break;
            }
        }
    }
    Ok(Type::Named(name, arguments))
}

fn tuple(scanner: &mut Scanner<'_>) -> Result<Type, Fault> {
    scanner.expect("[")?;
    let mut kinds = Vec::new();
    while !scanner.eat("]") {
        let start = scanner.at;
        // `[x: number, y?: number]`
        if scanner.peek_word().is_some() {
            scanner.word("a name")?;
            scanner.eat("?");
            if !scanner.eat(":") {
                scanner.at = start;
            }
        }
        kinds.push(read(scanner)?);
        if !scanner.eat(",") {
            scanner.expect("]")?;
            break;
        }
    }
    Ok(Type::Tuple(kinds))
}

/// A type in brackets, or the type of a function.
fn in_brackets(scanner: &mut Scanner<'_>) -> Result<Type, Fault> {
    let start = scanner.at;
    scanner.skip_bracket()?;
    let is_function = scanner.sees("=>");
    scanner.at = start;
    if !is_function {
        scanner.expect("(")?;
        let kind = read(scanner)?;
        scanner.expect(")")?;
        return Ok(kind);
    }
    let parameters = members::parameters(scanner)?;
    scanner.expect("=>")?;
    result(scanner)?;
    Ok(Type::Function(parameters))
}

/// Reads what a function gives back, of which docs have no use.
pub(super) fn result(scanner: &mut Scanner<'_>) -> Result<(), Fault> {
    let start = scanner.at;
    let is_guard = scanner.word("a type").is_ok() && scanner.eat_word("is");
    if !is_guard {
        scanner.at = start;
    }
    read(scanner)?;
    Ok(())
}
