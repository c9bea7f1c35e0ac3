//! Which members a request, a message or a block may have, and which it must have.
//!
//! Read from the typed parameter definitions that the vendors publish: PyPI `anthropic` 2.14.0 (`types` and `types/beta`,
//! `MessageCreateParams` and what it holds) and `openai` 3.57.0 (`types/chat`, `CompletionCreateParams` and what it holds).

/// A kind of block: its name, members it must have, members it may have besides.
pub(super) struct Kind {
    /// Its `type`.
    pub name: &'static str,
    /// Members without which it is refused.
    pub must: &'static [&'static str],
    /// Further members.
    pub may: &'static [&'static str],
    /// Roles that may say it.
    pub roles: &'static [&'static str],
}

const USER: &[&str] = &["user"];
const ASSISTANT: &[&str] = &["assistant"];
const BOTH: &[&str] = &["user", "assistant", "system"];

const fn kind(
    name: &'static str,
    must: &'static [&'static str],
    may: &'static [&'static str],
    roles: &'static [&'static str],
) -> Kind {
    Kind {
        name,
        must,
        may,
        roles,
    }
}

/// The block kinds of Anthropic Messages. References and edits of the cache are in no published type; they are read from requests that
/// were seen on the wire. That a picture is refused in an assistant's message is the API's own answer, not the
/// types'.
pub(super) const ANTHROPIC: &[Kind] = &[
    kind("text", &["text"], &["cache_control", "citations"], BOTH),
    kind(
        "image",
        &["source"],
        &["cache_control", "transformations"],
        USER,
    ),
    kind(
        "document",
        &["source"],
        &["cache_control", "citations", "context", "title"],
        USER,
    ),
    kind(
        "search_result",
        &["content", "source", "title"],
        &["cache_control", "citations"],
        USER,
    ),
    kind(
        "tool_result",
        &["tool_use_id"],
        &[
            "cache_control",
            "cache_reference",
            "content",
            "is_error",
            "toolset_name",
        ],
        USER,
    ),
    kind("cache_edits", &["edits"], &[], USER),
    kind("container_upload", &["file_id"], &["cache_control"], BOTH),
    kind("thinking", &["signature", "thinking"], &[], ASSISTANT),
    kind("redacted_thinking", &["data"], &[], ASSISTANT),
    kind(
        "tool_use",
        &["id", "input", "name"],
        &["cache_control", "caller", "toolset_name"],
        ASSISTANT,
    ),
    kind(
        "server_tool_use",
        &["id", "input", "name"],
        &["cache_control", "caller"],
        ASSISTANT,
    ),
    kind(
        "web_search_tool_result",
        &["content", "tool_use_id"],
        &["cache_control", "caller"],
        ASSISTANT,
    ),
    kind(
        "web_fetch_tool_result",
        &["content", "tool_use_id"],
        &["cache_control", "caller"],
        ASSISTANT,
    ),
    kind(
        "code_execution_tool_result",
        &["content", "tool_use_id"],
        &["cache_control"],
        ASSISTANT,
    ),
    kind(
        "bash_code_execution_tool_result",
        &["content", "tool_use_id"],
        &["cache_control"],
        ASSISTANT,
    ),
    kind(
        "text_editor_code_execution_tool_result",
        &["content", "tool_use_id"],
        &["cache_control"],
        ASSISTANT,
    ),
    kind(
        "tool_search_tool_result",
        &["content", "tool_use_id"],
        &["cache_control"],
        ASSISTANT,
    ),
    kind(
        "advisor_tool_result",
        &["content", "tool_use_id"],
        &["cache_control"],
        ASSISTANT,
    ),
    kind(
        "mcp_tool_use",
        &["id", "input", "name", "server_name"],
        &["cache_control"],
        ASSISTANT,
    ),
    kind(
        "mcp_tool_result",
        &["tool_use_id"],
        &["cache_control", "content", "is_error"],
        ASSISTANT,
    ),
    kind(
        "compaction",
        &[],
        &[
            "cache_control",
            "content",
            "encrypted_content",
            "signature",
            "tool_changes",
        ],
        ASSISTANT,
    ),
];

/// What a `tool_result` may hold.
pub(super) const IN_RESULT: &[&str] = &[
    "text",
    "image",
    "document",
    "search_result",
    "tool_reference",
    "browser_state",
];

/// The members of an Anthropic request. The sampling three are gone from the newest types and still read for older models.
pub(super) const ANTHROPIC_BODY: &[&str] = &[
    "max_tokens",
    "messages",
    "model",
    "cache_control",
    "compaction",
    "container",
    "context_management",
    "diagnostics",
    "inference_geo",
    "mcp_servers",
    "metadata",
    "output_config",
    "output_format",
    "service_tier",
    "speed",
    "stop_sequences",
    "stream",
    "system",
    "thinking",
    "tool_choice",
    "tools",
    "user_profile_id",
    "workspace_id",
    "temperature",
    "top_k",
    "top_p",
];

/// The members of a custom tool on Anthropic.
pub(super) const ANTHROPIC_TOOL: &[&str] = &[
    "type",
    "name",
    "description",
    "input_schema",
    "allowed_callers",
    "cache_control",
    "defer_loading",
    "eager_input_streaming",
    "input_examples",
    "strict",
];

/// The members of a picture's source, by its type.
pub(super) const IMAGE_SOURCE: &[(&str, &[&str])] = &[
    ("base64", &["data", "media_type"]),
    ("url", &["url"]),
    ("file", &["file_id"]),
];

/// The members of a document's source, by its type.
pub(super) const DOCUMENT_SOURCE: &[(&str, &[&str])] = &[
    ("base64", &["data", "media_type"]),
    ("text", &["data", "media_type"]),
    ("content", &["content"]),
    ("url", &["url"]),
    ("file", &["file_id"]),
];

/// The members of a Chat request.
pub(super) const CHAT_BODY: &[&str] = &[
    "messages",
    "model",
    "audio",
    "frequency_penalty",
    "function_call",
    "functions",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "max_tokens",
    "metadata",
    "modalities",
    "moderation",
    "n",
    "parallel_tool_calls",
    "prediction",
    "presence_penalty",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning_effort",
    "response_format",
    "safety_identifier",
    "seed",
    "service_tier",
    "stop",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "user",
    "verbosity",
    "web_search_options",
];

/// The members of a Chat message, by role.
pub(super) const CHAT_MESSAGE: &[(&str, &[&str])] = &[
    ("system", &["role", "content", "name"]),
    ("developer", &["role", "content", "name"]),
    ("user", &["role", "content", "name"]),
    (
        "assistant",
        &[
            "role",
            "content",
            "name",
            "audio",
            "function_call",
            "refusal",
            "tool_calls",
        ],
    ),
    ("tool", &["role", "content", "tool_call_id"]),
];

/// The parts of a Chat message: type, its one member, roles.
pub(super) const CHAT_PART: &[(&str, &str, &[&str])] = &[
    (
        "text",
        "text",
        &["system", "developer", "user", "assistant", "tool"],
    ),
    ("refusal", "refusal", &["assistant"]),
    ("image_url", "image_url", &["user"]),
    ("input_audio", "input_audio", &["user"]),
    ("file", "file", &["user"]),
];
