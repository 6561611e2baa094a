//! The parameters of a doc list whose description says that their value is a telephone number.
//!
//! `send_sms(to: "Phone number of the recipient.")` makes the argument `to` of its calls a telephone number, as if it were called
//! `phone`. Lists in JSON are read with their structure. In other notations a name and its description are recognised where
//! they are next to each other: in a Python dictionary, a docstring, or a comment above a member of TypeScript; these count for
//! all functions of the list. Nothing is parsed that is longer than a doc list can be.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};

use callsieve_text::content_hash::content_hash;

/// The function of parameters in a text of which the structure is not read.
const ANY_FUNCTION: &str = "";
/// Maximum number of words of a description before the words for a telephone number, and words there that make it a fact about one.
const MAX_WORDS_BEFORE: usize = 8;
const OTHER_FACTS: [&str; 30] = [
    "id",
    "identifier",
    "name",
    "message",
    "text",
    "body",
    "content",
    "label",
    "whether",
    "type",
    "format",
    "country",
    "code",
    "prefix",
    "extension",
    "length",
    "count",
    "if",
    "true",
    "status",
    "list",
    "region",
    "carrier",
    "kennung",
    "vorwahl",
    "nachricht",
    "mensaje",
    "indicatif",
    "prefijo",
    "prefisso",
];
/// Keys under which an object has parameters by name, and their descriptions.
const PARAMETERS: [&str; 8] =
    ["properties", "parameters", "arguments", "args", "params", "inputs", "input_schema", "inputSchema"];
const DESCRIPTIONS: [&str; 4] = ["description", "title", "help", "comment"];

/// Words for a telephone number. Borders of words are those of ASCII: with those of Unicode, the search through a text with
/// one other letter is ten times slower.
static PHONE_NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    let numbers = [
        r"(?:tele)?phone(?:'s)?[ _-]?(?:numbers?|no\b\.?|nr\b|#)",
        r"(?:mobile|cell(?:ular|phone)?|landline|whatsapp|fax|sms)(?: phone)?[ _-](?:numbers?|no\b\.?)",
        r"numbers? (?:of the (?:phone|telephone|mobile)|to (?:call|dial|ring|text)\b|(?:that|which) is (?:called|dialled|dialed))",
        r"\bmsisdn\b",
        r"\be\.?164\b",
        r"telefonn?(?:ummer|r\b)|handynummer|mobil(?:telefon)?nummer|rufnummer|telefoonnummer|mobiele nummer|gsm-nummer",
        r"num[ée]ro de (?:t[ée]l[ée]phone|portable|mobile)",
        r"n[úu]mero de (?:tel[ée]fono|telefone|celular|m[óo]vil|telem[óo]vel)|n[úu]mero (?:telef[óo]nico|celular)",
        r"numero di (?:telefono|cellulare)|numero telefonico",
        r"numer(?:u|em)? (?:telefonu|kom[óo]rkowy)|telefonn[íi] číslo|telefonsz[áa]m|puhelinnumero|telefon numaras[ıi]|nomor (?:telepon|hp|ponsel)",
        r"номер\S* (?:мобильного )?телефон|номер\S* (?:мобільного )?телефон",
        r"電話番号|携帯番号|电话号码|手机号|電話號碼|手機號|전화번호|휴대폰 번호",
        r"رقم (?:ال)?(?:هاتف|جوال|موبايل)|מספר (?:ה)?טלפון|फ़ोन नंबर|मोबाइल नंबर|เบอร์โทร|số điện thoại",
    ];
    let numbers = numbers.join("|").replace(r"\b", r"(?-u:\b)");
    Regex::new(&format!("(?i){numbers}")).expect("a valid pattern")
});

/// A name and its description in other notations than JSON.
static NEXT_TO_EACH_OTHER: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let patterns = [
        // A dictionary of Python.
        r#"['"](\w+)['"]\s*:\s*\{[^{}]*?['"]description['"]\s*:\s*['"]([^'"\n]+)"#,
        // A docstring: `to (str): …`, `:param to: …`, `to: …`.
        r"(?m)^[ \t*-]*(?::param\s+(?:\w+\s+)?)?`?(\w+)`?[ \t]*(?:\([^)\n]*\))?[ \t]*[:—–-][ \t]*([^\n]+)",
        // YAML.
        r#"(?m)^\s*-?\s*["']?(\w+)["']?:[ \t]*\n(?:\s+\w+:[ \t]+[^\s][^\n]*\n){0,3}?\s+description:[ \t]*([^\n]+)"#,
    ];
    patterns.iter().map(|pattern| Regex::new(pattern).expect("a valid pattern")).collect()
});
/// A comment above a member, or after it.
static COMMENT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m)^[ \t]*(?://|/?\*+)[ \t]*([^\n]+?)[ \t]*(?:\*/)?\n[ \t]*(\w+)\??[ \t]*:")
        .expect("a valid pattern")
});

/// The parameters of a doc list whose values are telephone numbers, each with its function.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct DeclaredPhones {
    parameters: BTreeSet<(String, String)>,
    id: u128,
}

impl DeclaredPhones {
    /// Returns the parameters of a doc list; `None` if it has none.
    pub fn of(text: &str) -> Option<Self> {
        if !PHONE_NUMBER.is_match(text) {
            return None;
        }
        let mut parameters = BTreeSet::new();
        match serde_json::from_str::<Value>(text) {
            Ok(value) => read(&value, ANY_FUNCTION, &mut parameters),
            Err(_) => read_text(text, &mut parameters),
        }
        let id = content_hash(format!("{parameters:?}"));
        (!parameters.is_empty()).then_some(Self { parameters, id })
    }

    /// Returns true if the value of a parameter of a function is a telephone number.
    pub(super) fn has(&self, function: &str, parameter: &str) -> bool {
        [function, ANY_FUNCTION]
            .iter()
            .any(|function| self.parameters.contains(&((*function).to_owned(), parameter.to_owned())))
    }

    /// Returns a number that is the same for the same parameters.
    pub(super) fn id(&self) -> u128 {
        self.id
    }

    /// Returns the places of the values of these parameters in a call that is written as text: `send_sms(to='…')`.
    pub(super) fn values_in(&self, text: &str) -> Vec<std::ops::Range<usize>> {
        static VALUE: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r#"\b(\w+)["']?\s*[=:]\s*(?:"([^"\\\n]{1,64})"|'([^'\\\n]{1,64})'|(\d{1,19})\b)"#)
                .expect("a valid pattern")
        });
        let is_declared = |name: &str| self.parameters.iter().any(|(_, parameter)| parameter == name);
        VALUE
            .captures_iter(text)
            .filter(|found| is_declared(&found[1]))
            .filter_map(|found| found.get(2).or(found.get(3)).or(found.get(4)))
            .map(|value| value.range())
            .collect()
    }
}

/// Returns true if a description says that the value is a telephone number, not a fact about one.
fn describes_phone(description: &str) -> bool {
    let sentence = description.split(['\n', ';']).next().unwrap_or_default();
    let Some(found) = PHONE_NUMBER.find(sentence) else { return false };
    let before: Vec<String> = sentence[..found.start()]
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    before.len() <= MAX_WORDS_BEFORE && !before.iter().any(|word| OTHER_FACTS.contains(&word.as_str()))
}

fn read(value: &Value, function: &str, all: &mut BTreeSet<(String, String)>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| read(item, function, all)),
        Value::Object(fields) => {
            let name = fields.get("name").and_then(Value::as_str);
            // Of a function, or of a parameter in a list of parameters.
            if let Some(name) = name.filter(|_| !function.is_empty() && says_phone(fields)) {
                all.insert((function.to_owned(), name.to_owned()));
            }
            let has_parameters =
                PARAMETERS.iter().any(|key| fields.get(*key).is_some_and(|it| !it.is_null()));
            let function = name.filter(|_| has_parameters || function.is_empty()).unwrap_or(function);
            for (key, inner) in fields {
                if let (true, Value::Object(parameters)) = (PARAMETERS.contains(&key.as_str()), inner) {
                    read_parameters(parameters, function, all);
                }
                read(inner, function, all);
            }
        }
        _ => {}
    }
}

fn read_parameters(parameters: &Map<String, Value>, function: &str, all: &mut BTreeSet<(String, String)>) {
    for (name, schema) in parameters {
        let is_phone = match schema {
            Value::Object(fields) => says_phone(fields),
            Value::String(description) => name != "description" && describes_phone(description),
            _ => false,
        };
        if is_phone {
            all.insert((function.to_owned(), name.clone()));
        }
    }
}

/// Returns true if the schema of a parameter has such a description, and its values are texts or numbers.
fn says_phone(schema: &Map<String, Value>) -> bool {
    let is_value = schema.get("type").is_none_or(|kind| {
        let kind = kind.to_string();
        !kind.contains("bool") && !kind.contains("object") && !kind.contains("dict")
    });
    let mut descriptions = DESCRIPTIONS.iter().filter_map(|key| schema.get(*key).and_then(Value::as_str));
    is_value && descriptions.any(describes_phone)
}

fn read_text(text: &str, all: &mut BTreeSet<(String, String)>) {
    let mut add = |name: &str, description: &str| {
        if describes_phone(description) && name != "description" {
            all.insert((ANY_FUNCTION.to_owned(), name.to_owned()));
        }
    };
    for pattern in &*NEXT_TO_EACH_OTHER {
        pattern.captures_iter(text).for_each(|found| add(&found[1], &found[2]));
    }
    COMMENT.captures_iter(text).for_each(|found| add(&found[2], &found[1]));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_description_of_a_parameter_declares_a_telephone_number_for_its_function() {
        let schema = r#"{"type": "object", "properties": {"to": {"type": "string", "description": "Phone number of the recipient."},
            "text": {"type": "string", "description": "Message to send to the phone number."},
            "code": {"type": "string", "description": "Country code of the phone number."}}}"#;
        let other = r#"{"name": "transfer", "parameters": {"type": "object", "properties": {"to": {"type": "string", "description": "Account."}}}}"#;
        for text in [
            format!(r#"[{{"type": "function", "function": {{"name": "send", "parameters": {schema}}}}}, {other}]"#),
            format!(r#"[{{"name": "send", "inputSchema": {schema}}}, {other}]"#),
            r#"[{"name": "send", "parameters": [{"name": "to", "type": "string", "description": "Numéro de téléphone du client"}]}]"#.to_owned(),
            r#"{"name": "send", "arguments": {"to": "The telephone number to call", "text": "What to send"}}"#.to_owned(),
        ] {
            let phones = DeclaredPhones::of(&text).expect(&text);
            assert!(phones.has("send", "to"), "{text}: {phones:?}");
            assert_eq!(phones.parameters.len(), 1, "{phones:?}");
            assert!(!phones.has("transfer", "to"), "{phones:?}");
        }
    }

    #[test]
    fn other_notations_declare_it_for_all_functions_of_the_list() {
        for text in [
            "def send(to: str, text: str):\n    \"\"\"Sends a text.\n\n    Args:\n        to (str): Phone number of the recipient.\n        text: What to send.\n    \"\"\"",
            "def send(to, text):\n    '''Sends.\n    :param str to: the mobile number\n    '''",
            "[{'name': 'send', 'parameters': {'to': {'type': 'string', 'description': 'Phone number of the recipient.'}}, }]",
            "type send = (_: {\n  // Phone number of the recipient.\n  to: string,\n  text: string,\n}) => any;",
            "- name: send\n  parameters:\n    to:\n      type: string\n      description: Phone number of the recipient\n",
        ] {
            let phones = DeclaredPhones::of(text).expect(text);
            assert!(phones.has("send", "to") && !phones.has("send", "text"), "{text}: {phones:?}");
        }
    }

    #[test]
    fn a_fact_about_a_telephone_number_is_none() {
        for description in [
            "Id of the phone number",
            "Whether the phone number is public",
            "Model of the phone",
            "Number of calls",
            "Name or phone",
        ] {
            assert!(!describes_phone(description), "{description}");
        }
        for description in [
            "The recipient's mobile number in E.164",
            "Rufnummer",
            "收件人的手机号",
            "номер телефона клиента",
        ] {
            assert!(describes_phone(description), "{description}");
        }
    }

    #[test]
    fn a_call_that_is_written_as_text_has_such_values_too() {
        let text =
            r#"[{"name": "send", "parameters": {"properties": {"to": {"description": "Phone number"}}}}]"#;
        let phones = DeclaredPhones::of(text).unwrap();
        let call = "[send(to='0547712093', text='0547712094')]";
        let values: Vec<&str> = phones.values_in(call).into_iter().map(|place| &call[place]).collect();
        assert_eq!(values, ["0547712093"]);
    }
}
