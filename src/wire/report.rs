//! Errors and notices as the protocol's fields.

use pgwire::messages::response::{ErrorResponse, NoticeResponse, NotificationResponse};

use crate::error::SqlError;
use crate::session::{Notice, Notification, Severity};

/// An error that ends the statement.
pub(super) fn error(error: &SqlError) -> ErrorResponse {
    ErrorResponse::new(fields("ERROR", error))
}

/// An error that ends the connection.
pub(super) fn fatal(error: &SqlError) -> ErrorResponse {
    ErrorResponse::new(fields("FATAL", error))
}

/// A remark beside the result.
pub(super) fn notice(notice: &Notice) -> NoticeResponse {
    let severity = match notice.severity {
        Severity::Debug => "DEBUG",
        Severity::Log => "LOG",
        Severity::Info => "INFO",
        Severity::Notice => "NOTICE",
        Severity::Warning => "WARNING",
    };
    NoticeResponse::new(fields(severity, &notice.report))
}

/// Word from another session.
pub(super) fn notification(notification: &Notification) -> NotificationResponse {
    NotificationResponse::new(
        notification.sender,
        text(&notification.channel),
        text(&notification.payload),
    )
}

fn fields(severity: &str, error: &SqlError) -> Vec<(u8, String)> {
    let mut fields = vec![
        (b'S', severity.to_owned()),
        (b'V', severity.to_owned()),
        (b'C', error.code.to_owned()),
        (b'M', text(&error.message)),
    ];
    let optional = [
        (b'D', &error.detail),
        (b'H', &error.hint),
        (b'W', &error.context),
        (b'P', &error.position.map(|position| position.to_string())),
    ];
    for (kind, value) in optional {
        if let Some(value) = value {
            fields.push((kind, text(value)));
        }
    }
    if let Some(about) = &error.about {
        let parts = [
            (b's', &about.schema),
            (b't', &about.table),
            (b'c', &about.column),
            (b'n', &about.constraint),
        ];
        for (kind, value) in parts {
            if let Some(value) = value {
                fields.push((kind, text(value)));
            }
        }
    }
    fields
}

/// A field ends at its first zero byte, so it may have none within.
fn text(value: &str) -> String {
    value.replace('\0', "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{About, code};

    #[test]
    fn every_field_is_sent_that_the_error_has() {
        let sent = error(
            &SqlError::new(code::UNDEFINED_COLUMN, "column \"a\" does not exist")
                .hint("Perhaps \"b\".")
                .position(8)
                .about(About { table: Some("t".to_owned()), ..About::default() }),
        );
        let sent: Vec<(char, &str)> =
            sent.fields.iter().map(|(kind, value)| (char::from(*kind), value.as_str())).collect();
        let expected = [
            ('S', "ERROR"),
            ('V', "ERROR"),
            ('C', "42703"),
            ('M', "column \"a\" does not exist"),
            ('H', "Perhaps \"b\"."),
            ('P', "8"),
            ('t', "t"),
        ];
        assert_eq!(sent, expected);
    }
}
