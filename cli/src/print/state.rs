//! States in words and colours.

use super::{green, red, yellow};
use recount::api;

/// A state as its word on the wire, coloured.
pub(crate) fn state(state: api::State) -> String {
    match state {
        api::State::Clean => green("clean"),
        api::State::Erased => green("erased with receipts"),
        api::State::Torn => yellow("torn"),
        api::State::Truncated => red("truncated"),
        api::State::Damaged => red("damaged"),
        api::State::Replaced => red("replaced"),
    }
}
