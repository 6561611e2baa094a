//! The only file that prints or draws: data to standard output, status to standard error.
//!
//! Whatever is printed passes [`visible`] on its way out, so no text of a row, no name of a file and no argument can act
//! on the terminal; colours are added after that. JSON goes through [`give_json`], which keeps its values. Bars appear
//! on a terminal only; elsewhere each finished step is one line. What is said on standard error is lost where that
//! cannot be written, and nothing else happens.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};

use crate::engine::error::cause_of;
use crate::run::Observer;
use crate::text::visible::{visible, visible_json, visible_line};

pub use crate::text::figures::{count, counted, table};

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

impl Observer for Console {
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
            .with_message(visible_line(step).into_owned())
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
                print_status(&format!(
                    "{:24} {:>7.2} s  {outcome}",
                    step.name,
                    step.start.elapsed().as_secs_f64()
                ));
            }
        }
    }

    fn warn(&self, message: &str) {
        let is_new = self.warned.lock().map_or(true, |mut warned| warned.insert(message.to_owned()));
        if is_new {
            print_status(&format!("warning: {message}"));
        }
    }
}

/// Says something to the person, on standard error. Where that is full or closed, there is nobody to tell.
pub fn print_status(message: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", visible(message));
}

/// Gives a text, on standard output.
///
/// # Errors
/// Standard output cannot be written, or its reader has closed it; see [`is_unprinted`] and [`is_closed`].
pub fn print_data(text: &str) -> io::Result<()> {
    print(&visible(text))
}

/// Gives JSON, one value or one a line, on standard output: as it is, or with escapes for a terminal. Either way it has
/// the same values.
///
/// # Errors
/// As [`give`].
pub fn give_json(json: &str) -> io::Result<()> {
    print(&if is_read_by_a_person() { visible_json(json) } else { Cow::Borrowed(json) })
}

/// Gives a text with colours, on standard output.
///
/// # Errors
/// As [`give`].
pub fn give_painted(text: &Painted) -> io::Result<()> {
    print(&text.0)
}

/// Gives what the parser of the command line says: help on standard output, errors on standard error. The parser has
/// coloured it; what looks like a control sequence and is no colour is shown.
///
/// # Errors
/// As [`give`], for help.
pub fn give_usage(styled: &str, is_error: bool) -> io::Result<()> {
    if is_error {
        let _ = write!(io::stderr().lock(), "{}", with_colours(styled, has_colours(&io::stderr())));
        return Ok(());
    }
    print(&with_colours(styled, has_colours(&io::stdout())))
}

fn print(shown: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    let printed = stdout.write_all(shown.as_bytes()).and_then(|()| stdout.flush());
    printed.map_err(|cause| io::Error::new(cause.kind(), Unprinted(cause)))
}

/// Standard output takes no more.
#[derive(Debug, thiserror::Error)]
#[error("cannot write to standard output: {}", cause_of(.0))]
struct Unprinted(io::Error);

/// Whether standard output could not be written.
pub fn is_unprinted(error: &io::Error) -> bool {
    matches!(error.get_ref(), Some(inner) if inner.is::<Unprinted>())
}

/// Whether the reader of standard output has closed it: it has seen enough.
pub fn is_closed(error: &io::Error) -> bool {
    is_unprinted(error) && error.kind() == io::ErrorKind::BrokenPipe
}

/// From here on a panic is told through this file: its message may quote a row.
pub fn report_panics() {
    std::panic::set_hook(Box::new(|panic| {
        print_status(&format!("internal error: {panic}"));
        let backtrace = Backtrace::capture();
        if backtrace.status() == BacktraceStatus::Captured {
            print_status(&backtrace.to_string());
        }
    }));
}

/// Whether a person reads standard output.
pub fn is_read_by_a_person() -> bool {
    io::stdout().is_terminal()
}

/// Whether a stream may have colours: a terminal that knows them, whose user has not set `NO_COLOR`.
fn has_colours(stream: &impl IsTerminal) -> bool {
    let is =
        |variable: &str, refuses: fn(&OsStr) -> bool| std::env::var_os(variable).is_some_and(|v| refuses(&v));
    stream.is_terminal() && !is("NO_COLOR", |value| !value.is_empty()) && !is("TERM", |value| value == "dumb")
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

/// A text with colours, where standard output has colours. Its texts are made visible on their way in, so the only
/// control sequences in it are those of [`Paint`].
#[derive(Debug, Default)]
pub struct Painted(String);

impl Painted {
    /// Adds a text.
    pub fn add(&mut self, paint: Paint, text: &str) {
        let code = match paint {
            Paint::Bold => Some(1),
            Paint::Red => Some(31),
            Paint::Green => Some(32),
            Paint::Plain => None,
        };
        let text = visible(text);
        self.0 += &match code.filter(|_| has_colours(&io::stdout())) {
            Some(code) => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            None => text.into_owned(),
        };
    }
}

/// A text that came with colours: they stay or go, and everything else is made visible.
fn with_colours(text: &str, is_coloured: bool) -> String {
    const START: &str = "\u{1b}[";
    let mut shown = String::new();
    let mut parts = text.split(START);
    shown += &visible(parts.next().unwrap_or_default());
    for part in parts {
        let digits = part.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
        if let Some(rest) = digits.strip_prefix('m') {
            if is_coloured {
                shown += START;
                shown += &part[..part.len() - rest.len()];
            }
            shown += &visible(rest);
        } else {
            shown += &visible(START);
            shown += &visible(part);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_of_the_parser_stay_and_nothing_else_does() {
        let styled = "\u{1b}[1m\u{1b}[31merror:\u{1b}[0m '\u{1b}[2K\u{1b}]0;x\u{7}\u{202e}'\u{1b}[";
        assert_eq!(
            with_colours(styled, true),
            "\u{1b}[1m\u{1b}[31merror:\u{1b}[0m '\\x1b[2K\\x1b]0;x\\x07\\u{202e}'\\x1b["
        );
        assert_eq!(with_colours(styled, false), "error: '\\x1b[2K\\x1b]0;x\\x07\\u{202e}'\\x1b[");
    }

    #[test]
    fn a_painted_text_holds_no_control_sequence_of_its_own() {
        let mut text = Painted::default();
        text.add(Paint::Bold, "\u{1b}[8mid\n");
        assert!(text.0.contains("\\x1b[8mid\n"), "{:?}", text.0);
    }
}
