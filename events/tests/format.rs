//! `FORMAT.md` says enough to read every body: a reader that knows nothing else agrees with the codec, value by value.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests fail tests"
)]

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use recount_events::arbitrary::{event_of, salts};
use recount_events::{COMMITMENT_CONTEXT, Event, KINDS, LIMIT};
use std::collections::BTreeMap;
use std::fmt::Write;

const FORMAT: &str = include_str!("../FORMAT.md");

/// A type's declaration: what follows its name.
struct Declarations {
    types: BTreeMap<&'static str, (&'static str, &'static str)>,
    kinds: BTreeMap<u16, (&'static str, &'static str)>,
}

fn declarations() -> Declarations {
    let text = FORMAT
        .split("```declarations\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let mut all = Declarations {
        types: BTreeMap::new(),
        kinds: BTreeMap::new(),
    };
    for line in text.lines().filter(|line| !line.is_empty()) {
        let (word, rest) = line.split_once(' ').unwrap();
        if let Ok(number) = word.parse() {
            let (names, fields) = rest.split_once(':').unwrap();
            let (name, protocol) = names.split_once(' ').unwrap();
            all.kinds.insert(number, (name, protocol));
            all.types.insert(name, ("struct", fields.trim()));
        } else {
            let (name, rest) = rest.split_once([':', ' ']).unwrap();
            all.types.insert(name, (word, rest.trim()));
        }
    }
    all
}

/// Splits at commas that stand in no bracket.
fn split(list: &'static str) -> Vec<&'static str> {
    let (mut parts, mut start, mut depth) = (vec![], 0, 0);
    for (at, letter) in list.char_indices() {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(list[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(list[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

/// Reads a body and writes what it read as Rust's `Debug` would.
struct Reader<'a> {
    declarations: &'a Declarations,
    bytes: &'a [u8],
    out: String,
}

impl Reader<'_> {
    fn take(&mut self, count: usize) -> &[u8] {
        let (taken, rest) = self.bytes.split_at(count);
        self.bytes = rest;
        taken
    }

    fn number(&mut self) -> u64 {
        let mark = self.take(1)[0];
        let width = match mark {
            251 => 2,
            252 => 4,
            253 => 8,
            254.. => panic!("mark {mark}"),
            small => return small.into(),
        };
        self.take(width)
            .iter()
            .rev()
            .fold(0, |sum, byte| sum << 8 | u64::from(*byte))
    }

    fn read(&mut self, kind: &'static str) {
        if let Some(inner) = kind.strip_suffix('?') {
            return self.option(inner);
        }
        if let Some(inner) = kind.strip_prefix('[') {
            return self.list(inner.strip_suffix(']').unwrap());
        }
        if let Some(inner) = kind.strip_prefix('(') {
            return self.tuple(inner.strip_suffix(')').unwrap());
        }
        match kind {
            "bool" => {
                let value = self.take(1)[0];
                self.out += ["false", "true"][usize::from(value)];
            }
            "u8" => {
                let value = self.take(1)[0];
                write!(self.out, "{value}").unwrap();
            }
            "u16" | "u32" | "u64" => {
                let value = self.number();
                write!(self.out, "{value}").unwrap();
            }
            "i64" => {
                let zigzag = self.number();
                let value = if zigzag.is_multiple_of(2) {
                    (zigzag / 2) as i64
                } else {
                    -((zigzag / 2) as i64) - 1
                };
                write!(self.out, "{value}").unwrap();
            }
            "String" => {
                let length = self.number() as usize;
                let words = String::from_utf8(self.take(length).to_vec()).unwrap();
                write!(self.out, "{words:?}").unwrap();
            }
            "Digest" => self.digest(),
            "Text" => self.text(),
            named => self.named(named),
        }
    }

    fn digest(&mut self) {
        let hex: String = self
            .take(32)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        self.out += &hex;
    }

    /// As a text is before its content is attached.
    fn text(&mut self) {
        self.out += "Text { form: ";
        self.read("Form");
        self.out += ", len: ";
        self.read("u64");
        self.out += ", seal: Some(Seal { salt: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], commitment: ";
        let erased = self.bytes.starts_with(&[0xff; 32]);
        self.digest();
        self.out += if erased {
            " }), held: Erased }"
        } else {
            " }), held: Lost }"
        };
    }

    fn option(&mut self, inner: &'static str) {
        match self.take(1)[0] {
            0 => self.out += "None",
            1 => {
                self.out += "Some(";
                self.read(inner);
                self.out += ")";
            }
            other => panic!("option {other}"),
        }
    }

    fn list(&mut self, inner: &'static str) {
        let count = self.number();
        self.out += "[";
        for at in 0..count {
            if at > 0 {
                self.out += ", ";
            }
            self.read(inner);
        }
        self.out += "]";
    }

    fn tuple(&mut self, inner: &'static str) {
        self.out += "(";
        for (at, part) in split(inner).into_iter().enumerate() {
            if at > 0 {
                self.out += ", ";
            }
            self.read(part);
        }
        self.out += ")";
    }

    fn named(&mut self, name: &'static str) {
        let (word, rest) = *self
            .declarations
            .types
            .get(name)
            .unwrap_or_else(|| panic!("no type {name}"));
        match word {
            "newtype" => {
                write!(self.out, "{name}(").unwrap();
                self.read(rest);
                self.out += ")";
            }
            "struct" => {
                self.out += name;
                self.fields(rest, ' ');
            }
            "enum" => {
                let variant = split(rest)[self.number() as usize];
                self.variant(variant);
            }
            other => panic!("{other}"),
        }
    }

    fn fields(&mut self, fields: &'static str, mark: char) {
        for (at, field) in split(fields).into_iter().enumerate() {
            let (name, kind) = field.split_once(mark).unwrap();
            write!(self.out, "{}{name}: ", if at == 0 { " { " } else { ", " }).unwrap();
            self.read(kind.trim());
        }
        if !fields.is_empty() {
            self.out += " }";
        }
    }

    fn variant(&mut self, variant: &'static str) {
        if let Some((name, inner)) = variant.split_once('(') {
            self.out += name;
            self.out += "(";
            self.read(inner.strip_suffix(')').unwrap());
            self.out += ")";
        } else if let Some((name, inner)) = variant.split_once('{') {
            self.out += name.trim();
            self.fields(inner.strip_suffix('}').unwrap().trim(), ':');
        } else {
            self.out += variant;
        }
    }
}

fn read(declarations: &Declarations, kind: u16, body: &[u8]) -> String {
    let mut reader = Reader {
        declarations,
        bytes: body,
        out: String::new(),
    };
    let (name, _) = declarations.kinds[&kind];
    reader.out += "Event { at: ";
    reader.read("Millis");
    // The struct's fields stand in another order than its bytes.
    let begin = std::mem::take(&mut reader.out);
    reader.read("Seq?");
    let because = std::mem::take(&mut reader.out);
    reader.read("Text?");
    let extra = std::mem::take(&mut reader.out);
    reader.named(name);
    assert!(
        reader.bytes.is_empty(),
        "{} bytes left of {name}",
        reader.bytes.len()
    );
    format!(
        "{begin}, body: {name}({}), because: {because}, extra: {extra} }}",
        reader.out
    )
}

#[test]
fn the_document_reads_every_kind() {
    let declarations = declarations();
    let mut runner = TestRunner::deterministic();
    for (kind, _) in KINDS {
        let events = event_of(*kind);
        for _ in 0..64 {
            let mut event = events.new_tree(&mut runner).unwrap().current();
            event.seal(&mut *salts());
            let encoded = event.encode().unwrap();
            let bare = Event::decode(encoded.kind, encoded.schema, &encoded.body, vec![]).unwrap();
            assert_eq!(
                read(&declarations, *kind, &encoded.body),
                format!("{bare:?}")
            );
        }
    }
}

#[test]
fn the_document_names_every_kind() {
    let named: Vec<(u16, &str)> = declarations()
        .kinds
        .into_iter()
        .map(|(number, (_, protocol))| (number, protocol))
        .collect();
    assert_eq!(named, KINDS);
}

#[test]
fn the_document_has_the_constants() {
    assert!(FORMAT.contains(&format!("context = \"{COMMITMENT_CONTEXT}\"")));
    let grouped = "16,777,216 bytes";
    assert!(FORMAT.contains(grouped));
    assert_eq!(grouped.replace(',', ""), format!("{LIMIT} bytes"));
}

#[test]
fn the_commitment_is_what_the_document_says() {
    let salt = [7; 16];
    let key = blake3::derive_key("recount events v1: commitment to a content", &salt);
    let expected = blake3::keyed_hash(&key, b"words");
    assert_eq!(
        recount_events::commitment(&salt, b"words").0,
        *expected.as_bytes()
    );
}
