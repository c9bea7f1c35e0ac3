//! Words, ids and names that hosts really send, and those that break things.

use super::dice::Dice;

/// Stands for a lone surrogate.
pub(super) const WILD: char = '\u{fdd0}';

/// Something said; blank ones, control characters, separators and broken text among them.
pub(super) fn words(dice: &mut Dice) -> String {
    let plain = [
        "ok",
        "please read it",
        "done",
        "日本語のテキスト",
        "caf\u{e9} \u{1f600}",
        "<b>&\"'</b>",
    ];
    let odd = [
        "",
        " ",
        "\n\t",
        "\u{2028}",
        "a\u{2028}b",
        "a\0b",
        "line\r\nline",
        "ends in space ",
        "\u{85}",
        "\u{a0}",
        "\u{feff}x",
        "\u{200b}",
    ];
    match dice.below(20) {
        0 => odd
            .get(dice.below(odd.len()))
            .copied()
            .unwrap_or("")
            .to_owned(),
        1 => format!("half {WILD} here"),
        2 => "long ".repeat(dice.below(200)),
        _ => format!(
            "{} {}",
            dice.one(&plain).copied().unwrap_or("x"),
            dice.below(1_000)
        ),
    }
}

/// Words that are safe as names.
pub(super) fn label(dice: &mut Dice) -> &'static str {
    dice.one(&["start", "before", "label three"])
        .copied()
        .unwrap_or("start")
}

/// A call's id: mostly fresh, else reused, empty, foreign, too long or made-up.
pub(super) fn call_id(dice: &mut Dice, fresh: usize) -> String {
    let odd = [
        "",
        "call_0",
        "call_0",
        "t1",
        "functions.read:0",
        "call_3_0",
        "caf\u{e9}",
        "a b",
        "x\0y",
    ];
    match dice.below(10) {
        0..=2 => odd
            .get(dice.below(odd.len()))
            .copied()
            .unwrap_or("")
            .to_owned(),
        3 if dice.percent(30) => format!("bad{WILD}"),
        3 if dice.percent(50) => "x".repeat(40 + dice.below(2)),
        _ => format!("toolu_{fresh}_{}", dice.below(1_000)),
    }
}

/// A tool's name.
pub(super) fn tool_name(dice: &mut Dice) -> String {
    let names = [
        "read",
        "read",
        "write",
        "grep",
        "mcp__x__y",
        "a b",
        "",
        "na\u{ef}ve",
        "dots.in:it",
    ];
    match dice.below(30) {
        0 => "n".repeat(60 + dice.below(80)),
        _ => dice.one(&names).copied().unwrap_or("read").to_owned(),
    }
}
