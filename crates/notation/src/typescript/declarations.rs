//! The grammar of statements: declarations, one after the other.
//!
//! Types are collected by name and functions in order. A statement that declares neither is a fault, except imports and
//! re-exports.

use serde_json::Value;

use super::comments;
use super::fault::{SyntaxError, unknown};
use super::grammar;
use super::scanner::Scanner;
use super::tree::{Head, Member, Module, Type};

/// The namespace whose name is not part of its functions' names.
const PLAIN_NAMESPACE: &str = "functions";

/// Words before a declaration that make no difference here.
const MODIFIERS: [&str; 4] = ["export", "default", "declare", "async"];

/// A reader of statements.
#[derive(Default)]
pub(super) struct DeclarationReader {
    /// The declarations read so far.
    pub(super) module: Module,
    /// The prefix for names of functions: `browser.`.
    prefix: String,
}

/// Returns true if a declaration begins here, by its first words and the sign after them.
pub(super) fn begin(scanner: &Scanner<'_>) -> bool {
    let mut ahead = Scanner::new(scanner.rest());
    while ahead.eat_word("import") || eat_export_of_others(&mut ahead) {
        if skip_statement(&mut ahead).is_err() {
            return false;
        }
        ahead.skip();
    }
    let start = ahead.at;
    eat_modifiers(&mut ahead);
    let is_modified = ahead.at > start;
    let Some(word) = ahead.peek_word() else { return false };
    ahead.eat(word);
    let is_named = ahead.word("a name").is_ok();
    let follows = |signs: &[&str]| signs.iter().any(|sign| ahead.sees(sign));
    match word {
        "function" => follows(&["(", "<"]),
        "type" => is_named && follows(&["=", "<"]),
        "interface" => is_named && (follows(&["{", "<", "extends"])),
        "namespace" | "module" | "enum" => is_named && follows(&["{", "."]),
        "const" | "let" | "var" => is_named && (ahead.eat("=") || is_modified) && holds_function(&ahead),
        _ => false,
    }
}

/// Skips the modifiers of a declaration; returns true if one of them is `export`.
fn eat_modifiers(scanner: &mut Scanner<'_>) -> bool {
    let mut is_exported = false;
    while let Some(modifier) = MODIFIERS.iter().find(|modifier| scanner.eat_word(modifier)) {
        is_exported |= *modifier == "export";
    }
    is_exported
}

/// Skips the keyword of a re-export: `export { f }`, `export * from`.
fn eat_export_of_others(scanner: &mut Scanner<'_>) -> bool {
    let start = scanner.at;
    let is_of_others = scanner.eat_word("export") && (scanner.sees("{") || scanner.sees("*"));
    if !is_of_others {
        scanner.at = start;
    }
    is_of_others
}

/// Returns true if the next value is a function.
fn holds_function(scanner: &Scanner<'_>) -> bool {
    let word = scanner.peek_word();
    scanner.sees("(") || word == Some("async") || word == Some("function")
}

impl DeclarationReader {
    /// Reads statements up to the end of the text.
    pub(super) fn read(&mut self, scanner: &mut Scanner<'_>) -> Result<(), SyntaxError> {
        loop {
            scanner.skip();
            if scanner.rest().is_empty() {
                return Ok(());
            }
            self.statement(scanner)?;
        }
    }

    fn statement(&mut self, scanner: &mut Scanner<'_>) -> Result<(), SyntaxError> {
        let leading = scanner.take_comments();
        let start = scanner.at;
        if scanner.eat(";") {
            return Ok(());
        }
        if eat_export_of_others(scanner) {
            return skip_statement(scanner);
        }
        let is_exported = eat_modifiers(scanner);
        match scanner.word("a declaration")? {
            "import" => skip_statement(scanner)?,
            "function" => self.function(scanner, &leading, start)?,
            "type" => self.alias(scanner, &leading, start)?,
            "interface" => self.interface(scanner)?,
            "namespace" | "module" => self.namespace(scanner)?,
            "enum" => self.choices(scanner)?,
            "const" | "let" | "var" if scanner.eat_word("enum") => self.choices(scanner)?,
            "const" | "let" | "var" => self.constant(scanner, &leading, start)?,
            // `export default f;`
            _ if is_exported && (scanner.eat(";") || scanner.ends_line()) => {}
            other => {
                return Err(unknown(start, &format!("expected a function or a type, found `{other}`")));
            }
        }
        Ok(())
    }

    fn function(
        &mut self,
        scanner: &mut Scanner<'_>,
        leading: &[&str],
        at: usize,
    ) -> Result<(), SyntaxError> {
        scanner.eat("*");
        let name = scanner.word("a function's name")?.to_owned();
        grammar::generics(scanner)?;
        let parameters = grammar::parameters(scanner)?;
        skip_result_and_body(scanner)?;
        self.add(&name, leading, parameters, Some(at));
        Ok(())
    }

    fn add(&mut self, name: &str, leading: &[&str], parameters: Vec<Member>, at: Option<usize>) {
        let name = format!("{}{name}", self.prefix);
        self.module.functions.push(Head { name, comment: comments::read(leading), parameters, at });
    }

    /// Adds a method as a function.
    pub(super) fn add_member(&mut self, member: Member, leading: &[&str]) {
        if let Some(Type::Function(parameters)) = member.kind {
            self.add(&member.name, leading, parameters, None);
        }
    }

    /// Reads `type x = …`: a type, or the type of a function.
    fn alias(&mut self, scanner: &mut Scanner<'_>, leading: &[&str], at: usize) -> Result<(), SyntaxError> {
        let name = scanner.word("a type's name")?.to_owned();
        grammar::generics(scanner)?;
        scanner.expect("=")?;
        let kind = grammar::read_type(scanner)?;
        end_statement(scanner)?;
        match kind {
            Type::Function(parameters) => self.add(&name, leading, parameters, Some(at)),
            kind => self.declare(scanner, name, kind)?,
        }
        Ok(())
    }

    fn declare(&mut self, scanner: &Scanner<'_>, name: String, kind: Type) -> Result<(), SyntaxError> {
        if self.module.types.contains_key(&name) {
            return Err(unknown(scanner.at, &format!("a second type `{name}`")));
        }
        self.module.types.insert(name, kind);
        Ok(())
    }

    /// Reads an interface: one with methods is a list of functions, any other a type.
    fn interface(&mut self, scanner: &mut Scanner<'_>) -> Result<(), SyntaxError> {
        let name = scanner.word("an interface's name")?.to_owned();
        grammar::generics(scanner)?;
        let mut kinds = Vec::new();
        if scanner.eat_word("extends") {
            kinds.push(grammar::read_type(scanner)?);
            while scanner.eat(",") {
                kinds.push(grammar::read_type(scanner)?);
            }
        }
        scanner.expect("{")?;
        scanner.take_comments();
        let members = grammar::read_members(scanner)?;
        let is_method = |member: &Member| matches!(member.kind, Some(Type::Function(_)));
        if kinds.is_empty()
            && !members.named.is_empty()
            && members.named.iter().all(|(member, _)| is_method(member))
        {
            for (member, leading) in members.named {
                self.add_member(member, &leading);
            }
            return Ok(());
        }
        let own = Type::Object(members.named.into_iter().map(|(member, _)| member).collect(), members.others);
        kinds.push(own);
        let kind = if kinds.len() > 1 { Type::AllOf(kinds) } else { kinds.swap_remove(0) };
        self.declare(scanner, name, kind)
    }

    fn namespace(&mut self, scanner: &mut Scanner<'_>) -> Result<(), SyntaxError> {
        let mut name = scanner.word("a namespace's name")?.to_owned();
        while scanner.eat(".") {
            name.push('.');
            name += scanner.word("a namespace's name")?;
        }
        scanner.expect("{")?;
        let outer = self.prefix.len();
        if name != PLAIN_NAMESPACE {
            self.prefix += &format!("{name}.");
        }
        let read = scanner.deeper(|scanner| {
            loop {
                scanner.skip();
                if scanner.eat("}") {
                    scanner.rest_of_line();
                    scanner.take_comments();
                    return Ok(());
                }
                self.statement(scanner)?;
            }
        });
        self.prefix.truncate(outer);
        read
    }

    /// Reads `enum X { A = "a", B }`.
    fn choices(&mut self, scanner: &mut Scanner<'_>) -> Result<(), SyntaxError> {
        let name = scanner.word("an enum's name")?.to_owned();
        scanner.expect("{")?;
        let (mut choices, mut next) = (Vec::new(), 0_u64);
        while !scanner.eat("}") {
            scanner.word("a choice")?;
            let value =
                if scanner.eat("=") { grammar::read_type(scanner)? } else { Type::Literal(next.into()) };
            if let Type::Literal(Value::Number(number)) = &value {
                next = number.as_u64().map_or(0, |number| number.saturating_add(1));
            }
            choices.push(value);
            if !scanner.eat(",") {
                scanner.expect("}")?;
                break;
            }
        }
        scanner.take_comments();
        self.declare(scanner, name, Type::AnyOf(choices))
    }

    /// Reads `const f = (a: A): B => …`, `const f = function (a) {…}`.
    fn constant(
        &mut self,
        scanner: &mut Scanner<'_>,
        leading: &[&str],
        at: usize,
    ) -> Result<(), SyntaxError> {
        let name = scanner.word("a name")?.to_owned();
        scanner.expect("=")?;
        scanner.eat_word("async");
        if scanner.eat_word("function") {
            if scanner.peek_word().is_some() {
                scanner.word("a function's name")?;
            }
            grammar::generics(scanner)?;
            let parameters = grammar::parameters(scanner)?;
            skip_result_and_body(scanner)?;
            self.add(&name, leading, parameters, Some(at));
            return Ok(());
        }
        grammar::generics(scanner)?;
        let parameters = grammar::parameters(scanner)?;
        if scanner.eat(":") {
            grammar::result(scanner)?;
        }
        scanner.expect("=>")?;
        if scanner.sees("{") {
            scanner.skip();
            scanner.skip_bracket()?;
            scanner.eat(";");
        } else {
            skip_statement(scanner)?;
        }
        scanner.take_comments();
        self.add(&name, leading, parameters, Some(at));
        Ok(())
    }
}

/// Skips `: Result`, and a body or the sign that there is none.
fn skip_result_and_body(scanner: &mut Scanner<'_>) -> Result<(), SyntaxError> {
    if scanner.eat(":") {
        grammar::result(scanner)?;
    }
    if scanner.sees("{") {
        scanner.skip();
        scanner.skip_bracket()?;
    } else {
        end_statement(scanner)?;
    }
    scanner.take_comments();
    Ok(())
}

/// Skips the end of a statement: a semicolon, a line break or the end of the enclosing block.
fn end_statement(scanner: &mut Scanner<'_>) -> Result<(), SyntaxError> {
    scanner.rest_of_line();
    if scanner.eat(";") || scanner.ends_line() || scanner.sees("}") {
        scanner.rest_of_line();
        scanner.take_comments();
        return Ok(());
    }
    Err(scanner.unexpected("the end of the statement"))
}

/// Skips an unused statement, up to a semicolon or a line break outside of brackets.
fn skip_statement(scanner: &mut Scanner<'_>) -> Result<(), SyntaxError> {
    scanner.skip();
    while let Some(c) = scanner.rest().chars().next() {
        match c {
            '{' | '(' | '[' => scanner.skip_bracket()?,
            '"' | '\'' | '`' => scanner.skip_string(),
            ';' => {
                scanner.at += 1;
                return Ok(());
            }
            '}' => return Ok(()),
            '/' if scanner.rest().starts_with("//") || scanner.rest().starts_with("/*") => {
                scanner.rest_of_line();
                scanner.take_comments();
            }
            '\n' if !GOES_ON.iter().any(|sign| scanner.sees(sign)) => return Ok(()),
            // Directly to the next sign: checking each of many blank lines would scan all that follow.
            '\n' => {
                scanner.skip();
                scanner.take_comments();
            }
            _ => scanner.at += c.len_utf8(),
        }
    }
    Ok(())
}

/// Signs at the start of a line that continues the previous one.
const GOES_ON: [&str; 6] = [".", "?", ":", "+", "&", "|"];

/// Returns true if a method has a parameter with a type.
pub(super) fn is_typed(member: &Member) -> bool {
    let Some(Type::Function(parameters)) = &member.kind else { return false };
    parameters.iter().any(|parameter| parameter.kind.is_some())
}
