//! Sessions of Cline's SDK: `<id>.messages.json`, and what was compacted in `<id>.compaction.json` beside it.
//!
//! - The messages are the source. A compaction stands for the first so many of them, and counts only while these are what it was made of:
//!   its digest says so (Cline, `session-compaction.ts`, Apache-2.0). Then the source up to there is left out, and the compacted messages
//!   stand in its place, as what the deletion caused: undoing it brings the source back.
//! - A compaction of other messages is kept word for word and not applied.

mod display;
mod script;
mod sha256;

use super::document;
use super::marks::Mark;
use super::said::{Said, moment};
use super::session::Session;
use crate::json::{self, Members};
use crate::lines::{self, Piece, What};
use crate::{Files, FormatName, Import, Problem, Refused, blocks, profile};
use display::Version;
use recount_events::{Body, Format, Kept, Millis, System, Text, raw};

/// The document is a session: messages, and whose they are.
pub(crate) fn is_session(text: &str) -> bool {
    let Some(members) = Members::parse(text) else {
        return false;
    };
    let ours = members.raw("sessionId").is_some() || members.raw("agent").is_some();
    ours && members.raw("version").is_some() && members.items("messages").is_some()
}

/// Reads a session.
pub(crate) fn read(bytes: &[u8], name: &str, files: &dyn Files) -> Result<Import, Refused> {
    let format = FormatName::ClineSdk;
    let text = std::str::from_utf8(lines::without_bom(bytes)).map_err(|_| Refused::NotUtf8)?;
    let members = Members::parse(text.trim()).ok_or(Refused::NotThis { format })?;
    let messages = members
        .items("messages")
        .ok_or(Refused::NotThis { format })?;
    let source: Vec<Said<'_>> = lines::inside(bytes, &messages)
        .into_iter()
        .map(Said::read)
        .collect();
    let start = source.iter().find_map(|said| said.ts);
    let start = start.or_else(|| members.raw("updated_at").and_then(moment));
    let at = Millis(start.unwrap_or_default());
    let mut session = Session::open("cline-sdk", name, at, None);
    header(&mut session, &members, &source);
    let id = members.text("sessionId");
    let names: Vec<&str> = [Some(name), id.as_deref()].into_iter().flatten().collect();
    let find = |ending: &str| {
        names.iter().find_map(|name| {
            let file = format!("{name}{ending}");
            plain(&file)
                .then(|| Some((file.clone(), files.read(&file)?)))
                .flatten()
        })
    };
    let sidecar = find(".compaction.json");
    let fold = sidecar
        .as_ref()
        .and_then(|(file, bytes)| compaction(&mut session, file, bytes, &source));
    for (index, said) in source.iter().enumerate() {
        if let Some(fold) = fold.as_ref().filter(|fold| fold.count == index) {
            fold.apply(&mut session);
        }
        say(&mut session, said);
    }
    if let Some(fold) = fold.as_ref().filter(|fold| fold.count == source.len()) {
        fold.apply(&mut session);
    }
    let facts =
        find(".json").or_else(|| Some(("session.json".to_owned(), files.read("session.json")?)));
    if let Some((file, bytes)) = facts {
        beside(&mut session, &file, &bytes);
    }
    leftover(&mut session, &members);
    let (session, report) = session.finish();
    Ok(Import {
        format,
        sessions: vec![session],
        report,
    })
}

/// A name of a file in the same folder.
fn plain(file: &str) -> bool {
    !file.contains(['/', '\\', '\0']) && !file.starts_with('.')
}

/// What the document says beside its messages.
fn leftover(session: &mut Session, members: &Members<'_>) {
    let parts: Vec<String> = members
        .iter()
        .filter(|(key, _)| *key != "messages")
        .map(|(key, raw)| format!("{}:{raw}", json::escape(key)))
        .collect();
    let kept = Kept {
        name: Text::plain("cline-sdk/session"),
        raw: Text::json(&format!("{{{}}}", parts.join(","))),
    };
    session.made(Body::Kept(kept), None);
}

/// For whom requests are made, and their header.
fn header(session: &mut Session, members: &Members<'_>, source: &[Said<'_>]) {
    let model = source
        .iter()
        .find_map(Said::model)
        .filter(|(model, _)| model.contains("claude"));
    if let Some((model, provider)) = model {
        let provider = provider.unwrap_or_else(|| "anthropic".to_owned());
        let profile = profile::anthropic(&model, &provider, None);
        session.made(Body::Profile(profile), None);
    }
    let system = members
        .raw("system_prompt")
        .and_then(|raw| blocks::content(Some(raw), Format::Anthropic));
    if let Some(content) = system.filter(|content| !content.blocks.is_empty()) {
        session.made(Body::System(System { content }), None);
    }
}

fn say(session: &mut Session, said: &Said<'_>) {
    let at = said.ts.map_or(session.at, |ts| Millis(ts).max(session.at));
    session.at = at;
    session.say(said, None);
}

/// A document beside the session, kept whole.
fn beside(session: &mut Session, file: &str, bytes: &[u8]) {
    session.file = Some(file.to_owned());
    match document::value(bytes) {
        Ok(piece) => {
            session.keep("session", &piece, Some(Mark::File(file)));
        }
        Err(Some(piece)) => broken(session, &piece),
        Err(None) => {}
    }
    session.file = None;
}

fn broken(session: &mut Session, piece: &Piece<'_>) {
    if let What::Damaged(problem) = piece.what {
        session.damaged(piece, problem);
    }
}

/// A compaction that holds.
struct Fold<'a> {
    /// The messages of the source that it stands for.
    count: usize,
    file: &'a str,
    /// The sidecar.
    piece: Piece<'a>,
    messages: Vec<Said<'a>>,
}

/// Reads a compaction; one that does not hold is kept.
fn compaction<'a>(
    session: &mut Session,
    file: &'a str,
    bytes: &'a [u8],
    source: &[Said<'_>],
) -> Option<Fold<'a>> {
    session.file = Some(file.to_owned());
    let fold = match document::value(bytes) {
        Ok(piece) => {
            let fold = judged(session, &piece, source);
            if fold.is_none() {
                session.keep("compaction", &piece, Some(Mark::File(file)));
            }
            fold.map(|(count, messages)| Fold {
                count,
                file,
                piece,
                messages: lines::inside(bytes, &messages)
                    .into_iter()
                    .map(Said::read)
                    .collect(),
            })
        }
        Err(piece) => {
            if let Some(piece) = piece {
                broken(session, &piece);
            }
            None
        }
    };
    session.file = None;
    fold
}

/// How many messages a compaction stands for, and its own; none when it does not hold.
fn judged<'a>(
    session: &mut Session,
    piece: &Piece<'a>,
    source: &[Said<'_>],
) -> Option<(usize, Vec<&'a str>)> {
    let members = Members::parse(piece.record()?).unwrap_or_default();
    let count = members
        .number("source_message_count")
        .and_then(|count| usize::try_from(count).ok());
    let (Some(count), Some(messages)) = (count, members.items("messages")) else {
        session.doubt(piece, Problem::Malformed, String::new());
        return None;
    };
    let Some(prefix) = source.get(..count) else {
        session.doubt(
            piece,
            Problem::Stale,
            format!("it stands for {count} of {} messages", source.len()),
        );
        return None;
    };
    if let Some(digest) = members
        .text("source_prefix_hash")
        .filter(|digest| !digest.is_empty())
    {
        let holds = Version::ALL
            .iter()
            .any(|version| digest_of(prefix, *version).as_deref() == Some(&digest));
        if !holds {
            session.doubt(
                piece,
                Problem::Stale,
                format!("the digest of {count} messages is another one"),
            );
        }
        return holds.then_some((count, messages));
    }
    let key = members
        .text("source_last_message_key")
        .filter(|key| !key.is_empty());
    let holds = key.is_some()
        && prefix.last().is_some_and(|last| {
            Version::ALL
                .iter()
                .any(|version| key_of(last, *version) == key)
        });
    let problem = if holds {
        Problem::OldAnchor
    } else {
        Problem::Stale
    };
    session.doubt(piece, problem, String::new());
    holds.then_some((count, messages))
}

impl Fold<'_> {
    fn apply(&self, session: &mut Session) {
        session.close_all(&self.piece);
        let last = session.places.len();
        let hidden = last
            .checked_sub(1)
            .and_then(|last| session.hide(0, last, "compaction"));
        session.file = Some(self.file.to_owned());
        session.because = hidden;
        let mark = Some(Mark::File(self.file));
        session.keep("compaction", &self.piece, mark);
        for said in &self.messages {
            say(session, said);
        }
        session.close_all(&self.piece);
        session.because = None;
        session.file = None;
    }
}

/// The digest of messages, as Cline takes it: who said what, with which model at which cost, without names and times.
fn digest_of(messages: &[Said<'_>], version: Version) -> Option<String> {
    let mut text = format!("cline-session-compaction-source-v2\n{}\n", messages.len());
    for said in messages {
        let member = |key: &str| match said.members.raw(key) {
            Some(value) => script::again(value),
            None => Some("null".to_owned()),
        };
        let role = member("role")?;
        text.push_str(&format!(
            "[[\"role\",{role}],[\"content\",{}]",
            content(said, version)?
        ));
        for key in ["agent", "sessionId", "metadata", "modelInfo", "metrics"] {
            text.push_str(&format!(",[\"{key}\",{}]", member(key)?));
        }
        text.push_str("]\n");
    }
    Some(format!("sha256:{}", sha256::hex(text.as_bytes())))
}

/// The content, a person's words as they are shown.
fn content(said: &Said<'_>, version: Version) -> Option<String> {
    let value = said.members.raw("content")?;
    if said.members.text("role").as_deref() != Some("user") {
        return script::again(value);
    }
    if value.starts_with('"') {
        return Some(json::escape(&display::shown(
            &said.members.text("content")?,
            version,
        )));
    }
    let mut parts = Vec::new();
    for part in json::items(value)? {
        let is_text = raw::member_words(part, "type").as_deref() == Some("text");
        let words = raw::member(part, "text")
            .filter(|_| is_text)
            .and_then(json::unescape);
        let changed = words.map(|words| {
            document::with_member(
                part,
                "text",
                &json::escape(&display::shown(&words, version)),
            )
        });
        parts.push(script::again(changed.as_deref().unwrap_or(part))?);
    }
    Some(document::joined(parts.iter().map(String::as_str)))
}

/// What an older compaction names its last message by.
fn key_of(said: &Said<'_>, version: Version) -> Option<String> {
    if let Some(id) = said.members.text("id").filter(|id| !id.trim().is_empty()) {
        return Some(format!("id:{}", id.trim()));
    }
    let role = said.members.text("role")?;
    match said
        .members
        .raw("ts")
        .filter(|raw| raw.parse::<f64>().is_ok())
    {
        Some(ts) => Some(format!("ts:{role}:{}", script::again(ts)?)),
        None => Some(format!("content:{role}:{}", content(said, version)?)),
    }
}
