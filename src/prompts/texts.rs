//! Functions and conversations as a language model gets them, and requests about them.

use serde_json::{Map, Value, json};

use crate::conversation::{Message, Role};
use crate::engine::language_model::ChatRequest;
use crate::text::words::for_each_word;

/// The temperature of several samples; a single one has 0.
const SAMPLING: f64 = 0.7;
/// Longest text in characters; a longer one is not asked about.
const MAX_CHARS: usize = 100_000;

/// Texts that a model is asked about.
#[derive(Debug)]
pub struct Texts {
    /// As the model gets them.
    text: String,
    functions: Value,
}

impl Texts {
    /// Returns the texts of a request; `None` if they are too long.
    pub fn request(functions: &[Value], messages: &[Message]) -> Option<Self> {
        let mut text = "=== CONVERSATION ===\n".to_owned();
        for message in messages {
            let role = match message.role {
                Role::System => "system",
                Role::User => "user",
                Role::Assistant => "assistant",
                Role::Tool => "tool",
            };
            text += &format!("[{role}] {}\n", message.content);
            for call in &message.calls {
                text += &format!("[{role} calls] {} {}\n", call.name, call.arguments);
            }
        }
        Self::new(functions, &text)
    }

    /// Returns the texts of a doc list; `None` if they are too long.
    pub fn docs(functions: &[Value]) -> Option<Self> {
        Self::new(functions, "")
    }

    /// Returns the texts of a message of a training set and one of a benchmark; `None` if they are too long.
    pub fn pair(train: &str, bench: &str) -> Option<Self> {
        let text =
            format!("=== TRAINING MESSAGE ===\n{train}\n=== BENCHMARK MESSAGE ===\n{bench}\n=== END ===");
        Self::of(text, Value::Null)
    }

    /// Returns one text without functions.
    pub fn plain(text: &str) -> Self {
        Self { text: format!("=== TEXT ===\n{text}\n=== END ==="), functions: Value::Null }
    }

    fn new(functions: &[Value], more: &str) -> Option<Self> {
        let functions = Value::Array(functions.to_vec());
        let text = format!("=== FUNCTIONS ===\n{functions}\n{more}=== END ===");
        Self::of(text, functions)
    }

    fn of(text: String, functions: Value) -> Option<Self> {
        (text.chars().count() <= MAX_CHARS).then_some(Self { text, functions })
    }

    /// Whether the words of a quote are in the texts, one after the other. A quote without words is not.
    pub fn hold(&self, quote: &str) -> bool {
        let quoted = words(quote);
        // A model quotes a description as a text or as JSON.
        let mut texts = self.text.clone();
        add_texts(&self.functions, &mut texts);
        quoted.len() >= 2 && words(&texts).contains(&quoted)
    }
}

/// Returns the words of a text in folded case, with a space before and after each.
fn words(text: &str) -> String {
    let mut words = " ".to_owned();
    for_each_word(text, |word| {
        words.push_str(word);
        words.push(' ');
    });
    words
}

/// Adds all texts of a value, names of keys included, as they are without the escapes of JSON.
fn add_texts(value: &Value, texts: &mut String) {
    match value {
        Value::String(text) => texts.push_str(text),
        Value::Array(array) => array.iter().for_each(|value| add_texts(value, texts)),
        Value::Object(object) => {
            for (key, value) in object {
                texts.push_str(key);
                texts.push('\n');
                add_texts(value, texts);
            }
        }
        other => texts.push_str(&other.to_string()),
    }
    texts.push('\n');
}

/// What a model is asked to do with texts, and the form of its answers.
#[derive(Debug)]
pub struct Task {
    /// The name of the form of the answers.
    pub name: &'static str,
    /// The prompt.
    pub prompt: &'static str,
    /// Usual answer in tokens.
    pub usual_output: u64,
    /// Longest answer in tokens.
    pub max_output: u64,
}

impl Task {
    /// Returns the request for one of several samples. `schema` is the JSON Schema of the answer, in the strict form: all members
    /// required, no others.
    pub fn question(
        &self,
        texts: &Texts,
        schema: &Value,
        model: &str,
        sample: u32,
        n_samples: u32,
    ) -> ChatRequest {
        let mut body = Map::new();
        body.insert(
            "messages".to_owned(),
            json!([{"role": "system", "content": self.prompt}, {"role": "user", "content": texts.text}]),
        );
        let form = json!({"name": self.name, "strict": true, "schema": schema});
        body.insert("response_format".to_owned(), json!({"type": "json_schema", "json_schema": form}));
        body.insert("temperature".to_owned(), json!(if n_samples > 1 { SAMPLING } else { 0.0 }));
        body.insert("max_tokens".to_owned(), json!(self.max_output));
        ChatRequest {
            model: model.to_owned(),
            body,
            sample,
            usual_output: self.usual_output,
            max_output: self.max_output,
        }
    }
}
