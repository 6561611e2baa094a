//! Models of the Hugging Face hub, downloaded once to the folder of caches.
//!
//! A downloaded revision never changes, so a second run needs no network; the model's id depends
//! on its content. Only the files that are read are downloaded. An interrupted download leaves a
//! `.partial` folder and starts again.

use std::path::{Path, PathBuf};

use super::ModelError;
use super::files::{
    CONFIG, MODULES, Module, PROMPTS, SENTENCE, TOKENIZER, TOKENIZER_CONFIG, VOCABULARY, WEIGHTS, bad,
};
use callsieve_engine::context::Cancelled;
use callsieve_engine::error::At as _;
use callsieve_llm::hub::{Hub, Repository};

/// The files of a model, and whether they are required.
const FILES: [(&str, bool); 8] = [
    (CONFIG, true),
    (TOKENIZER, false),
    (VOCABULARY, false),
    (TOKENIZER_CONFIG, false),
    (WEIGHTS, true),
    (MODULES, false),
    (SENTENCE, false),
    (PROMPTS, false),
];

/// The prefix of a model of the hub in a setting.
pub const HUB: &str = "hub:";

/// Parses `OWNER/NAME[@REVISION]` into owner with name, and revision; only accepts characters that are safe in an address
/// and in the name of a folder.
pub fn parse_model(model: &str) -> Option<(String, String)> {
    let Repository { owner, name, revision } = Repository::parse(model)?;
    Some((format!("{owner}/{name}"), revision.to_owned()))
}

/// Returns the folder of a model, downloading it if necessary.
///
/// # Errors
/// If the hub cannot be reached or does not have the model, or a file cannot be written.
pub fn model_folder(
    hub: &Hub,
    repo: &str,
    revision: &str,
    caches: &Path,
    cancelled: Cancelled<'_>,
) -> Result<PathBuf, ModelError> {
    let folder = caches.join("models").join(format!("{repo}@{revision}").replace('/', "--"));
    if folder.is_dir() {
        return Ok(folder);
    }
    let downloader = hub.downloader()?;
    let partial = folder.with_added_extension("partial");
    std::fs::create_dir_all(&partial).at("making", &partial)?;
    let url = format!("{}/{repo}/resolve/{revision}", hub.base());
    for (file, is_needed) in FILES {
        let is_there = downloader.get(&format!("{url}/{file}"), &partial.join(file), cancelled)?;
        if is_needed && !is_there {
            return Err(bad(Path::new(repo), format!("{} has no {file} in revision {revision}", hub.base())));
        }
    }
    for file in module_files(&partial)? {
        let path = partial.join(&file);
        let parent = path.parent().unwrap_or(&partial);
        std::fs::create_dir_all(parent).at("making", parent)?;
        downloader.get(&format!("{url}/{file}"), &path, cancelled)?;
    }
    std::fs::rename(&partial, &folder).at("renaming", &partial)?;
    Ok(folder)
}

/// Returns the settings files of modules in subfolders.
fn module_files(folder: &Path) -> Result<Vec<String>, ModelError> {
    let modules = Module::list(folder)?.unwrap_or_default();
    let paths = modules.into_iter().map(|module| module.path).filter(|path| !path.is_empty());
    let files: Vec<String> = paths.map(|path| format!("{path}/{CONFIG}")).collect();
    // A path from a downloaded file must not lead out of the folder.
    match files.iter().find(|file| file.split('/').any(|part| ["..", ""].contains(&part))) {
        Some(strange) => {
            Err(bad(&folder.join(MODULES), format!("{strange} is not a path in the folder of the model")))
        }
        None => Ok(files),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use callsieve_llm::key::Key;
    use callsieve_testkit::server::{ReceivedRequest, Reply, Server};

    fn serve(modules: &'static str) -> Server {
        Server::start(move |request: &ReceivedRequest, _| {
            match request.path.strip_prefix("/org/mini/resolve/v2/") {
                Some(MODULES) => Reply::new(200, modules),
                Some(SENTENCE | PROMPTS | "2_Normalize/config.json") | None => {
                    Reply::new(404, "Entry not found")
                }
                Some(file) => Reply::new(200, file),
            }
        })
    }

    const SOUND: &str = r#"[{"path": "", "type": "a.Transformer"}, {"path": "1_Pooling", "type": "a.Pooling"},
        {"path": "2_Normalize", "type": "a.Normalize"}]"#;

    #[test]
    fn a_model_is_downloaded_once_with_the_files_that_it_has() {
        let (server, caches) = (serve(SOUND), tempfile::tempdir().unwrap());
        let hub = Hub::at(&server.url, Some(Key::new("hf-x").unwrap()));
        let folder = model_folder(&hub, "org/mini", "v2", caches.path(), &|| false).unwrap();
        assert_eq!(folder, caches.path().join("models/org--mini@v2"));
        for file in [CONFIG, TOKENIZER, WEIGHTS, "1_Pooling/config.json"] {
            assert_eq!(std::fs::read_to_string(folder.join(file)).unwrap(), file);
        }
        assert!(!folder.join(SENTENCE).exists());
        let n_requests = server.requests().len();
        assert!(
            server.requests().iter().all(|request| request.header("authorization") == Some("Bearer hf-x"))
        );
        assert_eq!(model_folder(&hub, "org/mini", "v2", caches.path(), &|| false).unwrap(), folder);
        assert_eq!(server.requests().len(), n_requests);
    }

    #[test]
    fn a_missing_model_is_an_error_and_does_not_count_as_downloaded() {
        let (server, caches) = (serve(SOUND), tempfile::tempdir().unwrap());
        let hub = Hub::at(&server.url, None);
        let error = model_folder(&hub, "org/other", "v2", caches.path(), &|| false).unwrap_err().to_string();
        assert!(
            error.contains("org/other") && error.contains("has no config.json in revision v2"),
            "{error}"
        );
        assert!(!caches.path().join("models/org--other@v2").exists());
    }

    #[test]
    fn a_path_out_of_the_folder_is_refused() {
        let server = serve(r#"[{"path": "../../up", "type": "a.Pooling"}]"#);
        let caches = tempfile::tempdir().unwrap();
        let hub = Hub::at(&server.url, None);
        let error = model_folder(&hub, "org/mini", "v2", caches.path(), &|| false).unwrap_err().to_string();
        assert!(error.contains("not a path in the folder of the model"), "{error}");
        assert!(server.requests().iter().all(|request| !request.path.contains("up")));
    }
}
