//! Errors of the operating system in plain words, with a hint how to go on.
//!
//! The texts are the same on all systems, so that they can be searched for. A hint looks at the path that failed: it
//! names the folder that denies access with its owner and mode, and the part of a path that does not exist.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::suggestion::closest;

/// The number of "too many open files" on Unix.
const TOO_MANY_OPEN_FILES: i32 = 24;

/// Returns what went wrong, as part of a sentence.
pub fn cause_of(error: &io::Error) -> String {
    let text = match error.kind() {
        ErrorKind::NotFound => "there is no such file or folder",
        ErrorKind::PermissionDenied => "permission denied",
        ErrorKind::AlreadyExists => "there is a file of that name",
        ErrorKind::NotADirectory => "a part of the path is a file, not a folder",
        ErrorKind::IsADirectory => "it is a folder, not a file",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "no space left on the device",
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only",
        _ if error.raw_os_error() == Some(TOO_MANY_OPEN_FILES) => "too many open files",
        _ => return error.to_string(),
    };
    // An error that a library or this program made has a text of its own.
    if error.raw_os_error().is_none() && error.get_ref().is_some() {
        error.to_string()
    } else {
        text.to_owned()
    }
}

/// Returns how to go on after an error at a path: a line that begins with `hint: `, with the line break before it, or
/// nothing.
pub fn hint_of(error: &io::Error, path: &Path) -> String {
    let hint = match error.kind() {
        ErrorKind::NotFound => not_found(path),
        ErrorKind::PermissionDenied => denied(path),
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory => file_in_path(path),
        ErrorKind::IsADirectory => Some("name a file in it".to_owned()),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Some("free some space there".to_owned()),
        ErrorKind::ReadOnlyFilesystem => Some("choose a path on another file system".to_owned()),
        _ if error.raw_os_error() == Some(TOO_MANY_OPEN_FILES) => {
            Some("raise the limit, such as with `ulimit -n 4096`".to_owned())
        }
        _ => None,
    };
    hint.map(|hint| format!("\nhint: {hint}")).unwrap_or_default()
}

/// The last part of a path, from its end, whose facts can be read.
fn known_part(path: &Path) -> Option<&Path> {
    path.ancestors().find(|part| !part.as_os_str().is_empty() && part.symlink_metadata().is_ok())
}

fn not_found(path: &Path) -> Option<String> {
    let part = known_part(path);
    if part == Some(path) {
        return None;
    }
    if let Some(meant) = similar_file(path) {
        return Some(format!("did you mean {}?", meant.display()));
    }
    let folder = match part {
        Some(part) => part.display().to_string(),
        None => ".".to_owned(),
    };
    Some(format!("check the path with `ls {folder}`"))
}

/// The file in the same folder whose name is most similar to that of a file that does not exist.
fn similar_file(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = folder.unwrap_or(Path::new(".")).read_dir().ok()?;
    let stem = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    // Names that only share their extensions are not similar.
    let is_similar = |known: &str| closest(&stem(name), [stem(known).as_str()]).is_some();
    let names: Vec<String> =
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let meant = closest(name, names.iter().map(String::as_str).filter(|known| is_similar(known)))?;
    Some(path.with_file_name(meant))
}

fn file_in_path(path: &Path) -> Option<String> {
    let file = path.ancestors().find(|part| part.is_file())?;
    Some(format!("{} is a file; choose another path, or move the file away", file.display()))
}

#[cfg(unix)]
fn denied(path: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;

    let here = Path::new(".");
    let part = known_part(path).unwrap_or(here);
    let facts = part.metadata().ok()?;
    let mode = facts.mode() & 0o7777;
    let owner = name_of_user(facts.uid()).unwrap_or_else(|| format!("user {}", facts.uid()));
    let others = mode % 0o100;
    let only = if others == 0 { ", so only its owner can open it" } else { "" };
    Some(format!(
        "{} belongs to {owner} and has mode {mode:04o}{only}; ask its owner for access, or choose another path",
        part.display()
    ))
}

/// The name of a user, from the system's list of local users.
#[cfg(unix)]
fn name_of_user(id: u32) -> Option<String> {
    let users = std::fs::read_to_string("/etc/passwd").ok()?;
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (name, number) = (fields.next()?, fields.nth(1)?);
        (number.parse() == Ok(id)).then(|| name.to_owned())
    })
}

#[cfg(not(unix))]
fn denied(_: &Path) -> Option<String> {
    Some("ask its owner for access, or choose another path".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_names_the_part_of_the_path_that_is_to_blame() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "").unwrap();
        let failed = |path: &Path| std::fs::create_dir(path).unwrap_err();
        let error = failed(&at("file/sub"));
        assert_eq!(cause_of(&error), "a part of the path is a file, not a folder");
        assert!(
            hint_of(&error, &at("file/sub"))
                .starts_with(&format!("\nhint: {} is a file", at("file").display()))
        );
        let error = failed(&at("none/sub"));
        assert_eq!(cause_of(&error), "there is no such file or folder");
        assert_eq!(
            hint_of(&error, &at("none/sub")),
            format!("\nhint: check the path with `ls {}`", folder.path().display())
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_denied_path_is_shown_with_its_owner_and_mode() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
        let hint = hint_of(&ErrorKind::PermissionDenied.into(), &folder.path().join("run.json"));
        assert!(hint.starts_with(&format!("\nhint: {} belongs to ", folder.path().display())), "{hint}");
        assert!(hint.contains(" has mode 0700, so only its owner can open it; "), "{hint}");
    }

    #[test]
    fn an_error_that_is_not_of_the_system_keeps_its_text() {
        assert_eq!(cause_of(&io::Error::other("disk on fire")), "disk on fire");
        assert_eq!(
            cause_of(&io::Error::new(ErrorKind::PermissionDenied, "the key is missing")),
            "the key is missing"
        );
    }
}
