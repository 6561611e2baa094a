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
mod enum_type;
mod enum_value_as_text;
mod extra_key;
mod flat_parameters;
mod function_name;
mod illegal_name;
mod items_not_a_schema;
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
use super::cues::Cue::{self, DeeperRequired, ForeignType, Key, OddPart, OddType};

/// A rule, and the cues it waits for; without cues it visits every function.
pub(super) type Entry = (&'static Rule, &'static [Cue]);

/// The words for keys that are not BFCL's.
const MISSPELLED: &[Cue] = &[
    Key("arguments"),
    Key("args"),
    Key("params"),
    Key("parameter"),
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
    Key("format_"),
];

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
        (&duplicate_function::RULE, &[]),
        (&misspelled_key::RULE, MISSPELLED),
        (&parameters_as_text::RULE, &[]),
        (&split_parameters::RULE, &[Key("required_parameters"), Key("optional_parameters")]),
        (&missing_parameters::RULE, &[]),
        (&required_beside_parameters::RULE, &[]),
        (&parameters_as_list::RULE, &[]),
        (&flat_parameters::RULE, &[]),
        (&member_as_text::RULE, &[OddPart]),
        (&properties_as_list::RULE, &[OddPart]),
        (&reference::RULE, &[Key("$ref")]),
        (&all_of::RULE, &[Key("allOf")]),
        (&nullable_type::RULE, &[Key("anyOf"), Key("oneOf"), Key("allOf"), OddType]),
        (&listed_alternatives::RULE, &[Key("anyOf"), Key("oneOf")]),
        (&several_types::RULE, &[Key("anyOf"), Key("oneOf"), OddType, ForeignType]),
        (&required_among_properties::RULE, &[OddPart]),
        (&property_as_text::RULE, &[OddPart]),
        (&items_not_a_schema::RULE, &[OddPart]),
    ],
    &[
        (&unknown_type::RULE, &[ForeignType]),
        (&missing_type::RULE, &[]),
        (&parameters_type::RULE, &[]),
        (&required_per_parameter::RULE, &[]),
        (&required_not_a_list::RULE, &[]),
        (&missing_required::RULE, &[]),
        (&missing_properties::RULE, &[]),
        (&required_without_property::RULE, &[]),
        (&nested_required::RULE, &[DeeperRequired]),
        (&python_keyword::RULE, &[]),
        (&parameter_name::RULE, &[]),
        (&title_for_callable::RULE, &[Key("api_call")]),
        (&function_name::RULE, &[]),
        (&description_in_docstring::RULE, &[]),
        (&title_for_description::RULE, &[Key("title")]),
        (&missing_description::RULE, &[]),
        (&constant::RULE, &[Key("const")]),
        (&constraint_keyword::RULE, CONSTRAINTS),
        (&array_without_items::RULE, &[]),
        (&enum_as_text::RULE, &[OddPart]),
        (&enum_value_as_text::RULE, &[Key("enum")]),
        (&default_as_text::RULE, &[Key("default")]),
        (&optional_without_default::RULE, &[]),
    ],
    &[(&extra_key::RULE, &[]), (&key_order::RULE, &[])],
];

/// The rules that only find, in the order they look.
pub(super) static FINDINGS: [Entry; 13] = [
    (&unreadable_parameters::RULE, &[]),
    (&unreadable_property::RULE, &[]),
    (&empty_description::RULE, &[]),
    (&combined_schemas::RULE, &[Key("$ref"), Key("anyOf"), Key("oneOf"), Key("allOf")]),
    (&untranslated_type::RULE, &[ForeignType, OddType]),
    (&dict_without_properties::RULE, &[]),
    (&default_type::RULE, &[Key("default")]),
    (&default_not_in_enum::RULE, &[Key("default")]),
    (&enum_type::RULE, &[Key("enum")]),
    (&required_with_default::RULE, &[Key("default")]),
    (&illegal_name::RULE, &[]),
    (&long_name::RULE, &[]),
    (&duplicate_name::RULE, &[]),
];
