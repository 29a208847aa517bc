//! The one thread that writes: whatever waits is written in one transaction, so that many cells that
//! commit at once cost one confirmation of the disk.
//!
//! What nobody waits for is held back for a moment, to go along with something urgent. The
//! invariant: nobody is told of success before the commit has returned.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use codecell_codemode::{Done, RowState, StoreError};
use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, params};

use crate::schema::refusal;

/// How long something that nobody waits for is held back.
const LAZY: Duration = Duration::from_millis(20);

/// Most changes of one transaction.
const MAX_GROUP: usize = 512;

/// One sealed record.
pub(crate) struct Sealed {
    pub(crate) number: u64,
    pub(crate) kind: u8,
    pub(crate) bytes: Vec<u8>,
}

/// One change, ready to be written.
pub(crate) struct Change {
    pub(crate) cell: [u8; 16],
    pub(crate) state: RowState,
    pub(crate) expires_us: u64,
    pub(crate) drop_below: Option<u64>,
    pub(crate) records: Vec<Sealed>,
    pub(crate) urgent: bool,
    pub(crate) done: Done,
}

pub(crate) enum Order {
    Change(Change),
    /// Answered when everything before it is written.
    Flush(Sender<()>),
}

/// The writing thread; dropping it writes what is left.
pub(crate) struct Writer {
    orders: Option<Sender<Order>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(crate) fn start(connection: Connection) -> std::io::Result<Self> {
        let (orders, inbox) = channel();
        let thread = std::thread::Builder::new()
            .name("codecell-store".to_owned())
            .spawn(move || run(connection, &inbox))?;
        Ok(Self {
            orders: Some(orders),
            thread: Some(thread),
        })
    }

    pub(crate) fn send(&self, order: Order) {
        let sent = match &self.orders {
            Some(orders) => orders.send(order),
            None => return,
        };
        if let Err(std::sync::mpsc::SendError(Order::Change(change))) = sent {
            (change.done)(Err(StoreError::Unavailable(
                "the store's thread has ended".to_owned(),
            )));
        }
    }

    pub(crate) fn flush(&self) {
        let (answer, answered) = channel();
        self.send(Order::Flush(answer));
        // An error means that the thread is gone, and then nothing is left to wait for.
        let _ = answered.recv();
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run(mut connection: Connection, inbox: &Receiver<Order>) {
    let mut group = Group::default();
    while let Ok(order) = inbox.recv() {
        group.add(order);
        group.fill(inbox);
        group.write(&mut connection);
    }
}

#[derive(Default)]
struct Group {
    changes: Vec<Change>,
    flushes: Vec<Sender<()>>,
    urgent: bool,
}

impl Group {
    fn add(&mut self, order: Order) {
        match order {
            Order::Change(change) => {
                self.urgent |= change.urgent;
                self.changes.push(change);
            }
            Order::Flush(answer) => {
                self.urgent = true;
                self.flushes.push(answer);
            }
        }
    }

    /// Takes what waits already; as long as nothing is urgent, waits for more.
    fn fill(&mut self, inbox: &Receiver<Order>) {
        let until = Instant::now() + LAZY;
        while self.changes.len() < MAX_GROUP {
            let next = match self.urgent {
                true => inbox.try_recv().map_err(|_| RecvTimeoutError::Timeout),
                false => inbox.recv_timeout(until.saturating_duration_since(Instant::now())),
            };
            match next {
                Ok(order) => self.add(order),
                Err(_) => return,
            }
        }
    }

    fn write(&mut self, connection: &mut Connection) {
        let changes = std::mem::take(&mut self.changes);
        let results = write_all(connection, &changes);
        for (change, result) in changes.into_iter().zip(results) {
            (change.done)(result);
        }
        for answer in self.flushes.drain(..) {
            let _ = answer.send(());
        }
        self.urgent = false;
    }
}

/// Writes the changes in one transaction. One that does not fit its cell fails alone; if the
/// transaction fails, all do.
fn write_all(connection: &mut Connection, changes: &[Change]) -> Vec<Result<(), StoreError>> {
    if changes.is_empty() {
        return Vec::new();
    }
    match try_write(connection, changes) {
        Ok(results) => results,
        Err(error) => {
            tracing::warn!(%error, "a write to the store failed");
            changes.iter().map(|_| Err(error.clone())).collect()
        }
    }
}

fn try_write(
    connection: &mut Connection,
    changes: &[Change],
) -> Result<Vec<Result<(), StoreError>>, StoreError> {
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(refusal)?;
    let mut results = Vec::with_capacity(changes.len());
    for change in changes {
        let fits = next_number(&transaction, change).map_err(refusal)?;
        results.push(match fits {
            Some(next) => apply(&transaction, change, next).map(Ok).map_err(refusal)?,
            None => Err(StoreError::Gap),
        });
    }
    transaction.commit().map_err(refusal)?;
    Ok(results)
}

/// The number of the change's first record, if it follows what is stored.
fn next_number(
    transaction: &Transaction<'_>,
    change: &Change,
) -> Result<Option<u64>, rusqlite::Error> {
    let stored: Option<u64> = transaction
        .query_row(
            "SELECT next FROM cells WHERE id = ?1",
            [&change.cell],
            |row| row.get(0),
        )
        .optional()?;
    let next = stored.unwrap_or(1);
    let rising = (next..).zip(&change.records);
    let follows = rising.fold(true, |all, (number, record)| all && number == record.number);
    // A change without records cannot make a cell.
    let exists = stored.is_some() || !change.records.is_empty();
    Ok((follows && exists).then_some(next))
}

fn apply(transaction: &Transaction<'_>, change: &Change, next: u64) -> Result<(), rusqlite::Error> {
    for record in &change.records {
        transaction.execute(
            "INSERT INTO records (cell, number, kind, sealed) VALUES (?1, ?2, ?3, ?4)",
            params![change.cell, record.number, record.kind, record.bytes],
        )?;
    }
    if let Some(below) = change.drop_below {
        transaction.execute(
            "DELETE FROM records WHERE cell = ?1 AND number < ?2",
            params![change.cell, below],
        )?;
    }
    let next = next + change.records.len() as u64;
    transaction.execute(
        "INSERT INTO cells (id, state, expires_us, next) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (id) DO UPDATE SET state = ?2, expires_us = ?3, next = ?4",
        params![
            change.cell,
            number_of(change.state),
            expiry(change.expires_us),
            next
        ],
    )?;
    Ok(())
}

/// SQLite's integers are signed.
pub(crate) fn expiry(expires_us: u64) -> i64 {
    i64::try_from(expires_us).unwrap_or(i64::MAX)
}

pub(crate) const fn number_of(state: RowState) -> u8 {
    match state {
        RowState::Running => 1,
        RowState::Suspended => 2,
        RowState::Ended => 3,
    }
}

pub(crate) const fn state_of(number: u8) -> Option<RowState> {
    match number {
        1 => Some(RowState::Running),
        2 => Some(RowState::Suspended),
        3 => Some(RowState::Ended),
        _ => None,
    }
}
