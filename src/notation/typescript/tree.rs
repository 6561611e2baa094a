//! What the readers of TypeScript make of a text: types, members and heads of functions, as they are written.

use std::collections::BTreeMap;

use serde_json::Value;

/// A type as it is written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Type {
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

/// A member of an object, or a parameter of a function.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) is_optional: bool,
    pub(crate) kind: Option<Type>,
    pub(crate) description: Option<String>,
    pub(crate) default: Option<Value>,
    /// The names of a parameter that is taken apart at once: `{ a, b = 1 }`.
    pub(crate) pattern: Option<Vec<Member>>,
}

/// The head of one function.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) name: String,
    pub(crate) comment: Comment,
    pub(crate) parameters: Vec<Member>,
    /// The byte where it begins.
    pub(crate) at: Option<usize>,
}

/// What the comments in front of a function say.
#[derive(Debug, Default)]
pub(crate) struct Comment {
    pub(crate) description: String,
    /// What stands behind `@param`, by name.
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

/// What a text declares.
#[derive(Debug, Default)]
pub(crate) struct Module {
    pub(crate) types: BTreeMap<String, Type>,
    pub(crate) functions: Vec<Head>,
}
