//! Values that the engine itself understands: numbers, positions, digests, words of a fixed choice.

use crate::body::*;
use crate::raw::{elements, member, words};
use crate::{BlockId, BlockKind, Digest, Form, Format, ImageFacts, Millis, Seq, Shape};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;

/// A value that has one way to stand in JSON.
pub(super) trait Value: Sized {
    /// What a reader should have found.
    const EXPECTED: &'static str;
    fn read(raw: &str) -> Option<Self>;
    fn write(&self, out: &mut String);
}

/// Whole numbers, also written as `3.0` or `3e0` by hosts whose numbers are all floating.
fn whole(raw: &str) -> Option<u64> {
    let raw = raw.trim_ascii();
    raw.parse().ok().or_else(|| {
        let float: f64 = raw.parse().ok()?;
        let number = float as u64;
        (number as f64 == float && number <= 1 << 53).then_some(number)
    })
}

macro_rules! numbers {
    ($($name:ty),*) => { $(
        impl Value for $name {
            const EXPECTED: &'static str = "a whole number";
            fn read(raw: &str) -> Option<Self> {
                whole(raw)?.try_into().ok()
            }
            fn write(&self, out: &mut String) {
                let _ = write!(out, "{self}");
            }
        }
    )* };
}
numbers!(u8, u16, u32, u64);

impl Value for i64 {
    const EXPECTED: &'static str = "a whole number";
    fn read(raw: &str) -> Option<Self> {
        raw.trim_ascii()
            .parse()
            .ok()
            .or_else(|| whole(raw)?.try_into().ok())
    }
    fn write(&self, out: &mut String) {
        let _ = write!(out, "{self}");
    }
}

macro_rules! wrapped {
    ($($name:ident),*) => { $(
        impl Value for $name {
            const EXPECTED: &'static str = u64::EXPECTED;
            fn read(raw: &str) -> Option<Self> {
                whole(raw).map(Self)
            }
            fn write(&self, out: &mut String) {
                self.0.write(out);
            }
        }
    )* };
}
wrapped!(Seq, Millis);

impl Value for bool {
    const EXPECTED: &'static str = "true or false";
    fn read(raw: &str) -> Option<Self> {
        raw.trim_ascii().parse().ok()
    }
    fn write(&self, out: &mut String) {
        out.push_str(if *self { "true" } else { "false" });
    }
}

impl Value for Digest {
    const EXPECTED: &'static str = "64 hexadecimal digits";
    fn read(raw: &str) -> Option<Self> {
        Self::from_hex(&words(raw)?)
    }
    fn write(&self, out: &mut String) {
        let _ = write!(out, "\"{self}\"");
    }
}

impl<T: Value> Value for Vec<T> {
    const EXPECTED: &'static str = "a list";
    fn read(raw: &str) -> Option<Self> {
        elements(raw)?.map(T::read).collect()
    }
    fn write(&self, out: &mut String) {
        let mut mark = '[';
        for one in self {
            out.push(mark);
            one.write(out);
            mark = ',';
        }
        out.push_str(if self.is_empty() { "[]" } else { "]" });
    }
}

/// A list of exactly so many elements.
fn exactly<const N: usize>(raw: &str) -> Option<[&str; N]> {
    let mut all = elements(raw)?;
    let mut found = [""; N];
    for place in &mut found {
        *place = all.next()?;
    }
    all.next().is_none().then_some(found)
}

impl Value for BlockId {
    const EXPECTED: &'static str = "[seq, index]";
    fn read(raw: &str) -> Option<Self> {
        let [seq, index] = exactly(raw)?;
        Some(Self {
            seq: Seq::read(seq)?,
            index: u32::read(index)?,
        })
    }
    fn write(&self, out: &mut String) {
        let _ = write!(out, "[{},{}]", self.seq, self.index);
    }
}

impl Value for (Seq, Seq) {
    const EXPECTED: &'static str = "[first, last]";
    fn read(raw: &str) -> Option<Self> {
        let [first, last] = exactly(raw)?;
        Some((Seq::read(first)?, Seq::read(last)?))
    }
    fn write(&self, out: &mut String) {
        let _ = write!(out, "[{},{}]", self.0, self.1);
    }
}

/// The tokens of a block.
impl Value for (BlockId, u64) {
    const EXPECTED: &'static str = "[seq, index, tokens]";
    fn read(raw: &str) -> Option<Self> {
        let [seq, index, tokens] = exactly(raw)?;
        Some((
            BlockId {
                seq: Seq::read(seq)?,
                index: u32::read(index)?,
            },
            u64::read(tokens)?,
        ))
    }
    fn write(&self, out: &mut String) {
        let _ = write!(out, "[{},{},{}]", self.0.seq, self.0.index, self.1);
    }
}

impl Value for ImageFacts {
    const EXPECTED: &'static str = "[width, height, bytes]";
    fn read(raw: &str) -> Option<Self> {
        let [width, height, bytes] = exactly(raw)?;
        Some(Self {
            width: u32::read(width)?,
            height: u32::read(height)?,
            bytes: u64::read(bytes)?,
        })
    }
    fn write(&self, out: &mut String) {
        let _ = write!(out, "[{},{},{}]", self.width, self.height, self.bytes);
    }
}

impl Value for Bound {
    const EXPECTED: &'static str = "{to}, {repeats} or \"orphan\"";
    fn read(raw: &str) -> Option<Self> {
        if words(raw).is_some_and(|word| word == "orphan") {
            return Some(Self::Orphan);
        }
        let to = member(raw, "to").and_then(BlockId::read).map(Self::To);
        to.or_else(|| {
            member(raw, "repeats")
                .and_then(BlockId::read)
                .map(Self::Repeats)
        })
    }
    fn write(&self, out: &mut String) {
        let (key, block) = match self {
            Self::To(block) => ("to", block),
            Self::Repeats(block) => ("repeats", block),
            Self::Orphan => return out.push_str("\"orphan\""),
        };
        let _ = write!(out, "{{\"{key}\":[{},{}]}}", block.seq, block.index);
    }
}

impl Value for CallMark {
    const EXPECTED: &'static str = "{index, as_given}";
    fn read(raw: &str) -> Option<Self> {
        Some(Self {
            index: u32::read(member(raw, "index")?)?,
            as_given: bool::read(member(raw, "as_given")?)?,
        })
    }
    fn write(&self, out: &mut String) {
        let _ = write!(
            out,
            "{{\"index\":{},\"as_given\":{}}}",
            self.index, self.as_given
        );
    }
}

impl Value for ResultMark {
    const EXPECTED: &'static str = "{index, bound}";
    fn read(raw: &str) -> Option<Self> {
        Some(Self {
            index: u32::read(member(raw, "index")?)?,
            bound: Bound::read(member(raw, "bound")?)?,
        })
    }
    fn write(&self, out: &mut String) {
        let _ = write!(out, "{{\"index\":{},\"bound\":", self.index);
        self.bound.write(out);
        out.push('}');
    }
}

impl Value for Thinking {
    const EXPECTED: &'static str = "{binds, keeps}";
    fn read(raw: &str) -> Option<Self> {
        crate::raw::members(raw)?;
        let binds = member(raw, "binds").map_or(Some(false), bool::read)?;
        let keeps = member(raw, "keeps").map_or(Some(Keeps::default()), Keeps::read)?;
        Some(Self { binds, keeps })
    }
    fn write(&self, out: &mut String) {
        let _ = write!(
            out,
            "{{\"binds\":{},\"keeps\":\"{}\"}}",
            self.binds,
            self.keeps.word()
        );
    }
}

impl Value for Boundary {
    const EXPECTED: &'static str = "{trigger, level, by, messages, millis, kept}";
    fn read(raw: &str) -> Option<Self> {
        let kept = member(raw, "kept").filter(|kept| *kept != "null");
        Some(Self {
            trigger: Trigger::read(member(raw, "trigger")?)?,
            level: u8::read(member(raw, "level")?)?,
            by: Maker::read(member(raw, "by")?)?,
            messages: u64::read(member(raw, "messages")?)?,
            millis: u64::read(member(raw, "millis")?)?,
            kept: match kept {
                Some(kept) => Some(Value::read(kept)?),
                None => None,
            },
        })
    }
    fn write(&self, out: &mut String) {
        let _ = write!(
            out,
            "{{\"trigger\":\"{}\",\"level\":{},\"by\":\"{}\",\"messages\":{},\"millis\":{}",
            self.trigger.word(),
            self.level,
            self.by.word(),
            self.messages,
            self.millis
        );
        if let Some(kept) = &self.kept {
            out.push_str(",\"kept\":");
            kept.write(out);
        }
        out.push('}');
    }
}

/// Positions, one by one as far as that stays readable, else as runs; both forms are read.
impl Value for Covered {
    const EXPECTED: &'static str = "a list of positions";
    fn read(raw: &str) -> Option<Self> {
        let mut runs: Vec<(Seq, Seq)> = Vec::new();
        for one in elements(raw)? {
            match Seq::read(one) {
                Some(seq) => push_seq(&mut runs, seq),
                None => runs.push(Value::read(one)?),
            }
        }
        Some(Self(runs))
    }
    fn write(&self, out: &mut String) {
        if !self.is_plain() {
            return self.0.write(out);
        }
        let seqs: Vec<Seq> = self
            .0
            .iter()
            .flat_map(|(first, last)| (first.0..=last.0).map(Seq))
            .collect();
        seqs.write(out);
    }
}

/// Above so many positions a log line lists runs.
const PLAIN: u64 = 1_000_000;

impl Covered {
    /// Its runs ascend, do not touch, and are few enough to be listed one by one.
    fn is_plain(&self) -> bool {
        let ascends = self.0.windows(2).all(|pair| match pair {
            [(_, last), (first, _)] => last.0.checked_add(1).is_some_and(|next| next < first.0),
            _ => true,
        });
        let count = self.0.iter().try_fold(0_u64, |sum, (first, last)| {
            let more = last.0.checked_sub(first.0)?;
            sum.checked_add(more)?
                .checked_add(1)
                .filter(|sum| *sum <= PLAIN)
        });
        ascends && count.is_some()
    }
}

fn push_seq(runs: &mut Vec<(Seq, Seq)>, seq: Seq) {
    match runs.last_mut() {
        Some((_, last)) if last.0.checked_add(1) == Some(seq.0) => *last = seq,
        _ => runs.push((seq, seq)),
    }
}

/// Enums whose variants have one word each.
macro_rules! choices {
    ($($name:ident { $($variant:ident $word:literal),* })*) => { $(
        impl $name {
            /// Its word in JSON.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }

            /// The one with this word.
            #[must_use]
            pub fn from_word(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }

        impl Value for $name {
            const EXPECTED: &'static str = concat!("one of" $(, " ", $word)*);
            fn read(raw: &str) -> Option<Self> {
                Self::from_word(&words(raw)?)
            }
            fn write(&self, out: &mut String) {
                out.push_str(&format!("\"{}\"", self.word()));
            }
        }
    )* };
}

choices! {
    Role { User "user", Assistant "assistant", System "system" }
    Stop {
        EndTurn "end_turn", ToolUse "tool_use", MaxTokens "max_tokens", PauseTurn "pause_turn", Refusal "refusal",
        Interrupted "interrupted", WindowExceeded "window_exceeded"
    }
    Status {
        Ok "ok", Error "error", Rejected "rejected", Interrupted "interrupted", Interim "interim",
        NotStarted "not_started", Unknown "unknown"
    }
    Lifetime { Once "once", Session "session", Tail "tail" }
    SessionKind { Main "main", Sub "sub", Side "side" }
    Wire { Anthropic "anthropic", OpenaiChat "openai_chat", OpenaiResponses "openai_responses", Gemini "gemini" }
    Keeps { All "all", Last "last", None "none" }
    Preset {
        Recount "recount", ClaudeCode "claude-code", FiveLayer "five-layer", Cline "cline", None "none"
    }
    Trigger { Manual "manual", Auto "auto", Overflow "overflow" }
    Maker { Model "model", Memory "memory", Rule "rule", Host "host" }
    CacheCause { Unexplained "unexplained", Expired "expired", Changed "changed" }
    Scope { Session "session", User "user" }
    Excess { Tokens "tokens", Bytes "bytes", Images "images" }
    BreakerState { Counts "counts", Trips "trips", Releases "releases" }
    Format { Anthropic "anthropic", OpenaiChat "openai_chat", OpenaiResponses "openai_responses", Gemini "gemini" }
    Shape { String "string", Blocks "blocks", Bytes "bytes", Absent "absent" }
    Form { Plain "plain", Json "json", Bytes "bytes" }
    BlockKind {
        Text "text", Image "image", Document "document", Call "call", Result "result", Thinking "thinking",
        ServerCall "server_call", ServerResult "server_result", Compaction "compaction", Other "other"
    }
}
