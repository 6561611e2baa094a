//! The rules, one file each: the fault, why it matters, an example, and the judgement.
//!
//! Phases run in this order, and rules in the order of their phase; later ones rely on the results of earlier ones.
//! Shared readers of docs are in the parent folder. A new rule is a file here and an entry in one of the two tables,
//! with the cues that it needs to have anything to report.

mod all_of;
mod array_without_items;
mod combined_schemas;
mod constant;
pub(super) mod constraint_keyword;
mod default_as_text;
mod default_expression;
mod default_in_description;
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
pub(super) mod misspelled_key;
mod nested_required;
mod nullable_type;
mod optional_convention;
mod optional_in_description;
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
mod required_in_description;
mod required_not_a_list;
mod required_per_parameter;
mod required_with_default;
mod required_without_property;
mod rest_left_out;
mod several_types;
mod split_parameters;
mod title_for_callable;
mod title_for_description;
mod too_deep;
mod unknown_type;
mod unmarked_parameter;
mod unreadable_parameters;
mod unreadable_property;
mod untranslated_type;

use super::cues::Cue::{
    Alias, ApiCall, Combining, Constant, Constraint, DeeperRequired, Default, Enum, ForeignType, Irregular,
    OddPart, OddType, Title,
};
use super::cues::Cues;
use super::rule::FixRule;

/// A rule and its cues; without cues it visits the list as a whole.
pub(super) type RuleEntry = (&'static FixRule, Cues);

/// The rules that edit, in the order they run.
pub(super) static PHASES: [&[RuleEntry]; 3] = [
    &[
        (&duplicate_function::RULE, Cues::among(&[])),
        (&misspelled_key::RULE, Cues::among(&[Alias])),
        (&parameters_as_text::RULE, Cues::among(&[Irregular])),
        (&split_parameters::RULE, Cues::among(&[Alias])),
        (&missing_parameters::RULE, Cues::among(&[Irregular])),
        (&required_beside_parameters::RULE, Cues::among(&[Irregular])),
        (&parameters_as_list::RULE, Cues::among(&[Irregular])),
        (&flat_parameters::RULE, Cues::among(&[Irregular])),
        (&member_as_text::RULE, Cues::among(&[OddPart])),
        (&properties_as_list::RULE, Cues::among(&[OddPart])),
        (&reference::RULE, Cues::among(&[Combining])),
        (&all_of::RULE, Cues::among(&[Combining])),
        (&nullable_type::RULE, Cues::among(&[Combining, OddType])),
        (&listed_alternatives::RULE, Cues::among(&[Combining])),
        (&several_types::RULE, Cues::among(&[Combining, OddType, ForeignType])),
        (&required_among_properties::RULE, Cues::among(&[OddPart])),
        (&property_as_text::RULE, Cues::among(&[OddPart])),
        (&items_not_a_schema::RULE, Cues::among(&[OddPart])),
        (&items_of_one_type::RULE, Cues::among(&[OddPart])),
    ],
    &[
        (&unknown_type::RULE, Cues::among(&[ForeignType])),
        (&missing_type::RULE, Cues::among(&[Irregular])),
        (&parameters_type::RULE, Cues::among(&[Irregular])),
        (&rest_left_out::RULE, Cues::among(&[Irregular])),
        (&optional_convention::RULE, Cues::among(&[Irregular])),
        (&unmarked_parameter::RULE, Cues::among(&[Irregular])),
        (&required_in_description::RULE, Cues::among(&[Irregular])),
        (&required_not_a_list::RULE, Cues::among(&[Irregular])),
        (&missing_required::RULE, Cues::among(&[Irregular])),
        (&required_per_parameter::RULE, Cues::among(&[Irregular])),
        (&missing_properties::RULE, Cues::among(&[Irregular])),
        (&required_without_property::RULE, Cues::among(&[Irregular])),
        (&optional_in_description::RULE, Cues::among(&[Irregular])),
        (&python_keyword::RULE, Cues::among(&[Irregular])),
        (&parameter_name::RULE, Cues::among(&[Irregular])),
        (&title_for_callable::RULE, Cues::among(&[ApiCall])),
        (&function_name::RULE, Cues::among(&[])),
        (&description_in_docstring::RULE, Cues::among(&[Irregular])),
        (&title_for_description::RULE, Cues::among(&[Title])),
        (&missing_description::RULE, Cues::among(&[Irregular])),
        (&nested_required::RULE, Cues::among(&[DeeperRequired])),
        (&default_expression::RULE, Cues::among(&[Irregular])),
        (&constant::RULE, Cues::among(&[Constant])),
        (&constraint_keyword::RULE, Cues::among(&[Constraint])),
        (&array_without_items::RULE, Cues::among(&[Irregular])),
        (&enum_as_text::RULE, Cues::among(&[OddPart])),
        (&enum_value_as_text::RULE, Cues::among(&[Enum])),
        (&default_as_text::RULE, Cues::among(&[Default])),
        (&default_in_description::RULE, Cues::among(&[Irregular])),
        (&optional_without_default::RULE, Cues::among(&[Irregular])),
        (&enum_null::RULE, Cues::among(&[Enum])),
    ],
    &[(&extra_key::RULE, Cues::among(&[Irregular])), (&key_order::RULE, Cues::among(&[Irregular]))],
];

/// The rules that only report, in order.
pub(super) static FINDINGS: [RuleEntry; 14] = [
    (&unreadable_parameters::RULE, Cues::among(&[Irregular])),
    (&unreadable_property::RULE, Cues::among(&[Irregular])),
    (&empty_description::RULE, Cues::among(&[Irregular])),
    (&combined_schemas::RULE, Cues::among(&[Combining])),
    (&untranslated_type::RULE, Cues::among(&[ForeignType, OddType])),
    (&dict_without_properties::RULE, Cues::among(&[Irregular])),
    (&default_type::RULE, Cues::among(&[Default])),
    (&default_not_in_enum::RULE, Cues::among(&[Default])),
    (&enum_type::RULE, Cues::among(&[Enum])),
    (&required_with_default::RULE, Cues::among(&[Default])),
    (&illegal_name::RULE, Cues::among(&[Irregular])),
    (&long_name::RULE, Cues::among(&[Irregular])),
    (&duplicate_name::RULE, Cues::among(&[])),
    (&too_deep::RULE, Cues::among(&[])),
];
