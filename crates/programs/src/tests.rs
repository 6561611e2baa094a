//! Checks of programs that are planted with one fault each, and laws of whole rounds, on the sample workshop.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};

use callsieve_environment::call::{Call, Observation, Origin};
use callsieve_environment::declared::Declared;
use callsieve_environment::environment::{Environment, Episode, Function, InitialState, ParameterSource};
use callsieve_environment::error::EnvironmentError;
use serde_json::{Value, json};

use crate::bindings::Bindings;
use crate::checks::{Checker, Goal};
use crate::generate::{Generation, Settings};
use crate::instruction::Instruction;
use crate::pool::Pools;
use crate::program::{Argument, Program, Step, TakenFrom};
use crate::rejection::Reason;
use crate::stratum::{Shares, Stratum};
use crate::wording::templates::{Style, Templates};

fn workshop() -> Declared {
    Declared::read("repair-shop.toml", include_str!("../../../raw/repair-shop.toml")).unwrap()
}

fn bindings(environment: &dyn Environment) -> Bindings {
    let text = include_str!("../../../raw/repair-shop.bindings.toml");
    Bindings::parse(text, "repair-shop.bindings.toml", environment).unwrap()
}

/// A step; a text that begins with `$` is a place in an earlier result.
fn step(function: &str, arguments: &[(&str, Value)]) -> Step {
    let argument = |value: &Value| match value.as_str().and_then(|text| text.parse().ok()) {
        Some(place) => Argument::Result(place),
        None => Argument::Literal { value: value.clone(), taken_from: TakenFrom::Bindings },
    };
    let arguments = arguments.iter().map(|(name, value)| ((*name).to_owned(), argument(value))).collect();
    Step { function: function.to_owned(), arguments, fails: false }
}

fn program(steps: Vec<Step>) -> Program {
    Program { state: 0, steps }
}

/// The reason for which a program is rejected, with its detail; `None` if it is accepted.
fn verdict(environment: &dyn Environment, program: &Program, goal: Goal) -> Option<(Reason, String)> {
    let pools = Pools::new(environment, &bindings(environment));
    let checked = Checker { environment, pools: &pools }.check(program, goal).unwrap();
    checked.err().map(|rejection| (rejection.reason, rejection.detail))
}

fn of_workshop(steps: Vec<Step>, goal: Goal) -> Option<(Reason, String)> {
    verdict(&workshop(), &program(steps), goal)
}

#[test]
fn a_program_whose_calls_are_all_needed_is_accepted() {
    let steps = vec![
        step("find_orders", &[("status", json!("booked"))]),
        step("cancel_order", &[("order_id", json!("$1.orders[0].id"))]),
    ];
    assert_eq!(of_workshop(steps, Goal::Last), None);
    let steps = vec![
        step("get_order", &[("order_id", json!("R-2001"))]),
        step("get_customer", &[("customer_id", json!("C-1005"))]),
    ];
    assert_eq!(of_workshop(steps, Goal::Every), None);
}

#[test]
fn a_call_that_nothing_needs_is_found() {
    let steps = vec![
        step("get_customer", &[("customer_id", json!("C-1003"))]),
        step("get_order", &[("order_id", json!("R-2001"))]),
    ];
    let rejected = of_workshop(steps, Goal::Last);
    assert_eq!(rejected, Some((Reason::UnneededCall, "1 get_customer".to_owned())));
}

#[test]
fn a_call_that_fails_is_found() {
    let rejected = of_workshop(vec![step("get_order", &[("order_id", json!("R-1"))])], Goal::Last);
    assert_eq!(rejected.unwrap().0, Reason::Failed);
    let steps = vec![
        step("get_order", &[("order_id", json!("R-2001"))]),
        step("get_order", &[("order_id", json!("$1.nothing"))]),
    ];
    let rejected = of_workshop(steps, Goal::Last).unwrap();
    assert_eq!(rejected, (Reason::Failed, "2 get_order: there is no $1.nothing".to_owned()));
}

#[test]
fn an_argument_without_an_effect_is_found() {
    // The bicycle has fewer orders than any limit.
    let steps = vec![step("find_orders", &[("bicycle_id", json!("B-1042")), ("limit", json!(10))])];
    let rejected = of_workshop(steps, Goal::Last);
    assert_eq!(rejected, Some((Reason::AmbiguousArgument, "limit of 1 find_orders".to_owned())));
}

#[test]
fn a_dependency_by_coincidence_is_found() {
    // The number of bicycles is no quantity of a part, although it would be accepted.
    let steps = vec![
        step("get_customer", &[("customer_id", json!("C-1001"))]),
        step(
            "use_part",
            &[
                ("order_id", json!("R-2002")),
                ("part_id", json!("P-303")),
                ("quantity", json!("$1.bicycle_count")),
            ],
        ),
    ];
    let rejected = of_workshop(steps, Goal::Last).unwrap();
    assert_eq!(rejected.0, Reason::CoincidentalDependency);
    assert_eq!(rejected.1, "$1.bicycle_count as quantity of 2 use_part");
}

#[test]
fn a_lookup_of_a_value_that_an_earlier_result_has_is_removed() {
    let environment = workshop();
    let pools = Pools::new(&environment, &bindings(&environment));
    let checker = Checker { environment: &environment, pools: &pools };
    let steps = vec![
        step("find_orders", &[("status", json!("booked"))]),
        step("get_order", &[("order_id", json!("$1.orders[0].id"))]),
        step("cancel_order", &[("order_id", json!("$2.id"))]),
    ];
    let sliced = checker.sliced(program(steps), Goal::Last).unwrap();
    assert_eq!(sliced.functions(), ["find_orders", "cancel_order"]);
    assert_eq!(sliced.steps[1].references().next().unwrap().1.to_string(), "$1.orders[0].id");
}

#[test]
fn a_repair_that_repairs_nothing_is_found() {
    let environment = workshop();
    let pools = Pools::new(&environment, &bindings(&environment));
    let checker = Checker { environment: &environment, pools: &pools };
    let start = step("start_repair", &[("order_id", json!("R-2006"))]);
    let assign = step("assign_mechanic", &[("order_id", json!("R-2006")), ("mechanic", json!("Deniz"))]);
    let look = step("get_customer", &[("customer_id", json!("C-1003"))]);
    let refused = || Step { fails: true, ..start.clone() };
    let needed = program(vec![refused(), assign.clone(), start.clone()]);
    assert_eq!(checker.repairs_nothing(&needed).unwrap(), None);
    let unneeded = program(vec![refused(), assign, look, start.clone()]);
    assert_eq!(checker.repairs_nothing(&unneeded).unwrap().as_deref(), Some("3 get_customer"));
}

#[test]
fn a_value_that_only_repeats_what_the_user_gave_is_found() {
    let steps = vec![
        step("get_order", &[("order_id", json!("R-2001"))]),
        step("quote_repair", &[("order_id", json!("$1.id"))]),
    ];
    assert_eq!(of_workshop(steps, Goal::Last).unwrap().0, Reason::EchoedValue);
}

#[test]
fn a_result_without_content_is_found() {
    let steps = vec![step("find_customers", &[("name", json!("nobody"))])];
    assert_eq!(of_workshop(steps, Goal::Last).unwrap().0, Reason::EmptyResult);
}

#[test]
fn calls_whose_order_matters_are_not_parallel() {
    let move_to =
        |day: &str| step("reschedule_order", &[("order_id", json!("R-2001")), ("new_day", json!(day))]);
    let rejected = of_workshop(vec![move_to("2026-03-18"), move_to("2026-03-23")], Goal::Every);
    assert_eq!(rejected.unwrap().0, Reason::OrderMatters);
}

/// The workshop, whose results name the number of the episode.
struct Restless(Declared, AtomicU64);

struct RestlessEpisode(Box<dyn Episode>, u64);

impl Environment for Restless {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn origin(&self) -> Origin {
        self.0.origin()
    }

    fn functions(&self) -> &[Function] {
        self.0.functions()
    }

    fn initial_states(&self) -> &[InitialState] {
        self.0.initial_states()
    }

    fn value_sources(&self) -> Vec<ParameterSource> {
        self.0.value_sources()
    }

    fn start(&self, state: &InitialState) -> Result<Box<dyn Episode>, EnvironmentError> {
        Ok(Box::new(RestlessEpisode(self.0.start(state)?, self.1.fetch_add(1, Ordering::Relaxed))))
    }

    fn fingerprint(&self) -> Value {
        self.0.fingerprint()
    }
}

impl Episode for RestlessEpisode {
    fn call(&mut self, call: &Call) -> Result<Observation, EnvironmentError> {
        let mut seen = self.0.call(call)?;
        if let Some(map) = seen.result.as_object_mut() {
            map.insert("served_by".to_owned(), self.1.into());
        }
        Ok(seen)
    }

    fn state(&mut self) -> Result<Option<Value>, EnvironmentError> {
        self.0.state()
    }

    fn stop(self: Box<Self>) -> Result<(), EnvironmentError> {
        self.0.stop()
    }
}

#[test]
fn a_result_that_differs_between_runs_is_found() {
    let restless = Restless(workshop(), AtomicU64::new(0));
    let program = program(vec![step("get_order", &[("order_id", json!("R-2001"))])]);
    assert_eq!(verdict(&workshop(), &program, Goal::Last), None);
    let rejected = verdict(&restless, &program, Goal::Last).unwrap();
    assert_eq!(rejected, (Reason::Nondeterministic, "1 get_order".to_owned()));
}

/// The instructions of some rounds.
fn rounds(n_rounds: usize, settings: &Settings) -> Vec<Instruction> {
    let environment = workshop();
    let (bindings, templates) = (bindings(&environment), Templates::english());
    let mut generation = Generation::new(&environment, &bindings, &templates, settings.clone());
    let mut accepted = Vec::new();
    for _ in 0..n_rounds {
        accepted.extend(
            generation
                .next_round(&|| false)
                .unwrap()
                .unwrap()
                .into_iter()
                .filter_map(|made| made.outcome.ok())
                .map(|instruction| *instruction),
        );
    }
    accepted
}

#[test]
fn every_value_of_an_accepted_instruction_is_said_linked_or_grounded() {
    let environment = workshop();
    for instruction in rounds(2, &Settings::default()) {
        let said: BTreeMap<(usize, &str), String> = instruction
            .turns
            .iter()
            .flat_map(|turn| turn.user.mentions.iter().map(|mention| (mention, turn.user.said(mention))))
            .map(|(mention, said)| ((mention.step, mention.parameter.as_str()), said))
            .collect();
        for (nth, step) in instruction.program.steps.iter().enumerate() {
            let first = if instruction.stratum == Stratum::ErrorRecovery
                && nth + 1 == instruction.program.steps.len()
            {
                0
            } else {
                nth
            };
            for (parameter, value) in step.literals() {
                let said = said
                    .get(&(first, parameter))
                    .unwrap_or_else(|| panic!("{parameter} in {}", instruction.text()));
                let said: String = said.chars().filter(char::is_ascii_digit).collect();
                let digits: String = value.to_string().chars().filter(char::is_ascii_digit).collect();
                // A date has its month as a word and no leading zeros.
                assert!(said.len() <= digits.len(), "{said} {digits} in {}", instruction.text());
            }
        }
        let functions: BTreeSet<&str> = environment.functions().iter().map(Function::name).collect();
        assert!(instruction.offered.iter().all(|name| functions.contains(name.as_str())));
        let called = instruction.program.functions();
        let is_offered = |name: &&str| instruction.offered.iter().any(|offered| offered == name);
        if instruction.has_no_call() {
            assert!(!called.last().is_some_and(is_offered), "{}", instruction.text());
            assert!(instruction.turns.iter().all(|turn| turn.steps.is_empty()));
        } else {
            assert!(called.iter().all(is_offered), "{}", instruction.text());
            assert_eq!(
                instruction.turns.iter().map(|turn| turn.steps.len()).sum::<usize>(),
                instruction.program.steps.len()
            );
        }
    }
}

#[test]
fn a_part_of_a_result_is_said_to_be_of_it() {
    let texts: Vec<String> = rounds(6, &Settings::default())
        .iter()
        .flat_map(|instruction| instruction.turns.iter().map(|turn| turn.user.text.clone()))
        .collect();
    let has = |phrase: &str| texts.iter().any(|text| text.contains(phrase));
    assert!(has("the order of that invoice") || has("the customer of that order"), "{texts:#?}");
    assert!(!has("the order of that order") && !has("the order of the first order"), "{texts:#?}");
}

#[test]
fn every_stratum_and_every_style_is_made() {
    let instructions = rounds(6, &Settings::default());
    let strata: BTreeSet<Stratum> = instructions.iter().map(|instruction| instruction.stratum).collect();
    assert_eq!(strata, Stratum::ALL.into_iter().collect());
    let styles: BTreeSet<Style> = instructions.iter().map(|instruction| instruction.style).collect();
    assert_eq!(styles, Style::ALL.into_iter().collect());
    let recovered =
        instructions.iter().find(|instruction| instruction.stratum == Stratum::ErrorRecovery).unwrap();
    assert!(recovered.program.steps[0].fails && recovered.executed.calls[0].1.failure.is_some());
}

#[test]
fn calls_that_are_made_at_once_are_in_one_instruction_whatever_their_order() {
    let shares = Shares([(Stratum::Parallel, 0.9), (Stratum::MultipleTools, 0.1)].into());
    let instructions = rounds(12, &Settings { shares, most_alike: 1.0, ..Settings::default() });
    let mut known = BTreeMap::new();
    for instruction in &instructions {
        let same = known.insert(instruction.program.signature_in_any_order(), &instruction.program);
        assert_eq!(same, None, "{:?}", instruction.program);
    }
    assert!(known.len() > 100, "{}", known.len());
}

#[test]
fn the_number_of_threads_changes_nothing_and_the_seed_everything() {
    let with_threads = |n: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
        pool.install(|| rounds(1, &Settings::default()))
    };
    assert_eq!(with_threads(1), with_threads(5));
    let other = rounds(1, &Settings { seed: 1, ..Settings::default() });
    assert_ne!(with_threads(2)[..10], other[..10]);
}

#[test]
fn bindings_name_only_what_the_environment_has() {
    let environment = workshop();
    let refused = |text: &str| Bindings::parse(text, "b.toml", &environment).unwrap_err().to_string();
    assert!(refused("[functions.cancel_order]\nphrase = ' '").contains("it is empty"));
    assert!(refused("[parameters.amount]\nsaid = 'EUR'").contains("which has no {} for the value"));
    assert!(
        refused("[functions.cancel_order]\nalso_done_by = ['cancel']")
            .contains("unknown function \"cancel\"")
    );
    assert!(
        refused("[functions.cancel]\nskip = true")
            .starts_with("b.toml: unknown function \"cancel\"\nhint: the functions of repair-shop are ")
    );
    let text = "[functions.cancel_order.parameters.id]\nnoun = 'order'";
    assert_eq!(
        refused(text),
        "b.toml: function cancel_order has no parameter \"id\"\nhint: its parameters are order_id"
    );
    assert!(
        refused("[parameters.orderid]\nnoun = 'order'").contains("no function has a parameter \"orderid\"")
    );
    assert!(
        refused("[parameters.order_id]\nfrom = ['orders[*].id']")
            .contains("expected state:PATH or result:FUNCTION:PATH")
    );
    assert!(
        refused("[parameters.order_id]\nfrom = ['result:find:orders[*].id']")
            .contains("result of an unknown function \"find\"")
    );
    let values =
        |parameter: &str, value: &str| refused(&format!("[parameters.{parameter}]\nvalues = [{value}]"));
    assert_eq!(
        values("membership", "'gold', 'platin'"),
        "b.toml: values of membership: found \"platin\", which its doc does not allow\nhint: expected one of \"standard\", \"silver\", \"gold\""
    );
    assert_eq!(
        refused("[functions.use_part.parameters.quantity]\nvalues = ['two']"),
        "b.toml: values of use_part.quantity: found \"two\", which its doc does not allow\nhint: expected a value of type \"integer\""
    );
    assert!(values("order_id", "\"R\\n1\"").contains("cannot be put into a sentence"));
}

/// A table with two references to another one, and no bindings.
const CHOIR: &str = r#"
name = "choir"
[tables.singers.columns]
id = { type = "string", description = "Number of the singer, such as S-1" }
name = { type = "string" }
voice = { type = "string", enum = ["alto", "bass"] }
is_paid = { type = "boolean" }
[tables.concerts.columns]
id = { type = "string", description = "Number of the concert, such as K-1" }
soloist_id = { type = "string", references = "singers" }
stand_in = { type = "string", references = "singers" }
town = { type = "string" }
[states.only]
today = 2026-03-01
[states.only.rows]
singers = [["S-1", "Ada", "alto", true], ["S-2", "Ben", "bass", false], ["S-3", "Cem", "bass", true], ["S-4", "Dee", "alto", false]]
concerts = [["K-1", "S-1", "S-2", "Ulm"], ["K-2", "S-3", "S-4", "Bonn"], ["K-3", "S-2", "S-1", "Kiel"], ["K-4", "S-4", "S-3", "Bonn"]]
[[functions]]
name = "get_concert"
description = "Returns a concert with all details."
operation = "read"
table = "concerts"
key = "$concert_id"
parameters = { concert_id = { column = "concerts.id" } }
[[functions]]
name = "find_concerts"
description = "Finds concerts by their town."
operation = "find"
table = "concerts"
where = [{ column = "town", is = "$town" }]
parameters = { town = { column = "concerts.town", optional = true } }
[[functions]]
name = "count_concerts"
description = "Counts concerts by their town."
operation = "count"
table = "concerts"
where = [{ column = "town", is = "$town" }]
parameters = { town = { column = "concerts.town", optional = true } }
[[functions]]
name = "get_singer"
description = "Returns a singer with all details."
operation = "read"
table = "singers"
key = "$soloist_id"
parameters = { soloist_id = { column = "singers.id" } }
[[functions]]
name = "find_singers"
description = "Finds singers by voice or whether they are paid."
operation = "find"
table = "singers"
where = [{ column = "voice", is = "$voice" }, { column = "is_paid", is = "$is_paid" }]
parameters = { voice = { column = "singers.voice", optional = true }, is_paid = { column = "singers.is_paid", optional = true } }
[[functions]]
name = "pay_singer"
description = "Pays a singer."
operation = "update"
table = "singers"
key = "$singer_id"
set = { is_paid = true }
columns = ["is_paid"]
parameters = { singer_id = { column = "singers.id" } }
"#;

/// The instructions of some rounds over the choir, by the strata that are wanted.
fn of_choir(shares: &[(Stratum, f64)]) -> Vec<Instruction> {
    let environment = Declared::read("choir.toml", CHOIR).unwrap_or_else(|fault| panic!("{fault}"));
    let (bindings, templates) = (Bindings::default(), Templates::english());
    let shares = Shares(shares.iter().copied().collect());
    let settings = Settings { shares, most_alike: 1.0, ..Settings::default() };
    let mut generation = Generation::new(&environment, &bindings, &templates, settings);
    let made = (0..10).flat_map(|_| generation.next_round(&|| false).unwrap().unwrap());
    made.filter_map(|made| made.outcome.ok()).map(|instruction| *instruction).collect()
}

#[test]
fn a_phrase_for_one_of_two_things_of_a_result_means_the_field_of_the_parameter() {
    let chains = of_choir(&[(Stratum::Chain, 1.0)]);
    let from = |field: &str| {
        let steps = chains.iter().flat_map(|instruction| &instruction.program.steps);
        let places = steps.flat_map(|step| step.references().map(|(_, place)| place.to_string()));
        places.filter(|place| place.ends_with(field)).count()
    };
    assert!(from(".soloist_id") > 0);
    assert_eq!(from(".stand_in"), 0);
}

#[test]
fn what_a_description_says_is_asked_in_the_words_of_a_person() {
    let texts: Vec<String> = of_choir(&[(Stratum::Single, 1.0)])
        .iter()
        .map(|instruction| instruction.turns[0].user.text.to_lowercase())
        .collect();
    let has = |phrase: &str| texts.iter().any(|text| text.contains(phrase));
    assert!(has("show me concert k-"), "{texts:#?}");
    assert!(has("find concerts with town bonn") && has("pay singer s-"), "{texts:#?}");
    assert!(!has(" by ") && !has("is paid") && !has("details"), "{texts:#?}");
}

#[test]
fn who_lists_the_things_can_count_them() {
    let missing = of_choir(&[(Stratum::MissingFunction, 1.0)]);
    let counts: Vec<&Instruction> =
        missing.iter().filter(|one| one.withheld.as_deref() == Some("count_concerts")).collect();
    assert!(!counts.is_empty());
    let offers_find = |one: &&Instruction| one.offered.iter().any(|name| name == "find_concerts");
    assert!(!counts.iter().any(offers_find));
}

#[test]
fn something_to_do_is_not_answered_by_yes_or_no() {
    let singles = of_choir(&[(Stratum::Single, 1.0)]);
    let paid = singles.iter().filter(|one| one.program.steps[0].function == "pay_singer");
    let answers: BTreeSet<&str> = paid.map(|one| one.turns[0].answer.text.as_str()).collect();
    assert!(!answers.is_empty() && answers.iter().all(|answer| !answer.starts_with("Yes")), "{answers:?}");
}
