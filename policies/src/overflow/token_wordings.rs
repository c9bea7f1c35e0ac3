//! How providers say that a prompt has too many tokens; the form of a line is told in the table of the other wordings.

/// Wording and source; those with numbers stand before those without.
pub(super) const TOKENS: &[(&str, &str)] = &[
    // With numbers: what the prompt came to, and what is allowed.
    (
        "prompt is too long: {a} tokens > {l} maximum",
        "Anthropic, github.com/anthropics/claude-code/issues/820",
    ),
    (
        "prompt is too long: {a}, model maximum context length: {l}",
        "Fireworks, github.com/fw-ai/cookbook/issues/134",
    ),
    (
        "prompt is too long: {a} > {l}",
        "Anthropic, looser gateways",
    ),
    (
        "input length and max_tokens exceed context limit: {a} + {o} > {l}",
        "Anthropic before 4.5, widely quoted",
    ),
    (
        "prompt token count of {a} exceeds the limit of {l}",
        "Copilot, github.com/ericc-ch/copilot-api/issues/210",
    ),
    (
        "is too large: {o}. this model~maximum context length is {l} tokens and your request has {a} input tokens",
        "vLLM 0.11, tests of public clients",
    ),
    (
        "maximum context length is {l} tokens~requested {o} output tokens and your prompt contains at least {m} input tokens",
        "vLLM, github.com/vllm-project/vllm/issues/42474",
    ),
    (
        "maximum context length is {l} tokens~requested {o} output tokens and your prompt contains {a} input tokens",
        "vLLM, tests of public clients",
    ),
    (
        "maximum context length is {l} tokens~your request has {a} input tokens",
        "vLLM, tests of public clients",
    ),
    (
        "maximum context length is {l} tokens~requested {t} tokens~{o} in the completion",
        "OpenAI Chat, DeepSeek, vLLM; github.com/evalstate/fast-agent/issues/621",
    ),
    (
        "maximum context length is {l} tokens~requested {t} tokens~{o} for the completion",
        "OpenAI completions, github.com/run-llama/llama_index/issues/948",
    ),
    (
        "maximum context length is {l} tokens~requested about {t} tokens~{o} in the output",
        "OpenRouter, github.com/autohandai/code-cli/issues/99",
    ),
    (
        "maximum context length is {l} tokens~messages resulted in {a} tokens",
        "OpenAI Chat, tests of cline's error classification",
    ),
    (
        "maximum context length of {l} tokens~a total of {t} tokens~{o} tokens for the completion",
        "SGLang, public error texts",
    ),
    (
        "input tokens exceed the configured limit of {l} tokens~messages resulted in {a} tokens",
        "OpenAI, models of the GPT-5 family, public error texts",
    ),
    (
        "requested tokens {a} exceed context window of {l}",
        "llama-cpp-python, public error texts",
    ),
    (
        "input {a} tokens is longer than the model~context length {l} tokens",
        "SGLang, public error texts",
    ),
    (
        "input length {a} exceeds model~maximum context length {l}",
        "LiteLLM, tests of public clients",
    ),
    (
        "input length {a} exceeds the maximum allowed input length of {l} tokens",
        "OpenRouter, tests of public clients",
    ),
    (
        "input length {a} tokens exceeds the maximum allowed length {l} tokens",
        "SGLang, github.com/sgl-project/sglang/issues/4048",
    ),
    (
        "prompt length {a} is longer than the maximum model length of {l}",
        "vLLM, github.com/thu-coai/Glyph/issues/9",
    ),
    (
        "prompt total length {a} is too long to fit into the model context length {l}",
        "vLLM, github.com/vllm-project/vllm/issues/12165",
    ),
    (
        "input prompt {a} tokens is too long and exceeds limit of {l}",
        "vLLM, github.com/vllm-project/vllm/issues/10440",
    ),
    (
        "prompt has {a} tokens, but the configured context size is {l} tokens",
        "tests of public clients",
    ),
    (
        "maximum context length is {l} tokens~requested {t} tokens",
        "OpenAI-compatible servers, public error texts",
    ),
    (
        "maximum context length is {l} tokens~requested about {t} tokens",
        "OpenRouter, public error texts",
    ),
    (
        "maximum prompt length is {l} but the request contains {a} tokens",
        "xAI, tests of public clients",
    ),
    (
        "input token count {a} exceeds the maximum number of tokens allowed {l}",
        "Gemini, github.com/google-gemini/gemini-cli/issues/6678",
    ),
    (
        "input token count is {a} but model only supports up to {l}",
        "Vertex AI, github.com/google-gemini/gemini-cli/issues/19727",
    ),
    (
        "input token count is {a} but the model only supports up to {l}",
        "Vertex AI, public error texts",
    ),
    (
        "inputs tokens + max_new_tokens must be <= {l}. given: {a} inputs tokens and {o} max_new_tokens",
        "TGI, github.com/huggingface/llm-vscode/issues/94",
    ),
    (
        "inputs must have less than {l} tokens. given: {a}",
        "TGI and TEI, github.com/opea-project/GenAIExamples/pull/340",
    ),
    (
        "total number of tokens prompt and prediction cannot exceed {l} - received {t}",
        "Cohere, github.com/cohere-ai/sandbox-topically/issues/4",
    ),
    (
        "total number of tokens in the prompt cannot exceed {l} - received {a}",
        "Cohere, public error texts",
    ),
    (
        "size limit exceeded by {e} tokens~limit for this model is {l} tokens",
        "Cohere, tests of public clients",
    ),
    (
        "max input tokens: {l}, request input token count: {a}",
        "Titan on Bedrock, tests of public clients",
    ),
    (
        "number of input tokens {a} cannot exceed the total tokens limit {l}",
        "watsonx, public error texts",
    ),
    (
        "length of the messages or completion. current length is {a} while limit is {l}",
        "Cerebras, github.com/cline/cline/issues/5140",
    ),
    (
        "keep the first {a} tokens when context the overflows~context length of only {l} tokens",
        "LM Studio, github.com/lmstudio-ai/lmstudio-bug-tracker/issues/546",
    ),
    (
        "greater than the context length n_keep: {a}~n_ctx: {l}",
        "LM Studio, github.com/Gitlawb/openclaude/issues/353",
    ),
    (
        "exceeded model token limit: {l} requested: {t}",
        "Moonshot, github.com/MoonshotAI/kimi-cli/issues/2011",
    ),
    (
        "number of tokens {a} exceeded maximum context length {l}",
        "ctransformers, github.com/marella/ctransformers/issues/180",
    ),
    (
        "prompt tokens limit exceeded: {a} > {l}",
        "OpenRouter, status 402",
    ),
    (
        "prompt contains {a} tokens~too large for model with {l} maximum context length",
        "Mistral, public error texts",
    ),
    (
        "request {a} tokens exceeds the available context size {l} tokens",
        "llama.cpp, public error texts",
    ),
    (
        "request~{a} tokens exceeds the available context size~{l}",
        "llama.cpp, public error texts",
    ),
    // Counts that stand in members beside the words.
    (
        "exceeds the available context size~n_prompt_tokens: {a}, n_ctx: {l}",
        "llama.cpp, github.com/ggml-org/llama.cpp/pull/15780",
    ),
    (
        "exceed_context_size_error~n_prompt_tokens: {a}, n_ctx: {l}",
        "llama.cpp, the type without the words",
    ),
    // With the limit only.
    (
        "input token count exceeds the maximum number of tokens allowed {l}",
        "Gemini, the form without the count",
    ),
    (
        "maximum context length is {l} tokens",
        "OpenRouter, tests of cline's error classification",
    ),
    (
        "maximum context length of {l} tokens",
        "SGLang, the form without counts",
    ),
    (
        "maximum prompt length is {l}",
        "xAI, tests of public clients",
    ),
    (
        "exceeded model token limit: {l}",
        "Moonshot, public error texts",
    ),
    (
        "inputs tokens + max_new_tokens must be <= {l}",
        "TGI, the form without counts",
    ),
    (
        "inputs must have less than {l} tokens",
        "TGI and TEI, the form without the count",
    ),
    (
        "total number of tokens in the prompt cannot exceed {l}",
        "Cohere, tests of public clients",
    ),
    (
        "exceed context window of {l}",
        "llama-cpp-python, github.com/abetlen/llama-cpp-python/issues/416",
    ),
    (
        "range of input length should be 1, {l}",
        "DashScope, github.com/QwenLM/qwen-code/issues/98",
    ),
    // Without numbers.
    (
        "prompt is too long",
        "Anthropic, the words that its documentation promises",
    ),
    (
        "prompt too long",
        "Z.ai and Ollama, tests of public clients",
    ),
    (
        "prompt exceeds max length",
        "Zhipu, github.com/NousResearch/hermes-agent/pull/1877",
    ),
    (
        "input is too long for requested model",
        "Bedrock, errors page of claude-code",
    ),
    (
        "number of input tokens exceeds maximum length",
        "Nova on Bedrock, tests of public clients",
    ),
    (
        "total length of all messages is too long",
        "tests of public clients",
    ),
    (
        "prompt_too_long",
        "gateways, `capability_rejected: prompt_too_long`",
    ),
    (
        "input exceeds the context",
        "OpenAI Responses, tests of codex-compatible clients",
    ),
    ("exceed context limit", "Anthropic before 4.5, shortened"),
    (
        "context_length_exceeded",
        "OpenAI, the code inside other words",
    ),
    (
        "context length exceeded",
        "OpenAI-compatible servers, the code in words",
    ),
    (
        "model_context_window_exceeded",
        "Anthropic 4.5, as a stop reason",
    ),
    (
        "exceeds the maximum number of tokens allowed",
        "Gemini, shortened",
    ),
    (
        "exceeds the available context size",
        "llama.cpp, public error texts",
    ),
    (
        "greater than the context length",
        "LM Studio, github.com/lmstudio-ai/lmstudio-bug-tracker/issues/2205",
    ),
    (
        "maximum context length",
        "OpenAI-compatible servers, shortened",
    ),
    (
        "context window exceeds limit",
        "MiniMax, public error texts",
    ),
    (
        "exceeds the context window",
        "OpenAI-compatible servers, shortened",
    ),
    (
        "input tokens exceed model token limit",
        "github.com/forcedotcom/Einstein-GPT-for-Developers/issues/228",
    ),
    (
        "reduce the length of the messages or completion",
        "Groq, tests of public clients",
    ),
    ("too many tokens: size limit exceeded", "Cohere, shortened"),
    ("too many input tokens", "Titan on Bedrock, shortened"),
];
