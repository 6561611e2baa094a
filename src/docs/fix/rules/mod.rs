//! The rules, one file each: what is wrong, why it matters, an example, and the judgement.
//!
//! Phases run in this order, and rules in the order they stand in a phase: later ones
//! rely on what earlier ones have settled. Shared readings of a doc are beside this
//! folder. A new rule is a file here and its place in one of the two tables.

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

/// The rules that edit, in the order they run.
pub(super) static PHASES: [&[&Rule]; 3] = [
    &[
        &duplicate_function::RULE,
        &misspelled_key::RULE,
        &parameters_as_text::RULE,
        &split_parameters::RULE,
        &missing_parameters::RULE,
        &required_beside_parameters::RULE,
        &parameters_as_list::RULE,
        &flat_parameters::RULE,
        &member_as_text::RULE,
        &properties_as_list::RULE,
        &reference::RULE,
        &all_of::RULE,
        &nullable_type::RULE,
        &listed_alternatives::RULE,
        &several_types::RULE,
        &required_among_properties::RULE,
        &property_as_text::RULE,
        &items_not_a_schema::RULE,
    ],
    &[
        &unknown_type::RULE,
        &missing_type::RULE,
        &parameters_type::RULE,
        &required_per_parameter::RULE,
        &required_not_a_list::RULE,
        &missing_required::RULE,
        &missing_properties::RULE,
        &required_without_property::RULE,
        &nested_required::RULE,
        &python_keyword::RULE,
        &parameter_name::RULE,
        &title_for_callable::RULE,
        &function_name::RULE,
        &description_in_docstring::RULE,
        &title_for_description::RULE,
        &missing_description::RULE,
        &constant::RULE,
        &constraint_keyword::RULE,
        &array_without_items::RULE,
        &enum_as_text::RULE,
        &enum_value_as_text::RULE,
        &default_as_text::RULE,
        &optional_without_default::RULE,
    ],
    &[&extra_key::RULE, &key_order::RULE],
];

/// The rules that only find, in the order they look.
pub(super) static FINDINGS: [&Rule; 13] = [
    &unreadable_parameters::RULE,
    &unreadable_property::RULE,
    &empty_description::RULE,
    &combined_schemas::RULE,
    &untranslated_type::RULE,
    &dict_without_properties::RULE,
    &default_type::RULE,
    &default_not_in_enum::RULE,
    &enum_type::RULE,
    &required_with_default::RULE,
    &illegal_name::RULE,
    &long_name::RULE,
    &duplicate_name::RULE,
];
