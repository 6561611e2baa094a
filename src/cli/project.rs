//! The project file, `callsieve.toml`: defaults for the options of commands, and the folders of public sets and caches.
//!
//! It is read from the working folder or, inside a Git repository, from the nearest folder above it, not beyond the repository. Options on the
//! command line count instead of those of the file. Relative paths begin at the file.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::builder::ValueParser;
use clap::{Arg, ArgAction};
use toml::{Table, Value};

use crate::environment::{CACHES, SETS};
use crate::side_file;
use crate::text::suggestion::did_you_mean;

/// Its name.
const NAME: &str = "callsieve.toml";
/// The keys at its top that are no commands, with the variables that they stand for.
const FOLDERS: [(&str, &str); 2] = [("sets", SETS), ("cache", CACHES)];
/// Options of one call that no project has.
const OF_ONE_CALL: [&str; 3] = ["help", "version", "part"];
/// Far more than any project needs.
const MOST_BYTES: u64 = 1 << 20;

/// The defaults of a project.
#[derive(Debug, Default)]
pub(super) struct Project {
    /// Where they are; `None` if there is no file.
    file: Option<PathBuf>,
    table: Table,
}

impl Project {
    /// Reads the project file that is nearest to a folder.
    ///
    /// # Errors
    /// It cannot be read, is no TOML, or has a key at its top that is neither a command nor a folder.
    pub(super) fn near(folder: &Path, cli: &dyn Fn() -> clap::Command) -> anyhow::Result<Self> {
        let Some(file) = file_near(folder) else { return Ok(Self::default()) };
        let cli = cli();
        let shown = file.display();
        let size = file.metadata().map_or(0, |facts| facts.len());
        if size > MOST_BYTES {
            bail!("{shown}: found {size} bytes, expected a project file of at most {MOST_BYTES}");
        }
        let read = || -> std::io::Result<String> {
            let mut text = String::new();
            std::io::Read::read_to_string(&mut side_file::open(&file)?, &mut text)?;
            Ok(text)
        };
        let text = read().with_context(|| format!("reading {shown}"))?;
        let table: Table = toml::from_str(&text).with_context(|| format!("{shown} is no TOML"))?;
        let names = || cli.get_subcommands().map(clap::Command::get_name);
        for (key, value) in &table {
            let is_folder = FOLDERS.iter().any(|(name, _)| name == key);
            if is_folder && !value.is_str() {
                bail!("{shown}: {key}: found {}, expected the path of a folder as text", value.type_str());
            }
            if is_folder {
                continue;
            }
            if !names().any(|name| name == key) {
                let known = names().chain(FOLDERS.map(|(name, _)| name));
                bail!(
                    "{shown}: unknown key {key}\nhint: {}tables are named by commands, such as [run]; keys beside them are sets and cache",
                    did_you_mean(key, known)
                );
            }
            if !value.is_table() {
                bail!("{shown}: {key}: found {}, expected a table of options, [{key}]", value.type_str());
            }
        }
        Ok(Self { file: Some(file), table })
    }

    /// Returns the value that it gives a variable of the environment.
    pub(super) fn variable(&self, name: &str) -> Option<OsString> {
        let (key, _) = FOLDERS.iter().find(|(_, variable)| *variable == name)?;
        Some(self.beside_file(self.table.get(*key)?.as_str()?).into())
    }

    /// Returns a path of the file as it is from the working folder.
    fn beside_file(&self, path: &str) -> PathBuf {
        let folder = self.file.as_deref().and_then(Path::parent);
        // A scheme is no folder: hf://datasets/…
        if path.contains("://") || path == "-" {
            return path.into();
        }
        folder.map_or_else(|| path.into(), |folder| folder.join(path))
    }

    /// Returns a command line with the defaults of its command, and what was added to it.
    ///
    /// # Errors
    /// The file has an option that the command does not have, or a value that no option can have.
    pub(super) fn with_defaults(
        &self,
        arguments: &[OsString],
        cli: &dyn Fn() -> clap::Command,
    ) -> anyhow::Result<(Vec<OsString>, Vec<OsString>)> {
        let unchanged = || (arguments.to_vec(), Vec::new());
        let Some(name) = arguments.get(1).and_then(|name| name.to_str()) else { return Ok(unchanged()) };
        let Some(options) = self.table.get(name).and_then(Value::as_table) else { return Ok(unchanged()) };
        let cli = cli();
        let Some(command) = cli.find_subcommand(name) else { return Ok(unchanged()) };
        let file = self.file.as_deref().unwrap_or(Path::new(NAME)).display();
        let mut added = Vec::new();
        for (key, value) in options {
            let known =
                || command.get_arguments().filter_map(Arg::get_long).filter(|it| !OF_ONE_CALL.contains(it));
            let option = command.get_arguments().find(|option| option.get_long() == Some(key));
            let Some(option) = option.filter(|_| !OF_ONE_CALL.contains(&key.as_str())) else {
                bail!(
                    "{file}: [{name}] has no option {key}\nhint: {}`callsieve {name} --help` lists the options",
                    did_you_mean(key, known())
                );
            };
            if !is_given(option, &arguments[2..]) {
                added.extend(
                    self.words(option, key, value).with_context(|| format!("{file}: [{name}] {key}"))?,
                );
            }
        }
        let mut all = arguments[..2].to_vec();
        all.extend(added.iter().cloned());
        all.extend(arguments[2..].iter().cloned());
        Ok((all, added))
    }

    /// Returns an option with its value as words of a command line.
    fn words(&self, option: &Arg, key: &str, value: &Value) -> anyhow::Result<Vec<OsString>> {
        let takes_value = matches!(option.get_action(), ArgAction::Set | ArgAction::Append);
        let word = |value: &Value| -> anyhow::Result<OsString> {
            let text = match value {
                Value::String(text) if is_path(option.get_value_parser()) => {
                    let mut word = OsString::from(format!("--{key}="));
                    word.push(self.beside_file(text));
                    return Ok(word);
                }
                Value::String(text) => text.clone(),
                Value::Integer(number) => number.to_string(),
                Value::Float(number) => number.to_string(),
                Value::Boolean(value) => value.to_string(),
                other => bail!("found {}, expected a text or a number", other.type_str()),
            };
            Ok(format!("--{key}={text}").into())
        };
        match value {
            Value::Boolean(is_set) if !takes_value => {
                Ok(if *is_set { vec![format!("--{key}").into()] } else { Vec::new() })
            }
            other if !takes_value => bail!("found {}, expected true or false", other.type_str()),
            Value::Array(values) => values.iter().map(word).collect(),
            other => Ok(vec![word(other)?]),
        }
    }

    /// What a message about the command line says of defaults.
    pub(super) fn note(&self, added: &[OsString]) -> Option<String> {
        let file = self.file.as_deref().filter(|_| !added.is_empty())?;
        let words: Vec<_> = added.iter().map(|word| word.to_string_lossy()).collect();
        Some(format!("note: {} adds {}", file.display(), words.join(" ")))
    }
}

/// Returns the project file of a folder, or of the nearest one above it in the same repository.
fn file_near(folder: &Path) -> Option<PathBuf> {
    let own = folder.join(NAME);
    if own.is_file() {
        return Some(own);
    }
    let repository = folder.ancestors().find(|above| above.join(".git").exists())?;
    let inside = folder.ancestors().take_while(|above| above.starts_with(repository));
    inside.map(|above| above.join(NAME)).find(|file| file.is_file())
}

/// Whether a command line has an option.
fn is_given(option: &Arg, words: &[OsString]) -> bool {
    let long = option.get_long().map(|long| format!("--{long}"));
    let is_it = |word: &OsString| {
        let Some(word) = word.to_str() else { return false };
        let is_long = long.as_deref().is_some_and(|long| {
            word.strip_prefix(long).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        });
        let is_short = option.get_short().is_some_and(|short| {
            word.strip_prefix('-').is_some_and(|rest| !rest.starts_with('-') && rest.starts_with(short))
        });
        is_long || is_short
    };
    words.iter().take_while(|word| *word != "--").any(is_it)
}

fn is_path(parser: &ValueParser) -> bool {
    parser.type_id() == std::any::TypeId::of::<PathBuf>()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::Cli;

    fn project(text: &str) -> Project {
        Project { file: Some("/p/callsieve.toml".into()), table: toml::from_str(text).unwrap() }
    }

    fn with_defaults(text: &str, line: &str) -> anyhow::Result<String> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let (all, _) = project(text).with_defaults(&words, &Cli::command)?;
        Ok(all.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn options_of_the_file_are_added_unless_the_command_line_has_them() {
        let text = "[run]\nthreads = 4\nquiet = true\nfresh = false\nset = [\"seed=2\", \"split.open_text_words=5\"]\nbaseline = \"out/march\"\nmax-cost = 1.5\n[audit]\nbench = \"b\"\n";
        assert_eq!(
            with_defaults(text, "callsieve run x.jsonl").unwrap(),
            "callsieve run --baseline=/p/out/march --max-cost=1.5 --quiet --set=seed=2 --set=split.open_text_words=5 --threads=4 x.jsonl"
        );
        let given = "callsieve run --threads 2 -q --set=seed=3 --baseline b --max-cost=9 x";
        assert_eq!(with_defaults(text, given).unwrap(), given);
        assert_eq!(with_defaults(text, "callsieve report out/x").unwrap(), "callsieve report out/x");
        // What follows `--` is no option.
        assert!(
            with_defaults("[run]\nthreads = 4\n", "callsieve run -- --threads")
                .unwrap()
                .contains("--threads=4 --")
        );
    }

    #[test]
    fn what_no_option_is_or_can_be_is_refused_with_file_key_and_hint() {
        let why = |text: &str| format!("{:#}", with_defaults(text, "callsieve run x").unwrap_err());
        let unknown = why("[run]\ntreads = 4\n");
        assert!(
            unknown
                .contains("/p/callsieve.toml: [run] has no option treads\nhint: did you mean \"threads\"?"),
            "{unknown}"
        );
        assert!(why("[run]\npart = \"1/2\"\n").contains("has no option part"));
        assert!(
            why("[run]\nquiet = \"yes\"\n").contains("[run] quiet: found string, expected true or false")
        );
        assert!(
            why("[run]\nset = [{ a = 1 }]\n").contains("[run] set: found table, expected a text or a number")
        );
    }

    #[test]
    fn the_nearest_file_of_the_repository_counts_and_none_beyond_it() {
        let home = tempfile::tempdir().unwrap();
        let path = |name: &str| home.path().join(name);
        std::fs::create_dir_all(path("repo/.git")).unwrap();
        std::fs::create_dir_all(path("repo/a/b")).unwrap();
        std::fs::write(path(NAME), "").unwrap();
        assert_eq!(file_near(&path("repo/a/b")), None);
        std::fs::write(path("repo/callsieve.toml"), "sets = \"data/sets\"\n").unwrap();
        assert_eq!(file_near(&path("repo/a/b")), Some(path("repo/callsieve.toml")));
        let project = Project::near(&path("repo/a"), &Cli::command).unwrap();
        assert_eq!(project.variable(SETS), Some(path("repo/data/sets").into()));
        assert_eq!(project.variable("HF_TOKEN"), None);
        for (text, expected) in [
            ("[rum]\n", "unknown key rum\nhint: did you mean \"run\"?"),
            ("run = 1\n", "run: found integer, expected a table of options, [run]"),
            ("sets = 1\n", "sets: found integer, expected the path of a folder as text"),
            ("a = [", "is no TOML"),
        ] {
            std::fs::write(path("repo/a/callsieve.toml"), text).unwrap();
            let error = format!("{:#}", Project::near(&path("repo/a"), &Cli::command).unwrap_err());
            assert!(error.contains(expected) && error.contains("a/callsieve.toml"), "{error}");
        }
    }
}
