//! Whether times are those of a machine.
//!
//! Requests that come by chance have gaps of all lengths: of 24 gaps the third shortest is about a tenth of the third
//! longest. A machine leaves even gaps. Of series that come by chance, at most three of 10,000 are within the bounds below,
//! measured on 40,000 draws for each length.

/// Gaps of a window within a longer series.
const WINDOW: usize = 24;
/// How many times as long the long gaps of a window may be as the short ones.
const MOST_UNEVEN: f64 = 3.0;
/// The fewest gaps of a short series.
const FEWEST: usize = 8;
/// The same bound for short series, by their fewest gaps.
const MOST_UNEVEN_OF_SHORT: [(usize, f64); 2] = [(13, 2.5), (FEWEST, 1.8)];
/// The longest step, in milliseconds, that may be as uneven as above. People repeat things at times that are nearly even, too: a
/// slower series has to be more even, and a step of hours says nothing.
const MOST_OF_FAST_MS: i64 = 10_000;
const MOST_UNEVEN_OF_SLOW: f64 = 1.25;
const LONGEST_STEP_MS: i64 = 2 * 3_600_000;
/// A pause that many times as long as the gap before it begins another series.
const PAUSE: i64 = 10;

/// Seconds of a window of times without milliseconds.
const SECONDS: usize = 12;
/// The variance of the requests of a second, as a share of their mean, up to which they are even. For requests that come by
/// chance it is about 1, and of 10,000 windows at most four are below this bound.
const MOST_DISPERSED: f64 = 0.15;

/// Gaps of a window of fast requests.
const FAST_WINDOW: usize = 12;
/// The milliseconds in which nobody types that many requests after one, and the longest gap among them.
const FAST_MS: i64 = 30_000;
const LONGEST_FAST_MS: i64 = 6_000;

/// Returns which of the sorted times, in milliseconds, are in even steps.
pub fn steady(times: &[i64]) -> Vec<bool> {
    let gaps = gaps(times);
    let mut is_steady = vec![false; times.len()];
    let mut sorted: Vec<i64> = Vec::with_capacity(WINDOW);
    let mut mark = |start: usize, end: usize, most: f64| {
        let Some(usual) = usual(&gaps[start..end], most, &mut sorted) else { return };
        // At the ends of a window may be requests of people, and more of the machine beyond.
        let is_usual = |at: &usize| usual.contains(&gaps[*at]);
        let Some((first, last)) = (start..end).find(is_usual).zip((start..end).rfind(is_usual)) else {
            return;
        };
        let goes_on = |at: &usize| gaps[*at] <= usual.end().saturating_mul(2);
        let before = (0..first).rev().take(WINDOW).take_while(goes_on).count();
        let after = (last + 1..gaps.len()).take(WINDOW).take_while(goes_on).count();
        is_steady[first - before..=last + 1 + after].fill(true);
    };
    for start in 0..gaps.len().saturating_sub(WINDOW - 1) {
        mark(start, start + WINDOW, MOST_UNEVEN);
    }
    for (start, end) in short_series(&gaps) {
        if let Some((_, most)) = MOST_UNEVEN_OF_SHORT.iter().find(|(fewest, _)| end - start >= *fewest) {
            mark(start, end, *most);
        }
    }
    mark_even_seconds(times, &mut is_steady);
    is_steady
}

/// Returns which of the sorted times of one sender follow each other faster than a person types.
pub fn is_fast(times: &[i64]) -> Vec<bool> {
    let gaps = gaps(times);
    let mut is_fast = vec![false; times.len()];
    for (at, window) in gaps.windows(FAST_WINDOW).enumerate() {
        let total = window.iter().fold(0_i64, |sum, gap| sum.saturating_add(*gap));
        if total <= FAST_MS && window.iter().all(|gap| *gap <= LONGEST_FAST_MS) {
            is_fast[at..=at + FAST_WINDOW].fill(true);
        }
    }
    is_fast
}

/// Marks requests whose times are whole seconds, several in each second and nearly as many in every one.
fn mark_even_seconds(times: &[i64], is_steady: &mut [bool]) {
    if times.iter().any(|time| time % 1_000 != 0) {
        return;
    }
    // Where each second begins, and where the last one ends.
    let starts: Vec<usize> = (0..times.len()).filter(|&at| at == 0 || times[at] != times[at - 1]).collect();
    let ends = starts.iter().skip(1).copied().chain([times.len()]);
    let seconds: Vec<(usize, usize)> = starts.iter().copied().zip(ends).collect();
    for window in seconds.windows(SECONDS) {
        let follow = window.windows(2).all(|pair| times[pair[1].0] - times[pair[0].0] == 1_000);
        if follow && are_even(window.iter().map(|(start, end)| end - start)) {
            is_steady[window[0].0..window[SECONDS - 1].1].fill(true);
        }
    }
}

/// Whether counts of several requests vary far less than those of requests that come by chance.
// Counts are far below 2^52.
#[allow(clippy::cast_precision_loss)]
fn are_even(counts: impl Iterator<Item = usize> + Clone) -> bool {
    let n = counts.clone().count() as f64;
    let mean = counts.clone().sum::<usize>() as f64 / n;
    let variance = counts.map(|count| (count as f64 - mean).powi(2)).sum::<f64>() / n;
    mean > 1.5 && variance <= MOST_DISPERSED * mean
}

fn gaps(times: &[i64]) -> Vec<i64> {
    times.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect()
}

/// The series between pauses that are shorter than a window.
fn short_series(gaps: &[i64]) -> Vec<(usize, usize)> {
    let mut series = Vec::new();
    let mut start = 0;
    for at in 0..=gaps.len() {
        let is_pause = at < gaps.len() && at > start && gaps[at] > gaps[at - 1].saturating_mul(PAUSE);
        if at == gaps.len() || is_pause {
            series.push((start, at));
            start = at + 1;
        }
    }
    series.retain(|(start, end)| end.saturating_sub(*start) >= FEWEST && end - start < WINDOW);
    series
}

/// The range from the short gaps to the long ones (of ten gaps the second shortest and the second longest), if those are
/// at most so many times as long; `None` for uneven gaps, and for many at the same time.
// A gap is far below 2^52 milliseconds.
#[allow(clippy::cast_precision_loss)]
fn usual(gaps: &[i64], most: f64, sorted: &mut Vec<i64>) -> Option<std::ops::RangeInclusive<i64>> {
    sorted.clear();
    sorted.extend_from_slice(gaps);
    sorted.sort_unstable();
    let (short, long) = (sorted[gaps.len() / 10], sorted[gaps.len() * 9 / 10]);
    let most = if long <= MOST_OF_FAST_MS { most } else { most.min(MOST_UNEVEN_OF_SLOW) };
    (short > 0 && long <= LONGEST_STEP_MS && long as f64 <= most * short as f64).then_some(short..=long)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_begins_another_series() {
        let mut times: Vec<i64> = (0..10).map(|at| at * 60_000).collect();
        times.push(90_000_000);
        times.extend([90_000_100, 99_000_000]);
        let found = steady(&times);
        assert_eq!(found.iter().filter(|found| **found).count(), 10);
        assert!(found[..10].iter().all(|found| *found));
    }

    #[test]
    fn habits_of_people_are_no_machine() {
        let day = 86_400_000;
        let daily: Vec<i64> = (0..20).map(|at| at * day + (at * 7_919 % 80) * 60_000).collect();
        assert!(!steady(&daily).contains(&true));
        let seconds = [0, 45, 110, 155, 228, 274, 345, 391, 464, 511, 586, 632, 700];
        let by_hand = seconds.map(|second| second * 1_000);
        assert!(!steady(&by_hand).contains(&true));
    }

    #[test]
    fn a_few_even_steps_prove_nothing() {
        assert_eq!(steady(&[0, 10, 20, 30, 40, 50]), [false; 6]);
        assert_eq!(steady(&[]), Vec::<bool>::new());
        assert_eq!(steady(&[i64::MIN, i64::MAX]), [false; 2]);
    }

    #[test]
    fn several_requests_in_every_whole_second_are_a_machine() {
        let of = |counts: &[usize]| {
            let times = counts.iter().zip(0_i64..).flat_map(|(count, second)| vec![second * 1_000; *count]);
            let found = steady(&times.collect::<Vec<_>>());
            found.iter().filter(|is_steady| **is_steady).count()
        };
        assert_eq!(of(&[1, 5, 5, 4, 5, 5, 6, 5, 5, 5, 5, 4, 5, 9, 1]), 59);
        assert_eq!(of(&[2, 5, 9, 4, 3, 7, 6, 1, 5, 8, 5, 4, 3, 6, 2]), 0);
    }

    #[test]
    fn a_person_does_not_send_thirteen_requests_in_half_a_minute() {
        let of_gap = |gap: i64| is_fast(&(0..14).map(|at| at * gap).collect::<Vec<_>>());
        assert_eq!(of_gap(2_500), [true; 14]);
        assert_eq!(of_gap(2_501), [false; 14]);
        let uneven = |gaps: [i64; 13]| {
            let times = gaps.iter().scan(0, |time, gap| {
                *time += gap;
                Some(*time)
            });
            is_fast(&times.collect::<Vec<_>>())
        };
        assert!(uneven([0, 1000, 3000, 1000, 3000, 1000, 3000, 1000, 3000, 1000, 3000, 1000, 3000])[12]);
        assert!(!uneven([0, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 20_000])[12]);
    }
}
