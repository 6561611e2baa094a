//! The only file that prints or draws: data to standard output, talk to standard error.
//!
//! Bars appear on a terminal only; elsewhere each finished step is one line. A reader
//! that closes the pipe early is no error.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::Mutex;
use std::time::Instant;

use indicatif::{HumanCount, ProgressBar, ProgressStyle};

use crate::engine::stage::Progress;

/// Draws progress on standard error.
pub struct Console {
    is_quiet: bool,
    is_terminal: bool,
    step: Mutex<Option<Step>>,
    /// What was warned of already: two stages may see the same.
    warned: Mutex<BTreeSet<String>>,
}

struct Step {
    name: String,
    bar: ProgressBar,
    start: Instant,
}

impl Console {
    /// Progress for a person, or for nobody when `is_quiet`.
    pub fn new(is_quiet: bool) -> Self {
        Self {
            is_quiet,
            is_terminal: io::stderr().is_terminal(),
            step: Mutex::new(None),
            warned: Mutex::default(),
        }
    }
}

impl Progress for Console {
    fn begin(&self, step: &str, total: Option<u64>) {
        let bar = if self.is_quiet || !self.is_terminal {
            ProgressBar::hidden()
        } else {
            let bar = total.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
            let template = if total.is_some() {
                "{msg:24} {bar:30} {percent:>3} %"
            } else {
                "{msg:24} {spinner} {human_pos} lines"
            };
            bar.with_style(
                ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()),
            )
            .with_message(step.to_owned())
        };
        if let Ok(mut slot) = self.step.lock() {
            *slot = Some(Step { name: step.to_owned(), bar, start: Instant::now() });
        }
    }

    fn advance(&self, rows: u64) {
        if let Ok(slot) = self.step.lock()
            && let Some(step) = &*slot
        {
            step.bar.inc(rows);
        }
    }

    fn end(&self, outcome: &str) {
        let Ok(mut slot) = self.step.lock() else { return };
        if let Some(step) = slot.take() {
            step.bar.finish_and_clear();
            if !self.is_quiet {
                talk(&format!("{:24} {:>7.2} s  {outcome}", step.name, step.start.elapsed().as_secs_f64()));
            }
        }
    }

    fn warn(&self, message: &str) {
        let is_new = self.warned.lock().map_or(true, |mut warned| warned.insert(message.to_owned()));
        if is_new {
            talk(&format!("warning: {message}"));
        }
    }
}

/// Says something to the person, on standard error.
#[allow(clippy::print_stderr)] // This is the place for it.
pub fn talk(message: &str) {
    eprintln!("{message}");
}

/// Gives data, on standard output.
///
/// # Errors
/// Standard output cannot be written; a closed pipe is no error but the end.
pub fn give(text: &str) -> io::Result<()> {
    let written = io::stdout().lock().write_all(text.as_bytes());
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        other => other,
    }
}

/// Whether a person reads standard output.
pub fn is_read_by_a_person() -> bool {
    io::stdout().is_terminal()
}

/// Whether standard output may have colours: a terminal, whose user has not set `NO_COLOR`.
fn has_colours() -> bool {
    is_read_by_a_person() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// How a text looks on a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// As it is.
    Plain,
    /// A heading.
    Bold,
    /// What is gone, or wrong.
    Red,
    /// What is new.
    Green,
}

/// A text in its colour, where standard output has colours.
pub fn painted(paint: Paint, text: &str) -> String {
    let code = match paint {
        Paint::Plain => return text.to_owned(),
        Paint::Bold => 1,
        Paint::Red => 31,
        Paint::Green => 32,
    };
    if has_colours() { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
}

/// A number with thousands set apart.
pub fn count(number: u64) -> String {
    HumanCount(number).to_string()
}

/// A number of things, with the word for one of them or for several.
pub fn counted(number: u64, one: &str, several: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { several })
}

/// A table: columns padded to their widest cell; those in `numbers` stand to the right.
pub fn table(header: &[&str], rows: &[Vec<String>], numbers: &[usize]) -> String {
    let width = |at: usize| {
        rows.iter().map(|row| row[at].chars().count()).chain([header[at].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let line = |cells: Vec<&str>| {
        let mut text = String::new();
        for (at, cell) in cells.into_iter().enumerate() {
            let pad = " ".repeat(widths[at] - cell.chars().count());
            let gap = if at == 0 { "" } else { "  " };
            text += &if numbers.contains(&at) {
                format!("{gap}{pad}{cell}")
            } else {
                format!("{gap}{cell}{pad}")
            };
        }
        text.trim_end().to_owned() + "\n"
    };
    let mut text = line(header.to_vec());
    text += &rows.iter().map(|row| line(row.iter().map(String::as_str).collect())).collect::<String>();
    text
}
