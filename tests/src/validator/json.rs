//! Strict JSON: what a provider's parser refuses before it looks at meaning.
//!
//! - Invalid UTF-8, bad syntax and lone surrogates end the reading; duplicate keys and U+0000 are noted and the reading goes on.

use super::Violation;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::{cell::RefCell, fmt};

/// The rules of this file.
pub(super) const RULES: [&str; 5] = ["utf8", "surrogate", "json", "duplicate-key", "nul"];

/// A body as a value, with what is wrong with it although it can be read.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The value; of equal keys the last.
    pub value: Value,
    /// Duplicate keys and U+0000.
    pub violations: Vec<Violation>,
}

/// Reads a body.
///
/// # Errors
/// The violation that keeps it from being read at all.
pub fn parse(body: &[u8]) -> Result<Parsed, Violation> {
    let text = std::str::from_utf8(body).map_err(|error| fatal("utf8", &error.to_string()))?;
    let notes = RefCell::new(Vec::new());
    let mut reader = serde_json::Deserializer::from_str(text);
    let seed = Strict {
        path: String::new(),
        notes: &notes,
    };
    let value = seed
        .deserialize(&mut reader)
        .and_then(|value| reader.end().map(|()| value));
    match value {
        Ok(value) => Ok(Parsed {
            value,
            violations: notes.into_inner(),
        }),
        Err(error) if error.to_string().contains("surrogate") => {
            Err(fatal("surrogate", &error.to_string()))
        }
        // The reader says so of a high surrogate that something else than an escape follows.
        Err(error) if error.to_string().contains("unexpected end of hex escape") => {
            Err(fatal("surrogate", &error.to_string()))
        }
        Err(error) => Err(fatal("json", &error.to_string())),
    }
}

fn fatal(rule: &'static str, text: &str) -> Violation {
    Violation {
        rule,
        path: String::new(),
        text: text.to_owned(),
    }
}

/// Reads one value at a path.
struct Strict<'n> {
    path: String,
    notes: &'n RefCell<Vec<Violation>>,
}

impl Strict<'_> {
    fn inner(&self, step: &str) -> Self {
        Self {
            path: format!("{}{step}", self.path),
            notes: self.notes,
        }
    }

    fn note(&self, rule: &'static str, text: String) {
        self.notes.borrow_mut().push(Violation {
            rule,
            path: self.path.clone(),
            text,
        });
    }

    fn string(&self, text: &str) {
        if text.contains('\0') {
            self.note("nul", "a string holds U+0000".to_owned());
        }
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        self.string(text);
        Ok(Value::from(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(value) =
            access.next_element_seed(self.inner(&format!("[{}]", list.len())))?
        {
            list.push(value);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            self.string(&key);
            let value = access.next_value_seed(self.inner(&format!(".{key}")))?;
            if map.insert(key.clone(), value).is_some() {
                self.note("duplicate-key", format!("key={key}"));
            }
        }
        Ok(Value::Object(map))
    }
}
