//! What must hold of a prompt, whatever it was made of.

use crate::validator::{Facts, Violation, validate};
use recount_events::{Keeps, Profile, Text, Thinking, Wire};
use recount_projections::render::ByBytes;
use recount_projections::{Budget, Misfit, Outcome, Projection, Request, Shown, State, Timeline};

/// The wires that are rendered.
pub(super) const WIRES: [Wire; 2] = [Wire::Anthropic, Wire::OpenaiChat];

/// A profile that allows much, for logs that have none.
pub(super) fn plain() -> Profile {
    Profile {
        provider: Text::plain("anthropic"),
        model: Text::plain("m"),
        wire: Wire::Anthropic,
        window: 1_000_000,
        max_output: 1_000,
        overhead_tokens: 0,
        body_bytes: 0,
        images_count: 0,
        images_bytes: 0,
        images_pixels: 0,
        prefill: false,
        thinking: Thinking {
            binds: false,
            keeps: Keeps::All,
        },
        system_role: false,
        cache_edits: false,
        params: None,
        headers: None,
    }
}

/// The profile in force.
pub(super) fn profile_of(timeline: &Timeline) -> Profile {
    let logged = timeline.header.profile.as_ref();
    match logged.map(|logged| &logged.event.body) {
        Some(recount_events::Body::Profile(profile)) => profile.clone(),
        _ => plain(),
    }
}

/// A request for a timeline's prompt.
pub(super) fn request<'a>(
    timeline: &'a Timeline,
    profile: &'a Profile,
    wire: Wire,
    heal: bool,
) -> Request<'a> {
    Request {
        timeline,
        profile,
        wire,
        heal,
        counts: &ByBytes,
        budget: Budget::default(),
    }
}

/// The prompt on each wire, healed and not: it is there, adds up, and is accepted when it says that it can be sent.
pub(super) fn is_promised(timeline: &Timeline) {
    let profile = profile_of(timeline);
    for wire in WIRES {
        for heal in [false, true] {
            let projection = recount_projections::project(&request(timeline, &profile, wire, heal));
            adds_up(&projection);
            if projection.outcome == Outcome::Ready {
                is_accepted(&projection, timeline, &profile, wire);
            }
            assert!(
                !(heal && matches!(projection.outcome, Outcome::WaitingResults { .. })),
                "a healed prompt waits for no result"
            );
        }
    }
}

fn adds_up(projection: &Projection) {
    let body = projection.body();
    assert_eq!(body.len() as u64, projection.bytes, "bytes as stated");
    let text = str::from_utf8(&body).expect("a body is UTF-8");
    assert!(recount_events::raw::is_json(text), "a body is JSON: {text}");
    let tokens: u64 = projection.pieces.iter().map(|piece| piece.tokens).sum();
    assert_eq!(tokens, projection.tokens, "tokens are those of the pieces");
    assert_eq!(
        projection.by.total(),
        projection.tokens,
        "and those of the categories"
    );
}

/// What the host alone answers for: whom it asks, with which parameters, and where its pictures are.
const HOSTS: [&str; 3] = ["model", "thinking-config", "image-url"];

/// Objects whose members are written one by one, by their paths without places.
const WRITTEN: [&str; 11] = [
    "",
    ".system",
    ".tools",
    ".tools.function",
    ".messages",
    ".messages.content",
    ".messages.content.source",
    ".messages.content.content",
    ".messages.content.content.source",
    ".messages.tool_calls",
    ".messages.tool_calls.function",
];

/// A path without places in lists.
fn shape(path: &str) -> String {
    let place = |letter: &char| !matches!(letter, '[' | ']') && !letter.is_ascii_digit();
    path.chars().filter(place).collect()
}

fn is_accepted(projection: &Projection, timeline: &Timeline, profile: &Profile, wire: Wire) {
    let facts = Facts {
        prefill: profile.prefill,
        system_role: profile.system_role,
        thinking_first: false,
        tools_with_calls: false,
        cache_edits: profile.cache_edits,
        body_bytes: profile.body_bytes,
        images_count: profile.images_count,
        images_bytes: profile.images_bytes,
        images_pixels: profile.images_pixels,
    };
    let wire = match wire {
        Wire::Anthropic => crate::validator::Wire::Anthropic,
        _ => crate::validator::Wire::Chat,
    };
    let body = projection.body();
    let returns = issued_by(timeline, profile);
    let counts = |violation: &Violation| match violation.rule {
        // Of a kind that is not known only its issuer can judge; it goes back to it whole.
        "block-kind" => !returns,
        // Larger than this reader's numbers, and JSON all the same.
        "json" => !violation.text.contains("number out of range"),
        // Values go through byte for byte, with whatever keys they have; those around them are written here.
        "duplicate-key" => WRITTEN.contains(&shape(&violation.path).as_str()),
        rule => !HOSTS.contains(&rule),
    };
    let refused: Vec<Violation> = validate(wire, &body, &facts)
        .into_iter()
        .filter(counts)
        .collect();
    assert!(
        refused.is_empty(),
        "{wire:?} refuses a ready request: {refused:?}\n{}",
        String::from_utf8_lossy(&body)
    );
}

/// Something that is shown was issued by the one who is asked.
fn issued_by(timeline: &Timeline, profile: &Profile) -> bool {
    timeline.shown.values().any(|shown| match shown {
        Shown::Unit(unit) => unit.parts.iter().any(|part| {
            let issuer = part.message().and_then(|said| said.issuer.as_ref());
            issuer.is_some_and(|issuer| issuer.bytes() == profile.provider.bytes())
        }),
        _ => false,
    })
}

/// Two states show the same to everybody, now.
pub(super) fn show_the_same(one: &State, other: &State) {
    assert_eq!(one.head(), other.head());
    shows_the_same(one.timeline(), other.timeline());
}

/// Two timelines show the same on every wire, entry by entry.
pub(super) fn shows_the_same(one: &Timeline, other: &Timeline) {
    let keys = |timeline: &Timeline| timeline.shown.keys().copied().collect::<Vec<_>>();
    assert_eq!(keys(one), keys(other), "the same entries");
    let (profile, same) = (profile_of(one), profile_of(other));
    assert_eq!(profile, same, "the same profile");
    for wire in WIRES {
        let [one, other] = [one, other].map(|timeline| {
            let projection = recount_projections::project(&request(timeline, &profile, wire, true));
            (String::from_utf8(projection.body()), projection.digest)
        });
        assert_eq!(one, other, "the same bytes on {wire:?}");
    }
}

/// A refusal has words that a caller can read.
pub(super) fn is_said(misfit: &Misfit) {
    assert!(!misfit.to_string().is_empty());
}
