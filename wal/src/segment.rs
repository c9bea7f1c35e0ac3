//! Segments as they are found on disk: read, told apart from what a crash left, summed up.

pub(crate) mod judge;
pub(crate) mod scan;
pub(crate) mod source;
pub(crate) mod view;
pub(crate) mod window;
