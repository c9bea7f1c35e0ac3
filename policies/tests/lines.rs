//! A1, T2: the lines that a policy draws, and how full they say the window is.

use recount_events::{Body, Event, Millis, Preset, Profile};
use recount_policies::{Constants, Level, Thresholds};

#[allow(clippy::panic, reason = "a test says so by failing")]
fn profile(window: u64, max_output: u64) -> Profile {
    let json = format!(
        r#"{{"type":"profile","provider":"anthropic","model":"m","window":{window},"max_output":{max_output}}}"#
    );
    match Event::from_json(&json, Millis(0)).map(|event| event.body) {
        Ok(Body::Profile(profile)) => profile,
        other => panic!("{other:?}"),
    }
}

fn lines(preset: Preset, window: u64, max_output: u64) -> Thresholds {
    let constants = Constants::of(preset);
    Thresholds::of(&constants.compact, &profile(window, max_output), None)
}

#[test]
fn a1_claude_code_in_a_window_of_200_000() {
    let lines = lines(Preset::ClaudeCode, 200_000, 64_000);
    assert_eq!(lines.effective, 180_000);
    assert_eq!(lines.trigger, 167_000);
    assert_eq!((lines.warning, lines.error), (147_000, 147_000));
    assert_eq!(lines.blocking, 177_000);
    // A smaller answer leaves more.
    assert_eq!(
        self::lines(Preset::ClaudeCode, 200_000, 8_000).effective,
        192_000
    );
}

#[test]
fn a1_five_layer_has_a_limit_of_its_own() {
    let lines = lines(Preset::FiveLayer, 200_000, 64_000);
    assert_eq!((lines.effective, lines.trigger), (25_000, 12_000));
}

#[test]
fn a1_a_small_window_leaves_room_to_work_and_is_not_warned_of_at_once() {
    for window in [2_000, 8_000, 32_000, 64_000] {
        let lines = lines(Preset::ClaudeCode, window, 16_000);
        assert!(lines.trigger >= lines.effective / 2, "{lines:?}");
        assert!(lines.warning >= lines.trigger / 4 * 3, "{lines:?}");
        assert!(lines.warning <= lines.trigger && lines.trigger <= lines.blocking);
        assert!(lines.blocking <= lines.effective);
    }
}

#[test]
fn a1_what_the_provider_was_seen_to_allow_is_the_window() {
    let constants = Constants::of(Preset::ClaudeCode);
    let profile = profile(200_000, 64_000);
    let seen = Thresholds::of(&constants.compact, &profile, Some(100_000));
    assert_eq!(seen.effective, 80_000);
    let larger = Thresholds::of(&constants.compact, &profile, Some(300_000));
    assert_eq!(larger.effective, 180_000);
}

#[test]
fn t2_levels_at_their_lines_and_one_below() {
    let lines = Thresholds {
        effective: 1_000,
        trigger: 800,
        warning: 600,
        error: 700,
        blocking: 900,
    };
    for (tokens, level) in [
        (599, Level::Normal),
        (600, Level::Warning),
        (699, Level::Warning),
        (700, Level::Error),
        (5_000, Level::Error),
    ] {
        assert_eq!(lines.level(tokens, true), level, "{tokens}");
    }
    assert_eq!(lines.level(899, false), Level::Error);
    assert_eq!(lines.level(900, false), Level::Blocked);
    assert_eq!(Level::Blocked.name(), "blocked");
}
