//! What a client may send once it is in, as checked values.
//!
//! pgwire's decoders read past a frame that is too short (and panic at the end of the buffer) and
//! replace bytes that are not UTF-8, so frames are read here: one frame, every length checked
//! against what is left of it, every string checked.

use bytes::{Buf, Bytes};

use crate::error::{SqlError, SqlResult, code};

/// A message of the message loop.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Frontend {
    Query(String),
    Parse(Parse),
    Bind(Bind),
    Describe(Target),
    Execute(Execute),
    Close(Target),
    Flush,
    Sync,
    Terminate,
    CopyData(Bytes),
    CopyDone,
    CopyFail(String),
    /// The fast path of libpq's large objects, long obsolete.
    FunctionCall,
    /// An answer to a password request that was not made.
    Password,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parse {
    /// Empty: the unnamed statement.
    pub(super) statement: String,
    pub(super) query: String,
    /// Declared OIDs of the first parameters; 0: not declared.
    pub(super) parameter_oids: Vec<u32>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Bind {
    /// Empty: the unnamed portal.
    pub(super) portal: String,
    pub(super) statement: String,
    pub(super) parameter_formats: Vec<i16>,
    /// `None` is NULL.
    pub(super) parameters: Vec<Option<Bytes>>,
    pub(super) result_formats: Vec<i16>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Execute {
    pub(super) portal: String,
    /// `None`: all. A limit is only counted towards, nothing is set aside for it.
    pub(super) rows_max: Option<u64>,
}

/// What Describe and Close are about.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Target {
    Statement(String),
    Portal(String),
}

/// The types of message that may be long, as in PostgreSQL; the others stay under
/// [`SHORT_FRAME_BYTES_MAX`].
pub(super) fn may_be_long(kind: u8) -> bool {
    matches!(kind, b'Q' | b'P' | b'B' | b'F' | b'd')
}

/// Whether `kind` is a type of message at all. Where it is not, the stream has lost its frames.
pub(super) fn is_known(kind: u8) -> bool {
    matches!(
        kind,
        b'Q' | b'P'
            | b'B'
            | b'D'
            | b'E'
            | b'C'
            | b'H'
            | b'S'
            | b'X'
            | b'd'
            | b'c'
            | b'f'
            | b'F'
            | b'p'
    )
}

impl Frontend {
    /// The type of the message, as its frame begins.
    pub(super) fn kind(&self) -> u8 {
        match self {
            Frontend::Query(_) => b'Q',
            Frontend::Parse(_) => b'P',
            Frontend::Bind(_) => b'B',
            Frontend::Describe(_) => b'D',
            Frontend::Execute(_) => b'E',
            Frontend::Close(_) => b'C',
            Frontend::Flush => b'H',
            Frontend::Sync => b'S',
            Frontend::Terminate => b'X',
            Frontend::CopyData(_) => b'd',
            Frontend::CopyDone => b'c',
            Frontend::CopyFail(_) => b'f',
            Frontend::FunctionCall => b'F',
            Frontend::Password => b'p',
        }
    }

    /// Reads the body of a frame of type `kind`.
    pub(super) fn decode(kind: u8, body: Bytes) -> SqlResult<Frontend> {
        let mut body = Body(body);
        let message = match kind {
            b'Q' => Frontend::Query(body.string()?),
            b'P' => Frontend::Parse(body.parse()?),
            b'B' => Frontend::Bind(body.bind()?),
            b'D' => Frontend::Describe(body.target()?),
            b'E' => Frontend::Execute(Execute {
                portal: body.string()?,
                rows_max: u64::try_from(body.i32()?).ok().filter(|rows| *rows > 0),
            }),
            b'C' => Frontend::Close(body.target()?),
            b'H' => Frontend::Flush,
            b'S' => Frontend::Sync,
            b'X' => Frontend::Terminate,
            b'd' => return Ok(Frontend::CopyData(body.0)),
            b'c' => Frontend::CopyDone,
            b'f' => Frontend::CopyFail(body.string()?),
            b'F' => return Ok(Frontend::FunctionCall),
            b'p' => return Ok(Frontend::Password),
            other => return Err(violation(format!("invalid frontend message type {other}"))),
        };
        if body.0.has_remaining() {
            return Err(violation("invalid message format"));
        }
        Ok(message)
    }
}

/// A client's first message of a SASL exchange.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SaslInitial {
    pub(super) mechanism: String,
    pub(super) data: Bytes,
}

impl SaslInitial {
    /// Reads the body of its frame.
    pub(super) fn decode(body: Bytes) -> SqlResult<Self> {
        let mut body = Body(body);
        let mechanism = body.string()?;
        let data = body.value()?.unwrap_or_default();
        match body.0.has_remaining() {
            true => Err(violation("invalid message format")),
            false => Ok(Self { mechanism, data }),
        }
    }
}

/// A break of the protocol's rules.
pub(super) fn violation(message: impl Into<String>) -> SqlError {
    SqlError::new(code::PROTOCOL_VIOLATION, message)
}

/// What is left of a frame.
struct Body(Bytes);

impl Body {
    fn parse(&mut self) -> SqlResult<Parse> {
        let statement = self.string()?;
        let query = self.string()?;
        let count = self.u16()?;
        let parameter_oids = (0..count).map(|_| self.u32()).collect::<SqlResult<_>>()?;
        Ok(Parse { statement, query, parameter_oids })
    }

    fn bind(&mut self) -> SqlResult<Bind> {
        Ok(Bind {
            portal: self.string()?,
            statement: self.string()?,
            parameter_formats: self.formats()?,
            parameters: {
                let count = self.u16()?;
                (0..count).map(|_| self.value()).collect::<SqlResult<_>>()?
            },
            result_formats: self.formats()?,
        })
    }

    fn formats(&mut self) -> SqlResult<Vec<i16>> {
        let count = self.u16()?;
        (0..count)
            .map(|_| match self.u16()? {
                0 => Ok(0),
                1 => Ok(1),
                other => Err(SqlError::new(
                    code::INVALID_PARAMETER_VALUE,
                    format!("unsupported format code: {other}"),
                )),
            })
            .collect()
    }

    fn value(&mut self) -> SqlResult<Option<Bytes>> {
        match self.i32()? {
            -1 => Ok(None),
            length => {
                let length = usize::try_from(length).map_err(|_| insufficient())?;
                if length > self.0.remaining() {
                    return Err(insufficient());
                }
                Ok(Some(self.0.split_to(length)))
            }
        }
    }

    fn target(&mut self) -> SqlResult<Target> {
        let kind = self.0.try_get_u8().map_err(|_| insufficient())?;
        let name = self.string()?;
        match kind {
            b'S' => Ok(Target::Statement(name)),
            b'P' => Ok(Target::Portal(name)),
            other => Err(violation(format!("invalid message subtype {other}"))),
        }
    }

    fn string(&mut self) -> SqlResult<String> {
        let end = self.0.iter().position(|byte| *byte == 0);
        let end = end.ok_or_else(|| violation("invalid string in message"))?;
        let text = self.0.split_to(end);
        self.0.advance(1);
        match std::str::from_utf8(&text) {
            Ok(text) => Ok(text.to_owned()),
            Err(error) => Err(bad_encoding(&text[error.valid_up_to()..])),
        }
    }

    fn u16(&mut self) -> SqlResult<u16> {
        self.0.try_get_u16().map_err(|_| insufficient())
    }

    fn u32(&mut self) -> SqlResult<u32> {
        self.0.try_get_u32().map_err(|_| insufficient())
    }

    fn i32(&mut self) -> SqlResult<i32> {
        self.0.try_get_i32().map_err(|_| insufficient())
    }
}

fn insufficient() -> SqlError {
    violation("insufficient data left in message")
}

/// The bytes from the first one that is not UTF-8, as PostgreSQL shows them.
pub(super) fn bad_encoding(rest: &[u8]) -> SqlError {
    let shown: Vec<String> = rest.iter().take(1).map(|byte| format!("0x{byte:02x}")).collect();
    SqlError::new(
        code::CHARACTER_NOT_IN_REPERTOIRE,
        format!("invalid byte sequence for encoding \"UTF8\": {}", shown.join(" ")),
    )
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;
    use pgwire::messages::Message;
    use pgwire::messages::extendedquery as theirs;
    use proptest::prelude::*;

    use super::*;

    fn body(message: &impl Message) -> Bytes {
        let mut bytes = BytesMut::new();
        message.encode_body(&mut bytes).expect("a small message");
        bytes.freeze()
    }

    #[test]
    fn a_bind_message_is_read_as_pgwire_writes_it() {
        let bind = theirs::Bind::new(
            Some("p".to_owned()),
            None,
            vec![0, 1],
            vec![Some(Bytes::from_static(b"x")), None],
            vec![1],
        );
        let read = Frontend::decode(b'B', body(&bind)).expect("well formed");
        let expected = Bind {
            portal: "p".to_owned(),
            statement: String::new(),
            parameter_formats: vec![0, 1],
            parameters: vec![Some(Bytes::from_static(b"x")), None],
            result_formats: vec![1],
        };
        assert_eq!(read, Frontend::Bind(expected));
    }

    #[test]
    fn a_row_limit_below_one_means_all_rows() {
        for (sent, read) in [(0, None), (-1, None), (i32::MIN, None), (i32::MAX, Some(2147483647))]
        {
            let execute = theirs::Execute::new(Some("c".to_owned()), sent);
            let expected = Execute { portal: "c".to_owned(), rows_max: read };
            let decoded = Frontend::decode(b'E', body(&execute)).expect("well formed");
            assert_eq!(decoded, Frontend::Execute(expected));
        }
    }

    #[test]
    fn text_that_is_not_utf8_is_named() {
        let error = Frontend::decode(b'Q', Bytes::from_static(b"select '\xff'\0")).unwrap_err();
        assert_eq!(error.code, code::CHARACTER_NOT_IN_REPERTOIRE);
        assert_eq!(error.message, "invalid byte sequence for encoding \"UTF8\": 0xff");
    }

    proptest! {
        /// The whole point of reading frames ourselves.
        #[test]
        fn no_frame_panics(kind in any::<u8>(), body in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = Frontend::decode(kind, Bytes::from(body));
        }

        #[test]
        fn no_sasl_message_panics(body in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = SaslInitial::decode(Bytes::from(body));
        }

        #[test]
        fn a_frame_cut_short_is_refused(cut in 0usize..20) {
            let (name, query) = (Some("s".to_owned()), "select 1".to_owned());
            let parse = theirs::Parse::new(name, query, vec![23, 25]);
            let whole = body(&parse);
            let cut = whole.slice(..whole.len() - 1 - cut.min(whole.len() - 1));
            prop_assert!(Frontend::decode(b'P', cut).is_err());
        }
    }
}
