//! The provider's cache: where it broke, and why.
