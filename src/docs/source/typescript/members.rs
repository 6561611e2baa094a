//! The grammar of members: what stands between the braces of an object, or the brackets of a function.
//!
//! A method is a member that is a function. Comments in front of a member and behind it are taken for what they say
//! of it. A default has to be a literal. Type parameters are refused.

use serde_json::Value;

use super::comments;
use super::scanner::{Scanner, fault};
use super::types::{self, Type};
use crate::docs::parse::fault::Fault;
use crate::docs::parse::json5;

/// A member of an object, or a parameter of a function.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) is_optional: bool,
    pub(super) kind: Option<Type>,
    pub(super) description: Option<String>,
    pub(super) default: Option<Value>,
    /// The names of a parameter that is taken apart at once: `{ a, b = 1 }`.
    pub(super) pattern: Option<Vec<Member>>,
}

/// The members of an object.
pub(super) struct Members<'t> {
    /// Each with the comments in front of it.
    pub(super) named: Vec<(Member, Vec<&'t str>)>,
    /// The type of members that are not named.
    pub(super) others: Option<Box<Type>>,
}

/// Reads an object up to the closing brace.
pub(super) fn object(scanner: &mut Scanner<'_>) -> Result<Type, Fault> {
    let members = read(scanner)?;
    Ok(Type::Object(members.named.into_iter().map(|(member, _)| member).collect(), members.others))
}

/// Reads members up to the closing brace, and keeps the comments in front of them.
pub(super) fn read<'t>(scanner: &mut Scanner<'t>) -> Result<Members<'t>, Fault> {
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

/// `[key: string]: T`.
fn index(scanner: &mut Scanner<'_>) -> Result<Type, Fault> {
    scanner.expect("[")?;
    scanner.word("a name")?;
    scanner.expect(":")?;
    types::read(scanner)?;
    scanner.expect("]")?;
    scanner.expect(":")?;
    let kind = types::read(scanner)?;
    separator(scanner)?;
    Ok(kind)
}

/// Reads a method that stands alone, up to the end of its statement.
pub(super) fn member_until_line(scanner: &mut Scanner<'_>) -> Result<Member, Fault> {
    member(scanner, &[])
}

/// Reads one member with the comments around it; a method is a member that is a function.
fn member(scanner: &mut Scanner<'_>, leading: &[&str]) -> Result<Member, Fault> {
    scanner.eat_word("readonly");
    let mut member = Member { name: key(scanner)?, ..Member::default() };
    member.is_optional = scanner.eat("?");
    generics(scanner)?;
    if scanner.sees("(") {
        let parameters = parameters(scanner)?;
        if scanner.eat(":") {
            types::result(scanner)?;
        }
        member.kind = Some(Type::Function(parameters));
    } else {
        scanner.expect(":")?;
        member.kind = Some(types::read(scanner)?);
    }
    let trailing = separator(scanner)?;
    comments::describe(&mut member, leading, &trailing);
    Ok(member)
}

/// Steps over `<T>` behind a declared name.
pub(super) fn generics(scanner: &mut Scanner<'_>) -> Result<(), Fault> {
    if scanner.sees("<") {
        return Err(scanner.unexpected("no type parameters"));
    }
    Ok(())
}

fn key(scanner: &mut Scanner<'_>) -> Result<String, Fault> {
    scanner.skip();
    match scanner.rest().as_bytes().first() {
        Some(b'"' | b'\'') => scanner.string(),
        _ => Ok(scanner.word("a name")?.to_owned()),
    }
}

/// Reads what ends a member, and gives the comments about it.
fn separator<'t>(scanner: &mut Scanner<'t>) -> Result<Vec<&'t str>, Fault> {
    scanner.rest_of_line();
    if scanner.eat(",") || scanner.eat(";") {
        scanner.rest_of_line();
    } else if !scanner.ends_line() && !scanner.sees("}") {
        return Err(scanner.unexpected("`,`, `;` or `}`"));
    }
    Ok(scanner.take_comments())
}

/// Reads the parameters of a function in their brackets.
pub(super) fn parameters(scanner: &mut Scanner<'_>) -> Result<Vec<Member>, Fault> {
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

fn parameter(scanner: &mut Scanner<'_>) -> Result<Member, Fault> {
    let mut parameter = Member::default();
    for modifier in ["public", "private", "protected", "readonly"] {
        scanner.eat_word(modifier);
    }
    // The caller may give none of the rest.
    parameter.is_optional = scanner.eat("...");
    if scanner.sees("{") {
        pattern(scanner, &mut parameter)?;
    } else {
        scanner.word("a parameter")?.clone_into(&mut parameter.name);
    }
    parameter.is_optional |= scanner.eat("?");
    if scanner.eat(":") {
        parameter.kind = Some(types::read(scanner)?);
    }
    if !scanner.sees("=>") && scanner.eat("=") {
        parameter.is_optional = true;
        parameter.default = default(scanner)?;
    }
    Ok(parameter)
}

/// Reads `{ a, b = 1 }`; its type may not be written at all, so the names are kept as members without one.
fn pattern(scanner: &mut Scanner<'_>, parameter: &mut Member) -> Result<(), Fault> {
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

/// Reads a default, which must be a literal; `undefined` is none.
fn default(scanner: &mut Scanner<'_>) -> Result<Option<Value>, Fault> {
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
    json5(written).map(Some).ok_or_else(|| fault(start, "expected a default that is a literal"))
}
