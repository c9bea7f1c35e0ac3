//! Which files stand in the history more than once: found, and all but the last replaced by a notice.

use crate::edits::{EditKind, Edits, Paths, Update};
use crate::header::{Header, tagged};
use crate::message::{Message, Role};
use crate::notice::READ_AGAIN;
use crate::replace::{Swap, swap_all};
use crate::text::{Text, units_of};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

/// What a run replaced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replaced {
    /// Indices of the messages that it touched, in the order in which it came to them.
    pub messages: Vec<i64>,
}

/// A place where a file stands.
#[derive(Clone, Debug)]
struct Occurrence {
    message: i64,
    block: i64,
    kind: EditKind,
    /// Of a mention, what is searched for.
    search: Text,
    replacement: Text,
}

/// What a scan found.
#[derive(Debug, Default)]
struct Found {
    /// By path, in the order of first appearance.
    files: Vec<(Text, Vec<Occurrence>)>,
    /// Where each path stands in `files`.
    places: BTreeMap<Text, usize>,
    /// The paths that a message mentions.
    mentioned: BTreeMap<i64, Vec<Text>>,
}

/// Replaces every file but its last occurrence, from an index of the history on.
pub fn replace_reads(edits: &mut Edits, history: &[Message], start: i64, at: f64) -> Replaced {
    let found = scan(edits, history, start);
    let mut touched = Touched::default();
    let mut mentions = Mentions::default();
    let again = found.files.iter().filter_map(|(path, places)| {
        let (_, earlier) = places.split_last()?;
        Some(earlier.iter().map(move |place| (path, place)))
    });
    for (path, place) in again.flatten() {
        if place.kind == EditKind::MENTION {
            mentions.of(edits, history, place).replace(path, place);
            touched.touch(place.message);
            continue;
        }
        let update = Update::of(at, place.replacement.clone(), None);
        let edited = edits.edit(place.message, place.kind, place.block);
        edited.updates.push(update);
        touched.touch(place.message);
    }
    for mention in mentions.all {
        mention.write(edits, &found, at);
    }
    touched.replaced
}

/// A file that a text holds between tags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mentioned {
    /// Its path.
    pub path: Text,
    /// The notice stands in the place of what it holds.
    pub replaced: bool,
}

/// The files that a text holds between `<file_content path="…">` and its end, in order.
#[must_use]
pub fn mentioned(text: &Text) -> Vec<Mentioned> {
    let notice = units_of(READ_AGAIN);
    let files = tagged(text, "file_content").into_iter();
    files
        .map(|file| Mentioned {
            replaced: text.units().get(file.inside..file.closing) == Some(&notice),
            path: file.path,
        })
        .collect()
}

impl Replaced {
    /// Anything was replaced.
    #[must_use]
    pub fn any(&self) -> bool {
        !self.messages.is_empty()
    }
}

/// The messages that a run touched, while it goes on.
#[derive(Debug, Default)]
struct Touched {
    replaced: Replaced,
    known: BTreeSet<i64>,
}

impl Touched {
    fn touch(&mut self, message: i64) {
        if self.known.insert(message) {
            self.replaced.messages.push(message);
        }
    }
}

/// The messages whose mentions are being replaced, in the order in which the run came to them.
#[derive(Default)]
struct Mentions {
    all: Vec<Mention>,
    /// Where each message stands among them.
    places: BTreeMap<i64, usize>,
}

impl Mentions {
    /// The message's own, begun where it is not there yet.
    fn of(&mut self, edits: &Edits, history: &[Message], place: &Occurrence) -> &mut Mention {
        let next = self.all.len();
        let at = *self.places.entry(place.message).or_insert(next);
        if at == next {
            self.all.push(Mention::begin(edits, history, place));
        }
        &mut self.all[at]
    }
}

/// A message whose mentions are being replaced.
struct Mention {
    message: i64,
    block: i64,
    text: Text,
    /// The list of an earlier update, which grows.
    list: Option<usize>,
    paths: Vec<Text>,
    /// What is replaced in the text, in order.
    swaps: Vec<Swap>,
}

impl Mention {
    fn begin(edits: &Edits, history: &[Message], place: &Occurrence) -> Mention {
        let update = edits
            .edited(place.message, place.block)
            .and_then(|edited| edited.last());
        let stored = usize::try_from(place.message)
            .ok()
            .and_then(|index| history.get(index)?.block(place.block)?.text());
        let text = update.and_then(Update::text).or(stored);
        Mention {
            message: place.message,
            block: place.block,
            text: text.cloned().unwrap_or_default(),
            list: update.and_then(|update| Some(update.paths.as_ref()?.replaced)),
            paths: Vec::new(),
            swaps: Vec::new(),
        }
    }

    fn replace(&mut self, path: &Text, place: &Occurrence) {
        self.swaps.push(Swap {
            search: place.search.clone(),
            replacement: place.replacement.clone(),
        });
        self.paths.push(path.clone());
    }

    fn write(self, edits: &mut Edits, found: &Found, at: f64) {
        let all = found.mentioned.get(&self.message);
        let all = all.cloned().unwrap_or_default();
        let edited = edits.edit(self.message, EditKind::MENTION, self.block);
        let list = self.list.filter(|list| *list < edited.lists.len());
        let replaced = list.unwrap_or_else(|| {
            edited.lists.push(Vec::new());
            edited.lists.len().saturating_sub(1)
        });
        if let Some(list) = edited.lists.get_mut(replaced) {
            list.extend(self.paths);
        }
        let paths = Some(Paths { replaced, all });
        let text = swap_all(&self.text, &self.swaps).text;
        edited.updates.push(Update::of(at, text, paths));
    }
}

fn scan(edits: &Edits, history: &[Message], start: i64) -> Found {
    let mut found = Found::default();
    let from = usize::try_from(start).unwrap_or_default();
    for (index, message) in (0_i64..).zip(history).skip(from) {
        let Some(known) = already(edits, index) else {
            continue;
        };
        let Some(first) = message.block(0).and_then(|block| block.text()) else {
            continue;
        };
        if message.role() != Role::User || found.header(index, message, first) {
            continue;
        }
        found.mentions(index, message, known);
    }
    found
}

/// The paths of a message that were replaced already; `None` when there is nothing left to replace in it.
fn already(edits: &Edits, message: i64) -> Option<&[Text]> {
    let Some(entry) = edits.entry(message) else {
        return Some(&[]);
    };
    let edited = entry
        .blocks
        .first()
        .filter(|_| entry.kind == EditKind::MENTION)?;
    let all = edited
        .last()?
        .paths
        .as_ref()
        .map_or(0, |paths| paths.all.len());
    let replaced = edited.replaced();
    (replaced.len() != all).then_some(replaced)
}

impl Found {
    /// Takes in a message that begins with a tool's header; false when its mentions are to be looked at.
    fn header(&mut self, index: i64, message: &Message, first: &Text) -> bool {
        let Some(header) = Header::of(first) else {
            return false;
        };
        let target = i64::from(first.len() <= header.length);
        match header.tool.to_lossy().as_str() {
            "read_file" => {
                let (head, _) = first.units().split_at(header.length);
                let notice = units_of(READ_AGAIN);
                let replacement = match target {
                    0 => Text::join(&[head, &[0x0a], &notice]),
                    _ => Text::join(&[&notice]),
                };
                self.add(
                    header.path,
                    place(index, target, EditKind::READ, replacement),
                );
                true
            }
            "write_to_file" | "replace_in_file" => {
                self.written(index, message, &header.path, target)
            }
            _ => false,
        }
    }

    /// Takes in a file that a tool wrote; false when there is no text to look at.
    fn written(&mut self, index: i64, message: &Message, path: &Text, target: i64) -> bool {
        let first = message.block(0);
        let looked = match first {
            Some(block) if target == 0 || block.is_result() => Some(block),
            _ => message.block(1).filter(|block| block.is_text()),
        };
        let Some(text) = looked.and_then(|block| block.text()) else {
            return false;
        };
        if let Some(file) = tagged(text, "final_file_content").first() {
            let space = [0x20];
            let (before, _) = text.units().split_at(file.inside);
            let (_, after) = text.units().split_at(file.closing);
            let replacement = Text::join(&[before, &space, &units_of(READ_AGAIN), &space, after]);
            self.add(
                path.clone(),
                place(index, target, EditKind::WRITTEN, replacement),
            );
        }
        true
    }

    /// Takes in the files that a message mentions: of its first three blocks, the first that mentions any.
    fn mentions(&mut self, index: i64, message: &Message, known: &[Text]) {
        let texts =
            (0..3).map(|block| (block, message.block(block).and_then(|block| block.text())));
        let mut texts = texts.filter_map(|(block, text)| {
            let text = text?;
            let files = tagged(text, "file_content");
            (!files.is_empty()).then_some((block, text, files))
        });
        let Some((block, text, files)) = texts.next() else {
            return;
        };
        let paths = files.iter().map(|file| file.path.clone()).collect();
        self.mentioned.insert(index, paths);
        let known: BTreeSet<&Text> = known.iter().collect();
        for file in files.iter().filter(|file| !known.contains(&file.path)) {
            let units = |from: usize, to: usize| text.units().get(from..to).unwrap_or_default();
            let replacement = Text::join(&[
                units(file.start, file.inside),
                &units_of(READ_AGAIN),
                units(file.closing, file.end),
            ]);
            let occurrence = Occurrence {
                search: Text::from(units(file.start, file.end)),
                ..place(index, block, EditKind::MENTION, replacement)
            };
            self.add(file.path.clone(), occurrence);
        }
    }

    fn add(&mut self, path: Text, place: Occurrence) {
        let next = self.files.len();
        let at = *self.places.entry(path.clone()).or_insert(next);
        if at == next {
            self.files.push((path, Vec::new()));
        }
        if let Some((_, places)) = self.files.get_mut(at) {
            places.push(place);
        }
    }
}

fn place(message: i64, block: i64, kind: EditKind, replacement: Text) -> Occurrence {
    Occurrence {
        message,
        block,
        kind,
        search: Text::default(),
        replacement,
    }
}
