//! Where texts are cut.

use crate::common::Quarter;
use recount_policies::cut;

const FAMILY: &str = "👩‍👩‍👧‍👦";

#[test]
fn b7_a_cut_never_lies_within_a_cluster() {
    for text in [FAMILY, "e\u{301}", "🇩🇪🇫🇷", "\r\n", "각"] {
        let padded = format!("ab{text}yz");
        for byte in 0..=padded.len() {
            let (before, after) = (cut::before(&padded, byte), cut::after(&padded, byte));
            assert!(before <= byte && byte <= after, "{text:?} {byte}");
            for border in [before, after] {
                let inside = border > 2 && border < 2 + text.len();
                assert!(
                    !inside || text == "🇩🇪🇫🇷" && border == 10,
                    "{text:?} {byte}: {border}"
                );
            }
        }
    }
}

#[test]
fn b7_a_long_row_of_flags_is_cut_between_flags() {
    let flags = "🇩🇪".repeat(500);
    for byte in [1, 7, 8, 1_001, 2_996, 3_999] {
        assert_eq!(cut::before(&flags, byte) % 8, 0);
        assert_eq!(cut::after(&flags, byte) % 8, 0);
    }
}

#[test]
fn b7_an_endless_cluster_is_cut_all_the_same() {
    let text = format!("a{}", "\u{301}".repeat(10_000));
    let end = cut::before(&text, 10_001);
    assert!(end > 9_000 && text.is_char_boundary(end));
}

#[test]
fn b1_a_preview_ends_at_a_line_when_one_is_near() {
    assert_eq!(cut::at_line("aaaa\nbbbb", 7), 4);
    assert_eq!(
        cut::at_line("a\nbbbbbbbbb", 7),
        7,
        "a line break in the first half is too far"
    );
    assert_eq!(cut::at_line("aaaa\nbbbb", 9), 9, "all of it");
    assert_eq!(cut::at_line("äöü", 3), 2);
}

#[test]
fn b1_units_count_as_javascript_does() {
    assert_eq!(cut::units("aé世😀"), 5);
    assert_eq!(cut::head_of_units("a😀b", 2), "a");
    assert_eq!(cut::head_of_units("a😀b", 3), "a😀");
    assert_eq!(cut::tail_of_units("a😀b", 2), "b");
    assert_eq!(cut::tail_of_units("a😀b", 3), "😀b");
    assert_eq!(cut::tail_of_units("ab", 9), "ab");
    assert_eq!(cut::head_of_units("ab", 0), "");
}

#[test]
fn b7_ends_by_tokens_keep_what_fits() {
    let text = "x".repeat(1_000);
    let head = cut::head_of_tokens(&text, 60, &Quarter);
    assert!((237..=240).contains(&head.len()), "{}", head.len());
    let tail = cut::tail_of_tokens(&text, 20, &Quarter);
    assert!((77..=80).contains(&tail.len()), "{}", tail.len());
    assert_eq!(cut::head_of_tokens(&text, 250, &Quarter), text);
    assert_eq!(cut::head_of_tokens(&text, 0, &Quarter), "");
    assert_eq!(cut::head_of_tokens("", 5, &Quarter), "");
}

#[test]
fn b1_sizes_for_people() {
    let sizes = [999, 1_000, 2_000, 51_200, 1_048_575, 1_048_576, 33_554_432].map(cut::human);
    assert_eq!(
        sizes,
        [
            "999 bytes",
            "1.0 KB",
            "2.0 KB",
            "50.0 KB",
            "1.0 MB",
            "1.0 MB",
            "32.0 MB"
        ]
    );
    assert_eq!(cut::grouped(0), "0");
    assert_eq!(cut::grouped(1_234_567), "1,234,567");
}
