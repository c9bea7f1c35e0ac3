//! What can happen in a session, and its bytes.
//!
//! - An [`Event`] is immutable. Its [`Body`] says what happened; everything that a person, a model, a tool or a host wrote
//!   is a [`Text`] inside it, stored beside the body and named in it only by a salted commitment.
//! - No clock, no chance, no I/O: times, salts and positions are given by the caller.
#![no_std]

extern crate alloc;

#[cfg(feature = "arbitrary")]
pub mod arbitrary;
mod block;
mod body;
mod codec;
mod content;
mod escape;
mod event;
mod facts;
mod id;
mod json;
mod kinds;
pub mod raw;
mod text;
mod texts;

pub use block::{Block, BlockKind, ImageFacts};
pub use body::*;
pub use codec::{DecodeError, EncodeError, Encoded, Found, LIMIT};
pub use content::{Content, Format, Shape};
pub use escape::{bytes_to_token, escape, push_escaped, sanitize};
pub use event::Event;
pub use facts::{CallFacts, ResultFacts, pixels};
pub use id::{BlockId, Digest, Millis, Seq};
pub use json::{Draft, Logged, Problem, Refusal, type_of};
pub use kinds::{Class, Durability, ESSENTIAL, KINDS};
pub use text::{Form, Held, Seal, Text};
pub use texts::{COMMITMENT_CONTEXT, ERASED, LOST, commitment};
