//! Expressions, by precedence climbing over tokens. Nesting is bounded by [`MAX_DEPTH`].

use super::tokens::{Token, TokenKind};
use super::tree::{Kind, NodeId, Tree};

/// The deepest nesting that is parsed. What is nested deeper becomes leaves of the node around it.
const MAX_DEPTH: usize = 100;
/// The most tokens between `lambda` and its colon. Without a bound, a text of many such words takes quadratic time.
const MAX_PARAMETERS: usize = 100;
/// Words that no expression can use as a name.
pub(super) const RESERVED: [&str; 30] = [
    "and", "as", "assert", "break", "class", "continue", "def", "del", "elif", "else", "except", "finally",
    "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise",
    "return", "try", "while", "with", "yield",
];
/// Precedences of operators without one: below them stands a conditional expression.
const COMPARISON: u8 = 4;
const UNARY: u8 = 11;

pub(super) struct Parser<'t> {
    pub(super) tree: Tree<'t>,
    pub(super) tokens: Vec<Token>,
    pub(super) at: usize,
    /// The first token that the current line or bracket does not own.
    pub(super) end: usize,
    depth: usize,
}

impl<'t> Parser<'t> {
    pub(super) fn new(text: &'t str, tokens: Vec<Token>) -> Self {
        Self { tree: Tree::new(text), end: tokens.len(), tokens, at: 0, depth: 0 }
    }

    pub(super) fn token(&self) -> Option<&Token> {
        self.tokens.get(self.at).filter(|_| self.at < self.end)
    }

    pub(super) fn kind(&self) -> Option<&TokenKind> {
        self.token().map(|token| &token.kind)
    }

    /// The text of the token `ahead` places further: empty past the end, and for strings.
    pub(super) fn word(&self, ahead: usize) -> &'t str {
        let at = self.at + ahead;
        match self.tokens.get(at).filter(|_| at < self.end) {
            Some(Token { kind: TokenKind::Text(_), .. }) | None => "",
            Some(token) => &self.tree.source()[token.span.clone()],
        }
    }

    /// Takes the next token as a leaf.
    pub(super) fn leaf(&mut self) -> NodeId {
        let span = self.token().map_or(0..0, |token| token.span.clone());
        self.at += 1;
        self.tree.leaf(span)
    }

    /// The place to which a failed attempt returns.
    pub(super) fn place(&self) -> (usize, usize) {
        (self.at, self.tree.n_nodes())
    }

    pub(super) fn return_to(&mut self, (at, n_nodes): (usize, usize)) {
        self.at = at;
        self.tree.truncate(n_nodes);
    }

    /// Parses one expression, or takes nothing.
    pub(super) fn expression(&mut self) -> Option<NodeId> {
        if self.depth >= MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let parsed = if self.word(0) == "lambda" { self.lambda() } else { self.conditional() };
        self.depth -= 1;
        parsed
    }

    fn conditional(&mut self) -> Option<NodeId> {
        let body = self.operation(1)?;
        if self.word(0) == ":=" {
            return Some(self.with_operand(vec![body], Self::expression).unwrap_or(body));
        }
        if self.word(0) != "if" {
            return Some(body);
        }
        let mut children = vec![body, self.leaf()];
        children.extend(self.operation(1));
        // Without `else` the node stays as it is: going back would parse nested conditions twice at each level.
        if self.word(0) == "else" {
            children.push(self.leaf());
            children.extend(self.expression());
        }
        Some(self.tree.node(children, Kind::Open))
    }

    fn lambda(&mut self) -> Option<NodeId> {
        let place = self.place();
        let mut children = vec![self.leaf()];
        while self.token().is_some() && self.word(0) != ":" && children.len() < MAX_PARAMETERS {
            children.push(self.leaf());
        }
        if self.word(0) == ":" {
            children.push(self.leaf());
            if let Some(body) = self.expression() {
                children.push(body);
                return Some(self.tree.node(children, Kind::Open));
            }
        }
        self.return_to(place);
        None
    }

    /// Parses operations whose operators bind at least as tightly as `least`.
    fn operation(&mut self, least: u8) -> Option<NodeId> {
        let mut left = self.operand()?;
        while let Some((precedence, words)) = self.operator().filter(|(precedence, _)| *precedence >= least) {
            // `**` is right-associative.
            let next = if precedence > UNARY { precedence } else { precedence + 1 };
            let place = self.place();
            let mut children = vec![left];
            children.extend((0..words).map(|_| self.leaf()));
            let Some(right) = self.nested(|parser| parser.operation(next)) else {
                self.return_to(place);
                break;
            };
            children.push(right);
            if precedence == COMPARISON {
                self.more_comparisons(&mut children);
            }
            left = self.tree.node(children, Kind::Open);
        }
        Some(left)
    }

    /// Comparisons in a row are one node.
    fn more_comparisons(&mut self, children: &mut Vec<NodeId>) {
        while let Some((COMPARISON, words)) = self.operator() {
            let (place, n) = (self.place(), children.len());
            children.extend((0..words).map(|_| self.leaf()));
            let Some(right) = self.nested(|parser| parser.operation(COMPARISON + 1)) else {
                self.return_to(place);
                children.truncate(n);
                return;
            };
            children.push(right);
        }
    }

    /// The precedence of the operator that comes next, and its number of tokens.
    fn operator(&self) -> Option<(u8, usize)> {
        Some(match self.word(0) {
            "or" => (1, 1),
            "and" => (2, 1),
            "not" if self.word(1) == "in" => (COMPARISON, 2),
            "is" if self.word(1) == "not" => (COMPARISON, 2),
            "<" | ">" | "<=" | ">=" | "==" | "!=" | "in" | "is" => (COMPARISON, 1),
            "|" => (5, 1),
            "^" => (6, 1),
            "&" => (7, 1),
            "<<" | ">>" => (8, 1),
            "+" | "-" => (9, 1),
            "*" | "/" | "//" | "%" | "@" => (10, 1),
            "**" => (12, 1),
            _ => return None,
        })
    }

    fn operand(&mut self) -> Option<NodeId> {
        let precedence = match self.word(0) {
            "not" => 3,
            "-" | "+" | "~" => UNARY,
            "await" if matches!(self.tokens.get(self.at + 1), Some(Token { kind: TokenKind::Name, .. })) => {
                UNARY + 2
            }
            _ => return self.primary(),
        };
        self.with_operand(Vec::new(), |parser| parser.operation(precedence))
    }

    /// Takes an operator and what `parse` finds after it, or nothing.
    pub(super) fn with_operand(
        &mut self,
        mut children: Vec<NodeId>,
        parse: impl FnOnce(&mut Self) -> Option<NodeId>,
    ) -> Option<NodeId> {
        let place = self.place();
        children.push(self.leaf());
        if let Some(operand) = self.nested(parse) {
            children.push(operand);
            return Some(self.tree.node(children, Kind::Open));
        }
        self.return_to(place);
        None
    }

    pub(super) fn nested(&mut self, parse: impl FnOnce(&mut Self) -> Option<NodeId>) -> Option<NodeId> {
        if self.depth >= MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    /// An atom with attributes, calls and subscripts.
    pub(super) fn primary(&mut self) -> Option<NodeId> {
        let mut value = self.atom()?;
        loop {
            let (children, kind) = match (self.word(0), self.kind()) {
                (".", _) if self.is_name(1) => (vec![value, self.leaf(), self.leaf()], Kind::Whole),
                ("(", Some(TokenKind::Open(_))) => {
                    let arguments = self.bracket();
                    (vec![value, self.tree.node(arguments, Kind::Whole)], Kind::Call)
                }
                ("[", Some(TokenKind::Open(_))) => ([vec![value], self.bracket()].concat(), Kind::Whole),
                _ => return Some(value),
            };
            value = self.tree.node(children, kind);
        }
    }

    pub(super) fn is_name(&self, ahead: usize) -> bool {
        let at = self.at + ahead;
        at < self.end && self.tokens.get(at).is_some_and(|token| token.kind == TokenKind::Name)
    }

    fn atom(&mut self) -> Option<NodeId> {
        match self.kind()? {
            TokenKind::Name if RESERVED.contains(&self.word(0)) => None,
            TokenKind::Name | TokenKind::Number => Some(self.leaf()),
            TokenKind::Text(_) => Some(self.strings()),
            TokenKind::Open(_) => {
                let children = self.bracket();
                Some(self.tree.node(children, Kind::Whole))
            }
            TokenKind::Operator if self.word(0) == "..." => Some(self.leaf()),
            _ => None,
        }
    }

    /// Strings that stand next to each other are one node.
    fn strings(&mut self) -> NodeId {
        let mut strings = Vec::new();
        while let Some(TokenKind::Text(content)) = self.kind().cloned() {
            let span = self.token().map_or(0..0, |token| token.span.clone());
            self.at += 1;
            let mut parts = vec![self.tree.leaf(span.start..content.start)];
            if !content.is_empty() {
                let escapes = self.escapes(content.start, content.end);
                parts.push(if escapes.is_empty() {
                    self.tree.leaf(content.clone())
                } else {
                    self.tree.spanning(content.clone(), escapes)
                });
            }
            parts.push(self.tree.leaf(content.end..span.end));
            strings.push(self.tree.node(parts, Kind::Whole));
        }
        match strings[..] {
            [one] => one,
            _ => self.tree.node(strings, Kind::Whole),
        }
    }

    fn escapes(&mut self, start: usize, end: usize) -> Vec<NodeId> {
        let content = &self.tree.source()[start..end];
        let (mut escapes, mut at) = (Vec::new(), 0);
        while let Some(found) = content[at..].find('\\') {
            let place = at + found;
            let len = 1 + content[place + 1..].chars().next().map_or(0, char::len_utf8);
            escapes.push(self.tree.leaf(start + place..start + place + len));
            at = place + len;
        }
        escapes
    }
}
