//! What can happen in a session, and its bytes.
//!
//! - An [`Event`] is immutable. Its [`Body`] says what happened; everything that a person, a model, a tool or a host wrote
//!   is a [`Text`] inside it, stored beside the body and named in it only by a salted commitment.
//! - No clock, no chance, no I/O: times, salts and positions are given by the caller.
#![no_std]

extern crate alloc;

mod block;
mod body;
mod content;
mod event;
mod id;
mod text;

pub use block::{Block, BlockKind, ImageFacts};
pub use body::*;
pub use content::{Content, Format, Shape};
pub use event::Event;
pub use id::{BlockId, Digest, Millis, Seq};
pub use text::{Form, Held, Seal, Text};
