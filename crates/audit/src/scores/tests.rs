//! Known tables, and what must change nothing.

use std::fmt::Write as _;

use super::*;

fn table(text: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    #[allow(clippy::disallowed_methods)] // A file of a test.
    std::fs::write(file.path(), text).unwrap();
    file
}

fn compared(text: &str) -> Result<ScoreReport, ScoreError> {
    compare(table(text).path(), &Choice::default(), Resampling { samples: 200, seed: 1 })
}

/// Models near y = 5 + 0.9 x, and one far below the line.
fn rows() -> Vec<String> {
    let mut rows: Vec<String> = (0..24)
        .map(|n| {
            let (x, mode) = (50.0 + f64::from(n) * 1.5, if n % 2 == 0 { "FC" } else { "Prompt" });
            let y = 5.0 + 0.9 * x + f64::from(n * 5 % 7) - 3.0;
            format!("Tern-{}B-{n} ({mode}),{x:.1},{y:.2},1000,1000", 5 + n % 5)
        })
        .collect();
    rows.push("Gull-7B (FC),80,55,1000,1000".to_owned());
    rows
}

fn text(rows: &[String]) -> String {
    rows.iter().fold("model,x,y,n_x,n_y\n".to_owned(), |mut text, row| {
        writeln!(text, "{row}").unwrap();
        text
    })
}

#[test]
fn a_model_far_below_the_line_is_low_and_the_others_are_not() {
    let report = compared(&text(&rows())).unwrap();
    let pair = &report.pairs[0];
    assert_eq!((pair.models, pair.without, pair.low), (25, 0, 1));
    assert!(
        (pair.slope - 0.9).abs() < 0.05 && (pair.intercept - 5.0).abs() < 4.0,
        "{} {}",
        pair.slope,
        pair.intercept
    );
    assert!(pair.slope_from < pair.slope && pair.slope < pair.slope_to && pair.follows(), "{pair:?}");
    let first = &pair.residuals[0];
    assert_eq!((first.model.as_str(), first.mode, first.size), ("Gull-7B (FC)", Mode::Fc, Size::Small));
    assert!(first.is_low && first.z < -5.0 && first.is_low_in_stratum == Some(true), "{first:?}");
    assert!(first.from < first.residual && first.residual < first.to && first.to < 0.0, "{first:?}");
    // Nothing else: the residual is y minus the line.
    for row in &pair.residuals {
        assert!((row.residual - (row.y - pair.intercept - pair.slope * row.x)).abs() < 0.01, "{row:?}");
        assert!((row.gap - (row.y - row.x)).abs() < 1e-3);
    }
    let strata: Vec<(&str, &str, usize)> = pair
        .strata
        .iter()
        .map(|stratum| (stratum.mode.name(), stratum.size.name(), stratum.models))
        .collect();
    assert_eq!(strata, [("fc", "4-15B", 13), ("prompt", "4-15B", 12)]);
}

#[test]
fn the_order_of_rows_and_other_columns_change_nothing() {
    let report = compared(&text(&rows())).unwrap();
    let mut turned = rows();
    turned.reverse();
    turned.rotate_left(7);
    let mut other = compared(&text(&turned)).unwrap().pairs.remove(0);
    let same = |mut pair: PairReport| {
        pair.residuals.iter_mut().for_each(|row| row.line = 0);
        pair
    };
    other.n_x = Some(1000.0);
    assert_eq!(same(report.pairs[0].clone()), same(other));
    assert_eq!(report, ScoreReport { file: report.file.clone(), ..compared(&text(&rows())).unwrap() });
}

#[test]
fn where_y_does_not_follow_x_it_is_reported() {
    let rows: Vec<String> = (0..20).map(|n| format!("m{n},{},{}", 60 + n, 50 + n * 7 % 11)).collect();
    let text = format!("model,x,y\n{}\n", rows.join("\n"));
    let report = compared(&text).unwrap();
    assert!(!report.pairs[0].follows(), "{:?}", report.pairs[0]);
    assert!(page::page(&report).contains(FOLLOWS_NOT));
    let line = |slope| PairReport { slope, intercept: 84.2, ..report.pairs[0].clone() }.line();
    assert_eq!((line(0.9), line(-0.119)), ("y = 84.2 + 0.900 x".to_owned(), "y = 84.2 - 0.119 x".to_owned()));
}

#[test]
fn shares_are_percents_and_scores_that_are_missing_are_counted() {
    let percent = "model,x,y\na,80%,70%\nb,60%,50%\nc,70%,66%\nd,50%,40%\ne,55%,52%\nf,N/A,50%\n";
    let share = "model,x,y\na,.8,.7\nb,.6,.5\nc,.7,.66\nd,.5,.4\ne,.55,.52\nf,,.5\n";
    let (percent, share) = (compared(percent).unwrap(), compared(share).unwrap());
    assert_eq!((percent.pairs[0].models, percent.pairs[0].without), (5, 1));
    assert!((percent.pairs[0].slope - share.pairs[0].slope).abs() < 1e-9);
    assert_eq!(percent.pairs[0].residuals.len(), 5);
}

#[test]
fn what_cannot_be_compared_is_an_error_with_file_line_and_column() {
    for (text, expected) in [
        ("model,x\na,1\n", ":1: no column \"y\", found model, x\nhint: --model, --x and --y"),
        (
            "model,x,y\na,1,2\nb,high,2\n",
            ":3: column \"x\": expected a score from 0 to 100, or N/A, found \"high\"",
        ),
        ("model,x,y\na,1,101\n", ":2: column \"y\": expected a score"),
        (
            "model,x,y\na,1,2\na,1,2\n",
            ":3: column \"model\": expected each model once, found \"a, as on line 2\"",
        ),
        ("model,x,y\n,1,2\n", ":2: column \"model\": expected the name of a model"),
        ("model,x,y,size\na,1,2,big\n", ":2: column \"size\": expected a size in billions"),
        ("model,x,y,n_x\na,1,2,0\n", ":2: column \"n_x\": expected a number of questions"),
        ("model,x,y\na,1,2\nb,2,3\n", ": 2 models with scores in \"x\" and \"y\", expected 5 or more"),
        ("model,x,y\na,5,1\nb,5,2\nc,5,3\nd,5,4\ne,5,6\n", "expected 5 or more with different scores"),
        ("model,x,y\na,1\n", ": cannot be read: CSV error"),
    ] {
        let message = compared(text).unwrap_err().to_string();
        assert!(message.contains(expected), "{text}: {message}");
    }
    let unpaired = Choice { x: vec!["a".to_owned()], ..Choice::default() };
    let error = compare(table("a,b\n").path(), &unpaired, Resampling::default()).unwrap_err();
    assert!(error.to_string().starts_with("--x and --y are pairs: found 1 of --x and 0 of --y"));
}

#[test]
fn the_page_draws_each_model_once_for_each_pair() {
    let report = compared(&text(&rows())).unwrap();
    let page = page::page(&report);
    assert_eq!(page.matches("<g><title>").count(), 25);
    assert!(
        page.contains("y = x") && page.contains("consistent with") && page.contains("never proves"),
        "{page}"
    );
    let hostile = compared(&text(&rows()).replace("Gull", "<script>Gull")).unwrap();
    assert!(!page::page(&hostile).contains("<script>"));
}
