//! Why JSON is no event.

use alloc::string::String;

/// The event was refused; nothing was done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}: field={field}")]
pub struct Refusal {
    /// The field; empty for the event as a whole.
    pub field: String,
    /// What is wrong with it.
    pub problem: Problem,
}

impl Refusal {
    pub(super) fn new(field: &str, problem: Problem) -> Self {
        Self {
            field: super::path(field),
            problem,
        }
    }
}

/// What is wrong with a field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The text is not one JSON value: send JSON.
    #[error("not json")]
    NotJson,
    /// This version does not know the type: correct it, or ask for it to be kept.
    #[error("unknown event type {0:?}")]
    UnknownType(String),
    /// The type is never logged: read it as a draft.
    #[error("a draft is not logged")]
    Transient,
    /// It must be there.
    #[error("missing")]
    Missing,
    /// It stands there twice, or beside another field that says the same.
    #[error("given twice")]
    Twice,
    /// It is something else than this.
    #[error("expected {0}")]
    Expected(&'static str),
}
