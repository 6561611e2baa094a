//! The rules, one file each: what is wrong, why it matters, an example, and the judgement.
//!
//! Phases run in this order, and rules in the order they stand in a phase: later ones
//! rely on what earlier ones have settled. Shared readings of a doc are beside this
//! folder. A new rule is a file here and its place in one of the two tables,
//! with the cues without which it has nothing to say.

mod all_of;
mod array_without_items;
mod combined_schemas;
mod constant;
mod constraint_keyword;
mod default_as_text;
mod default_not_in_enum;
mod default_type;
mod description_in_docstring;
mod dict_without_properties;
mod duplicate_function;
mod duplicate_name;
mod empty_description;
mod enum_as_text;
mod enum_null;
mod enum_type;
mod enum_value_as_text;
mod extra_key;
mod flat_parameters;
mod function_name;
mod illegal_name;
mod items_not_a_schema;
mod items_of_one_type;
mod key_order;
mod listed_alternatives;
mod long_name;
mod member_as_text;
mod missing_description;
mod missing_parameters;
mod missing_properties;
mod missing_required;
mod missing_type;
mod misspelled_key;
mod nested_required;
mod nullable_type;
mod optional_without_default;
mod parameter_name;
mod parameters_as_list;
mod parameters_as_text;
mod parameters_type;
mod properties_as_list;
mod property_as_text;
mod python_keyword;
mod reference;
mod required_among_properties;
mod required_beside_parameters;
mod required_not_a_list;
mod required_per_parameter;
mod required_with_default;
mod required_without_property;
mod several_types;
mod split_parameters;
mod title_for_callable;
mod title_for_description;
mod unknown_type;
mod unreadable_parameters;
mod unreadable_property;
mod untranslated_type;

use super::Rule;
use super::cues::Cue::{self, DeeperRequired, ForeignType, HeldElsewhere, Key, OddPart, OddType};
use super::cues::Cues;

/// A rule, and the cues it waits for; without cues it visits every function.
pub(super) type Entry = (&'static Rule, Cues);

/// The words for keys that are not BFCL's.
const MISSPELLED: &[Cue] = &[
    HeldElsewhere,
    Key("desc"),
    Key("summary"),
    Key("doc"),
    Key("type_"),
    Key("data_type"),
    Key("dataType"),
    Key("property"),
    Key("prefixItems"),
    Key("default_value"),
    Key("defaultValue"),
    Key("enums"),
    Key("choices"),
    Key("allowed_values"),
    Key("allowedValues"),
    Key("possible_values"),
    Key("valid_values"),
    Key("enum_values"),
    Key("options"),
    Key("values"),
    Key("format_"),
];

/// The keys that put a schema together from others; `then` and `else` stand beside `if`.
const COMBINED: &[Cue] = &[Key("$ref"), Key("anyOf"), Key("oneOf"), Key("allOf"), Key("not"), Key("if")];

/// The keys of constraints.
const CONSTRAINTS: &[Cue] = &[
    Key("format"),
    Key("pattern"),
    Key("const"),
    Key("minimum"),
    Key("min"),
    Key("exclusiveMinimum"),
    Key("maximum"),
    Key("max"),
    Key("exclusiveMaximum"),
    Key("multipleOf"),
    Key("minLength"),
    Key("maxLength"),
    Key("minItems"),
    Key("maxItems"),
];

/// The rules that edit, in the order they run.
pub(super) static PHASES: [&[Entry]; 3] = [
    &[
        (&duplicate_function::RULE, Cues::among(&[])),
        (&misspelled_key::RULE, Cues::among(MISSPELLED)),
        (&parameters_as_text::RULE, Cues::among(&[])),
        (&split_parameters::RULE, Cues::among(&[Key("required_parameters"), Key("optional_parameters")])),
        (&missing_parameters::RULE, Cues::among(&[])),
        (&required_beside_parameters::RULE, Cues::among(&[])),
        (&parameters_as_list::RULE, Cues::among(&[])),
        (&flat_parameters::RULE, Cues::among(&[])),
        (&member_as_text::RULE, Cues::among(&[OddPart])),
        (&properties_as_list::RULE, Cues::among(&[OddPart])),
        (&reference::RULE, Cues::among(&[Key("$ref")])),
        (&all_of::RULE, Cues::among(&[Key("allOf")])),
        (&nullable_type::RULE, Cues::among(&[Key("anyOf"), Key("oneOf"), Key("allOf"), OddType])),
        (&listed_alternatives::RULE, Cues::among(&[Key("anyOf"), Key("oneOf")])),
        (&several_types::RULE, Cues::among(&[Key("anyOf"), Key("oneOf"), OddType, ForeignType])),
        (&required_among_properties::RULE, Cues::among(&[OddPart])),
        (&property_as_text::RULE, Cues::among(&[OddPart])),
        (&items_not_a_schema::RULE, Cues::among(&[OddPart])),
        (&items_of_one_type::RULE, Cues::among(&[OddPart])),
    ],
    &[
        (&unknown_type::RULE, Cues::among(&[ForeignType])),
        (&missing_type::RULE, Cues::among(&[])),
        (&parameters_type::RULE, Cues::among(&[])),
        (&required_per_parameter::RULE, Cues::among(&[])),
        (&required_not_a_list::RULE, Cues::among(&[])),
        (&missing_required::RULE, Cues::among(&[])),
        (&missing_properties::RULE, Cues::among(&[])),
        (&required_without_property::RULE, Cues::among(&[])),
        (&nested_required::RULE, Cues::among(&[DeeperRequired])),
        (&python_keyword::RULE, Cues::among(&[])),
        (&parameter_name::RULE, Cues::among(&[])),
        (&title_for_callable::RULE, Cues::among(&[Key("api_call")])),
        (&function_name::RULE, Cues::among(&[])),
        (&description_in_docstring::RULE, Cues::among(&[])),
        (&title_for_description::RULE, Cues::among(&[Key("title")])),
        (&missing_description::RULE, Cues::among(&[])),
        (&constant::RULE, Cues::among(&[Key("const")])),
        (&constraint_keyword::RULE, Cues::among(CONSTRAINTS)),
        (&array_without_items::RULE, Cues::among(&[])),
        (&enum_as_text::RULE, Cues::among(&[OddPart])),
        (&enum_value_as_text::RULE, Cues::among(&[Key("enum")])),
        (&default_as_text::RULE, Cues::among(&[Key("default")])),
        (&optional_without_default::RULE, Cues::among(&[])),
        (&enum_null::RULE, Cues::among(&[Key("enum")])),
    ],
    &[(&extra_key::RULE, Cues::among(&[])), (&key_order::RULE, Cues::among(&[]))],
];

/// The rules that only find, in the order they look.
pub(super) static FINDINGS: [Entry; 13] = [
    (&unreadable_parameters::RULE, Cues::among(&[])),
    (&unreadable_property::RULE, Cues::among(&[])),
    (&empty_description::RULE, Cues::among(&[])),
    (&combined_schemas::RULE, Cues::among(COMBINED)),
    (&untranslated_type::RULE, Cues::among(&[ForeignType, OddType])),
    (&dict_without_properties::RULE, Cues::among(&[])),
    (&default_type::RULE, Cues::among(&[Key("default")])),
    (&default_not_in_enum::RULE, Cues::among(&[Key("default")])),
    (&enum_type::RULE, Cues::among(&[Key("enum")])),
    (&required_with_default::RULE, Cues::among(&[Key("default")])),
    (&illegal_name::RULE, Cues::among(&[])),
    (&long_name::RULE, Cues::among(&[])),
    (&duplicate_name::RULE, Cues::among(&[])),
];
