//! What a model is asked: the first request that BFCL's handler of OpenAI-compatible models sends for an entry.

use serde_json::{Map, Value, json};

use crate::category::{Scoring, current_name};
use crate::dataset::{Category, Entry};
use callsieve_bfcl::python_json::write_string;
use callsieve_checker::Language;

/// The system prompt of BFCL, with a place for the docs. Its words are part of the benchmark.
const SYSTEM: &str = include_str!("../../../../configs/prompts/bfcl_system.txt");

/// How functions are given to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AskMode {
    /// In the system prompt; the model writes calls as text.
    #[default]
    Prompt,
    /// As tools; the model has function calling.
    Calls,
}

/// Returns the messages of a request, and its tools in [`AskMode::Calls`].
///
/// # Errors
/// If the entry has no message, or its docs have no form that BFCL converts.
pub(super) fn request(
    mode: AskMode,
    category: &Category,
    entry: &Entry,
) -> Result<Map<String, Value>, String> {
    let mut messages = first_turn(&entry.question)?;
    let functions = with_hints(category, &entry.functions)?;
    let mut body = Map::new();
    match mode {
        AskMode::Prompt => {
            let mut docs = String::new();
            write_indented(&mut docs, &Value::Array(functions), 0);
            let system = SYSTEM.replace("{functions}", &docs);
            // A system message of the entry comes after that of the benchmark.
            match messages.first_mut().filter(|first| first["role"] == "system") {
                Some(first) => {
                    let own = first["content"].as_str().unwrap_or_default();
                    first["content"] = json!(format!("{system}\n\n{own}"));
                }
                None => messages.insert(0, json!({"role": "system", "content": system})),
            }
            body.insert("messages".to_owned(), Value::Array(messages));
        }
        AskMode::Calls => {
            body.insert("messages".to_owned(), Value::Array(messages));
            let tools = tools(functions)?;
            if !tools.is_empty() {
                body.insert("tools".to_owned(), Value::Array(tools));
            }
        }
    }
    Ok(body)
}

/// Returns docs as tools of the OpenAI API.
///
/// # Errors
/// If a doc has no form that BFCL converts.
pub(super) fn tools(functions: Vec<Value>) -> Result<Vec<Value>, String> {
    functions.into_iter().map(tool).collect()
}

/// Returns the messages of the first turn; V1 has one text.
fn first_turn(question: &Value) -> Result<Vec<Value>, String> {
    let turn = match question {
        Value::String(text) => return Ok(vec![json!({"role": "user", "content": text})]),
        Value::Array(turns) if turns.first().is_some_and(Value::is_array) => turns[0].as_array(),
        Value::Array(turn) => Some(turn),
        _ => None,
    };
    turn.filter(|turn| !turn.is_empty()).cloned().ok_or_else(|| "the entry has no message".to_owned())
}

/// Returns the docs with the notes on their language. Java and JavaScript values are texts, whose type is described.
fn with_hints(category: &Category, functions: &Value) -> Result<Vec<Value>, String> {
    let language = match category.scoring {
        Scoring::Calls(_, language) => language,
        _ => Language::Python,
    };
    let mut functions = match functions {
        Value::Array(functions) => functions.clone(),
        function => vec![function.clone()],
    };
    let (hint, name, array) = match language {
        Language::Java => {
            (" Note that the provided function is in Java 8 SDK syntax.", "Java", &["ArrayList", "Array"][..])
        }
        Language::JavaScript => {
            (" Note that the provided function is in JavaScript syntax.", "JavaScript", &["array"][..])
        }
        Language::Python => (" Note that the provided function is in Python 3 syntax.", "", &[][..]),
    };
    for function in &mut functions {
        let description = function["description"].as_str().ok_or("a function has no description")?;
        function["description"] = json!(format!("{description}{hint}"));
        let properties = function["parameters"]["properties"].as_object_mut();
        let properties = properties.ok_or("a function has no parameters.properties")?;
        if language == Language::Python {
            continue;
        }
        for (parameter, schema) in properties {
            as_text(schema, name, array)
                .ok_or_else(|| format!("the parameter {parameter:?} has no type or description"))?;
        }
    }
    // The category's own name decides the language in the package, so that of V3 must lead to the same.
    debug_assert!(language == Language::Python || current_name(&category.name).contains("java"));
    Ok(functions)
}

/// Describes the type of a Java or JavaScript parameter, whose value is written as a text.
fn as_text(schema: &mut Value, language: &str, array: &[&str]) -> Option<()> {
    let declared = schema["type"].as_str()?.to_owned();
    let mut description = schema["description"].as_str()?.to_owned();
    description += &if declared == "any" {
        format!(" This parameter can be of any type of {language} object in string representation.")
    } else {
        format!(" This is {language} {declared} type parameter in string representation.")
    };
    let members = schema.as_object_mut()?;
    if array.contains(&declared.as_str()) {
        let of = members.get("items")?.get("type")?.as_str()?.to_owned();
        description +=
            &format!(" The list elements are of type {of}; they are not in string representation.");
        members.shift_remove("items");
    }
    if language == "JavaScript"
        && declared == "dict"
        && let Some(properties) = members.shift_remove("properties")
    {
        let mut text = Vec::new();
        callsieve_bfcl::python_json::write_value(&mut text, &properties).ok()?;
        description +=
            " The dictionary entries have the following schema; they are not in string representation. ";
        description += &String::from_utf8(text).ok()?;
    }
    members.insert("description".to_owned(), json!(description));
    members.insert("type".to_owned(), json!("string"));
    Some(())
}

/// Returns a doc as a tool of the OpenAI API (`convert_to_tool`).
fn tool(mut function: Value) -> Result<Value, String> {
    let name = function["name"].as_str().ok_or("a function has no name")?.replace('.', "_");
    function["name"] = json!(name);
    function["parameters"]["type"] = json!("object");
    let properties = function["parameters"]["properties"].as_object_mut();
    cast(properties.ok_or("a function has no parameters.properties")?)?;
    Ok(json!({"type": "function", "function": function}))
}

/// Returns the type of JSON Schema for a type of BFCL.
fn schema_type(declared: &str) -> Option<&'static str> {
    Some(match declared {
        "integer" | "byte" | "short" | "long" | "Bigint" => "integer",
        "number" | "float" | "double" => "number",
        "string" | "any" | "char" | "Any" | "String" => "string",
        "boolean" | "bool" => "boolean",
        "array" | "list" | "tuple" | "ArrayList" | "Array" | "Queue" | "Stack" => "array",
        "dict" | "object" | "HashMap" | "Hashtable" => "object",
        _ => return None,
    })
}

/// Gives the types of JSON Schema to the parameters, at the levels where the official code does (`_cast_to_openai_type`).
fn cast(properties: &mut Map<String, Value>) -> Result<(), String> {
    for (name, schema) in properties {
        let members = schema.as_object_mut().ok_or_else(|| format!("the parameter {name:?} is no object"))?;
        let declared = members.get("type").and_then(Value::as_str).map(str::to_owned);
        if declared.as_deref() == Some("float") {
            let description = members.get("description").and_then(Value::as_str);
            let description =
                description.ok_or_else(|| format!("the float parameter {name:?} has no description"))?;
            let description = format!("{description} This is a float type value.");
            members.insert("format".to_owned(), json!("float"));
            members.insert("description".to_owned(), json!(description));
        }
        let cast_to = declared.as_deref().and_then(schema_type).unwrap_or("string");
        members.insert("type".to_owned(), json!(cast_to));
        if !matches!(cast_to, "array" | "object") {
            continue;
        }
        if let Some(inner) = members.get_mut("properties") {
            cast(inner.as_object_mut().ok_or_else(|| format!("the properties of {name:?} are no object"))?)?;
        } else if let Some(items) = members.get_mut("items") {
            cast_items(items).ok_or_else(|| format!("the parameter {name:?} has items of no known type"))?;
        }
    }
    Ok(())
}

fn cast_items(items: &mut Value) -> Option<()> {
    let cast_to = schema_type(items["type"].as_str()?)?;
    items["type"] = json!(cast_to);
    if cast_to == "array" && items.get("items").is_some() {
        let inner = schema_type(items["items"]["type"].as_str()?)?;
        items["items"]["type"] = json!(inner);
    } else if cast_to == "object"
        && let Some(properties) = items.get_mut("properties")
    {
        cast(properties.as_object_mut()?).ok()?;
    }
    Some(())
}

/// Writes JSON as Python's `json.dumps(value, indent=4)` does.
fn write_indented(out: &mut String, value: &Value, level: usize) {
    let line = |out: &mut String, level: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("    ", level));
    };
    match value {
        Value::Array(elements) if !elements.is_empty() => {
            out.push('[');
            for (at, element) in elements.iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                line(out, level + 1);
                write_indented(out, element, level + 1);
            }
            line(out, level);
            out.push(']');
        }
        Value::Object(members) if !members.is_empty() => {
            out.push('{');
            for (at, (key, member)) in members.iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                line(out, level + 1);
                out.push_str(&quoted(key));
                out.push_str(": ");
                write_indented(out, member, level + 1);
            }
            line(out, level);
            out.push('}');
        }
        Value::String(text) => out.push_str(&quoted(text)),
        // Python reads numbers and writes them again.
        Value::Number(_) => out.push_str(&callsieve_checker::PyValue::from_json(value).repr()),
        other => out.push_str(&other.to_string()),
    }
}

fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    // Writing to memory does not fail.
    let _ = write_string(&mut out, text);
    String::from_utf8_lossy(&out).into_owned()
}
