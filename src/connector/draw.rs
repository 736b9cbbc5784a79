//! Random numbers that depend on nothing but what they are drawn for.
//!
//! A generator must give the same row for the same number, today, after a crash, and whichever
//! columns are asked for. So there is no stream of random numbers that rows would take from: each
//! field of each row has a stream of its own, seeded by the row's number and the field.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};

/// The random numbers of one field of one row.
pub(super) struct Draw(SplitMix64);

impl Draw {
    /// `field` tells the fields of a row apart: any number, used for one field only.
    #[inline]
    pub(super) fn new(row: u64, field: u64) -> Self {
        // The generator's own mixing makes neighbours independent; the rotation keeps rows and
        // fields from meeting.
        Self(SplitMix64::seed_from_u64(row ^ field.rotate_right(8)))
    }

    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Evenly in `0..bound`; 0 if that is empty.
    #[inline]
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// Evenly in `[0, 1)`.
    #[inline]
    pub(super) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// One of `choices`.
    #[inline]
    pub(super) fn one_of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len() as u64) as usize]
    }

    /// Adds `length` lower-case letters.
    #[inline]
    pub(super) fn letters(&mut self, length: usize, out: &mut String) {
        let mut left = length;
        while left > 0 {
            for byte in self.next().to_le_bytes().into_iter().take(left) {
                out.push(letter(u32::from(byte), 8));
            }
            left = left.saturating_sub(8);
        }
    }

    /// Adds 3 to `length_max - 1` letters of which every thirteenth or so is `special`; spaces at
    /// the ends are left out.
    #[inline]
    pub(super) fn words(&mut self, length_max: u64, special: char, out: &mut String) {
        let length = 3 + self.below(length_max - 3) as usize;
        let start = out.len();
        let (mut bits, mut have) = (0, 0);
        for _ in 0..length {
            if have == 0 {
                (bits, have) = (self.next(), 4);
            }
            let scaled = (bits & 0xffff) * 13;
            let is_special = scaled >> 16 == 0;
            out.push(if is_special { special } else { letter((scaled & 0xffff) as u32, 16) });
            bits >>= 16;
            have -= 1;
        }
        trim_from(start, out);
    }
}

/// The letter for `bits` random bits.
#[inline]
fn letter(random: u32, bits: u32) -> char {
    char::from(b'a' + ((random * 26) >> bits) as u8)
}

/// Takes the spaces off both ends of what stands from `start` on.
fn trim_from(start: usize, out: &mut String) {
    out.truncate(start.max(out.trim_end_matches(' ').len()));
    let leading = out[start..].len() - out[start..].trim_start_matches(' ').len();
    out.drain(start..start + leading);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_of_a_row_is_always_the_same_and_like_no_other() {
        assert_eq!(Draw::new(7, 1).next(), Draw::new(7, 1).next());
        let mut seen: Vec<u64> = (0..1000)
            .flat_map(|row| (0..20).map(move |field| Draw::new(row, field).next()))
            .collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 20_000);
    }

    #[test]
    fn below_is_even_and_below() {
        let mut counts = [0_u32; 5];
        for row in 0..50_000 {
            counts[Draw::new(row, 3).below(5) as usize] += 1;
        }
        assert!(counts.iter().all(|count| (9_500..10_500).contains(count)), "{counts:?}");
        assert_eq!(Draw::new(1, 1).below(0), 0);
    }

    #[test]
    fn strings_have_the_length_and_the_letters_that_were_asked_for() {
        let mut out = String::from("x");
        Draw::new(5, 5).letters(21, &mut out);
        assert_eq!(out.len(), 22);
        assert!(out.chars().all(|c| c.is_ascii_lowercase()));
        let (mut specials, mut all) = (0, 0);
        for row in 0..2000 {
            out.clear();
            out.push_str("a ");
            Draw::new(row, 9).words(20, '_', &mut out);
            let word = &out[2..];
            assert!((3..20).contains(&word.len()), "{word}");
            specials += word.matches('_').count();
            all += word.len();
            out.clear();
            Draw::new(row, 9).words(20, ' ', &mut out);
            assert_eq!(out.trim(), out);
        }
        let share = specials as f64 / all as f64;
        assert!((share - 1.0 / 13.0).abs() < 0.01, "{share}");
    }
}
