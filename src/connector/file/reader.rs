//! Blocks of bytes of a file, and which files there are: what blocks, to be run off the runtime.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use crate::error::{SqlError, SqlResult, code};

/// Bytes that are read at a time.
pub(super) const BLOCK: u64 = 256 << 10;

/// A file that is not there, as PostgreSQL has it.
const UNDEFINED_FILE: &str = "58P01";

/// Whether a file is compressed, by its name.
pub(super) fn is_gzip(path: &str) -> bool {
    path.to_ascii_lowercase().ends_with(".gz")
}

/// An open file.
pub(super) enum Reader {
    Plain(File),
    /// Any number of gzip members after each other.
    Gzip(Box<MultiGzDecoder<BufReader<File>>>),
}

impl Reader {
    /// Opens a file at an offset, of a compressed one among its decompressed bytes.
    pub(super) fn open(path: &str, offset: u64) -> io::Result<Self> {
        let mut file = File::open(path)?;
        if !is_gzip(path) {
            file.seek(SeekFrom::Start(offset))?;
            return Ok(Reader::Plain(file));
        }
        let mut decoder = MultiGzDecoder::new(BufReader::with_capacity(BLOCK as usize, file));
        let skipped = io::copy(&mut decoder.by_ref().take(offset), &mut io::sink())?;
        if skipped < offset {
            let message = format!("it has only {skipped} bytes, of which {offset} were read");
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, message));
        }
        Ok(Reader::Gzip(Box::new(decoder)))
    }

    /// The next bytes, at most `bytes_max`; none at the end of what there is now.
    pub(super) fn block(&mut self, bytes_max: u64) -> io::Result<Vec<u8>> {
        let mut block = Vec::new();
        let bytes_max = bytes_max.min(BLOCK);
        match self {
            Reader::Plain(file) => file.take(bytes_max).read_to_end(&mut block)?,
            Reader::Gzip(decoder) => decoder.take(bytes_max).read_to_end(&mut block)?,
        };
        Ok(block)
    }
}

/// What went wrong with a file, as PostgreSQL words it.
pub(super) fn file_error(doing: &str, path: &str, error: &io::Error) -> SqlError {
    let code = match error.kind() {
        io::ErrorKind::NotFound => UNDEFINED_FILE,
        io::ErrorKind::PermissionDenied => "42501",
        _ => code::IO_ERROR,
    };
    let reason = match error.kind() {
        io::ErrorKind::NotFound => "No such file or directory".to_owned(),
        io::ErrorKind::PermissionDenied => "Permission denied".to_owned(),
        _ => error.to_string(),
    };
    SqlError::new(code, format!("could not {doing} file \"{path}\": {reason}"))
}

/// A file that the pattern means, and how long it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) path: String,
    pub(super) bytes: u64,
}

/// Whether a path is a pattern for many files.
pub(super) fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '['])
}

/// The files that `path` means, in order. None is no error: they may come later.
pub(super) fn find(path: &str) -> SqlResult<Vec<Found>> {
    let mut found = Vec::new();
    if !is_pattern(path) {
        found.extend(length(Path::new(path))?.map(|bytes| Found { path: path.to_owned(), bytes }));
        return Ok(found);
    }
    let paths = glob::glob(path).map_err(|error| {
        let message = format!("invalid file pattern \"{path}\": {}", error.msg);
        SqlError::new(code::INVALID_PARAMETER_VALUE, message)
    })?;
    for entry in paths {
        let entry = entry.map_err(|error| {
            file_error("look for", &error.path().display().to_string(), error.error())
        })?;
        let Some(name) = entry.to_str() else {
            let message = format!("the name of file \"{}\" is not UTF-8", entry.display());
            return Err(SqlError::new(code::CHARACTER_NOT_IN_REPERTOIRE, message));
        };
        let bytes = length(&entry)?;
        found.extend(bytes.map(|bytes| Found { path: name.to_owned(), bytes }));
    }
    found.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(found)
}

/// Bytes of a file; `None` if there is none, or it is a folder.
fn length(path: &Path) -> SqlResult<Option<u64>> {
    match path.metadata() {
        Ok(metadata) if metadata.is_dir() => Ok(None),
        Ok(metadata) => Ok(Some(metadata.len())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(file_error("look at", &path.display().to_string(), &error)),
    }
}
