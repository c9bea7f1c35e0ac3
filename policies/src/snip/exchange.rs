//! The same call brought the same result again.

use super::index::Zombie;
use super::read;
use super::scene::Exchange;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

/// Parts of the names of tools that change something: what they did is told by each of their results.
const CHANGES: [&str; 10] = [
    "edit", "write", "patch", "replace", "create", "insert", "delete", "remove", "move", "rename",
];

/// The tool changes something.
pub(super) fn changes(tool: &str) -> bool {
    let tool = tool.to_ascii_lowercase();
    CHANGES.iter().any(|part| tool.contains(part))
}

/// Of exchanges that may be the same, in the order of the prompt: calls that were made again later with the same result. Reads of files
/// have a rule of their own; what changes something is no duplicate.
pub(super) fn duplicates(same: &[Exchange<'_>]) -> Vec<Zombie> {
    let mut zombies = Vec::new();
    let mut kept: Vec<(&Exchange<'_>, String, BTreeMap<String, String>)> = Vec::new();
    for exchange in same.iter().rev() {
        let tool = exchange.tool();
        if changes(&tool) || read::is_read(&tool) {
            continue;
        }
        let arguments = exchange.arguments();
        let again = kept.iter().any(|(later, name, given)| {
            *name == tool && *given == arguments && later.brought_the_same(exchange)
        });
        if again {
            zombies.push((exchange.key, exchange.call.block));
        } else {
            kept.push((exchange, tool, arguments));
        }
    }
    zombies
}
