//! A provider refused a prompt for its size: what it said, and what to do without a model.
