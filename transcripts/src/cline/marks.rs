//! What an event says of the file that it came from, beside what it holds itself: the member `cline` of its unknown fields.

use super::document::with_member;
use crate::json::{self, Members};
use recount_events::Text;

/// Where an event came from.
#[derive(Clone, Debug)]
pub(crate) enum Mark<'a> {
    /// A message: its index, which of its blocks it is where it is not all of them, and the message without its content unless an earlier
    /// event says it.
    Message {
        index: usize,
        blocks: Option<Vec<usize>>,
        around: Option<String>,
    },
    /// A result in a message.
    Result {
        index: usize,
        block: usize,
        /// The block.
        raw: &'a str,
        around: Option<String>,
    },
    /// A message kept as it is, of which some blocks are events of their own.
    Rest {
        index: usize,
        blocks: Vec<usize>,
        around: Option<String>,
    },
    /// A message kept as it is.
    Verbatim(usize),
    /// Made by the reader: in no file.
    Made,
    /// The range as the host writes it.
    Range(&'a str),
    /// A record of what the person saw, by its index.
    Ui(usize),
    /// An edit: its message, its kind, its block, the update without its text; and its places in the lists of the file.
    Edit {
        edit: [&'a str; 4],
        order: [usize; 3],
    },
    /// An entry of the edits that is kept as it is, by its index.
    Entry(usize),
    /// A file.
    File(&'a str),
}

impl Mark<'_> {
    pub(crate) fn text(self) -> Text {
        Text::json(&format!("{{\"cline\":{}}}", self.json()))
    }

    fn json(&self) -> String {
        let around = |around: &Option<String>| {
            around
                .as_ref()
                .map_or_else(String::new, |raw| format!(",\"around\":{raw}"))
        };
        match self {
            Self::Message {
                index,
                blocks,
                around: outer,
            } => {
                let blocks = blocks.as_ref().map_or_else(String::new, |blocks| {
                    format!(",\"blocks\":{}", numbers(blocks))
                });
                format!("{{\"message\":{index}{blocks}{}}}", around(outer))
            }
            Self::Result {
                index,
                block,
                raw,
                around: outer,
            } => {
                let result = with_member(raw, "content", "null");
                format!(
                    "{{\"message\":{index},\"block\":{block},\"result\":{result}{}}}",
                    around(outer)
                )
            }
            Self::Rest {
                index,
                blocks,
                around: outer,
            } => {
                format!(
                    "{{\"message\":{index},\"rest\":{}{}}}",
                    numbers(blocks),
                    around(outer)
                )
            }
            Self::Verbatim(index) => format!("{{\"message\":{index},\"verbatim\":true}}"),
            Self::Made => "{\"made\":true}".to_owned(),
            Self::Range(raw) => format!("{{\"range\":{raw}}}"),
            Self::Ui(index) => format!("{{\"ui\":{index}}}"),
            Self::Edit { edit, order } => {
                format!(
                    "{{\"edit\":[{}],\"order\":{}}}",
                    edit.join(","),
                    numbers(order)
                )
            }
            Self::Entry(index) => format!("{{\"entry\":{index}}}"),
            Self::File(name) => format!("{{\"file\":{}}}", json::escape(name)),
        }
    }
}

fn numbers(numbers: &[usize]) -> String {
    let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
    format!("[{}]", numbers.join(","))
}

/// The mark of an event that was read from such files, as raw members.
pub(crate) fn of(extra: Option<&Text>) -> Option<Members<'_>> {
    Members::parse(extra?.as_str()?)?.members("cline")
}
