//! The only file that prints or draws: data to standard output, status to standard error.
//!
//! All text passes [`visible`] before it is printed, so no text of a row, no file name and no argument can act on the
//! terminal; colours are added after that. JSON goes through [`write_json`], which keeps its values. Progress bars
//! appear on a terminal only; elsewhere each finished step is one line, and steps that take long have some more. What cannot be written to standard error is lost,
//! and nothing else happens.
//!
//! **Colours.** [`Paint`] is the one palette, for both streams. A stream has colours if it is a terminal, unless `NO_COLOR`,
//! `CLICOLOR=0` or `TERM=dumb` is set; `CLICOLOR_FORCE=1` gives colours to pipes and files too.
//!
//! **Width.** Tables and paragraphs fit the [`Screen`]: the terminal that standard output is, else `COLUMNS`, else 80
//! columns. Off a terminal cells may wrap, and none is shortened. Lines that programs read have no limit: JSON, and the
//! findings of `check`. Messages on standard error wrap at the width of its terminal, else at `COLUMNS`; without either
//! each is one line. Indented lines of messages, such as commands to copy, never wrap.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Color, Style};
use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use terminal_size::terminal_size_of;
use unicode_width::UnicodeWidthStr;

use super::layout::{Cell, labelled, words_and_commands};
use super::progress_lines::ProgressLines;
use crate::engine::error::is_guarded;
use crate::run::Observer;
use crate::text::figures;
use crate::text::os_error::cause_of;
use crate::text::short::capped;
use crate::text::visible::{visible, visible_json, visible_line};

pub use crate::text::figures::{count, counted, table};

/// Draws progress on standard error.
pub struct Console {
    is_quiet: bool,
    is_terminal: bool,
    step: Mutex<Option<Step>>,
    /// Warnings that were printed: two stages may have the same.
    warned: Mutex<BTreeSet<String>>,
}

struct Step {
    name: String,
    bar: ProgressBar,
    /// Lines in place of the bar.
    lines: Option<ProgressLines>,
    start: Instant,
    /// Rows done, if the bar counts bytes.
    rows: Option<Arc<AtomicU64>>,
}

impl Console {
    /// Draws progress, or nothing when `is_quiet`.
    pub fn new(is_quiet: bool) -> Self {
        Self {
            is_quiet,
            is_terminal: io::stderr().is_terminal(),
            step: Mutex::new(None),
            warned: Mutex::default(),
        }
    }
}

/// Returns a bar that counts up to a length that is set later; hidden if standard error is no terminal.
pub fn counting_bar(what: &'static str) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    ProgressBar::new(0).with_style(style(ROWS_BAR)).with_message(what)
}

/// Returns the lines on progress in place of a bar; `None` if standard error is a terminal.
pub(super) fn lines_of(what: &'static str) -> Option<ProgressLines> {
    (!io::stderr().is_terminal()).then(|| ProgressLines::new(what, None))
}

impl Observer for Console {
    fn begin(&self, step: &str, total: Option<u64>) {
        let bar = if self.is_quiet || !self.is_terminal {
            ProgressBar::hidden()
        } else {
            let bar = total.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
            let template = if total.is_some() { ROWS_BAR } else { SPINNER };
            bar.with_style(style(template)).with_message(visible_line(step).into_owned())
        };
        if let Ok(mut slot) = self.step.lock() {
            let lines = (!self.is_quiet && !self.is_terminal).then(|| ProgressLines::new("rows", total));
            *slot = Some(Step { name: step.to_owned(), bar, lines, start: Instant::now(), rows: None });
        }
    }

    fn read(&self, bytes: u64, total: u64) {
        let Ok(mut slot) = self.step.lock() else { return };
        let Some(step) = slot.as_mut().filter(|step| !step.bar.is_hidden()) else { return };
        if step.rows.is_none() {
            // The spinner becomes a bar, and has counted rows until now.
            let rows = Arc::new(AtomicU64::new(step.bar.position()));
            step.rows = Some(Arc::clone(&rows));
            step.bar.set_length(total);
            step.bar.set_style(style(BYTES_BAR).with_key(
                "rows",
                move |_: &ProgressState, w: &mut dyn fmt::Write| {
                    let _ = w.write_str(&count(rows.load(Ordering::Relaxed)));
                },
            ));
        }
        step.bar.set_position(bytes);
    }

    fn advance(&self, rows: u64) {
        if let Ok(mut slot) = self.step.lock()
            && let Some(step) = &mut *slot
        {
            step.print_if_due(|lines| lines.advance(rows));
            match &step.rows {
                Some(done) => {
                    done.fetch_add(rows, Ordering::Relaxed);
                    // Draws the bar, since its position may have reached the end.
                    step.bar.inc(0);
                }
                None => step.bar.inc(rows),
            }
        }
    }

    fn answers(&self, n: u64, of: u64) {
        if let Ok(mut slot) = self.step.lock()
            && let Some(step) = &mut *slot
        {
            step.print_if_due(|lines| lines.set("answers", n, of));
            step.bar.set_length(of);
            step.bar.set_position(n);
        }
    }

    fn wait(&self, what: &str) {
        if self.is_quiet {
            return;
        }
        let print = || print_status(what);
        match self.step.lock().ok().as_ref().and_then(|slot| slot.as_ref()) {
            Some(step) => step.bar.suspend(print),
            None => print(),
        }
    }

    fn end(&self, outcome: &str) {
        let Ok(mut slot) = self.step.lock() else { return };
        if let Some(step) = slot.take() {
            step.bar.finish_and_clear();
            if !self.is_quiet {
                print_painted_status(&finished(&step.name, step.start.elapsed().as_secs_f64(), outcome));
            }
        }
    }

    fn warn(&self, message: &str) {
        let is_new = self.warned.lock().map_or(true, |mut warned| warned.insert(message.to_owned()));
        if !is_new {
            return;
        }
        let print = || print_status(&format!("warning: {message}"));
        // A bar that is drawn would be in the way.
        match self.step.lock().ok().as_ref().and_then(|slot| slot.as_ref()) {
            Some(step) => step.bar.suspend(print),
            None => print(),
        }
    }
}

impl Step {
    /// Prints the line on the step that is due, if one is.
    fn print_if_due(&mut self, line: impl FnOnce(&mut ProgressLines) -> Option<String>) {
        if let Some(line) = self.lines.as_mut().and_then(line) {
            print_status(&format!("{:24} {line}", self.name));
        }
    }
}

/// A step whose rows are known.
const ROWS_BAR: &str = "{msg:24} {bar:24} {percent:>3} %  {left} left";
/// A step that reads files.
const BYTES_BAR: &str = "{msg:12} {bar:14} {percent:>3} %  {rate}  {left} left  {rows} lines";
/// A step of unknown length.
const SPINNER: &str = "{msg:24} {spinner} {human_pos} lines";

/// A template with the keys `rate`, in bytes per second, and `left`, the time that the step still takes.
fn style(template: &str) -> ProgressStyle {
    // A rate is positive, and a few bytes more or less are not shown.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let rate = |state: &ProgressState, w: &mut dyn fmt::Write| {
        let _ = write!(w, "{}/s", figures::bytes(state.per_sec() as u64));
    };
    let left = |state: &ProgressState, w: &mut dyn fmt::Write| {
        let seconds = state.eta().as_secs();
        // Whole seconds, as an estimate is no more exact.
        let text =
            if seconds < 60 { format!("{seconds} s") } else { figures::seconds(state.eta().as_secs_f64()) };
        let _ = w.write_str(&text);
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style.with_key("rate", rate).with_key("left", left)
}

/// A finished step in one line: its name, its time, what it did.
fn finished(step: &str, seconds: f64, outcome: &str) -> Painted {
    let mut text = Painted::new(&format!("{step:24} {:>11}  ", figures::seconds(seconds)));
    for (nth, part) in outcome.split(", ").enumerate() {
        text.add(Paint::Plain, if nth > 0 { ", " } else { "" });
        text.add(Paint::of_fate(part), part);
    }
    text
}

/// Prints a message on standard error; `error:`, `warning:`, `hint:` and the like at the start of a line have colours.
/// An error of standard error is ignored: there is nowhere to report it.
///
/// A message can quote any value of the data, so it is shortened as [`capped`] does.
pub fn print_status(message: &str) {
    print_painted_status(&status(&capped(&visible(message)), Screen::of_stderr()));
}

/// Prints a text of any length on standard error: tables, and what a program wrote.
pub fn print_long_status(text: &str) {
    print_painted_status(&status(text, Screen::of_stderr()));
}

fn print_painted_status(message: &Painted) {
    let _ = writeln!(io::stderr().lock(), "{}", message.shown(has_colours(&io::stderr())));
}

/// Words at the start of a line of a message, with their looks.
const LABELS: [(&str, Paint); 6] = [
    ("error:", Paint::Error),
    ("internal error:", Paint::Error),
    ("gate failed:", Paint::Error),
    ("warning:", Paint::Warning),
    ("hint:", Paint::Hint),
    ("note:", Paint::Title),
];

/// A message with colours, wrapped if the width of the screen is known. Words, paths and commands in backticks stay whole.
fn status(message: &str, screen: Option<Screen>) -> Painted {
    let mut text = Painted::default();
    for line in message.split_inclusive('\n') {
        let label = LABELS.iter().find(|(label, _)| line.starts_with(label));
        let (head, rest) = line.split_at(label.map_or(0, |(label, _)| label.len()));
        let paint = label.map_or(Paint::Plain, |(_, paint)| *paint);
        let is_too_wide = |screen: &Screen| line.trim_end().width() > screen.width && !line.starts_with(' ');
        if let Some(screen) = screen.filter(is_too_wide) {
            let indent = if head.is_empty() { 0 } else { head.width() + 1 };
            let rest = words_and_commands(rest.trim(), usize::MAX);
            let wrapped = labelled(&Cell::new(paint, head), indent, &rest, screen);
            text.append(if line.ends_with('\n') { wrapped } else { wrapped.without_line_end() });
        } else {
            text.add(paint, head);
            text.add(Paint::Plain, rest);
        }
    }
    text
}

/// Prints a text on standard output.
///
/// # Errors
/// Standard output cannot be written, or its reader has closed it; see [`is_unprinted`] and [`is_closed`].
pub fn print_data(text: &str) -> io::Result<()> {
    print(&visible(text))
}

/// Prints JSON, one value or one a line, on standard output: unchanged, or on a terminal with escapes. The values are the
/// same either way.
///
/// # Errors
/// As [`print_data`].
pub fn write_json(json: &str) -> io::Result<()> {
    print(&if is_read_by_a_person() { visible_json(json) } else { Cow::Borrowed(json) })
}

/// Prints a text with colours on standard output.
///
/// # Errors
/// As [`print_data`].
pub fn print_painted(text: &Painted) -> io::Result<()> {
    print(&text.shown(has_colours(&io::stdout())))
}

/// Prints the output of the argument parser: help on standard output, errors on standard error. The parser has coloured
/// it; any other control sequence is made visible.
///
/// # Errors
/// As [`print_data`], for help.
pub fn write_usage(styled: &str, is_error: bool) -> io::Result<()> {
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

/// Standard output cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write to standard output: {}", cause_of(.0))]
struct Unprinted(io::Error);

/// Whether standard output could not be written.
pub fn is_unprinted(error: &io::Error) -> bool {
    matches!(error.get_ref(), Some(inner) if inner.is::<Unprinted>())
}

/// Whether the reader of standard output has closed it, which is no error: it has read enough.
pub fn is_closed(error: &io::Error) -> bool {
    is_unprinted(error) && error.kind() == io::ErrorKind::BrokenPipe
}

/// Makes panics print through this file, since their messages may quote a row.
pub fn report_panics() {
    std::panic::set_hook(Box::new(|panic| {
        if is_guarded() {
            return;
        }
        print_status(&format!("internal error: {panic}"));
        let backtrace = Backtrace::capture();
        if backtrace.status() == BacktraceStatus::Captured {
            print_long_status(&backtrace.to_string());
        }
    }));
}

/// Whether a person reads standard output.
pub fn is_read_by_a_person() -> bool {
    io::stdout().is_terminal()
}

/// Whether a stream may have colours.
fn has_colours(stream: &impl RawStream) -> bool {
    AutoStream::choice(stream) != ColorChoice::Never
}

/// What standard output has room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Screen {
    /// Columns of a line.
    pub width: usize,
    /// A person reads it now: what does not fit may be shortened.
    pub is_terminal: bool,
}

impl Screen {
    /// The width without a terminal and without `COLUMNS`.
    const WIDTH: usize = 80;

    /// The screen of standard output.
    pub fn of_stdout() -> Self {
        let terminal = terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
        let width = terminal.or_else(columns_named).filter(|width| *width > 0).unwrap_or(Self::WIDTH);
        Self { width, is_terminal: terminal.is_some() }
    }

    /// The screen of standard error; none if it is no terminal and `COLUMNS` is not set. Nothing in messages is
    /// shortened, so it never counts as a terminal.
    fn of_stderr() -> Option<Self> {
        let terminal = terminal_size_of(io::stderr()).map(|(width, _)| usize::from(width.0));
        let width = terminal.or_else(columns_named).filter(|width| *width > 0)?;
        Some(Self { width, is_terminal: false })
    }
}

/// The width in `COLUMNS`.
fn columns_named() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.parse().ok()
}

/// The palette: what a text means, which decides how it looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// Nothing particular.
    Plain,
    /// The name of what follows.
    Title,
    /// The header of a table, and details of little weight.
    Heading,
    /// A row that is exported or kept.
    Kept,
    /// A row that is held.
    Held,
    /// A row that is dropped.
    Dropped,
    /// What a diff adds.
    Added,
    /// What a diff removes.
    Removed,
    /// A warning.
    Warning,
    /// An error.
    Error,
    /// How to go on.
    Hint,
}

impl Paint {
    /// The look of a line of changes, by its mark.
    pub fn of_change(line: &str) -> Self {
        match line.trim_start().as_bytes().first() {
            Some(b'-') => Self::Removed,
            Some(b'+') => Self::Added,
            _ => Self::Plain,
        }
    }

    fn style(self) -> Style {
        let colour = |colour: AnsiColor| Style::new().fg_color(Some(Color::Ansi(colour)));
        match self {
            Self::Plain => Style::new(),
            Self::Title => Style::new().bold(),
            Self::Heading => Style::new().dimmed(),
            Self::Kept | Self::Added => colour(AnsiColor::Green),
            Self::Held => colour(AnsiColor::Yellow),
            Self::Dropped | Self::Removed => colour(AnsiColor::Red),
            Self::Warning => colour(AnsiColor::Yellow).bold(),
            Self::Error => colour(AnsiColor::Red).bold(),
            Self::Hint => colour(AnsiColor::Cyan),
        }
    }

    /// The look of a text that ends with the name of a fate, such as `12 requests dropped`.
    pub fn of_fate(text: &str) -> Self {
        match text.rsplit(' ').next() {
            Some("exported" | "kept") => Self::Kept,
            Some("held") => Self::Held,
            Some("dropped" | "unreadable") => Self::Dropped,
            _ => Self::Plain,
        }
    }
}

/// A text with colours, which are printed if the stream supports them. Its parts are made visible when they are
/// added, so the only control sequences are those of [`Paint`].
#[derive(Debug, Default, Clone)]
pub struct Painted(Vec<(Paint, String)>);

impl Painted {
    /// A text without colours.
    pub fn new(text: &str) -> Self {
        let mut painted = Self::default();
        painted.add(Paint::Plain, text);
        painted
    }

    /// Adds a text.
    pub fn add(&mut self, paint: Paint, text: &str) {
        if text.is_empty() {
            return;
        }
        let text = visible(text);
        match self.0.last_mut() {
            Some((last, end)) if *last == paint => end.push_str(&text),
            _ => self.0.push((paint, text.into_owned())),
        }
    }

    /// Adds a text that may have colours.
    pub fn append(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// The text without the line end that it ends with.
    fn without_line_end(mut self) -> Self {
        if let Some((_, end)) = self.0.last_mut()
            && end.ends_with('\n')
        {
            end.pop();
        }
        self
    }

    /// Adds lines of a patch: `-` before what was there, `+` before what is there now.
    pub fn add_changes(&mut self, lines: &str) {
        for line in lines.lines() {
            self.add(Paint::of_change(line), line);
            self.add(Paint::Plain, "\n");
        }
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text without colours.
    pub fn plain(&self) -> String {
        self.shown(false)
    }

    fn shown(&self, is_coloured: bool) -> String {
        let mut shown = String::new();
        for (paint, text) in &self.0 {
            if !is_coloured || *paint == Paint::Plain {
                shown += text;
                continue;
            }
            let style = paint.style();
            shown += &format!("{style}{text}{style:#}");
        }
        shown
    }
}

/// A text that came with colours: they are kept or removed, and everything else is made visible.
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
    fn a_painted_text_has_no_control_sequence_of_its_own() {
        let mut text = Painted::default();
        text.add(Paint::Title, "\u{1b}[8mid\n");
        assert_eq!(text.plain(), "\\x1b[8mid\n");
        assert_eq!(text.shown(true), "\u{1b}[1m\\x1b[8mid\n\u{1b}[0m");
    }

    #[test]
    fn labels_at_the_start_of_a_line_have_colours_and_others_have_none() {
        let text = status("error: a hint: b\nhint: c", None);
        assert_eq!(
            text.shown(true),
            "\u{1b}[1m\u{1b}[31merror:\u{1b}[0m a hint: b\n\u{1b}[36mhint:\u{1b}[0m c"
        );
        assert_eq!(text.plain(), "error: a hint: b\nhint: c");
    }

    #[test]
    fn a_message_wraps_at_the_width_of_the_screen_and_keeps_commands_whole() {
        let message = "warning: 3 files are not on disk\n  callsieve sets add one FILE --dir somewhere/else\nhint: run \
                       `callsieve sets list` first";
        let screen = Screen { width: 30, is_terminal: false };
        assert_eq!(
            status(message, Some(screen)).plain(),
            "warning: 3 files are not on\n         disk\n  callsieve sets add one FILE --dir somewhere/else\nhint: run\n      \
             `callsieve sets list`\n      first"
        );
        assert_eq!(status(message, None).plain(), message);
    }
}
