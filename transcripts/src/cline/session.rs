//! The session while it is written: its events, and where each message of the history stands among them.
//!
//! - A message with results is several events: each result that answers the message before it, then the rest. So a range that ends
//!   between a call and its result, as these hosts make it, hides both and leaves the words beside the result.
//! - A call that the next message does not answer is closed, with the words that the host sends in that place.

use super::marks::Mark;
use super::said::{self, Said};
use crate::blocks;
use crate::lines::{Piece, What};
use crate::{Damage, Doubt, Imported, ImportedSession, Problem, Report, Source};
use recount_events::{
    Block, BlockId, BlockKind, Body, Content, DeleteRange, Event, Form, Format, Kept, Message,
    Millis, Opened, Range, Role, Seq, SessionKind, Shape, Status, Text, ToolResult,
};
use std::collections::{BTreeMap, BTreeSet};

/// What the host sends as the result of a call that has none.
const MISSING: &str = "\"result missing\"";

/// A block that may be shown with another text.
#[derive(Clone, Debug)]
pub(crate) enum Spot {
    /// A block of a message.
    Block(BlockId),
    /// A result of its own.
    Result(Seq),
    /// Neither.
    None,
}

/// A call of a message.
#[derive(Clone, Debug)]
struct Call {
    block: BlockId,
    id: Option<String>,
    open: bool,
}

/// Where a message of the history stands.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    /// Its own words, where it has any.
    own: Option<Seq>,
    /// The results in it that answer the message before.
    results: Option<(Seq, Seq)>,
    /// Its blocks, by their index.
    pub(crate) spots: Vec<Spot>,
    calls: Vec<Call>,
    /// Left out.
    pub(crate) hidden: bool,
}

/// A session while it is written.
#[derive(Debug)]
pub(crate) struct Session {
    /// The host, in names of kept records.
    pub(crate) host: &'static str,
    pub(crate) name: String,
    pub(crate) events: Vec<Imported>,
    /// The time of the newest event.
    pub(crate) at: Millis,
    /// Where the messages stand, in order.
    pub(crate) places: Vec<Place>,
    /// The file that is read now; none: the session's own.
    pub(crate) file: Option<String>,
    /// What the events now written are caused by.
    pub(crate) because: Option<Seq>,
    pub(crate) report: Report,
    /// What started it: a session's name, and a position there.
    parent: Option<(String, usize)>,
}

impl Session {
    /// A session whose first event says that it is opened, and which event of which session started it.
    pub(crate) fn open(
        host: &'static str,
        name: &str,
        at: Millis,
        parent: Option<(String, usize)>,
    ) -> Self {
        let mut session = Self {
            host,
            name: name.to_owned(),
            events: Vec::new(),
            at,
            places: Vec::new(),
            file: None,
            because: None,
            report: Report::default(),
            parent,
        };
        let opened = Opened {
            session: Text::plain(name),
            // A subtask has a window, rules and a person of its own, as any other task of its host: it is no sub-agent.
            kind: SessionKind::Main,
            parent: session
                .parent
                .as_ref()
                .map(|(name, event)| (Text::plain(name), Seq(*event as u64))),
            spill_root: None,
            host: Some(Text::plain(host)),
        };
        session.made(Body::Opened(opened), None);
        session
    }

    pub(crate) fn finish(self) -> (ImportedSession, Report) {
        let session = ImportedSession {
            name: self.name,
            kind: SessionKind::Main,
            file: None,
            parent: self.parent,
            events: self.events,
        };
        (session, self.report)
    }

    /// The position of the next event.
    pub(crate) fn next(&self) -> Seq {
        Seq(self.events.len() as u64)
    }

    /// Writes an event that a piece says.
    pub(crate) fn push(&mut self, body: Body, piece: &Piece<'_>, extra: Option<Text>) -> Seq {
        let source = Source {
            line: piece.line,
            offset: piece.offset,
            bytes: piece.bytes.len() as u64,
            id: None,
            file: self.file.clone(),
        };
        self.write(body, source, extra)
    }

    /// Writes an event that no piece says by itself.
    pub(crate) fn made(&mut self, body: Body, extra: Option<Text>) -> Seq {
        let source = Source {
            line: 1,
            file: self.file.clone(),
            ..Source::default()
        };
        self.write(body, source, extra)
    }

    fn write(&mut self, body: Body, source: Source, extra: Option<Text>) -> Seq {
        let seq = self.next();
        let event = Event {
            at: self.at,
            body,
            because: self.because,
            extra,
        };
        self.events.push(Imported { event, source });
        seq
    }

    /// Keeps a piece word for word.
    pub(crate) fn keep(&mut self, name: &str, piece: &Piece<'_>, mark: Option<Mark<'_>>) -> Seq {
        self.report.kept = self.report.kept.saturating_add(1);
        let raw = match piece.what {
            What::Json(raw, _) => Text::json(raw),
            What::Damaged(_) if std::str::from_utf8(piece.bytes).is_ok() => {
                Text::new(Form::Plain, piece.bytes)
            }
            What::Damaged(_) => Text::new(Form::Bytes, piece.bytes),
        };
        let name = Text::plain(&format!("{}/{name}", self.host));
        self.push(Body::Kept(Kept { name, raw }), piece, mark.map(Mark::text))
    }

    /// Keeps what could not be read.
    pub(crate) fn damaged(&mut self, piece: &Piece<'_>, problem: Problem) {
        self.report.damaged.push(Damage {
            file: self.file.clone(),
            line: piece.line,
            offset: piece.offset,
            bytes: piece.bytes.len() as u64,
            problem,
        });
        let file = self.file.clone().unwrap_or_default();
        self.keep("damaged", piece, Some(Mark::File(&file)));
    }

    pub(crate) fn doubt(&mut self, piece: &Piece<'_>, problem: Problem, text: String) {
        self.report.doubted.push(Doubt {
            file: self.file.clone(),
            line: piece.line,
            offset: piece.offset,
            problem,
            text,
        });
    }

    pub(crate) fn counted(&mut self, kind: &str) {
        self.report.read = self.report.read.saturating_add(1);
        *self.report.types.entry(kind.to_owned()).or_default() += 1;
    }

    /// Writes a message.
    pub(crate) fn say(&mut self, said: &Said<'_>, authored: Option<bool>) {
        let index = self.places.len();
        let role = said.members.text("role").unwrap_or_default();
        self.counted(if role.is_empty() { "message" } else { &role });
        let mut place = Place::default();
        let whole = blocks::content(said.members.raw("content"), Format::Anthropic);
        let mut around = Some(said.around());
        let mut rest: Vec<(usize, &str)> =
            said.blocks.iter().flatten().copied().enumerate().collect();
        place.spots = vec![Spot::None; rest.len()];
        if role == "user" {
            self.answers(said, index, &mut place, &mut rest, &mut around);
        }
        self.close(&said.piece, &mut place);
        let speaker = match role.as_str() {
            "user" => Some(Role::User),
            "assistant" => Some(Role::Assistant),
            _ => None,
        };
        match (speaker, whole) {
            (Some(role), Some(whole)) => {
                if role == Role::User {
                    self.orphans(said, index, &mut rest, &mut around);
                }
                // What an earlier event says of the message needs no event without words.
                if !(rest.is_empty() && around.is_none()) {
                    let content = content(&whole, &rest);
                    self.words(
                        said, role, content, authored, &rest, around, &mut place, index,
                    );
                }
            }
            _ => {
                self.doubt(&said.piece, Problem::Malformed, format!("message={index}"));
                self.keep("message", &said.piece, Some(Mark::Verbatim(index)));
            }
        }
        self.places.push(place);
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one message")]
    fn words(
        &mut self,
        said: &Said<'_>,
        role: Role,
        content: Content,
        authored: Option<bool>,
        rest: &[(usize, &str)],
        around: Option<String>,
        place: &mut Place,
        index: usize,
    ) {
        let seq = self.next();
        for (at, (original, raw)) in rest.iter().enumerate() {
            let block = BlockId {
                seq,
                index: u32::try_from(at).unwrap_or(u32::MAX),
            };
            if let Some(spot) = place.spots.get_mut(*original) {
                *spot = Spot::Block(block);
            }
            if role == Role::Assistant && said::kind(raw) == BlockKind::Call {
                place.calls.push(Call {
                    block,
                    id: said::id(raw, "id"),
                    open: true,
                });
            }
        }
        let model = said.model().filter(|_| role == Role::Assistant);
        let message = Message {
            model: model.map(|(model, _)| Text::plain(&model)),
            authored: authored.filter(|_| role == Role::User),
            ..Message::of(role, content)
        };
        let split = said
            .blocks
            .as_ref()
            .is_some_and(|all| all.len() != rest.len());
        let blocks = split.then(|| rest.iter().map(|(at, _)| *at).collect());
        let mark = Mark::Message {
            index,
            blocks,
            around,
        };
        // A person's message without a block shows nothing, so nothing can begin or end with it.
        let shows = role == Role::Assistant || !message.content.blocks.is_empty();
        let seq = self.push(Body::Message(message), &said.piece, Some(mark.text()));
        place.own = shows.then_some(seq);
    }

    /// Results that answer nothing are no words, and no result of another call of that id: they are kept as they are.
    fn orphans(
        &mut self,
        said: &Said<'_>,
        index: usize,
        rest: &mut Vec<(usize, &str)>,
        around: &mut Option<String>,
    ) {
        let blocks: Vec<usize> = rest
            .iter()
            .filter(|(_, raw)| is_result(raw))
            .map(|(at, _)| *at)
            .collect();
        if blocks.is_empty() {
            return;
        }
        self.doubt(
            &said.piece,
            Problem::UnknownReference,
            format!("message={index}"),
        );
        rest.retain(|(at, _)| !blocks.contains(at));
        let mark = Mark::Rest {
            index,
            blocks,
            around: around.take(),
        };
        self.keep("message", &said.piece, Some(mark));
    }

    /// Results in a message that answer the one before.
    fn answers(
        &mut self,
        said: &Said<'_>,
        index: usize,
        place: &mut Place,
        rest: &mut Vec<(usize, &str)>,
        around: &mut Option<String>,
    ) {
        let Some(mut before) = self.places.last().map(|place| place.calls.clone()) else {
            return;
        };
        // Of several, the host sends the last.
        let results: BTreeMap<String, (usize, &str)> = rest
            .iter()
            .filter(|(_, raw)| is_result(raw))
            .filter_map(|(at, raw)| Some((said::id(raw, "tool_use_id")?, (*at, *raw))))
            .collect();
        let mut taken = BTreeSet::new();
        for call in before.iter_mut().filter(|call| call.open) {
            let Some(id) = &call.id else { continue };
            let Some((at, raw)) = results.get(id).copied() else {
                continue;
            };
            let inside = recount_events::raw::member(raw, "content");
            let Some(content) = blocks::content(inside, Format::Anthropic) else {
                continue;
            };
            let failed = recount_events::raw::member(raw, "is_error") == Some("true");
            let again = !taken.insert(at);
            let mark = if again {
                Mark::Made
            } else {
                Mark::Result {
                    index,
                    block: at,
                    raw,
                    around: around.take(),
                }
            };
            let result = ToolResult {
                call: Some(Text::plain(id)),
                block: Some(call.block),
                status: if failed { Status::Error } else { Status::Ok },
                content,
                tool: None,
                child: None,
                bound: None,
            };
            let seq = self.push(Body::ToolResult(result), &said.piece, Some(mark.text()));
            place.note(seq);
            if let (false, Some(spot)) = (again, place.spots.get_mut(at)) {
                *spot = Spot::Result(seq);
            }
            call.open = false;
        }
        rest.retain(|(at, _)| !taken.contains(at));
        if let Some(last) = self.places.last_mut() {
            last.calls = before;
        }
    }

    /// Closes the calls of the newest message: what comes next cannot answer them.
    pub(crate) fn close_all(&mut self, piece: &Piece<'_>) {
        let mut place = Place::default();
        self.close(piece, &mut place);
        if place.results.is_some() {
            self.places.push(place);
        }
    }

    /// Closes the calls of the message before that nothing answered.
    fn close(&mut self, piece: &Piece<'_>, place: &mut Place) {
        let Some(last) = self.places.last_mut() else {
            return;
        };
        let open: Vec<Call> = last
            .calls
            .iter()
            .filter(|call| call.open)
            .cloned()
            .collect();
        last.calls.iter_mut().for_each(|call| call.open = false);
        for call in open {
            let text = format!(
                "call={} block={}",
                call.id.clone().unwrap_or_default(),
                call.block.index
            );
            self.doubt(piece, Problem::OpenCall, text);
            let result = ToolResult {
                call: call.id.as_deref().map(Text::plain),
                block: Some(call.block),
                status: Status::Unknown,
                content: Content::string(MISSING),
                tool: None,
                child: None,
                bound: None,
            };
            let seq = self.made(Body::ToolResult(result), Some(Mark::Made.text()));
            place.note(seq);
        }
    }

    /// The last message that was written waits for results.
    pub(crate) fn waits(&self) -> bool {
        self.places
            .last()
            .is_some_and(|place| place.calls.iter().any(|call| call.open))
    }

    /// Hides messages that are not hidden yet, and the results that answer them; the event, if there is anything to hide.
    pub(crate) fn hide(&mut self, first: usize, last: usize, cause: &str) -> Option<Seq> {
        let mut span: Option<(Seq, Seq)> = None;
        for index in first..=last {
            let own = self.places.get(index).and_then(|place| place.own);
            let behind = index.checked_add(1).and_then(|next| self.places.get(next));
            let results = behind.and_then(|place| place.results);
            for seq in own
                .into_iter()
                .chain(results.into_iter().flat_map(|(from, to)| [from, to]))
            {
                let (from, to) = span.unwrap_or((seq, seq));
                span = Some((from.min(seq), to.max(seq)));
            }
            if let Some(place) = self.places.get_mut(index) {
                place.hidden = true;
            }
        }
        let (first, last) = span?;
        let delete = DeleteRange {
            range: Range::Closed { first, last },
            cause: Some(Text::plain(cause)),
            covered: recount_events::Covered::default(),
        };
        Some(self.made(Body::DeleteRange(delete), Some(Mark::Made.text())))
    }
}

impl Place {
    fn note(&mut self, seq: Seq) {
        let (first, _) = self.results.unwrap_or((seq, seq));
        self.results = Some((first, seq));
    }
}

fn is_result(raw: &str) -> bool {
    said::kind(raw) == BlockKind::Result
}

/// The content without the blocks that are events of their own.
fn content(whole: &Content, rest: &[(usize, &str)]) -> Content {
    if whole.shape != Shape::Blocks {
        return whole.clone();
    }
    let blocks = rest
        .iter()
        .map(|(_, raw)| Block::from_raw(Format::Anthropic, raw));
    Content {
        format: whole.format,
        shape: whole.shape,
        blocks: blocks.collect(),
    }
}
