//! The language model of a run: where its answers come from, what they may cost, and what they would cost.

use std::path::Path;
use std::sync::Arc;

use super::inputs::{check_baselines, check_sink, checked_source, take_inputs};
use super::observer::{Observer, Watched};
use super::{Error, Options, refuse};
use crate::engine::context::Context;
use crate::engine::division::Cuts;
use crate::engine::folder::RunFolder;
use crate::engine::language_model::{LanguageModel, ModelUsage, usages};
use crate::engine::layout::INGEST;
use crate::engine::runner;
use crate::engine::services::Services;
use crate::llm::cache::ReplyCache;
use crate::llm::client::{Client, RetryPolicy};
use crate::llm::models::Models;
use crate::llm::service::{CONCURRENT, ChatService, Dispatch, PendingRequest};
use crate::llm::spending::Spending;
use crate::pipeline::Pipeline;
use crate::text::os_error::cause_of;

/// Where the answers of a language model come from, and what they may cost.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ModelOptions {
    /// Answers come from the cache only; nothing is sent.
    pub cache_only: bool,
    /// Requests at once.
    pub n_concurrent: usize,
    /// Stops before the answers of all calls in the run folder cost more, in US dollars.
    pub max_cost: Option<f64>,
    /// The prices; those of the program if `None`.
    pub prices: Option<Models>,
    /// Requests whose answer an earlier run could not use are sent again, and paid for again.
    pub retry_unusable: bool,
}

impl Default for ModelOptions {
    fn default() -> Self {
        Self {
            cache_only: false,
            n_concurrent: CONCURRENT,
            max_cost: None,
            prices: None,
            retry_unusable: false,
        }
    }
}

/// The models that the source and the stages of a pipeline ask.
fn models(pipeline: &Pipeline) -> Vec<String> {
    let of_stages = pipeline.stages.iter().flat_map(|stage| stage.stage.contract().asks);
    pipeline.source.source.asks().into_iter().chain(of_stages).collect()
}

fn failed(error: &crate::llm::Error) -> Error {
    Error::Request(error.to_string())
}

/// Opens the cache, and the connection if requests may be sent; `None` if no stage asks a model.
///
/// # Errors
/// There is no key for the default server, no price for a limit of cost, or the cache cannot be opened.
pub(super) fn open(pipeline: &Pipeline, options: &ModelOptions) -> Result<Option<ChatService>, Error> {
    let models = models(pipeline);
    if models.is_empty() {
        return Ok(None);
    }
    let prices = options.prices.clone().unwrap_or_else(Models::known);
    let environment = pipeline.registry.environment();
    let dispatch = if options.cache_only {
        Dispatch::CacheOnly
    } else {
        let server = environment.openai();
        if server.key.is_none() && server.base.is_none() {
            return refuse(format!(
                "{} is asked on api.openai.com, and OPENAI_API_KEY is not set\nhint: set it, set OPENAI_BASE_URL for another server, or answer from \
                 the cache only with --cache-only",
                models.join(", ")
            ));
        }
        if options.max_cost.is_some()
            && let Some(model) = models.iter().find(|model| prices.price(model).is_none())
        {
            return refuse(format!(
                "--max-cost: the price of {model} is unknown\nhint: add it with --prices FILE"
            ));
        }
        let policy = RetryPolicy::of_models(options.n_concurrent);
        let client = Client::with_policy(environment, policy).map_err(|error| failed(&error))?.adapting();
        Dispatch::Send {
            client: Box::new(client),
            n_concurrent: options.n_concurrent,
            max_cost: options.max_cost,
        }
    };
    let cache = ReplyCache::open(environment.caches()).map_err(|error| failed(&error))?;
    Ok(Some(ChatService::new(cache, prices, dispatch).retrying_unusable(options.retry_unusable)))
}

/// Has a service count what earlier calls in a run folder paid for.
///
/// # Errors
/// The file with it cannot be read or written, or a limit of cost is given and a model that they asked has no price.
pub(super) fn in_folder(
    service: ChatService,
    folder: &RunFolder,
    options: &ModelOptions,
) -> Result<ChatService, Error> {
    let path = folder.spent();
    let spending = if path.is_symlink() {
        return refuse(format!("{} is a symbolic link\nhint: remove it", path.display()));
    } else {
        Spending::open(&path)
            .map_err(|cause| Error::Request(format!("opening {}: {}", path.display(), cause_of(&cause))))?
    };
    if let (Some(line), Some(_)) = (spending.damaged_line(), options.max_cost) {
        return refuse(format!(
            "--max-cost: {}:{line}: found a line that is no paid reply, so what earlier runs paid is not known\nhint: restore the file, or begin again with --fresh",
            path.display()
        ));
    }
    let paid = match (spending.paid(service.models()), options.max_cost) {
        (Ok(paid), _) => paid,
        (Err(_), None) => 0.0,
        (Err(model), Some(_)) => {
            return refuse(format!(
                "--max-cost: an earlier run in {} asked {model}, and its price is unknown\nhint: add it with --prices FILE, or begin again with --fresh",
                folder.path().display()
            ));
        }
    };
    Ok(service.with_spending(spending, paid))
}

/// The planned requests to the language models of a pipeline.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct ModelPlan {
    /// The usage of the source and of each stage that asks, in order: requests, those in the cache, estimated tokens and cost.
    pub stages: Vec<(String, ModelUsage)>,
    /// The requests without an answer in the cache.
    pub pending: Vec<PendingRequest>,
}

/// Runs the stages of a pipeline in a scratch folder, sends nothing, and returns what would be sent. The folder is removed.
///
/// Rows without an answer are held, so a later stage that asks as well is estimated without them.
///
/// # Errors
/// As [`execute`](super::execute()); also if no stage asks a language model.
pub fn plan_requests(
    pipeline: &Pipeline,
    scratch: &Path,
    options: &Options,
    observer: &dyn Observer,
) -> Result<ModelPlan, Error> {
    let (source, _) = checked_source(&pipeline.source)?;
    check_baselines(pipeline, None)?;
    check_sink(pipeline, &source)?;
    if models(pipeline).is_empty() {
        return refuse(
            "no stage of the pipeline asks a language model\nhint: a stage does with --set judge-queries.judge=rules-then-llm --set judge-queries.model=NAME",
        );
    }
    let prices = options.model.prices.clone().unwrap_or_else(Models::known);
    let cache = ReplyCache::open(pipeline.registry.environment().caches()).map_err(|error| failed(&error))?;
    let service = Arc::new(
        ChatService::new(cache, prices, Dispatch::Collect).retrying_unusable(options.model.retry_unusable),
    );
    let folder = RunFolder::take_as(scratch, &options.command_line())?;
    let ran = (|| {
        folder.clear()?;
        let source = take_inputs(&source, &folder, &|| observer.is_cancelled())?;
        let watched = Watched(observer);
        let model: Arc<dyn LanguageModel> = Arc::clone(&service) as Arc<dyn LanguageModel>;
        let services = Services::default()
            .with_decisions(Arc::clone(&pipeline.decisions))
            .with_language_model(Some(model));
        let cx = Context::new(pipeline.seed, &watched, &watched).with_services(services);
        let cuts = Cuts { parts: options.parts, batch_rows: options.batch_rows };
        runner::run_cut(&folder, &*source.source, &pipeline.stages, cuts, &cx).map_err(Error::Halfway)
    })();
    let usages = ran.map(|outcome| {
        let steps = outcome.stages.iter().map(|stage| (stage.id.as_str(), &stage.notes));
        usages(std::iter::once((INGEST, &outcome.ingest.notes)).chain(steps)).collect()
    });
    drop(folder);
    // It holds raw text of the log.
    let removed = std::fs::remove_dir_all(scratch);
    let stages = usages?;
    removed.map_err(|cause| {
        Error::Request(format!(
            "{} cannot be removed: {cause}\nhint: remove it, it holds raw text",
            scratch.display()
        ))
    })?;
    Ok(ModelPlan { stages, pending: service.take_pending() })
}
