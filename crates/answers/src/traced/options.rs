//! Whether an option, a yes or a function that a call chose contradicts the words of a user.

use callsieve_bfcl::conversation::Call;
use callsieve_text::opposites::Meanings;
use callsieve_text::words::is_unspaced;
use serde_json::Value;

use super::{Trace, words};

/// Letters of an option that a user may write inside of another word.
const MIN_UNSPACED: usize = 2;

/// Returns `true` if a value of an enum parameter is not in the last message of the user, while another option of that parameter
/// is. `parameters` is the schema of the function's parameters.
///
/// An option that other arguments have, or that another option contains, decides nothing.
pub fn contradicts_enum(arguments: &Value, parameters: &Value, last_user: &str) -> bool {
    let mut choices = Vec::new();
    add_choices(arguments, parameters, &mut choices);
    if choices.is_empty() {
        return false;
    }
    let mut said = Trace::default();
    said.add(last_user);
    let chosen: Vec<&Value> = choices.iter().map(|(value, _)| *value).collect();
    choices.iter().any(|(value, options)| {
        let is_other =
            |option: &&Value| *option != *value && !is_part(option, value) && !is_part(value, option);
        let mut others = options.iter().filter(is_other);
        !is_said(value, &said)
            && others.any(|other| is_said(other, &said) && !explains(other, &chosen, arguments))
    })
}

/// Returns `true` if one of the calls contradicts the last message of the user: with an option (see [`contradicts_enum`]), with a yes
/// to what the user wants without, or as a call of the opposite function on offer.
pub fn calls_contradict(calls: &[Call], functions: &[Value], last_user: &str) -> bool {
    let of_call = |call: &Call| functions.iter().find(|function| function["name"] == call.name.as_str());
    calls.iter().any(|call| {
        let parameters = of_call(call).map(|function| &function["parameters"]);
        // Several calls share the options of one message: one for the van and one for the car.
        let is_alone = calls.iter().filter(|other| other.name == call.name).count() == 1;
        is_alone
            && (parameters.is_some_and(|parameters| contradicts_enum(&call.arguments, parameters, last_user))
                || affirms_what_is_denied(&call.arguments, last_user))
    }) || calls_the_opposite(calls, functions, last_user)
}

/// Words for no, in lower case.
#[rustfmt::skip] // The words of a language are together.
const NO: &[&str] = &[
    "without", "no", "not", "ohne", "kein", "keine", "keinen", "keinem", "keiner", "nicht", "sin", "sans", "pas", "senza",
    "sem", "zonder", "geen", "utan", "uden", "uten", "bez", "без",
];
/// Words of the names of parameters that are a no themselves.
const OF_DENIALS: &[&str] = &[
    "no", "not", "non", "without", "exclude", "excluded", "skip", "disable", "disabled", "hide", "omit",
    "ignore", "avoid", "free", "ohne", "kein", "sin", "sans", "remove", "suppress", "cancel",
];
/// Words between a no and what it denies, at most.
const MOST_BETWEEN: usize = 2;

/// Whether a yes has a name that the message speaks of only after a no: "without breakfast" for `breakfast`.
fn affirms_what_is_denied(value: &Value, last_user: &str) -> bool {
    let Value::Object(members) = value else { return false };
    members.iter().any(|(name, member)| match member {
        Value::Bool(true) => denies(last_user, name),
        member => affirms_what_is_denied(member, last_user),
    })
}

/// Whether a message speaks of what a parameter is named after, and always with a no before it.
fn denies(said: &str, name: &str) -> bool {
    let (said, spaced) = (said.to_lowercase(), separate(name).to_lowercase());
    let of_name: Vec<&str> = words(&spaced).collect();
    if of_name.iter().any(|word| OF_DENIALS.contains(word)) {
        return false;
    }
    let mut n_denied = 0;
    for clause in said.split(['.', ',', ';', ':', '!', '?', '\n']) {
        let all: Vec<&str> = words(clause).collect();
        for (at, word) in all.iter().enumerate() {
            let mut own = Trace::default();
            own.words.insert((*word).to_owned());
            let is_named = of_name.iter().any(|name| !OF_SWITCHES.contains(name) && own.has_word(name));
            if !is_named {
                continue;
            }
            let before = &all[at.saturating_sub(MOST_BETWEEN + 1)..at];
            // "Not without breakfast" is with it.
            if before.iter().filter(|word| NO.contains(word)).count() != 1 {
                return false;
            }
            n_denied += 1;
        }
    }
    n_denied > 0
}

/// Letters of a word for an action from which its meaning is sure; "on" and "in" have others.
const LEAST_OF_AN_ACTION: usize = 4;

/// Whether a function is called while the user names the opposite one on offer: `close_shutter` for "open the shutter".
fn calls_the_opposite(calls: &[Call], functions: &[Value], last_user: &str) -> bool {
    let is_called = |name: &str| calls.iter().any(|call| call.name == name);
    let others: Vec<&str> = functions
        .iter()
        .filter_map(|function| function["name"].as_str())
        .filter(|name| !is_called(name))
        .collect();
    if calls.is_empty() || others.is_empty() {
        return false;
    }
    let mut said = Trace::default();
    said.add(last_user);
    let mut meanings = Meanings::default();
    calls.iter().any(|call| {
        let own = separate(&call.name).to_lowercase();
        let own: Vec<&str> = words(&own).collect();
        others.iter().any(|other| {
            let other = separate(other).to_lowercase();
            let other: Vec<&str> = words(&other).collect();
            let is_of_same =
                own.len() == 1 && other.len() == 1 || own.iter().any(|word| other.contains(word));
            let only_own: Vec<&str> = own.iter().copied().filter(|word| !other.contains(word)).collect();
            let mut only_other = other.iter().filter(|word| !own.contains(word));
            is_of_same
                && only_other.any(|wanted| {
                    let number = meanings.read(wanted);
                    let is_opposed = only_own.iter().any(|chosen| {
                        let chosen = meanings.read(chosen);
                        meanings.are_opposed(&chosen, &number)
                    });
                    is_opposed && names_action(wanted, &said)
                })
                && !only_own.iter().any(|chosen| said.has_word(chosen))
        })
    })
}

/// Whether the user names an action.
fn names_action(word: &str, said: &Trace) -> bool {
    (word == "off" || word.chars().count() >= LEAST_OF_AN_ACTION) && said.words.contains(word)
}

/// Returns `true` if one of the calls has a number that neither the conversation has nor the docs of its own parameter, as a
/// default or an option: docs are full of other numbers.
pub fn calls_invent_a_number(calls: &[Call], functions: &[Value], conversation: &Trace) -> bool {
    let of_call = |call: &Call| functions.iter().find(|function| function["name"] == call.name.as_str());
    calls.iter().any(|call| {
        of_call(call)
            .is_some_and(|function| invents_a_number(&call.arguments, &function["parameters"], conversation))
    })
}

fn invents_a_number(value: &Value, schema: &Value, conversation: &Trace) -> bool {
    match value {
        Value::Object(members) => members.iter().any(|(name, member)| {
            invents_a_number(member, &schema["properties"][name.as_str()], conversation)
        }),
        Value::Array(elements) => {
            elements.iter().any(|element| invents_a_number(element, &schema["items"], conversation))
        }
        Value::Number(number) => {
            let is_same = |other: &Value| other.as_f64() == number.as_f64();
            let is_option = || schema["enum"].as_array().is_some_and(|options| options.iter().any(is_same));
            // One thing that nobody counts, and none of something.
            let is_plain = || matches!(number.as_i64(), Some(0 | 1));
            !is_plain() && !conversation.has(value) && !is_same(&schema["default"]) && !is_option()
        }
        _ => false,
    }
}

/// Adds the values that were chosen from options, with these.
fn add_choices<'v>(value: &'v Value, schema: &'v Value, choices: &mut Vec<(&'v Value, &'v [Value])>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                add_choices(member, &schema["properties"][name.as_str()], choices);
            }
        }
        Value::Array(elements) => {
            // Of a list the user may name some, and the model may choose more.
            if let [element] = &elements[..] {
                add_choices(element, &schema["items"], choices);
                add_choice(element, schema, choices);
            }
        }
        value => add_choice(value, schema, choices),
    }
}

fn add_choice<'v>(value: &'v Value, schema: &'v Value, choices: &mut Vec<(&'v Value, &'v [Value])>) {
    if let Some(options) = schema["enum"].as_array()
        && (value.is_string() || value.is_number())
    {
        choices.push((value, options));
    }
}

/// Whether the user names an option, with its words or as a number word.
fn is_said(option: &Value, said: &Trace) -> bool {
    let Some(text) = option.as_str() else { return said.gives(option) };
    let spaced = separate(text);
    let lower = spaced.to_lowercase();
    if lower.contains(is_unspaced) {
        return lower.chars().count() >= MIN_UNSPACED && said.text.contains(&lower);
    }
    if lower.chars().count() == 1 && !lower.contains(char::is_numeric) {
        return false;
    }
    if said.gives(&Value::from(lower.as_str())) {
        return true;
    }
    // "rabbits" names the rabbit.
    let is_plural =
        |word: &str| ["s", "es"].iter().any(|ending| said.words.contains(&format!("{word}{ending}")));
    let all: Vec<&str> = words(&lower).collect();
    matches!(all[..], [word] if word.chars().count() >= 3 && is_plural(word))
}

/// Words of the name of an option to switch on, which are of no subject: `include_photos` is about photos.
const OF_SWITCHES: [&str; 22] = [
    "allow", "allowed", "and", "enable", "enabled", "exclude", "flag", "for", "has", "include", "included",
    "is", "not", "of", "only", "return", "set", "should", "show", "the", "use", "with",
];

impl Trace {
    /// Returns `true` if the texts have a word of a parameter's name, in any inflected form: "photos" for `include_photo`.
    ///
    /// Of BFCL's non-Live and Live requests whose answers need a Boolean value other than the default, 85 % have such a word; of
    /// those whose answers leave the parameter out, 20 %.
    pub fn speaks_of(&self, name: &str) -> bool {
        let spaced = separate(name).to_lowercase();
        let of_subject = |word: &&str| !OF_SWITCHES.contains(word);
        words(&spaced).filter(of_subject).any(|word| self.has_word(word))
    }
}

/// The words of an option such as `oneWay`, `one_way`, `ONE-WAY`.
fn separate(option: &str) -> String {
    let mut spaced = String::new();
    let mut was_lower = false;
    for c in option.chars() {
        if c.is_uppercase() && was_lower {
            spaced.push(' ');
        }
        was_lower = c.is_lowercase();
        spaced.push(if matches!(c, '_' | '-') { ' ' } else { c });
    }
    spaced
}

/// Whether one option is in the other: "van" in "van with trailer".
fn is_part(one: &Value, other: &Value) -> bool {
    match (one.as_str(), other.as_str()) {
        (Some(one), Some(other)) => other.to_lowercase().contains(&one.to_lowercase()),
        _ => false,
    }
}

/// Whether the words of an option are those of another argument: the "first" of a name, the 2 of an amount.
fn explains(option: &Value, chosen: &[&Value], arguments: &Value) -> bool {
    if chosen.contains(&option) {
        return true;
    }
    let mut others = Trace::default();
    add_free(arguments, chosen, &mut others);
    is_said(option, &others)
}

/// Adds the values that were not chosen from options.
fn add_free(value: &Value, chosen: &[&Value], trace: &mut Trace) {
    match value {
        Value::Array(elements) => elements.iter().for_each(|element| add_free(element, chosen, trace)),
        Value::Object(members) => members.values().for_each(|member| add_free(member, chosen, trace)),
        Value::String(text) if !chosen.contains(&value) => trace.add(text),
        Value::Number(number) if !chosen.contains(&value) => trace.add(&number.to_string()),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use callsieve_bfcl::conversation::{Message, Role};
    use serde_json::json;

    #[test]
    fn a_number_that_only_other_docs_have_is_invented() {
        let functions =
            [json!({"name": "ring", "description": "Rings one of 4 bells.", "parameters": {"properties": {
            "times": {"type": "integer", "default": 12}, "bell": {"type": "integer", "enum": [7, 8]}}}})];
        let invents = |asked: &str, arguments: Value| {
            let said = Trace::of_messages(&[Message::text(Role::User, asked)]);
            let call = Call { id: None, name: "ring".to_owned(), arguments };
            calls_invent_a_number(&[call], &functions, &said)
        };
        assert!(invents("ring it for me and the kids", json!({"times": 4})));
        assert!(!invents("ring it four times", json!({"times": 4})));
        assert!(
            !invents("ring it", json!({"times": 12, "bell": 8})) && !invents("ring it", json!({"times": 1}))
        );
    }

    use super::*;

    fn parameters() -> Value {
        json!({"type": "dict", "properties": {
            "animal": {"type": "string", "enum": ["goat", "sheep", "cow"]},
            "ticket": {"type": "string", "enum": ["oneWay", "return", "day_pass"]},
            "floor": {"type": "integer", "enum": [1, 2, 3, 12]},
            "note": {"type": "string"},
            "order": {"type": "dict", "properties": {
                "colour": {"type": "string", "enum": ["red", "green", "dark green"]},
                "extras": {"type": "array", "items": {"type": "string", "enum": ["cream", "sugar"]}}}}}})
    }

    #[test]
    fn another_option_in_the_words_of_the_user_contradicts() {
        for (arguments, said) in [
            (json!({"animal": "goat"}), "feed for a sheep"),
            (json!({"animal": "goat"}), "ζωοτροφή για sheep"),
            (json!({"animal": "goat"}), "feed for my cows"),
            (json!({"ticket": "return"}), "one way please"),
            (json!({"ticket": "oneWay"}), "a day pass"),
            (json!({"floor": 1}), "dwunaste, czyli 12"),
            (json!({"floor": 1}), "auf Etage zwei"),
            (json!({"floor": 2}), "lantai tiga"),
            (json!({"order": {"colour": "red"}}), "the green one"),
            (json!({"order": {"extras": ["sugar"]}}), "with cream"),
        ] {
            assert!(contradicts_enum(&arguments, &parameters(), said), "{arguments}: {said}");
        }
    }

    #[test]
    fn an_option_that_the_user_may_mean_does_not_contradict() {
        for (arguments, said) in [
            (json!({"animal": "goat"}), "feed for a goat, not for a sheep"),
            (json!({"animal": "goat"}), "Futter für eine Ziege"),
            (json!({"ticket": "return"}), "hin und zurück"),
            (json!({"floor": 3, "note": "2 keys"}), "top floor, 2 keys"),
            (json!({"order": {"colour": "dark green"}}), "the green one"),
            (json!({"order": {"extras": ["cream", "sugar"]}}), "everything, with cream"),
            (json!({"animal": "goat", "note": "sheep barn"}), "the small one in the sheep barn"),
            (json!({"animal": true, "other": "sheep"}), "sheep"),
            (json!("sheep"), "sheep"),
            (json!({"animal": "goat"}), ""),
        ] {
            assert!(!contradicts_enum(&arguments, &parameters(), said), "{arguments}: {said}");
        }
    }

    #[test]
    fn a_yes_to_what_is_denied_contradicts() {
        let contradicts =
            |name: &str, said: &str| affirms_what_is_denied(&json!({"stay": {name: true}}), said);
        for (name, said) in [
            ("breakfast", "a room without breakfast"),
            ("child_seat", "A car without a child seat, please"),
            ("include_photos", "no new photos"),
            ("breakfast", "Ein Zimmer, ohne breakfast"),
        ] {
            assert!(contradicts(name, said), "{name}: {said}");
        }
        for (name, said) in [
            ("breakfast", "a room with breakfast"),
            ("breakfast", "No, with breakfast"),
            ("breakfast", "not without breakfast"),
            ("breakfast", "without breakfast on Monday, but on Tuesday I want breakfast"),
            ("without_sugar", "without sugar"),
            ("gluten_free", "no gluten"),
            ("breakfast", ""),
        ] {
            assert!(!contradicts(name, said), "{name}: {said}");
        }
        assert!(!affirms_what_is_denied(&json!({"breakfast": false}), "without breakfast"));
    }

    #[test]
    fn a_call_of_the_opposite_function_contradicts() {
        let functions =
            [json!({"name": "open_shutter"}), json!({"name": "close_shutter"}), json!({"name": "ring"})];
        let call = |name: &str| Call { id: None, name: name.into(), arguments: json!({}) };
        let said = "open the bathroom shutter";
        assert!(calls_contradict(&[call("close_shutter")], &functions, said));
        assert!(!calls_contradict(&[call("open_shutter")], &functions, said));
        assert!(!calls_contradict(&[call("close_shutter")], &functions[1..], said));
        assert!(!calls_contradict(&[call("close_shutter")], &functions, "close the open shutter"));
        assert!(!calls_contradict(&[call("close_shutter"), call("open_shutter")], &functions, said));
        assert!(!calls_contradict(&[call("ring")], &functions, said));
    }

    #[test]
    fn several_calls_share_the_options_of_one_message() {
        let functions = [json!({"name": "feed", "parameters": parameters()})];
        let call =
            |animal: &str| Call { id: None, name: "feed".into(), arguments: json!({"animal": animal}) };
        let said = "food for the sheep";
        assert!(calls_contradict(&[call("goat")], &functions, said));
        assert!(!calls_contradict(&[call("goat"), call("sheep")], &functions, said));
        assert!(!calls_contradict(&[Call { name: "other".into(), ..call("goat") }], &functions, said));
    }
}
