//! Set-returning functions: what gives rows in FROM, or in a SELECT list, from one call.
//!
//! Each is a function that gives an array, whose elements become the rows; one with several columns
//! is as many functions, whose arrays are as long as each other.

/// A set-returning function.
#[derive(Debug, Clone, Copy)]
pub struct SetFunction {
    pub name: &'static str,
    /// Its columns by the names of its OUT parameters, and the function that gives each. A column
    /// without a name is called as the function is, or as its alias.
    pub columns: &'static [(Option<&'static str>, &'static str)],
}

const fn plain(
    name: &'static str,
    columns: &'static [(Option<&'static str>, &'static str)],
) -> SetFunction {
    SetFunction { name, columns }
}

const ALL: &[SetFunction] = &[
    plain("generate_series", &[(None, "generate_series")]),
    plain("generate_subscripts", &[(None, "generate_subscripts")]),
    plain("json_array_elements", &[(Some("value"), "json_array_elements")]),
    plain("json_array_elements_text", &[(Some("value"), "json_array_elements_text")]),
    plain("json_each", &[(Some("key"), "json_object_keys"), (Some("value"), "json_each_values")]),
    plain(
        "json_each_text",
        &[(Some("key"), "json_object_keys"), (Some("value"), "json_each_text_values")],
    ),
    plain("jsonb_path_query", &[(None, "jsonb_path_query_items")]),
    plain("json_object_keys", &[(None, "json_object_keys")]),
    plain("jsonb_array_elements", &[(Some("value"), "jsonb_array_elements")]),
    plain("jsonb_array_elements_text", &[(Some("value"), "jsonb_array_elements_text")]),
    plain(
        "jsonb_each",
        &[(Some("key"), "jsonb_object_keys"), (Some("value"), "jsonb_each_values")],
    ),
    plain(
        "jsonb_each_text",
        &[(Some("key"), "jsonb_object_keys"), (Some("value"), "jsonb_each_text_values")],
    ),
    plain("jsonb_object_keys", &[(None, "jsonb_object_keys")]),
    plain("regexp_matches", &[(None, "regexp_all_matches")]),
    plain("regexp_split_to_table", &[(None, "regexp_split_to_array")]),
    plain("string_to_table", &[(None, "string_to_array")]),
];

/// The set-returning function of this name. `unnest` is none of them: its arrays are given.
pub fn set_function(name: &str) -> Option<SetFunction> {
    ALL.iter().find(|function| function.name == name).copied()
}
