//! Where the values of a drafted answer come from, and optional parameters that nobody asked for.
//!
//! Models fill in optional parameters: a unit, a language, a number of results. A call with such a value is another one than the user
//! wanted, and BFCL's checker rejects calls without it. A value of an optional parameter is asked for if the conversation has it, as
//! in a verified answer (`callsieve_answers::traced`), or if it is the default, which the answer may leave out as well. Yes or no is
//! asked for if an English conversation speaks of what the parameter is named after; in other languages that cannot be seen.
//!
//! A recorded call with a value that nobody asked for is not scored. Only a no without a default stays: the answer may leave it out.
//!
//! In drafts, a value that nobody asked for is left out where not all drafts have one. Where all have, the words of the user may mean it ("big" for
//! `large`), so the request is held. So it is where only some drafts have a yes or no: the user may mean it in other words ("where my dog can
//! stay" for `pets_allowed`).

use std::collections::BTreeSet;

use jiff::civil::Date;
use serde_json::{Map, Value, json};

use crate::answers::alternatives::stated_default;
use crate::answers::traced::Trace;
use crate::conversation::{Call, Message, Role};
use crate::text::language::{UNDETERMINED, language};

/// What the conversation asks for.
pub(super) struct AskedFor<'f> {
    conversation: Trace,
    is_english: bool,
    functions: &'f [Value],
}

/// Drafts without what nobody asked for, as far as they differ in it.
pub(super) struct Reduced {
    pub(super) drafts: Vec<Vec<Call>>,
    /// The parameters that were left out, as `function.parameter`.
    pub(super) left_out: BTreeSet<String>,
}

impl<'f> AskedFor<'f> {
    /// Returns what messages ask for, sent on a day if it is known.
    pub(super) fn of(messages: &[Message], today: Option<Date>, functions: &'f [Value]) -> Self {
        let mut conversation = Trace::of_messages(messages);
        conversation.add_relative_dates(today);
        let asked: Vec<&str> = messages
            .iter()
            .filter(|message| message.role == Role::User)
            .map(|message| &*message.content)
            .collect();
        // Short English is often not recognised.
        let is_english = ["en", UNDETERMINED].contains(&language(&asked.join("\n")));
        Self { conversation, is_english, functions }
    }

    /// Returns the drafts without the optional values that nobody asked for and that not all drafts have.
    pub(super) fn reduced(&self, drafts: &[&[Call]]) -> Reduced {
        let unasked: Vec<BTreeSet<String>> = drafts.iter().map(|calls| self.unasked(calls)).collect();
        let is_in_all = |name: &String| unasked.iter().all(|of_draft| of_draft.contains(name));
        let is_switch = |name: &String| {
            let calls = drafts.iter().copied().flatten();
            calls
                .filter_map(|call| call.arguments.get(name.strip_prefix(&call.name)?.strip_prefix('.')?))
                .any(has_switch)
        };
        let left_out: BTreeSet<String> =
            unasked.iter().flatten().filter(|name| !is_in_all(name) && !is_switch(name)).cloned().collect();
        let without = |call: &Call| {
            let mut call = call.clone();
            let schema = self.parameters(&call);
            if let Value::Object(arguments) = &mut call.arguments {
                arguments.retain(|name, value| {
                    !left_out.contains(&format!("{}.{name}", call.name))
                        || !self.is_unasked(name, value, schema)
                });
            }
            call
        };
        let drafts = drafts.iter().map(|calls| calls.iter().map(without).collect()).collect();
        Reduced { drafts, left_out }
    }

    /// Returns the optional parameters of calls whose values nobody asked for, as `function.parameter`.
    pub(super) fn unasked(&self, calls: &[Call]) -> BTreeSet<String> {
        let of_call = |call: &Call| {
            let schema = self.parameters(call);
            let members = call.arguments.as_object().into_iter().flatten();
            let unasked = members.filter(|(name, value)| self.is_unasked(name, value, schema));
            unasked.map(|(name, _)| format!("{}.{name}", call.name)).collect::<Vec<_>>()
        };
        calls.iter().flat_map(of_call).collect()
    }

    /// Returns the optional parameters of the calls that say no without a default, and that nobody asked for, as
    /// `function.parameter`. A call without them is the same.
    pub(super) fn unasked_denials(&self, calls: &[Call]) -> BTreeSet<String> {
        let unasked = self.unasked(calls);
        let denials = calls.iter().flat_map(|call| {
            let properties = &self.parameters(call)["properties"];
            let members = call.arguments.as_object().into_iter().flatten();
            let denials = members.filter(move |(name, value)| {
                **value == Value::Bool(false) && stated_default(&properties[name.as_str()]).is_none()
            });
            denials.map(move |(name, _)| format!("{}.{name}", call.name))
        });
        denials.filter(|name| unasked.contains(name)).collect()
    }

    /// Returns for each call where its values come from: the `conversation`, the `default`, the `docs` of the function, or the `model`.
    pub(super) fn provenance(&self, calls: &[Call]) -> Vec<Value> {
        let of_call = |call: &Call| {
            let schema = self.parameters(call);
            let mut docs = Trace::default();
            docs.add(&schema.to_string());
            let of_value = |name: &str, value: &Value| {
                if !value.is_boolean() && self.conversation.has(value) {
                    "conversation"
                } else if is_default(&schema["properties"][name], value) {
                    "default"
                } else if !value.is_boolean() && docs.has(value) {
                    "docs"
                } else {
                    "model"
                }
            };
            let members = call.arguments.as_object().into_iter().flatten();
            Value::Object(
                members
                    .map(|(name, value)| (name.clone(), json!(of_value(name, value))))
                    .collect::<Map<_, _>>(),
            )
        };
        calls.iter().map(of_call).collect()
    }

    /// The schema of the parameters of the function that is called.
    fn parameters(&self, call: &Call) -> &'f Value {
        let function = self.functions.iter().find(|function| function["name"] == call.name.as_str());
        function.map_or(&Value::Null, |function| &function["parameters"])
    }

    fn is_unasked(&self, name: &str, value: &Value, schema: &Value) -> bool {
        let is_named = |required: &Value| required.as_str() == Some(name);
        let is_required = schema["required"].as_array().is_some_and(|all| all.iter().any(is_named));
        let of_parameter = &schema["properties"][name];
        // What the docs do not have is a fault of another kind.
        of_parameter.is_object()
            && !is_required
            && !is_default(of_parameter, value)
            && !self.is_said(name, value)
    }

    fn is_said(&self, name: &str, value: &Value) -> bool {
        self.conversation.has(value) && (!self.is_english || self.speaks_of_switches(name, value))
    }

    /// Whether the conversation speaks of each yes or no in a value, which its own key names, or that of the list that it is in.
    fn speaks_of_switches(&self, name: &str, value: &Value) -> bool {
        match value {
            Value::Bool(_) => self.conversation.speaks_of(name),
            Value::Array(elements) => elements.iter().all(|element| self.speaks_of_switches(name, element)),
            Value::Object(members) => {
                members.iter().all(|(key, member)| self.speaks_of_switches(key, member))
            }
            Value::Null | Value::Number(_) | Value::String(_) => true,
        }
    }
}

/// Whether a value is the default of its parameter, as a key of the docs or in the description.
fn is_default(schema: &Value, value: &Value) -> bool {
    let is_same =
        |default: Value| default == *value || default.as_f64().is_some_and(|own| value.as_f64() == Some(own));
    schema.get("default") == Some(value) || stated_default(schema).is_some_and(is_same)
}

/// Whether a value is yes or no, or has one in it.
fn has_switch(value: &Value) -> bool {
    match value {
        Value::Bool(_) => true,
        Value::Array(elements) => elements.iter().any(has_switch),
        Value::Object(members) => members.values().any(has_switch),
        Value::Null | Value::Number(_) | Value::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn functions() -> Vec<Value> {
        let properties = json!({
            "city": {"type": "string", "description": "City name, e.g. Oslo"},
            "unit": {"type": "string", "description": "Unit of temperature", "enum": ["celsius", "fahrenheit"]},
            "days": {"type": "integer", "description": "Days ahead.", "default": 3},
            "include_tides": {"type": "boolean", "description": "Whether to add high and low water."},
        });
        vec![json!({"name": "get_weather", "description": "Weather of a city.",
            "parameters": {"type": "dict", "required": ["city"], "properties": properties}})]
    }

    fn asked_for<'f>(text: &str, functions: &'f [Value]) -> AskedFor<'f> {
        let message: Message = serde_json::from_value(json!({"role": "user", "content": text})).unwrap();
        AskedFor::of(&[message], None, functions)
    }

    fn call(arguments: Value) -> Vec<Call> {
        vec![Call { id: None, name: "get_weather".to_owned(), arguments }]
    }

    #[test]
    fn an_optional_value_is_asked_for_by_the_conversation_or_the_default() {
        let functions = functions();
        let unasked = |text: &str, arguments: Value| {
            let names = asked_for(text, &functions).unasked(&call(arguments));
            names.into_iter().collect::<Vec<_>>().join(" ")
        };
        let weather = "weather for Stavanger tomorrow";
        assert_eq!(unasked(weather, json!({"city": "Stavanger", "unit": "celsius"})), "get_weather.unit");
        assert_eq!(unasked("Stavanger in Celsius?", json!({"city": "Stavanger", "unit": "celsius"})), "");
        assert_eq!(unasked(weather, json!({"city": "Stavanger", "days": 3})), "");
        assert_eq!(unasked(weather, json!({"city": "Stavanger", "days": 4})), "get_weather.days");
        let with_tides = json!({"city": "Stavanger", "include_tides": true});
        assert_eq!(unasked(weather, with_tides.clone()), "get_weather.include_tides");
        assert_eq!(unasked("weather and the tide for Stavanger, please", with_tides.clone()), "");
        assert_eq!(unasked("Stavanger", with_tides.clone()), "get_weather.include_tides");
        // In another language the words are others.
        assert_eq!(unasked("Wie wird das Wetter morgen in Stavanger, mit Hochwasser?", with_tides), "");
        let denies =
            |arguments: Value| asked_for(weather, &functions).unasked_denials(&call(arguments)).len();
        assert_eq!(denies(json!({"city": "Stavanger", "include_tides": false})), 1);
        assert_eq!(denies(json!({"city": "Stavanger", "include_tides": true})), 0);
        // A required value is needed whatever it is, and an unknown parameter is a fault of its own.
        assert_eq!(unasked(weather, json!({"city": "Bergen", "loud": "very"})), "");
    }

    #[test]
    fn what_not_all_drafts_have_is_left_out_and_the_sources_of_the_rest_are_noted() {
        let functions = functions();
        let asked_for = asked_for("weather for Stavanger", &functions);
        let (with, without) = (
            call(json!({"city": "Stavanger", "unit": "celsius"})),
            call(json!({"city": "Stavanger", "days": 3})),
        );
        let reduced = asked_for.reduced(&[&with, &without]);
        assert_eq!(reduced.left_out.into_iter().collect::<Vec<_>>(), ["get_weather.unit"]);
        assert_eq!(reduced.drafts[0][0].arguments, json!({"city": "Stavanger"}));
        let tides = call(json!({"city": "Stavanger", "include_tides": true}));
        let differ = asked_for.reduced(&[&tides, &call(json!({"city": "Stavanger"}))]);
        assert!(differ.left_out.is_empty() && differ.drafts[0] != differ.drafts[1]);
        let kept = asked_for.reduced(&[&with, &with]);
        assert!(kept.left_out.is_empty() && kept.drafts[1][0].arguments["unit"] == "celsius");
        let sources = asked_for.provenance(&without);
        assert_eq!(json!(sources), json!([{"city": "conversation", "days": "default"}]));
        let sources = asked_for.provenance(&call(json!({"city": "Oslo", "unit": "kelvin"})));
        assert_eq!(json!(sources), json!([{"city": "docs", "unit": "model"}]));
    }
}
