//! The same as one replacement after the other, and how much is looked at for it.

use super::*;
use crate::header::tagged;
use alloc::format;
use alloc::string::String;
use proptest::prelude::*;

/// One after the other, in the text itself: what the module has to come to.
fn plainly(text: &Text, swaps: &[Swap]) -> Text {
    swaps.iter().fold(text.clone(), |text, swap| {
        text.replace_first(&swap.search, &swap.replacement)
    })
}

/// The mentions of a text, each with the notice in its place.
fn swaps_of(text: &Text) -> Vec<Swap> {
    let files = tagged(text, "file_content").into_iter();
    files
        .map(|file| {
            let units = text.units();
            Swap {
                search: Text::from(&units[file.start..file.end]),
                replacement: Text::join(&[
                    &units[file.start..file.inside],
                    &units_of(READ_AGAIN),
                    &units[file.closing..file.end],
                ]),
            }
        })
        .collect()
}

/// Tags whole and in pieces, so that mentions repeat, nest, overlap, run into one another's paths and stay open.
fn piece() -> impl Strategy<Value = String> {
    let plain = [
        "<file_content path=\"",
        "<file_content path=\"a\">",
        "<file_content path=\"b\">",
        "<file_content path=\"\">",
        "\">",
        "\"",
        ">",
        "<",
        "</file_content>",
        "</file_content>",
        "</file_content",
        "a",
        "\u{1f980}",
        READ_AGAIN,
        "<file_content path=\"a\">x</file_content>",
        "<file_content path=\"b\">x</file_content>",
        "<file_content path=\"a\"><file_content path=\"b\">x</file_content>",
        "<file_content path=\"b</file_content>c\">x</file_content>",
        "<file_content path=\"<file_content path=\">x</file_content>",
        "<file_content path=\"a$1\">x</file_content>",
    ];
    let notice = format!("<file_content path=\"a\">{READ_AGAIN}</file_content>");
    let nested = format!("<file_content path=\"b\">{notice}");
    let mut pieces: Vec<String> = plain.iter().map(|piece| String::from(*piece)).collect();
    pieces.extend([notice, nested]);
    prop::sample::select(pieces)
}

fn pattern() -> impl Strategy<Value = String> {
    prop::sample::select(alloc::vec!["$$", "$&", "$$$&"])
        .prop_map(|path| format!("<file_content path=\"{path}\">x</file_content>"))
}

fn text(pieces: &[String]) -> Text {
    Text::from(pieces.concat().as_str())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn the_same_as_one_after_the_other(
        searched in prop::collection::vec(piece(), 0..40),
        more in prop::collection::vec(piece(), 0..40),
        same in any::<bool>(),
        order in any::<prop::sample::Index>(),
    ) {
        let searched = text(&searched);
        let mut swaps = swaps_of(&searched);
        // An earlier update's text is another one than that in which mentions are found.
        let text = if same { searched } else { Text::join(&[text(&more).units(), searched.units()]) };
        if !swaps.is_empty() {
            let middle = order.index(swaps.len());
            swaps.rotate_left(middle);
        }
        prop_assert_eq!(swap_all(&text, &swaps).text, plainly(&text, &swaps));
        let mut index = Index::of(text.units(), &swaps);
        swaps.iter().for_each(|swap| index.replace(swap));
        prop_assert_eq!(index.text(), plainly(&text, &swaps));
    }

    #[test]
    fn patterns_of_javascript_between_them_are_expanded(
        pieces in prop::collection::vec(prop_oneof![12 => piece(), 1 => pattern()], 0..60),
        last in prop::sample::select(alloc::vec!["", "$'", "$`"]),
    ) {
        let end = format!("<file_content path=\"{last}\">y</file_content>");
        let text = Text::join(&[text(&pieces).units(), &units_of(&end)]);
        let swaps = swaps_of(&text);
        prop_assert_eq!(swap_all(&text, &swaps).text, plainly(&text, &swaps));
    }

    #[test]
    fn a_search_finds_the_first(
        text in prop::collection::vec(0_u16..3, 0..30),
        search in prop::collection::vec(0_u16..3, 1..4),
        from in 0_usize..32,
    ) {
        let rest = text.get(from..).unwrap_or_default();
        let place = rest.windows(search.len()).position(|window| window == search);
        prop_assert_eq!(find(&text, &search, from), place.map(|place| place + from));
    }
}

/// A text of so many mentions, made by their numbers.
fn of_many(mentions: usize, mention: impl Fn(usize) -> String) -> Text {
    let all: String = (0..mentions).map(mention).collect();
    Text::from(all.as_str())
}

#[test]
fn twelve_thousand_mentions_are_looked_at_a_few_times() {
    const MANY: usize = 12_000;
    let other = |number: usize| {
        format!(
            "<file_content path=\"src/{}.rs\">{number}</file_content>\n",
            number % 3_000
        )
    };
    let same = |_| String::from("<file_content path=\"a\">x</file_content>");
    let nested = |number: usize| match number % 2 {
        0 => String::from("<file_content path=\"a\">"),
        _ => format!("<file_content path=\"b\">{}</file_content>", number % 7),
    };
    let over = |_| String::from("<file_content path=\"a</file_content>b\">x</file_content>");
    for text in [
        of_many(MANY, other),
        of_many(MANY, same),
        of_many(MANY, nested),
        of_many(MANY, over),
    ] {
        let swaps = swaps_of(&text);
        assert!(swaps.len() >= MANY / 2);
        let done = swap_all(&text, &swaps);
        let size = text.len() + done.text.len();
        assert!(done.steps <= 8 * size, "{} of {size}", done.steps);
    }
}
