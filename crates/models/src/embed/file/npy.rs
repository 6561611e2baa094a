//! The `.npy` format of `NumPy`, versions 1 to 3, as specified in `numpy.lib.format`.
//!
//! Supported are two-dimensional arrays of little-endian floating-point numbers of 16, 32 or 64
//! bits in row order; everything else is an error that names the problem.

use half::f16;

const MAGIC: &[u8] = b"\x93NUMPY";
/// The length of the magic bytes and the version.
const PREAMBLE_LEN: usize = 8;

/// A number type: its name in the header, its length in bytes, and its conversion.
type NumberType = (&'static str, usize, fn(&[u8]) -> f32);

const NUMBER_TYPES: [NumberType; 3] = [
    ("<f2", 2, |bytes| f16::from_le_bytes(fixed(bytes)).to_f32()),
    ("<f4", 4, |bytes| f32::from_le_bytes(fixed(bytes))),
    ("<f8", 8, |bytes| narrow(f64::from_le_bytes(fixed(bytes)))),
];

fn fixed<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().expect("the length is that of the number type")
}

#[expect(clippy::cast_possible_truncation, reason = "rounds to the nearest 32-bit number")]
fn narrow(value: f64) -> f32 {
    value as f32
}

/// Reads rows of numbers; returns the number of columns and all numbers.
pub(super) fn read(bytes: &[u8]) -> Result<(usize, Vec<f32>), String> {
    let (header, data) = header(bytes).ok_or("the file is not in .npy format, or is truncated")?;
    let kind = quoted(header, "descr").ok_or("the header has no descr")?;
    let Some(&(_, size, number)) = NUMBER_TYPES.iter().find(|(name, ..)| *name == kind) else {
        let names: Vec<&str> = NUMBER_TYPES.iter().map(|(name, ..)| *name).collect();
        return Err(format!("expected numbers of type {}, found {kind}", names.join(", ")));
    };
    if !after_key(header, "fortran_order").is_some_and(|order| order.starts_with("False")) {
        return Err("expected rows in C order (fortran_order False)".to_owned());
    }
    let [n_rows, n_dims] = shape(header).ok_or("expected an array with two dimensions")?;
    let expected = n_rows.checked_mul(n_dims).and_then(|n| n.checked_mul(size));
    if expected != Some(data.len()) {
        return Err(format!("expected {n_rows} × {n_dims} numbers, found {} bytes", data.len()));
    }
    Ok((n_dims, data.chunks_exact(size).map(number).collect()))
}

/// Splits a file into its header and the data after it.
fn header(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let version = *bytes.strip_prefix(MAGIC)?.first()?;
    let rest = bytes.get(PREAMBLE_LEN..)?;
    let (len, rest) = match version {
        1 => rest.split_first_chunk().map(|(len, rest)| (usize::from(u16::from_le_bytes(*len)), rest))?,
        2 | 3 => {
            let (len, rest) = rest.split_first_chunk()?;
            (usize::try_from(u32::from_le_bytes(*len)).ok()?, rest)
        }
        _ => return None,
    };
    let (header, data) = rest.split_at_checked(len)?;
    Some((std::str::from_utf8(header).ok()?, data))
}

/// Returns the text after a key of the header, which is a Python dictionary.
fn after_key<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let at = header.find(&format!("'{key}'"))?;
    Some(header[at + key.len() + 2..].trim_start().strip_prefix(':')?.trim_start())
}

fn quoted<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    after_key(header, key)?.strip_prefix('\'')?.split('\'').next()
}

fn shape(header: &str) -> Option<[usize; 2]> {
    let inside = after_key(header, "shape")?.strip_prefix('(')?.split(')').next()?;
    let numbers = inside.split(',').map(str::trim).filter(|number| !number.is_empty());
    numbers.map(|number| number.parse().ok()).collect::<Option<Vec<usize>>>()?.try_into().ok()
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns a file in the format of `NumPy`.
    pub(in super::super) fn npy(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = [MAGIC, &[version, 0]].concat();
        match version {
            1 => bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes()),
            _ => bytes.extend(u32::try_from(header.len()).unwrap().to_le_bytes()),
        }
        [&bytes, header.as_bytes(), data].concat()
    }

    pub(in super::super) fn header_of(kind: &str, shape: &str) -> String {
        format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}          \n")
    }

    #[test]
    fn numbers_of_each_type_are_read_in_each_version() {
        let values = [0.5_f32, -2.0, 1.25, 0.0, 3.0, -0.75];
        for version in 1..=3 {
            let read_as =
                |kind, data: Vec<u8>| read(&npy(version, &header_of(kind, "(2, 3)"), &data)).unwrap();
            let halves = values.iter().flat_map(|&value| f16::from_f32(value).to_le_bytes());
            let expected = (3, values.to_vec());
            assert_eq!(read_as("<f2", halves.collect()), expected);
            assert_eq!(
                read_as("<f4", values.iter().flat_map(|value| value.to_le_bytes()).collect()),
                expected
            );
            let wide = values.iter().flat_map(|&value| f64::from(value).to_le_bytes());
            assert_eq!(read_as("<f8", wide.collect()), expected);
        }
    }

    #[test]
    fn errors_name_the_problem() {
        let fortran = "{'descr': '<f4', 'fortran_order': True, 'shape': (1, 1), }";
        for (bytes, expected) in [
            (b"text".to_vec(), "not in .npy format"),
            (npy(1, &header_of("<f4", "(1, 1)"), &[0; 4])[..20].to_vec(), "truncated"),
            (npy(4, &header_of("<f4", "(1, 1)"), &[0; 4]), "not in .npy format"),
            (npy(1, &header_of("<i4", "(1, 1)"), &[0; 4]), "type <f2, <f4, <f8, found <i4"),
            (npy(1, &header_of(">f4", "(1, 1)"), &[0; 4]), "found >f4"),
            (npy(1, fortran, &[0; 4]), "fortran_order"),
            (npy(1, &header_of("<f4", "(4,)"), &[0; 16]), "two dimensions"),
            (npy(1, &header_of("<f4", "(2, 3)"), &[0; 20]), "expected 2 × 3 numbers, found 20 bytes"),
            (npy(1, &header_of("<f4", "(2, 3)"), &[0; 28]), "expected 2 × 3 numbers, found 28 bytes"),
            (npy(1, &header_of("<f4", "(9223372036854775807, 9)"), &[]), "found 0 bytes"),
            // The product is 0 in 64 bits.
            (npy(1, &header_of("<f4", "(9223372036854775808, 2)"), &[]), "found 0 bytes"),
            (npy(1, &header_of("<f4", "(99999999999999999999, 1)"), &[]), "two dimensions"),
            (npy(1, &header_of("<f4", &format!("({}", "[".repeat(60_000))), &[]), "two dimensions"),
            // The header is missing but declared with 4 GiB.
            ([MAGIC, &[2, 0], &u32::MAX.to_le_bytes()].concat(), "truncated"),
        ] {
            let message = read(&bytes).unwrap_err();
            assert!(message.contains(expected), "{message}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..60), version in 1_u8..4) {
            let _ = read(&bytes);
            let _ = read(&npy(version, &String::from_utf8_lossy(&bytes), &bytes));
        }
    }
}
