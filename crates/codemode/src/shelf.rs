//! Cells by id, each with the moment at which it has to be looked at: lookup in constant time,
//! expiry in the logarithm of their number, however many there are.
//!
//! A plain data structure that reads no clock. What has expired leaves a stone with what is still
//! to be said about it; stones are bounded in number and forgotten oldest first.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::time::Instant;

use codecell_protocol::CellId;

/// Stones that are kept.
const MAX_STONES: usize = 10_000;

/// Cells of type `T`, and stones of type `S`.
#[derive(Debug)]
pub(crate) struct Shelf<T, S> {
    cells: HashMap<CellId, (T, Instant)>,
    schedule: BTreeSet<(Instant, CellId)>,
    stones: HashMap<CellId, S>,
    stone_order: VecDeque<CellId>,
}

impl<T, S> Default for Shelf<T, S> {
    fn default() -> Self {
        Self {
            cells: HashMap::new(),
            schedule: BTreeSet::new(),
            stones: HashMap::new(),
            stone_order: VecDeque::new(),
        }
    }
}

impl<T: Clone, S: Clone> Shelf<T, S> {
    /// Puts a cell on the shelf, or changes when it is due.
    pub(crate) fn put(&mut self, id: CellId, cell: T, due: Instant) {
        if let Some((_, before)) = self.cells.insert(id, (cell, due)) {
            self.schedule.remove(&(before, id));
        }
        self.schedule.insert((due, id));
    }

    /// Changes when a cell is due, if it is on the shelf.
    pub(crate) fn reschedule(&mut self, id: CellId, due: Instant) {
        if let Some((_, at)) = self.cells.get_mut(&id) {
            self.schedule.remove(&(*at, id));
            self.schedule.insert((due, id));
            *at = due;
        }
    }

    pub(crate) fn get(&self, id: &CellId) -> Option<T> {
        self.cells.get(id).map(|(cell, _)| cell.clone())
    }

    pub(crate) fn remove(&mut self, id: &CellId) -> Option<T> {
        let (cell, due) = self.cells.remove(id)?;
        self.schedule.remove(&(due, *id));
        Some(cell)
    }

    /// Takes the cells that are due off the shelf, the earliest first.
    pub(crate) fn take_due(&mut self, now: Instant) -> Vec<(CellId, T)> {
        let mut due = Vec::new();
        while let Some(&(at, id)) = self.schedule.first() {
            if at > now {
                break;
            }
            self.schedule.pop_first();
            due.extend(self.cells.remove(&id).map(|(cell, _)| (id, cell)));
        }
        due
    }

    /// When the next cell is due.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.schedule.first().map(|(at, _)| *at)
    }

    /// Every cell, in no order; the shelf is empty afterwards.
    pub(crate) fn drain(&mut self) -> Vec<T> {
        self.schedule.clear();
        self.cells.drain().map(|(_, (cell, _))| cell).collect()
    }

    /// Every cell that fits, in no order.
    pub(crate) fn filter(&self, fits: impl Fn(&T) -> bool) -> Vec<T> {
        let cells = self.cells.values().map(|(cell, _)| cell);
        cells.filter(|cell| fits(cell)).cloned().collect()
    }

    /// Leaves a stone for a cell that is gone.
    pub(crate) fn put_stone(&mut self, id: CellId, stone: S) {
        if self.stones.insert(id, stone).is_none() {
            self.stone_order.push_back(id);
        }
        if self.stone_order.len() > MAX_STONES
            && let Some(oldest) = self.stone_order.pop_front()
        {
            self.stones.remove(&oldest);
        }
    }

    pub(crate) fn stone(&self, id: &CellId) -> Option<S> {
        self.stones.get(id).cloned()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn id(number: u128) -> CellId {
        CellId::from_random(number)
    }

    #[test]
    fn cells_come_due_in_order_and_once() {
        let start = Instant::now();
        let second = Duration::from_secs(1);
        let mut shelf: Shelf<u32, ()> = Shelf::default();
        shelf.put(id(1), 1, start + 2 * second);
        shelf.put(id(2), 2, start + second);
        shelf.put(id(3), 3, start + 3 * second);
        shelf.reschedule(id(1), start + 4 * second);
        assert_eq!(shelf.next_due(), Some(start + second));
        let due: Vec<u32> = shelf
            .take_due(start + 3 * second)
            .into_iter()
            .map(|(_, cell)| cell)
            .collect();
        assert_eq!(due, [2, 3]);
        assert!(shelf.take_due(start + 3 * second).is_empty());
        assert_eq!(shelf.get(&id(1)), Some(1));
        assert_eq!((shelf.remove(&id(1)), shelf.next_due()), (Some(1), None));
    }

    #[test]
    fn stones_are_bounded() {
        let mut shelf: Shelf<(), usize> = Shelf::default();
        for number in 0..=MAX_STONES {
            shelf.put_stone(id(number as u128), number);
        }
        assert_eq!(shelf.stone(&id(0)), None);
        assert_eq!(shelf.stone(&id(1)), Some(1));
    }
}
