//! Requests that fill one template, and those of them that a machine sent.
//!
//! A template is a text with places for values (`callsieve_text::template`): many requests of one source have the same form
//! and other values. People send such requests too, with a form on a page for example. What tells a machine is the rhythm:
//! a load test or a health check sends in even steps, or faster than anybody types. Without times nothing is certain, so
//! nothing is said.

mod rhythm;
mod slots;

use rustc_hash::{FxHashMap, FxHashSet};

pub use rhythm::{is_fast, steady};
pub use slots::{Slotted, with_word_slots};

/// A request, as far as templates and rhythm need it. Hashes stand for texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    /// What it was sent to: the doc list and the other messages without their values.
    pub source: u128,
    /// The text without its values.
    pub form: u64,
    /// The text and the other messages with their values.
    pub filling: u64,
    /// Who sent it, if that is known.
    pub user: Option<u64>,
    /// When it was sent, Unix milliseconds.
    pub time_ms: Option<i64>,
}

/// The requests of one form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Template {
    /// Its form.
    pub form: u64,
    /// The index of its first request.
    pub first: usize,
    /// The number of requests.
    pub requests: usize,
    /// The number of different fillings.
    pub fillings: usize,
}

/// Returns the forms that at least `least` different requests fill, the most frequent first.
pub fn templates(requests: &[Sent], least: usize) -> Vec<Template> {
    let mut by_form: FxHashMap<u64, (Template, FxHashSet<u64>)> = FxHashMap::default();
    for (at, request) in requests.iter().enumerate() {
        let form = request.form;
        let new = || (Template { form, first: at, requests: 0, fillings: 0 }, FxHashSet::default());
        let (template, fillings) = by_form.entry(form).or_insert_with(new);
        template.requests += 1;
        fillings.insert(request.filling);
        template.fillings = fillings.len();
    }
    let mut templates: Vec<Template> =
        by_form.into_values().map(|(template, _)| template).filter(|it| it.fillings >= least).collect();
    templates.sort_unstable_by_key(|template| (std::cmp::Reverse(template.requests), template.first));
    templates
}

/// Returns which requests were sent by a machine, as their rhythm shows.
///
/// Steady are the requests of a source, those of one user to a source, or those of one form. Fast are requests of one user
/// of several, unless most of the requests are that user's: such a user is the key of a whole service. What people send to
/// a source during a load test is in its rhythm, too; so only a form that many of these requests have says something.
pub fn sent_by_a_machine(requests: &[Sent]) -> Vec<bool> {
    let mut is_sent = vec![false; requests.len()];
    mark(requests, |request| Some((request.source, 0)), steady, &mut is_sent);
    mark(requests, |request| Some((request.source, request.user?)), steady, &mut is_sent);
    mark(requests, |request| Some((request.source, request.form)), steady, &mut is_sent);
    let mut n_of_user: FxHashMap<u64, usize> = FxHashMap::default();
    for user in requests.iter().filter_map(|request| request.user) {
        *n_of_user.entry(user).or_default() += 1;
    }
    let is_one_of_several = |user: u64| n_of_user[&user] * 2 <= requests.len();
    let key = |request: &Sent| {
        request.user.filter(|&user| is_one_of_several(user)).map(|user| (request.source, user))
    };
    mark(requests, key, is_fast, &mut is_sent);
    is_sent
}

/// Marks the requests of each series whose times `find` finds to be those of a machine.
fn mark(
    requests: &[Sent],
    key: impl Fn(&Sent) -> Option<(u128, u64)>,
    find: impl Fn(&[i64]) -> Vec<bool>,
    is_sent: &mut [bool],
) {
    let mut series: FxHashMap<(u128, u64), Vec<(i64, usize)>> = FxHashMap::default();
    for (at, request) in requests.iter().enumerate() {
        if let Some((time, key)) = request.time_ms.zip(key(request)) {
            series.entry(key).or_default().push((time, at));
        }
    }
    for mut series in series.into_values() {
        series.sort_unstable();
        let times: Vec<i64> = series.iter().map(|(time, _)| *time).collect();
        for ((_, at), is_found) in series.into_iter().zip(find(&times)) {
            is_sent[at] |= is_found;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Requests with these times, of one source.
    fn at_times(times: impl IntoIterator<Item = i64>) -> Vec<Sent> {
        let sent = |(at, time): (usize, i64)| Sent {
            source: 1,
            form: 7,
            filling: at as u64,
            user: None,
            time_ms: Some(time),
        };
        times.into_iter().enumerate().map(sent).collect()
    }

    /// Gaps as people leave them: exponential, from a fixed sequence.
    fn of_people(n: usize, mean: f64) -> Vec<i64> {
        let mut state: u64 = 11;
        let mut time = 0.0;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            #[allow(clippy::cast_precision_loss)]
            let uniform = ((state >> 33) as f64 + 1.0) / 2_147_483_649.0;
            time -= mean * uniform.ln();
            #[allow(clippy::cast_possible_truncation)]
            let rounded = time as i64;
            rounded
        };
        (0..n).map(|_| next()).collect()
    }

    #[test]
    fn even_steps_are_a_machine_and_those_of_many_people_are_not() {
        let n_found = |times: Vec<i64>| {
            sent_by_a_machine(&at_times(times)).into_iter().filter(|is_machine| *is_machine).count()
        };
        assert_eq!(n_found((0..30).map(|at| at * 1_000).collect()), 30);
        assert_eq!(n_found((0..14).map(|at| at * 300_000 + at % 3).collect()), 14);
        let uneven: Vec<i64> = (0..60)
            .scan(0, |time, at| {
                *time += 2_000 + (at * 7_919) % 3_000;
                Some(*time)
            })
            .collect();
        assert_eq!(n_found(uneven), 60);
        assert_eq!(n_found(of_people(5_000, 2_000.0)), 0);
        assert_eq!(n_found(of_people(12, 60_000.0)), 0);
        assert_eq!(n_found(vec![5; 40]), 0);
    }

    #[test]
    fn a_load_test_among_the_requests_of_people_is_found() {
        let mut times = of_people(300, 40_000.0);
        let start = 4_000_000;
        times.extend((0..60).map(|at| start + at * 1_500));
        let mut requests = at_times(times);
        for request in &mut requests[300..] {
            request.form = 8;
        }
        let found = sent_by_a_machine(&requests);
        assert!(found[300..].iter().all(|found| *found));
        // What people send in the same minute, or just before and after it, may be in its rhythm.
        let during = times_between(&requests[..300], start, start + 90_000);
        assert!(found[..300].iter().filter(|found| **found).count() <= during + 2);
    }

    fn times_between(requests: &[Sent], from: i64, to: i64) -> usize {
        let is_between = |request: &&Sent| request.time_ms.is_some_and(|time| (from..=to).contains(&time));
        requests.iter().filter(is_between).count()
    }

    #[test]
    fn one_user_of_several_who_sends_faster_than_anybody_types_is_a_machine() {
        let mut requests = at_times((0..80).map(|at| at * 300 + (at % 7) * (at % 3) * 90));
        for (at, request) in requests.iter_mut().enumerate() {
            request.user = Some(if at < 30 { 1 } else { 2 + (at as u64 % 25) });
        }
        let found = sent_by_a_machine(&requests);
        assert!(found[..30].iter().all(|found| *found) && !found[30..].iter().any(|found| *found));
        for request in &mut requests {
            request.user = Some(1);
        }
        assert!(!sent_by_a_machine(&requests).contains(&true));
    }

    #[test]
    fn a_template_has_different_fillings() {
        let mut requests = at_times(0..12);
        for request in &mut requests[8..] {
            *request = Sent { form: 9, filling: 3, ..*request };
        }
        let found = templates(&requests, 5);
        assert_eq!(found, [Template { form: 7, first: 0, requests: 8, fillings: 8 }]);
    }
}
