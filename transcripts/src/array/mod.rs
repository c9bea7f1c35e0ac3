//! Plain lists of messages, as requests hold them: a list, or an object with `messages`.
use crate::{FormatName, Import, Refused};
pub(crate) fn detect(_text: &str) -> Option<FormatName> {
    None
}
pub(crate) fn read(_b: &[u8], format: FormatName, _name: &str) -> Result<Import, Refused> {
    Err(Refused::NotThis { format })
}
