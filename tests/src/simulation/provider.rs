//! A scripted provider: it checks, counts, refuses, caches and answers as a real one does, and the engine sees only what it says.

use super::body::{Body, Life, Part};
use super::cache::{Account, Cache};
use super::refusal::{Refusal, Why, word};
use super::summary::{self, Written};
use super::tokenizer::Tokenizer;
use crate::recordings::Dice;
use crate::validator::{Facts, Violation, Wire, picture_size, validate};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// What the provider is like.
#[derive(Clone, Debug)]
pub struct Traits {
    /// The dialect.
    pub wire: Wire,
    /// The context window.
    pub window: u64,
    /// The most that a model answers.
    pub max_output: u64,
    /// Tokens that the provider adds.
    pub overhead: u64,
    /// The answer's limit counts against the window, as with older models.
    pub older: bool,
    /// Cache edits are understood.
    pub edits: bool,
    /// One summary in so many is faulty; 0: none.
    pub faults: u64,
    /// One request in so many meets a rate limit; 0: none.
    pub rates: u64,
    /// What the validator knows.
    pub facts: Facts,
}

/// What came back for a request.
#[derive(Clone, Debug)]
pub enum Reply {
    /// It was answered.
    Answered {
        /// What was read and written.
        account: Account,
        /// Tokens that cache edits deleted, over the whole session.
        deleted: Option<u64>,
    },
    /// It was refused for its size, or for the rate.
    Refused(Refusal),
    /// No provider would take it.
    Invalid(Vec<Violation>),
}

/// The provider.
#[derive(Clone, Debug)]
pub struct Provider {
    /// What it is like.
    pub traits: Traits,
    tokenizer: Tokenizer,
    cache: Cache,
    dice: Dice,
    /// Calls whose results cache edits deleted, with what that saved.
    deleted: BTreeSet<String>,
    saved: u64,
}

impl Provider {
    /// A provider whose tokenizer and moods come from a seed.
    #[must_use]
    pub fn new(traits: Traits, seed: &str) -> Self {
        Self {
            traits,
            tokenizer: Tokenizer::seeded(seed),
            cache: Cache::default(),
            dice: Dice::new(&format!("provider {seed}")),
            deleted: BTreeSet::new(),
            saved: 0,
        }
    }

    /// Tokens of each block; what the provider adds stands in the first.
    #[must_use]
    pub fn counts(&self, body: &Body) -> Vec<u64> {
        let mut message = None;
        let gone: BTreeSet<&String> = body.deleted.iter().collect();
        let mut counts: Vec<u64> = body
            .blocks
            .iter()
            .map(|block| {
                let opens = u64::from(message != block.message) * 4;
                message = block.message;
                let deleted = block
                    .reference
                    .as_ref()
                    .is_some_and(|name| gone.contains(name));
                if deleted {
                    opens
                } else {
                    opens + self.block(&block.value)
                }
            })
            .collect();
        if let Some(first) = counts.first_mut() {
            *first += self.traits.overhead;
        }
        counts
    }

    /// Tokens of a text.
    #[must_use]
    pub fn count(&self, text: &str) -> u64 {
        self.tokenizer.count(text)
    }

    /// Tokens of one block.
    fn block(&self, value: &Value) -> u64 {
        match value["type"].as_str() {
            Some("text") => self.words(&value["text"]),
            // As real ones do: in 839 recorded responses with signed thinking, signatures add nothing to what the words cost.
            Some("thinking") if value["thinking"] != "" => self.words(&value["thinking"]),
            Some("thinking") => self.sealed(&value["signature"]),
            Some("redacted_thinking") => self.sealed(&value["data"]),
            Some("tool_use") => {
                12 + self.words(&value["name"]) + self.count(&value["input"].to_string())
            }
            Some("function") if value.get("id").is_some() => {
                let call = &value["function"];
                12 + self.words(&call["name"]) + self.words(&call["arguments"])
            }
            Some("tool_result") => 10 + self.content(&value["content"]),
            Some("image") | Some("image_url") => picture(value),
            _ => self.count(&value.to_string()),
        }
    }

    /// Tokens of thinking that is encrypted: about those of what it stands for, four characters each.
    fn sealed(&self, value: &Value) -> u64 {
        let bytes = value.as_str().map_or(0, str::len) as u64 * 3 / 4;
        self.count("word") * bytes / 4
    }

    fn content(&self, content: &Value) -> u64 {
        match content {
            Value::Array(blocks) => blocks.iter().map(|block| self.block(block)).sum(),
            other => self.words(other),
        }
    }

    fn words(&self, value: &Value) -> u64 {
        value.as_str().map_or(0, |text| self.count(text))
    }

    /// Takes a request.
    pub fn send(&mut self, text: &str, now: u64) -> Reply {
        let violations = validate(self.traits.wire, text.as_bytes(), &self.traits.facts);
        if !violations.is_empty() {
            return Reply::Invalid(violations);
        }
        let body = match Body::parse(self.traits.wire, text) {
            Ok(body) => body,
            Err(why) => return invalid("readable", why),
        };
        if let Some(why) = self.odd(&body) {
            return invalid("provider", why);
        }
        if self.traits.facts.body_bytes > 0 && body.length > self.traits.facts.body_bytes {
            return self.refuse(Why::Bytes);
        }
        if self.traits.rates > 0 && self.dice.below(self.traits.rates) == 0 {
            return self.refuse(Why::Rate);
        }
        let counts = self.counts(&body);
        let input: u64 = counts.iter().sum();
        let window = self.traits.window;
        let with_output = input <= window;
        let needed = if self.traits.older {
            input + body.max_tokens
        } else {
            input
        };
        if needed > window {
            return self.refuse(Why::Tokens {
                input,
                max_tokens: body.max_tokens,
                window,
                with_output,
            });
        }
        let account = self.cache.book(self.traits.wire, &body, &counts, now);
        let deleted = self.edited(&body);
        Reply::Answered { account, deleted }
    }

    /// Answers a request for a summary.
    pub fn summarise(&mut self, body: &Body) -> Written {
        summary::write(body, self.traits.faults, &mut self.dice)
    }

    /// One time in so many.
    pub fn mood(&mut self, one_in: u64) -> bool {
        one_in > 0 && self.dice.below(one_in) == 0
    }

    fn refuse(&mut self, why: Why) -> Reply {
        Reply::Refused(word(self.traits.wire, why, &mut self.dice))
    }

    /// What a provider refuses beyond its published shapes.
    fn odd(&self, body: &Body) -> Option<String> {
        if body.deleted.is_empty() {
            return None;
        }
        if !self.traits.edits {
            return Some("cache edits for a model that does not know them".to_owned());
        }
        let known: BTreeSet<&String> = body
            .blocks
            .iter()
            .filter_map(|block| block.reference.as_ref())
            .collect();
        let mut seen = BTreeSet::new();
        body.deleted.iter().find_map(|name| {
            (!known.contains(name) || !seen.insert(name))
                .then(|| format!("a cache edit names {name}, which is not there or named twice"))
        })
    }

    /// Takes notice of cache edits: what they saved, over the whole session.
    fn edited(&mut self, body: &Body) -> Option<u64> {
        for block in &body.blocks {
            if let Some(name) = &block.reference
                && body.deleted.contains(name)
                && self.deleted.insert(name.clone())
            {
                self.saved += self.block(&block.value);
            }
        }
        (!self.deleted.is_empty()).then_some(self.saved)
    }

    /// The usage that the host logs.
    #[must_use]
    pub fn usage(account: &Account, deleted: Option<u64>, output: u64) -> Value {
        let mut usage = json!({
            "input": account.input,
            "output": output,
            "cache_read": account.read,
            "cache_write": {"5m": account.write_short, "1h": account.write_long},
        });
        if let (Some(deleted), Some(object)) = (deleted, usage.as_object_mut()) {
            object.insert("cache_deleted".to_owned(), json!(deleted));
        }
        usage
    }

    /// Tokens of what cannot be taken away from a request: tools, system prompt, the newest words of the person, and the newest
    /// message of the model with its results.
    #[must_use]
    pub fn least(&self, body: &Body) -> u64 {
        let counts = self.counts(body);
        let messages = body.messages();
        let asked = body
            .blocks
            .iter()
            .filter(|block| block.part == Part::User)
            .filter_map(|block| block.message)
            .next_back();
        body.blocks
            .iter()
            .zip(counts)
            .filter(|(block, _)| match block.message {
                None => true,
                Some(index) => {
                    block.part == Part::System || index + 2 >= messages || Some(index) == asked
                }
            })
            .map(|(_, tokens)| tokens)
            .sum()
    }

    /// Breakpoints of a request, in order.
    #[must_use]
    pub fn marks(body: &Body) -> Vec<Life> {
        body.blocks.iter().filter_map(|block| block.mark).collect()
    }
}

fn invalid(rule: &'static str, text: String) -> Reply {
    Reply::Invalid(vec![Violation {
        rule,
        path: String::new(),
        text,
    }])
}

/// Tokens of a picture: width × height / 750 within the published bounds.
fn picture(value: &Value) -> u64 {
    let data = value["source"]["data"].as_str().or_else(|| {
        let url = value["image_url"]["url"].as_str()?;
        url.split_once("base64,").map(|(_, data)| data)
    });
    data.and_then(picture_size)
        .map_or(1_600, |(width, height)| {
            (u64::from(width) * u64::from(height) / 750).clamp(1, 1_600)
        })
}
