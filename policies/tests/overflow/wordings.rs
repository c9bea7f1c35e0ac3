//! R1: every wording that is known, with any numbers, is read back; and those of public error texts as they came.

use proptest::prelude::*;
use recount_events::Excess::{self, Bytes, Tokens};
use recount_policies::overflow::{Said, Verdict, parse, wordings};

fn read(body: &str) -> Verdict {
    parse(&Said {
        status: Some(400),
        code: None,
        body,
    })
}

/// Prompt, answer, allowed.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    input: u64,
    answer: u64,
    limit: u64,
}

/// The thousands of a number separated, or not.
fn written(number: u64, separator: &str) -> String {
    let digits = number.to_string();
    let mut written = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            written.push_str(separator);
        }
        written.push(digit);
    }
    written
}

/// A wording with its marks filled; several parts of a prompt add up to it. What has to be read of it.
fn filled(wording: &str, excess: Excess, sizes: Sizes, separator: &str) -> (String, Verdict) {
    let Sizes {
        input,
        answer,
        limit,
    } = sizes;
    let has = |mark: &str| wording.contains(mark);
    let parts = wording.matches("{a}").count() as u64;
    let mut text = wording.replace('~', " and what else there is to say, ");
    for part in 0..parts {
        let last = part + 1 == parts;
        let share = if last {
            input - input / parts.max(1) * part
        } else {
            input / parts
        };
        text = text.replacen("{a}", &written(share, separator), 1);
    }
    for (mark, value) in [
        ("{m}", input),
        ("{o}", answer),
        ("{t}", input + answer),
        ("{e}", input - limit.min(input)),
        ("{l}", limit),
    ] {
        text = text.replace(mark, &written(value, separator));
    }
    let known = parts > 0 || has("{m}") || (has("{t}") && has("{o}"));
    let over = has("{e}").then(|| limit + (input - limit.min(input)));
    let verdict = Verdict {
        excess: Some(excess),
        actual: known.then_some(input).or(over),
        limit: has("{l}").then_some(limit),
        answer: has("{o}").then_some(answer),
        total: has("{t}").then_some(input + answer),
        at_least: has("{m}"),
    };
    (text, verdict)
}

/// As gateways hand it on.
fn wrapped(text: &str, form: u8) -> String {
    match form {
        0 => text.to_owned(),
        1 => text.to_uppercase(),
        2 => format!(
            r#"{{"error":{{"message":{},"type":"invalid_request_error"}}}}"#,
            recount_events::escape(text)
        ),
        3 => format!("Provider returned error: {text}. Please make it shorter, 1 time."),
        _ => format!(
            r#"{{"error":{{"message":"Provider returned error","metadata":{{"raw":{}}}}}}}"#,
            recount_events::escape(&format!(
                r#"{{"message":{}}}"#,
                recount_events::escape(text)
            ))
        ),
    }
}

#[test]
fn r1_no_wording_hides_behind_another() {
    for (wording, excess, source) in wordings() {
        assert!(!source.is_empty());
        for separator in ["", ",", "_"] {
            let sizes = Sizes {
                input: 1_234_567,
                answer: 32_000,
                limit: 1_048_576,
            };
            let (text, expected) = filled(wording, excess, sizes, separator);
            for form in 0..5 {
                assert_eq!(
                    read(&wrapped(&text, form)),
                    expected,
                    "{}",
                    wrapped(&text, form)
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// What was said is what is read, whichever of the two is larger.
    #[test]
    fn r1_every_wording_is_read_back(
        which in any::<prop::sample::Index>(),
        input in prop_oneof![0..2_000_u64, 0..4_000_000_u64, 0..u64::MAX / 8],
        answer in 0..200_000_u64,
        limit in prop_oneof![1..2_000_u64, 1..4_000_000_u64, 1..u64::MAX / 8],
        separator in prop::sample::select(vec!["", ",", "_", "'"]),
        form in 0..5_u8,
    ) {
        let all: Vec<_> = wordings().collect();
        let (wording, excess, _) = all[which.index(all.len())];
        let (text, expected) = filled(wording, excess, Sizes { input, answer, limit }, separator);
        prop_assert_eq!(read(&wrapped(&text, form)), expected, "{}", wrapped(&text, form));
    }
}

/// Text, prompt, answer, limit.
type Row = (&'static str, Option<u64>, Option<u64>, Option<u64>);

/// As public threads show them.
const ROWS: &[Row] = &[
    (
        "input length and `max_tokens` exceed context limit: 188240 + 32000 > 200000, decrease input length or `max_tokens` and try again",
        Some(188_240),
        Some(32_000),
        Some(200_000),
    ),
    (
        "This model's maximum context length is 131072 tokens. However, you requested 138000 tokens (130000 in the messages, 8000 in the completion). Please reduce the length of the messages or completion.",
        Some(130_000),
        Some(8_000),
        Some(131_072),
    ),
    (
        "This model's maximum context length is 8192 tokens. However, you requested 8500 tokens (7000 in the messages, 500 in the functions, and 1000 in the completion).",
        Some(7_500),
        Some(1_000),
        Some(8_192),
    ),
    (
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 8400 tokens (7000 in the messages, 1400 in the functions). Please reduce the length of the messages or functions.",
        Some(8_400),
        None,
        Some(8_192),
    ),
    (
        "This model's maximum context length is 4097 tokens, however you requested 4116 tokens (3860 in your prompt; 256 for  the completion). Please reduce your prompt; or completion length.",
        Some(3_860),
        Some(256),
        Some(4_097),
    ),
    (
        "This endpoint's maximum context length is 202752 tokens. However, you requested about 203889 tokens (183648 of text input, 4241 of tool input, 16000 in the output). Please reduce the length of either one, or use the context-compression plugin to compress your prompt automatically.",
        Some(187_889),
        Some(16_000),
        Some(202_752),
    ),
    (
        "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 32768 tokens and your request has 29000 input tokens (4096 > 32768 - 29000).",
        Some(29_000),
        Some(4_096),
        Some(32_768),
    ),
    (
        "This model's maximum context length is 1,048,576 tokens. However, you requested 2,000 output tokens and your prompt contains 1,047,000 input tokens, for a total of 1,049,000 tokens.",
        Some(1_047_000),
        Some(2_000),
        Some(1_048_576),
    ),
    (
        "This model's maximum context length is 32768 tokens. However, you requested 4096 output tokens and your prompt contains 200000 characters (more than 130688 characters, which is the upper bound for 28672 input tokens).",
        None,
        None,
        Some(32_768),
    ),
    (
        "This model's maximum context length is 262144 tokens. However, your request has 1000010 input tokens. Please reduce the length of the input messages.",
        Some(1_000_010),
        None,
        Some(262_144),
    ),
    (
        "Requested token count exceeds the model's maximum context length of 32768 tokens. You requested a total of 34000 tokens: 30000 tokens from the input messages and 4000 tokens for the completion.",
        Some(30_000),
        Some(4_000),
        Some(32_768),
    ),
    (
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 20 `max_new_tokens`",
        Some(5_000),
        Some(20),
        Some(4_096),
    ),
    (
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048",
        None,
        None,
        Some(2_048),
    ),
    (
        "Input validation error: `inputs` must have less than 1024 tokens. Given: 1500",
        Some(1_500),
        None,
        Some(1_024),
    ),
    (
        "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).",
        Some(1_048_577),
        None,
        Some(1_048_576),
    ),
    (
        "Unable to submit request because the input token count is 40000 but model only supports up to 32768. Reduce the input token count and try again.",
        Some(40_000),
        None,
        Some(32_768),
    ),
    (
        "too many tokens: total number of tokens (prompt and prediction) cannot exceed 4096 - received 5000. Try using a shorter prompt or a smaller max_tokens value.",
        None,
        None,
        Some(4_096),
    ),
    (
        "too many tokens: size limit exceeded by 713295 tokens. Try using shorter or fewer inputs. The limit for this model is 288000 tokens.",
        Some(1_001_295),
        None,
        Some(288_000),
    ),
    (
        "ValidationException: 400 Bad Request: Too many input tokens. Max input tokens: 8192, request input token count: 9279 ",
        Some(9_279),
        None,
        Some(8_192),
    ),
    (
        "The number of input tokens 4098 cannot exceed the total tokens limit 4096 for this model",
        Some(4_098),
        None,
        Some(4_096),
    ),
    (
        "The prompt is too long: 40177, model maximum context length: 32767",
        Some(40_177),
        None,
        Some(32_767),
    ),
    (
        "Please reduce the length of the messages or completion. Current length is 42328 while limit is 40000",
        Some(42_328),
        None,
        Some(40_000),
    ),
    (
        "Please reduce the length of the messages or completion.",
        None,
        None,
        None,
    ),
    (
        "Range of input length should be [1, 30720]",
        None,
        None,
        Some(30_720),
    ),
    ("Prompt exceeds max length", None, None, None),
    (
        r#"{"code":"1261","message":"Prompt too long"}"#,
        None,
        None,
        None,
    ),
    (
        "Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded with context length of only 32768 tokens, which is not enough.",
        Some(111_490),
        None,
        Some(32_768),
    ),
    (
        "The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 13055>= n_ctx: 4096).",
        Some(13_055),
        None,
        Some(4_096),
    ),
    (
        "prompt too long; exceeded max context length by 100918 tokens",
        None,
        None,
        None,
    ),
    (
        "Invalid request: Your request exceeded model token limit: 262144 (requested: 269030)",
        None,
        None,
        Some(262_144),
    ),
    (
        "Prompt has 5,958,968 tokens, but the configured context size is 256,000 tokens",
        Some(5_958_968),
        None,
        Some(256_000),
    ),
    (
        "The decoder prompt (length 163840) is longer than the maximum model length of 131072.",
        Some(163_840),
        None,
        Some(131_072),
    ),
    (
        "The prompt (total length 25938) is too long to fit into the model (context length 4096).",
        Some(25_938),
        None,
        Some(4_096),
    ),
    (
        "Input length (265330) exceeds model's maximum context length (262144).",
        Some(265_330),
        None,
        Some(262_144),
    ),
    (
        "Prompt contains 1000172 tokens and 0 draft tokens, too large for model with 40960 maximum context length",
        Some(1_000_172),
        None,
        Some(40_960),
    ),
    (
        "Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input to try again.",
        None,
        None,
        None,
    ),
    (
        "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it",
        Some(5_000),
        None,
        Some(4_096),
    ),
    (
        "Unable to submit request because the input token count is 40000 but the model only supports up to 32768. Reduce the input token count and try again.",
        Some(40_000),
        None,
        Some(32_768),
    ),
    (
        "Input length (36000 tokens) exceeds the maximum allowed length (32762 tokens). Use a shorter input or enable --allow-auto-truncate.",
        Some(36_000),
        None,
        Some(32_762),
    ),
    (
        "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000. Try using a shorter prompt.",
        Some(5_000),
        None,
        Some(4_081),
    ),
    (
        r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":70000,"n_ctx":65536}}"#,
        Some(70_000),
        None,
        Some(65_536),
    ),
    (
        "Error code: 400 - {'error': {'code': 400, 'message': 'the request exceeds the available context size, try increasing it', 'type': 'exceed_context_size_error', 'n_prompt_tokens': 70000, 'n_ctx': 65536}}",
        Some(70_000),
        None,
        Some(65_536),
    ),
];

#[test]
fn r1_public_error_texts_are_read_as_they_came() {
    for (text, actual, answer, limit) in ROWS {
        let verdict = read(text);
        assert_eq!(
            (
                verdict.excess,
                verdict.actual,
                verdict.answer,
                verdict.limit
            ),
            (Some(Tokens), *actual, *answer, *limit),
            "{text}"
        );
    }
    let body = read("Sent message larger than max (50000056 vs. 20971520)");
    assert_eq!(
        (body.excess, body.actual, body.limit),
        (Some(Bytes), Some(50_000_056), Some(20_971_520))
    );
}

/// Counts beside the words are read as those in them: whatever the order, with either of the words, however long these are, and through a gateway.
#[test]
fn r1_counts_in_members_are_read() {
    let filler = "so it is ".repeat(1_000);
    let words = "the request exceeds the available context size";
    for inner in [
        format!(r#"{{"n_ctx":65536,"n_prompt_tokens":70000,"message":"{words}"}}"#),
        r#"{"type":"exceed_context_size_error","n_prompt_tokens":70000,"n_ctx":65536}"#.to_owned(),
        format!(
            r#"{{"message":"{filler}","type":"exceed_context_size_error","n_prompt_tokens":70000,"n_ctx":65536}}"#
        ),
    ] {
        for body in [
            format!(r#"{{"error":{inner}}}"#),
            format!(
                r#"{{"error":{{"message":"Provider returned error","metadata":{{"raw":{}}}}}}}"#,
                recount_events::escape(&inner)
            ),
        ] {
            let verdict = read(&body);
            assert_eq!(
                (verdict.excess, verdict.actual, verdict.limit),
                (Some(Tokens), Some(70_000), Some(65_536)),
                "{body}"
            );
        }
    }
}

/// Counts alone, or beside words about something else, say nothing; those that are no counts hide nothing.
#[test]
fn r1_members_are_counts_only_beside_words_about_size() {
    for (message, expected) in [
        ("model is loading", None),
        ("exceeds the available context size", Some(Tokens)),
    ] {
        for counts in [
            r#""n_prompt_tokens":-1,"n_ctx":65536"#,
            r#""n_prompt_tokens":"70000","n_ctx":65536"#,
            r#""n_ctx":65536"#,
        ] {
            let verdict = read(&format!(
                r#"{{"error":{{"message":"{message}",{counts}}}}}"#
            ));
            assert_eq!(
                (verdict.excess, verdict.actual),
                (expected, None),
                "{counts}"
            );
        }
    }
    let other = r#"{"error":{"message":"model is loading","n_prompt_tokens":70000,"n_ctx":65536}}"#;
    assert_eq!(read(other).excess, None);
}

#[test]
fn r1_a_prompt_and_its_answer_together_are_no_measure_of_the_prompt() {
    let together = read(
        "too many tokens: total number of tokens (prompt and prediction) cannot exceed 4096 - received 5000.",
    );
    assert_eq!((together.actual, together.total), (None, Some(5_000)));
    assert!(together.counts_the_answer());
    let at_least = read(
        "This model's maximum context length is 128000 tokens. However, you requested 65535 output tokens and your prompt contains at least 62466 input tokens, for a total of at least 128001 tokens.",
    );
    assert_eq!(
        (at_least.actual, at_least.answer, at_least.at_least),
        (Some(62_466), Some(65_535), true)
    );
    assert!(!read("prompt is too long: 210118 tokens > 200000 maximum").counts_the_answer());
}

/// A limit of the answer alone is nothing that a shorter prompt would help against.
#[test]
fn r1_a_limit_of_the_answer_alone_is_no_refusal_for_size() {
    for text in [
        "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for this model",
        "max_tokens is too large: 100000. This model supports at most 4096 completion tokens, whereas you provided 100000.",
        "Unable to submit request because it has a maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 8193 (exclusive).",
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        "ThrottlingException: Too many tokens, please wait before trying again.",
        "messages: text content blocks must be non-empty",
    ] {
        assert_eq!(read(text).excess, None, "{text}");
    }
}
