//! Determines the role of a message and unwraps its fields.
//!
//! Chat APIs have a role. `LangChain` has a class or a type and wraps the fields (`kwargs`, `data`), `OpenInference`
//! wraps them as `message`. OpenAI's Responses mix messages with items that are calls, results and reasoning.

use serde_json::{Map, Value};

use crate::lookup::Lookup as _;
use callsieve_bfcl::conversation::Role;

/// Roles by name; the later ones are `LangChain`'s.
const ROLES: &[(&str, Role)] = &[
    ("user", Role::User),
    ("assistant", Role::Assistant),
    ("tool", Role::Tool),
    ("system", Role::System),
    ("developer", Role::System),
    ("model", Role::Assistant),
    ("function", Role::Tool),
    ("human", Role::User),
    ("ai", Role::Assistant),
];

/// The suffixes of `LangChain`'s message classes.
const CLASS_ENDS: &[&str] = &["MessageChunk", "Message"];

/// The keys of objects that may hold a message's fields.
const FRAMES: &[&str] = &["kwargs", "data", "message"];

/// A message's role and its unwrapped fields.
#[derive(Debug)]
pub(super) struct Framed {
    pub(super) role: Role,
    pub(super) fields: Map<String, Value>,
}

/// Unwraps a message; an object that is not a message is returned unchanged.
pub(super) fn framed(fields: Map<String, Value>) -> Result<Framed, Map<String, Value>> {
    match role_of_fields(&fields) {
        Some(role) => Ok(Framed { role, fields: unframed(fields) }),
        None => Err(fields),
    }
}

/// Returns the fields of a possibly wrapped message, for any role.
pub(super) fn unframed(mut fields: Map<String, Value>) -> Map<String, Value> {
    let frame = if fields.has_field("role") { None } else { frame_of(&fields) };
    match frame.and_then(|frame| fields.field_mut(frame)).map(Value::take) {
        Some(Value::Object(inner)) => inner,
        _ => fields,
    }
}

/// Returns the role of a message, if the value is one.
pub(super) fn role_of(value: &Value) -> Option<Role> {
    role_of_fields(value.as_object()?)
}

fn role_of_fields(fields: &Map<String, Value>) -> Option<Role> {
    if let Some(role) = fields.field("role") {
        return role_named(role.as_str()?);
    }
    let inner = frame_of(fields).and_then(|frame| fields.field(frame)?.as_object());
    let of_type = |fields: &Map<String, Value>| role_named(fields.field("type")?.as_str()?);
    inner
        .and_then(|inner| role_named(inner.field("role")?.as_str()?).or_else(|| of_type(inner)))
        .or_else(|| of_type(fields).filter(|_| inner.is_some() || fields.has_field("content")))
        .or_else(|| role_of_class(fields.field("id")?.as_array()?.last()?.as_str()?))
}

fn frame_of(fields: &Map<String, Value>) -> Option<&'static str> {
    FRAMES.iter().copied().find(|frame| fields.field(frame).is_some_and(Value::is_object))
}

fn role_named(name: &str) -> Option<Role> {
    ROLES.iter().find(|(known, _)| *known == name).map(|(_, role)| *role)
}

fn role_of_class(class: &str) -> Option<Role> {
    let name = CLASS_ENDS.iter().find_map(|end| class.strip_suffix(end))?;
    role_named(&name.to_ascii_lowercase())
}

/// The kinds of items of OpenAI's Responses that are not messages.
#[derive(Debug, Clone, Copy)]
pub(super) enum Item {
    Call,
    Result,
    /// Reasoning and other internal items, which are skipped.
    Silent,
    /// A reference to an item that is stored elsewhere.
    Elsewhere,
}

const ITEMS: &[(&str, Item)] = &[
    ("function_call", Item::Call),
    ("custom_tool_call", Item::Call),
    ("function_call_output", Item::Result),
    ("custom_tool_call_output", Item::Result),
    ("reasoning", Item::Silent),
    ("item_reference", Item::Elsewhere),
];

/// Returns the kind of an item, if the value is one.
pub(super) fn item_of(value: &Value) -> Option<Item> {
    let fields = value.as_object().filter(|fields| !fields.has_field("role"))?;
    let name = fields.field("type")?.as_str()?;
    ITEMS.iter().find(|(known, _)| *known == name).map(|(_, item)| *item)
}
