//! `to_char` of numbers, and `to_number`, with PostgreSQL's template patterns.

use super::decimals::rescale;
use super::function::Entry;
use super::row::{Out, Row};
use crate::error::{SqlError, SqlResult, code};

/// `name(arguments) -> result`, and what it does.
pub(super) const TABLE: &[Entry] = &[
    ("to_char(numeric, text) -> text", |row, out| {
        let (value, scale) = row.decimal(0)?;
        let template = Template::read(row.text(1))?;
        let shift = i8::try_from(template.shift).unwrap_or(0);
        let digits = i8::try_from(template.after).unwrap_or(0);
        let moved = scale.saturating_sub(shift);
        let rounded = rescale(value, moved, digits);
        let digits = rounded.map(|rounded| rounded.unsigned_abs().to_string());
        let float = value as f64 / 10_f64.powi(scale.into());
        let number = Number { negative: value < 0, digits, float };
        out.text(&template.fill(&number));
        Ok(())
    }),
    ("to_char(double precision, text) -> text", |row, out| {
        let value = row.float(0);
        let template = Template::read(row.text(1))?;
        let shift = i32::try_from(template.shift).unwrap_or(0);
        let moved = value.abs() * 10_f64.powi(shift);
        let digits = value.is_finite().then(|| format!("{moved:.*}", template.after));
        let digits = digits.map(|digits| digits.replace('.', ""));
        out.text(&template.fill(&Number { negative: value < 0.0, digits, float: value }));
        Ok(())
    }),
    ("to_number(text, text) -> numeric", to_number),
];

/// The parts of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// A digit; whether it is shown where it does not count.
    Digit {
        always: bool,
    },
    Point,
    Group,
    /// `S`
    Sign,
    Minus,
    Plus,
    PlusMinus,
    Currency,
    Ordinal {
        upper: bool,
    },
    Text(String),
}

/// A template, read.
#[derive(Debug, Default)]
struct Template {
    parts: Vec<Part>,
    /// Without blanks and zeros that only fill.
    bare: bool,
    angles: bool,
    exponent: bool,
    roman: Option<bool>,
    /// Digits before and after the point, and those behind `V`.
    before: usize,
    after: usize,
    shift: usize,
}

/// What is written.
struct Number {
    negative: bool,
    /// All digits, those after the point too; none: it does not fit.
    digits: Option<String>,
    float: f64,
}

const PATTERNS: &[&str] = &[
    "FM", "EEEE", "MI", "PL", "SG", "PR", "RN", "TH", "S", "L", "D", "G", "V", "9", "0", ".", ",",
];

impl Template {
    fn read(text: &str) -> SqlResult<Self> {
        let mut template = Template::default();
        let mut rest = text;
        let mut after_point = false;
        let mut after_v = false;
        while let Some(first) = rest.chars().next() {
            let found = PATTERNS.iter().find(|pattern| {
                rest.get(..pattern.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(pattern))
            });
            let Some(pattern) = found else {
                if let Some((inside, after)) =
                    rest.strip_prefix('"').and_then(|rest| rest.split_once('"'))
                {
                    template.parts.push(Part::Text(inside.to_owned()));
                    rest = after;
                } else {
                    template.parts.push(Part::Text(first.to_string()));
                    rest = &rest[first.len_utf8()..];
                }
                continue;
            };
            let written = &rest[..pattern.len()];
            rest = &rest[pattern.len()..];
            match *pattern {
                "FM" => template.bare = true,
                "EEEE" => template.exponent = true,
                "RN" => template.roman = Some(written == "RN"),
                "PR" => template.angles = true,
                "V" => after_v = true,
                "9" | "0" => {
                    template.parts.push(Part::Digit { always: *pattern == "0" });
                    match (after_point, after_v) {
                        (true, _) => template.after += 1,
                        (_, true) => {
                            template.shift += 1;
                            template.before += 1;
                        }
                        _ => template.before += 1,
                    }
                }
                "." | "D" if after_point => {
                    let message = "multiple decimal points";
                    return Err(SqlError::new(code::SYNTAX_ERROR, message));
                }
                "." | "D" => {
                    after_point = true;
                    template.parts.push(Part::Point);
                }
                "," | "G" => template.parts.push(Part::Group),
                "S" => template.parts.push(Part::Sign),
                "MI" => template.parts.push(Part::Minus),
                "PL" => template.parts.push(Part::Plus),
                "SG" => template.parts.push(Part::PlusMinus),
                "L" => template.parts.push(Part::Currency),
                _ => template.parts.push(Part::Ordinal { upper: written == "TH" }),
            }
        }
        Ok(template)
    }

    fn fill(&self, number: &Number) -> String {
        if let Some(upper) = self.roman {
            return self.roman(number, upper);
        }
        if self.exponent {
            return self.exponential(number);
        }
        let (whole, fraction) = match &number.digits {
            Some(digits) => {
                let digits = format!("{digits:0>width$}", width = self.after + 1);
                let (whole, fraction) = digits.split_at(digits.len() - self.after);
                (whole.trim_start_matches('0').to_owned(), fraction.to_owned())
            }
            None => ("#".repeat(self.before + 1), "#".repeat(self.after)),
        };
        let overflow = whole.len() > self.before;
        let (whole, fraction) = match overflow {
            true => ("#".repeat(self.before), "#".repeat(self.after)),
            false => (whole, fraction),
        };
        let zero = !overflow && whole.bytes().chain(fraction.bytes()).all(|byte| byte == b'0');
        Filling { template: self, whole, fraction, negative: number.negative && !zero }.run()
    }

    fn exponential(&self, number: &Number) -> String {
        let text = format!("{:.*e}", self.after, number.float.abs());
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let exponent: i32 = exponent.parse().unwrap_or(0);
        let sign = if number.negative {
            "-"
        } else if self.bare {
            ""
        } else {
            " "
        };
        let direction = if exponent < 0 { '-' } else { '+' };
        format!("{sign}{mantissa}e{direction}{:02}", exponent.abs())
    }

    fn roman(&self, number: &Number, upper: bool) -> String {
        const NUMERALS: &[(i64, &str)] = &[
            (1000, "M"),
            (900, "CM"),
            (500, "D"),
            (400, "CD"),
            (100, "C"),
            (90, "XC"),
            (50, "L"),
            (40, "XL"),
            (10, "X"),
            (9, "IX"),
            (5, "V"),
            (4, "IV"),
            (1, "I"),
        ];
        let mut left = number.float.round_ties_even() as i64;
        let mut text = String::new();
        if (1..4000).contains(&left) {
            for (value, numeral) in NUMERALS {
                while left >= *value {
                    text.push_str(numeral);
                    left -= value;
                }
            }
        } else {
            text = "#".repeat(15);
        }
        let text = if upper { text } else { text.to_lowercase() };
        if self.bare { text } else { format!("{text:>15}") }
    }
}

/// A template being filled.
struct Filling<'a> {
    template: &'a Template,
    whole: String,
    fraction: String,
    negative: bool,
}

impl Filling<'_> {
    fn run(&self) -> String {
        let template = self.template;
        let parts = &template.parts;
        let has = |wanted: fn(&Part) -> bool| parts.iter().any(wanted);
        let own_sign = template.angles
            || has(|part| matches!(part, Part::Sign | Part::Minus | Part::Plus | Part::PlusMinus));
        let only_plus = has(|part| matches!(part, Part::Plus))
            && !has(|part| matches!(part, Part::Minus | Part::Sign | Part::PlusMinus));
        let digit = |part: &Part| matches!(part, Part::Digit { .. });
        let first_digit = parts.iter().position(digit).unwrap_or(0);
        let leading_sign = parts
            .iter()
            .position(|part| *part == Part::Sign)
            .is_some_and(|sign| sign < first_digit);
        // From here on digits are written even where they do not count.
        let forced = parts
            .iter()
            .take_while(|part| **part != Part::Point)
            .filter(|part| digit(part))
            .position(|part| matches!(part, Part::Digit { always: true }));
        let mut out = String::new();
        let mut sign_pending = !own_sign || leading_sign || template.angles || only_plus;
        let sign = match (self.negative, leading_sign, template.angles) {
            (true, _, true) => "<",
            (true, ..) => "-",
            (false, true, _) => "+",
            (false, ..) if template.bare => "",
            (false, ..) => " ",
        };
        let (mut before, mut after) = (0, 0);
        let mut in_fraction = false;
        let shown_fraction = self.shown_fraction();
        for part in parts {
            match part {
                Part::Digit { .. } if !in_fraction => {
                    let missing = template.before - self.whole.len();
                    let last = before + 1 == template.before;
                    let counts = before >= missing;
                    let shown = counts
                        || forced.is_some_and(|forced| before >= forced)
                        || (last && template.after == 0 && !template.parts.contains(&Part::Point));
                    if shown {
                        if sign_pending {
                            out.push_str(sign);
                            sign_pending = false;
                        }
                        let digit = counts.then(|| self.whole.as_bytes()[before - missing]);
                        out.push(digit.map_or('0', char::from));
                    } else if !template.bare {
                        out.push(' ');
                    }
                    before += 1;
                }
                Part::Digit { .. } => {
                    if after < shown_fraction {
                        out.push(char::from(self.fraction.as_bytes()[after]));
                    }
                    after += 1;
                }
                Part::Point => {
                    if sign_pending {
                        out.push_str(sign);
                        sign_pending = false;
                    }
                    in_fraction = true;
                    out.push('.');
                }
                Part::Group => {
                    let missing = template.before - self.whole.len();
                    let begun = before > missing || forced.is_some_and(|forced| before > forced);
                    match (begun, template.bare) {
                        (true, _) => out.push(','),
                        (false, false) => out.push(' '),
                        (false, true) => {}
                    }
                }
                Part::Sign if !leading_sign => out.push(if self.negative { '-' } else { '+' }),
                Part::Sign => {}
                Part::Minus => self.push_sign(&mut out, self.negative, '-'),
                Part::Plus => self.push_sign(&mut out, !self.negative, '+'),
                Part::PlusMinus => out.push(if self.negative { '-' } else { '+' }),
                Part::Currency => out.push(' '),
                Part::Ordinal { upper } => out.push_str(&self.ordinal(*upper)),
                Part::Text(text) => out.push_str(text),
            }
        }
        if template.angles {
            match (self.negative, template.bare) {
                (true, _) => out.push('>'),
                (false, false) => out.push(' '),
                (false, true) => {}
            }
        }
        out
    }

    fn push_sign(&self, out: &mut String, shown: bool, sign: char) {
        match (shown, self.template.bare) {
            (true, _) => out.push(sign),
            (false, false) => out.push(' '),
            (false, true) => {}
        }
    }

    /// Digits of the fraction that are written: without filling, no zeros at the end but those
    /// that a `0` asks for.
    fn shown_fraction(&self) -> usize {
        if !self.template.bare {
            return self.fraction.len();
        }
        let asked = self
            .template
            .parts
            .iter()
            .skip_while(|part| **part != Part::Point)
            .filter(|part| matches!(part, Part::Digit { .. }))
            .enumerate()
            .filter(|(_, part)| matches!(part, Part::Digit { always: true }))
            .last()
            .map_or(0, |(index, _)| index + 1);
        asked.max(self.fraction.trim_end_matches('0').len())
    }

    fn ordinal(&self, upper: bool) -> String {
        let last = self.whole.bytes().last().unwrap_or(b'0');
        let teen = self.whole.len() > 1 && self.whole.as_bytes()[self.whole.len() - 2] == b'1';
        let suffix = match (last, teen) {
            (b'1', false) => "st",
            (b'2', false) => "nd",
            (b'3', false) => "rd",
            _ => "th",
        };
        if self.negative {
            String::new()
        } else if upper {
            suffix.to_uppercase()
        } else {
            suffix.into()
        }
    }
}

/// The number that a text filled by a template is.
fn to_number(row: &Row<'_>, out: &mut Out) -> SqlResult<()> {
    let template = Template::read(row.text(1))?;
    let text = row.text(0);
    let negative = text.contains('-') || (template.angles && text.contains('<'));
    let mut digits = String::new();
    let mut fraction = None;
    for character in text.chars() {
        match character {
            '0'..='9' => {
                let (limit, taken) = match fraction {
                    Some(count) => (template.after, count),
                    None => (template.before, digits.len()),
                };
                if taken < limit {
                    digits.push(character);
                    fraction = fraction.map(|count| count + 1);
                }
            }
            '.' if fraction.is_none() => fraction = Some(0),
            _ => {}
        }
    }
    let number: i128 = digits.parse().map_err(|_| {
        let message = format!("invalid input syntax for type numeric: \"{}\"", text.trim());
        SqlError::new(code::INVALID_TEXT_REPRESENTATION, message)
    })?;
    let scale = i8::try_from(fraction.unwrap_or(0) + template.shift).unwrap_or(i8::MAX);
    out.decimal(if negative { -number } else { number }, scale)
}
