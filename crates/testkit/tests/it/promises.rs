//! Promises mean what they mean elsewhere, however the host batches their settlements.

use codecell_testkit::promises::{
    Batches, Case, Reference, ReferenceError, generate, run_in_guest,
};

use crate::support::on_guest_thread;

/// Cases of a normal run; `CODECELL_LONG_TESTS` multiplies them.
const CASES: u64 = 300;

/// Random groupings of each case.
const GROUPINGS: u64 = 6;

fn cases() -> u64 {
    if std::env::var_os("CODECELL_LONG_TESTS").is_some() {
        20 * CASES
    } else {
        CASES
    }
}

#[test]
fn random_programs_give_what_node_gives_for_the_same_order() {
    let mut reference = match Reference::start() {
        Ok(reference) => reference,
        Err(error @ ReferenceError::Missing(_)) => return println!("skipped: {error}"),
        Err(error) => panic!("{error}"),
    };
    let cases: Vec<(u64, Case)> = (0..cases()).map(|seed| (seed, generate(seed))).collect();
    let observed = {
        let cases = cases.clone();
        on_guest_thread(move |sandbox, thread| {
            let run = |(_, case): &(u64, Case)| {
                run_in_guest(sandbox, thread, case, None, Batches::Single).outcome
            };
            cases.iter().map(run).collect::<Vec<_>>()
        })
    };
    for ((seed, case), outcome) in cases.iter().zip(observed) {
        let expected = reference.run(case).expect("an outcome");
        assert_eq!(outcome, expected, "seed {seed}:\n{}", case.code);
    }
}

#[test]
fn every_grouping_of_one_order_gives_the_same() {
    let (entries, grouped) = on_guest_thread(|sandbox, thread| {
        let mut counts = (0, 0);
        for seed in 0..cases() {
            let case = generate(seed);
            let single = run_in_guest(sandbox, thread, &case, None, Batches::Single);
            for grouping in 0..GROUPINGS {
                let grouped = run_in_guest(
                    sandbox,
                    thread,
                    &case,
                    Some(&single.order),
                    Batches::Random(grouping),
                );
                assert_eq!(
                    grouped.outcome, single.outcome,
                    "seed {seed}, grouping {grouping}:\n{}",
                    case.code
                );
                counts = (counts.0 + single.entries, counts.1 + grouped.entries);
            }
        }
        counts
    });
    assert!(
        grouped < entries,
        "the groupings must save entries, or they tested nothing"
    );
}
