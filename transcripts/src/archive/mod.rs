//! stub
use crate::{Import, Refused};
/// stub
#[derive(Debug)]
pub struct Archive;
impl Archive {
    /// stub
    #[must_use]
    pub fn into_import(self) -> Import {
        unimplemented!()
    }
}
/// stub
/// # Errors
/// stub
pub fn read(_b: &[u8]) -> Result<Archive, Refused> {
    Err(Refused::Unrecognised)
}
