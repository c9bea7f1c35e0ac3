//! A record of a session file: the fields that decide where it belongs, and its bytes.

use crate::Source;
use crate::json::Members;
use crate::time;
use recount_events::Millis;

/// What a record says about the record before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Parent {
    /// Nothing.
    Absent,
    /// That there is none.
    Root,
    /// Its uuid.
    Is(String),
}

/// One record.
#[derive(Clone, Debug)]
pub(super) struct Record<'a> {
    /// Its bytes.
    pub(super) raw: &'a str,
    /// Its place.
    pub(super) source: Source,
    /// Its members.
    pub(super) members: Members<'a>,
    /// The members of its `message`.
    pub(super) message: Option<Members<'a>>,
    /// `type`, and behind a slash the subtype, the attachment's or the progress's type.
    pub(super) name: String,
    /// What it follows.
    pub(super) parent: Parent,
    /// What it follows although a compaction cut the chain.
    pub(super) logical: Option<String>,
    /// When.
    pub(super) at: Option<Millis>,
}

impl<'a> Record<'a> {
    /// Reads a JSON object; `None` when it is none.
    pub(super) fn parse(raw: &'a str, source: Source) -> Option<Self> {
        let members = Members::parse(raw)?;
        let parent = match members.raw("parentUuid") {
            None => Parent::Absent,
            Some("null") => Parent::Root,
            Some(_) => members
                .text("parentUuid")
                .map_or(Parent::Absent, Parent::Is),
        };
        let at = members.raw("timestamp").and_then(time::parse);
        let source = Source {
            id: members.text("uuid"),
            ..source
        };
        let (name, message) = (name(&members), members.members("message"));
        let logical = members.text("logicalParentUuid");
        Some(Self {
            raw,
            source,
            members,
            message,
            name,
            parent,
            logical,
            at,
        })
    }

    /// Its own name.
    pub(super) fn uuid(&self) -> Option<&str> {
        self.source.id.as_deref()
    }

    /// A sub-agent's.
    pub(super) fn sidechain(&self) -> bool {
        self.members.is_true("isSidechain")
    }

    /// Something that is said, whoever says it.
    pub(super) fn says(&self) -> bool {
        matches!(self.name.as_str(), "user" | "assistant")
    }

    /// Written by the host in the model's name.
    pub(super) fn synthetic(&self) -> bool {
        let model = self
            .message
            .as_ref()
            .and_then(|message| message.text("model"));
        self.members.is_true("isApiErrorMessage") || model.as_deref() == Some("<synthetic>")
    }

    /// What two records of one uuid must share to be the same: the raw message or attachment.
    pub(super) fn core(&self) -> &'a str {
        let keys = ["message", "attachment", "data"];
        keys.iter()
            .find_map(|key| self.members.raw(key))
            .unwrap_or_default()
    }

    /// The raw blocks of its content, with their members; a string content has none.
    pub(super) fn blocks(&self) -> Vec<Members<'a>> {
        let items = self
            .message
            .as_ref()
            .and_then(|message| message.items("content"))
            .unwrap_or_default();
        items
            .into_iter()
            .map(|raw| Members::parse(raw).unwrap_or_default())
            .collect()
    }
}

fn name(members: &Members<'_>) -> String {
    let Some(kind) = members.text("type") else {
        return "untyped".to_owned();
    };
    let inner = |key: &str| members.members(key).and_then(|inner| inner.text("type"));
    let subtype = match kind.as_str() {
        "system" => members.text("subtype"),
        "attachment" => inner("attachment"),
        "progress" => inner("data"),
        _ => None,
    };
    subtype.map_or(kind.clone(), |subtype| format!("{kind}/{subtype}"))
}
