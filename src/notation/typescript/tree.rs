//! The parsed form of TypeScript: types, members and signatures of functions, as written.

use std::collections::BTreeMap;

use serde_json::Value;

/// A type as written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Type {
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
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) is_optional: bool,
    pub(crate) kind: Option<Type>,
    pub(crate) description: Option<String>,
    pub(crate) default: Option<Value>,
    /// The names of a destructured parameter: `{ a, b = 1 }`.
    pub(crate) pattern: Option<Vec<Member>>,
}

/// The signature of one function.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) name: String,
    pub(crate) comment: Comment,
    pub(crate) parameters: Vec<Member>,
    /// The byte at which it begins.
    pub(crate) at: Option<usize>,
}

/// The contents of the comments before a function.
#[derive(Debug, Default)]
pub(crate) struct Comment {
    pub(crate) description: String,
    /// The `@param` tags, by name.
    pub(crate) parameters: BTreeMap<String, Tag>,
}

/// One `@param`.
#[derive(Debug, Default)]
pub(crate) struct Tag {
    /// The type between braces, as written.
    pub(crate) kind: Option<String>,
    pub(crate) is_optional: bool,
    /// The default as written.
    pub(crate) default: Option<String>,
    pub(crate) text: String,
}

/// The declarations of a text.
#[derive(Debug, Default)]
pub(crate) struct Module {
    pub(crate) types: BTreeMap<String, Type>,
    pub(crate) functions: Vec<Head>,
}
