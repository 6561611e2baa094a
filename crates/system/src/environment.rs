//! The environment of the program: folders of public sets and of caches, and servers with their keys.
//!
//! It is read once at the start of the program and passed on with the `Registry`. No other
//! file reads environment variables. A key is sent only to its own server; it is never written, printed or hashed.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The variable of the folder of public sets.
pub const SETS: &str = "CALLSIEVE_SETS";
/// The variable of the folder of caches.
pub const CACHES: &str = "CALLSIEVE_CACHE";
/// What these variables were called under the former name of the program, with their names now.
const FORMER: [(&str, &str); 2] = [("TOOLSIEVE_SETS", SETS), ("TOOLSIEVE_CACHE", CACHES)];
/// The variables of server and key that OpenAI's own libraries use.
pub const OPENAI_BASE: &str = "OPENAI_BASE_URL";
const OPENAI_KEY: &str = "OPENAI_API_KEY";
/// The variables of hub and key that the hub's own libraries use.
const HUB_BASE: &str = "HF_ENDPOINT";
const HUB_KEY: &str = "HF_TOKEN";
/// The variable of the Python environment with the official evaluator.
const BFCL: &str = "BFCL_VENV";
/// The variable of the folder in which programs keep their caches; only the official evaluator is below it.
const USER_CACHES: &str = "XDG_CACHE_HOME";
/// The variables that a process for foreign code gets: how programs and their libraries are found, and in which language
/// and folder they work. None of them holds a key.
const HARMLESS: [&str; 6] = ["PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TMPDIR", "LANG", "LC_ALL"];

/// Folders and servers that stages use besides their settings.
#[derive(Clone)]
pub struct Environment(Arc<Values>);

#[derive(Clone)]
struct Values {
    sets: PathBuf,
    caches: PathBuf,
    bfcl: PathBuf,
    harmless: Vec<(OsString, OsString)>,
    supervisor: Vec<OsString>,
    path: OsString,
    openai: Server,
    hub: Server,
}

/// A server and its key, if they are set.
#[derive(Clone)]
pub struct Server {
    /// Its address; `None` is the usual one.
    pub base: Option<String>,
    /// Its key.
    pub key: Option<String>,
}

/// Returns what is wrong with variables of the former name of the program: without a word they would be ignored, and
/// replies that are paid for asked for again.
pub fn former_variable(variable: impl Fn(&str) -> Option<OsString>) -> Option<String> {
    let is_set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    let (former, now) = FORMER.iter().find(|(former, now)| is_set(former) && !is_set(now))?;
    Some(format!(
        "{former} is set, and toolsieve is called callsieve now\nhint: name the folder in {now} instead"
    ))
}

impl Environment {
    /// Reads the variables by their names; a program passes `|name| std::env::var_os(name)`.
    ///
    /// `CALLSIEVE_SETS` and `CALLSIEVE_CACHE` name the folders, by default `~/.cache/callsieve/sets` and
    /// `~/.cache/callsieve`, below the current folder where there is no `HOME`. `OPENAI_BASE_URL` and `OPENAI_API_KEY`
    /// name the server of `endpoint:` embedders and of `evaluate --ask`, `HF_ENDPOINT` and `HF_TOKEN` the hub of
    /// `local:hub:` ones, `BFCL_VENV` the Python environment with the official evaluator, by default
    /// `callsieve/bfcl-venv` in `XDG_CACHE_HOME` or `~/.cache`.
    pub fn read(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let folder = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let usual = || folder("HOME").unwrap_or_else(|| PathBuf::from(".")).join(".cache/callsieve");
        let text = |name| variable(name)?.into_string().ok().filter(|value| !value.trim().is_empty());
        Self(Arc::new(Values {
            sets: folder(SETS).unwrap_or_else(|| usual().join("sets")),
            // With a trailing separator, as in all messages.
            caches: folder(CACHES).unwrap_or_else(|| usual().join("")),
            bfcl: folder(BFCL)
                .or_else(|| Some(folder(USER_CACHES)?.join("callsieve/bfcl-venv")))
                .unwrap_or_else(|| usual().join("bfcl-venv")),
            harmless: HARMLESS
                .iter()
                .filter_map(|name| Some((OsString::from(name), variable(name)?)))
                .collect(),
            supervisor: Vec::new(),
            path: variable("PATH").unwrap_or_default(),
            openai: Server { base: text(OPENAI_BASE), key: text(OPENAI_KEY) },
            hub: Server { base: text(HUB_BASE), key: text(HUB_KEY) },
        }))
    }

    /// Keeps public sets in this folder.
    #[must_use]
    pub fn with_sets(mut self, folder: impl Into<PathBuf>) -> Self {
        Arc::make_mut(&mut self.0).sets = folder.into();
        self
    }

    /// Keeps vectors and models in this folder.
    #[must_use]
    pub fn with_caches(mut self, folder: impl Into<PathBuf>) -> Self {
        Arc::make_mut(&mut self.0).caches = folder.into();
        self
    }

    /// Starts processes that execute calls by this command: a program that calls the supervisor of `callsieve-environment`,
    /// such as `callsieve supervise`.
    #[must_use]
    pub fn with_supervisor(mut self, command: Vec<OsString>) -> Self {
        Arc::make_mut(&mut self.0).supervisor = command;
        self
    }

    /// Returns the command that supervises processes; empty if there is none.
    pub fn supervisor(&self) -> &[OsString] {
        &self.0.supervisor
    }

    /// Returns the PATH.
    pub fn path(&self) -> &OsStr {
        &self.0.path
    }

    /// Returns the folder of public sets.
    pub fn sets(&self) -> &Path {
        &self.0.sets
    }

    /// Returns the folder of caches: vectors and models.
    pub fn caches(&self) -> &Path {
        &self.0.caches
    }

    /// Returns the folder of the Python environment with the official evaluator.
    pub fn bfcl(&self) -> &Path {
        &self.0.bfcl
    }

    /// Returns the variables for a process that executes foreign code, without keys.
    pub fn harmless(&self) -> Vec<(OsString, OsString)> {
        self.0.harmless.clone()
    }

    /// Returns the server of language models.
    pub fn openai(&self) -> &Server {
        &self.0.openai
    }

    /// Returns the server of models that are downloaded.
    pub fn hub(&self) -> &Server {
        &self.0.hub
    }
}

impl Default for Environment {
    /// Returns the default folders below the current one, the default servers, and no key.
    fn default() -> Self {
        Self::read(|_| None)
    }
}

impl fmt::Debug for Environment {
    /// Formats the folders, without servers and keys: an address may hold a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Values { sets, caches, .. } = &*self.0;
        f.debug_struct("Environment").field("sets", sets).field("caches", caches).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_of_the_former_name_is_named_unless_the_new_one_is_set() {
        let set =
            |names: &'static [&str]| move |name: &str| names.contains(&name).then(|| OsString::from("/h"));
        let told = former_variable(set(&["TOOLSIEVE_CACHE"])).unwrap();
        assert!(told.contains("TOOLSIEVE_CACHE is set") && told.contains("in CALLSIEVE_CACHE"), "{told}");
        assert_eq!(former_variable(set(&["TOOLSIEVE_CACHE", "CALLSIEVE_CACHE"])), None);
        assert_eq!(former_variable(set(&["CALLSIEVE_SETS"])), None);
    }

    #[test]
    fn a_variable_wins_over_the_usual_folder_and_an_empty_one_does_not() {
        let read = |variables: &'static [(&str, &str)]| {
            let value =
                |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value);
            Environment::read(move |name| value(name).map(OsString::from))
        };
        let usual = read(&[("HOME", "/h"), (SETS, "")]);
        assert_eq!(
            (usual.sets(), usual.caches()),
            (Path::new("/h/.cache/callsieve/sets"), Path::new("/h/.cache/callsieve"))
        );
        let named = read(&[("HOME", "/h"), (SETS, "/s"), (CACHES, "/c")]);
        assert_eq!((named.sets(), named.caches()), (Path::new("/s"), Path::new("/c")));
        assert_eq!(named.bfcl(), Path::new("/h/.cache/callsieve/bfcl-venv"));
        assert_eq!(read(&[(USER_CACHES, "/u")]).bfcl(), Path::new("/u/callsieve/bfcl-venv"));
        assert_eq!(read(&[(USER_CACHES, "/u"), (BFCL, "/b")]).bfcl(), Path::new("/b"));
        let nowhere = read(&[(OPENAI_BASE, " ")]);
        assert_eq!(nowhere.sets(), Path::new("./.cache/callsieve/sets"));
        assert_eq!(nowhere.openai().base, None);
    }

    #[test]
    fn no_key_and_no_address_is_shown() {
        let variables = |name: &str| Some(OsString::from(format!("secret-{name}")));
        let environment = Environment::read(variables);
        assert_eq!(environment.openai().key.as_deref(), Some("secret-OPENAI_API_KEY"));
        assert_eq!(environment.hub().key.as_deref(), Some("secret-HF_TOKEN"));
        let shown = format!("{environment:?}");
        assert!(!shown.contains("OPENAI") && !shown.contains("HF_"), "{shown}");
        let foreign: Vec<_> = environment.harmless().into_iter().map(|(name, _)| name).collect();
        assert_eq!(foreign, HARMLESS);
    }
}
