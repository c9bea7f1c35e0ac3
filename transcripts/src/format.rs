//! The formats that are read, and how one is told from another.

use crate::{array, cline, json::Members, lines};

/// A format that this crate reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FormatName {
    /// A session file of Claude Code: one record a line.
    ClaudeCode,
    /// The same records in one document, `{"loglines": […]}`.
    ClaudeCodeWeb,
    /// A list of Anthropic messages, or a request that holds one.
    AnthropicMessages,
    /// A list of OpenAI Chat messages, or a request that holds one.
    OpenaiMessages,
    /// A task of Cline: a folder of documents.
    ClineTask,
    /// A session of Cline's SDK: messages, and a compaction beside them.
    ClineSdk,
    /// A task of Roo: a folder of documents.
    RooTask,
    /// Recount's own lossless archive.
    Archive,
}

impl FormatName {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::ClaudeCode,
        Self::ClaudeCodeWeb,
        Self::AnthropicMessages,
        Self::OpenaiMessages,
        Self::ClineTask,
        Self::ClineSdk,
        Self::RooTask,
        Self::Archive,
    ];

    /// Its name on the command line and in answers.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code-jsonl",
            Self::ClaudeCodeWeb => "claude-code-web-session-json",
            Self::AnthropicMessages => "anthropic-messages",
            Self::OpenaiMessages => "openai-messages",
            Self::ClineTask => "cline-task",
            Self::ClineSdk => "cline-sdk-session",
            Self::RooTask => "roo-task",
            Self::Archive => "recount-archive",
        }
    }

    /// The format of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.as_str() == name)
    }
}

impl std::fmt::Display for FormatName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How many readable records are looked at before a file is taken for something else.
const LOOKED_AT: usize = 50;

/// Tells the format from the bytes; `None` when nothing speaks for any of them.
#[must_use]
pub fn detect(bytes: &[u8]) -> Option<FormatName> {
    by_document(bytes).or_else(|| by_lines(bytes))
}

fn by_document(bytes: &[u8]) -> Option<FormatName> {
    let text = std::str::from_utf8(lines::without_bom(bytes)).ok()?.trim();
    if text.starts_with('{')
        && Members::parse(text).is_some_and(|members| members.raw("loglines").is_some())
    {
        return Some(FormatName::ClaudeCodeWeb);
    }
    if text.starts_with('{') && cline::sdk::is_session(text) {
        return Some(FormatName::ClineSdk);
    }
    array::detect(text)
}

fn by_lines(bytes: &[u8]) -> Option<FormatName> {
    let records = lines::pieces(bytes)
        .filter_map(|piece| piece.record())
        .filter_map(Members::parse);
    records
        .take(LOOKED_AT)
        .find_map(|members| by_record(&members))
}

fn by_record(members: &Members<'_>) -> Option<FormatName> {
    if members.raw("recount_archive").is_some() {
        return Some(FormatName::Archive);
    }
    let typed = members.text("type").is_some();
    let marks = ["uuid", "sessionId", "leafUuid", "messageId", "parentUuid"];
    let marked = marks.iter().any(|key| members.raw(key).is_some());
    (typed && marked).then_some(FormatName::ClaudeCode)
}
