//! A person's words as Cline shows them: what names the beginning of a session is taken from these.
//!
//! The rules (Cline SDK, `formatDisplayUserInput`, Apache-2.0), in the three versions that there are: the newer ones leave out notices.

/// Which notices are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Version(&'static [&'static str]);

impl Version {
    /// All, the newest first.
    pub(super) const ALL: [Self; 3] = [
        Self(&["mode_notice", "environment_notice"]),
        Self(&["mode_notice"]),
        Self(&[]),
    ];
}

/// What is shown of words.
pub(super) fn shown(words: &str, version: Version) -> String {
    let mut plain = normal(words);
    for tag in version.0 {
        plain = without_element(&plain, tag);
    }
    if !version.0.is_empty() {
        plain = trim(&plain).to_owned();
    }
    let Some(slash) = command(words) else {
        return plain;
    };
    if slash.to_lowercase() == "team" {
        const PREFIX: &str = "spawn a team of agents for the following task:";
        let start = plain
            .get(..PREFIX.len())
            .filter(|start| start.to_lowercase() == PREFIX);
        let task = match start {
            Some(_) => trim(plain.get(PREFIX.len()..).unwrap_or_default()),
            None => plain.as_str(),
        };
        return if task.is_empty() {
            "/team".to_owned()
        } else {
            format!("/team {task}")
        };
    }
    if plain.is_empty() {
        format!("/{slash}")
    } else {
        format!("/{slash} {plain}")
    }
}

/// White space as a script trims it.
fn trim(text: &str) -> &str {
    text.trim_matches(|letter: char| {
        letter.is_whitespace() && letter != '\u{85}' || letter == '\u{feff}'
    })
}

/// The words without the tags around them.
fn normal(words: &str) -> String {
    let mut next = trim(words).to_owned();
    for tag in ["user_input", "user_command"] {
        let inside = without_pairs(&next, tag);
        let bare = if inside == next {
            without_openers(&next, tag)
        } else {
            inside
        };
        next = trim(&bare).to_owned();
    }
    next
}

/// Where an opening tag stands at or behind a place: its start, the start of its attributes, its end.
fn opener(text: &str, tag: &str, whole: bool, from: usize) -> Option<(usize, usize, usize)> {
    let mark = format!("<{tag}");
    let mut at = from;
    loop {
        let start = at + text.get(at..)?.find(&mark)?;
        let inside = start + mark.len();
        let rest = text.get(inside..)?;
        let bounded = rest
            .chars()
            .next()
            .is_none_or(|letter| !(letter.is_ascii_alphanumeric() || letter == '_'));
        if bounded || !whole {
            return Some((start, inside, inside + rest.find('>')? + 1));
        }
        at = inside;
    }
}

/// Pairs of a tag give way to what stands between them.
fn without_pairs(text: &str, tag: &str) -> String {
    let close = format!("</{tag}>");
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some((start, _, end)) = opener(text, tag, true, at) {
        let Some(length) = text.get(end..).and_then(|rest| rest.find(&close)) else {
            break;
        };
        out.push_str(text.get(at..start).unwrap_or_default());
        out.push_str(text.get(end..end + length).unwrap_or_default());
        at = end + length + close.len();
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

/// Opening tags are left out.
fn without_openers(text: &str, tag: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some((start, _, end)) = opener(text, tag, false, at) {
        out.push_str(text.get(at..start).unwrap_or_default());
        at = end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

/// Elements of a tag are left out with what they hold.
fn without_element(text: &str, tag: &str) -> String {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    let mut out = text.to_owned();
    let mut from = 0;
    while let Some(start) = out
        .get(from..)
        .and_then(|rest| rest.find(&open))
        .map(|at| at + from)
    {
        let inside = start + open.len();
        let Some(end) = out
            .get(inside..)
            .and_then(|rest| rest.find(&close))
            .map(|at| at + inside)
        else {
            break;
        };
        out.replace_range(start..end + close.len(), "");
        from = start;
    }
    out
}

/// The name of the command that the words are, as a whole.
fn command(words: &str) -> Option<String> {
    const TAG: &str = "<user_command";
    let text = trim(words);
    let lower = text.to_ascii_lowercase();
    let rest = lower.strip_prefix(TAG)?;
    if rest.starts_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '_')
        || !lower.ends_with("</user_command>")
    {
        return None;
    }
    let end = rest.find('>')?;
    if TAG.len() + end + 1 > lower.len().saturating_sub("</user_command>".len()) {
        return None;
    }
    let attributes = text.get(TAG.len()..TAG.len() + end)?;
    let at = attributes.to_ascii_lowercase().find("slash=\"")? + "slash=\"".len();
    let value = attributes.get(at..)?;
    let value = trim(value.get(..value.find('"')?)?);
    (!value.is_empty()).then(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Version, shown};

    #[test]
    fn words_are_shown_without_their_tags() {
        let [newest, mode, oldest] = Version::ALL;
        assert_eq!(
            shown(" <user_input mode=\"act\">fix it</user_input> ", newest),
            "fix it"
        );
        assert_eq!(shown("<user_input>half", newest), "half");
        assert_eq!(
            shown("<user_inputs>other</user_inputs>", newest),
            "other</user_inputs>"
        );
        assert_eq!(
            shown("<user_command slash=\"compact\">now</user_command>", newest),
            "/compact now"
        );
        assert_eq!(
            shown(
                "<user_command slash=\"team\">Spawn a team of agents for the following task: x</user_command>",
                newest
            ),
            "/team x"
        );
        let noted = "a<mode_notice>b</mode_notice><environment_notice>c</environment_notice>d";
        assert_eq!(shown(noted, newest), "ad");
        assert_eq!(
            shown(noted, mode),
            "a<environment_notice>c</environment_notice>d"
        );
        assert_eq!(shown(noted, oldest), noted);
    }
}
