//! From pieces to the body of a request: separators, closers, and their bytes as a running sum.
//!
//! - The sum never needs the pieces: adding one is O(1).
//! - On Chat a message of the assistant shows its texts first, then its calls; the pieces keep the order in which they came.

use crate::render::{Piece, PieceRole, Projection};
use alloc::vec::Vec;
use recount_events::Wire;

/// What is open at the end of the body so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    Start,
    Tools,
    System,
    Message(PieceRole),
    /// On Chat, the assistant's message: whether it has texts and calls.
    Assistant {
        texts: bool,
        calls: bool,
    },
    /// On Chat, a message that is a piece of its own.
    Whole,
}

/// The bytes of the body so far, and what is open in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    chat: bool,
    open: Open,
    bytes: u64,
}

const CHAT_CALLS: &str = "null,\"tool_calls\":[";
const CHAT_TEXTS_END: &str = "],\"tool_calls\":[";

impl Shape {
    pub(crate) const fn new(wire: Wire) -> Self {
        Self {
            chat: !matches!(wire, Wire::Anthropic),
            open: Open::Start,
            bytes: 0,
        }
    }

    /// Bytes up to here, without the closers of what is open.
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes of the body when it ends here; `tail`: everything after the messages.
    pub(crate) fn closed(&self, tail: &str) -> u64 {
        let parts = [
            close(self.chat, self.open),
            enter(self.chat, self.open, None),
        ];
        let closers: usize = parts.iter().map(|part| part.len()).sum();
        self.bytes
            .saturating_add(closers as u64)
            .saturating_add(tail.len() as u64)
    }

    /// The shape with one more piece.
    #[must_use]
    pub(crate) fn with(self, role: PieceRole, call: bool, length: usize) -> Self {
        let next = self.next(role, call);
        let lead: usize = match (self.open, next) {
            // A text behind calls turns `null` into a list: two bytes less than a comma's place would say.
            (
                Open::Assistant {
                    texts: false,
                    calls: true,
                },
                _,
            ) if !call && role == PieceRole::Assistant => {
                let bytes = self.bytes.saturating_add(length as u64).saturating_sub(2);
                return Self {
                    open: next,
                    bytes,
                    ..self
                };
            }
            (
                Open::Assistant {
                    texts: true,
                    calls: false,
                },
                _,
            ) if call && role == PieceRole::Assistant => CHAT_TEXTS_END.len(),
            _ if self.continues(role) => 1,
            _ => [
                close(self.chat, self.open),
                enter(self.chat, self.open, Some(role)),
                open(self.chat, role, call),
            ]
            .iter()
            .map(|part| part.len())
            .sum(),
        };
        let bytes = self
            .bytes
            .saturating_add(lead as u64)
            .saturating_add(length as u64);
        Self {
            open: next,
            bytes,
            ..self
        }
    }

    fn continues(&self, role: PieceRole) -> bool {
        match self.open {
            Open::Start | Open::Whole => false,
            Open::Tools => role == PieceRole::Tool,
            Open::System => role == PieceRole::Header,
            Open::Message(open) => speaker(self.chat, open) == speaker(self.chat, role),
            Open::Assistant { .. } => role == PieceRole::Assistant,
        }
    }

    fn next(&self, role: PieceRole, call: bool) -> Open {
        match role {
            PieceRole::Tool => Open::Tools,
            PieceRole::Header => Open::System,
            PieceRole::Result if self.chat => Open::Whole,
            PieceRole::Assistant if self.chat => match self.open {
                Open::Assistant { texts, calls } => Open::Assistant {
                    texts: texts || !call,
                    calls: calls || call,
                },
                _ => Open::Assistant {
                    texts: !call,
                    calls: call,
                },
            },
            _ => Open::Message(role),
        }
    }
}

/// Whose message a piece stands in: on Anthropic results are the user's.
fn speaker(chat: bool, role: PieceRole) -> PieceRole {
    if role == PieceRole::Result && !chat {
        PieceRole::User
    } else {
        role
    }
}

/// Closes what is open.
const fn close(chat: bool, open: Open) -> &'static str {
    match open {
        Open::Start | Open::Whole => "",
        Open::Tools => "]",
        Open::System if !chat => "]",
        Open::System | Open::Message(_) | Open::Assistant { .. } => "]}",
    }
}

/// What stands between what is closed and the next message, tool or system part (`None`: the end of the messages).
fn enter(chat: bool, last: Open, next: Option<PieceRole>) -> &'static str {
    let conversation = !matches!(next, Some(PieceRole::Tool | PieceRole::Header));
    let messages = conversation || (chat && next == Some(PieceRole::Header));
    let begins = match (last, messages) {
        (Open::Start, false) => "{",
        (Open::Start, true) => "{\"messages\":[",
        (Open::Tools, false) => ",",
        (Open::Tools, true) => ",\"messages\":[",
        (Open::System, true) if !chat => ",\"messages\":[",
        _ if next.is_some() => ",",
        _ => "",
    };
    if next.is_some() { begins } else { end(begins) }
}

/// The end of the messages, after what opens them when none was there.
fn end(begins: &str) -> &'static str {
    match begins {
        "" => "]",
        "{\"messages\":[" => "{\"messages\":[]",
        _ => ",\"messages\":[]",
    }
}

/// Opens the message, tool list or system part that a piece stands in.
fn open(chat: bool, role: PieceRole, call: bool) -> &'static str {
    match role {
        PieceRole::Tool => "\"tools\":[",
        PieceRole::Header if chat => "{\"role\":\"system\",\"content\":[",
        PieceRole::Header => "\"system\":[",
        PieceRole::System => "{\"role\":\"system\",\"content\":[",
        PieceRole::Result if chat => "",
        PieceRole::User | PieceRole::Result => "{\"role\":\"user\",\"content\":[",
        PieceRole::Assistant if chat && call => {
            "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":["
        }
        PieceRole::Assistant => "{\"role\":\"assistant\",\"content\":[",
    }
}

/// The body as slices.
pub(crate) fn slices(projection: &Projection) -> Vec<&[u8]> {
    let mut all = Vec::with_capacity(projection.pieces.len().saturating_mul(2).saturating_add(2));
    let mut shape = Shape::new(projection.wire);
    let mut pieces = projection.pieces.iter().enumerate().peekable();
    while let Some((place, piece)) = pieces.next() {
        if shape.chat && piece.role == PieceRole::Assistant {
            let mut group = alloc::vec![piece];
            while let Some((_, next)) =
                pieces.next_if(|(_, next)| next.role == PieceRole::Assistant)
            {
                group.push(next);
            }
            shape = assistant(&mut all, shape, &group);
        } else {
            push(&mut all, &mut shape, projection, place, piece);
        }
    }
    all.push(close(shape.chat, shape.open).as_bytes());
    all.push(enter(shape.chat, shape.open, None).as_bytes());
    all.push(projection.tail.as_bytes());
    all
}

fn push<'a>(
    all: &mut Vec<&'a [u8]>,
    shape: &mut Shape,
    projection: &'a Projection,
    place: usize,
    piece: &'a Piece,
) {
    if shape.continues(piece.role) {
        all.push(b",");
    } else {
        all.push(close(shape.chat, shape.open).as_bytes());
        all.push(enter(shape.chat, shape.open, Some(piece.role)).as_bytes());
        all.push(open(shape.chat, piece.role, piece.call).as_bytes());
    }
    projection
        .marks
        .write(all, &projection.pieces, place, piece);
    *shape = shape.with(piece.role, piece.call, piece.bytes.len());
}

/// The assistant's message on Chat: texts, then calls.
fn assistant<'a>(all: &mut Vec<&'a [u8]>, shape: Shape, group: &[&'a Piece]) -> Shape {
    all.push(close(shape.chat, shape.open).as_bytes());
    all.push(enter(shape.chat, shape.open, Some(PieceRole::Assistant)).as_bytes());
    all.push(b"{\"role\":\"assistant\",\"content\":");
    let texts = group.iter().filter(|piece| !piece.call);
    let calls = group.iter().filter(|piece| piece.call);
    let (has_texts, has_calls) = (texts.clone().count() > 0, calls.clone().count() > 0);
    if has_texts {
        all.push(b"[");
        list(all, texts);
    }
    match (has_texts, has_calls) {
        (true, true) => all.push(CHAT_TEXTS_END.as_bytes()),
        (false, true) => all.push(CHAT_CALLS.as_bytes()),
        _ => {}
    }
    list(all, calls);
    group.iter().fold(shape, |shape, piece| {
        shape.with(piece.role, piece.call, piece.bytes.len())
    })
}

fn list<'a, 'b: 'a>(all: &mut Vec<&'b [u8]>, pieces: impl Iterator<Item = &'a &'b Piece>) {
    for (place, piece) in pieces.enumerate() {
        if place > 0 {
            all.push(b",");
        }
        all.push(&piece.bytes);
    }
}
