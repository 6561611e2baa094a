//! Reads results: the outputs of models, one or more for an id.
//!
//! A system is what one argument holds: a file, or the folder of a model. A folder with the folders of several models
//! holds several systems.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::dataset::objects;
use super::error::{EvaluateError, Result, unfit, unreadable};
use callsieve_llm::models::Usage;
use callsieve_system::folder_entries::entries;

/// The key of the tokens of a prompt that the server had in a cache.
pub(super) const CACHED: &str = "cached_input_token_count";

/// The outputs of one model.
#[derive(Debug)]
pub struct System {
    /// The name: that of the folder or file.
    pub name: String,
    /// The name of the folder, if the system is the folder of a model in a result tree.
    pub folder: Option<String>,
    /// The outputs, in the order of the files.
    pub rows: Vec<ResultRow>,
    /// Whether the system uses function calling.
    pub is_calls: bool,
    /// Whether the functions were given to it with `_` for `.` in their names, as `--ask-mode fc` does.
    pub expects_underscores: bool,
}

/// One output.
#[derive(Debug)]
pub struct ResultRow {
    /// The id of the entry.
    pub id: String,
    /// The number of the output, if an id has several.
    pub sample: Option<Value>,
    /// The output.
    pub output: Output,
    /// The other fields of the row.
    pub fields: Map<String, Value>,
    /// The name of the model, if the row has it.
    pub model: Option<String>,
    /// Seconds until the output was complete.
    pub latency: Amount,
    /// Tokens of the prompt.
    pub input_tokens: Amount,
    /// Tokens of the output.
    pub output_tokens: Amount,
    /// Tokens of the prompt that the server had in a cache.
    cached_tokens: Amount,
    /// The usage of the reply counts here, and not with another output of the same reply.
    has_usage: bool,
    file: PathBuf,
    line: usize,
}

/// A number of a row, or of each step of its turns.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Amount(Vec<f64>);

impl Amount {
    fn of(value: Option<&Value>) -> Self {
        fn read(value: &Value, numbers: &mut Vec<f64>) {
            match value {
                Value::Array(inner) => inner.iter().for_each(|value| read(value, numbers)),
                value => numbers.extend(value.as_f64().filter(|number| *number >= 0.0)),
            }
        }
        let mut numbers = Vec::new();
        if let Some(value) = value {
            read(value, &mut numbers);
        }
        Self(numbers)
    }

    /// Returns the numbers: one, or one for each step.
    pub fn numbers(&self) -> &[f64] {
        &self.0
    }

    /// Returns the sum, if there is a number.
    pub fn sum(&self) -> Option<f64> {
        (!self.0.is_empty()).then(|| self.0.iter().sum())
    }
}

impl ResultRow {
    /// Returns what the reply cost, if it counts with this output.
    pub(super) fn usage<'r>(&'r self, system: &'r str) -> Option<Usage<'r>> {
        self.has_usage.then(|| Usage {
            model: self.model.as_deref().unwrap_or(system),
            is_named: self.model.is_some(),
            input: self.input_tokens.sum(),
            cached: self.cached_tokens.sum(),
            output: self.output_tokens.sum(),
        })
    }
}

/// What a model returned.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// A text that may hold calls in the syntax of the category.
    Text(String),
    /// Calls of a model with function calling: `[{name: arguments}]`.
    Calls(Value),
    /// A text of a model with function calling, so no call.
    Words(String),
    /// The steps of each turn, texts or calls: `[[step, step], [step]]`.
    Turns(Value),
    /// No output: the request failed.
    Failed(String),
}

impl Output {
    /// Returns whether this can only be an output of function calling: an empty list is also what remains of a text model's
    /// turns if the first one failed.
    fn has_calls(&self) -> bool {
        match self {
            Self::Calls(calls) => calls.as_array().is_none_or(|calls| !calls.is_empty()),
            Self::Turns(turns) => {
                let mut steps = turns
                    .as_array()
                    .into_iter()
                    .flatten()
                    .flat_map(|turn| turn.as_array().into_iter().flatten());
                steps.any(Value::is_array)
            }
            Self::Text(_) | Self::Words(_) | Self::Failed(_) => false,
        }
    }
}

/// Reads the systems at these paths. Result files of multi-turn and agentic categories in a folder are read with
/// `has_package`.
///
/// # Errors
/// If a file cannot be read, a line holds no output, or an id has several outputs without a number.
pub fn read(paths: &[PathBuf], has_package: bool) -> Result<Vec<System>> {
    let mut systems = Vec::new();
    for path in paths {
        if path.is_dir() {
            for (name, files) in model_folders(path, has_package)? {
                systems.push(System { folder: Some(name.clone()), ..system(name, &files)? });
            }
        } else {
            systems.push(system(name_of(path), std::slice::from_ref(path))?);
        }
    }
    let mut seen: HashMap<String, usize> = HashMap::new();
    for system in &mut systems {
        let n = seen.entry(system.name.clone()).or_default();
        *n += 1;
        if *n > 1 {
            system.name = format!("{} ({n})", system.name);
        }
    }
    Ok(systems)
}

/// Returns the name of a file without its extension and `_result`.
fn name_of(path: &Path) -> String {
    let name = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy();
    name.strip_suffix("_result").unwrap_or(&name).to_owned()
}

/// Returns the result files below a folder by the folder of their model: the first one above `live`, `non_live` and
/// the like.
fn model_folders(root: &Path, has_package: bool) -> Result<Vec<(String, Vec<PathBuf>)>> {
    const GROUPS: [&str; 9] = [
        "live",
        "non_live",
        "multi_turn",
        "agentic",
        "memory",
        "kv",
        "vector",
        "rec_sum",
        "format_sensitivity",
    ];
    let mut by_model: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in entries(&folder).map_err(|cause| unreadable(&folder, cause))? {
            let path = folder.join(&entry.name);
            let name = entry.name.to_string_lossy().into_owned();
            let kind = entry.kind.map_err(|cause| unreadable(&path, cause))?;
            let is_folder = if kind.is_symlink() {
                path.metadata().map_err(|cause| unreadable(&path, cause))?.is_dir()
            } else {
                kind.is_dir()
            };
            if is_folder {
                folders.push(path);
            } else if name.ends_with("_result.json")
                || path.extension().is_some_and(|extension| extension == "jsonl")
            {
                let is_group = |name: &str| GROUPS.contains(&name);
                let above = path.ancestors().skip(1);
                let model = above
                    .take_while(|folder| folder.starts_with(root))
                    .find(|folder| !folder.file_name().is_some_and(|name| is_group(&name.to_string_lossy())));
                by_model.entry(model.unwrap_or(root).to_owned()).or_default().push(path);
            }
        }
    }
    // Files of multi-turn and agentic categories have other outputs, which only the official package scores.
    let is_scored = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // Conversations that fill a memory before the questions are not scored.
        !name.contains("_prereq_")
            && (has_package || !["multi_turn", "memory", "web_search"].iter().any(|part| name.contains(part)))
    };
    let mut found = Vec::new();
    for (folder, mut files) in by_model {
        files.retain(is_scored);
        files.sort();
        if !files.is_empty() {
            let name = folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy().into_owned();
            found.push((name, files));
        }
    }
    if found.is_empty() {
        let hint = "result files are named BFCL_v4_<category>_result.json, or end in .jsonl";
        return Err(unfit(root, "the folder holds no result file of a scored category", hint));
    }
    Ok(found)
}

fn system(name: String, files: &[PathBuf]) -> Result<System> {
    let mut rows = Vec::new();
    for file in files {
        for (line, object) in objects(file)? {
            read_row(file, line, object, &mut rows)?;
        }
    }
    // A model with function calling that returns a text has made no call, whatever the text looks like.
    let expects_underscores =
        rows.iter().any(|row| row.fields.get("function_calling").is_some_and(|value| *value == true));
    let is_calls = expects_underscores || rows.iter().any(|row| row.output.has_calls());
    if is_calls {
        for row in &mut rows {
            if let Output::Text(text) = &mut row.output {
                row.output = Output::Words(std::mem::take(text));
            }
        }
    }
    check_duplicates(&rows)?;
    Ok(System { name, folder: None, rows, is_calls, expects_underscores })
}

fn check_duplicates(rows: &[ResultRow]) -> Result<()> {
    let mut seen: HashMap<(&str, String), &ResultRow> = HashMap::new();
    for row in rows {
        let sample = row.sample.as_ref().map_or_else(String::new, Value::to_string);
        if let Some(first) = seen.insert((&row.id, sample), row) {
            let number =
                row.sample.as_ref().map_or_else(String::new, |sample| format!(" and \"sample\" {sample}"));
            return Err(EvaluateError::Line {
                path: row.file.clone(),
                line: row.line,
                what: format!(
                    "\"id\": {:?}{number} is also in {}:{}",
                    row.id,
                    first.file.display(),
                    first.line
                ),
                hint: "remove one of the two lines, or number the outputs of an id with \"sample\"",
            });
        }
    }
    Ok(())
}

const HINT: &str = "a line has an \"id\" and one of \"result\", \"text\", \"output\", \"response\" or \"tool_calls\", or is a line of \
                    OpenAI batch output";

fn read_row(
    path: &Path,
    line: usize,
    mut object: Map<String, Value>,
    rows: &mut Vec<ResultRow>,
) -> Result<()> {
    let fault = |what: String| EvaluateError::Line { path: path.to_owned(), line, what, hint: HINT };
    let id = object.shift_remove("id");
    // The id of a line of batch output is that of the reply.
    let id = match object.shift_remove("custom_id").or(id) {
        Some(Value::String(id)) => id,
        Some(other @ Value::Number(_)) => other.to_string(),
        _ => return Err(fault("\"id\": expected a text, found nothing".to_owned())),
    };
    let outputs = outputs(&mut object).map_err(fault)?;
    let number = |value: Option<&Value>| Some(Amount::of(value)).filter(|amount| !amount.0.is_empty());
    let usage = object.get("usage").cloned().or_else(|| outputs.usage.clone()).unwrap_or(Value::Null);
    let tokens = |own: &str, keys: [&str; 2]| {
        number(object.get(own)).or_else(|| keys.iter().find_map(|key| number(usage.get(*key))))
    };
    let input_tokens = tokens("input_token_count", ["prompt_tokens", "input_tokens"]);
    let output_tokens = tokens("output_token_count", ["completion_tokens", "output_tokens"]);
    let cached_tokens =
        number(object.get(CACHED)).or_else(|| number(usage.pointer("/prompt_tokens_details/cached_tokens")));
    let model = object.get("model").and_then(Value::as_str).map(str::to_owned).or(outputs.model);
    let latency = number(object.get("latency"));
    let sample = object.get("sample").filter(|sample| !sample.is_null()).cloned();
    let n = outputs.list.len();
    for (at, output) in outputs.list.into_iter().enumerate() {
        let sample = if n > 1 { Some(json!(at)) } else { sample.clone() };
        let mut fields = object.clone();
        if let (true, Some(sample)) = (n > 1, &sample) {
            fields.insert("sample".to_owned(), sample.clone());
        }
        // Usage is that of the reply, so it counts once.
        let first = |value: &Option<Amount>| value.clone().filter(|_| at == 0).unwrap_or_default();
        rows.push(ResultRow {
            id: id.clone(),
            sample,
            output,
            fields,
            model: model.clone(),
            latency: first(&latency),
            input_tokens: first(&input_tokens),
            output_tokens: first(&output_tokens),
            cached_tokens: first(&cached_tokens),
            has_usage: at == 0,
            file: path.to_owned(),
            line,
        });
    }
    Ok(())
}

struct Outputs {
    list: Vec<Output>,
    usage: Option<Value>,
    model: Option<String>,
}

/// Takes the outputs out of a line, or returns what is wrong with it.
fn outputs(object: &mut Map<String, Value>) -> std::result::Result<Outputs, String> {
    let plain = |output| Ok(Outputs { list: vec![output], usage: None, model: None });
    if let Some(calls) = object.shift_remove("tool_calls").filter(|calls| !calls.is_null()) {
        let text = object.get("content").or_else(|| object.get("text")).and_then(Value::as_str);
        return plain(of_message(&calls, text.unwrap_or_default())?);
    }
    for key in ["result", "text", "output", "response"] {
        let Some(value) = object.shift_remove(key) else { continue };
        return match value {
            Value::String(text) => plain(Output::Text(text)),
            Value::Array(list) if !list.is_empty() && list.iter().all(Value::is_string) => {
                let texts = list.iter().filter_map(Value::as_str);
                Ok(Outputs {
                    list: texts.map(|text| Output::Text(text.to_owned())).collect(),
                    usage: None,
                    model: None,
                })
            }
            Value::Array(list)
                if list.iter().any(|call| call.get("function").is_some_and(Value::is_object)) =>
            {
                plain(of_message(&Value::Array(list), "")?)
            }
            Value::Array(list) if list.iter().any(Value::is_array) => {
                plain(Output::Turns(Value::Array(list)))
            }
            list @ Value::Array(_) => plain(Output::Calls(list)),
            Value::Object(reply) => of_reply(&reply),
            Value::Null if key == "response" => {
                let error = object.get("error").filter(|error| !error.is_null());
                plain(Output::Failed(error.map_or_else(|| "no response".to_owned(), Value::to_string)))
            }
            other => Err(format!("\"{key}\": expected a text or a list of calls, found {other}")),
        };
    }
    Err("expected an output, found none".to_owned())
}

/// Returns the outputs of a reply of an OpenAI-compatible server, or of a line of batch output.
fn of_reply(reply: &Map<String, Value>) -> std::result::Result<Outputs, String> {
    let body = reply.get("body").and_then(Value::as_object).unwrap_or(reply);
    let usage = body.get("usage").cloned();
    let model = body.get("model").and_then(Value::as_str).map(str::to_owned);
    let Some(choices) = body.get("choices").and_then(Value::as_array).filter(|choices| !choices.is_empty())
    else {
        if let Some(calls) = reply.get("tool_calls") {
            let text = reply.get("content").and_then(Value::as_str).unwrap_or_default();
            return Ok(Outputs { list: vec![of_message(calls, text)?], usage, model });
        }
        let status = reply.get("status_code").map_or_else(String::new, |status| format!("status {status}: "));
        let error = body.get("error").map_or_else(|| "no choices".to_owned(), Value::to_string);
        return Ok(Outputs { list: vec![Output::Failed(format!("{status}{error}"))], usage, model });
    };
    let mut list = Vec::new();
    for choice in choices {
        let message = choice.get("message").unwrap_or(&Value::Null);
        let text = message.get("content").and_then(Value::as_str).unwrap_or_default();
        list.push(match message.get("tool_calls").filter(|calls| !calls.is_null()) {
            Some(calls) => of_message(calls, text)?,
            None => Output::Text(text.to_owned()),
        });
    }
    Ok(Outputs { list, usage, model })
}

/// Returns the output of a message: its calls in the form of result files, or its text.
fn of_message(calls: &Value, text: &str) -> std::result::Result<Output, String> {
    let Some(calls) = calls.as_array() else {
        return Err(format!("\"tool_calls\": expected a list of calls, found {calls}"));
    };
    if calls.is_empty() {
        return Ok(Output::Words(text.to_owned()));
    }
    let call = |call: &Value| {
        let function = call.get("function").unwrap_or(call);
        let Some(name) = function.get("name").and_then(Value::as_str) else {
            return Err(format!("\"tool_calls\": expected calls with a function and its name, found {call}"));
        };
        let arguments = function.get("arguments").filter(|arguments| !arguments.is_null());
        Ok(json!({ name: arguments.cloned().unwrap_or_else(|| json!({})) }))
    };
    Ok(Output::Calls(calls.iter().map(call).collect::<std::result::Result<_, _>>()?))
}

#[cfg(test)]
mod tests;
