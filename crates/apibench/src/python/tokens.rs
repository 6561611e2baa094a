//! Splits any text into tokens of Python.
//!
//! Line ends inside closed brackets are dropped. A bracket without its partner, a quote without its end, and a character that Python
//! does not have are [`TokenKind::Stray`]. As in the scanner of tree-sitter-python, a backquote quotes too, and a backslash outside
//! a string is taken together with the character after it.

use std::ops::Range;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TokenKind {
    Name,
    Number,
    /// A string; the span of its content.
    Text(Range<usize>),
    Operator,
    /// An opening bracket; the index of the token that closes it.
    Open(usize),
    /// A closing bracket whose partner is open.
    Close,
    Newline,
    /// What belongs to no token.
    Stray,
}

#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Range<usize>,
}

/// Operators of more than one character, longest first.
const OPERATORS: [&str; 24] = [
    "**=", "//=", ">>=", "<<=", "...", "**", "//", ">>", "<<", "<=", ">=", "==", "!=", "->", "+=", "-=",
    "*=", "/=", "%=", "@=", "&=", "|=", "^=", ":=",
];
/// The longest prefix of a string, such as `rb`.
const MAX_PREFIX: usize = 2;

pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let (kind, len) = next(rest, at);
        if let Some(kind) = kind {
            found.push(Token { kind, span: at..at + len });
        }
        at += len;
    }
    match_brackets(text, found)
}

/// Returns the token at the start of `rest`, or `None` for what separates tokens, and its length in bytes.
fn next(rest: &str, at: usize) -> (Option<TokenKind>, usize) {
    let Some(first) = rest.chars().next() else { return (None, 1) };
    let second_len = || rest.chars().nth(1).map_or(0, char::len_utf8);
    match first {
        '\n' => (Some(TokenKind::Newline), 1),
        _ if first.is_whitespace() || first == '\u{feff}' => (None, first.len_utf8()),
        '#' => (None, rest.find('\n').unwrap_or(rest.len())),
        '\\' if rest[1..].starts_with('\n') => (None, 2),
        '\\' if rest[1..].starts_with("\r\n") => (None, 3),
        '\\' => (Some(TokenKind::Stray), 1 + second_len()),
        '0'..='9' => (Some(TokenKind::Number), number_len(rest)),
        '.' if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => {
            (Some(TokenKind::Number), number_len(rest))
        }
        '(' | '[' | '{' => (Some(TokenKind::Open(usize::MAX)), 1),
        ')' | ']' | '}' => (Some(TokenKind::Close), 1),
        _ => text_token(rest, at).unwrap_or_else(|| (Some(other(rest, first)), other_len(rest, first))),
    }
}

fn other(rest: &str, first: char) -> TokenKind {
    if is_name_start(first) {
        TokenKind::Name
    } else if "+-*/%@&|^~<>=.,:;".contains(first) || operator(rest).is_some() {
        TokenKind::Operator
    } else {
        TokenKind::Stray
    }
}

fn other_len(rest: &str, first: char) -> usize {
    if is_name_start(first) {
        return rest.find(|c: char| !is_name_start(c) && !c.is_numeric()).unwrap_or(rest.len());
    }
    operator(rest).map_or(first.len_utf8(), str::len)
}

fn operator(rest: &str) -> Option<&'static str> {
    OPERATORS.into_iter().find(|operator| rest.starts_with(operator))
}

fn is_name_start(c: char) -> bool {
    c == '_' || c.is_alphabetic()
}

fn number_len(rest: &str) -> usize {
    let mut last = ' ';
    let end = rest.find(|c: char| {
        let is_sign_of_exponent =
            matches!(c, '+' | '-') && matches!(last, 'e' | 'E') && !rest.starts_with("0x");
        let goes_on = c.is_ascii_alphanumeric() || matches!(c, '.' | '_') || is_sign_of_exponent;
        last = c;
        !goes_on
    });
    end.unwrap_or(rest.len())
}

/// Reads a string with its prefix. A string without an end is no token: its quote is stray.
fn text_token(rest: &str, at: usize) -> Option<(Option<TokenKind>, usize)> {
    let prefix = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
    let is_prefix = prefix <= MAX_PREFIX && rest[..prefix].chars().all(|c| "rRbBuUfF".contains(c));
    let quote = rest[prefix..].chars().next().filter(|c| matches!(c, '\'' | '"' | '`'))?;
    if !is_prefix {
        return None;
    }
    let triple = [quote; 3].iter().collect::<String>();
    let is_triple = quote != '`' && rest[prefix..].starts_with(&triple);
    let mark = if is_triple { triple } else { quote.to_string() };
    let start = prefix + mark.len();
    let Some(len) = content_len(&rest[start..], &mark) else {
        // The quote is stray and the prefix before it a name.
        let (kind, len) = if prefix == 0 { (TokenKind::Stray, 1) } else { (TokenKind::Name, prefix) };
        return Some((Some(kind), len));
    };
    Some((Some(TokenKind::Text(at + start..at + start + len)), start + len + mark.len()))
}

fn content_len(content: &str, mark: &str) -> Option<usize> {
    let mut is_escaped = false;
    for (at, c) in content.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '\n' if mark.len() == 1 => return None,
            _ if content[at..].starts_with(mark) => return Some(at),
            _ => {}
        }
    }
    None
}

/// Joins brackets with their partners, makes the others stray, and drops line ends inside brackets.
fn match_brackets(text: &str, found: Vec<Token>) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::with_capacity(found.len());
    let partners = partners(text, &found);
    // The index in `found` where the outermost open bracket closes, and places of open brackets in `tokens`.
    let (mut closed_at, mut open) = (0, Vec::new());
    for (at, mut token) in found.into_iter().enumerate() {
        match (&token.kind, partners[at]) {
            (TokenKind::Newline, _) if at < closed_at => continue,
            (TokenKind::Open(_), Some(partner)) => {
                closed_at = closed_at.max(partner);
                open.push(tokens.len());
            }
            (TokenKind::Close, Some(_)) => {
                let (end, start) = (tokens.len(), open.pop());
                if let Some(opener) = start.and_then(|start| tokens.get_mut(start)) {
                    opener.kind = TokenKind::Open(end);
                }
            }
            (TokenKind::Open(_) | TokenKind::Close, None) => token.kind = TokenKind::Stray,
            _ => {}
        }
        tokens.push(token);
    }
    tokens
}

/// Returns the partner of each bracket. A closing bracket of another kind leaves the brackets between it and its partner alone.
fn partners(text: &str, found: &[Token]) -> Vec<Option<usize>> {
    let mut partners = vec![None; found.len()];
    let mut open: Vec<(usize, &str)> = Vec::new();
    // Open brackets of each kind, so that a bracket without a partner is known without a search.
    let mut n_open = [0_usize; 3];
    let place_of = |bracket: &str| usize::from(bracket == "[") + 2 * usize::from(bracket == "{");
    for (at, token) in found.iter().enumerate() {
        let bracket = &text[token.span.clone()];
        let opener = match (&token.kind, bracket) {
            (TokenKind::Open(_), _) => {
                open.push((at, bracket));
                n_open[place_of(bracket)] += 1;
                continue;
            }
            (TokenKind::Close, ")") => "(",
            (TokenKind::Close, "]") => "[",
            (TokenKind::Close, _) => "{",
            _ => continue,
        };
        if n_open[place_of(opener)] == 0 {
            continue;
        }
        while let Some((start, bracket)) = open.pop() {
            n_open[place_of(bracket)] -= 1;
            if bracket == opener {
                partners[at] = Some(start);
                partners[start] = Some(at);
                break;
            }
        }
    }
    partners
}
