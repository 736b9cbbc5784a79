//! (under way)

/// All objects at one moment.
#[derive(Debug, Clone, Default)]
pub struct Catalog {}
