//! What would be called, and why the other functions are not.

use std::path::Path;

use serde::Serialize;

use super::options::ProbeOptions;
use crate::collection::probe::{Request, request_of};
use crate::collection::tool::{Api, Tool};
use crate::engine::error::{At as _, Error, Result};
use crate::llm::calls::{AllowedHosts, Denied};

/// The tools of a collection, in its dataset.
const TOOLS: &str = "dataset/tools.jsonl";

/// A function of the collection, and whether it is called.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedFunction {
    /// The tool.
    pub tool: String,
    /// The legal name of the function.
    pub function: String,
    /// The method, if the collection has it.
    pub method: Option<String>,
    /// The address as it is requested; otherwise the path, if the collection has one.
    pub address: Option<String>,
    /// The request, or the reason for which there is none.
    pub request: std::result::Result<Request, NotCalled>,
}

/// The reason for which a function is not called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotCalled {
    /// The reason in two or three words, such as `method-not-allowed`.
    pub reason: &'static str,
    /// The reason in a sentence.
    pub detail: String,
}

impl NotCalled {
    pub(super) fn new(reason: &'static str, detail: impl Into<String>) -> Self {
        Self { reason, detail: detail.into() }
    }
}

/// Decides for each function of a collection whether it is called, in the order of their names. Nothing is sent or written.
///
/// # Errors
/// The folder is no finished collection.
pub fn plan(options: &ProbeOptions) -> Result<Vec<PlannedFunction>> {
    let hosts = AllowedHosts::new(options.hosts.clone());
    let mut planned = Vec::new();
    for tool in read_tools(&options.run)? {
        planned.extend(tool.functions.iter().map(|api| planned_function(&tool, api, options, &hosts)));
    }
    planned.sort_by(|a, b| (&a.function, &a.tool).cmp(&(&b.function, &b.tool)));
    Ok(planned)
}

fn planned_function(tool: &Tool, api: &Api, options: &ProbeOptions, hosts: &AllowedHosts) -> PlannedFunction {
    let request = request(tool, api, options, hosts);
    let address = request.as_ref().map_or_else(|_| api.path.clone(), |request| Some(request.address.clone()));
    PlannedFunction {
        tool: tool.name.clone(),
        function: api.name.clone(),
        method: api.method.clone(),
        address,
        request,
    }
}

/// Returns the request of a function that is allowed. A method that is not allowed comes first: nothing else matters then.
fn request(
    tool: &Tool,
    api: &Api,
    options: &ProbeOptions,
    hosts: &AllowedHosts,
) -> std::result::Result<Request, NotCalled> {
    if let Some(method) = &api.method
        && !method.parse().is_ok_and(|method| options.methods.contains(&method))
    {
        return Err(NotCalled::new("method-not-allowed", format!("the method {method} is not allowed")));
    }
    let request =
        request_of(tool, api).map_err(|unable| NotCalled::new(unable.code(), unable.to_string()))?;
    match hosts.check(&request.address) {
        Ok(address) => Ok(Request { address, ..request }),
        Err(denied @ Denied::NotAllowed(_)) => Err(NotCalled::new("host-not-allowed", denied.to_string())),
        Err(denied) => Err(NotCalled::new("no-address", denied.to_string())),
    }
}

/// Reads the tools of a collection.
pub(crate) fn read_tools(run: &Path) -> Result<Vec<Tool>> {
    let path = run.join(TOOLS);
    if !path.is_file() {
        return Err(Error::Setting(format!(
            "{} is not the folder of a finished collection\nhint: callsieve collect FILE --out {}",
            run.display(),
            run.display()
        )));
    }
    let text = crate::side_file::read_text(&path).at("reading", &path)?;
    let lines = text.lines().enumerate();
    let tools = lines.map(|(place, line)| {
        serde_json::from_str(line).map_err(|error| {
            let (path, number) = (path.display(), place + 1);
            Error::Input(format!("{path}:{number}: found {error}, expected a tool\nhint: `callsieve verify` checks the files of a run"))
        })
    });
    tools.collect()
}
