//! What the classes of a Python source stand for.
//!
//! | class | is |
//! |---|---|
//! | derived from `BaseModel` and the like, or a dataclass | the schema of a parameter; a function where nothing else is one |
//! | derived from `Enum` | the choices of a parameter |
//! | with a text `description` | one tool; its parameters stand in a field, or are those of the method that runs it |
//! | any other | its public methods |
//!
//! A class that is none of them is a fault, and so is a field that cannot be read where
//! the fields count. Schemas of the first two are made by `models`.

use serde_json::{Value, json};

use super::models::{Models, fault};
use super::python::{function, named};
use crate::allowance::Allowance;
use crate::docs::parse::fault::{Fault, ParseFault};
use crate::python::{PyClass, PyItem, PyParameter};

/// Fields of a tool that hold its parameters.
const PARAMETERS: [&str; 3] = ["input_parameters", "parameters", "inputs"];
/// Methods that run a tool, the most telling first.
const RUNNERS: [&str; 7] = ["_run", "run", "forward", "call", "execute", "invoke", "__call__"];
/// The functions of a source. A model that nothing mentions, beside functions, may be one itself or a result, so it is
/// a fault.
pub(super) fn functions(items: &[PyItem], text: &str, allowance: &Allowance) -> Result<Vec<Value>, Fault> {
    let models = Models::of(items, allowance)?;
    let mut functions = Vec::new();
    for item in items {
        match item {
            PyItem::Def(def) => functions.push(function(def, &models)?),
            PyItem::Class(class) if models.knows(&class.name) => {}
            PyItem::Class(class) => functions.extend(tool_or_methods(class, &models)?),
        }
    }
    if functions.is_empty() {
        return models.functions();
    }
    match models.unmentioned(text) {
        None => Ok(functions),
        Some(name) => {
            let message = format!("class {name}: a model that no function mentions, beside functions");
            Err(Fault::new(ParseFault::SourceCode, message))
        }
    }
}

fn tool_or_methods(class: &PyClass, models: &Models<'_>) -> Result<Vec<Value>, Fault> {
    if let Ok(fields) = &class.fields
        && let Some(description) = text_of(fields, "description")
    {
        return Ok(vec![tool(class, fields, description, models)?]);
    }
    let public: Vec<_> = class.methods.iter().filter(|method| !method.name.starts_with('_')).collect();
    if public.is_empty() {
        return Err(fault(class, "neither a model nor a class with public methods"));
    }
    public.into_iter().map(|method| function(method, models)).collect()
}

/// A class that is one tool.
fn tool(
    class: &PyClass,
    fields: &[PyParameter],
    description: &str,
    models: &Models<'_>,
) -> Result<Value, Fault> {
    let name = text_of(fields, "name").unwrap_or(&class.name);
    let map = PARAMETERS.iter().find_map(|key| value_of(fields, key)).filter(|map| map.is_object());
    if let Some(map) = map {
        return Ok(named(name, description, map.clone()));
    }
    let runner = RUNNERS.iter().find_map(|name| class.methods.iter().find(|method| method.name == *name));
    let runner =
        runner.ok_or_else(|| fault(class, "a tool without parameters and without a method that runs it"))?;
    let mut function = function(runner, models)?;
    function["name"] = json!(name);
    function["description"] = json!(description);
    Ok(function)
}

fn value_of<'f>(fields: &'f [PyParameter], name: &str) -> Option<&'f Value> {
    fields.iter().find(|field| field.name == name)?.default.as_ref()
}

fn text_of<'f>(fields: &'f [PyParameter], name: &str) -> Option<&'f str> {
    value_of(fields, name)?.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::python::definitions;

    fn read(text: &str) -> Result<Vec<Value>, ParseFault> {
        functions(&definitions(text).unwrap(), text, &Allowance::of(text)).map_err(|fault| fault.kind)
    }

    fn parameters(properties: &Value, required: &Value) -> Value {
        json!({"type": "dict", "properties": properties, "required": required})
    }

    #[test]
    fn the_public_methods_of_a_class_are_functions() {
        let read = read(
            "class Bells:\n    \"\"\"All bells.\"\"\"\n    count = len(ALL)\n\n    def __init__(self, n): ...\n    @property\n    def size(self): return 1\n    @staticmethod\n    async def ring(times: int = 1):\n        '''Rings.'''\n        if times:\n            pass\n    def hush(self): pass\n    class Inner:\n        def no(self): pass\n",
        );
        let times = json!({"times": {"type": "int", "default": 1}});
        assert_eq!(
            read.unwrap(),
            [
                json!({"name": "ring", "description": "Rings.", "parameters": parameters(&times, &json!([]))}),
                json!({"name": "hush", "description": "", "parameters": parameters(&json!({}), &json!([]))}),
            ]
        );
    }

    #[test]
    fn a_class_with_a_description_is_one_tool() {
        let map = json!({"bell": {"type": "str", "description": "Which."}});
        for (text, name, expected) in [
            (
                "class Ring(API):\n    description = 'Rings.'\n    input_parameters = {'bell': {'type': 'str', 'description': 'Which.'}}\n    def call(self, bell): pass",
                "Ring",
                map,
            ),
            (
                "class Ring(BaseTool):\n    name: str = 'ring'\n    description: str = 'Rings.'\n    def _run(self, bell: str) -> str:\n        '''Not this.'''\n        return bell",
                "ring",
                parameters(&json!({"bell": {"type": "str"}}), &json!(["bell"])),
            ),
        ] {
            let expected = json!({"name": name, "description": "Rings.", "parameters": expected});
            assert_eq!(read(text), Ok(vec![expected]), "{text}");
        }
    }

    #[test]
    fn what_a_class_means_is_never_guessed() {
        for (text, fault) in [
            ("class A:\n    x = 1", ParseFault::SourceCode),
            ("class A:\n    def _f(self): pass", ParseFault::SourceCode),
            ("class A(BaseModel):\n    x: int = default()", ParseFault::SourceCode),
            ("class A(BaseModel):\n    x: int = 3 + 4", ParseFault::SourceCode),
            ("class A(Enum):\n    X = auto()\ndef f(a: A): pass", ParseFault::SourceCode),
            ("class A(Enum):\n    X = 1", ParseFault::SourceCode),
            ("class A(Tool):\n    description = 'x'", ParseFault::SourceCode),
            ("class A(BaseModel):\n    x: int\ndef f(y: int): pass", ParseFault::SourceCode),
        ] {
            assert_eq!(read(text), Err(fault), "{text}");
        }
    }
}
