//! Statements, line by line. A line that is no statement becomes an error node around its pieces.

use super::expressions::{Parser, RESERVED};
use super::tokens::{self, Token, TokenKind};
use super::tree::{Kind, NodeId, Tree};

/// Words that start a statement which is no expression.
const KEYWORDS: [&str; 23] = [
    "assert", "async", "break", "class", "continue", "def", "del", "elif", "else", "except", "finally",
    "for", "global", "if", "nonlocal", "pass", "raise", "return", "try", "while", "with", "yield", "@",
];
/// Operators that assign after an operation.
const AUGMENTED: [&str; 12] = ["+=", "-=", "*=", "/=", "//=", "%=", "@=", "&=", "|=", "^=", ">>=", "<<="];

/// Parses any text.
pub(crate) fn parse(text: &str) -> Tree<'_> {
    let mut parser = Parser::new(text, tokens::tokens(text));
    let mut children = Vec::new();
    while parser.at < parser.tokens.len() {
        parser.end = line_end(&parser);
        parser.line(&mut children);
        // The line end itself.
        parser.at = parser.end + 1;
        parser.end = parser.tokens.len();
    }
    parser.tree.finish(children)
}

fn line_end(parser: &Parser<'_>) -> usize {
    let rest = parser.tokens[parser.at..].iter();
    rest.take_while(|token| token.kind != TokenKind::Newline).count() + parser.at
}

/// A part of a line: a statement, or a token that belongs to none.
enum Piece {
    Statement(NodeId),
    /// An expression or assignment, which is the content of a statement: several if there are commas.
    Content(Vec<NodeId>),
    Stray(NodeId),
    /// An opening bracket without its partner: no later part of the line is a statement.
    Opener(NodeId),
    Semicolon(NodeId),
}

impl Parser<'_> {
    /// Parses one line and adds its nodes.
    fn line(&mut self, nodes: &mut Vec<NodeId>) {
        let mut pieces: Vec<Piece> = Vec::new();
        while self.token().is_some() {
            let piece = if self.word(0) == ";" {
                Piece::Semicolon(self.leaf())
            } else if let Some(piece) = self.statement() {
                piece
            } else {
                let is_bracket = matches!(self.word(0), "(" | "[" | "{");
                let stray = self.leaf();
                if is_bracket && let Some(Piece::Content(content)) = pieces.last_mut() {
                    *content = content.iter().flat_map(|node| self.tree.pieces(*node)).collect();
                }
                if is_bracket { Piece::Opener(stray) } else { Piece::Stray(stray) }
            };
            pieces.push(piece);
        }
        self.join(pieces, nodes);
    }

    /// A statement that a line end or semicolon follows is a node. All before it, back to the last such node, is one error node.
    fn join(&mut self, pieces: Vec<Piece>, nodes: &mut Vec<NodeId>) {
        let ends: Vec<bool> = (1..=pieces.len()).map(|at| ends_statement(pieces.get(at))).collect();
        let (mut errors, mut is_open) = (Vec::new(), false);
        for (piece, ends) in pieces.into_iter().zip(ends) {
            is_open |= matches!(piece, Piece::Opener(_));
            let ends = ends && !is_open;
            let is_whole = ends || errors.is_empty();
            match piece {
                Piece::Statement(node) if ends => self.close(&mut errors, Some(node), nodes),
                Piece::Content(content) if ends => {
                    let node = self.tree.node(content, Kind::Whole);
                    self.close(&mut errors, Some(node), nodes);
                }
                Piece::Semicolon(node) if is_whole => self.close(&mut errors, Some(node), nodes),
                Piece::Semicolon(node)
                | Piece::Stray(node)
                | Piece::Opener(node)
                | Piece::Statement(node) => {
                    errors.push(node);
                }
                Piece::Content(content) => errors.extend(content),
            }
        }
        self.close(&mut errors, None, nodes);
    }

    fn close(&mut self, errors: &mut Vec<NodeId>, node: Option<NodeId>, nodes: &mut Vec<NodeId>) {
        if !errors.is_empty() {
            nodes.push(self.tree.node(std::mem::take(errors), Kind::Whole));
        }
        nodes.extend(node);
    }

    fn statement(&mut self) -> Option<Piece> {
        match self.word(0) {
            "import" | "from" => Some(Piece::Statement(self.import())),
            "print" if self.is_text(1) => Some(Piece::Statement(self.keyword())),
            word if KEYWORDS.contains(&word) => Some(Piece::Statement(self.keyword())),
            _ => self.content().map(Piece::Content),
        }
    }

    fn is_text(&self, ahead: usize) -> bool {
        matches!(self.tokens.get(self.at + ahead), Some(Token { kind: TokenKind::Text(_), .. }))
    }

    /// `import a.b as c, d`, `from a import b`.
    fn import(&mut self) -> NodeId {
        let mut children = vec![self.leaf()];
        loop {
            match self.word(0) {
                "" => break,
                "import" | "," | "(" | ")" | "*" | "." | "..." => children.push(self.leaf()),
                word if self.kind() == Some(&TokenKind::Name) && word != "as" => {
                    let follows = !matches!(self.word(1), "as" | "import" | "," | "." | ")" | "");
                    let name = self.imported();
                    children.push(name);
                    // Prose after a word such as "import" is no part of the statement.
                    if follows {
                        break;
                    }
                }
                _ => break,
            }
        }
        let last = children.last().map_or(&[][..], |last| self.tree.children(*last));
        let is_renamed = matches!(last, [_, word, _] if self.tree.text(*word) == "as");
        if let Some(n_tokens) = self.swallowed(is_renamed) {
            children.extend((0..n_tokens).map(|_| self.leaf()));
        }
        self.tree.node(children, Kind::Whole)
    }

    /// Counts the tokens up to the arguments of the call in `import a\nb = c.d('x')`, where `\n` is a backslash and a letter. There
    /// tree-sitter takes `c.d` as another imported name, so that the text holds no call. Published responses without the label
    /// `api_call` have this form. After `import a as e`, it does so only if the function has a dot.
    fn swallowed(&self, is_renamed: bool) -> Option<usize> {
        if self.kind() != Some(&TokenKind::Stray) || !self.word(0).starts_with('\\') {
            return None;
        }
        let (mut ahead, mut is_assigned, mut has_dot) = (1, false, false);
        while self.is_name(ahead) && !RESERVED.contains(&self.word(ahead)) {
            match self.word(ahead + 1) {
                "(" => return (is_assigned && (has_dot || !is_renamed)).then_some(ahead + 1),
                "=" => is_assigned = true,
                "," | "." => {}
                _ => return None,
            }
            has_dot = self.word(ahead + 1) == ".";
            ahead += 2;
        }
        None
    }

    /// `a.b` or `a.b as c`.
    fn imported(&mut self) -> NodeId {
        let mut path = vec![self.leaf()];
        while self.word(0) == "."
            && !self.word(1).is_empty()
            && self.tokens[self.at + 1].kind == TokenKind::Name
        {
            path.extend([self.leaf(), self.leaf()]);
        }
        let name = self.tree.node(path, Kind::Whole);
        if self.word(0) == "as" && !self.word(1).is_empty() {
            let children = vec![name, self.leaf(), self.leaf()];
            return self.tree.node(children, Kind::Whole);
        }
        name
    }

    /// A statement with a keyword: the words and marks of its header are leaves, the expressions are nodes.
    fn keyword(&mut self) -> NodeId {
        let mut children = vec![self.leaf()];
        while self.token().is_some() && self.word(0) != ";" {
            let is_mark = matches!(self.word(0), "," | "as" | "in" | "from" | "->" | "*" | "=");
            if self.word(0) == ":" {
                children.push(self.leaf());
                break;
            } else if is_mark || KEYWORDS.contains(&self.word(0)) {
                children.push(self.leaf());
            } else if let Some(part) = self.expression() {
                children.push(part);
            } else {
                break;
            }
        }
        self.tree.node(children, Kind::Whole)
    }

    /// An expression, expressions between commas, or an assignment.
    fn content(&mut self) -> Option<Vec<NodeId>> {
        let mut items = vec![self.starred()?];
        while self.word(0) == "," {
            items.push(self.leaf());
            match self.starred() {
                Some(item) => items.push(item),
                None => break,
            }
        }
        let word = self.word(0);
        if word != "=" && word != ":" && !AUGMENTED.contains(&word) {
            return Some(items);
        }
        let left = if let [one] = items[..] { one } else { self.tree.node(items.clone(), Kind::Whole) };
        let assigned = self.assignment(left);
        Some(assigned.map_or(items, |assigned| vec![assigned]))
    }

    fn starred(&mut self) -> Option<NodeId> {
        if self.word(0) == "*" {
            return self.with_operand(Vec::new(), Self::expression);
        }
        self.expression()
    }

    /// `left = value`, `left = next = value`, `left: type = value`: each right side is the last child, which holds the next one.
    fn assignment(&mut self, left: NodeId) -> Option<NodeId> {
        let (mut lefts, mut place) = (vec![left], self.place());
        let mut operators = Vec::new();
        let mut last = None;
        while matches!(self.word(0), "=" | ":") || AUGMENTED.contains(&self.word(0)) {
            let is_type = self.word(0) == ":";
            let operator = self.leaf();
            let Some(right) = self.right_side(is_type) else {
                self.return_to(place);
                break;
            };
            place = self.place();
            if let Some(before) = last.replace(right) {
                lefts.push(before);
            }
            operators.push(operator);
        }
        let mut value = last?;
        for (left, operator) in lefts.into_iter().zip(operators).rev() {
            value = self.tree.node(vec![left, operator, value], Kind::Open);
        }
        Some(value)
    }

    fn right_side(&mut self, is_type: bool) -> Option<NodeId> {
        let first = self.starred()?;
        if is_type {
            return Some(self.tree.node(vec![first], Kind::Whole));
        }
        if self.word(0) != "," {
            return Some(first);
        }
        let mut items = vec![first];
        while self.word(0) == "," {
            items.push(self.leaf());
            items.extend(self.starred());
        }
        Some(self.tree.node(items, Kind::Whole))
    }
}

fn ends_statement(next: Option<&Piece>) -> bool {
    matches!(next, None | Some(Piece::Semicolon(_)))
}
