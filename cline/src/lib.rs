//! Cline's context manager, exact: what it leaves out, what it replaces, and what it would send.
//!
//! The rules are those of Cline 3.70.0 to 4.0.12, where they do not change, and of the legacy bundle of 4.1. They are kept with everything
//! that is odd about them, because a history that Cline wrote means what Cline makes of it. Recount's own path does not share the
//! oddities that lose words; see `docs/cline.md`.
//!
//! - Pure: plain data in, plain data out; no clock, no files, no randomness.
//! - A history is never changed by rendering. Where Cline changes it, the answer says so ([`Rendered::emptied`]).
//! - JSON that is not looked at passes through byte for byte.
//!
//! ```
//! use recount_cline::{Edits, Keep, Message, Range, render};
//!
//! let history = Message::list(r#"[
//!     {"role":"user","content":[{"type":"text","text":"<task>fix it</task>"}]},
//!     {"role":"assistant","content":[{"type":"text","text":"reading"}]},
//!     {"role":"user","content":[{"type":"text","text":"[read_file for 'a.rs'] Result:\nfn a() {}"}]},
//!     {"role":"assistant","content":[{"type":"text","text":"done"}]}
//! ]"#).unwrap();
//! let range = Range::next(&history, None, Keep::None);
//! let mut edits = Edits::new();
//! edits.note_truncation(1_700_000_000_000.0);
//! let sent = render(&history, Some(range), &edits).messages;
//! assert_eq!(sent.len(), 2);
//! assert!(sent[1].as_json().contains("Some previous conversation history"));
//! ```
#![no_std]

extern crate alloc;

mod block;
mod edits;
mod header;
mod helper;
mod message;
mod notice;
mod number;
mod pairing;
mod range;
mod reads;
mod render;
mod replace;
mod request;
mod savings;
mod task;
mod text;
mod turn;
mod window;

pub use block::Block;
pub use edits::{EditKind, Edits};
pub use helper::Helper;
pub use message::{Message, Role, to_json};
pub use notice::{CONTINUE, READ_AGAIN, TRUNCATED};
pub use pairing::{Paired, pair};
pub use range::{Keep, Range};
pub use reads::{Mentioned, Replaced, mentioned, replace_reads};
pub use render::{Rendered, render};
pub use request::{Malformed, UiMessage, is_full};
pub use savings::Savings;
pub use task::{Begin, Begun, Files, Stamped, Task};
pub use text::Text;
pub use turn::{Attempt, Overlaid, Turn};
pub use window::{Window, is_next_generation};
