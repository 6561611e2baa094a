//! The parsed form of TypeScript: types, members and signatures of functions, as written.

use std::collections::BTreeMap;

use serde_json::Value;

/// A type as written.
#[derive(Debug, Clone, PartialEq)]
pub enum Type {
    /// A name, with its type arguments.
    Named(String, Vec<Type>),
    /// A literal value.
    Literal(Value),
    /// `T[]`.
    List(Box<Type>),
    /// `[A, B]`.
    Tuple(Vec<Type>),
    /// `{ a: A }`, and the type of members without a name.
    Object(Vec<Member>, Option<Box<Type>>),
    /// `A | B`.
    AnyOf(Vec<Type>),
    /// `A & B`.
    AllOf(Vec<Type>),
    /// `(a: A) => B`, without B.
    Function(Vec<Member>),
}

/// A member of an object, or a parameter of a function.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Member {
    /// The name.
    pub name: String,
    /// It may be left out.
    pub is_optional: bool,
    /// The type; `None` if none is written.
    pub kind: Option<Type>,
    /// What its comment says.
    pub description: Option<String>,
    /// The default value.
    pub default: Option<Value>,
    /// The names of a destructured parameter: `{ a, b = 1 }`.
    pub pattern: Option<Vec<Member>>,
}

/// The signature of one function.
#[derive(Debug)]
pub struct Head {
    /// The name.
    pub name: String,
    /// The comment before it.
    pub comment: Comment,
    /// The parameters, in order.
    pub parameters: Vec<Member>,
    /// The byte at which it begins.
    pub at: Option<usize>,
}

/// The contents of the comments before a function.
#[derive(Debug, Default)]
pub struct Comment {
    pub description: String,
    /// The `@param` tags, by name.
    pub parameters: BTreeMap<String, Tag>,
}

/// One `@param`.
#[derive(Debug, Default)]
pub struct Tag {
    /// The type between braces, as written.
    pub kind: Option<String>,
    /// It may be left out.
    pub is_optional: bool,
    /// The default as written.
    pub default: Option<String>,
    /// The text.
    pub text: String,
}

/// The declarations of a text.
#[derive(Debug, Default)]
pub struct Module {
    /// The types by name.
    pub types: BTreeMap<String, Type>,
    /// The functions, in order.
    pub functions: Vec<Head>,
}
