//! Recordings of other hosts: any bytes give events or a refusal; every byte is accounted for, and what came out can be shown.
//!
//! - The bytes are read as every format that there is, and as the one that they look like.

use super::lines::{found, salts};
use super::prompts::is_promised;
use recount_events::{Body, Event, Seq};
use recount_projections::{Gap, replay};
use recount_transcripts::{FormatName, Import, ImportedSession, NoFiles, archive, detect, read};
use std::collections::BTreeSet;

/// Events of a session past this many are read, but not shown: a slow input teaches nothing that a short one does not.
const MOST: usize = 400;

/// Reads a transcript as each format.
pub fn import_transcript(data: &[u8]) {
    let _ = archive::read(data);
    for format in FormatName::ALL {
        let Ok(import) = read(data, Some(format), "s", &NoFiles) else {
            continue;
        };
        assert_eq!(
            read(data, Some(format), "s", &NoFiles).as_ref(),
            Ok(&import),
            "the same bytes, the same events"
        );
        assert_eq!(import.format, format);
        is_accounted_for(data, &import);
        hangs_together(&import);
        import.sessions.iter().for_each(can_be_kept_and_shown);
    }
    if let Some(format) = detect(data) {
        assert!(FormatName::ALL.contains(&format));
    }
}

/// Every byte that is not white space lies in the source of an event; around the items of a list stand its own marks.
fn is_accounted_for(data: &[u8], import: &Import) {
    let mut covered = vec![false; data.len()];
    let own = import
        .sessions
        .iter()
        .filter(|session| session.file.is_none());
    let own = own
        .flat_map(|session| &session.events)
        .filter(|imported| imported.source.file.is_none());
    for imported in own {
        let from = usize::try_from(imported.source.offset).expect("a place in the file");
        let bytes = usize::try_from(imported.source.bytes).expect("a length in the file");
        covered
            .get_mut(from..from + bytes)
            .expect("a source lies in the file")
            .fill(true);
    }
    let own: &[u8] = match import.format {
        FormatName::ClaudeCode => b"",
        _ if data.trim_ascii().starts_with(b"[") => b"[,]",
        // An object around the messages is kept by its members.
        _ => return,
    };
    let start = if data.starts_with(b"\xef\xbb\xbf") {
        3
    } else {
        0
    };
    let bare = |byte: u8| byte.is_ascii_whitespace() || own.contains(&byte);
    let lost = (start..data.len()).find(|at| !covered[*at] && !bare(data[*at]));
    assert_eq!(
        lost, None,
        "a byte that no event accounts for ({})",
        import.format
    );
}

/// Names are unique, sessions begin with their opening, parents come before their children.
pub(super) fn hangs_together(import: &Import) {
    let mut names = BTreeSet::new();
    for session in &import.sessions {
        assert!(
            matches!(
                session.events.first().map(|first| &first.event.body),
                Some(Body::Opened(_))
            ),
            "a session begins with its opening"
        );
        if let Some((parent, _)) = &session.parent {
            // The parent of a task of Roo is a task of its own.
            let beside = import.format == FormatName::RooTask && *parent != session.name;
            assert!(beside || names.contains(parent), "parents before children");
        }
        assert!(names.insert(session.name.clone()), "names are unique");
    }
}

/// The events can be stored, read back and folded, and their prompt is one that a provider takes.
pub(super) fn can_be_kept_and_shown(session: &ImportedSession) {
    let mut salts = salts();
    let mut log = Vec::new();
    for imported in session.events.iter().take(MOST) {
        let mut event = imported.event.clone();
        event.seal(&mut salts);
        let encoded = event.encode().expect("an imported event can be stored");
        let contents = found(&event, &encoded);
        let back = Event::decode(encoded.kind, encoded.schema, &encoded.body, contents);
        assert_eq!(back.as_ref(), Ok(&event), "and is read back as it was");
        log.push(Ok::<Event, Gap>(event));
    }
    let most = log.len() as u64;
    let state = replay(log.into_iter());
    assert_eq!(state.head().map(Seq::next), Some(Seq(most)));
    is_promised(state.timeline());
}
