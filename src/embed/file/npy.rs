//! Arrays of `NumPy`: the `.npy` format, versions 1 to 3.
//!
//! After the format's own description in `numpy.lib.format`. Read are two dimensions of
//! floating-point numbers of 16, 32 or 64 bits, in little endian, row after row; everything
//! else is refused by name.

use half::f16;

const MAGIC: &[u8] = b"\x93NUMPY";
/// Magic and the two bytes of the version.
const PREAMBLE_LEN: usize = 8;

/// Numbers of each kind: its name in a header, its bytes, and how they are read.
type Kind = (&'static str, usize, fn(&[u8]) -> f32);

const KINDS: [Kind; 3] = [
    ("<f2", 2, |bytes| f16::from_le_bytes(fixed(bytes)).to_f32()),
    ("<f4", 4, |bytes| f32::from_le_bytes(fixed(bytes))),
    ("<f8", 8, |bytes| narrow(f64::from_le_bytes(fixed(bytes)))),
];

fn fixed<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().expect("as many as the kind has")
}

#[expect(clippy::cast_possible_truncation, reason = "rounds to the nearest 32-bit number")]
fn narrow(value: f64) -> f32 {
    value as f32
}

/// Reads rows of numbers: how many a row has, and all of them.
pub(super) fn read(bytes: &[u8]) -> Result<(usize, Vec<f32>), String> {
    let (header, data) = header(bytes).ok_or("it is no .npy file, or it is cut")?;
    let kind = quoted(header, "descr").ok_or("its header has no descr")?;
    let Some(&(_, size, number)) = KINDS.iter().find(|(name, ..)| *name == kind) else {
        let names: Vec<&str> = KINDS.iter().map(|(name, ..)| *name).collect();
        return Err(format!("its numbers must be one of {}, not {kind}", names.join(", ")));
    };
    if !behind(header, "fortran_order").is_some_and(|order| order.starts_with("False")) {
        return Err("its rows must stand one after the other (fortran_order False)".to_owned());
    }
    let [n_rows, n_dims] = shape(header).ok_or("it must have two dimensions")?;
    let expected = n_rows.checked_mul(n_dims).and_then(|n| n.checked_mul(size));
    if expected != Some(data.len()) {
        return Err(format!("{n_rows} × {n_dims} numbers are promised, {} bytes are there", data.len()));
    }
    Ok((n_dims, data.chunks_exact(size).map(number).collect()))
}

/// The header, and what stands behind it.
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

/// What stands behind a key of the header, which is a dictionary in Python's notation.
fn behind<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let at = header.find(&format!("'{key}'"))?;
    Some(header[at + key.len() + 2..].trim_start().strip_prefix(':')?.trim_start())
}

fn quoted<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    behind(header, key)?.strip_prefix('\'')?.split('\'').next()
}

fn shape(header: &str) -> Option<[usize; 2]> {
    let inside = behind(header, "shape")?.strip_prefix('(')?.split(')').next()?;
    let numbers = inside.split(',').map(str::trim).filter(|number| !number.is_empty());
    numbers.map(|number| number.parse().ok()).collect::<Option<Vec<usize>>>()?.try_into().ok()
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A file as `NumPy` writes it.
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
    fn numbers_of_each_kind_are_read_in_each_version() {
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
    fn what_is_no_plain_table_of_numbers_is_refused_by_name() {
        let fortran = "{'descr': '<f4', 'fortran_order': True, 'shape': (1, 1), }";
        for (bytes, says) in [
            (b"text".to_vec(), "no .npy file"),
            (npy(1, &header_of("<f4", "(1, 1)"), &[0; 4])[..20].to_vec(), "cut"),
            (npy(4, &header_of("<f4", "(1, 1)"), &[0; 4]), "no .npy file"),
            (npy(1, &header_of("<i4", "(1, 1)"), &[0; 4]), "one of <f2, <f4, <f8, not <i4"),
            (npy(1, &header_of(">f4", "(1, 1)"), &[0; 4]), "not >f4"),
            (npy(1, fortran, &[0; 4]), "fortran_order"),
            (npy(1, &header_of("<f4", "(4,)"), &[0; 16]), "two dimensions"),
            (npy(1, &header_of("<f4", "(2, 3)"), &[0; 20]), "2 × 3 numbers are promised, 20 bytes are there"),
            (npy(1, &header_of("<f4", "(2, 3)"), &[0; 28]), "2 × 3 numbers are promised, 28 bytes are there"),
            (npy(1, &header_of("<f4", "(9223372036854775807, 9)"), &[]), "promised"),
            // The product is 0 in 64 bits.
            (npy(1, &header_of("<f4", "(9223372036854775808, 2)"), &[]), "promised"),
            (npy(1, &header_of("<f4", "(99999999999999999999, 1)"), &[]), "two dimensions"),
            (npy(1, &header_of("<f4", &format!("({}", "[".repeat(60_000))), &[]), "two dimensions"),
            // A header of 4 GiB that is not there.
            ([MAGIC, &[2, 0], &u32::MAX.to_le_bytes()].concat(), "cut"),
        ] {
            let message = read(&bytes).unwrap_err();
            assert!(message.contains(says), "{message}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..60), version in 1_u8..4) {
            let _ = read(&bytes);
            let _ = read(&npy(version, &String::from_utf8_lossy(&bytes), &bytes));
        }
    }
}
