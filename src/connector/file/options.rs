//! The options of `connector = 'file'`.

use super::reader::{file_error, find, is_pattern};
use crate::connector::format::FormatOptions;
use crate::connector::option::OptionReader;
use crate::connector::registry::Options;
use crate::error::{SqlError, SqlResult, code};

/// What is read, and how.
#[derive(Debug, Clone)]
pub struct FileOptions {
    /// One file, or a pattern for many.
    pub(super) path: String,
    /// Whether files may grow, and new ones come.
    pub(super) follow: bool,
    pub(super) format: FormatOptions,
}

impl FileOptions {
    /// Reads and checks the options.
    pub fn read(options: &Options) -> SqlResult<Self> {
        let mut reader = OptionReader::new(options.owner(), &options.options);
        let path = reader.text(&["path"])?;
        let follow = reader.switch(&["follow"])?.unwrap_or(true);
        reader.finish()?;
        let path = match path {
            Some(path) if !path.is_empty() => path.to_owned(),
            _ => {
                return Err(SqlError::new(
                    code::INVALID_PARAMETER_VALUE,
                    "connector \"file\" needs the option \"path\"",
                )
                .hint("It names one file, or many: path = '/data/in/*.csv.gz'."));
            }
        };
        Ok(Self { path, follow, format: FormatOptions::read(options)? })
    }

    /// Whether the files are there, for CREATE: a mistyped path should not wait for ever.
    pub fn look(&self) -> SqlResult<()> {
        let found = find(&self.path)?;
        if is_pattern(&self.path) || !found.is_empty() {
            return Ok(());
        }
        if std::path::Path::new(&self.path).is_dir() {
            let message = format!("\"{}\" is a directory", self.path);
            return Err(SqlError::new(code::WRONG_OBJECT_TYPE, message)
                .hint(format!("Name the files in it: path = '{}/*'.", self.path)));
        }
        if self.follow {
            return Ok(());
        }
        Err(file_error("open", &self.path, &std::io::ErrorKind::NotFound.into()))
    }
}
