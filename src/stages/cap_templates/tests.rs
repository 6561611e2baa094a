//! The stage on small tables, through the fixture that all stages use.

use serde_json::json;

use super::*;

#[test]
fn a_value_beyond_the_maximum_goes_and_equal_requests_stay() {
    let request = |row: RowIx, filling: u64, worked: bool| Request {
        row,
        sent: Sent { source: 1, form: 2, filling, user: None, time_ms: None },
        worked,
    };
    let requests = [
        request(0, 10, false),
        request(1, 11, false),
        request(2, 12, true),
        request(3, 10, false),
        request(4, 13, true),
    ];
    let all: Vec<&Request> = requests.iter().collect();
    let dropped = |max_per_template: usize| {
        CapTemplates { max_per_template }.beyond(&all).into_iter().map(|(row, _)| row).collect::<Vec<_>>()
    };
    assert_eq!(dropped(3), [1]);
    assert_eq!(dropped(1), [4, 0, 1, 3]);
    assert_eq!(dropped(4), [0; 0]);
}

#[test]
fn the_label_says_what_was_found() {
    let label = |found: Found| {
        let notes: Notes = [(NOTE.to_owned(), json!(found))].into();
        CapTemplates::default().funnel_label(&notes).into_owned()
    };
    let part = |templates, requests| Part { templates, requests };
    let none = Found { requests: 200, ..Found::default() };
    assert_eq!(label(none.clone()), "no template of a machine");
    let of_people = Found { of_all: part(2, 50), ..none.clone() };
    assert_eq!(label(of_people), "no machine's rhythm (2 templates: 25.0 % of those here)");
    let capped = Found { of_machines: part(1, 80), dropped: 77, ..none };
    assert_eq!(label(capped), "at most 3 of each template of machines (1 template: 40.0 % of those here)");
}
