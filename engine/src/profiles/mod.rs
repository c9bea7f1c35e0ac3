//! Shipped profiles: what is publicly known of current models, as data.

/// Names of the shipped profiles.
#[must_use]
pub fn names() -> Vec<&'static str> {
    Vec::new()
}
