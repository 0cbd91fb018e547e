//! As much of JSON Schema as the traces need. The real one lives in the C ABI's crate and cannot be used here without a
//! circle of dependencies.

use microloop_core::{
    json::{Json, Number},
    policy::{ArgumentSchema, SchemaFailure},
};
use serde_json::Value;

#[derive(Debug)]
pub struct Shape {
    schema: Value,
    text: String,
}

impl Shape {
    pub fn boxed(schema: &Value) -> Box<dyn ArgumentSchema> {
        Box::new(Self { schema: schema.clone(), text: schema.to_string() })
    }
}

impl ArgumentSchema for Shape {
    fn check(&self, arguments: &Json<'_>) -> Result<(), SchemaFailure> {
        holds(&self.schema, arguments, "")
    }

    fn shape(&self) -> &str {
        &self.text
    }
}

fn failure(path: &str, keyword: &str) -> SchemaFailure {
    SchemaFailure { path: path.into(), keyword: keyword.into(), message: format!("{keyword} does not hold.") }
}

fn holds(schema: &Value, value: &Json<'_>, path: &str) -> Result<(), SchemaFailure> {
    if !is_of_type(schema["type"].as_str(), value) {
        return Err(failure(path, "type"));
    }
    if let (Some(least), Json::Number(number)) = (schema["minimum"].as_f64(), value)
        && number.as_f64() < least
    {
        return Err(failure(path, "minimum"));
    }
    members_hold(schema, value, path)
}

fn members_hold(schema: &Value, value: &Json<'_>, path: &str) -> Result<(), SchemaFailure> {
    let Json::Object(members) = value else { return Ok(()) };
    for (key, member) in members {
        match schema["properties"].get(key.as_ref()) {
            Some(inner) => holds(inner, member, &format!("{path}/{key}"))?,
            None if schema["additionalProperties"] == false => return Err(failure(path, "additionalProperties")),
            None => {}
        }
    }
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    match required.into_iter().find(|key| value.get(key).is_none()) {
        Some(_) => Err(failure(path, "required")),
        None => Ok(()),
    }
}

fn is_of_type(wanted: Option<&str>, value: &Json<'_>) -> bool {
    match (wanted, value) {
        (None, _)
        | (Some("object"), Json::Object(_))
        | (Some("string"), Json::Text(_))
        | (Some("integer"), Json::Number(Number::Unsigned(_) | Number::Signed(_))) => true,
        (Some(_), _) => false,
    }
}
