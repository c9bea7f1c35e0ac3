//! The edit history: which blocks of the history are shown with another text, and since when.
//!
//! - Entries, blocks and updates keep the order in which they came, which the file shows.
//! - Only the last update of a block is shown; the earlier ones are there for a rollback in time.
//! - Updates of one block made in one run share their list of replaced paths, as they do in Cline; reading the file splits it.

use crate::number;
use crate::text::Text;
use alloc::string::String;
use alloc::vec::Vec;
use recount_events::raw;

/// Why a message was edited; the numbers stand in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EditKind(pub i64);

impl EditKind {
    /// A notice.
    pub const NOTICE: EditKind = EditKind(0);
    /// A file that was read.
    pub const READ: EditKind = EditKind(2);
    /// A file that was written.
    pub const WRITTEN: EditKind = EditKind(3);
    /// Files that somebody mentioned.
    pub const MENTION: EditKind = EditKind(4);
}

/// The edit history of a task.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Edits {
    entries: Vec<Entry>,
}

/// What was edited in one message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) message: i64,
    pub(crate) kind: EditKind,
    pub(crate) blocks: Vec<Edited>,
}

/// What was edited in one block.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Edited {
    pub(crate) block: i64,
    pub(crate) updates: Vec<Update>,
    /// Lists of replaced paths, which updates name by their index.
    pub(crate) lists: Vec<Vec<Text>>,
}

/// One text that took a block's place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Update {
    /// When, in ms since the epoch.
    pub(crate) at: f64,
    /// `text`; what has another word is not shown.
    pub(crate) word: Text,
    /// The text, in a list of one.
    pub(crate) texts: Vec<Text>,
    pub(crate) paths: Option<Paths>,
}

/// Of mentioned files: what was replaced so far, and everything that the text mentions.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Paths {
    /// Which of the block's lists.
    pub(crate) replaced: usize,
    pub(crate) all: Vec<Text>,
}

impl Update {
    /// A text without paths.
    pub(crate) fn of(at: f64, text: Text, paths: Option<Paths>) -> Update {
        Update {
            at,
            word: Text::from("text"),
            texts: alloc::vec![text],
            paths,
        }
    }

    /// What is shown.
    pub(crate) fn text(&self) -> Option<&Text> {
        self.texts.first()
    }
}

impl Edited {
    /// The update that is shown.
    pub(crate) fn last(&self) -> Option<&Update> {
        self.updates.last()
    }

    /// What was replaced so far, by the last update.
    pub(crate) fn replaced(&self) -> &[Text] {
        let list = self.last().and_then(|update| update.paths.as_ref());
        list.and_then(|paths| self.lists.get(paths.replaced))
            .map_or(&[], Vec::as_slice)
    }
}

impl Edits {
    /// No edits.
    #[must_use]
    pub fn new() -> Edits {
        Edits::default()
    }

    /// There are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// What a message shows instead of its blocks: block, time in ms, text; the last update of each.
    pub fn shown(&self, message: i64) -> impl Iterator<Item = (i64, f64, &Text)> {
        let blocks = self.entry(message).map_or(&[][..], |entry| &entry.blocks);
        blocks.iter().filter_map(|edited| {
            let update = edited.last()?;
            Some((edited.block, update.at, update.text()?))
        })
    }

    /// Every update there is: message, block, time in ms, text; in the order of the file.
    pub fn updates(&self) -> impl Iterator<Item = (i64, i64, f64, &Text)> {
        self.entries.iter().flat_map(|entry| {
            entry.blocks.iter().flat_map(move |edited| {
                edited.updates.iter().filter_map(move |update| {
                    Some((entry.message, edited.block, update.at, update.text()?))
                })
            })
        })
    }

    /// Adds an update as it would have been read from the file. `paths`: of a mention, what was replaced so far and everything that the
    /// text mentions. A message keeps the kind that it was first edited with.
    pub fn put(
        &mut self,
        (message, block): (i64, i64),
        kind: EditKind,
        at: f64,
        text: Text,
        paths: Option<(Vec<Text>, Vec<Text>)>,
    ) {
        let edited = self.edit(message, kind, block);
        let paths = paths.map(|(replaced, all)| {
            edited.lists.push(replaced);
            Paths {
                replaced: edited.lists.len().saturating_sub(1),
                all,
            }
        });
        edited.updates.push(Update::of(at, text, paths));
    }

    pub(crate) fn entry(&self, message: i64) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.message == message)
    }

    pub(crate) fn edited(&self, message: i64, block: i64) -> Option<&Edited> {
        let entry = self.entry(message)?;
        entry.blocks.iter().find(|edited| edited.block == block)
    }

    /// The block's place, made where it is not there yet; an entry keeps the kind that it was made with.
    pub(crate) fn edit(&mut self, message: i64, kind: EditKind, block: i64) -> &mut Edited {
        let at = place(
            &mut self.entries,
            |entry| entry.message == message,
            || Entry {
                message,
                kind,
                blocks: Vec::new(),
            },
        );
        place(
            &mut at.blocks,
            |edited| edited.block == block,
            || Edited {
                block,
                updates: Vec::new(),
                lists: Vec::new(),
            },
        )
    }

    /// Drops the updates after a time, from the newest of each block back to the first that is not after it.
    pub fn truncate(&mut self, at: f64) {
        for entry in &mut self.entries {
            for edited in &mut entry.blocks {
                while edited.last().is_some_and(|update| update.at > at) {
                    edited.updates.pop();
                }
            }
            entry.blocks.retain(|edited| !edited.updates.is_empty());
        }
        self.entries.retain(|entry| !entry.blocks.is_empty());
    }

    /// The same edits as they would be after a save and a load: no lists are shared.
    #[must_use]
    pub fn reloaded(&self) -> Edits {
        Edits::from_json(&self.to_json()).unwrap_or_default()
    }

    /// Reads `context_history.json`; `None` when it is something else.
    #[must_use]
    pub fn from_json(json: &str) -> Option<Edits> {
        let entries = raw::elements(json)?.map(entry).collect::<Option<_>>()?;
        Some(Edits { entries })
    }

    /// Writes `context_history.json`.
    #[must_use]
    pub fn to_json(&self) -> String {
        list(self.entries.iter().map(|entry| {
            let blocks = list(entry.blocks.iter().map(|edited| {
                let updates = list(edited.updates.iter().map(|update| written(update, edited)));
                alloc::format!("[{},{updates}]", edited.block)
            }));
            alloc::format!("[{},[{},{blocks}]]", entry.message, entry.kind.0)
        }))
    }
}

/// The first element that is meant, added at the end where there is none.
fn place<T>(list: &mut Vec<T>, meant: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> &mut T {
    let at = list.iter().position(meant).unwrap_or_else(|| {
        list.push(make());
        list.len().saturating_sub(1)
    });
    &mut list[at]
}

fn written(update: &Update, edited: &Edited) -> String {
    let texts = texts(&update.texts);
    let paths = update.paths.as_ref().map_or_else(String::new, |paths| {
        let replaced = edited.lists.get(paths.replaced);
        alloc::format!(
            "{},{}",
            self::texts(replaced.map_or(&[], Vec::as_slice)),
            self::texts(&paths.all)
        )
    });
    let at = number::write(update.at);
    alloc::format!("[{at},{},{texts},[{paths}]]", update.word.to_token())
}

fn texts(texts: &[Text]) -> String {
    list(texts.iter().map(Text::to_token))
}

fn list(parts: impl Iterator<Item = String>) -> String {
    let parts: Vec<String> = parts.collect();
    alloc::format!("[{}]", parts.join(","))
}

fn entry(json: &str) -> Option<Entry> {
    let [message, rest] = exactly(json)?;
    let [kind, blocks] = exactly(rest)?;
    Some(Entry {
        message: number::whole(message)?,
        kind: EditKind(number::whole(kind)?),
        blocks: raw::elements(blocks)?.map(edited).collect::<Option<_>>()?,
    })
}

fn edited(json: &str) -> Option<Edited> {
    let [block, updates] = exactly(json)?;
    let mut edited = Edited {
        block: number::whole(block)?,
        updates: Vec::new(),
        lists: Vec::new(),
    };
    for json in raw::elements(updates)? {
        let [at, word, texts, metadata] = exactly(json)?;
        let lists: Vec<Vec<Text>> = raw::elements(metadata)?
            .map(read_texts)
            .collect::<Option<_>>()?;
        let mut lists = lists.into_iter();
        let paths = lists.next().map(|replaced| {
            edited.lists.push(replaced);
            Paths {
                replaced: edited.lists.len().saturating_sub(1),
                all: lists.next().unwrap_or_default(),
            }
        });
        edited.updates.push(Update {
            at: number::read(at)?,
            word: Text::from_token(word)?,
            texts: read_texts(texts)?,
            paths,
        });
    }
    Some(edited)
}

fn read_texts(json: &str) -> Option<Vec<Text>> {
    raw::elements(json)?.map(Text::from_token).collect()
}

/// The elements of a list that has just so many.
fn exactly<const N: usize>(json: &str) -> Option<[&str; N]> {
    let elements: Vec<&str> = raw::elements(json)?.collect();
    elements.try_into().ok()
}
