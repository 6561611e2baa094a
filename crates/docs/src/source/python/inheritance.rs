//! Builds the schemas of classes that describe values.
//!
//! A class with fields is an object with properties, an enumeration a list of allowed values; a derived model inherits
//! its parent's fields. The growth of models by nested models is limited. For other classes see `classes`.

use serde_json::{Map, Value, json};

use super::docstring;
use super::heads::members;
use super::models::{Models, last_name, words_of};
use crate::parse::fault::{ParseFault, ParseFaultKind};
use callsieve_notation::allowance::Allowance;
use callsieve_notation::python::{PyClass, PyItem, PyModule, PyParameter};

/// Base classes of enumerations.
const ENUMS: [&str; 4] = ["Enum", "StrEnum", "IntEnum", "ReprEnum"];
/// The maximum number of values of a model with all nested models.
const MAX_VALUES: usize = 4_096;
/// The maximum nesting of models, counted in JSON's brackets.
const MAX_DEPTH: usize = 64;

impl<'a> Models<'a> {
    /// Returns the models of a source. An unreadable model is a fault of the functions that mention it.
    pub(super) fn of(module: &PyModule, allowance: &'a Allowance) -> Result<Self, ParseFault> {
        let mut models = Self::new(allowance);
        models.constants.clone_from(&module.constants);
        for item in &module.items {
            let PyItem::Class(class) = item else { continue };
            let added = if class.marks.iter().any(|mark| ENUMS.contains(&last_name(mark))) {
                models.add_enum(class)
            } else if let Some(parent) = class.marks.iter().find(|mark| models.is_model(last_name(mark))) {
                models.add(class, parent)
            } else {
                continue;
            };
            match added {
                Err(fault) if fault.kind == ParseFaultKind::SourceCode => {
                    models.unread.insert(class.name.clone(), fault.message);
                }
                added => added?,
            }
        }
        Ok(models)
    }

    fn add_enum(&mut self, class: &PyClass) -> Result<(), ParseFault> {
        let fields = class.fields.as_ref().map_err(|error| fault(class, &error.to_string()))?;
        let value = |field: &PyParameter| field.default.as_ref()?.literal().cloned();
        let fields: Vec<_> = fields.iter().filter(|field| !field.name.starts_with('_')).collect();
        let choices: Option<Vec<Value>> = fields.iter().map(|field| value(field)).collect();
        let choices = choices
            .filter(|choices| !choices.is_empty())
            .ok_or_else(|| fault(class, "a choice has no value"))?;
        for (field, choice) in fields.iter().zip(&choices) {
            self.constants.insert(format!("{}.{}", class.name, field.name), choice.clone());
        }
        let mut schema = Map::new();
        if choices.iter().all(Value::is_string) {
            schema.insert("type".to_owned(), json!("str"));
        } else if choices.iter().all(Value::is_i64) {
            schema.insert("type".to_owned(), json!("int"));
        }
        schema.insert("enum".to_owned(), json!(choices));
        self.schemas.insert(class.name.clone(), schema);
        Ok(())
    }

    fn add(&mut self, class: &PyClass, parent: &str) -> Result<(), ParseFault> {
        let fields = class.fields.as_ref().map_err(|error| fault(class, &error.to_string()))?;
        let fields: Vec<_> = fields.iter().filter(|field| is_field(field)).cloned().collect();
        let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        let mut doc = docstring::read(class.docstring.as_deref().unwrap_or_default(), &names);
        let mut schema = members(&fields, &mut doc, self)?;
        if class.marks.iter().any(|mark| mark.replace(' ', "") == "total=False") {
            let is_required = |field: &&PyParameter| kind_of(field).starts_with("Required[");
            schema["required"] = fields.iter().filter(is_required).map(|field| json!(field.name)).collect();
        }
        if let Some(inherited) = self.schema(last_name(parent))? {
            schema = inheriting(&inherited, schema);
        }
        let Value::Object(mut schema) = schema else { return Ok(()) };
        if !doc.description.is_empty() {
            schema.insert("description".to_owned(), json!(doc.description));
        }
        let (n_values, depth) = size(&schema);
        if n_values > MAX_VALUES || depth > MAX_DEPTH {
            let kind = if depth > MAX_DEPTH { ParseFaultKind::TooDeep } else { ParseFaultKind::TooLarge };
            return Err(ParseFault::new(kind, format!("class {} expands without limit", class.name)));
        }
        for field in &fields {
            self.mentioned.extend(words(field).map(str::to_owned));
        }
        self.schemas.insert(class.name.clone(), schema);
        self.with_fields.push(class.name.clone());
        Ok(())
    }
}

/// Returns the fault of an unreadable class.
pub(super) fn fault(class: &PyClass, message: &str) -> ParseFault {
    ParseFault::new(ParseFaultKind::SourceCode, format!("class {}: {message}", class.name))
}

/// Returns true if an assignment in a model is one of its fields.
fn is_field(field: &PyParameter) -> bool {
    let is_shared = field.annotation.as_deref().is_some_and(|kind| kind.contains("ClassVar"));
    field.annotation.is_some() && !is_shared && !field.name.starts_with('_')
}

/// Returns the schema of a model with the fields of its parent.
fn inheriting(parent: &Map<String, Value>, mut own: Value) -> Value {
    let mut properties = parent.get("properties").cloned().unwrap_or_default();
    let mut required = parent.get("required").cloned().unwrap_or_default();
    if let (Some(all), Value::Object(more)) = (properties.as_object_mut(), own["properties"].take()) {
        if let Some(names) = required.as_array_mut() {
            names.retain(|name| !name.as_str().is_some_and(|name| more.contains_key(name)));
            names.extend(own["required"].as_array().cloned().unwrap_or_default());
        }
        all.extend(more);
    }
    own["properties"] = properties;
    own["required"] = required;
    own
}

/// Returns the words in the type of a field.
fn words(field: &PyParameter) -> impl Iterator<Item = &str> {
    words_of(kind_of(field))
}

fn kind_of(field: &PyParameter) -> &str {
    field.annotation.as_deref().unwrap_or_default()
}

/// Returns the number of values of a schema, and their depth.
fn size(schema: &Map<String, Value>) -> (usize, usize) {
    schema.values().fold((0, 1), |(n_values, depth), value| {
        let (more, inner) = match value {
            Value::Object(inner) => size(inner),
            Value::Array(list) => (list.len(), 1),
            _ => (0, 0),
        };
        (n_values + 1 + more, depth.max(1 + inner))
    })
}

#[cfg(test)]
mod tests {
    use super::super::classes;
    use super::*;
    use crate::source::found::Source;
    use callsieve_notation::python::module;

    fn read(text: &str) -> Result<Vec<Value>, ParseFaultKind> {
        classes::functions(&module(text), text, &mut Vec::new(), &Allowance::of(text))
            .and_then(Source::sure)
            .map_err(|fault| fault.kind)
    }

    fn parameters(properties: &Value, required: &Value) -> Value {
        json!({"type": "dict", "properties": properties, "required": required})
    }

    #[test]
    fn models_are_the_types_of_parameters() {
        let read = read(
            "class Tone(str, Enum):\n    LOW = 'low'\n    HIGH = 'high'\n\nclass Bell(BaseModel):\n    '''A bell.\n\n    Attributes:\n        size: In cm.\n    '''\n    size: int = Field(..., ge=1)\n    tone: Tone = Field('low', description='How it sounds.')\n    model_config = {'extra': 'forbid'}\n\nclass Big(Bell):\n    tower: str\n\ndef ring(bells: List[Bell], big: Optional[Big] = None): pass",
        );
        let bell = json!({"size": {"type": "int", "description": "In cm.", "minimum": 1},
            "tone": {"type": "str", "enum": ["low", "high"], "description": "How it sounds.", "default": "low"}});
        let mut big = parameters(&bell, &json!(["size", "tower"]));
        big["properties"]["tower"] = json!({"type": "str"});
        big["default"] = json!(null);
        let mut items = parameters(&bell, &json!(["size"]));
        items["description"] = json!("A bell.");
        assert_eq!(
            read.unwrap()[0]["parameters"]["properties"],
            json!({"bells": {"type": "array", "items": items}, "big": big})
        );
    }

    #[test]
    fn models_without_functions_are_functions_unless_nested_in_others() {
        let read = read(
            "@dataclass\nclass Bell:\n    size: int\nclass Ring(pydantic.BaseModel):\n    '''Rings.'''\n    bell: Bell\n",
        );
        let bell = parameters(&json!({"size": {"type": "int"}}), &json!(["size"]));
        let parameters = parameters(&json!({"bell": bell}), &json!(["bell"]));
        assert_eq!(
            read,
            Ok(vec![json!({"name": "Ring", "description": "Rings.", "parameters": parameters})])
        );
    }

    #[test]
    fn nested_models_are_limited() {
        let mut text = "class A0(BaseModel):\n    x: int\n".to_owned();
        for n in 1..40 {
            let one = format!("A{}", n - 1);
            text += &format!("class A{n}(BaseModel):\n    x: {one}\n    y: {one}\n");
        }
        assert_eq!(read(&text), Err(ParseFaultKind::TooLarge));
    }
}
