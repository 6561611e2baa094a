//! The source `tool-samples`: rows without words, each a few functions about which a language model is to write an instruction.
//!
//! The samples are those of ToolLLM (Qin et al., 2023, appendix A.7): one tool (I1), several of one category (I2), or several of one
//! collection (I3), up to three functions of each. Every function begins a sample before one begins a second, so that none is left out
//! by chance. A reply of a model gives several instructions: rows of one sample have the same functions, and a slot each. Where an
//! environment has a state, a sample has values of it, since a model cannot know which orders or people there are.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use callsieve_engine::columns::{
    EXTERNAL_ID, FILE, FOLLOWING_MESSAGES, LINE, LOG_FORMAT, MESSAGES, PROGRAM, RECORD, RESPONSE, STRATUM,
    TEXT, WANTED,
};
use callsieve_engine::context::Context;
use callsieve_engine::error::{At as _, Error, Result};
use callsieve_engine::fingerprint::Fingerprint;
use callsieve_engine::kind::KindSettings;
use callsieve_engine::manifest::InputFile;
use callsieve_engine::raw::{DocListRow, InputsRead, Intake, RequestRow, RowCells, SourcePlace};
use callsieve_engine::source::Source;
use callsieve_engine::vocabulary::ColumnSpec;
use callsieve_environment::call::Origin;
use callsieve_environment::environment::Environment;
use callsieve_programs::bindings::Bindings;
use callsieve_programs::pool::Pools;
use callsieve_programs::random::Random;
use callsieve_programs::stratum::{Shares, Stratum};
use callsieve_system::environment::Environment as System;
use callsieve_system::side_file;
use callsieve_text::content_hash::content_hash;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::environment::{functions_file, of_collection, open, within_collection};
use crate::record::{Record, Sample, UNEXECUTED};
use crate::source::{CONDITIONS, tool_doc};

/// The source and its settings.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ToolSamples {
    /// The file that describes the environment of the functions. Its classes are tools; without classes it is one tool.
    pub environment: PathBuf,
    /// The run folder of a collection: its tools, with their categories. With an environment, only functions of both.
    pub collection: Option<PathBuf>,
    /// The number of instructions that are wanted.
    pub accept: usize,
    /// The most candidates that are made for them; 0 for 20 times as many.
    pub max_candidates: u64,
    /// Candidates that are made in addition, because stages drop most. A run that exports too few is repeated with more by itself.
    pub spare: usize,
    /// The share of samples of one tool (`i1`), of tools of one category (`i2`), and of one collection (`i3`).
    pub levels: BTreeMap<Level, f64>,
    /// The share of each kind of instruction: `single`, `chain`, `parallel`, `multiple-tools`, `missing-parameter`, `missing-function`,
    /// `irrelevance`.
    pub kinds: Shares,
    /// Instructions that a model is asked for at once, 1 to 20.
    pub per_reply: usize,
    /// The most tools of a sample of several, 2 to 5.
    pub most_tools: usize,
    /// The most functions of a tool in a sample, 1 to 10.
    pub most_functions: usize,
    /// What the program has from its surroundings.
    #[serde(skip)]
    #[schemars(skip)]
    system: System,
}

/// Where the tools of a sample are from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// One tool.
    I1,
    /// Tools of one category.
    I2,
    /// Tools of one collection.
    I3,
}

impl Level {
    /// Returns its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::I1 => "i1",
            Self::I2 => "i2",
            Self::I3 => "i3",
        }
    }
}

/// Kinds of instructions that a model writes.
const KINDS: [(Stratum, f64); 8] = [
    (Stratum::Single, 0.25),
    (Stratum::Chain, 0.3),
    (Stratum::Parallel, 0.1),
    (Stratum::MultipleTools, 0.15),
    (Stratum::MultiTurn, 0.05),
    (Stratum::MissingParameter, 0.05),
    (Stratum::MissingFunction, 0.05),
    (Stratum::Irrelevance, 0.05),
];

impl Default for ToolSamples {
    fn default() -> Self {
        Self {
            environment: PathBuf::new(),
            collection: None,
            accept: 100,
            max_candidates: 0,
            spare: 0,
            levels: [(Level::I1, 0.5), (Level::I2, 0.3), (Level::I3, 0.2)].into(),
            kinds: Shares(KINDS.into()),
            per_reply: 5,
            most_tools: 5,
            most_functions: 3,
            system: System::default(),
        }
    }
}

impl KindSettings for ToolSamples {
    const NAME: &'static str = "tool-samples";
    const SUMMARY: &'static str = "samples of functions about which a language model writes instructions";

    fn set_environment(&mut self, environment: &System) {
        self.system = environment.clone();
    }

    fn check(&self) -> std::result::Result<(), String> {
        self.kinds.check().map_err(|error| error.replace("strata", "kinds"))?;
        if let Some(kind) = self.kinds.0.keys().find(|kind| !KINDS.iter().any(|(own, _)| own == *kind)) {
            return Err(format!(
                "kinds.{} is made by programs only; expected single, chain, parallel, multiple-tools, missing-parameter, missing-function or irrelevance",
                kind.name()
            ));
        }
        let shares: Vec<f64> = self.levels.values().copied().collect();
        if shares.iter().any(|share| !(share.is_finite() && *share >= 0.0))
            || shares.iter().sum::<f64>() <= 0.0
        {
            return Err("levels must be 0 or more, and one of them above 0".to_owned());
        }
        for (key, value, range) in [
            ("accept", self.accept, 1..=usize::MAX),
            ("per_reply", self.per_reply, 1..=20),
            ("most_tools", self.most_tools, 2..=5),
            ("most_functions", self.most_functions, 1..=10),
        ] {
            if !range.contains(&value) {
                let most = *range.end();
                let upper = if most == usize::MAX { String::new() } else { format!(" to {most}") };
                return Err(format!("{key} must be {}{upper}, not {value}", range.start()));
            }
        }
        Ok(())
    }
}

/// A tool of the samples.
#[derive(Debug, Clone, PartialEq)]
struct ToolOf {
    name: String,
    category: Option<String>,
    collection: Option<String>,
    functions: Vec<Value>,
}

/// What samples are drawn from.
struct Pool {
    name: String,
    origin: &'static str,
    state: String,
    tools: Vec<ToolOf>,
    /// The tool and the place in it of each function.
    functions: Vec<(usize, usize)>,
    /// The values of the initial state by function and parameter.
    values: BTreeMap<String, BTreeMap<String, Vec<Value>>>,
}

/// A sample: what all its rows share.
#[derive(Debug, Clone, PartialEq)]
struct Drawn {
    kind: Stratum,
    level: Level,
    tools: Vec<String>,
    functions: Vec<Value>,
    /// The function that the request needs and that is not offered.
    withheld: Option<Value>,
    /// Values of the initial state by `function.parameter`.
    values: BTreeMap<String, Vec<Value>>,
}

/// Values of a parameter that a sample has.
const VALUES_OF_PARAMETER: usize = 5;

impl ToolSamples {
    fn own_files(&self) -> Vec<PathBuf> {
        let environment = Some(&self.environment).filter(|file| !file.as_os_str().is_empty()).cloned();
        environment.into_iter().chain(self.collection.as_deref().map(functions_file)).collect()
    }

    fn environment(&self) -> Result<Arc<dyn Environment>> {
        match (self.environment.as_os_str().is_empty(), &self.collection) {
            (true, None) => Err(Error::Setting(
                "no environment and no collection is named\nhint: give the file that describes an environment as `environment` under [ingest], or the run folder of a collection as `collection`".to_owned(),
            )),
            (true, Some(run)) => of_collection(run),
            (false, None) => open(&self.environment, &self.system),
            (false, Some(run)) => within_collection(open(&self.environment, &self.system)?, run),
        }
    }

    fn pool(&self) -> Result<Pool> {
        let environment = self.environment()?;
        let docs: Vec<(&str, Value)> = environment
            .functions()
            .iter()
            .map(|function| (function.name(), tool_doc(&function.doc)))
            .collect();
        let tools = match &self.collection {
            Some(run) => tools_of(run, &docs)?,
            None => by_class(&*environment),
        };
        let functions: Vec<(usize, usize)> = tools
            .iter()
            .enumerate()
            .flat_map(|(tool, of)| (0..of.functions.len()).map(move |function| (tool, function)))
            .collect();
        if functions.is_empty() {
            return Err(Error::Setting(format!("the environment {} has no function", environment.name())));
        }
        let state = environment.initial_states().first().map(|state| state.name.clone()).unwrap_or_default();
        Ok(Pool {
            name: environment.name().to_owned(),
            origin: environment.origin().name(),
            state,
            tools,
            functions,
            values: values_of(&*environment),
        })
    }

    /// The most candidates that are made.
    fn most_candidates(&self) -> u64 {
        const PER_INSTRUCTION: u64 = 20;
        match self.max_candidates {
            0 => (self.accept as u64).saturating_mul(PER_INSTRUCTION),
            most => most,
        }
    }
}

/// The values that parameters have in the first initial state, of those whose docs do not list them; none if nothing is executed.
fn values_of(environment: &dyn Environment) -> BTreeMap<String, BTreeMap<String, Vec<Value>>> {
    let mut all = BTreeMap::new();
    if environment.origin() == Origin::Unexecuted {
        return all;
    }
    let pools = Pools::new(environment, &Bindings::default());
    for (at, callable) in pools.callables.iter().enumerate() {
        for (nth, parameter) in callable.parameters.iter().enumerate() {
            let is_listed = !parameter.schema["enum"].is_null();
            let literals = pools.literals(0, at, nth).iter().map(|candidate| candidate.value.clone());
            let literals: Vec<Value> =
                literals.filter(|value| value.is_string() || value.is_number()).collect();
            if !is_listed && !literals.is_empty() {
                let of_function: &mut BTreeMap<String, Vec<Value>> =
                    all.entry(callable.name.clone()).or_default();
                of_function.insert(parameter.name.clone(), literals);
            }
        }
    }
    all
}

/// The tools of a collection, with those of their functions that can be offered.
fn tools_of(run: &Path, docs: &[(&str, Value)]) -> Result<Vec<ToolOf>> {
    let file = run.join("dataset").join(crate::collection::sink::TOOLS);
    let text = side_file::read_text(&file).at("reading", &file)?;
    let mut tools = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let tool: Value = serde_json::from_str(line)
            .map_err(|error| Error::Input(format!("{}:{}: {error}", file.display(), at + 1)))?;
        let names = tool["functions"].as_array().into_iter().flatten().filter_map(|one| one["name"].as_str());
        let functions: Vec<Value> =
            names.filter_map(|name| Some(docs.iter().find(|(own, _)| *own == name)?.1.clone())).collect();
        let text = |key: &str| tool[key].as_str().map(str::to_owned);
        if !functions.is_empty() {
            tools.push(ToolOf {
                name: text("name").unwrap_or_default(),
                category: text("category"),
                collection: text("collection"),
                functions,
            });
        }
    }
    Ok(tools)
}

/// The classes of an environment as tools; all its functions are one if it has none.
fn by_class(environment: &dyn Environment) -> Vec<ToolOf> {
    let mut tools: Vec<ToolOf> = Vec::new();
    for function in environment.functions() {
        let name = function.class.clone().unwrap_or_else(|| environment.name().to_owned());
        let doc = tool_doc(&function.doc);
        match tools.iter_mut().find(|tool| tool.name == name) {
            Some(tool) => tool.functions.push(doc),
            None => tools.push(ToolOf {
                name,
                category: None,
                collection: Some(environment.name().to_owned()),
                functions: vec![doc],
            }),
        }
    }
    tools
}

impl Pool {
    /// Draws a sample. The first so many begin with each function once.
    fn draw(&self, nth: u64, seed: u64, settings: &ToolSamples) -> Drawn {
        let mut random = Random::new(seed, nth);
        let mut order: Vec<usize> = (0..self.functions.len()).collect();
        let of_round = nth / self.functions.len() as u64;
        Random::new(seed ^ 0x5eed, of_round).shuffle(&mut order);
        let at = usize::try_from(nth % self.functions.len() as u64).unwrap_or_default();
        let (first, function) = self.functions[order[at]];
        let level = *at_share(&settings.levels, |shares| random.weighted(shares)).unwrap_or(&Level::I1);
        // A set has few samples, so each kind gets its share of them by their order.
        let kind = at_share(&settings.kinds.0, |shares| Random::spread(seed, nth, shares));
        let kind = *kind.unwrap_or(&Stratum::Single);
        let (level, tools) = self.tools_with(first, level, settings, &mut random);
        let mut functions: Vec<Value> = Vec::new();
        for &tool in &tools {
            let mut own: Vec<usize> = (0..self.tools[tool].functions.len()).collect();
            random.shuffle(&mut own);
            if tool == first {
                own.retain(|one| *one != function);
                own.insert(0, function);
            }
            // A single tool has no others beside it.
            let most = if tools.len() == 1 { settings.most_functions * 2 } else { settings.most_functions };
            own.truncate(most);
            own.sort_unstable();
            functions.extend(own.into_iter().map(|one| self.tools[tool].functions[one].clone()));
        }
        let mut withheld = None;
        let seed_name = &self.tools[first].functions[function]["name"];
        if kind == Stratum::MissingFunction
            && let Some(at) = functions.iter().position(|one| one["name"] == *seed_name)
        {
            withheld = Some(functions.remove(at));
        }
        let tools = tools.into_iter().map(|tool| self.tools[tool].name.clone()).collect();
        // A prompt about a missing function shows that one alone.
        let shown = if withheld.is_some() { withheld.as_slice() } else { &functions };
        let values = self.some_values(shown.iter(), &mut random);
        Drawn { kind, level, tools, functions, withheld, values }
    }

    /// Some values of the parameters of functions.
    fn some_values<'f>(
        &self,
        functions: impl Iterator<Item = &'f Value>,
        random: &mut Random,
    ) -> BTreeMap<String, Vec<Value>> {
        let mut some = BTreeMap::new();
        for name in functions.filter_map(|function| function["name"].as_str()) {
            for (parameter, values) in self.values.get(name).into_iter().flatten() {
                let mut values = values.clone();
                random.shuffle(&mut values);
                values.truncate(VALUES_OF_PARAMETER);
                some.insert(format!("{name}.{parameter}"), values);
            }
        }
        some
    }

    /// The tools of a sample that begins with one, and its level: the wished one, if there are others of its category or collection.
    fn tools_with(
        &self,
        first: usize,
        level: Level,
        settings: &ToolSamples,
        random: &mut Random,
    ) -> (Level, Vec<usize>) {
        let key = |tool: &ToolOf| match level {
            Level::I1 => None,
            Level::I2 => tool.category.clone(),
            Level::I3 => tool.collection.clone(),
        };
        let own = key(&self.tools[first]);
        let is_beside = |at: &usize| *at != first && own.is_some() && key(&self.tools[*at]) == own;
        let mut others: Vec<usize> = (0..self.tools.len()).filter(is_beside).collect();
        if others.is_empty() {
            return (Level::I1, vec![first]);
        }
        random.shuffle(&mut others);
        others.truncate(1 + random.below(settings.most_tools - 1));
        others.push(first);
        others.sort_unstable();
        (level, others)
    }
}

/// Returns the key of the share that `draw` takes of them.
fn at_share<K>(shares: &BTreeMap<K, f64>, draw: impl FnOnce(&[u64]) -> Option<usize>) -> Option<&K> {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Shares are checked.
    let weights: Vec<u64> = shares.values().map(|share| (share * 1e6) as u64).collect();
    shares.keys().nth(draw(&weights)?)
}

impl Source for ToolSamples {
    fn with_spare(&self, spare: u64) -> Option<Arc<dyn Source>> {
        let spare = usize::try_from(spare).ok()?;
        let is_more = (self.accept + self.spare) as u64 <= self.most_candidates();
        is_more.then(|| Arc::new(Self { spare, ..self.clone() }) as Arc<dyn Source>)
    }

    fn check(&self) -> Result<()> {
        self.pool().map(|_| ())
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(4);
        let pool = self.pool()?;
        let environment = self.environment()?;
        fingerprint.add_part("environment", environment.fingerprint().to_string().as_bytes());
        let tools: Vec<Value> = pool
            .tools
            .iter()
            .map(|tool| json!([tool.name, tool.category, tool.collection, tool.functions]))
            .collect();
        fingerprint.add_part("tools", Value::Array(tools).to_string().as_bytes());
        let settings = Self { environment: PathBuf::new(), collection: None, ..self.clone() };
        let settings = serde_json::to_string(&settings).map_err(|error| Error::Setting(error.to_string()))?;
        fingerprint.add_part("settings", settings.as_bytes());
        Ok(())
    }

    fn columns(&self) -> Vec<ColumnSpec> {
        vec![
            EXTERNAL_ID,
            FILE,
            LINE,
            RECORD,
            LOG_FORMAT,
            MESSAGES,
            RESPONSE,
            FOLLOWING_MESSAGES,
            PROGRAM,
            STRATUM,
            WANTED,
            TEXT,
        ]
    }

    fn inputs(&self) -> Result<Vec<InputFile>> {
        self.own_files().iter().map(|file| InputFile::read(file, &|| false)).collect()
    }

    fn read(&self, into: &mut Intake, cx: &Context<'_>) -> Result<InputsRead> {
        let pool = self.pool()?;
        let per_reply = self.per_reply as u64;
        // Whole samples: one with fewer slots would be another request, and be paid for again in a later round.
        let wanted =
            ((self.accept + self.spare) as u64).next_multiple_of(per_reply).min(self.most_candidates());
        let mut drawn: Option<(u64, Drawn)> = None;
        for number in 0..wanted {
            if cx.cancelled() {
                return Err(Error::Interrupted);
            }
            let (nth, slot) = (number / per_reply, number % per_reply);
            if drawn.as_ref().is_none_or(|(last, _)| *last != nth) {
                drawn = Some((nth, pool.draw(nth, cx.seed, self)));
            }
            if let Some((_, drawn)) = &drawn {
                into.request(self.row(number + 1, (nth, slot), drawn, &pool))?;
            }
            cx.progress.advance(1);
        }
        let conditions = json!({"origin": pool.origin, "redacted": null});
        Ok(InputsRead {
            inputs: self.inputs()?,
            items: wanted,
            notes: [(CONDITIONS.to_owned(), conditions)].into(),
            ..InputsRead::default()
        })
    }
}

impl ToolSamples {
    /// The row of a slot of a sample.
    fn row(&self, number: u64, (nth, slot): (u64, u64), drawn: &Drawn, pool: &Pool) -> RequestRow {
        let name = |function: &Value| function["name"].as_str().unwrap_or_default().to_owned();
        let record = Record {
            instruction: String::new(),
            stratum: drawn.kind,
            style: "model".to_owned(),
            wording: String::new(),
            person: None,
            tier: UNEXECUTED.to_owned(),
            turns: Vec::new(),
            calls: Vec::new(),
            answer: String::new(),
            answer_from: Vec::new(),
            together: drawn.kind.is_at_once(),
            offered: drawn.functions.iter().map(name).collect(),
            withheld: drawn.withheld.as_ref().map(name),
            environment: pool.name.clone(),
            origin: pool.origin.to_owned(),
            state: pool.state.clone(),
            end_state: None,
            redacted: false,
            wordings: Vec::new(),
            useless_keys: BTreeMap::new(),
            sample: Some(Sample {
                number: nth,
                slot,
                level: drawn.level.name().to_owned(),
                tools: drawn.tools.clone(),
                withheld: drawn.withheld.clone(),
                values: drawn.values.clone(),
            }),
            scenario: None,
        };
        let list = Value::Array(drawn.functions.clone()).to_string();
        let place = SourcePlace { file: 0, line: number, record: number };
        let at = i64::try_from(number).unwrap_or(i64::MAX);
        let program = json!(record).to_string();
        let cells = RowCells::default()
            .with(EXTERNAL_ID, Some(format!("m{number:06}")))
            .with(FILE, Some(0_i64))
            .with(LINE, Some(at))
            .with(RECORD, Some(at))
            .with(LOG_FORMAT, Some(Self::NAME.to_owned()))
            .with(MESSAGES, Some("[]".to_owned()))
            .with(STRATUM, Some(drawn.kind.name().to_owned()))
            .with(WANTED, i64::try_from(self.accept).ok())
            .with(PROGRAM, Some(program.clone()));
        RequestRow {
            content_key: content_hash(format!("{number}\n{program}")),
            place,
            // Rows are in the order of their candidates.
            time_ms: Some(at),
            log_format: Self::NAME,
            list: DocListRow {
                content_key: content_hash(&list),
                cells: RowCells::default().with(TEXT, Some(list)),
            },
            joined: None,
            cells,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool() -> Pool {
        let tool = |name: &str, category: &str, n: usize| ToolOf {
            name: name.to_owned(),
            category: Some(category.to_owned()),
            collection: Some("c".to_owned()),
            functions: (0..n).map(|at| json!({"name": format!("{name}_{at}")})).collect(),
        };
        let tools = vec![tool("bell", "sound", 4), tool("horn", "sound", 2), tool("gate", "doors", 5)];
        let functions = tools
            .iter()
            .enumerate()
            .flat_map(|(at, tool)| (0..tool.functions.len()).map(move |nth| (at, nth)))
            .collect();
        let values =
            [("bell_0".to_owned(), [("id".to_owned(), (0..9).map(Value::from).collect())].into())].into();
        Pool { name: "p".to_owned(), origin: "declared", state: String::new(), tools, functions, values }
    }

    #[test]
    fn every_function_begins_a_sample_before_one_begins_a_second() {
        let (pool, settings) = (pool(), ToolSamples::default());
        let mut names: Vec<String> = Vec::new();
        for nth in 0..11 {
            let drawn = pool.draw(nth, 7, &settings);
            assert_eq!(drawn, pool.draw(nth, 7, &settings));
            let all = drawn.functions.iter().chain(&drawn.withheld);
            names.extend(all.map(|function| function["name"].as_str().unwrap().to_owned()));
            match drawn.level {
                Level::I1 => assert_eq!(drawn.tools.len(), 1),
                Level::I2 => assert_eq!(drawn.tools, ["bell", "horn"]),
                Level::I3 => assert!((2..=3).contains(&drawn.tools.len())),
            }
            // Of the functions that the prompt shows: of a missing one that alone.
            let shown = drawn.withheld.as_ref().map_or(&drawn.functions[..], std::slice::from_ref);
            let has_bell = shown.iter().any(|one| one["name"] == "bell_0");
            assert_eq!(drawn.values.get("bell_0.id").map(Vec::len), has_bell.then_some(VALUES_OF_PARAMETER));
            assert_eq!(drawn.withheld.is_some(), drawn.kind == Stratum::MissingFunction);
        }
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 11);
    }

    #[test]
    fn a_prompt_about_a_missing_function_has_values_of_that_one_only() {
        let pool = pool();
        let kinds = Shares([(Stratum::MissingFunction, 1.0)].into());
        let settings = ToolSamples { kinds, ..ToolSamples::default() };
        let drawn: Vec<Drawn> = (0..40).map(|nth| pool.draw(nth, 7, &settings)).collect();
        let offers_bell =
            |drawn: &&Drawn| drawn.functions.iter().any(|function| function["name"] == "bell_0");
        assert!(drawn.iter().filter(offers_bell).count() > 0);
        assert!(drawn.iter().filter(offers_bell).all(|drawn| drawn.values.is_empty()));
        let lacks_bell = |drawn: &&Drawn| drawn.withheld.as_ref().is_some_and(|one| one["name"] == "bell_0");
        assert!(drawn.iter().filter(lacks_bell).count() > 0);
        assert!(drawn.iter().filter(lacks_bell).all(|drawn| drawn.values.contains_key("bell_0.id")));
    }

    #[test]
    fn settings_out_of_range_are_refused() {
        for (settings, expected) in [
            (ToolSamples { per_reply: 0, ..ToolSamples::default() }, "per_reply must be 1 to 20, not 0"),
            (ToolSamples { most_tools: 9, ..ToolSamples::default() }, "most_tools must be 2 to 5, not 9"),
            (ToolSamples { accept: 0, ..ToolSamples::default() }, "accept must be 1, not 0"),
            (
                ToolSamples {
                    kinds: Shares([(Stratum::ErrorRecovery, 1.0)].into()),
                    ..ToolSamples::default()
                },
                "kinds.error-recovery is made by programs only",
            ),
            (
                ToolSamples { levels: [(Level::I1, 0.0)].into(), ..ToolSamples::default() },
                "levels must be 0 or more",
            ),
        ] {
            let error = KindSettings::check(&settings).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
        assert_eq!(KindSettings::check(&ToolSamples::default()), Ok(()));
    }
}
