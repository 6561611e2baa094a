//! Publishes the dataset of a finished run on the Hugging Face hub.
//!
//! The repository is private unless it is wished otherwise, and a run whose personal values were not replaced is refused. All files go
//! into one commit, except those that the branch has as they are: small texts in the commit itself, others to the storage for large files,
//! which keeps one that it has. `HF_ENDPOINT`
//! and `HF_TOKEN` name another server and the key, as for inputs.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};
use sha1::{Digest as _, Sha1};

use super::error::refuse;
use super::hub_files::DATASETS;
use super::{Error, OpenRun};
use crate::engine::error::{At as _, Error as EngineError};
use crate::engine::fingerprint::sha256_until;
use crate::engine::seal::{SealFault, names_below};
use crate::engine::verify::fault_of_outcome;
use crate::engine::vocabulary::TableId;
use crate::llm::hub::{Hub, MAIN, encoded, is_plain};
use crate::llm::upload::Uploader;

/// The bytes of each file by which the hub decides how it keeps it.
const SAMPLE_BYTES: u64 = 512;
/// The status of a repository that exists already.
const EXISTS: u16 = 409;
const UNAUTHORISED: u16 = 401;
const FORBIDDEN: u16 = 403;
const NOT_FOUND: u16 = 404;
const JSON: &str = "application/json";
const JSON_LINES: &str = "application/x-ndjson";
const LFS: &str = "application/vnd.git-lfs+json";

/// Where and how a dataset is published.
#[derive(Debug, Clone)]
pub struct PushOptions {
    /// `OWNER/NAME`.
    pub repository: String,
    /// Makes the repository public if it does not exist yet.
    pub public: bool,
    /// The branch.
    pub branch: String,
    /// The message of the commit.
    pub message: String,
    /// Sends nothing.
    pub dry_run: bool,
}

/// A published dataset.
#[derive(Debug)]
pub struct Pushed {
    /// The address of the dataset.
    pub url: String,
    /// The commit; `None` if nothing was sent: in a dry run, or because the repository has all files as they are.
    pub commit: Option<String>,
    /// The files with their sizes.
    pub files: Vec<(String, u64)>,
    /// Whether the repository was made now.
    pub is_new: bool,
}

/// A file of the dataset.
struct DatasetFile {
    name: String,
    path: PathBuf,
    n_bytes: u64,
    sha256: String,
}

#[derive(Deserialize)]
struct Preupload {
    files: Vec<PreuploadFile>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PreuploadFile {
    path: String,
    upload_mode: String,
    /// The repository's own rules leave it out.
    #[serde(default)]
    should_ignore: bool,
    /// The content that the branch has under this path: a SHA-256 in the storage for large files, otherwise a hash of git.
    #[serde(default)]
    oid: Option<String>,
}

impl PreuploadFile {
    fn is_large(&self) -> bool {
        self.upload_mode == "lfs"
    }

    /// Whether the branch has the file as it is.
    fn has(&self, file: &DatasetFile) -> Result<bool, Error> {
        let Some(known) = &self.oid else { return Ok(false) };
        let own = if self.is_large() { file.sha256.clone() } else { git_blob(&file.bytes()?) };
        Ok(*known == own)
    }
}

impl DatasetFile {
    fn bytes(&self) -> Result<Vec<u8>, Error> {
        Ok(std::fs::read(&self.path).at("reading", &self.path)?)
    }
}

/// The name by which git knows a content.
fn git_blob(content: &[u8]) -> String {
    let hash = Sha1::new().chain_update(format!("blob {}\0", content.len())).chain_update(content).finalize();
    hash.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

#[derive(Deserialize)]
struct Batch {
    objects: Vec<BatchObject>,
}

#[derive(Deserialize)]
struct BatchObject {
    oid: String,
    #[serde(default)]
    actions: Option<Actions>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Actions {
    #[serde(default)]
    upload: Option<Action>,
    #[serde(default)]
    verify: Option<Action>,
}

#[derive(Deserialize)]
struct Action {
    href: String,
    #[serde(default)]
    header: BTreeMap<String, String>,
}

impl OpenRun {
    /// Publishes the dataset of the run; `on_file` receives a line for each large file that is sent.
    ///
    /// # Errors
    /// The run has no dataset, or personal values of its inputs were not replaced; there is no key; the repository is public and was to be
    /// private; the hub cannot be reached or refuses.
    pub fn push(&self, options: &PushOptions, on_file: &mut dyn FnMut(&str)) -> Result<Pushed, Error> {
        let named = &options.repository;
        let parts = named.split_once('/').filter(|(owner, name)| is_plain(owner) && is_plain(name));
        let Some((owner, name)) = parts else {
            return refuse(format!(
                "{named}: this names no repository\nhint: a dataset is OWNER/NAME, such as me/support-requests"
            ));
        };
        if !options.branch.split('/').all(is_plain) {
            return refuse(format!("{}: this names no branch\nhint: the default is main", options.branch));
        }
        self.check_redacted()?;
        let files = self.dataset_files()?;
        let failed_before = |error: crate::llm::Error| Error::Request(format!("{DATASETS}{named}: {error}"));
        let hub = Hub::of(self.registry.environment()).map_err(failed_before)?;
        let base = hub.base();
        let url = format!("{base}/{DATASETS}{named}");
        let sizes = files.iter().map(|file| (file.name.clone(), file.n_bytes)).collect();
        if options.dry_run {
            return Ok(Pushed { url, commit: None, files: sizes, is_new: false });
        }
        if !hub.has_key() {
            return refuse(format!(
                "{base} takes datasets with a key only\nhint: set HF_TOKEN to a token that may write; {base}/settings/tokens makes one"
            ));
        }
        let failed = |error: crate::llm::Error| Error::Request(format!("{url}: {error}"));
        let uploader = hub.uploader().map_err(failed)?;
        let dataset = Dataset { uploader, base, repository: named, failed: &failed };
        let is_new = dataset.make(owner, name, options.public)?;
        // From here on something was changed: the repository exists.
        let commit = dataset.commit(&files, options, on_file).map_err(|error| match error {
            Error::Request(what) => Error::Halfway(EngineError::Setting(what)),
            error => error,
        })?;
        Ok(Pushed { url, commit, files: sizes, is_new })
    }

    /// Refuses a run whose rows come from files and keep the personal values in them.
    fn check_redacted(&self) -> Result<(), Error> {
        if self.folder.join(crate::engine::layout::HITS).is_file() {
            return refuse(format!(
                "{}: this is an audit: its sets are copies of training sets, in which nothing was replaced\nhint: publish those as their owner does",
                self.folder.display()
            ));
        }
        let redacts = |table| self.manifests.iter().any(|manifest| manifest.redacts() == Some(table));
        let is_of_files = !self.ingest.log_formats.is_empty() && self.job().reads_logs();
        if is_of_files && !TableId::ALL.into_iter().all(redacts) {
            return refuse(format!(
                "{}: personal values in it were not replaced: its pipeline lacks redact or redact-docs\nhint: run it with both, as the recipe does, and read the dataset before you publish it",
                self.folder.display()
            ));
        }
        Ok(())
    }

    fn dataset_files(&self) -> Result<Vec<DatasetFile>, Error> {
        let folder = self.folder.join("dataset");
        if !folder.is_dir() {
            return refuse(format!(
                "{}: the run has no dataset\nhint: its pipeline needs [export]",
                self.folder.display()
            ));
        }
        // A file that somebody put there may hold anything.
        if let Some(SealFault { file, detail, .. }) =
            fault_of_outcome(&self.folder, |name| name.starts_with("dataset/"))?
        {
            let run = self.folder.display();
            return refuse(format!(
                "{run}: {file}: {detail}; expected the dataset as the run wrote it\nhint: `callsieve verify {run}` lists what is wrong there; move files of your own elsewhere"
            ));
        }
        let file = |name: String| -> Result<DatasetFile, Error> {
            let path = folder.join(&name);
            let n_bytes = path.metadata().at("reading", &path)?.len();
            let sha256 = sha256_until(&path, &|| false)?;
            Ok(DatasetFile { name, path, n_bytes, sha256 })
        };
        names_below(&folder)?.0.into_iter().map(file).collect()
    }
}

/// A repository of a dataset on the hub.
struct Dataset<'h> {
    uploader: Uploader,
    base: &'h str,
    repository: &'h str,
    failed: &'h dyn Fn(crate::llm::Error) -> Error,
}

impl Dataset<'_> {
    fn api(&self, what: &str) -> String {
        format!("{}/api/{DATASETS}{}{what}", self.base, self.repository)
    }

    fn refuse<T>(&self, what: &str) -> Result<T, Error> {
        refuse(format!("{}/{DATASETS}{}: {what}", self.base, self.repository))
    }

    /// Makes the repository. Returns whether it is new.
    fn make(&self, owner: &str, name: &str, public: bool) -> Result<bool, Error> {
        let body = json!({"type": "dataset", "organization": owner, "name": name, "private": !public});
        let url = format!("{}/api/repos/create", self.base);
        // A token for one repository may not make others.
        let expected = [EXISTS, UNAUTHORISED, FORBIDDEN];
        let made = self.uploader.send(&url, &body.to_string(), JSON, &expected).map_err(self.failed)?;
        if !expected.contains(&made.status) {
            return Ok(true);
        }
        let there = self.uploader.ask(&self.api(""), &[NOT_FOUND]).map_err(self.failed)?;
        if there.status == NOT_FOUND {
            let said = made.body["error"].as_str().unwrap_or("it makes no repository with this token");
            return self.refuse(&format!(
                "HTTP status {}: {said}\nhint: HF_TOKEN must be a token that may write there",
                made.status
            ));
        }
        if there.body["private"] != true && !public {
            return self.refuse(
                "this repository is public\nhint: --public says that it may be; another name makes a private one",
            );
        }
        Ok(false)
    }

    /// Commits the files that the branch has not yet. Returns the commit; `None` if it has all of them.
    fn commit(
        &self,
        files: &[DatasetFile],
        options: &PushOptions,
        on_file: &mut dyn FnMut(&str),
    ) -> Result<Option<String>, Error> {
        let branch = encoded(&options.branch).replace('/', "%2F");
        let wanted = self.wanted(files, &branch)?;
        if wanted.is_empty() {
            return Ok(None);
        }
        let large = wanted.iter().filter(|(_, is_large)| *is_large);
        let large: Vec<&DatasetFile> = large.map(|(file, _)| *file).collect();
        self.store(&large, &options.branch, on_file)?;
        let header = json!({"key": "header", "value": {"summary": options.message, "description": ""}});
        let mut lines = format!("{header}\n");
        for (file, is_large) in wanted {
            let line = if is_large {
                json!({"key": "lfsFile", "value": {"path": file.name, "algo": "sha256", "oid": file.sha256, "size": file.n_bytes}})
            } else {
                json!({"key": "file", "value": {"path": file.name, "encoding": "base64", "content": STANDARD.encode(file.bytes()?)}})
            };
            lines += &format!("{line}\n");
        }
        let url = self.api(&format!("/commit/{branch}"));
        let answer = self.uploader.send(&url, &lines, JSON_LINES, &[NOT_FOUND]).map_err(self.failed)?;
        if answer.status == NOT_FOUND {
            return self.refuse(&format!(
                "it has no branch {}: nothing was committed\nhint: make the branch on the page of the dataset, or push to main",
                options.branch
            ));
        }
        match answer.body["commitOid"].as_str() {
            Some(commit) => Ok(Some(commit.to_owned())),
            None => self.refuse("the hub took the commit and does not name it\nhint: check HF_ENDPOINT"),
        }
    }

    /// Returns the files that are to be committed, each with whether the hub keeps it in its storage for large files: those that its
    /// rules do not leave out, and that the branch does not have as they are.
    fn wanted<'f>(
        &self,
        files: &'f [DatasetFile],
        branch: &str,
    ) -> Result<Vec<(&'f DatasetFile, bool)>, Error> {
        let mut asked = Vec::with_capacity(files.len());
        for file in files {
            let mut sample = Vec::new();
            let opened =
                File::open(&file.path).and_then(|file| file.take(SAMPLE_BYTES).read_to_end(&mut sample));
            opened.at("reading", &file.path)?;
            asked.push(json!({"path": file.name, "size": file.n_bytes, "sample": STANDARD.encode(sample)}));
        }
        let url = self.api(&format!("/preupload/{branch}"));
        let body = json!({ "files": asked }).to_string();
        let answer = self.uploader.send(&url, &body, JSON, &[]).map_err(self.failed)?;
        let Ok(Preupload { files: modes }) = serde_json::from_value(answer.body) else {
            return self.refuse("the hub does not say how it keeps the files\nhint: check HF_ENDPOINT");
        };
        let mut wanted = Vec::new();
        for file in files {
            let mode = modes.iter().find(|mode| mode.path == file.name);
            let is_wanted = match mode {
                Some(mode) => !mode.should_ignore && !mode.has(file)?,
                None => true,
            };
            if is_wanted {
                wanted.push((file, mode.is_some_and(PreuploadFile::is_large)));
            }
        }
        Ok(wanted)
    }

    /// Sends files to the storage, except those that it has.
    fn store(
        &self,
        files: &[&DatasetFile],
        branch: &str,
        on_file: &mut dyn FnMut(&str),
    ) -> Result<(), Error> {
        if files.is_empty() {
            return Ok(());
        }
        let objects: Vec<Value> =
            files.iter().map(|file| json!({"oid": file.sha256, "size": file.n_bytes})).collect();
        let body = json!({
            "operation": "upload",
            "transfers": ["basic"],
            "objects": objects,
            "hash_algo": "sha256",
            "ref": {"name": branch},
        });
        let url = format!("{}/{DATASETS}{}.git/info/lfs/objects/batch", self.base, self.repository);
        let answer = self.uploader.send(&url, &body.to_string(), LFS, &[]).map_err(self.failed)?;
        let Ok(Batch { objects }) = serde_json::from_value(answer.body) else {
            return self.refuse("the hub does not say where large files go\nhint: check HF_ENDPOINT");
        };
        for file in files {
            let Some(object) = objects.iter().find(|object| object.oid == file.sha256) else {
                return self.refuse(&format!("the hub does not say where {} goes", file.name));
            };
            if let Some(error) = &object.error {
                return self.refuse(&format!("the hub refuses {}: {error}", file.name));
            }
            // Without an action the storage has the file.
            let Some(upload) = object.actions.as_ref().and_then(|actions| actions.upload.as_ref()) else {
                continue;
            };
            on_file(&format!("uploading {}", file.name));
            self.uploader.put(&upload.href, &file.path, &upload.header).map_err(self.failed)?;
            if let Some(verify) = object.actions.as_ref().and_then(|actions| actions.verify.as_ref()) {
                // It gets the key.
                if !verify.href.starts_with(&format!("{}/", self.base)) {
                    return self.refuse(&format!("the hub has {} checked by another server", file.name));
                }
                let body = json!({"oid": file.sha256, "size": file.n_bytes}).to_string();
                self.uploader.send(&verify.href, &body, LFS, &[]).map_err(self.failed)?;
            }
        }
        Ok(())
    }
}

impl Default for PushOptions {
    fn default() -> Self {
        Self {
            repository: String::new(),
            public: false,
            branch: MAIN.to_owned(),
            message: "Dataset by callsieve".to_owned(),
            dry_run: false,
        }
    }
}
