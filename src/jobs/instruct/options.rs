//! The options of an instruction set, and its pipeline.

use std::path::PathBuf;

use crate::pipeline::{Override, Pipeline, PipelineError};
use crate::stages::Registry;

/// The recipe. Its environment is the sample workshop.
pub const RECIPE: &str = include_str!("../../../pipelines/instructions.toml");
/// Its name in messages.
const RECIPE_NAME: &str = "pipelines/instructions.toml (built in)";
/// The recipe by language models.
pub const RECIPE_BY_MODELS: &str = include_str!("../../../pipelines/instructions-by-models.toml");
/// Its name in messages.
const NAME_BY_MODELS: &str = "pipelines/instructions-by-models.toml (built in)";

/// How instructions are made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Way {
    /// By executing programs, in the words of templates.
    #[default]
    Programs,
    /// The same, in the words of a language model.
    ProgramsWordedBy(String),
    /// By language models, about samples of functions.
    Models(Vec<String>),
}

/// What instructions are made of, and how many.
#[derive(Debug, Clone)]
pub struct GenerateOptions {
    /// How they are made.
    pub way: Way,
    /// The file that describes the environment; `None` if nothing is executed.
    pub environment: Option<PathBuf>,
    /// The run folder of a collection: only its functions are used.
    pub collection: Option<PathBuf>,
    /// A file of sources of values and phrases.
    pub bindings: Option<PathBuf>,
    /// A file of templates.
    pub wording: Option<PathBuf>,
    /// The number of instructions that are wanted.
    pub accept: u64,
    /// The most candidates that are made for them; `None` for 50 times as many.
    pub max_candidates: Option<u64>,
    /// The seed.
    pub seed: Option<u64>,
    /// Other settings of the pipeline; they win.
    pub settings: Vec<Override>,
}

impl GenerateOptions {
    /// Returns the options for so many instructions over an environment.
    pub fn new(environment: PathBuf, accept: u64) -> Self {
        Self { environment: Some(environment), ..Self::of_nothing(accept) }
    }

    /// Returns the options for so many instructions over a collection, of which nothing is executed.
    pub fn over_collection(run: PathBuf, accept: u64) -> Self {
        Self { collection: Some(run), ..Self::of_nothing(accept) }
    }

    fn of_nothing(accept: u64) -> Self {
        Self {
            way: Way::Programs,
            environment: None,
            collection: None,
            bindings: None,
            wording: None,
            accept,
            max_candidates: None,
            seed: None,
            settings: Vec::new(),
        }
    }

    /// Returns the pipeline that makes them.
    ///
    /// # Errors
    /// A setting is wrong.
    pub fn pipeline(&self, registry: &Registry) -> Result<Pipeline, PipelineError> {
        match self.way {
            Way::Models(_) => Pipeline::parse(RECIPE_BY_MODELS, NAME_BY_MODELS, &self.overrides(), registry),
            _ => Pipeline::parse(&recipe(), RECIPE_NAME, &self.overrides(), registry),
        }
    }

    fn overrides(&self) -> Vec<Override> {
        let file = |path: &PathBuf| toml::Value::from(path.to_string_lossy().into_owned()).to_string();
        let of_ingest =
            |key: &str, value: String| Override { id: "ingest".to_owned(), key: key.to_owned(), value };
        let mut overrides = vec![of_ingest("accept", self.accept.to_string())];
        overrides.extend(self.environment.iter().map(|path| of_ingest("environment", file(path))));
        overrides.extend(self.collection.iter().map(|path| of_ingest("collection", file(path))));
        overrides.extend(self.bindings.iter().map(|path| of_ingest("bindings", file(path))));
        overrides.extend(self.wording.iter().map(|path| of_ingest("wording", file(path))));
        overrides.extend(self.max_candidates.map(|most| of_ingest("max_candidates", most.to_string())));
        overrides.extend(self.seed.map(|seed| Override {
            id: String::new(),
            key: "seed".to_owned(),
            value: seed.to_string(),
        }));
        overrides.extend(self.of_models());
        overrides.extend(self.settings.iter().cloned());
        overrides
    }
}

impl GenerateOptions {
    /// The settings of the stages that ask language models and execute what they write.
    fn of_models(&self) -> Vec<Override> {
        let text = |text: &str| toml::Value::from(text).to_string();
        let set =
            |id: &str, key: &str, value: String| Override { id: id.to_owned(), key: key.to_owned(), value };
        // Over a collection alone nothing is executed, and calls are compared by their arguments.
        let environment = self.environment.as_ref().map(|path| text(&path.to_string_lossy()));
        let either =
            environment.clone().or_else(|| self.collection.as_ref().map(|run| text(&run.to_string_lossy())));
        match &self.way {
            Way::Programs => Vec::new(),
            Way::ProgramsWordedBy(model) => {
                let mut all = vec![set("word-instructions", "model", text(model))];
                all.extend(either.map(|of| set("word-instructions", "environment", of)));
                all
            }
            Way::Models(models) => {
                // Of several models, the last one translates back, so that it is not always the one that wrote.
                let back = models.last().map(|model| set("translate-back", "model", text(model)));
                let models = toml::Value::from(models.clone()).to_string();
                let mut all = vec![set("write-instructions", "models", models)];
                all.extend(back);
                all.extend(either.map(|of| set("translate-back", "environment", of)));
                let stages = ["execute-calls", "drop-unneeded-calls"];
                all.extend(
                    environment
                        .iter()
                        .flat_map(|of| stages.map(|stage| set(stage, "environment", of.clone()))),
                );
                all
            }
        }
    }
}

/// The recipe without its own environment.
fn recipe() -> String {
    let of_sample = |line: &&str| !["environment = ", "bindings = "].iter().any(|key| line.starts_with(key));
    RECIPE.lines().filter(of_sample).flat_map(|line| [line, "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::kind::KindSettings as _;
    use crate::instruct::source::Programs;

    #[test]
    fn the_pipeline_has_the_environment_that_is_named_and_no_other() {
        let options =
            GenerateOptions { seed: Some(7), ..GenerateOptions::new(PathBuf::from("mine.toml"), 12) };
        let pipeline = options.pipeline(&Registry::standard()).unwrap();
        assert_eq!((pipeline.seed, pipeline.source.kind), (7, Programs::NAME));
        let settings = &pipeline.source.settings;
        assert_eq!((&settings["environment"], &settings["accept"]), (&"mine.toml".into(), &12.into()));
        assert!(settings["bindings"].is_null());
    }
}
