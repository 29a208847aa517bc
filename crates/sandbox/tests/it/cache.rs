//! The compiled guest on disk: found, replaced when damaged, done without when unusable.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use codecell_sandbox::{CacheState, Sandbox, SandboxOptions};

use crate::harness::LIAR;

fn make(folder: &Path) -> CacheState {
    let options = SandboxOptions {
        cache_dir: Some(folder.to_owned()),
        one_shot: true,
        ..SandboxOptions::default()
    };
    Sandbox::with_image(&options, LIAR).unwrap().info().cache
}

fn only_file(folder: &Path) -> PathBuf {
    let mut files = fs::read_dir(folder.join("guest")).unwrap();
    let file = files.next().unwrap().unwrap().path();
    assert!(files.next().is_none());
    file
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn it_is_stored_for_the_owner_alone_and_found() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(make(folder.path()), CacheState::Stored);
    assert_eq!(make(folder.path()), CacheState::Hit);
    assert_eq!(
        (
            mode(&folder.path().join("guest")),
            mode(&only_file(folder.path()))
        ),
        (0o700, 0o600)
    );
}

#[test]
fn damage_anywhere_is_found_and_repaired() {
    let folder = tempfile::tempdir().unwrap();
    make(folder.path());
    let file = only_file(folder.path());
    let whole = fs::read(&file).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    let mut trailer = whole.clone();
    *trailer.last_mut().unwrap() ^= 1;
    let longer = [&whole[..], b"x"].concat();
    for damaged in [
        Vec::new(),
        whole[..whole.len() / 2].to_vec(),
        flipped,
        trailer,
        longer,
    ] {
        fs::write(&file, damaged).unwrap();
        assert_eq!(make(folder.path()), CacheState::Stored);
        assert_eq!(make(folder.path()), CacheState::Hit);
    }
}

#[test]
fn a_folder_that_others_may_read_or_write_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("guest");
    fs::create_dir(&inner).unwrap();
    fs::set_permissions(&inner, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(matches!(make(folder.path()), CacheState::Unusable { .. }));
    assert!(fs::read_dir(&inner).unwrap().next().is_none());
}

#[test]
fn a_link_in_place_of_the_folder_or_file_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    make(folder.path());
    let file = only_file(folder.path());
    let elsewhere = folder.path().join("elsewhere");
    fs::rename(&file, &elsewhere).unwrap();
    symlink(&elsewhere, &file).unwrap();
    assert!(matches!(make(folder.path()), CacheState::Unusable { .. }));

    let other = tempfile::tempdir().unwrap();
    symlink(folder.path().join("guest"), other.path().join("guest")).unwrap();
    assert!(matches!(make(other.path()), CacheState::Unusable { .. }));
}

#[test]
fn a_file_in_place_of_the_folder_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("guest"), b"in the way").unwrap();
    assert!(matches!(make(folder.path()), CacheState::Unusable { .. }));
}

#[test]
fn many_at_once_agree() {
    let folder = tempfile::tempdir().unwrap();
    let states: Vec<CacheState> = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| make(folder.path())))
            .collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    assert!(
        states
            .iter()
            .all(|state| matches!(state, CacheState::Stored | CacheState::Hit))
    );
    assert_eq!(make(folder.path()), CacheState::Hit);
    only_file(folder.path());
}
