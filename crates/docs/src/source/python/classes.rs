//! Decides which definitions of a Python source are functions.
//!
//! | definition | meaning |
//! |---|---|
//! | a function | a function; in a program, if its name is public and no other is marked as a tool |
//! | a class derived from `BaseModel` and the like, or a dataclass | the schema of a parameter; a function where nothing else is one |
//! | a class derived from `Enum` | the choices of a parameter |
//! | a class with a text `description` | one tool; its parameters are in a field, or are those of the method that runs it |
//! | any other class | its public methods |
//!
//! All pasted definitions are intended, so any other is a fault, as is an unreadable field where fields count. A
//! program contains more than its functions: the rest is omitted with a step. Schemas are built by `models`.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde_json::{Value, json};

use super::heads::function;
use super::inheritance::fault;
use super::models::{Models, last_name};
use crate::parse::fault::{ParseFault, ParseFaultKind};
use crate::parse::step::{ParseStep, note};
use crate::source::found::{MAX_FAULTS, Source, named, place};
use callsieve_notation::allowance::Allowance;
use callsieve_notation::python::{self, PyClass, PyDef, PyItem, PyModule, PyParameter};

/// Fields of a tool with its parameters.
const PARAMETERS: [&str; 3] = ["input_parameters", "parameters", "inputs"];
/// Methods that run a tool, the most specific first.
const RUNNERS: [&str; 7] = ["_run", "run", "forward", "call", "execute", "invoke", "__call__"];
/// Decorators that mark a function as a tool, without the text before the last dot.
const TOOL_MARKS: [&str; 4] = ["tool", "function_tool", "kernel_function", "tool_plain"];

/// Returns the functions of a source. A model that nothing mentions, pasted together with functions, may be a function
/// or a result, so it is a fault.
///
/// # Errors
/// If the models are too large, or the source has no function.
pub(super) fn functions(
    module: &PyModule,
    text: &str,
    steps: &mut Vec<ParseStep>,
    allowance: &Allowance,
) -> Result<Source, ParseFault> {
    let models = Models::of(module, allowance)?;
    let mut reader = ClassReader {
        module,
        text,
        steps,
        models: &models,
        defined: defined(module),
        found: Vec::new(),
        places: HashMap::new(),
        faults: Vec::new(),
    };
    reader.read();
    let ClassReader { found, mut faults, .. } = reader;
    let mut found: Vec<SourceFunction<'_>> = found.into_iter().flatten().collect();
    qualify(&mut found);
    let functions: Vec<Value> = found.into_iter().map(|found| found.function).collect();
    if functions.is_empty() && faults.is_empty() {
        return models.functions().map(Source::from);
    }
    match models.unmentioned(text) {
        Some(_) if module.is_program => note(steps, ParseStep::ClassLeftOut),
        Some(name) => {
            let message = format!("class {name}: a model that no function mentions, next to functions");
            faults.push(ParseFault::new(ParseFaultKind::SourceCode, message));
        }
        None => {}
    }
    Ok(Source { functions, faults })
}

/// A function, and the class of which it is a method.
struct SourceFunction<'m> {
    name: &'m str,
    class: Option<&'m str>,
    function: Value,
}

struct ClassReader<'r, 'm, 'a> {
    module: &'m PyModule,
    text: &'r str,
    steps: &'r mut Vec<ParseStep>,
    models: &'r Models<'a>,
    /// The names of all functions that are not overloads.
    defined: HashSet<&'m str>,
    /// The functions so far; `None` for one that a later one replaces.
    found: Vec<Option<SourceFunction<'m>>>,
    /// The place of the first function outside of classes, by name.
    places: HashMap<&'m str, usize>,
    faults: Vec<ParseFault>,
}

/// Returns the names of all functions of a module that are not overloads.
fn defined(module: &PyModule) -> HashSet<&str> {
    let defs = module.items.iter().filter_map(|item| match item {
        PyItem::Def(def) => Some(def),
        PyItem::Class(_) => None,
    });
    defs.filter(|def| !is_overload(def)).map(|def| def.name.as_str()).collect()
}

impl<'m> ClassReader<'_, 'm, '_> {
    fn read(&mut self) {
        let is_marked = |item: &PyItem| matches!(item, PyItem::Def(def) if is_tool(def));
        let has_tools = self.module.is_program && self.module.items.iter().any(is_marked);
        for item in &self.module.items {
            match item {
                PyItem::Def(def) if self.is_private(&def.name) => note(self.steps, ParseStep::PrivateLeftOut),
                PyItem::Def(def) if has_tools && !is_tool(def) => {
                    note(self.steps, ParseStep::UndecoratedLeftOut);
                }
                PyItem::Def(def) => self.def(def),
                PyItem::Class(class) if self.models.knows(&class.name) => {}
                PyItem::Class(class) if self.is_private(&class.name) => {
                    note(self.steps, ParseStep::PrivateLeftOut);
                }
                PyItem::Class(class) => self.class(class),
            }
        }
    }

    /// Returns true if a program does not export a name.
    fn is_private(&self, name: &str) -> bool {
        self.module.is_program && name.starts_with('_')
    }

    fn def(&mut self, def: &'m PyDef) {
        if is_overload(def) && self.defined.contains(def.name.as_str()) {
            return;
        }
        if self.module.is_program
            && let Some(&earlier) = self.places.get(def.name.as_str())
        {
            // The last definition counts, as in Python; of branches the first, which is the usual case.
            if def.is_conditional {
                return;
            }
            self.found[earlier] = None;
            self.places.remove(def.name.as_str());
        }
        let mut whole = def.clone();
        if self.module.is_program {
            // At the outermost level of a program nothing is a method.
            whole.parameters.splice(..0, def.receiver.clone());
        }
        let mut function = function(&whole, self.models);
        if let Ok(function) = &mut function {
            def.decorators.iter().for_each(|decorator| rename(function, decorator));
        }
        self.push(None, def, function);
    }

    fn push(&mut self, class: Option<&'m str>, def: &'m PyDef, function: Result<Value, ParseFault>) {
        match function {
            Ok(function) => self.add(SourceFunction { name: &def.name, class, function }),
            Err(fault) => self.unread(&def.name, def.offset, &fault),
        }
    }

    fn add(&mut self, function: SourceFunction<'m>) {
        if function.class.is_none() {
            self.places.entry(function.name).or_insert(self.found.len());
        }
        self.found.push(Some(function));
    }

    /// Records a fault of one definition, which is a record of the source; only the first ones are kept.
    fn unread(&mut self, name: &str, offset: usize, fault: &ParseFault) {
        if self.faults.len() < MAX_FAULTS {
            let is_record = fault.kind == ParseFaultKind::SourceCode;
            let kind = if is_record { ParseFaultKind::UnreadableRecord } else { fault.kind };
            let message = format!("{}: {name}: {}", place(self.text, offset), fault.message);
            self.faults.push(ParseFault { kind, at: Some(offset), message });
        }
    }

    fn class(&mut self, class: &'m PyClass) {
        if let Some(message) = self.models.unread(&class.name) {
            if self.module.is_program {
                note(self.steps, ParseStep::ClassLeftOut);
            } else {
                let fault = ParseFault::new(ParseFaultKind::SourceCode, message);
                self.unread(&class.name, class.offset, &fault);
            }
            return;
        }
        if let Ok(fields) = &class.fields
            && let Some(description) = text_of(fields, "description")
        {
            match tool(class, fields, description, self.models) {
                Ok(function) => self.add(SourceFunction { name: &class.name, class: None, function }),
                Err(fault) => self.unread(&class.name, class.offset, &fault),
            }
            return;
        }
        let public: BTreeMap<&str, &PyDef> = class
            .methods
            .iter()
            .filter(|method| !method.name.starts_with('_'))
            .map(|method| (method.name.as_str(), method))
            .collect();
        if public.is_empty() {
            if self.module.is_program {
                note(self.steps, ParseStep::ClassLeftOut);
            } else {
                let fault = fault(class, "neither a model nor a class with public methods");
                self.unread(&class.name, class.offset, &fault);
            }
            return;
        }
        let is_last = |method: &&PyDef| public.get(method.name.as_str()).is_some_and(|last| *last == *method);
        for method in class.methods.iter().filter(is_last) {
            self.push(Some(&class.name), method, function(method, self.models));
        }
    }
}

/// Prefixes methods with their class if their names are not unique.
fn qualify(found: &mut [SourceFunction<'_>]) {
    let (mut once, mut again) = (BTreeSet::new(), BTreeSet::new());
    for one in found.iter() {
        if !once.insert(one.name) {
            again.insert(one.name);
        }
    }
    for one in found {
        if let Some(class) = one.class.filter(|_| again.contains(one.name)) {
            one.function["name"] = json!(format!("{class}.{}", one.name));
        }
    }
}

/// Returns true if a decorator marks a function as a tool: `@tool`, `@mcp.tool()`.
fn is_tool(def: &PyDef) -> bool {
    def.decorators.iter().any(|decorator| TOOL_MARKS.contains(&last_name(decorator)))
}

/// Sets the name and the description that a decorator states: `@tool("ring")`, `@mcp.tool(name="ring")`.
fn rename(function: &mut Value, decorator: &str) {
    if !TOOL_MARKS.contains(&last_name(decorator)) {
        return;
    }
    let call = decorator.trim_start_matches('@');
    let positional = ["(\"", "('"].iter().find(|start| call.contains(**start));
    let call =
        positional.map_or(call.to_owned(), |start| call.replacen(start, &start.replace('(', "(name="), 1));
    let Ok(calls) = python::calls(&call) else { return };
    for (key, arguments) in
        [("name", ["name", "name_override"]), ("description", ["description", "description_override"])]
    {
        let mut stated =
            calls.iter().flat_map(|call| arguments.iter().filter_map(|key| call.arguments.get(*key)));
        if let Some(text) = stated.rfind(|text| text.is_string()) {
            function[key] = text.clone();
        }
    }
}

fn is_overload(def: &PyDef) -> bool {
    def.decorators.iter().any(|decorator| last_name(decorator) == "overload")
}

/// Returns a class that is one tool as a function.
fn tool(
    class: &PyClass,
    fields: &[PyParameter],
    description: &str,
    models: &Models<'_>,
) -> Result<Value, ParseFault> {
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
    fields.iter().find(|field| field.name == name)?.default.as_ref()?.literal()
}

fn text_of<'f>(fields: &'f [PyParameter], name: &str) -> Option<&'f str> {
    value_of(fields, name)?.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;
    use callsieve_notation::python::module;

    fn read(text: &str) -> Result<Vec<Value>, ParseFaultKind> {
        functions(&module(text), text, &mut Vec::new(), &Allowance::of(text))
            .and_then(Source::sure)
            .map_err(|fault| fault.kind)
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
    fn the_meaning_of_a_class_is_never_guessed() {
        for (text, fault) in [
            ("class A:\n    x = 1", ParseFaultKind::UnreadableRecord),
            ("class A:\n    def _f(self): pass", ParseFaultKind::UnreadableRecord),
            ("class A(BaseModel):\n    x: int = Field(alias='y')", ParseFaultKind::UnreadableRecord),
            ("class A(Enum):\n    X = auto()\ndef f(a: A): pass", ParseFaultKind::UnreadableRecord),
            ("class A(Enum):\n    X = 1", ParseFaultKind::SourceCode),
            ("class A(Tool):\n    description = 'x'", ParseFaultKind::UnreadableRecord),
            ("class A(BaseModel):\n    x: int\ndef f(y: int): pass", ParseFaultKind::SourceCode),
        ] {
            assert_eq!(read(text), Err(fault), "{text}");
        }
    }

    /// Returns the names of the functions, and the steps.
    fn names_and_steps(text: &str) -> (Vec<String>, Vec<ParseStep>) {
        let mut steps = Vec::new();
        let source = functions(&module(text), text, &mut steps, &Allowance::of(text)).unwrap();
        assert_eq!(source.faults, [], "{text}");
        (source.functions.iter().map(|f| f["name"].as_str().unwrap().to_owned()).collect(), steps)
    }

    #[test]
    fn only_public_functions_of_a_program_are_read() {
        let text = "'''Bells.'''\nimport os\nN = 1\n\nclass Fault(Exception): pass\nclass _Inner:\n    def no(self): pass\nclass Bell(NamedTuple):\n    size: int\ndef _hush(): pass\ndef ring(cls, times=N): pass\nif N:\n    def toll(n): pass\nelse:\n    def toll(n, m): pass\n";
        let source = functions(&module(text), text, &mut Vec::new(), &Allowance::of(text)).unwrap();
        let required: Vec<_> = source.functions.iter().map(|f| f["parameters"]["required"].clone()).collect();
        assert_eq!(required, [json!(["cls"]), json!(["n"])]);
        let (names, steps) = names_and_steps(text);
        assert_eq!(names, ["ring", "toll"]);
        assert_eq!(steps, [ParseStep::ClassLeftOut, ParseStep::PrivateLeftOut]);
        let pasted = "def _hush(): pass\ndef ring(cls, times=1): pass\ndef ring(): pass";
        assert_eq!(names_and_steps(pasted), (vec!["_hush".into(), "ring".into(), "ring".into()], vec![]));
    }

    #[test]
    fn the_definition_that_python_would_use_is_read() {
        let text = "'''Bells.'''\n@overload\ndef ring(a: int): ...\n@overload\ndef ring(a: str): ...\ndef ring(a, b=1): pass\ndef toll(a): pass\ndef toll(b): pass\nclass C:\n    def m(self, a): pass\n    def m(self, b): pass\n";
        let source = functions(&module(text), text, &mut Vec::new(), &Allowance::of(text)).unwrap();
        let read = source.functions.iter().map(|f| (f["name"].clone(), f["parameters"]["required"].clone()));
        let expected = [("ring", json!(["a"])), ("toll", json!(["b"])), ("m", json!(["b"]))];
        assert_eq!(read.collect::<Vec<_>>(), expected.map(|(name, required)| (json!(name), required)));
    }

    #[test]
    fn functions_marked_as_tools_are_read_with_their_stated_names() {
        let text = "import mcp\nserver = mcp.Server()\n@server.tool(name='ring_bell', description='Rings it.')\ndef ring(n: int): pass\n@tool('toll')\ndef f(): pass\ndef helper(): pass\n";
        let (names, steps) = names_and_steps(text);
        assert_eq!(
            (names, steps),
            (vec!["ring_bell".into(), "toll".into()], vec![ParseStep::UndecoratedLeftOut])
        );
    }

    #[test]
    fn methods_with_the_same_name_have_their_class_as_prefix() {
        let text =
            "class A:\n    def run(self): pass\n    def stop(self): pass\nclass B:\n    def run(self): pass";
        assert_eq!(names_and_steps(text).0, ["A.run", "stop", "B.run"]);
    }
}
