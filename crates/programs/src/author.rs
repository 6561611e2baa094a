//! Turns a program that passed all checks into an instruction: offered functions, turns, answers.

use callsieve_environment::environment::{Environment, Function};
use callsieve_environment::value_path::{Step as PathStep, ValuePath};

use crate::answer::{Answer, Writing, answer, ungrounded};
use crate::bindings::Bindings;
use crate::checks::Goal;
use crate::execute::Executed;
use crate::instruction::{Instruction, Turn};
use crate::place::{Position, names, position, value_at};
use crate::pool::Pools;
use crate::program::{Argument, Program, ResultPath, Step};
use crate::random::Random;
use crate::rejection::{Reason, Rejection};
use crate::stratum::Stratum;
use crate::wording::clause::{Clause, Clauses, Source};
use crate::wording::phrase::is_verb;
use crate::wording::templates::{Style, Templates};
use crate::wording::text::Text;
use crate::wording::values::said;
use crate::wording::wanted::{Wanted, wanted};
use crate::words::{holds_word, things};

/// Writes instructions.
pub struct Author<'a> {
    /// The functions on offer are those of this environment.
    pub environment: &'a dyn Environment,
    /// What a person wrote on functions and parameters.
    pub bindings: &'a Bindings,
    /// The templates.
    pub templates: &'a Templates,
    /// What arguments can take from results.
    pub pools: &'a Pools,
    /// The fewest and the most functions that are offered.
    pub offered: [usize; 2],
}

/// A program that passed all checks, as it ran.
#[derive(Debug, Clone, Copy)]
pub struct Proven<'a> {
    /// The program.
    pub program: &'a Program,
    /// As it ran.
    pub executed: &'a Executed,
    /// What the user wants of it.
    pub goal: Goal,
}

/// What a thing in a result is a part of.
enum Owner {
    /// Only this step has something of the owner's kind, which is named.
    Only(String),
    /// Another step has another one of its kind.
    OneOfSeveral,
}

impl Owner {
    fn only(self) -> Option<String> {
        match self {
            Self::Only(kind) => Some(kind),
            Self::OneOfSeveral => None,
        }
    }
}

impl Author<'_> {
    /// Writes an instruction of a stratum.
    ///
    /// # Errors
    /// The program does not suit the stratum, or a check of the text fails.
    pub fn write(
        &self,
        stratum: Stratum,
        proven: Proven<'_>,
        random: &mut Random,
    ) -> Result<Instruction, Rejection> {
        let without_phrase =
            proven.program.functions().into_iter().find(|function| self.has_no_phrase(function));
        if let Some(function) = without_phrase {
            return Err(Rejection::new(Reason::NoPhrase, function));
        }
        let style = style_of(stratum, proven.program, random);
        let (offered, withheld) = self.offer(stratum, proven.program, random)?;
        let turns = match stratum {
            Stratum::MissingParameter => self.missing_parameter(proven, style, random)?,
            Stratum::MultiTurn => self.one_by_one(proven, style, random)?,
            Stratum::ErrorRecovery => vec![self.recovery(proven, random)?],
            _ => vec![self.at_once(stratum, proven, style, random)],
        };
        let instruction = Instruction {
            stratum,
            style,
            state: self.environment.initial_states()[proven.program.state].name.clone(),
            program: proven.program.clone(),
            executed: proven.executed.clone(),
            turns,
            offered,
            withheld,
        };
        match self.fault(&instruction) {
            Some(rejection) => Err(rejection),
            None => Ok(instruction),
        }
    }

    fn clauses(&self) -> Clauses<'_> {
        Clauses { bindings: self.bindings, templates: self.templates }
    }

    /// Returns `true` if nobody says how a user asks for a function.
    pub fn has_no_phrase(&self, function: &str) -> bool {
        let doc = self.environment.functions().iter().find(|own| own.name() == function);
        self.clauses().phrase(function, doc.map(|doc| &doc.doc)).is_none()
    }

    fn writing(&self) -> Writing<'_> {
        Writing { templates: self.templates, listed: &self.pools.listed }
    }

    /// The clause of a step.
    fn clause(&self, proven: Proven<'_>, nth: usize, omitted: Option<&str>) -> Text {
        let step = &proven.program.steps[nth];
        let functions = self.environment.functions();
        let doc = functions.iter().find(|function| function.name() == step.function);
        let sources: Vec<(String, Source)> = step
            .references()
            .filter_map(|(parameter, place)| {
                let result = proven.executed.result(place.step)?;
                let position = position(&place.path, result)?;
                let noun = self.clauses().noun(&step.function, parameter);
                let owner = self.owner(proven, nth, &noun, place).and_then(Owner::only);
                Some((parameter.to_owned(), Source { position, owner }))
            })
            .collect();
        self.clauses().text(&Clause {
            step,
            nth,
            doc: doc.map(|function| &function.doc),
            sources: &sources,
            omitted,
        })
    }

    /// What a thing in the result of an earlier step is a part of: the lesson, for the teacher that a lesson has. `None` if
    /// it is the object's own key, which stands first.
    fn owner(&self, proven: Proven<'_>, nth: usize, thing: &str, place: &ResultPath) -> Option<Owner> {
        let earlier = &proven.program.steps[place.step];
        let result = proven.executed.result(place.step)?;
        let own = own_key(place, result)?;
        let links = self.pools.links(place.step, &earlier.function, result);
        if own == *place {
            return None;
        }
        let mut kinds = links.takers(&own).map(|(callable, parameter)| {
            let callable = &self.pools.callables[callable];
            self.clauses().noun(&callable.name, &callable.parameters[parameter].name)
        });
        let owner = kinds.find(|kind| kind != thing)?;
        let value = value_at(&own.path, result);
        let names_another = |(other, step): (usize, &Step)| {
            let (call, _) = proven.executed.calls.get(other)?;
            let mut of_kind = call
                .arguments
                .iter()
                .filter(|(name, _)| self.clauses().noun(&step.function, name) == owner)
                .map(|(_, argument)| Some(argument) != value)
                .peekable();
            // A call on the same owner names no other.
            Some(if of_kind.peek().is_some() {
                of_kind.any(|differs| differs)
            } else {
                things(&step.function).contains(&owner)
            })
        };
        let mut earlier = proven.program.steps.iter().enumerate().take(nth);
        let is_ambiguous =
            earlier.any(|(other, step)| other != place.step && names_another((other, step)) == Some(true));
        Some(if is_ambiguous { Owner::OneOfSeveral } else { Owner::Only(owner) })
    }

    /// The tasks of some steps as one text.
    fn tasks(
        &self,
        proven: Proven<'_>,
        steps: &[usize],
        omitted: Option<(usize, &str)>,
        random: &mut Random,
    ) -> Text {
        let joins = &self.templates.joins;
        let forms = if proven.goal == Goal::Every { &joins.independent } else { &joins.dependent };
        let usual = [" and ".to_owned(), ", ".to_owned(), " and ".to_owned()];
        let [of_two, between, before_last] = random.one_of(forms).unwrap_or(&usual);
        let mut text = Text::default();
        for (at, &nth) in steps.iter().enumerate() {
            match at {
                0 => {}
                1 if steps.len() == 2 => text.push(of_two),
                at if at + 1 == steps.len() => text.push(before_last),
                _ => text.push(between),
            }
            let left_out = omitted.filter(|(step, _)| *step == nth).map(|(_, parameter)| parameter);
            text.append(self.clause(proven, nth, left_out));
        }
        text
    }

    fn styled(&self, style: Style, tasks: &Text, random: &mut Random) -> Text {
        let template = random.one_of(self.templates.of_style(style)).map_or("{tasks}", String::as_str);
        Text::of_template(template, &[("tasks", tasks)])
    }

    /// The steps whose results an answer shows: those that the user asks to be told, and the last one.
    fn shown(&self, proven: Proven<'_>, steps: &std::ops::Range<usize>) -> Vec<usize> {
        let is_last = |step: usize| step + 1 == steps.end;
        let is_told = |step: usize| self.is_told(proven, step) && !proven.program.steps[step].fails;
        steps.clone().filter(|&step| proven.goal == Goal::Every || is_last(step) || is_told(step)).collect()
    }

    /// Whether the user asks to be told the result of a step.
    fn is_told(&self, proven: Proven<'_>, step: usize) -> bool {
        let text = self.clause(proven, step, None).text.to_lowercase();
        TOLD.contains(&text.split(' ').next().unwrap_or_default())
    }

    fn answer(&self, proven: Proven<'_>, steps: &std::ops::Range<usize>, random: &mut Random) -> Answer {
        self.answer_with(proven, &self.shown(proven, steps), random)
    }

    /// The answer that shows the results of some steps. Only what asks for something is answered by yes or no.
    fn answer_with(&self, proven: Proven<'_>, shown: &[usize], random: &mut Random) -> Answer {
        let is_question = |step: usize| {
            let function = self.pools.of_name(&proven.program.steps[step].function);
            function.is_some_and(|at| self.pools.callables[at].is_read_only) || self.is_told(proven, step)
        };
        let asks = shown.last().is_some_and(|&step| is_question(step));
        answer(proven.executed, shown, asks, self.writing(), random)
    }

    /// One turn with all tasks, or with what cannot be done.
    fn at_once(&self, stratum: Stratum, proven: Proven<'_>, style: Style, random: &mut Random) -> Turn {
        let all = 0..proven.program.steps.len();
        let tasks = self.tasks(proven, &all.clone().collect::<Vec<_>>(), None, random);
        let user = self.styled(style, &tasks, random);
        if stratum.has_no_call() {
            let text = random.one_of(&self.templates.turns.no_function).cloned().unwrap_or_default();
            return Turn { user, steps: 0..0, answer: Answer { text, values: Vec::new() } };
        }
        let answer = self.answer(proven, &all, random);
        Turn { user, steps: all, answer }
    }

    /// A turn for each step.
    fn one_by_one(
        &self,
        proven: Proven<'_>,
        style: Style,
        random: &mut Random,
    ) -> Result<Vec<Turn>, Rejection> {
        if proven.program.steps.len() < 2 {
            return Err(Rejection::new(Reason::NoProgram, "1 call has no second turn"));
        }
        let turns = (0..proven.program.steps.len()).map(|nth| {
            let task = self.clause(proven, nth, None);
            let user = if nth == 0 {
                self.styled(style, &task, random)
            } else {
                let template = random.one_of(&self.templates.turns.next).map_or("{tasks}", String::as_str);
                Text::of_template(template, &[("tasks", &task)])
            };
            let steps = nth..nth + 1;
            let answer = self.answer_with(proven, &[nth], random);
            Turn { user, steps, answer }
        });
        Ok(turns.collect())
    }

    /// A first turn that lacks a value, the question for it, and the turn that gives it.
    fn missing_parameter(
        &self,
        proven: Proven<'_>,
        style: Style,
        random: &mut Random,
    ) -> Result<Vec<Turn>, Rejection> {
        let candidates = self.omittable(proven.program);
        let Some((nth, parameter, value)) = random.one_of(&candidates).cloned() else {
            return Err(Rejection::new(
                Reason::NoProgram,
                "no call has a required value that could be missing",
            ));
        };
        let all = 0..proven.program.steps.len();
        let steps: Vec<usize> = all.clone().collect();
        let tasks = self.tasks(proven, &steps, Some((nth, &parameter)), random);
        let turns = &self.templates.turns;
        let what = Text::plain(self.wanted(&proven.program.steps[nth].function, &parameter));
        let question = random.one_of(&turns.missing).map_or("{what}?", String::as_str);
        let question = Text::of_template(question, &[("what", &what)]).text;
        let bound = self.bindings.parameter(&proven.program.steps[nth].function, &parameter);
        let written = Text::value(self.writing().said(&value), nth, &parameter);
        let value = match bound.and_then(|bound| bound.said) {
            Some(said) => said.text(&value, &written),
            None => written,
        };
        let reply = random.one_of(&turns.missing_answer).map_or("{value}", String::as_str);
        let first = Turn {
            user: self.styled(style, &tasks, random),
            steps: 0..0,
            answer: Answer { text: question, values: Vec::new() },
        };
        let answer = self.answer(proven, &all, random);
        let second = Turn { user: Text::of_template(reply, &[("value", &value)]), steps: all, answer };
        Ok(vec![first, second])
    }

    /// What a question for a value of a parameter names.
    fn wanted(&self, function: &str, parameter: &str) -> String {
        let is_bound = self.bindings.parameter(function, parameter).is_some_and(|bound| bound.noun.is_some());
        let doc = self.environment.functions().iter().find(|own| own.name() == function);
        let schema = doc.and_then(|doc| doc.parameters().find(|(name, _)| *name == parameter));
        match schema.map(|(_, schema)| wanted(function, parameter, schema)) {
            Some(Wanted::Thing(thing)) if !is_bound => thing,
            _ => self.clauses().noun(function, parameter),
        }
    }

    /// Required literals without which no call can be made at all: those of the first step.
    fn omittable(&self, program: &Program) -> Vec<(usize, String, serde_json::Value)> {
        let Some(first) = program.steps.first() else { return Vec::new() };
        let functions = self.environment.functions();
        let Some(doc) = functions.iter().find(|function| function.name() == first.function) else {
            return Vec::new();
        };
        let required = doc.doc.get("parameters").and_then(|schema| schema["required"].as_array());
        let is_required = |name: &str| {
            required.is_some_and(|required| required.iter().any(|required| required.as_str() == Some(name)))
        };
        // Nobody forgets to say yes or no, and "book a kind" is no request.
        let is_sayable = |parameter: &str| {
            let is_listed =
                doc.parameters().any(|(name, schema)| name == parameter && schema.get("enum").is_some());
            let phrase = self.clauses().phrase(&first.function, Some(&doc.doc));
            let has_noun =
                self.bindings.parameter(&first.function, parameter).is_some_and(|bound| bound.noun.is_some());
            !is_listed || has_noun || phrase.is_none_or(|phrase| !phrase.requires(parameter))
        };
        let literals = first.literals().filter(|(parameter, value)| {
            is_required(parameter) && !value.is_boolean() && is_sayable(parameter)
        });
        literals.map(|(parameter, value)| (0, parameter.to_owned(), value.clone())).collect()
    }

    /// One turn: a task, and what to do if it is refused.
    fn recovery(&self, proven: Proven<'_>, random: &mut Random) -> Result<Turn, Rejection> {
        let n_steps = proven.program.steps.len();
        if n_steps < 3 {
            return Err(Rejection::new(Reason::NoProgram, "nothing was repaired"));
        }
        let task = self.clause(proven, 0, None);
        let repair = self.tasks(proven, &(1..n_steps - 1).collect::<Vec<_>>(), None, random);
        let template = random.one_of(&self.templates.turns.recovery).map_or("{tasks}", String::as_str);
        let user = Text::of_template(template, &[("tasks", &task), ("repair", &repair)]);
        let answer = self.answer(proven, &(0..n_steps), random);
        Ok(Turn { user, steps: 0..n_steps, answer })
    }

    /// The functions on offer, in the order of the environment, and the one that is withheld.
    fn offer(
        &self,
        stratum: Stratum,
        program: &Program,
        random: &mut Random,
    ) -> Result<(Vec<String>, Option<String>), Rejection> {
        let called = program.functions();
        let withheld = if stratum.has_no_call() { called.last().copied() } else { None };
        let needed: Vec<&str> = if stratum.has_no_call() { Vec::new() } else { called.clone() };
        let goal: Vec<String> = called.iter().flat_map(|name| self.about(name)).collect();
        let mut own: Vec<String> = withheld.map(things).unwrap_or_default();
        // Who lists the orders can count them as well.
        if own.len() > 1 && COUNTING.contains(&own[0].as_str()) {
            own.remove(0);
        }
        let may_do_it = |name: &str| {
            let binding = withheld.and_then(|withheld| self.bindings.function(withheld));
            binding.is_some_and(|binding| binding.also_done_by.iter().any(|other| other == name))
        };
        let may_be_offered = |name: &str| match stratum {
            Stratum::Irrelevance => {
                !may_do_it(name) && self.about(name).iter().all(|thing| !goal.contains(thing))
            }
            Stratum::MissingFunction => {
                !may_do_it(name) && !own.iter().all(|thing| things(name).contains(thing))
            }
            _ => true,
        };
        let names: Vec<&str> = self.environment.functions().iter().map(Function::name).collect();
        let mut others: Vec<&str> =
            names.iter().copied().filter(|name| !called.contains(name) && may_be_offered(name)).collect();
        random.shuffle(&mut others);
        let [fewest, most] = self.offered;
        let wanted = fewest + random.below(most.saturating_sub(fewest) + 1);
        others.truncate(wanted.saturating_sub(needed.len()).max(usize::from(needed.is_empty())));
        if needed.is_empty() && others.len() < 2 {
            return Err(Rejection::new(Reason::NoProgram, "every function has to do with the request"));
        }
        let is_offered = |name: &&str| needed.contains(name) || others.contains(name);
        let offered = names.into_iter().filter(is_offered).map(str::to_owned).collect();
        Ok((offered, withheld.map(str::to_owned)))
    }

    /// The things that a function is about: those of its name, without what it does, and of its parameters.
    fn about(&self, function: &str) -> Vec<String> {
        let mut about = things(function);
        if about.len() > 1 && is_verb(&about[0]) {
            about.remove(0);
        }
        if let Some(callable) = self.pools.of_name(function) {
            about.extend(
                self.pools.callables[callable]
                    .parameters
                    .iter()
                    .flat_map(|parameter| things(&parameter.name)),
            );
        }
        about.retain(|thing| !OF_ANYTHING.contains(&thing.as_str()));
        about
    }

    /// What is wrong with the texts: a value that nobody gave, one that the user must not know, an answer without a source.
    fn fault(&self, instruction: &Instruction) -> Option<Rejection> {
        let program = &instruction.program;
        let mentions: Vec<_> = instruction.turns.iter().flat_map(|turn| &turn.user.mentions).collect();
        for (nth, step) in program.steps.iter().enumerate() {
            // The repeated call of an error recovery has the values of the first.
            let same = program
                .steps
                .iter()
                .position(|other| other.arguments == step.arguments && other.function == step.function);
            let said_at = same.unwrap_or(nth);
            for (parameter, value) in step.literals() {
                let is_said =
                    mentions.iter().any(|mention| mention.step == said_at && mention.parameter == parameter);
                if !is_said {
                    return Some(Rejection::new(
                        Reason::UnsaidArgument,
                        format!("{parameter} of {}: {value}", step.function),
                    ));
                }
            }
        }
        if let Some(two) = self.ambiguous_reference(instruction) {
            return Some(Rejection::new(Reason::AmbiguousReference, two));
        }
        if let Some(leaked) = self.leaked(instruction) {
            return Some(Rejection::new(Reason::LeakedValue, leaked));
        }
        let ungrounded = instruction
            .turns
            .iter()
            .find_map(|turn| ungrounded(&turn.answer, &instruction.executed, self.writing()));
        ungrounded.map(|place| Rejection::new(Reason::UngroundedAnswer, place))
    }

    /// A phrase such as "that order" for which an earlier step has another thing of its kind: in its result, or as a value of
    /// the user.
    fn ambiguous_reference(&self, instruction: &Instruction) -> Option<String> {
        let (steps, executed) = (&instruction.program.steps, &instruction.executed);
        for (nth, step) in steps.iter().enumerate() {
            for (parameter, place) in step.references() {
                let Some((callable, at)) = self.pools.place_of(&step.function, parameter) else { continue };
                let value = executed.result(place.step).and_then(|result| value_at(&place.path, result));
                let noun = self.clauses().noun(&step.function, parameter);
                let bound = self.bindings.parameter(&step.function, parameter);
                let of_result = executed.result(place.step).and_then(|result| position(&place.path, result));
                let is_linked = bound.is_some_and(|bound| bound.linked.is_some());
                if is_linked && of_result != Some(Position::Only) {
                    return Some(format!("{place} as {parameter} of {}: one of several", step.function));
                }
                if let Some(rival) = self.rival((steps, executed), place, (callable, at)) {
                    return Some(format!("{place} as {parameter} of {}: or {rival}", step.function));
                }
                let proven = Proven { program: &instruction.program, executed, goal: Goal::Last };
                let is_far = !is_linked && of_result == Some(Position::Only) && place.step + 1 < nth;
                if is_far && matches!(self.owner(proven, nth, &noun, place), Some(Owner::OneOfSeveral)) {
                    return Some(format!("{place} as {parameter} of {}: of one of several", step.function));
                }
                for (other, earlier) in
                    steps.iter().enumerate().take(nth).filter(|(other, _)| *other != place.step)
                {
                    let Some(result) = executed.result(other) else { continue };
                    let links = self.pools.links(other, &earlier.function, result);
                    let differs = |place: &ResultPath| value_at(&place.path, result) != value;
                    let names_another = |(name, literal): (&str, &serde_json::Value)| {
                        Some(literal) != value && self.clauses().noun(&earlier.function, name) == noun
                    };
                    if links.of(callable, at).iter().any(differs) || earlier.literals().any(names_another) {
                        return Some(format!(
                            "{place} as {parameter} of {}: or of {}",
                            step.function, earlier.function
                        ));
                    }
                }
            }
        }
        None
    }

    /// Another value of the same call that the phrase for a reference could mean as well: a second field of the same thing, such as the
    /// doctor who referred a patient beside the doctor of the appointment. A field with the very name of the parameter is what the phrase means.
    fn rival(
        &self,
        (steps, executed): (&[Step], &Executed),
        place: &ResultPath,
        (callable, at): (usize, usize),
    ) -> Option<String> {
        let own_name = |place: &ResultPath| names(&place.path).next_back().map(str::to_owned);
        let parameter = &self.pools.callables[callable].parameters[at].name;
        let (from, result) = (steps.get(place.step)?, executed.result(place.step)?);
        if own_name(place).as_ref() == Some(parameter) || own_key(place, result).as_ref() == Some(place) {
            return None;
        }
        let value = value_at(&place.path, result);
        let links = self.pools.links(place.step, &from.function, result);
        let is_rival = |other: &&ResultPath| {
            own_name(other) != own_name(place)
                && position(&other.path, result) == position(&place.path, result)
                && value_at(&other.path, result) != value
        };
        links.of(callable, at).iter().find(is_rival).map(ToString::to_string)
    }

    /// A value in the text that the program takes from an earlier result.
    fn leaked(&self, instruction: &Instruction) -> Option<String> {
        for step in &instruction.program.steps {
            for (_, argument) in &step.arguments {
                let Argument::Result(place) = argument else { continue };
                let result = instruction.executed.result(place.step)?;
                let Some(value) = value_at(&place.path, result) else { continue };
                let bare = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                for form in [bare, said(value, &self.templates.values)] {
                    if instruction.turns.iter().any(|turn| holds_word(&turn.user.text, &form)) {
                        return Some(format!("{place} is in the text: {form}"));
                    }
                }
            }
        }
        None
    }
}

/// The place of the key of the object that a place is in: its first member.
fn own_key(place: &ResultPath, result: &serde_json::Value) -> Option<ResultPath> {
    let Some((PathStep::Member(_), parent)) = place.path.steps.split_last() else { return None };
    let parent = ValuePath { steps: parent.to_vec() };
    let (key, _) = value_at(&parent, result)?.as_object()?.iter().next()?;
    let steps = parent.steps.into_iter().chain([PathStep::Member(key.clone())]).collect();
    Some(ResultPath { step: place.step, path: ValuePath { steps } })
}

/// A style; implicit only where the first message leaves a value to be looked up.
fn style_of(stratum: Stratum, program: &Program, random: &mut Random) -> Style {
    let looks_up = stratum == Stratum::Chain && program.has_dependency();
    let styles = if looks_up { &Style::ALL[..] } else { &Style::ALL[..3] };
    random.one_of(styles).copied().unwrap_or(Style::Ask)
}

/// Words with which a user asks to be told something.
const TOLD: [&str; 12] = [
    "show",
    "list",
    "tell",
    "find",
    "count",
    "calculate",
    "convert",
    "compute",
    "give",
    "look",
    "display",
    "check",
];

/// Verbs of functions whose result can be worked out from the things themselves.
const COUNTING: [&str; 4] = ["average", "count", "sum", "total"];

/// Words in names of parameters that say nothing on what a function is about.
const OF_ANYTHING: [&str; 14] = [
    "id", "name", "number", "day", "date", "status", "until", "from", "to", "limit", "new", "type", "value",
    "time",
];
