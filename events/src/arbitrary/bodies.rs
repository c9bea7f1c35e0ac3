//! Bodies of every kind.

use super::texts::{content, elements, held, json_text, loose, message_content, name};
use super::{block_id, digest, few, millis, object, seq, some};
use crate::body::*;
use crate::kinds::ESSENTIAL;
use crate::{Body, Event, Form, Found, Text};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// A struct of strategies as a strategy of structs.
macro_rules! built {
    ($name:ident { $($field:ident: $strategy:expr),* $(,)? }) => {
        ($($strategy,)*).prop_map(|($($field,)*)| Body::$name($name { $($field),* })).boxed()
    };
}

/// A body of the kind of this number; `closed` where there is none.
pub fn body_of(kind: u16) -> BoxedStrategy<Body> {
    match kind {
        0 => built!(Kept {
            name: name(),
            raw: kept()
        }),
        1 => built!(Opened {
            session: name(),
            kind: select(&[SessionKind::Main, SessionKind::Sub, SessionKind::Side][..]),
            parent: some((name(), seq())),
            spill_root: some(name()),
            host: some(loose()),
        }),
        3 => built!(Forked {
            session: name(),
            from: name(),
            seq: seq(),
            digest: digest()
        }),
        4 => profile(),
        5 => built!(Policy {
            preset: preset(),
            auto: any::<bool>(),
            reactive: any::<bool>(),
            params: some(params())
        }),
        6 => built!(Rendering {
            version: any::<u32>()
        }),
        7 => built!(System { content: content() }),
        8 => built!(Tools { tools: elements() }),
        9..=14 => conversation(kind),
        15..=16 | 20..=26 => folds(kind),
        17 => built!(CacheEdit {
            id: name(),
            calls: few(block_id()),
            baseline: any::<u64>()
        }),
        18 => built!(CacheAck {
            id: name(),
            deleted_tokens: any::<u64>()
        }),
        19 => built!(CacheReset { reason: name() }),
        27..=32 => notes(kind),
        33..=40 => ledger(kind),
        _ => Just(Body::Closed(Closed {})).boxed(),
    }
}

fn conversation(kind: u16) -> BoxedStrategy<Body> {
    match kind {
        9 => message(),
        10 => built!(ToolResult {
            call: some(name()),
            block: some(block_id()),
            status: status(),
            content: content(),
            tool: some(name()),
            child: some(name()),
            bound: some(bound()),
        }),
        12 => built!(Inject {
            slot: name(),
            content: content(),
            lifetime: select(&[Lifetime::Once, Lifetime::Session, Lifetime::Tail][..]),
            supersede: any::<bool>(),
        }),
        13 => built!(Replace {
            blocks: few(block_id()),
            with: content(),
            cause: some(name())
        }),
        _ => built!(Budget {
            judged: few(block_id())
        }),
    }
}

fn folds(kind: u16) -> BoxedStrategy<Body> {
    match kind {
        15 => built!(DeleteRange {
            range: range(),
            cause: some(name()),
            covered: covered()
        }),
        16 => built!(Snip {
            messages: few(seq()),
            cause: some(name()),
            covered: covered()
        }),
        20 => built!(CollapseStage {
            id: name(),
            range: range(),
            summary: name()
        }),
        21 => built!(CollapseCommit {
            id: name(),
            range: some(range()),
            summary: some(name()),
            covered: covered()
        }),
        22 => built!(CollapseDiscard { id: name() }),
        23 => built!(CompactPlan {
            id: name(),
            range: range(),
            trigger: trigger(),
            level: any::<u8>(),
            chunks: few((seq(), seq())),
            instruction: some(name()),
        }),
        24 => built!(CompactChunk {
            id: name(),
            chunk: any::<u32>(),
            text: name()
        }),
        25 => built!(CompactCommit {
            id: some(name()),
            range: range(),
            summary: some(name()),
            before: some(any::<u64>()),
            after: some(any::<u64>()),
            covered: covered(),
            boundary: some(boundary()),
        }),
        _ => built!(CompactAbandon {
            id: name(),
            reason: name()
        }),
    }
}

fn notes(kind: u16) -> BoxedStrategy<Body> {
    match kind {
        27 => built!(FileRead {
            path: name(),
            block: some(block_id()),
            digest: some(digest())
        }),
        28 => built!(Memory {
            id: name(),
            text: name(),
            covers: some((seq(), seq())),
            importance: any::<i64>(),
            scope: select(&[Scope::Session, Scope::User][..]),
        }),
        29 => built!(Todo { items: elements() }),
        30 => built!(Checkpoint {
            label: name(),
            workspace: some(loose())
        }),
        31 => built!(Rollback {
            asked: target(),
            to: some(seq())
        }),
        _ => built!(Undo {
            event: seq(),
            to: some(seq())
        }),
    }
}

fn ledger(kind: u16) -> BoxedStrategy<Body> {
    match kind {
        33 => built!(Counted {
            tokenizer: words(),
            counts: few((block_id(), any::<u64>()))
        }),
        34 => built!(Issued {
            digest: digest(),
            cut: seq(),
            estimate: any::<u64>(),
            params: some(params()),
            wire: wire(),
            rendering: any::<u32>(),
            profile: some(seq()),
            healed: any::<bool>(),
        }),
        35 => built!(Usage {
            request: some(name()),
            issued: some(digest()),
            input: any::<u64>(),
            output: any::<u64>(),
            cache_read: any::<u64>(),
            cache_write_5m: any::<u64>(),
            cache_write_1h: any::<u64>(),
            cache_deleted: some(any::<u64>()),
            raw: some(json_text()),
            repeats: some(seq()),
            compaction: some(name()),
        }),
        36 => built!(Overflow {
            error: loose(),
            actual: some(any::<u64>()),
            limit: some(any::<u64>()),
            kind: select(&[Excess::Tokens, Excess::Bytes, Excess::Images][..]),
            issued: some(digest()),
        }),
        37 => built!(Breaker {
            name: words(),
            state: select(
                &[
                    BreakerState::Counts,
                    BreakerState::Trips,
                    BreakerState::Releases
                ][..]
            ),
            value: any::<u64>(),
        }),
        38 => built!(Erased {
            events: few((seq(), seq())),
            pieces: few(digest())
        }),
        39 => built!(CacheBreak {
            usage: seq(),
            before: any::<u64>(),
            after: any::<u64>(),
            byte: some(any::<u64>()),
            piece: some(block_id()),
            event: some(seq()),
            cause: select(
                &[
                    CacheCause::Unexplained,
                    CacheCause::Expired,
                    CacheCause::Changed
                ][..]
            ),
        }),
        _ => built!(Done {
            action: words(),
            error: some(loose())
        }),
    }
}

/// An event of a newer version. Its time and cause are those that its body begins with.
pub fn newer() -> BoxedStrategy<Event> {
    let kind = prop_oneof![
        (41..ESSENTIAL),
        any::<u16>().prop_map(|kind| kind | ESSENTIAL)
    ];
    let number = prop_oneof![(kind, any::<u16>()), (0..41_u16, 2..9_u16)];
    let found = prop_oneof![
        6 => (any::<[u8; 16]>(), vec(any::<u8>(), 0..9)).prop_map(|(salt, bytes)| Found::Here { salt, bytes: Arc::from(bytes) }),
        1 => Just(Found::Lost),
        1 => Just(Found::Erased),
    ];
    let begin = (millis(), proptest::option::of(seq()));
    (number, begin, vec(any::<u8>(), 0..20), few(found))
        .prop_filter_map("a known kind", |((kind, schema), begin, rest, contents)| {
            let begin = (begin.0, begin.1, None::<Text>);
            let mut body = bincode::encode_to_vec(begin, bincode::config::standard()).ok()?;
            body.extend(rest);
            let event = Event::decode(kind, schema, &body, contents).ok()?;
            matches!(event.body, Body::Newer(_)).then_some(event)
        })
        .boxed()
}

fn words() -> BoxedStrategy<String> {
    ".{0,8}".boxed()
}

fn params() -> BoxedStrategy<Text> {
    held(object().prop_map(|raw| Text::json(&raw)))
}

fn kept() -> BoxedStrategy<Text> {
    let bytes = vec(any::<u8>(), 0..20).prop_map(|bytes| Text::new(Form::Bytes, &bytes));
    let plain = words().prop_map(|words| Text::plain(&words));
    let json = super::json().prop_map(|raw| Text::json(&raw));
    prop_oneof![held(json), held(plain), held(bytes)].boxed()
}

fn preset() -> BoxedStrategy<Preset> {
    select(
        &[
            Preset::Recount,
            Preset::ClaudeCode,
            Preset::FiveLayer,
            Preset::Cline,
            Preset::None,
        ][..],
    )
    .boxed()
}

fn wire() -> BoxedStrategy<Wire> {
    select(
        &[
            Wire::Anthropic,
            Wire::OpenaiChat,
            Wire::OpenaiResponses,
            Wire::Gemini,
        ][..],
    )
    .boxed()
}

fn status() -> BoxedStrategy<Status> {
    use Status::*;
    select(
        &[
            Ok,
            Error,
            Rejected,
            Interrupted,
            Interim,
            NotStarted,
            Unknown,
        ][..],
    )
    .boxed()
}

fn bound() -> BoxedStrategy<Bound> {
    prop_oneof![
        block_id().prop_map(Bound::To),
        block_id().prop_map(Bound::Repeats),
        Just(Bound::Orphan)
    ]
    .boxed()
}

fn range() -> BoxedStrategy<Range> {
    prop_oneof![
        4 => (seq(), seq()).prop_map(|(first, last)| Range::Closed { first, last }),
        1 => seq().prop_map(Range::KeepFrom),
        1 => Just(Range::Marker),
    ]
    .boxed()
}

fn trigger() -> BoxedStrategy<Trigger> {
    select(&[Trigger::Manual, Trigger::Auto, Trigger::Overflow][..]).boxed()
}

fn boundary() -> BoxedStrategy<Boundary> {
    let by = select(&[Maker::Model, Maker::Memory, Maker::Rule, Maker::Host][..]);
    let numbers = (any::<u8>(), any::<u64>(), any::<u64>());
    (trigger(), by, numbers, some((seq(), seq())))
        .prop_map(|(trigger, by, (level, messages, millis), kept)| Boundary {
            trigger,
            level,
            by,
            messages,
            millis,
            kept,
        })
        .boxed()
}

fn covered() -> BoxedStrategy<Covered> {
    // Steps of 0 make runs that touch.
    let steps = prop_oneof![4 => 1..4_u64, 1 => Just(0)];
    let tidy = vec((steps, 0..4_u64), 0..4).prop_map(|steps| {
        let mut next = 0_u64;
        let run = |(gap, length): (u64, u64)| {
            let first = next.saturating_add(gap);
            let last = first.saturating_add(length);
            next = last.saturating_add(1);
            (crate::Seq(first), crate::Seq(last))
        };
        steps.into_iter().map(run).collect::<Vec<_>>()
    });
    prop_oneof![4 => tidy, 1 => few((seq(), seq()))]
        .prop_map(Covered)
        .boxed()
}

fn target() -> BoxedStrategy<Target> {
    prop_oneof![
        seq().prop_map(Target::Seq),
        millis().prop_map(Target::Time),
        name().prop_map(Target::Checkpoint),
        any::<u64>().prop_map(Target::Turns),
    ]
    .boxed()
}

fn message() -> BoxedStrategy<Body> {
    use Stop::*;
    const STOPS: [Stop; 7] = [
        EndTurn,
        ToolUse,
        MaxTokens,
        PauseTurn,
        Refusal,
        Interrupted,
        WindowExceeded,
    ];
    let call = (0..5_u32, any::<bool>()).prop_map(|(index, as_given)| CallMark { index, as_given });
    let result = (0..5_u32, bound()).prop_map(|(index, bound)| ResultMark { index, bound });
    built!(Message {
        role: select(&[Role::User, Role::Assistant, Role::System][..]),
        content: message_content(),
        response: some(name()),
        issued: some(digest()),
        model: some(name()),
        issuer: some(name()),
        stop: some(select(&STOPS[..])),
        authored: some(any::<bool>()),
        joins: some(seq()),
        calls: few(call),
        results: few(result),
    })
}

fn profile() -> BoxedStrategy<Body> {
    let keeps = select(&[Keeps::All, Keeps::Last, Keeps::None][..]);
    let thinking = (any::<bool>(), keeps).prop_map(|(binds, keeps)| Thinking { binds, keeps });
    let names = (name(), name(), wire(), some(params()), some(params()));
    let limits = (any::<[u64; 5]>(), any::<[u32; 2]>());
    let flags = (any::<[bool; 3]>(), thinking);
    type Limits = ([u64; 5], [u32; 2]);
    type Flags = ([bool; 3], Thinking);
    let build = |(names, limits, flags): (_, Limits, Flags)| {
        let (provider, model, wire, params, headers) = names;
        let [
            window,
            max_output,
            overhead_tokens,
            body_bytes,
            images_bytes,
        ] = limits.0;
        let [images_count, images_pixels] = limits.1;
        let [prefill, system_role, cache_edits] = flags.0;
        let thinking = flags.1;
        Body::Profile(Profile {
            provider,
            model,
            wire,
            window,
            max_output,
            overhead_tokens,
            body_bytes,
            images_count,
            images_bytes,
            images_pixels,
            prefill,
            thinking,
            system_role,
            cache_edits,
            params,
            headers,
        })
    };
    (names, limits, flags).prop_map(build).boxed()
}
