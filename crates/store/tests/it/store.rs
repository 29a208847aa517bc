//! The database by itself: order, gaps, damage, versions.

use std::sync::mpsc::channel;

use codecell_codemode::{
    RowState, SnapshotStore, StoreError, StoredRecord, StoredValue, ValueChange, Write,
};
use codecell_protocol::CellId;
use codecell_store::{OpenError, SqliteStore};

use crate::world::{folder, open, places};

fn write(
    store: &SqliteStore,
    cell: u128,
    numbers: &[u64],
    drop_below: Option<u64>,
) -> Result<(), StoreError> {
    let (told, answer) = channel();
    store.write(Write {
        cell: CellId::from_random(cell),
        state: RowState::Suspended,
        expires_us: 77,
        drop_below,
        records: numbers
            .iter()
            .map(|number| StoredRecord {
                number: *number,
                kind: 3,
                bytes: format!("secret {number}").into_bytes(),
            })
            .collect(),
        urgent: true,
        done: Box::new(move |result| told.send(result).unwrap()),
    });
    answer.recv().unwrap()
}

fn numbers(store: &SqliteStore, cell: u128) -> Vec<u64> {
    let stored = store.read(&CellId::from_random(cell)).unwrap().unwrap();
    stored.records.iter().map(|record| record.number).collect()
}

#[test]
fn records_come_back_in_order_in_another_process() {
    let (_keep, path) = folder();
    let store = open(&path);
    write(&store, 1, &[1, 2], None).unwrap();
    write(&store, 1, &[3], None).unwrap();
    drop(store);
    let store = open(&path);
    let stored = store.read(&CellId::from_random(1)).unwrap().unwrap();
    assert_eq!(stored.row.state, RowState::Suspended);
    assert_eq!(stored.row.expires_us, 77);
    assert_eq!(stored.records[2].bytes, b"secret 3");
    assert_eq!(numbers(&store, 1), [1, 2, 3]);
    assert_eq!(store.rows().unwrap().len(), 1);
    write(&store, 1, &[4], Some(4)).unwrap();
    assert_eq!(numbers(&store, 1), [4]);
    store.remove(&CellId::from_random(1)).unwrap();
    assert_eq!(store.read(&CellId::from_random(1)).unwrap(), None);
}

#[test]
fn what_does_not_follow_is_refused_and_harms_nobody_else() {
    let (_keep, path) = folder();
    let store = open(&path);
    assert_eq!(write(&store, 1, &[2], None), Err(StoreError::Gap));
    write(&store, 1, &[1], None).unwrap();
    for wrong in [&[1][..], &[3], &[2, 4]] {
        assert_eq!(write(&store, 1, wrong, None), Err(StoreError::Gap));
    }
    assert_eq!(
        write(&store, 9, &[], None),
        Err(StoreError::Gap),
        "a row without records"
    );
    write(&store, 2, &[1], None).unwrap();
    assert_eq!((numbers(&store, 1), numbers(&store, 2)), (vec![1], vec![1]));
}

#[test]
fn nothing_is_in_the_clear_and_every_damage_is_found() {
    let (_keep, path) = folder();
    let store = open(&path);
    write(&store, 1, &[1, 2], None).unwrap();
    write(&store, 2, &[1, 2], None).unwrap();
    drop(store);
    let database = path.join("cells.db");
    let bytes = std::fs::read(&database).unwrap();
    assert!(!bytes.windows(6).any(|window| window == b"secret"));
    let damages = [
        "UPDATE records SET sealed = zeroblob(40) WHERE number = 2",
        "UPDATE records SET kind = 4 WHERE number = 2",
        "UPDATE records SET sealed = (SELECT sealed FROM records AS r WHERE r.cell != records.cell AND r.number = 1) WHERE number = 1",
        "UPDATE records SET number = number + 10",
        "DELETE FROM records WHERE number = 2",
        "DELETE FROM records WHERE number = 1; UPDATE cells SET next = 2; UPDATE records SET number = 1",
    ];
    for damage in damages {
        std::fs::write(&database, &bytes).unwrap();
        let connection = rusqlite::Connection::open(&database).unwrap();
        connection.execute_batch(damage).unwrap();
        drop(connection);
        let read = open(&path).read(&CellId::from_random(1));
        assert!(
            matches!(read, Err(StoreError::Damaged(_))),
            "{damage}: {read:?}"
        );
    }
}

#[test]
fn a_key_of_another_store_opens_nothing() {
    let (_keep, path) = folder();
    write(&open(&path), 1, &[1], None).unwrap();
    std::fs::remove_file(path.join("store.key")).unwrap();
    let read = open(&path).read(&CellId::from_random(1));
    assert!(matches!(read, Err(StoreError::Damaged(_))));
}

#[test]
fn a_newer_file_and_one_of_others_are_refused() {
    let (_keep, path) = folder();
    drop(open(&path));
    let connection = rusqlite::Connection::open(path.join("cells.db")).unwrap();
    connection.execute_batch("PRAGMA user_version = 2").unwrap();
    let random = std::sync::Arc::new(codecell_codemode::OsRandomness::new().unwrap());
    let refused = SqliteStore::open(&places(&path), random.clone()).unwrap_err();
    let OpenError::Database { error, .. } = refused else {
        panic!("{refused}")
    };
    assert_eq!(error, StoreError::Newer { found: 2, known: 1 });
    connection
        .execute_batch("PRAGMA application_id = 1")
        .unwrap();
    assert!(SqliteStore::open(&places(&path), random.clone()).is_err());
    std::fs::write(
        path.join("cells.db"),
        "this is no database at all, but long enough",
    )
    .unwrap();
    assert!(SqliteStore::open(&places(&path), random).is_err());
}

#[test]
fn files_are_for_their_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let (_keep, path) = folder();
    let store = open(&path.join("inner"));
    write(&store, 1, &[1], None).unwrap();
    let _held = store.own(&CellId::from_random(1)).unwrap().unwrap();
    let mut open = vec![path.join("inner")];
    while let Some(path) = open.pop() {
        let about = std::fs::symlink_metadata(&path).unwrap();
        assert_eq!(about.permissions().mode() & 0o077, 0, "{}", path.display());
        if about.is_dir() {
            open.extend(
                std::fs::read_dir(path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        }
    }
}

#[test]
fn saved_values_belong_to_their_scope_and_expire() {
    let (_keep, path) = folder();
    let store = open(&path);
    let put = |scope: u8, number: u64, expires: u64| {
        let value = StoredValue {
            number,
            by_host: false,
            json: b"[1]".to_vec(),
        };
        store.change_value(&[scope; 32], ValueChange::Put(value), expires)
    };
    put(1, 1, 100).unwrap();
    put(1, 2, 200).unwrap();
    put(2, 1, 50).unwrap();
    assert!(put(1, 2, 200).is_err(), "a number is used once");
    assert_eq!(store.values(&[1; 32]).unwrap().len(), 2);
    store
        .change_value(&[1; 32], ValueChange::Delete(1), 200)
        .unwrap();
    store.sweep_values(150).unwrap();
    let left = store.values(&[1; 32]).unwrap();
    assert_eq!(
        (left.len(), left[0].number, &left[0].json[..]),
        (1, 2, &b"[1]"[..])
    );
    assert_eq!(store.values(&[2; 32]).unwrap(), []);
}

#[test]
fn writers_of_many_threads_and_two_stores_do_not_mix() {
    let (_keep, path) = folder();
    let (one, two) = (open(&path), open(&path));
    std::thread::scope(|scope| {
        for cell in 0..8 {
            let store = if cell % 2 == 0 { &one } else { &two };
            scope.spawn(move || {
                for number in 1..=20 {
                    write(store, cell, &[number], None).unwrap();
                }
            });
        }
    });
    let all: Vec<u64> = (1..=20).collect();
    assert!((0..8).all(|cell| numbers(&one, cell) == all));
}
