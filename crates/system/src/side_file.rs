//! Reads files that people name beside the log: decisions, names, labels, prices, weights, scores, pipelines.
//!
//! They are read as a whole, so their size is bounded. A pipe is read once, as a shell makes one for `<(command)`. A device
//! is refused: it may never end.

use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::path::Path;

use callsieve_text::figures;

/// The most bytes of such a file.
const MAX_BYTES: u64 = 1 << 30;

/// Opens a file or a pipe.
///
/// # Errors
/// It cannot be opened, or is a device that may never end.
pub fn open(path: &Path) -> io::Result<File> {
    // Opening a device can have effects, so it is looked at first.
    refuse_device(path)?;
    File::open(path)
}

/// Refuses a device. What is not there is for the caller to find.
///
/// # Errors
/// It is a device that may never end.
pub fn refuse_device(path: &Path) -> io::Result<()> {
    if path.metadata().is_ok_and(|facts| is_endless(path, &facts)) {
        return Err(io::Error::other("it is a device, not a file"));
    }
    Ok(())
}

/// Reads a file or a pipe.
///
/// # Errors
/// It cannot be read, is a device or too large.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    read_within(path, MAX_BYTES)
}

/// Reads a text in UTF-8.
///
/// # Errors
/// As [`read`], and it is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    let no_text = || io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8");
    String::from_utf8(read(path)?).map_err(|_| no_text())
}

fn read_within(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let too_large = || {
        let limit = figures::bytes(max_bytes);
        io::Error::other(format!("it is larger than {limit}, the most for a file that is read as a whole"))
    };
    let mut bytes = Vec::new();
    // The length of a pipe is not known.
    if file.metadata()?.len() > max_bytes {
        return Err(too_large());
    }
    file.take(max_bytes + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes { Err(too_large()) } else { Ok(bytes) }
}

/// Whether a file is a device. The empty one, `/dev/null`, ends at once.
#[cfg(unix)]
fn is_endless(path: &Path, facts: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;

    let kind = facts.file_type();
    let is_null = || path.canonicalize().is_ok_and(|path| path == Path::new("/dev/null"));
    (kind.is_char_device() || kind.is_block_device()) && !is_null()
}

#[cfg(not(unix))]
fn is_endless(_: &Path, _: &Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::write;

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("names.txt");
        write(&path, "é\n".as_bytes()).unwrap();
        assert_eq!(read_text(&path).unwrap(), "é\n");
        assert_eq!(read_within(&path, 3).unwrap().len(), 3);
        let error = read_within(&path, 2).unwrap_err().to_string();
        assert_eq!(error, "it is larger than 2 B, the most for a file that is read as a whole");
        write(&path, b"\xff").unwrap();
        assert_eq!(read_text(&path).unwrap_err().to_string(), "it is not UTF-8");
        // A file of holes has a length and takes no space.
        File::create(&path).unwrap().set_len(MAX_BYTES + 1).unwrap();
        assert!(read(&path).unwrap_err().to_string().starts_with("it is larger than 1.0 GiB"));
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_refused_and_a_pipe_is_read() {
        for device in ["/dev/zero", "/dev/urandom", "/dev/full"] {
            assert_eq!(read(Path::new(device)).unwrap_err().to_string(), "it is a device, not a file");
        }
        assert_eq!(read(Path::new("/dev/null")).unwrap(), b"");
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let writer = std::thread::spawn({
            let pipe = pipe.clone();
            move || io::Write::write_all(&mut File::options().write(true).open(pipe).unwrap(), b"a name\n")
        });
        assert_eq!(read(&pipe).unwrap(), b"a name\n");
        writer.join().unwrap().unwrap();
    }
}
