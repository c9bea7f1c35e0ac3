//! Which kind a block is, by its dialect.
//!
//! - Read at parse time and kept with the block: a later version that knows more never changes an old one.

use crate::raw::{Member, member, member_words, members};
use crate::{BlockKind, Format};
use alloc::borrow::Cow;

/// The kind of a raw block.
pub(super) fn detect(format: Format, raw: &str) -> BlockKind {
    if raw.trim_ascii_start().starts_with('"') {
        return BlockKind::Text;
    }
    if format == Format::Gemini {
        return gemini(raw);
    }
    let name = member_words(raw, "type");
    match format {
        Format::Anthropic => anthropic(name.as_deref()),
        Format::OpenaiChat => chat(raw, name.as_deref()),
        Format::OpenaiResponses | Format::Gemini => responses(raw, name.as_deref()),
    }
}

fn anthropic(name: Option<&str>) -> BlockKind {
    match name {
        Some("text") => BlockKind::Text,
        Some("image") => BlockKind::Image,
        Some("document" | "file" | "search_result") => BlockKind::Document,
        Some("tool_use") => BlockKind::Call,
        Some("tool_result") => BlockKind::Result,
        Some("thinking" | "redacted_thinking") => BlockKind::Thinking,
        Some("server_tool_use" | "mcp_tool_use") => BlockKind::ServerCall,
        Some("compaction") => BlockKind::Compaction,
        Some(name) if name.ends_with("_tool_result") => BlockKind::ServerResult,
        _ => BlockKind::Other,
    }
}

fn chat(raw: &str, name: Option<&str>) -> BlockKind {
    match name {
        Some("text" | "refusal") => BlockKind::Text,
        Some("image_url") => BlockKind::Image,
        Some("file") => BlockKind::Document,
        Some("function" | "custom") => BlockKind::Call,
        // Some servers leave the type of a call out.
        None if member(raw, "function").is_some() => BlockKind::Call,
        _ => BlockKind::Other,
    }
}

fn responses(raw: &str, name: Option<&str>) -> BlockKind {
    match name {
        Some("text" | "input_text" | "output_text" | "summary_text" | "refusal" | "message") => {
            BlockKind::Text
        }
        Some("input_image") => BlockKind::Image,
        Some("input_file") => BlockKind::Document,
        Some(
            "function_call" | "custom_tool_call" | "local_shell_call" | "shell_call"
            | "computer_call" | "apply_patch_call",
        ) => BlockKind::Call,
        Some(
            "function_call_output"
            | "custom_tool_call_output"
            | "local_shell_call_output"
            | "shell_call_output"
            | "computer_call_output"
            | "apply_patch_call_output",
        ) => BlockKind::Result,
        Some("reasoning") => BlockKind::Thinking,
        Some("compaction" | "compaction_summary") => BlockKind::Compaction,
        Some(name) if name.ends_with("_call") => BlockKind::ServerCall,
        Some(name) if name.ends_with("_output") => BlockKind::ServerResult,
        // An item without a type is a message in short form.
        None if member(raw, "role").is_some() => BlockKind::Text,
        _ => BlockKind::Other,
    }
}

/// Gemini names a part by the member that it has.
fn gemini(raw: &str) -> BlockKind {
    let thought = member(raw, "thought").map(str::trim_ascii) == Some("true");
    let Some(mut all) = members(raw) else {
        return BlockKind::Other;
    };
    match all.find_map(|part| gemini_member(&part)) {
        Some(BlockKind::Text) if thought => BlockKind::Thinking,
        Some(kind) => kind,
        None => BlockKind::Other,
    }
}

fn gemini_member(part: &Member<'_>) -> Option<BlockKind> {
    Some(match &*part.key() {
        "text" => BlockKind::Text,
        "functionCall" | "function_call" => BlockKind::Call,
        "functionResponse" | "function_response" => BlockKind::Result,
        "inlineData" | "inline_data" | "fileData" | "file_data" if shows_picture(part.value) => {
            BlockKind::Image
        }
        "inlineData" | "inline_data" | "fileData" | "file_data" => BlockKind::Document,
        "executableCode" | "executable_code" | "toolCall" | "tool_call" => BlockKind::ServerCall,
        "codeExecutionResult" | "code_execution_result" | "toolResponse" | "tool_response" => {
            BlockKind::ServerResult
        }
        _ => return None,
    })
}

fn shows_picture(data: &str) -> bool {
    let media: Option<Cow<'_, str>> =
        member_words(data, "mimeType").or_else(|| member_words(data, "mime_type"));
    media.is_some_and(|media| media.starts_with("image/"))
}
