//! The grammar of types and members: the text after a colon, in the braces of an object, or in the brackets of a
//! function.
//!
//! Names are not resolved here, as that needs all declarations. A method is a member that is a function. Comments
//! before and after a member describe it. A default has to be a literal. Conditional types, mapped types and type
//! parameters are refused.

use serde_json::{Number, Value};

use super::comments;
use super::fault::{SyntaxError, unknown};
use super::scanner::{MAX_DEPTH, Scanner};
use super::tree::{Member, Type};
use crate::json::loose::json5;

/// Reads a type.
pub(super) fn read_type(scanner: &mut Scanner<'_>) -> Result<Type, SyntaxError> {
    scanner.deeper(|scanner| {
        scanner.eat("|");
        let mut kinds = vec![all_of(scanner)?];
        while !scanner.sees("||") && scanner.eat("|") {
            kinds.push(all_of(scanner)?);
        }
        Ok(one_or(kinds, Type::AnyOf))
    })
}

fn all_of(scanner: &mut Scanner<'_>) -> Result<Type, SyntaxError> {
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

fn with_lists(scanner: &mut Scanner<'_>) -> Result<Type, SyntaxError> {
    let mut kind = single(scanner)?;
    // A bracket on the next line begins a member, not a list.
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

fn single(scanner: &mut Scanner<'_>) -> Result<Type, SyntaxError> {
    scanner.skip();
    match scanner.rest().as_bytes().first() {
        Some(b'"' | b'\'') => Ok(Type::Literal(scanner.string()?.into())),
        Some(b'0'..=b'9' | b'-') => number(scanner).map(Type::Literal),
        Some(b'{') => {
            scanner.expect("{")?;
            object(scanner)
        }
        Some(b'[') => tuple(scanner),
        Some(b'(') => in_brackets(scanner),
        _ => named(scanner),
    }
}

fn number(scanner: &mut Scanner<'_>) -> Result<Value, SyntaxError> {
    let rest = scanner.rest();
    let end = rest
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_')))
        .unwrap_or(rest.len());
    let number: Number = rest[..end].parse().map_err(|_| scanner.unexpected("a number"))?;
    scanner.at += end;
    Ok(Value::Number(number))
}

fn named(scanner: &mut Scanner<'_>) -> Result<Type, SyntaxError> {
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
            arguments.push(read_type(scanner)?);
            if !scanner.eat(",") {
                scanner.expect(">")?;
                break;
            }
        }
    }
    Ok(Type::Named(name, arguments))
}

fn tuple(scanner: &mut Scanner<'_>) -> Result<Type, SyntaxError> {
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
        kinds.push(read_type(scanner)?);
        if !scanner.eat(",") {
            scanner.expect("]")?;
            break;
        }
    }
    Ok(Type::Tuple(kinds))
}

/// Reads a type in brackets, or the type of a function.
fn in_brackets(scanner: &mut Scanner<'_>) -> Result<Type, SyntaxError> {
    let start = scanner.at;
    scanner.skip_bracket()?;
    let is_function = scanner.sees("=>");
    scanner.at = start;
    if !is_function {
        scanner.expect("(")?;
        let kind = read_type(scanner)?;
        scanner.expect(")")?;
        return Ok(kind);
    }
    let parameters = parameters(scanner)?;
    scanner.expect("=>")?;
    result(scanner)?;
    Ok(Type::Function(parameters))
}

/// Reads the result type of a function, which docs do not use.
pub(super) fn result(scanner: &mut Scanner<'_>) -> Result<(), SyntaxError> {
    let start = scanner.at;
    let is_guard = scanner.word("a type").is_ok() && scanner.eat_word("is");
    if !is_guard {
        scanner.at = start;
    }
    read_type(scanner)?;
    Ok(())
}

/// The members of an object.
pub(super) struct Members<'t> {
    /// Each member with the comments before it.
    pub(super) named: Vec<(Member, Vec<&'t str>)>,
    /// The type of members without a name.
    pub(super) others: Option<Box<Type>>,
}

/// Reads an object up to the closing brace.
pub(super) fn object(scanner: &mut Scanner<'_>) -> Result<Type, SyntaxError> {
    let members = read_members(scanner)?;
    Ok(Type::Object(members.named.into_iter().map(|(member, _)| member).collect(), members.others))
}

/// Reads members up to the closing brace, with the comments before them.
pub(super) fn read_members<'t>(scanner: &mut Scanner<'t>) -> Result<Members<'t>, SyntaxError> {
    let mut members = Members { named: Vec::new(), others: None };
    loop {
        scanner.skip();
        if scanner.eat("}") {
            return Ok(members);
        }
        let leading = scanner.take_comments();
        if scanner.sees("[") {
            members.others = Some(Box::new(index(scanner)?));
        } else {
            members.named.push((member(scanner, &leading)?, leading));
        }
    }
}

/// Reads `[key: string]: T`.
fn index(scanner: &mut Scanner<'_>) -> Result<Type, SyntaxError> {
    scanner.expect("[")?;
    scanner.word("a name")?;
    scanner.expect(":")?;
    read_type(scanner)?;
    scanner.expect("]")?;
    scanner.expect(":")?;
    let kind = read_type(scanner)?;
    separator(scanner)?;
    Ok(kind)
}

/// Reads a method outside of an object, up to the end of its statement.
pub(super) fn member_until_line(scanner: &mut Scanner<'_>) -> Result<Member, SyntaxError> {
    member(scanner, &[])
}

/// Reads one member with the comments around it; a method is a member that is a function.
fn member(scanner: &mut Scanner<'_>, leading: &[&str]) -> Result<Member, SyntaxError> {
    scanner.eat_word("readonly");
    let mut member = Member { name: key(scanner)?, ..Member::default() };
    member.is_optional = scanner.eat("?");
    generics(scanner)?;
    if scanner.sees("(") {
        let parameters = parameters(scanner)?;
        if scanner.eat(":") {
            result(scanner)?;
        }
        member.kind = Some(Type::Function(parameters));
    } else {
        scanner.expect(":")?;
        member.kind = Some(read_type(scanner)?);
    }
    let trailing = separator(scanner)?;
    comments::describe(&mut member, leading, &trailing);
    Ok(member)
}

/// Refuses `<T>` after a declared name.
pub(super) fn generics(scanner: &mut Scanner<'_>) -> Result<(), SyntaxError> {
    if scanner.sees("<") {
        return Err(scanner.unexpected("no type parameters"));
    }
    Ok(())
}

fn key(scanner: &mut Scanner<'_>) -> Result<String, SyntaxError> {
    scanner.skip();
    match scanner.rest().as_bytes().first() {
        Some(b'"' | b'\'') => scanner.string(),
        _ => Ok(scanner.word("a name")?.to_owned()),
    }
}

/// Reads the end of a member, and returns the comments about it.
fn separator<'t>(scanner: &mut Scanner<'t>) -> Result<Vec<&'t str>, SyntaxError> {
    scanner.rest_of_line();
    if scanner.eat(",") || scanner.eat(";") {
        scanner.rest_of_line();
    } else if !scanner.ends_line() && !scanner.sees("}") {
        return Err(scanner.unexpected("`,`, `;` or `}`"));
    }
    Ok(scanner.take_comments())
}

/// Reads the parameters of a function in their brackets.
pub(super) fn parameters(scanner: &mut Scanner<'_>) -> Result<Vec<Member>, SyntaxError> {
    scanner.expect("(")?;
    scanner.deeper(|scanner| {
        let mut parameters = Vec::new();
        loop {
            scanner.skip();
            if scanner.eat(")") {
                break;
            }
            let leading = scanner.take_comments();
            let mut parameter = parameter(scanner)?;
            let is_last = !scanner.eat(",");
            if is_last {
                scanner.expect(")")?;
            } else {
                scanner.rest_of_line();
            }
            comments::describe(&mut parameter, &leading, &scanner.take_comments());
            if parameter.name != "this" {
                parameters.push(parameter);
            }
            if is_last {
                break;
            }
        }
        Ok(parameters)
    })
}

fn parameter(scanner: &mut Scanner<'_>) -> Result<Member, SyntaxError> {
    let mut parameter = Member::default();
    for modifier in ["public", "private", "protected", "readonly"] {
        scanner.eat_word(modifier);
    }
    // A call may omit a rest parameter.
    parameter.is_optional = scanner.eat("...");
    if scanner.sees("{") {
        pattern(scanner, &mut parameter)?;
    } else {
        scanner.word("a parameter")?.clone_into(&mut parameter.name);
    }
    parameter.is_optional |= scanner.eat("?");
    if scanner.eat(":") {
        parameter.kind = Some(read_type(scanner)?);
    }
    if !scanner.sees("=>") && scanner.eat("=") {
        parameter.is_optional = true;
        parameter.default = default(scanner)?;
    }
    Ok(parameter)
}

/// Reads `{ a, b = 1 }`; it may have no type, so the names are kept as members without a type.
fn pattern(scanner: &mut Scanner<'_>, parameter: &mut Member) -> Result<(), SyntaxError> {
    scanner.expect("{")?;
    let mut members = Vec::new();
    loop {
        scanner.skip();
        if scanner.eat("}") {
            break;
        }
        let leading = scanner.take_comments();
        let mut member = Member { name: scanner.word("a name")?.to_owned(), ..Member::default() };
        if scanner.eat("=") {
            member.is_optional = true;
            member.default = default(scanner)?;
        }
        let is_last = !scanner.eat(",");
        comments::describe(&mut member, &leading, &scanner.take_comments());
        members.push(member);
        if is_last {
            scanner.expect("}")?;
            break;
        }
    }
    parameter.pattern = Some(members);
    Ok(())
}

/// Reads a default, which must be a literal; `undefined` means that there is none.
fn default(scanner: &mut Scanner<'_>) -> Result<Option<Value>, SyntaxError> {
    scanner.skip();
    let start = scanner.at;
    while let Some(c) = scanner.rest().chars().next() {
        match c {
            '{' | '(' | '[' => scanner.skip_bracket()?,
            '"' | '\'' => {
                scanner.string()?;
            }
            ',' | ')' | '}' | '\n' => break,
            '/' if scanner.rest().starts_with("//") || scanner.rest().starts_with("/*") => break,
            _ => scanner.at += c.len_utf8(),
        }
    }
    let written = scanner.text[start..scanner.at].trim();
    if written == "undefined" {
        return Ok(None);
    }
    json5(written).map(Some).ok_or_else(|| unknown(start, "expected a default that is a literal"))
}
