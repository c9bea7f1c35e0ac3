//! Evidence: what a directory's sessions ended in, as a small file to be kept elsewhere. The format is `FORMAT-HEADS.md`.
//!
//! - A file that was cut or altered is refused with its line: evidence in doubt is none.
//! - An archive of a session is evidence too, for what it holds.

use crate::{Error, ErrorKind, api};
use recount_transcripts::archive;
use recount_wal::RecordDigest;
use serde::Deserialize;

/// The version that is written, and the newest that is read.
const VERSION: u64 = 1;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct First {
    recount_heads: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Last {
    recount_heads_end: u64,
    count: u64,
    digest: String,
}

/// The file of heads.
#[must_use]
pub fn write(report: &api::HeadsReport) -> String {
    let mut text = format!("{{\"recount_heads\":{VERSION}}}\n");
    for head in &report.heads {
        // A struct of a string, a number and a string has a JSON form.
        text += &serde_json::to_string(head).unwrap_or_default();
        text.push('\n');
    }
    let digest = blake3::hash(text.as_bytes()).to_hex();
    text + &format!(
        "{{\"recount_heads_end\":{VERSION},\"count\":{},\"digest\":\"{digest}\"}}\n",
        report.heads.len()
    )
}

/// What a file of heads or an archive says that sessions held.
///
/// # Errors
/// `damaged` for a file that was cut or altered, `newer`, `invalid` for anything else.
pub fn read(bytes: &[u8]) -> Result<Vec<api::Head>, Error> {
    let first = bytes
        .split(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    match serde_json::from_slice::<First>(first) {
        Ok(first) if first.recount_heads > VERSION => Err(Error::new(
            ErrorKind::Newer,
            format!(
                "heads of a newer version; version={} known={VERSION}",
                first.recount_heads
            ),
        )),
        Ok(_) => heads(bytes),
        Err(_) => archived(bytes),
    }
}

fn heads(bytes: &[u8]) -> Result<Vec<api::Head>, Error> {
    let text = bytes
        .strip_suffix(b"\n")
        .ok_or_else(|| damaged("its last line has no end"))?;
    let at = text
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    let (body, last) = bytes.split_at(at);
    let last: Last =
        serde_json::from_slice(last).map_err(|_| damaged("its last line is missing or altered"))?;
    if last.recount_heads_end != VERSION || blake3::hash(body).to_hex().as_str() != last.digest {
        return Err(damaged("its digest does not hold"));
    }
    let lines = body.split(|byte| *byte == b'\n').skip(1);
    let heads: Result<Vec<api::Head>, Error> = lines
        .filter(|line| !line.is_empty())
        .zip(2_u64..)
        .map(|(line, number)| {
            serde_json::from_slice(line).map_err(|_| damaged(&format!("no head; line={number}")))
        })
        .collect();
    heads.and_then(|heads| {
        if heads.len() as u64 == last.count {
            Ok(heads)
        } else {
            Err(damaged("lines are missing"))
        }
    })
}

/// What archives hold: of each session the last record, and some before it, ever farther apart, so that a comparison can
/// say up to where two histories agree.
fn archived(bytes: &[u8]) -> Result<Vec<api::Head>, Error> {
    let archive = archive::read(bytes).map_err(|_| {
        Error::invalid("neither heads of sessions nor an archive")
            .with_next("give a file that `verify --heads` or `export` wrote")
    })?;
    if let Some(damage) = archive.report.damaged.first() {
        return Err(damaged(&format!(
            "a line cannot be read; line={}",
            damage.line
        )));
    }
    let mut heads = Vec::new();
    for session in &archive.sessions {
        let mut previous: Option<RecordDigest> = None;
        for archived in &session.entries {
            let entry = &archived.entry;
            let digest = RecordDigest(entry.digest.0);
            let right = previous.is_none_or(|previous| {
                RecordDigest::of(previous, entry.seq.0, entry.kind, entry.schema, &entry.body)
                    == digest
            });
            if !right {
                return Err(damaged(&format!(
                    "a digest does not hold; line={}",
                    archived.source.line
                )));
            }
            previous = Some(digest);
        }
        let count = session.entries.len();
        let steps = std::iter::successors(Some(1_usize), |step| step.checked_mul(2));
        for entry in steps.map_while(|step| session.entries.get(count.checked_sub(step)?)) {
            heads.push(api::Head {
                session: session.header.session.clone(),
                head: entry.entry.seq.0,
                digest: entry.entry.digest.to_string(),
            });
        }
    }
    Ok(heads)
}

fn damaged(what: &str) -> Error {
    Error::new(
        ErrorKind::Damaged,
        format!("the evidence is itself damaged: {what}"),
    )
    .with_next("use another copy of it")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> api::HeadsReport {
        let head = api::Head {
            session: "talk".to_owned(),
            head: 7,
            digest: "01".repeat(32),
        };
        api::HeadsReport { heads: vec![head] }
    }

    #[test]
    fn the_document_and_the_code_say_the_same() {
        let document = include_str!("../FORMAT-HEADS.md");
        let example: String = document
            .lines()
            .filter_map(|line| line.strip_prefix("    "))
            .filter(|line| line.starts_with('{'))
            .map(|line| format!("{line}\n"))
            .collect();
        assert_eq!(write(&report()), example);
        assert_eq!(read(example.as_bytes()).unwrap(), report().heads);
    }

    #[test]
    fn evidence_that_was_cut_or_altered_is_refused() {
        let whole = write(&report()).into_bytes();
        for end in 0..whole.len() {
            assert!(read(&whole[..end]).is_err(), "cut at {end}");
        }
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut altered = whole.clone();
                altered[at] ^= 1 << bit;
                // A digest in other letters, or white space in the last line, says the same.
                let said = read(&altered);
                assert!(
                    said.is_err() || said.unwrap() == report().heads,
                    "byte {at} bit {bit}"
                );
            }
        }
    }

    #[test]
    fn what_is_no_evidence_is_refused() {
        for junk in [
            &b""[..],
            b"{}",
            b"\n",
            b"\xff\xfe",
            b"{\"recount_heads\":2}\n",
        ] {
            assert!(read(junk).is_err());
        }
        assert_eq!(
            read(b"{\"recount_heads\":9}\n").unwrap_err().kind(),
            ErrorKind::Newer
        );
    }
}
