//! Instructions that a language model proposes: the record of a request and its calls, and the rules on both.

use std::collections::BTreeSet;

use callsieve_answers::traced::{calls_contradict, place_of};
use callsieve_bfcl::conversation::Call as MadeCall;
use callsieve_environment::call::Call;
use callsieve_environment::environment::Environment as _;
use callsieve_environment::unexecuted::Unexecuted;
use callsieve_programs::program::ResultPath;
use callsieve_programs::stratum::Stratum;
use callsieve_programs::wording::templates::{Templates, capitalised};
use callsieve_programs::wording::wanted::{Wanted, wanted};
use callsieve_text::content_hash::content_hash;
use callsieve_text::language::{UNDETERMINED, language};
use serde_json::{Map, Value, json};

use crate::record::{CallRecord, Provenance, Record, TurnRecord};
use crate::reworded::of_words;
use crate::text_rules::{meta_talk, named_function, odd_text, placeholder, refusal};

/// Why a proposal is not used, or is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// It calls a function that is not offered.
    UnknownFunction,
    /// The arguments of a call do not fit the doc.
    UnfitArguments,
    /// A place in a result is of no earlier call.
    BadReference,
    /// The calls are not those of its kind.
    OtherKind,
    /// It names a function.
    NamesFunction,
    /// It speaks of functions or APIs as such.
    MetaTalk,
    /// It has a placeholder.
    Placeholder,
    /// It refuses, or speaks as an assistant.
    Refusal,
    /// It has more characters than a person types, or hidden ones.
    OddText,
    /// A call has an option while the request names another one of the same parameter.
    Contradiction,
    /// It is in another language than wanted.
    OtherLanguage,
}

/// A fault with what was found.
pub type Faulty = (Fault, Value);

/// The functions of a sample, ready to check proposals.
pub struct Offer<'a> {
    /// The docs of all functions that may be called, the withheld one included.
    pub functions: &'a [Value],
    /// ISO 639-1 code of the language that is wanted; `None` for any.
    pub language: Option<&'a str>,
    /// The answers where no call is right.
    pub templates: &'a Templates,
}

/// A message of the user, and the calls that it leads to.
pub type Turn<'a> = (&'a str, &'a [MadeCall]);

/// A proposal that breaks no rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposed {
    /// The record with its words and calls. Nothing was executed yet.
    pub record: Record,
    /// The first value of a call that is neither in the words nor in a result; a person may know better.
    pub unsaid: Option<Value>,
}

/// Returns the record of a proposal, made of that of its sample.
///
/// # Errors
/// The first rule that it breaks.
pub fn proposed(record: &Record, offer: &Offer<'_>, turns: &[Turn<'_>]) -> Result<Proposed, Faulty> {
    for (request, calls) in turns {
        check_text(request, offer)?;
        if calls_contradict(calls, offer.functions, request) {
            return Err((Fault::Contradiction, json!({ "calls": calls })));
        }
    }
    let calls: Vec<MadeCall> = turns.iter().flat_map(|(_, calls)| calls.iter()).cloned().collect();
    let (lacking, made) = calls_of(&calls, offer)?;
    check_turns(record.stratum, turns)?;
    check_kind(record.stratum, &made, &lacking)?;
    let has_no_call = record.stratum.has_no_call() || record.stratum == Stratum::MissingParameter;
    let missing = missing_value(&lacking, &made, offer);
    let mut new = record.clone();
    let (mut made, mut unsaid) = (made.into_iter(), None);
    let requests: Vec<&str> = turns.iter().map(|(request, _)| *request).collect();
    for (turn, (request, calls)) in turns.iter().enumerate() {
        let first = new.calls.len() + 1;
        for call in made.by_ref().take(calls.len()).filter(|_| !has_no_call) {
            let nth = new.calls.len();
            new.calls.push(call_record(nth, call, &requests[..=turn], offer, &mut unsaid));
        }
        new.turns.push(TurnRecord {
            user: (*request).to_owned(),
            calls: (first..=new.calls.len()).collect(),
            answer: answer(record.stratum, request, missing.as_ref(), offer.templates),
        });
    }
    requests.first().copied().unwrap_or_default().clone_into(&mut new.instruction);
    new.answer = new.turns.last().map(|turn| turn.answer.clone()).unwrap_or_default();
    Ok(Proposed { record: new, unsaid: unsaid.filter(|_| !has_no_call) })
}

/// Whether an instruction has the turns of its kind: one message, or a conversation in which each leads to calls.
fn check_turns(kind: Stratum, turns: &[Turn<'_>]) -> Result<(), Faulty> {
    let is_so = match kind {
        Stratum::MultiTurn => turns.len() >= 2 && turns.iter().all(|(_, calls)| !calls.is_empty()),
        _ => turns.len() == 1,
    };
    is_so.then_some(()).ok_or_else(|| (Fault::OtherKind, json!({"kind": kind.name(), "turns": turns.len()})))
}

/// What the first call lacks, as a question names it.
fn missing_value(
    lacking: &[Vec<String>],
    made: &[(String, Map<String, Value>)],
    offer: &Offer<'_>,
) -> Option<Wanted> {
    let (parameter, (function, _)) = (lacking.first()?.first()?, made.first()?);
    let doc = offer.functions.iter().find(|doc| doc["name"] == **function)?;
    Some(wanted(function, parameter, &doc["parameters"]["properties"][parameter]))
}

/// The answer where no call is right: there is no function for it, or a value is asked for. Others are made of results.
fn answer(kind: Stratum, request: &str, missing: Option<&Wanted>, templates: &Templates) -> String {
    let (forms, what) = match (kind, missing) {
        (Stratum::MissingFunction | Stratum::Irrelevance, _) => (&templates.turns.no_function, ""),
        (Stratum::MissingParameter, Some(Wanted::Thing(thing))) => (&templates.turns.missing, &**thing),
        (Stratum::MissingParameter, Some(Wanted::Choice(choice))) => {
            (&templates.turns.missing_choice, &**choice)
        }
        _ => return String::new(),
    };
    let drawn = usize::try_from(content_hash(request) % forms.len().max(1) as u128).unwrap_or_default();
    forms
        .get(drawn)
        .map(|form| form.replace("{what}", what).replace("{What}", &capitalised(what)))
        .unwrap_or_default()
}

fn check_text(request: &str, offer: &Offer<'_>) -> Result<(), Faulty> {
    let found = |found: &str| json!({ "found": found });
    if let Some(what) = odd_text(request) {
        return Err((Fault::OddText, found(what)));
    }
    if let Some(words) = refusal(request) {
        return Err((Fault::Refusal, found(words)));
    }
    let names = offer.functions.iter().filter_map(|function| function["name"].as_str());
    if let Some(name) = named_function(request, names) {
        return Err((Fault::NamesFunction, found(name)));
    }
    if let Some(words) = meta_talk(request) {
        return Err((Fault::MetaTalk, found(words)));
    }
    if let Some(words) = placeholder(request, "") {
        return Err((Fault::Placeholder, found(words)));
    }
    let own = language(request);
    match offer.language {
        Some(wanted) if own != wanted && own != UNDETERMINED => Err((Fault::OtherLanguage, found(own))),
        _ => Ok(()),
    }
}

/// Calls with their references, and for each the required parameters that it lacks.
type CallsOf = (Vec<Vec<String>>, Vec<(String, Map<String, Value>)>);

/// Checks names, references and arguments. Arguments that are places in results are not checked against the doc.
fn calls_of(calls: &[MadeCall], offer: &Offer<'_>) -> Result<CallsOf, Faulty> {
    let (mut lacking, mut made) = (Vec::new(), Vec::new());
    for (nth, call) in calls.iter().enumerate() {
        let at = |what: Value| json!({"call": nth + 1, "function": call.name, "found": what});
        let Some(doc) = offer.functions.iter().find(|function| function["name"] == *call.name) else {
            return Err((Fault::UnknownFunction, at(json!(call.name))));
        };
        let arguments = call.arguments.as_object().cloned().unwrap_or_default();
        if let Some(bad) = arguments.values().find_map(|value| bad_reference(value, nth)) {
            return Err((Fault::BadReference, at(bad)));
        }
        let required =
            doc["parameters"]["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let lacks: Vec<String> =
            required.filter(|name| !arguments.contains_key(*name)).map(str::to_owned).collect();
        // Values of results are not known yet, and what is missing is judged by the kind of the instruction.
        let literals: Map<String, Value> = arguments
            .iter()
            .filter(|(_, value)| reference(value).is_none())
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        if let Some(what) = unfit(doc, &literals, arguments.keys()) {
            return Err((Fault::UnfitArguments, at(what)));
        }
        lacking.push(lacks);
        made.push((call.name.clone(), arguments));
    }
    Ok((lacking, made))
}

/// What is wrong with arguments for a doc, apart from parameters that are missing.
fn unfit<'k>(
    doc: &Value,
    literals: &Map<String, Value>,
    names: impl Iterator<Item = &'k String>,
) -> Option<Value> {
    let properties = doc["parameters"]["properties"].as_object();
    let is_known = |name: &&String| properties.is_some_and(|properties| properties.contains_key(*name));
    if let Some(unknown) = names.into_iter().find(|name| !is_known(name)) {
        return Some(json!({ "parameter": unknown }));
    }
    // Each on its own, with the others as they may be.
    literals.iter().find_map(|(name, value)| {
        let schema = properties.and_then(|properties| properties.get(name))?;
        let one = json!([{"name": "f", "parameters": {"type": "object", "properties": { name: schema }}}]);
        let docs_of_one = Unexecuted::new("", one.as_array()?);
        let call = Call::new("f", [(name.clone(), value.clone())].into_iter().collect());
        let seen = docs_of_one.run(&docs_of_one.initial_states()[0], &[call]).ok()?;
        let failed = seen.observations.first().is_some_and(|seen| seen.failure.is_some());
        failed.then(|| json!({"parameter": name, "value": value}))
    })
}

/// Returns the place of a result that an argument is, as a text: `$1.id`. It may be none that can be read. `$20 off` and `$9.99` are
/// amounts.
fn reference(value: &Value) -> Option<&str> {
    let text = value.as_str()?;
    let digits = text.strip_prefix('$')?;
    let rest = digits.trim_start_matches(|sign: char| sign.is_ascii_digit());
    let is_member =
        || rest.strip_prefix('.').is_some_and(|name| !name.starts_with(|sign: char| sign.is_ascii_digit()));
    (rest.len() < digits.len() && (rest.is_empty() || rest.starts_with('[') || is_member())).then_some(text)
}

/// A place that is of no earlier call or cannot be read, or that is inside of a list or an object, where none is filled in.
fn bad_reference(value: &Value, nth: usize) -> Option<Value> {
    let is_inside = |inner: &Value| reference(inner).is_some() || bad_reference(inner, nth).is_some();
    match value {
        Value::Array(elements) => elements.iter().find(|inner| is_inside(inner)).cloned(),
        Value::Object(members) => members.values().find(|inner| is_inside(inner)).cloned(),
        _ => {
            let is_bad = reference(value)?.parse::<ResultPath>().map_or(true, |place| place.step >= nth);
            is_bad.then(|| value.clone())
        }
    }
}

/// Whether the calls are those of a kind of instruction.
fn check_kind(
    kind: Stratum,
    made: &[(String, Map<String, Value>)],
    lacking: &[Vec<String>],
) -> Result<(), Faulty> {
    let n_functions = made.iter().map(|(name, _)| name).collect::<BTreeSet<_>>().len();
    let n_references = made
        .iter()
        .flat_map(|(_, arguments)| arguments.values())
        .filter(|value| reference(value).is_some())
        .count();
    let n_lacking: usize = lacking.iter().map(Vec::len).sum();
    let is_so = match kind {
        Stratum::Single => made.len() == 1 && n_references == 0,
        Stratum::Chain => made.len() >= 2 && n_references > 0,
        Stratum::MultiTurn => made.len() >= 2,
        Stratum::Parallel => made.len() >= 2 && n_functions == 1 && n_references == 0,
        Stratum::MultipleTools => made.len() >= 2 && n_functions >= 2 && n_references == 0,
        Stratum::MissingParameter => made.len() == 1 && n_lacking == 1,
        Stratum::MissingFunction => made.len() == 1,
        Stratum::Irrelevance => made.is_empty(),
        Stratum::ErrorRecovery => false,
    };
    if let Some(twice) = made.iter().enumerate().find(|(nth, call)| made[..*nth].contains(call)) {
        return Err((Fault::OtherKind, json!({"kind": kind.name(), "call": twice.1.0, "twice": twice.1.1})));
    }
    if !is_so {
        let found = json!({"kind": kind.name(), "calls": made.len(), "functions": n_functions, "references": n_references});
        return Err((Fault::OtherKind, found));
    }
    let is_complete = n_lacking == 0 || matches!(kind, Stratum::MissingParameter | Stratum::MissingFunction);
    let missing = lacking.iter().flatten().next();
    match missing.filter(|_| !is_complete) {
        Some(parameter) => Err((Fault::UnfitArguments, json!({ "missing": parameter }))),
        None => Ok(()),
    }
}

/// The record of a call, with the source of each argument: the message of its turn, an earlier one, a result, or the doc.
fn call_record(
    nth: usize,
    (name, arguments): (String, Map<String, Value>),
    requests: &[&str],
    offer: &Offer<'_>,
    unsaid: &mut Option<Value>,
) -> CallRecord {
    let doc = offer.functions.iter().find(|function| function["name"] == *name);
    let mut call = CallRecord {
        name,
        arguments,
        result: Value::Null,
        failure: None,
        references: std::collections::BTreeMap::new(),
        provenance: std::collections::BTreeMap::new(),
    };
    for (parameter, value) in call.arguments.clone() {
        let schema = doc.map_or(&Value::Null, |doc| &doc["parameters"]["properties"][&parameter]);
        if let Some(place) = reference(&value) {
            call.references.insert(parameter.clone(), place.to_owned());
            call.provenance.insert(parameter, Provenance::Result { path: place.to_owned() });
            continue;
        }
        let said = value.as_str().map(|text| text.replace('_', " ")).unwrap_or_default();
        let said_in = |(turn, request): (usize, &&str)| {
            place_of(&value, &said, request).map(|at| of_words(turn + 1, request, at, "model"))
        };
        let source = if let Some(words) = requests.iter().enumerate().rev().find_map(said_in) {
            words
        } else if let Some(source) = of_doc(schema, &value) {
            Provenance::Doc { source: source.to_owned() }
        } else {
            let found =
                json!({"call": nth + 1, "function": call.name, "argument": parameter, "value": value});
            unsaid.get_or_insert(found);
            continue;
        };
        call.provenance.insert(parameter, source);
    }
    call
}

/// What of a doc gives a value that nobody writes out. Options of an enum are none: who does not say one leaves it open.
fn of_doc(schema: &Value, value: &Value) -> Option<&'static str> {
    if schema.get("default") == Some(value) {
        return Some("default");
    }
    value.is_boolean().then_some("boolean")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn functions() -> Vec<Value> {
        serde_json::from_value(json!([
            {"name": "find_bell", "description": "Finds a bell.", "parameters": {"type": "object", "required": ["tower"],
                "properties": {"tower": {"type": "string"}, "loud": {"type": "boolean"}}}},
            {"name": "ring_bell", "description": "Rings it.", "parameters": {"type": "object", "required": ["id", "times"],
                "properties": {"id": {"type": "string"}, "times": {"type": "integer"}, "tone": {"type": "string", "enum": ["deep", "high"]}}}}
        ]))
        .unwrap()
    }

    fn record(kind: Stratum) -> Record {
        serde_json::from_value(json!({
            "instruction": "", "stratum": kind.name(), "style": "model", "wording": "m", "tier": "unexecuted", "turns": [], "calls": [],
            "answer": "", "answer_from": [], "together": false, "offered": ["find_bell", "ring_bell"], "environment": "bells",
            "origin": "declared", "state": "s", "end_state": null
        }))
        .unwrap()
    }

    fn calls(of: &[(&str, Value)]) -> Vec<MadeCall> {
        of.iter()
            .map(|(name, arguments)| MadeCall {
                id: None,
                name: (*name).to_owned(),
                arguments: arguments.clone(),
            })
            .collect()
    }

    fn fault(kind: Stratum, request: &str, made: &[(&str, Value)]) -> Option<Fault> {
        let functions = functions();
        let templates = Templates::english();
        let offer = Offer { functions: &functions, language: Some("en"), templates: &templates };
        proposed(&record(kind), &offer, &[(request, &calls(made))]).err().map(|(fault, _)| fault)
    }

    #[test]
    fn a_proposal_becomes_a_record_with_sources() {
        let functions = functions();
        let templates = Templates::english();
        let offer = Offer { functions: &functions, language: Some("en"), templates: &templates };
        let request = "Which deep bell hangs in the north tower? Ring it three times, please.";
        let made = calls(&[
            ("find_bell", json!({"tower": "north tower", "loud": true})),
            ("ring_bell", json!({"id": "$1.id", "times": 3, "tone": "deep"})),
        ]);
        let record = proposed(&record(Stratum::Chain), &offer, &[(request, &made)]).unwrap().record;
        assert_eq!((record.instruction.as_str(), &record.turns[0].calls), (request, &vec![1, 2]));
        let sources = &record.calls[1].provenance;
        assert_eq!(sources["id"], Provenance::Result { path: "$1.id".into() });
        assert_eq!(sources["times"], of_words(1, request, 50..55, "model"));
        assert_eq!(sources["tone"], of_words(1, request, 6..10, "model"));
        assert_eq!(record.calls[0].provenance["loud"], Provenance::Doc { source: "boolean".into() });
        assert_eq!(record.calls[1].references["id"], "$1.id");
        let other = calls(&[("find_bell", json!({"tower": "south"}))]);
        let unsaid = proposed(&self::record(Stratum::Single), &offer, &[("Find the north bell.", &other)])
            .unwrap()
            .unsaid;
        assert_eq!(unsaid.unwrap()["value"], "south");
    }

    #[test]
    fn an_option_of_an_enum_is_said_or_the_default() {
        let templates = Templates::english();
        let unsaid = |request: &str, tone: &Value, default: &Value| {
            let functions: Vec<Value> =
                serde_json::from_value(json!([{"name": "ring_bell", "description": "Rings it.",
                "parameters": {"type": "object", "required": [], "properties":
                    {"tone": {"enum": ["deep", "very_high", ["deep", "high"]], "default": default}}}}]))
                .unwrap();
            let offer = Offer { functions: &functions, language: Some("en"), templates: &templates };
            let made = calls(&[("ring_bell", json!({ "tone": tone }))]);
            proposed(&record(Stratum::Single), &offer, &[(request, &made)]).unwrap().unsaid
        };
        let (deep, high) = (json!("deep"), json!("very_high"));
        assert_eq!(unsaid("Please ring the bell at noon.", &deep, &high).unwrap()["value"], "deep");
        assert_eq!(unsaid("Please ring the bell at noon.", &deep, &deep), None);
        assert_eq!(unsaid("Please ring the bell at noon, very high.", &high, &Value::Null), None);
        let both = json!(["deep", "high"]);
        assert!(unsaid("Please ring the bell at noon, deep.", &both, &Value::Null).is_some());
        assert_eq!(unsaid("Please ring it at noon, deep and then high.", &both, &Value::Null), None);
    }

    #[test]
    fn a_conversation_has_calls_in_each_turn_and_its_values_in_any_earlier_one() {
        let (functions, templates) = (functions(), Templates::english());
        let offer = Offer { functions: &functions, language: Some("en"), templates: &templates };
        let first = calls(&[("find_bell", json!({"tower": "north"}))]);
        let then = calls(&[("ring_bell", json!({"id": "$1.id", "times": 3, "tone": "high"}))]);
        let turns: [Turn<'_>; 2] = [
            ("Which bell hangs in the north tower?", &first),
            ("Ring it three times in a high tone, please.", &then),
        ];
        let made = proposed(&record(Stratum::MultiTurn), &offer, &turns).unwrap();
        assert_eq!((made.unsaid, made.record.turns.len()), (None, 2));
        assert_eq!((&made.record.turns[0].calls, &made.record.turns[1].calls), (&vec![1], &vec![2]));
        assert_eq!(made.record.calls[1].provenance["times"], of_words(2, turns[1].0, 8..13, "model"));
        let fault =
            |kind, turns: &[Turn<'_>]| proposed(&record(kind), &offer, turns).err().map(|(fault, _)| fault);
        assert_eq!(fault(Stratum::MultiTurn, &turns[..1]), Some(Fault::OtherKind));
        assert_eq!(fault(Stratum::Chain, &turns), Some(Fault::OtherKind));
        assert_eq!(fault(Stratum::MultiTurn, &[turns[0], ("Thanks, bye.", &[])]), Some(Fault::OtherKind));
    }

    #[test]
    fn amounts_are_values_and_odd_texts_and_doubled_calls_are_faults() {
        let find = |tower: &str| ("find_bell", json!({ "tower": tower }));
        for (kind, request, made, expected) in [
            (
                Stratum::Parallel,
                "Find the bells of the north tower, twice.",
                vec![find("north"), find("north")],
                Some(Fault::OtherKind),
            ),
            (Stratum::Single, "Find the bell of the $20 tower.", vec![find("$20 tower")], None),
            (Stratum::Single, "Find the bell of $1.", vec![find("$1.id")], Some(Fault::BadReference)),
            (
                Stratum::Single,
                "Find the\u{202e} bell of the north.",
                vec![find("north")],
                Some(Fault::OddText),
            ),
            (
                Stratum::Single,
                "Ring bell B-4 twice in the deep tone.",
                vec![("ring_bell", json!({"id": "B-4", "times": 2, "tone": "high"}))],
                Some(Fault::Contradiction),
            ),
        ] {
            assert_eq!(fault(kind, request, &made), expected, "{request} {made:?}");
        }
    }

    #[test]
    fn a_question_for_a_missing_value_names_it_in_english() {
        let templates = Templates::english();
        let asked = |parameter: &str, schema: Value| {
            let functions = [json!({"name": "ring_bell", "description": "Rings it.", "parameters":
                {"type": "object", "required": [parameter], "properties": {parameter: schema}}})];
            let offer = Offer { functions: &functions, language: Some("en"), templates: &templates };
            let made = calls(&[("ring_bell", json!({}))]);
            proposed(&record(Stratum::MissingParameter), &offer, &[("Ring it at noon, please.", &made)])
                .unwrap()
                .record
                .answer
        };
        let which = asked("tower_id", json!({"type": "string"}));
        assert!(which.contains("tower") && !which.contains("the tower id you mean"), "{which}");
        let whether = asked("is_loud", json!({"type": "boolean"}));
        assert!(whether.contains("whether it is loud"), "{whether}");
    }

    #[test]
    fn each_rule_has_its_fault() {
        let find = |tower: &str| ("find_bell", json!({ "tower": tower }));
        for (kind, request, made, expected) in [
            (Stratum::Single, "Find the bell of the north tower.", vec![find("north")], None),
            (Stratum::Single, "Find the bell.", vec![("find_horn", json!({}))], Some(Fault::UnknownFunction)),
            (
                Stratum::Single,
                "Find the bell of tower 3.",
                vec![("find_bell", json!({"tower": 3}))],
                Some(Fault::UnfitArguments),
            ),
            (
                Stratum::Single,
                "Find the bell of the north tower.",
                vec![("find_bell", json!({"tower": "north", "x": 1}))],
                Some(Fault::UnfitArguments),
            ),
            (Stratum::Single, "Find the bell.", vec![("find_bell", json!({}))], Some(Fault::UnfitArguments)),
            (Stratum::Single, "Find the bell of the north tower.", vec![find("south")], None),
            (Stratum::Single, "Find all the bells, will you?", vec![], Some(Fault::OtherKind)),
            (
                Stratum::Chain,
                "Ring the bell twice.",
                vec![("ring_bell", json!({"id": "$1.id", "times": 2})), find("north")],
                Some(Fault::BadReference),
            ),
            (
                Stratum::Chain,
                "Ring the bell twice.",
                vec![find("north"), ("ring_bell", json!({"id": "$1..id", "times": 2}))],
                Some(Fault::BadReference),
            ),
            (
                Stratum::Parallel,
                "Find the bells of the north and the south tower.",
                vec![find("north"), find("south")],
                None,
            ),
            (
                Stratum::MultipleTools,
                "Find the bells of the north and the south tower.",
                vec![find("north"), find("south")],
                Some(Fault::OtherKind),
            ),
            (
                Stratum::MissingParameter,
                "Ring bell B-4 for me.",
                vec![("ring_bell", json!({"id": "B-4"}))],
                None,
            ),
            (
                Stratum::MissingParameter,
                "Ring bell B-4 twice.",
                vec![("ring_bell", json!({"id": "B-4", "times": 2}))],
                Some(Fault::OtherKind),
            ),
            (Stratum::Irrelevance, "What is the capital of Norway?", vec![], None),
            (
                Stratum::Irrelevance,
                "Find the bell of the north tower.",
                vec![find("north")],
                Some(Fault::OtherKind),
            ),
            (
                Stratum::Single,
                "Use find_bell for the north tower.",
                vec![find("north")],
                Some(Fault::NamesFunction),
            ),
            (
                Stratum::Single,
                "Ask the bell API for the north tower.",
                vec![find("north")],
                Some(Fault::MetaTalk),
            ),
            (
                Stratum::Single,
                "Find the bell of <tower name>.",
                vec![find("north")],
                Some(Fault::Placeholder),
            ),
            (Stratum::Single, "I'm sorry, I cannot write this.", vec![find("north")], Some(Fault::Refusal)),
            (
                Stratum::Single,
                "Kannst du bitte herausfinden, welche Glocke im Turm north hängt?",
                vec![find("north")],
                Some(Fault::OtherLanguage),
            ),
        ] {
            assert_eq!(fault(kind, request, &made), expected, "{request} {made:?}");
        }
    }
}
