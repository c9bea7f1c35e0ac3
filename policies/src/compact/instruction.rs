//! What a model is asked when it sums up (A4): words only, no tools, a scratchpad that is thrown away, a summary in nine sections.

use alloc::format;
use alloc::string::{String, ToString};

const PREAMBLE: &str = "\
Stop working on the task for this one answer and write a summary of the conversation above instead. It will take the place of the \
conversation: whoever goes on has nothing else to go by. Answer in plain text only. Call no tool of any kind, even though tools are \
listed: a call would be thrown away, and the answer with it. Everything you need stands above.";

const SHAPE: &str = "\
Write two parts. First, between <analysis> and </analysis>, think on paper: go through the conversation from its beginning to its end, \
note what was asked, what was tried, what was decided and why, what went wrong, and check that nothing is missed. This part is removed \
before anyone reads the summary. Second, between <summary> and </summary>, write the summary itself, with these nine numbered sections:";

const SECTIONS: &[(&str, &str)] = &[
    (
        "Primary request and intent",
        "everything the person asked for, explicitly, with its purpose.",
    ),
    (
        "Key technical concepts",
        "technologies, conventions and ideas that the work depends on.",
    ),
    (
        "Files and code sections",
        "each file that was looked at, made or changed, why it matters, and the code that will be needed again, word for word.",
    ),
    (
        "Errors and fixes",
        "each error that came up, how it was solved, and what the person said about it.",
    ),
    (
        "Problem solving",
        "what is solved, and what is still being looked into.",
    ),
    (
        "All user messages",
        "every message of the person that is not the result of a tool, in order, including limits and permissions that they set, word for word where it is short.",
    ),
    ("Pending tasks", "what was asked for and is not done yet."),
    (
        "Current work",
        "exactly what was being done just before this request, with file names and code.",
    ),
    (
        "Optional next step",
        "the next step, only if it follows directly from what the person asked last; quote the words that call for it.",
    ),
];

/// The final message of a request for a summary. `replaces`: the person's instruction takes the place of the request's own words.
/// `limit`: tokens that the summary may have; 0: nobody says.
pub(crate) fn instruction(custom: Option<&str>, replaces: bool, limit: u64) -> String {
    let custom = custom.map(str::trim).filter(|custom| !custom.is_empty());
    if let (Some(custom), true) = (custom, replaces) {
        return custom.to_string();
    }
    let mut all = String::new();
    for part in [PREAMBLE, SHAPE] {
        all.push_str(part);
        all.push_str("\n\n");
    }
    for (number, (name, what)) in (1_u32..).zip(SECTIONS) {
        all.push_str(&format!("{number}. {name}: {what}\n"));
    }
    if limit > 0 {
        all.push_str(&format!(
            "\nKeep the summary under about {limit} tokens; leave out what can be found again before what cannot."
        ));
    }
    if let Some(custom) = custom {
        all.push_str("\n\nThe person adds, for this summary:\n");
        all.push_str(custom);
    }
    all
}

/// The instruction asked for a summary between tags.
pub(crate) fn asks_for_tags(instruction: &str) -> bool {
    instruction.contains("<summary>")
}
