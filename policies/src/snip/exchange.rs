//! The same call brought the same result again.

use super::read;
use super::scene::{Exchange, Scene};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use recount_events::{BlockId, Seq};

/// Parts of the names of tools that change something: what they did is told by each of their results.
const CHANGES: [&str; 10] = [
    "edit", "write", "patch", "replace", "create", "insert", "delete", "remove", "move", "rename",
];

/// The tool changes something.
pub(super) fn changes(tool: &str) -> bool {
    let tool = tool.to_ascii_lowercase();
    CHANGES.iter().any(|part| tool.contains(part))
}

/// Responses whose every call was made again later with the same result. Reads of files have a rule of their own; what changes something
/// is no duplicate.
pub(super) fn duplicates(scene: &Scene<'_>) -> BTreeSet<Seq> {
    let mut zombies: BTreeSet<BlockId> = BTreeSet::new();
    for same in by_size(scene) {
        let mut kept: Vec<(&Exchange<'_>, String, BTreeMap<String, String>)> = Vec::new();
        for exchange in same.into_iter().rev() {
            let tool = exchange.tool();
            if changes(&tool) || read::is_read(&tool) {
                continue;
            }
            let arguments = exchange.arguments();
            let again = kept.iter().any(|(later, name, given)| {
                *name == tool && *given == arguments && later.brought_the_same(exchange)
            });
            if again {
                zombies.insert(exchange.call.block);
            } else {
                kept.push((exchange, tool, arguments));
            }
        }
    }
    scene.wholly(&zombies)
}

/// Exchanges whose results have equal sizes, where there are several.
pub(super) fn by_size<'s, 'a>(scene: &'s Scene<'a>) -> Vec<Vec<&'s Exchange<'a>>> {
    let mut sizes: BTreeMap<u64, Vec<&Exchange<'_>>> = BTreeMap::new();
    for exchange in scene.exchanges.iter().filter(|exchange| exchange.whole) {
        sizes.entry(exchange.size()).or_default().push(exchange);
    }
    sizes.into_values().filter(|same| same.len() > 1).collect()
}
