//! The fields of one event as a host or a log line gave them: taken one by one, the rest is `extra`.

use super::missing::Missing;
use super::refusal::{Problem, Refusal};
use super::value::Value;
use crate::raw::{Member, has_lone_surrogate, members, words};
use crate::{Form, Text};
use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

/// Whose JSON it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// A host's: what admission resolves is not read.
    Host,
    /// A line of the log: resolved fields, position and digest are read too.
    Log,
}

struct Field<'a> {
    key: Cow<'a, str>,
    member: Member<'a>,
    taken: bool,
}

/// The fields that are left.
pub(super) struct Fields<'a> {
    all: Vec<Field<'a>>,
    mode: Mode,
    missing: Missing,
}

impl<'a> Fields<'a> {
    /// Of an object without a key that stands twice.
    pub(super) fn of(raw: &'a str, mode: Mode) -> Result<Self, Refusal> {
        let all = members(raw).ok_or_else(|| Refusal::new("", Problem::Expected("an object")))?;
        let all: Vec<Field<'a>> = all
            .map(|member| Field {
                key: member.key(),
                member,
                taken: false,
            })
            .collect();
        let mut keys = BTreeSet::new();
        if let Some(twice) = all.iter().find(|field| !keys.insert(&*field.key)) {
            return Err(Refusal::new(&twice.key, Problem::Twice));
        }
        let mut fields = Self {
            all,
            mode,
            missing: Missing::default(),
        };
        fields.read_missing()?;
        Ok(fields)
    }

    fn read_missing(&mut self) -> Result<(), Refusal> {
        if self.mode == Mode::Log {
            if let Some(raw) = self.take("missing") {
                self.missing = Missing::read(raw)
                    .ok_or_else(|| Refusal::new("missing", Problem::Expected("an object")))?;
            }
            // They repeat in short what `missing` says.
            self.take("lost");
            self.take("erased");
        }
        Ok(())
    }

    pub(super) const fn mode(&self) -> Mode {
        self.mode
    }

    pub(super) const fn missing(&mut self) -> &mut Missing {
        &mut self.missing
    }

    /// The raw value of a field without taking it; `null` is a value here.
    pub(super) fn peek(&self, key: &str) -> Option<&'a str> {
        self.all
            .iter()
            .find(|field| !field.taken && field.key == key)
            .map(|field| field.member.value)
    }

    /// Takes the raw value of a field; `null` is a value here.
    pub(super) fn take_given(&mut self, key: &str) -> Option<&'a str> {
        let field = self
            .all
            .iter_mut()
            .find(|field| !field.taken && field.key == key)?;
        field.taken = true;
        Some(field.member.value)
    }

    /// Takes the raw value of a field; `null` is no value.
    pub(super) fn take(&mut self, key: &str) -> Option<&'a str> {
        self.take_given(key).filter(|value| *value != "null")
    }

    /// Takes a value, where it is there.
    pub(super) fn value<T: Value>(&mut self, key: &str) -> Result<Option<T>, Refusal> {
        let Some(raw) = self.take(key) else {
            return Ok(None);
        };
        T::read(raw)
            .map(Some)
            .ok_or_else(|| Refusal::new(key, Problem::Expected(T::EXPECTED)))
    }

    /// Takes a value that must be there.
    pub(super) fn required<T: Value>(&mut self, key: &str) -> Result<T, Refusal> {
        self.value(key)?
            .ok_or_else(|| Refusal::new(key, Problem::Missing))
    }

    /// Takes a value that only a log line has.
    pub(super) fn log_only<T: Value>(&mut self, key: &str) -> Result<Option<T>, Refusal> {
        if self.mode == Mode::Log {
            self.value(key)
        } else {
            Ok(None)
        }
    }

    /// Takes a string, where it is there.
    pub(super) fn text(&mut self, key: &str) -> Result<Option<Text>, Refusal> {
        let Some(raw) = self.take(key) else {
            return Ok(self.missing.text(key));
        };
        string(raw)
            .map(Some)
            .ok_or_else(|| Refusal::new(key, Problem::Expected("a string")))
    }

    /// Takes a string, or any other JSON as it stands.
    pub(super) fn loose(&mut self, key: &str) -> Option<Text> {
        match self.take(key) {
            Some(raw) => Some(string(raw).unwrap_or_else(|| Text::json(raw))),
            None => self.missing.text(key),
        }
    }

    /// Takes any JSON as it stands.
    pub(super) fn json(&mut self, key: &str) -> Option<Text> {
        match self.take(key) {
            Some(raw) => Some(Text::json(raw)),
            None => self.missing.text(key),
        }
    }

    /// Takes an object as it stands.
    pub(super) fn object(&mut self, key: &str) -> Result<Option<Text>, Refusal> {
        match self.peek(key) {
            Some(raw) if raw != "null" && !raw.starts_with('{') => {
                Err(Refusal::new(key, Problem::Expected("an object")))
            }
            _ => Ok(self.json(key)),
        }
    }

    /// What nobody took: one object, its members in their order.
    pub(super) fn extra(mut self) -> Result<Option<Text>, Refusal> {
        let whole = if self.mode == Mode::Log {
            self.json("extra")
        } else {
            None
        };
        let rest: Vec<Member<'a>> = self
            .all
            .iter()
            .filter(|field| !field.taken)
            .map(|field| field.member)
            .collect();
        match whole {
            Some(_) if !rest.is_empty() => Err(Refusal::new("extra", Problem::Twice)),
            Some(whole) => Ok(Some(whole)),
            None => Ok((!rest.is_empty()).then(|| Text::json(&object(&rest)))),
        }
    }
}

/// The text of a string token: plain, unless it has words that UTF-8 cannot say.
pub(super) fn string(raw: &str) -> Option<Text> {
    let words = words(raw)?;
    Some(if has_lone_surrogate(raw) {
        Text::new(Form::Json, raw.as_bytes())
    } else {
        Text::plain(&words)
    })
}

/// These members as an object.
pub(super) fn object(members: &[Member<'_>]) -> String {
    let mut out = String::from("{");
    for (at, member) in members.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        out.push_str(member.token);
        out.push(':');
        out.push_str(member.value);
    }
    out.push('}');
    out
}
