//! The values that an argument can take: from bindings, the doc of the function, the initial state, earlier results.
//!
//! A value of an earlier result is offered by its name and type, never because it equals a value that would fit.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use callsieve_environment::environment::{Effect, Environment, Function, ValueSource};
use serde_json::Value;

use crate::bindings::{Bindings, Said};
use crate::place::{Leaf, is_one_of, leaves, names, position};
use crate::program::{ResultPath, TakenFrom};
use crate::words::{nouns, things};

/// A parameter of a function, and where its values can come from.
#[derive(Debug, Clone)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its JSON Schema.
    pub schema: Value,
    /// The function requires it.
    pub is_required: bool,
    /// Places and values that bindings or the environment name. If there are any, no name is compared.
    sources: Vec<ValueSource>,
    /// A person named its sources in the bindings.
    pub is_bound: bool,
    /// The bindings have words for each value, and none for a value that a call finds.
    is_said_by_value: bool,
    /// The nouns of its name.
    nouns: Vec<String>,
}

/// A function, with its parameters in the order of its doc.
#[derive(Debug, Clone)]
pub struct Callable {
    /// Its name.
    pub name: String,
    /// Its parameters. Those that bindings skip are left out.
    pub parameters: Vec<Parameter>,
    /// It is known to change nothing.
    pub is_read_only: bool,
    /// The nouns of its name.
    things: Vec<String>,
}

/// All functions that programs call, and the literal values of every initial state.
#[derive(Debug)]
pub struct Pools {
    /// The functions, in the order of the environment.
    pub callables: Vec<Callable>,
    /// Texts that the doc of a parameter lists as its values.
    pub listed: BTreeSet<String>,
    /// The places of each function in `callables`.
    by_name: HashMap<String, usize>,
    /// The literals, by initial state, function and parameter.
    literals: Vec<BTreeMap<(usize, usize), Vec<Candidate>>>,
}

/// A value that a user could give.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The value.
    pub value: Value,
    /// Where it was taken from.
    pub taken_from: TakenFrom,
}

/// Values of a parameter that are kept for each state.
const MOST_VALUES: usize = 200;

/// Names of fields that mean nothing without the thing that they are of.
const VAGUE: [&str; 16] = [
    "id",
    "name",
    "type",
    "status",
    "count",
    "result",
    "value",
    "message",
    "description",
    "date",
    "total",
    "text",
    "title",
    "number",
    "key",
    "note",
];

impl Pools {
    /// Collects the values of all parameters.
    pub fn new(environment: &dyn Environment, bindings: &Bindings) -> Self {
        let mut known: HashMap<(String, String), Vec<ValueSource>> = HashMap::new();
        for source in environment.value_sources() {
            known.entry((source.function, source.parameter)).or_default().push(source.source);
        }
        let is_skipped = |name: &str| bindings.function(name).is_some_and(|function| function.skip);
        let callables: Vec<Callable> = environment
            .functions()
            .iter()
            .filter(|function| !is_skipped(function.name()))
            .map(|function| Callable::new(function, bindings, &mut known))
            .collect();
        let by_name =
            callables.iter().enumerate().map(|(at, callable)| (callable.name.clone(), at)).collect();
        let of_state = |state: &Value| {
            let state_leaves = leaves(state);
            let mut literals = BTreeMap::new();
            for (at, callable) in callables.iter().enumerate() {
                for (nth, parameter) in callable.parameters.iter().enumerate() {
                    literals.insert((at, nth), parameter.literals(&callable.things, state, &state_leaves));
                }
            }
            literals
        };
        let literals = environment.initial_states().iter().map(|state| of_state(&state.value)).collect();
        let parameters = callables.iter().flat_map(|callable| &callable.parameters);
        let listed =
            parameters.flat_map(|parameter| parameter.schema["enum"].as_array().into_iter().flatten());
        let listed = listed.filter_map(Value::as_str).map(str::to_owned).collect();
        Self { callables, listed, by_name, literals }
    }

    /// Returns the literals of a parameter in an initial state.
    pub fn literals(&self, state: usize, callable: usize, parameter: usize) -> &[Candidate] {
        self.literals
            .get(state)
            .and_then(|of_state| of_state.get(&(callable, parameter)))
            .map_or(&[], Vec::as_slice)
    }

    /// Returns the number of a function.
    pub fn of_name(&self, function: &str) -> Option<usize> {
        self.by_name.get(function).copied()
    }

    /// Returns the numbers of a function and of its parameter.
    pub fn place_of(&self, function: &str, parameter: &str) -> Option<(usize, usize)> {
        let callable = self.of_name(function)?;
        let nth = self.callables[callable].parameters.iter().position(|own| own.name == parameter)?;
        Some((callable, nth))
    }

    /// Returns `true` if every required parameter of a function has a literal in an initial state.
    pub fn can_be_called(&self, state: usize, callable: usize) -> bool {
        let mut parameters = self.callables[callable].parameters.iter().enumerate();
        parameters
            .all(|(nth, parameter)| !parameter.is_required || !self.literals(state, callable, nth).is_empty())
    }

    /// Returns the required parameters of a function that have no literal in any state and no other source.
    pub fn without_values(&self, callable: usize) -> Vec<String> {
        let parameters = self.callables[callable].parameters.iter().enumerate();
        let has_none =
            |nth: usize| (0..self.literals.len()).all(|state| self.literals(state, callable, nth).is_empty());
        let lacking = parameters.filter(|(nth, parameter)| parameter.is_required && has_none(*nth));
        lacking.map(|(_, parameter)| parameter.name.clone()).collect()
    }

    /// Returns other values for an argument, which differ from it; those of its own list first.
    pub fn alternatives(&self, state: usize, function: &str, parameter: &str, value: &Value) -> Vec<Value> {
        let Some((at, nth)) = self.place_of(function, parameter) else { return Vec::new() };
        let others = self.literals(state, at, nth).iter().map(|candidate| &candidate.value);
        let mut others: Vec<Value> = others.filter(|other| *other != value).cloned().collect();
        if let (true, Some(number)) = (others.is_empty(), value.as_i64()) {
            others.push(Value::from(number + 1));
        }
        others
    }

    /// Returns the places of a result that parameters can take their values from.
    pub fn links(&self, step: usize, from: &str, result: &Value) -> Links {
        let producer = self.of_name(from).map_or(&[][..], |at| &self.callables[at].things);
        let mut links = Links::default();
        for leaf in leaves(result) {
            if position(&leaf.path, result).is_none() {
                continue;
            }
            let field = Field::of(&leaf, producer);
            for (at, consumer) in self.callables.iter().enumerate() {
                for (nth, parameter) in consumer.parameters.iter().enumerate() {
                    if parameter.accepts(leaf.value) && parameter.takes(&leaf, &field, from, &consumer.things)
                    {
                        let place = ResultPath { step, path: leaf.path.clone() };
                        links.0.entry((at, nth)).or_default().push(place);
                    }
                }
            }
        }
        links
    }
}

/// The places of a result that parameters can take their values from, by function and parameter.
#[derive(Debug, Default)]
pub struct Links(BTreeMap<(usize, usize), Vec<ResultPath>>);

impl Links {
    /// Returns the places for a parameter.
    pub fn of(&self, callable: usize, parameter: usize) -> &[ResultPath] {
        self.0.get(&(callable, parameter)).map_or(&[], Vec::as_slice)
    }

    /// Returns the functions and parameters that can take the value of a place.
    pub fn takers(&self, place: &ResultPath) -> impl Iterator<Item = (usize, usize)> {
        self.0.iter().filter(|(_, places)| places.contains(place)).map(|(taker, _)| *taker)
    }

    /// Returns `true` if a parameter of the function can take a value.
    pub fn has(&self, callable: usize) -> bool {
        self.0.range((callable, 0)..(callable + 1, 0)).next().is_some()
    }
}

/// The words of a field of a state or of a result.
struct Field {
    /// The nouns of its own name; none if it has no name.
    own: Vec<String>,
    /// The nouns of what it is in, and of the function that returned it.
    around: Vec<String>,
}

impl Field {
    fn of(leaf: &Leaf<'_>, producer: &[String]) -> Self {
        let mut path: Vec<&str> = names(&leaf.path).collect();
        let own = path.pop().map(nouns).unwrap_or_default();
        let mut around: Vec<String> = path.into_iter().flat_map(nouns).collect();
        around.extend(producer.iter().cloned());
        Self { own, around }
    }
}

impl Callable {
    fn new(
        function: &Function,
        bindings: &Bindings,
        known: &mut HashMap<(String, String), Vec<ValueSource>>,
    ) -> Self {
        let name = function.name().to_owned();
        let schema = function.doc.get("parameters").cloned().unwrap_or_default();
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let mut parameters = Vec::new();
        for (parameter, of_parameter) in schema["properties"].as_object().into_iter().flatten() {
            let bound = bindings.parameter(&name, parameter);
            let is_required = required.contains(&parameter.as_str());
            if bound.as_ref().is_some_and(|bound| bound.skip) && !is_required {
                continue;
            }
            let bound = bound.unwrap_or_default();
            let is_said_by_value = bound.linked.is_none() && matches!(bound.said, Some(Said::Each(_)));
            let has_words = bound.said.is_some() || !bound.values.is_empty() || !bound.from.is_empty();
            // "With on duty yes" is no English.
            if is_of_type(of_parameter, "boolean") && !is_required && !has_words {
                continue;
            }
            let mut sources: Vec<ValueSource> = bound.from.into_iter().map(|source| source.0).collect();
            if !bound.values.is_empty() {
                sources.push(ValueSource::Values(bound.values));
            }
            let is_bound = !sources.is_empty();
            if !is_bound {
                sources = known.remove(&(name.clone(), parameter.clone())).unwrap_or_default();
            }
            parameters.push(Parameter {
                nouns: nouns(parameter),
                name: parameter.clone(),
                schema: of_parameter.clone(),
                is_required,
                sources,
                is_bound,
                is_said_by_value,
            });
        }
        let is_read_only = function.effect == Some(Effect::ReadOnly);
        Self { things: things(&name), name, parameters, is_read_only }
    }
}

impl Parameter {
    /// Returns `true` if the schema allows a value of this type.
    pub fn accepts(&self, value: &Value) -> bool {
        accepts(&self.schema, value)
    }

    /// The values that a user could give in an initial state, each once: those of its sources, or of its doc and of fields of
    /// the state with its name.
    fn literals(&self, consumer: &[String], state: &Value, state_leaves: &[Leaf<'_>]) -> Vec<Candidate> {
        let of_sources = self.of_sources(state);
        if !of_sources.is_empty() {
            return of_sources;
        }
        let mut found = Literals { parameter: self, found: Vec::new() };
        let listed = |key: &str| self.schema[key].as_array().into_iter().flatten();
        listed("enum").for_each(|value| found.add(value, TakenFrom::Enum));
        if is_of_type(&self.schema, "boolean") {
            found.add(&true.into(), TakenFrom::Enum);
            found.add(&false.into(), TakenFrom::Enum);
        }
        listed("examples")
            .chain(self.schema.get("example"))
            .for_each(|value| found.add(value, TakenFrom::Example));
        if self.sources.is_empty() {
            for leaf in state_leaves.iter().filter(|leaf| self.is_named_as(&Field::of(leaf, &[]), consumer)) {
                found.add(leaf.value, TakenFrom::State(leaf.path.to_string()));
            }
        }
        found.found
    }

    /// The values at the places, and of the lists, that bindings or the environment name.
    fn of_sources(&self, state: &Value) -> Vec<Candidate> {
        let mut found = Literals { parameter: self, found: Vec::new() };
        for source in &self.sources {
            match source {
                ValueSource::State { path } => {
                    for (place, value) in path.find_with_places(state) {
                        found.add(&value, TakenFrom::State(place.to_string()));
                    }
                }
                ValueSource::Values(values) | ValueSource::Recorded(values) => {
                    for value in values {
                        found.add(value, TakenFrom::Bindings);
                    }
                }
                ValueSource::Result { .. } => {}
            }
        }
        found.found
    }

    /// Whether it takes its value from this place of a function's result.
    fn takes(&self, leaf: &Leaf<'_>, field: &Field, from: &str, consumer: &[String]) -> bool {
        if self.is_said_by_value {
            return false;
        }
        if self.sources.iter().all(|source| matches!(source, ValueSource::Recorded(_))) {
            return self.is_named_as(field, consumer);
        }
        self.sources.iter().any(|source| match source {
            ValueSource::Result { function, path } => function == from && is_one_of(&leaf.path, path),
            _ => false,
        })
    }

    /// Whether a field has the name of the parameter: `order_id` and `order_id`; `order_id` and `id` of an order; `id` of
    /// a function on orders and `order_id`.
    fn is_named_as(&self, field: &Field, consumer: &[String]) -> bool {
        let is_vague = |nouns: &[String]| matches!(nouns, [only] if VAGUE.contains(&only.as_str()));
        if field.own.is_empty() {
            return false;
        }
        if field.own == self.nouns {
            return !is_vague(&field.own) || consumer.iter().any(|thing| field.around.contains(thing));
        }
        let (long, short, context) = if field.own.len() < self.nouns.len() {
            (&self.nouns, &field.own, &field.around[..])
        } else {
            (&field.own, &self.nouns, consumer)
        };
        let Some(owner) = long.strip_suffix(&short[..]) else { return false };
        is_vague(short) && owner.iter().all(|noun| context.contains(noun))
    }
}

/// The values of a parameter so far.
struct Literals<'a> {
    parameter: &'a Parameter,
    found: Vec<Candidate>,
}

impl Literals<'_> {
    /// Adds a value that is new, that the schema allows, and that a person would write.
    fn add(&mut self, value: &Value, taken_from: TakenFrom) {
        let is_new = self.found.len() < MOST_VALUES && self.found.iter().all(|known| known.value != *value);
        if is_new && self.parameter.accepts(value) && is_sayable(value) {
            self.found.push(Candidate { value: value.clone(), taken_from });
        }
    }
}

/// Returns `true` if a person would write the value in a sentence: no empty text, no text of several lines or of more than 80 signs,
/// no object of many members or with another inside.
pub fn is_sayable(value: &Value) -> bool {
    const MOST_CHARS: usize = 80;
    const MOST_MEMBERS: usize = 4;
    match value {
        Value::Null => false,
        Value::Object(members) => {
            (1..=MOST_MEMBERS).contains(&members.len())
                && members.values().all(|member| !member.is_object() && is_sayable(member))
        }
        Value::String(text) => {
            !text.trim().is_empty() && text.len() <= MOST_CHARS && !text.contains(char::is_control)
        }
        Value::Array(elements) => {
            !elements.is_empty()
                && elements.len() <= 6
                && elements.iter().all(|element| !element.is_array() && is_sayable(element))
        }
        _ => true,
    }
}

/// Whether a schema has this type, alone or among several.
fn is_of_type(schema: &Value, wanted: &str) -> bool {
    match &schema["type"] {
        Value::String(name) => name == wanted,
        Value::Array(names) => names.iter().any(|name| name == wanted),
        _ => false,
    }
}

/// Returns `true` if a schema allows a value: its type, its listed values, the types of its elements.
pub fn accepts(schema: &Value, value: &Value) -> bool {
    let has_type = |names: &[&str]| {
        schema.get("type").is_none()
            || names.iter().any(|name| is_of_type(schema, name))
            || is_of_type(schema, "any")
    };
    let fits = match value {
        Value::Null => has_type(&["null"]),
        Value::Bool(_) => has_type(&["boolean"]),
        Value::Number(number) if number.is_i64() || number.is_u64() => {
            has_type(&["integer", "number", "float"])
        }
        Value::Number(_) => has_type(&["number", "float"]),
        Value::String(_) => has_type(&["string"]),
        Value::Array(elements) => {
            let of_element = schema.get("items");
            has_type(&["array"])
                && elements.iter().all(|element| of_element.is_none_or(|of| accepts(of, element)))
        }
        Value::Object(_) => has_type(&["object", "dict"]),
    };
    fits && schema["enum"].as_array().is_none_or(|listed| listed.contains(value))
}
