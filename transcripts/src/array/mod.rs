//! Plain lists of messages, as requests hold them: a list, or an object with `messages`.
//!
//! - Each message is one event; content and calls are kept raw. A list that grew gives the same events and more.
//! - What else the object holds is kept as `messages/document`; a message of no known role as `messages/<role>`.

mod message;

use crate::json::Members;
use crate::lines::{self, Piece};
use crate::{
    FormatName, Import, Imported, ImportedSession, Refused, Report, Source, blocks, json, profile,
};
use recount_events::{Body, Event, Format, Kept, Millis, Opened, SessionKind, System, Text, Tools};

/// How many messages are looked at before a list is taken for something else.
const LOOKED_AT: usize = 50;

/// The format of a document, when it holds messages.
pub(crate) fn detect(text: &str) -> Option<FormatName> {
    let document = Document::parse(text)?;
    let mut messages: Vec<Members<'_>> = Vec::new();
    for raw in document.messages.iter().take(LOOKED_AT) {
        messages.push(Members::parse(raw).filter(|message| message.text("role").is_some())?);
    }
    let openai = messages.iter().any(speaks_openai);
    let named = !messages.is_empty();
    named.then_some(if openai && document.raw("system").is_none() {
        FormatName::OpenaiMessages
    } else {
        FormatName::AnthropicMessages
    })
}

/// What only OpenAI's dialect has.
fn speaks_openai(message: &Members<'_>) -> bool {
    let role = message.text("role").unwrap_or_default();
    let items = message.items("content").unwrap_or_default();
    let pictures = items
        .iter()
        .filter_map(|raw| Members::parse(raw))
        .any(|part| part.raw("image_url").is_some());
    matches!(role.as_str(), "system" | "developer" | "tool" | "function")
        || message.raw("tool_calls").is_some()
        || pictures
}

/// A list of messages and what stands around it.
struct Document<'a> {
    around: Option<Members<'a>>,
    messages: Vec<&'a str>,
}

impl<'a> Document<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        if text.starts_with('[') {
            return Some(Self {
                around: None,
                messages: json::items(text)?,
            });
        }
        let around = Members::parse(text)?;
        let messages = around.items("messages")?;
        Some(Self {
            around: Some(around),
            messages,
        })
    }

    fn raw(&self, key: &str) -> Option<&'a str> {
        self.around.as_ref().and_then(|around| around.raw(key))
    }
}

/// Reads a list of messages.
pub(crate) fn read(bytes: &[u8], format: FormatName, name: &str) -> Result<Import, Refused> {
    let text = std::str::from_utf8(lines::without_bom(bytes)).map_err(|_| Refused::NotUtf8)?;
    let document = Document::parse(text.trim()).ok_or(Refused::NotThis { format })?;
    let dialect = if format == FormatName::OpenaiMessages {
        Format::OpenaiChat
    } else {
        Format::Anthropic
    };
    let mut reader = Reader {
        dialect,
        at: Millis(0),
        events: Vec::new(),
        report: Report::default(),
    };
    reader.open(name);
    if let Some(around) = &document.around {
        reader.around(around);
    }
    for (index, piece) in lines::inside(bytes, &document.messages)
        .into_iter()
        .enumerate()
    {
        reader.message(index, &piece);
    }
    let Reader { events, report, .. } = reader;
    let session = ImportedSession {
        name: name.to_owned(),
        kind: SessionKind::Main,
        file: None,
        parent: None,
        events,
    };
    Ok(Import {
        format,
        sessions: vec![session],
        report,
    })
}

/// The session while its messages are read.
struct Reader {
    dialect: Format,
    at: Millis,
    events: Vec<Imported>,
    report: Report,
}

impl Reader {
    fn open(&mut self, name: &str) {
        let (session, kind) = (Text::plain(name), SessionKind::Main);
        let opened = Opened {
            session,
            kind,
            parent: None,
            spill_root: None,
            host: None,
        };
        self.push(
            Body::Opened(opened),
            Source {
                line: 1,
                ..Source::default()
            },
            None,
        );
    }

    /// The request's header, and the rest of the object.
    fn around(&mut self, around: &Members<'_>) {
        let source = || Source {
            line: 1,
            ..Source::default()
        };
        let member = |(key, raw): (&str, &str)| {
            (key != "messages").then(|| format!("{}:{raw}", json::escape(key)))
        };
        let members: Vec<String> = around.iter().filter_map(member).collect();
        if members.is_empty() {
            return;
        }
        let raw = Text::json(&format!("{{{}}}", members.join(",")));
        self.push(
            Body::Kept(Kept {
                name: Text::plain("messages/document"),
                raw,
            }),
            source(),
            None,
        );
        let model = around
            .text("model")
            .filter(|model| self.dialect == Format::Anthropic && model.starts_with("claude"));
        if let Some(model) = model {
            self.push(
                Body::Profile(profile::anthropic(&model, "anthropic", None)),
                source(),
                None,
            );
        }
        let system = around
            .raw("system")
            .and_then(|raw| blocks::content(Some(raw), self.dialect));
        if let Some(content) = system.filter(|content| !content.blocks.is_empty()) {
            self.push(Body::System(System { content }), source(), None);
        }
        let tools: Vec<Text> = around
            .items("tools")
            .unwrap_or_default()
            .into_iter()
            .map(Text::json)
            .collect();
        if !tools.is_empty() {
            self.push(Body::Tools(Tools { tools }), source(), None);
        }
    }

    fn push(&mut self, body: Body, source: Source, extra: Option<Text>) {
        let event = Event {
            at: self.at,
            body,
            because: None,
            extra,
        };
        self.events.push(Imported { event, source });
    }
}

fn source(piece: &Piece<'_>) -> Source {
    Source {
        line: piece.line,
        offset: piece.offset,
        bytes: piece.bytes.len() as u64,
        id: None,
        file: None,
    }
}
