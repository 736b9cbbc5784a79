//! Integers as few bytes as they need: zigzag, then seven bits a byte, lowest first, the highest
//! bit telling that more follow (LEB128, as in Protocol Buffers).

/// The bytes of the longest: 128 bits, seven a byte.
const BYTES_MAX: usize = 19;

/// Appends `value`.
pub fn write_varint(value: impl Into<i128>, bytes: &mut Vec<u8>) {
    let value: i128 = value.into();
    let mut left = ((value << 1) ^ (value >> 127)).cast_unsigned();
    loop {
        let low = (left & 0x7f) as u8;
        left >>= 7;
        if left == 0 {
            bytes.push(low);
            return;
        }
        bytes.push(low | 0x80);
    }
}

/// Reads what [`write_varint`] wrote and moves past it; `None` if it is not that, or does not fit.
pub fn read_varint<T: TryFrom<i128>>(bytes: &mut &[u8]) -> Option<T> {
    let mut zigzag = 0u128;
    for index in 0..BYTES_MAX {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        zigzag |= u128::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            let value = (zigzag >> 1).cast_signed() ^ -((zigzag & 1).cast_signed());
            return T::try_from(value).ok();
        }
    }
    None
}

/// Appends `value` with its length.
pub fn write_bytes(value: &[u8], bytes: &mut Vec<u8>) {
    write_varint(value.len() as i128, bytes);
    bytes.extend_from_slice(value);
}

/// Reads what [`write_bytes`] wrote and moves past it.
pub fn read_bytes<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length: usize = read_varint(bytes)?;
    let (value, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_come_back_and_small_ones_are_short() {
        let values = [0, 1, -1, 63, -64, 64, 1 << 40, i128::MAX, i128::MIN];
        for value in values {
            let mut bytes = Vec::new();
            write_varint(value, &mut bytes);
            let mut rest = &bytes[..];
            assert_eq!(read_varint::<i128>(&mut rest), Some(value));
            assert!(rest.is_empty());
            assert_eq!(bytes.len() == 1, (-64..64).contains(&value), "{value}");
        }
    }

    #[test]
    fn foreign_bytes_are_refused() {
        assert_eq!(read_varint::<i64>(&mut &[0x80][..]), None, "cut short");
        assert_eq!(read_varint::<i128>(&mut &[0xff; 40][..]), None, "endless");
        assert_eq!(read_bytes(&mut &[10, 1, 2][..]), None, "shorter than its length says");
        let mut bytes = Vec::new();
        write_varint(i64::MAX, &mut bytes);
        assert_eq!(read_varint::<u8>(&mut &bytes[..]), None, "too large");
    }
}
