//! A file was read again and had not changed.

use super::exchange::changes;
use super::index::{Told, Zombie};
use super::scene::{Exchange, Scene};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use recount_events::Digest;

/// Names of tools that read a file, in small letters.
const READS: [&str; 6] = [
    "read",
    "read_file",
    "readfile",
    "view",
    "view_file",
    "open_file",
];

/// The tool reads a file.
pub(super) fn is_read(tool: &str) -> bool {
    let tool = tool.to_ascii_lowercase();
    READS.contains(&tool.as_str())
}

/// A read of a file, or of a part of it.
struct Read<'s, 'a> {
    exchange: &'s Exchange<'a>,
    path: String,
    /// All that was asked for, the part included.
    arguments: BTreeMap<String, String>,
    digest: Option<Digest>,
}

/// Of exchanges that may be the same, in the order of the prompt: reads that a later one makes superfluous. Same file, same part, the
/// same content (or the same digest by the host's `file_read`), and no call in between that changes the file.
pub(super) fn superseded(scene: &Scene<'_>, same: &[Exchange<'_>], told: &Told) -> Vec<Zombie> {
    let mut zombies = Vec::new();
    let mut kept: Vec<Read<'_, '_>> = Vec::new();
    for exchange in same.iter().rev() {
        let Some(read) = read(exchange, told) else {
            continue;
        };
        if kept.iter().any(|later| supersedes(scene, later, &read)) {
            zombies.push((exchange.key, exchange.call.block));
        } else {
            kept.push(read);
        }
    }
    zombies
}

fn read<'s, 'a>(exchange: &'s Exchange<'a>, told: &Told) -> Option<Read<'s, 'a>> {
    let tool = exchange.tool();
    let told = told.get(&exchange.answer.block);
    if changes(&tool) || !(is_read(&tool) || told.is_some()) {
        return None;
    }
    let arguments = exchange.arguments();
    let named = crate::reading::path(&arguments);
    Some(Read {
        exchange,
        path: named.or_else(|| told.map(|(path, _)| path.clone()))?,
        arguments,
        digest: told.and_then(|(_, digest)| *digest),
    })
}

fn supersedes(scene: &Scene<'_>, later: &Read<'_, '_>, read: &Read<'_, '_>) -> bool {
    let digest = read.digest.is_some() && read.digest == later.digest;
    let same = later.path == read.path
        && later.arguments == read.arguments
        && (digest || later.exchange.brought_the_same(read.exchange));
    let mut between = scene.between(read.exchange, later.exchange);
    same && !between
        .any(|other| changes(&other.tool()) && other.path().as_deref() == Some(read.path.as_str()))
}
