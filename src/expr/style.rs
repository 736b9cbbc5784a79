//! What functions depend on besides their arguments: the session's settings and its moment.

use std::any::Any;

use datafusion::common::Result;
use datafusion::common::config::{ConfigEntry, ConfigExtension, ConfigOptions, ExtensionOptions};

use crate::error::SqlError;
use crate::types::text::TextStyle;
use crate::types::{InputStyle, Zone};

/// Travels in the options that DataFusion hands to every function.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SessionStyle {
    /// How values are written, and the zone of timestamps without one.
    pub text: TextStyle,
    /// What `now` means: microseconds since 1970, the start of the transaction; in a view,
    /// nothing ([`InputStyle::NO_MOMENT`]).
    pub now_micros: i64,
}

impl SessionStyle {
    /// The style that `options` carry; those of a view have none, and mean the default.
    pub fn of(options: &ConfigOptions) -> Self {
        if let Some(style) = options.extensions.get::<SessionStyle>() {
            return *style;
        }
        let zone = options.execution.time_zone.as_deref().and_then(Zone::parse);
        let text = TextStyle { zone: zone.unwrap_or_default(), ..TextStyle::default() };
        Self { text, now_micros: InputStyle::NO_MOMENT }
    }

    /// How values are read.
    pub fn input(&self) -> InputStyle {
        InputStyle { zone: self.text.zone, now_micros: self.now_micros }
    }
}

impl ConfigExtension for SessionStyle {
    const PREFIX: &'static str = "weir";
}

impl ExtensionOptions for SessionStyle {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn cloned(&self) -> Box<dyn ExtensionOptions> {
        Box::new(*self)
    }

    fn set(&mut self, key: &str, _value: &str) -> Result<()> {
        Err(SqlError::internal(format!("option {key} is the session's to set")).into())
    }

    fn entries(&self) -> Vec<ConfigEntry> {
        Vec::new()
    }
}
