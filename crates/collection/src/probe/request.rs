//! The request of a function, with values for its required parameters; nothing is sent here.
//!
//! A value is what the schema states, or the least that satisfies it; see `value`. Optional parameters are left out, except
//! those that the address of the source has with a value. The places of parameters are those of the API description; without
//! one, variables of the path are in the path, and the others in the query, or in a JSON body if the method has one. A list in
//! a query is repeated.

use serde_json::{Map, Value};
use thiserror::Error;

use super::address::{Address, encoded, plain};
use super::value::value_of;
use crate::tool::{Api, Input, Place, Tool};

/// Methods whose parameters are in the query if nothing says where they are.
const WITHOUT_BODY: [&str; 4] = ["GET", "HEAD", "DELETE", "OPTIONS"];

/// Headers that say how a message is sent or to whom, which no parameter may change.
const RESERVED_HEADERS: [&str; 10] = [
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "host",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The media type of forms.
const FORM: &str = "application/x-www-form-urlencoded";

/// A request that can be sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The method in capitals.
    pub method: String,
    /// The address with the query.
    pub address: String,
    /// Headers that are parameters, without line breaks.
    pub headers: Vec<(String, String)>,
    /// The media type of the body and the body.
    pub body: Option<(String, String)>,
    /// The arguments of the function that the request has.
    pub arguments: Map<String, Value>,
}

/// The reason for which a function has no request.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Unable {
    /// The collection has no method or no path.
    #[error("the collection has no method and path")]
    NoRequest,
    /// The address is incomplete.
    #[error("{0}")]
    NoAddress(String),
    /// Required parameters have no value.
    #[error("no value for {}: give an example or a default in the API's file", .0.join(", "))]
    NoValue(Vec<String>),
    /// A header cannot be sent.
    #[error("the header {0} is not sent for a parameter")]
    Header(String),
    /// The body has a media type that cannot be sent.
    #[error("a body of the type {0} is not sent")]
    Body(String),
}

impl Unable {
    /// Returns the reason in two words.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoRequest => "no-request",
            Self::NoAddress(_) => "no-address",
            Self::NoValue(_) => "no-value",
            Self::Header(_) => "reserved-header",
            Self::Body(_) => "unsupported-body",
        }
    }
}

/// Returns the request of a function.
///
/// # Errors
/// The collection does not say enough for one.
pub fn request_of(tool: &Tool, api: &Api) -> Result<Request, Unable> {
    let method = api.method.clone().filter(|method| !method.is_empty()).ok_or(Unable::NoRequest)?;
    let mut address = Address::of(tool, api)?;
    let arguments = arguments(api, &address, &method)?;
    let mut parts = Parts::default();
    for (name, value) in &arguments {
        parts.add(&input(api, name, &address, &method), value, &mut address)?;
    }
    if let Some(variable) = address.unfilled() {
        return Err(Unable::NoValue(vec![variable.to_owned()]));
    }
    if !parts.cookies.is_empty() {
        parts.headers.push(("cookie".to_owned(), parts.cookies.join("; ")));
    }
    // What the address of the source has and no parameter names is sent as it is.
    let is_parameter = |name: &String| property(api, name).is_some();
    let fixed = address.query.iter().filter(|(name, value)| !is_parameter(name) && !is_variable(value));
    let query: Vec<String> = fixed
        .chain(&parts.query)
        .map(|(name, value)| format!("{}={}", encoded(name), encoded(value)))
        .collect();
    let body = parts.body(api.body_type.as_deref())?;
    let question = if query.is_empty() { "" } else { "?" };
    let address = format!("{}{question}{}", address.path, query.join("&"));
    Ok(Request { method, address, headers: parts.headers, body, arguments })
}

/// Returns the arguments: the required ones, and those in the address of the source.
fn arguments(api: &Api, address: &Address, method: &str) -> Result<Map<String, Value>, Unable> {
    let (mut arguments, mut lacking) = (Map::new(), Vec::new());
    let required = api.parameters().get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.into_iter().flatten().any(|each| each == name);
    let properties = api.parameters().get("properties").and_then(Value::as_object);
    for (name, schema) in properties.into_iter().flatten() {
        let place = input(api, name, address, method).place;
        let written = address.query.iter().find(|(known, value)| known == name && !is_written_empty(value));
        let written = written.filter(|_| place == Place::Query).map(|(_, value)| Value::from(value.as_str()));
        let is_needed = is_required(name) || place == Place::Path && address.has_variable(name);
        if let Some(written) = written {
            arguments.insert(name.clone(), written);
        } else if is_needed {
            match value_of(schema).filter(|value| place != Place::Path || is_segment(&plain(value))) {
                Some(value) => drop(arguments.insert(name.clone(), value)),
                None => lacking.push(name.clone()),
            }
        }
    }
    if lacking.is_empty() { Ok(arguments) } else { Err(Unable::NoValue(lacking)) }
}

fn property<'a>(api: &'a Api, name: &str) -> Option<&'a Value> {
    api.parameters().get("properties")?.get(name)
}

/// Returns true for a variable of Postman in place of a value.
fn is_variable(value: &str) -> bool {
    value.contains("{{")
}

fn is_written_empty(value: &str) -> bool {
    value.is_empty() || is_variable(value)
}

/// Returns true if a text can be a segment of a path: these three would make the path another one.
fn is_segment(text: &str) -> bool {
    !["", ".", ".."].contains(&text)
}

/// Returns where a parameter is in the request.
fn input(api: &Api, parameter: &str, address: &Address, method: &str) -> Input {
    let stated = api.inputs.iter().find(|input| input.parameter == parameter);
    stated.cloned().unwrap_or_else(|| {
        let place = if address.has_variable(parameter) {
            Place::Path
        } else if WITHOUT_BODY.contains(&method) {
            Place::Query
        } else {
            Place::BodyMember
        };
        Input { parameter: parameter.to_owned(), place, name: parameter.to_owned() }
    })
}

/// The parts of a request, apart from its path.
#[derive(Default)]
struct Parts {
    query: Vec<(String, String)>,
    headers: Vec<(String, String)>,
    cookies: Vec<String>,
    members: Map<String, Value>,
    whole: Option<Value>,
}

impl Parts {
    fn add(&mut self, input: &Input, value: &Value, address: &mut Address) -> Result<(), Unable> {
        let name = input.name.clone();
        match input.place {
            Place::Path => address.fill(&name, &plain(value)),
            Place::Query => match value {
                Value::Array(items) => {
                    self.query.extend(items.iter().map(|item| (name.clone(), plain(item))));
                }
                value => self.query.push((name, plain(value))),
            },
            Place::Header => self.headers.push(header(name, plain(value))?),
            Place::Cookie => self.cookies.push(format!("{}={}", encoded(&name), encoded(&plain(value)))),
            Place::Body => self.whole = Some(value.clone()),
            Place::BodyMember => drop(self.members.insert(name, value.clone())),
        }
        Ok(())
    }

    /// Returns the body in its media type.
    fn body(&self, kind: Option<&str>) -> Result<Option<(String, String)>, Unable> {
        let members = || Some(Value::Object(self.members.clone())).filter(|_| !self.members.is_empty());
        let Some(value) = self.whole.clone().or_else(members) else { return Ok(None) };
        let bare = kind.map(|kind| kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase());
        match (bare.as_deref(), &value) {
            (None, value) => Ok(Some(("application/json".to_owned(), value.to_string()))),
            (Some(FORM), Value::Object(members)) => {
                let pair = |(name, value): (&String, &Value)| {
                    format!("{}={}", encoded(name), encoded(&plain(value)))
                };
                Ok(Some((FORM.to_owned(), members.iter().map(pair).collect::<Vec<_>>().join("&"))))
            }
            (Some(kind), Value::String(text)) if kind.starts_with("text/") => {
                Ok(Some((kind.to_owned(), text.clone())))
            }
            (Some(kind), _) => Err(Unable::Body(kind.to_owned())),
        }
    }
}

/// Returns a header that a parameter may have.
fn header(name: String, value: String) -> Result<(String, String), Unable> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let is_name = !name.is_empty() && name.bytes().all(is_token);
    let lower = name.to_ascii_lowercase();
    let is_reserved = RESERVED_HEADERS.contains(&lower.as_str()) || lower.starts_with("proxy-");
    let is_value = value.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    if is_name && is_value && !is_reserved { Ok((name, value)) } else { Err(Unable::Header(name)) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::read::read_value;

    fn request(description: &Value, name: &str) -> Result<Request, Unable> {
        let read = read_value("bells.json", description.clone());
        let tool = &read.tools[0];
        request_of(tool, tool.functions.iter().find(|api| api.name == name).unwrap())
    }

    fn bells(operation: &Value) -> Value {
        json!({"openapi": "3.0.0", "info": {"title": "Bells"}, "servers": [{"url": "https://bells.test/v1/"}],
            "paths": {"/bells/{id}/parts": {"post": operation}}})
    }

    #[test]
    fn every_place_of_a_request_is_filled() {
        let parameter = |name: &str, place: &str, example: Value| json!({"name": name, "in": place, "required": true, "schema": {"example": example}});
        let operation = json!({"operationId": "cast", "parameters": [
            parameter("id", "path", json!("a/b c")), parameter("id", "query", json!(["x&y", 2])),
            parameter("X-Tone", "header", json!(440)), parameter("s", "cookie", json!("é;")),
            {"name": "optional", "in": "query", "schema": {"example": 1}}],
            "requestBody": {"content": {"application/json": {"schema": {"required": ["id"],
                "properties": {"id": {"enum": ["z"]}, "note": {"example": "no"}}}}}}});
        let sent = request(&bells(&operation), "cast").unwrap();
        assert_eq!(sent.method, "POST");
        assert_eq!(sent.address, "https://bells.test/v1/bells/a%2Fb%20c/parts?id=x%26y&id=2");
        let headers = [("X-Tone", "440"), ("cookie", "s=%C3%A9%3B")];
        assert_eq!(sent.headers, headers.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(sent.body, Some(("application/json".to_owned(), r#"{"id":"z"}"#.to_owned())));
        assert_eq!(
            Value::Object(sent.arguments),
            json!({"id": "a/b c", "id_query": ["x&y", 2], "X-Tone": 440, "s": "é;", "id_body": "z"})
        );
    }

    #[test]
    fn a_body_is_whole_or_has_parts_in_its_media_type() {
        let swagger = |parameters: &Value| {
            let description = json!({"swagger": "2.0", "info": {"title": "Bells"}, "host": "bells.test",
                "paths": {"/cast": {"post": {"operationId": "cast", "parameters": parameters}}}});
            request(&description, "cast").map(|sent| sent.body)
        };
        let part = |kind: &str| json!([{"name": "a b", "in": "formData", "required": true, "type": kind, "default": "x&y"}]);
        let body = |kind: &str, text: &str| Ok(Some((kind.to_owned(), text.to_owned())));
        assert_eq!(swagger(&part("string")), body(FORM, "a%20b=x%26y"));
        assert_eq!(swagger(&part("file")), Err(Unable::Body("multipart/form-data".to_owned())));
        let whole = json!([{"name": "list", "in": "body", "required": true,
            "schema": {"type": "array", "items": {"enum": [3]}}}]);
        assert_eq!(swagger(&whole), body("application/json", "[3]"));
        assert_eq!(swagger(&json!([])), Ok(None));
    }

    #[test]
    fn what_cannot_be_sent_has_its_reason() {
        let code =
            |operation: &Value| request(&bells(operation), "cast").map(|sent| sent.address).unwrap_err();
        let with = |place: &str, name: &str, schema: Value| {
            json!({"operationId": "cast", "parameters": [{"name": "id", "in": "path", "schema": {"example": 1}},
                {"name": name, "in": place, "required": true, "schema": schema}]})
        };
        let lacking = |name: &str| Unable::NoValue(vec![name.to_owned()]);
        assert_eq!(code(&with("query", "q", json!({"type": "string"}))), lacking("q"));
        assert_eq!(code(&with("path", "id", json!({"example": ".."}))), lacking("id"));
        assert_eq!(code(&json!({"operationId": "cast"})), lacking("{id}"));
        assert_eq!(code(&with("header", "Host", json!({"example": "a"}))), Unable::Header("Host".to_owned()));
        assert_eq!(code(&with("header", "X", json!({"example": "a\r\nb"}))), Unable::Header("X".to_owned()));
        let mut upload = with("query", "q", json!({"example": "a"}));
        upload["requestBody"] =
            json!({"content": {"image/png": {"schema": {"example": "x"}}}, "required": true});
        assert_eq!(code(&upload), Unable::Body("image/png".to_owned()));
    }

    #[test]
    fn an_address_needs_a_host() {
        let code = |servers: &Value| {
            let mut description = bells(&json!({"operationId": "cast",
                "parameters": [{"name": "id", "in": "path", "schema": {"example": 1}}]}));
            description["servers"] = servers.clone();
            request(&description, "cast").map(|sent| sent.address)
        };
        assert_eq!(code(&json!([{"url": "bells.test"}])), Ok("https://bells.test/bells/1/parts".to_owned()));
        for servers in [json!([]), json!([{"url": "/v1"}]), json!([{"url": "https://{region}.bells.test"}])] {
            assert_eq!(code(&servers).unwrap_err().code(), "no-address", "{servers}");
        }
    }

    #[test]
    fn a_saved_request_of_postman_has_its_values() {
        let url = "https://bells.test/find?town=Lind%20au&key={{key}}&empty=";
        let collection = json!({"info": {"name": "B", "_postman_id": "1"}, "item": [
            {"name": "find", "request": {"method": "GET", "url": {"raw": url, "query": [
                {"key": "town"}, {"key": "key"}, {"key": "empty"}]}}},
            {"name": "one", "request": {"method": "GET", "url": "https://bells.test/one/:id"}},
            {"name": "form", "request": {"method": "POST", "url": "bells.test/form?a=1"}}]});
        let sent = request(&collection, "find").unwrap();
        assert_eq!(sent.address, "https://bells.test/find?town=Lind%20au");
        assert_eq!(Value::Object(sent.arguments), json!({"town": "Lind au"}));
        assert_eq!(request(&collection, "one"), Err(Unable::NoValue(vec!["id".to_owned()])));
        assert_eq!(request(&collection, "form").unwrap().address, "https://bells.test/form?a=1");
    }

    #[test]
    fn a_collection_without_places_has_variables_of_the_path_and_a_query() {
        let tool = json!({"tool_name": "Bells", "host": "bells.test", "api_list": [{"name": "find", "method": "GET",
            "url": "https://bells.test/in/{town}/", "required_parameters": [
                {"name": "town", "type": "STRING", "default": "Ulm"}, {"name": "max", "type": "NUMBER", "default": "5"}],
            "optional_parameters": [{"name": "page", "type": "NUMBER", "default": "2"}]}]});
        let sent = request(&tool, "find").unwrap();
        assert_eq!(sent.address, "https://bells.test/in/Ulm/?max=5");
        assert_eq!(Value::Object(sent.arguments), json!({"town": "Ulm", "max": 5}));
    }
}
