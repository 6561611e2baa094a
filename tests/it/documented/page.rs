//! The fenced blocks of a Markdown page.

use std::path::Path;

/// A page and its blocks, in order.
pub(crate) struct Page {
    /// The file's name without its extension.
    pub(crate) name: String,
    /// Its path.
    pub(crate) path: String,
    /// Its blocks that hold commands.
    pub(crate) blocks: Vec<Block>,
}

/// A fenced block with commands.
pub(crate) enum Block {
    /// Lines to run.
    Run(Vec<String>),
    /// Lines that cannot run here.
    NoRun(Vec<String>),
    /// Commands with their outputs.
    Console {
        /// In the order of the block.
        commands: Vec<Command>,
    },
}

/// A command of a transcript.
pub(crate) struct Command {
    /// The command line.
    pub(crate) line: String,
    /// The lines below it.
    pub(crate) output: Vec<String>,
}

impl Page {
    /// Reads a page.
    pub(crate) fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap();
        let mut blocks = Vec::new();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let Some(kind) = line.trim_start().strip_prefix("```") else { continue };
            let block: Vec<&str> =
                lines.by_ref().take_while(|line| !line.trim_start().starts_with("```")).collect();
            match kind.trim() {
                "sh" => blocks.push(Block::Run(commands(&block))),
                "sh norun" => blocks.push(Block::NoRun(commands(&block))),
                "console" => blocks.push(Block::Console { commands: transcript(&block) }),
                other => assert!(
                    !["bash", "shell", "zsh", "cmd"].contains(&other),
                    "{}: a block of commands is marked `{other}`; write `sh`, `sh norun` or `console`",
                    path.display()
                ),
            }
        }
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        Self { name, path: path.display().to_string(), blocks }
    }
}

/// Returns the commands of a block. Lines that end in a backslash continue in the next; comments and blank lines are
/// not commands.
fn commands(block: &[&str]) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    let mut open = String::new();
    for line in block {
        let line = line.trim_end();
        if let Some(begun) = line.strip_suffix('\\') {
            open += begun;
            continue;
        }
        open += line;
        let command = std::mem::take(&mut open);
        let command = command.split("  #").next().unwrap_or_default().trim();
        if !command.is_empty() && !command.starts_with('#') {
            commands.push(command.to_owned());
        }
    }
    commands
}

fn transcript(block: &[&str]) -> Vec<Command> {
    let mut commands: Vec<Command> = Vec::new();
    for line in block {
        if let Some(typed) = line.strip_prefix("$ ") {
            commands.push(Command { line: typed.to_owned(), output: Vec::new() });
        } else if let Some(command) = commands.last_mut() {
            command.output.push(line.trim_end().to_owned());
        }
    }
    commands
}

/// Writes an output below its command on a page, at the first such command of a transcript.
pub(crate) fn replace_output(path: &Path, line: &str, output: &[String]) {
    let text = std::fs::read_to_string(path).unwrap();
    let mut new = Vec::new();
    let mut is_old = false;
    for current in text.lines() {
        if is_old && (current.starts_with("$ ") || current.starts_with("```")) {
            is_old = false;
        }
        if !is_old {
            new.push(current.to_owned());
        }
        if current == format!("$ {line}") {
            new.extend(output.iter().cloned());
            is_old = true;
        }
    }
    std::fs::write(path, new.join("\n") + "\n").unwrap();
}
