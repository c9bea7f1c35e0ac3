//! The calls that start sub-agents, with what they ask for.

use std::collections::BTreeMap;

/// All such calls of a session, by the position of their message.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    by_prompt: BTreeMap<String, usize>,
    last: Option<usize>,
    count: usize,
}

impl Tasks {
    /// Notes a call and its prompt; the newest call of a prompt counts.
    pub(super) fn note(&mut self, event: usize, prompt: Option<String>) {
        if let Some(prompt) = prompt {
            self.by_prompt.insert(prompt, event);
        }
        self.last = Some(event);
        self.count += 1;
    }

    /// The newest call that asked for this.
    pub(super) fn asked(&self, prompt: &str) -> Option<usize> {
        self.by_prompt.get(prompt).copied()
    }

    /// The newest call.
    pub(super) const fn last(&self) -> Option<usize> {
        self.last
    }

    /// The call, if there is one and no other.
    pub(super) fn only(&self) -> Option<usize> {
        self.last.filter(|_| self.count == 1)
    }
}
