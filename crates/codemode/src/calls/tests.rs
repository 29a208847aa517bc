//! The calls of a cell, driven by hand: queueing, order, refusal, settling.

use super::*;

const BOUNDS: CallBounds = CallBounds {
    in_flight: 2,
    queued_bytes: 100,
    undelivered_bytes: 50,
    message_bytes: 40,
};

fn calls_with(ids: &[u32]) -> (Calls, Instant) {
    let now = Instant::now();
    let mut calls = Calls::new(BOUNDS);
    for id in ids {
        calls.enqueue(call(*id), now);
    }
    (calls, now)
}

fn call(guest_id: u32) -> NewCall {
    NewCall {
        guest_id,
        method: Method::Call,
        tool: "t".into(),
        effect: EffectKind::Write,
        arguments: "{}".into(),
    }
}

fn started(calls: &mut Calls) -> Vec<u32> {
    std::iter::from_fn(|| calls.next_to_start())
        .map(|start| start.guest_id)
        .collect()
}

fn text(bytes: usize) -> Answer {
    Answer::Text("x".repeat(bytes))
}

#[test]
fn calls_in_flight_never_pass_the_cap_and_start_in_order() {
    let (mut calls, _) = calls_with(&[7, 8, 9, 10]);
    assert_eq!(started(&mut calls), [7, 8]);
    assert!(calls.settle(8, CallState::Committed, text(1), 5));
    assert_eq!(started(&mut calls), [9]);
    assert_eq!((calls.in_flight(), calls.outstanding()), (2, 3));
}

#[test]
fn replies_keep_their_order_and_their_stamps_rise() {
    let (mut calls, _) = calls_with(&[1, 2]);
    started(&mut calls);
    calls.settle(2, CallState::Committed, text(1), 10);
    calls.settle(1, CallState::Committed, text(1), 10);
    calls.push_yield(3);
    let replies = calls.take_replies(u64::MAX);
    let seen: Vec<_> = replies
        .iter()
        .map(|reply| (reply.call, reply.arrival_us))
        .collect();
    assert_eq!(seen, [(2, 10), (1, 11), (0, 12)]);
    assert!(!calls.has_replies());
}

#[test]
fn a_batch_of_replies_is_cut_by_bytes_but_never_empty() {
    let (mut calls, _) = calls_with(&[1, 2]);
    started(&mut calls);
    calls.settle(1, CallState::Committed, text(20), 1);
    calls.settle(2, CallState::Committed, text(20), 2);
    assert_eq!(calls.take_replies(1).len(), 1);
    assert_eq!(calls.take_replies(1).len(), 1);
}

#[test]
fn a_reply_that_is_too_large_becomes_an_error_that_keeps_the_state() {
    let (mut calls, _) = calls_with(&[1, 2]);
    started(&mut calls);
    calls.settle(1, CallState::Committed, text(41), 1);
    calls.settle(2, CallState::Committed, text(40), 2);
    let replies = calls.take_replies(u64::MAX);
    assert_eq!(replies[0].kind, SettlementKind::Reject);
    assert!(
        replies[0].payload.contains(r#""code":"reply_too_large""#),
        "{}",
        replies[0].payload
    );
    assert!(
        replies[0].payload.contains(r#""effectStatus":"committed""#),
        "{}",
        replies[0].payload
    );
    assert_eq!(calls.rejection_of(1), Some(Refusal::Other));
    assert_eq!(
        calls.ledger().effects().map(|effects| effects.committed),
        Some(2)
    );
}

#[test]
fn replies_that_pile_up_are_bounded() {
    let mut calls = Calls::new(CallBounds {
        in_flight: 3,
        ..BOUNDS
    });
    for id in [1, 2, 3] {
        calls.enqueue(call(id), Instant::now());
    }
    started(&mut calls);
    calls.settle(1, CallState::Committed, text(25), 1);
    calls.settle(2, CallState::Committed, text(25), 2);
    calls.settle(3, CallState::Committed, text(1), 3);
    let kinds: Vec<_> = calls
        .take_replies(u64::MAX)
        .iter()
        .map(|reply| reply.kind)
        .collect();
    assert_eq!(
        kinds,
        [
            SettlementKind::ResolveText,
            SettlementKind::ResolveText,
            SettlementKind::Reject
        ]
    );
}

#[test]
fn nothing_starts_while_many_replies_wait() {
    let (mut calls, _) = calls_with(&[1, 2, 3]);
    started(&mut calls);
    calls.settle(1, CallState::Committed, text(26), 1);
    assert_eq!(started(&mut calls), [] as [u32; 0]);
    calls.take_replies(u64::MAX);
    assert_eq!(started(&mut calls), [3]);
}

#[test]
fn a_turn_is_admitted_or_refused_by_count_and_by_bytes() {
    let calls = Calls::new(BOUNDS);
    let most = QUEUED_CALLS as usize + BOUNDS.in_flight;
    assert!(calls.admits(most, 0));
    assert!(!calls.admits(most + 1, 0));
    assert!(calls.admits(1, 100));
    assert!(!calls.admits(1, 101));
}

#[test]
fn a_closed_call_is_never_handed_over() {
    let (mut calls, now) = calls_with(&[1, 2]);
    started(&mut calls);
    calls.set_approval(1, Some(now));
    assert_eq!(calls.expire_approvals(Duration::ZERO, now, 1), [1]);
    assert!(!calls.handed_over(1));
    calls.finish();
    assert!(!calls.handed_over(2));
}

#[test]
fn calls_at_the_end_are_unknown_once_handed_over() {
    let (mut calls, _) = calls_with(&[1, 2, 3]);
    started(&mut calls);
    assert!(calls.handed_over(1));
    calls.finish();
    let effects = calls.ledger().effects().expect("writes");
    let states: Vec<_> = effects
        .calls
        .iter()
        .map(|call| (call.id.as_str(), call.state))
        .collect();
    assert_eq!(
        states,
        [
            ("c1", CallState::Unknown),
            ("c2", CallState::NotStarted),
            ("c3", CallState::NotStarted)
        ]
    );
    assert!(
        !calls.settle(1, CallState::Committed, text(1), 9),
        "a late report changes nothing"
    );
    assert_eq!(started(&mut calls), [] as [u32; 0]);
}

#[test]
fn approvals_expire_as_not_started() {
    let (mut calls, now) = calls_with(&[1, 2]);
    started(&mut calls);
    let ttl = Duration::from_secs(60);
    calls.set_approval(1, Some(now));
    assert!(!calls.all_wait_for_approval() && calls.any_waits_for_approval());
    calls.set_approval(2, Some(now + Duration::from_secs(1)));
    assert!(calls.all_wait_for_approval());
    assert_eq!(calls.next_approval_expiry(ttl), Some(now + ttl));
    assert_eq!(
        calls.expire_approvals(ttl, now + ttl - Duration::from_millis(1), 1),
        [] as [u32; 0]
    );
    assert_eq!(calls.expire_approvals(ttl, now + ttl, 1), [1]);
    let reply = &calls.take_replies(u64::MAX)[0];
    assert!(
        reply.payload.contains("approval_expired"),
        "{}",
        reply.payload
    );
    let (pending, more) = calls.pending(now, 1000);
    assert_eq!((pending[0].state, more), (PendingState::Approval, 0));
}

#[test]
fn a_refused_call_is_in_the_ledger_and_remembered() {
    let (mut calls, _) = calls_with(&[]);
    calls.refuse(4, &"t".into(), EffectKind::Write, Rejection::too_many(9), 1);
    assert_eq!(calls.rejection_of(4), Some(Refusal::TooMany));
    assert_eq!(
        calls.ledger().effects().map(|effects| effects.not_started),
        Some(1)
    );
}

#[test]
fn a_long_list_of_pending_calls_is_cut_and_counted() {
    let ids: Vec<u32> = (1..=100).collect();
    let (mut calls, now) = calls_with(&ids);
    started(&mut calls);
    calls.set_approval(2, Some(now));
    let (pending, more) = calls.pending(now, u64::MAX);
    assert_eq!((pending.len(), more), (32, 68));
    let (pending, more) = calls.pending(now, 200);
    assert_eq!(
        (
            pending[0].id.as_str(),
            pending[0].state,
            pending.len(),
            more
        ),
        ("c2", PendingState::Approval, 1, 99)
    );
    assert!(serde_json::to_string(&pending).unwrap().len() <= 200);
}

#[test]
fn a_rejection_is_never_larger_than_a_message() {
    let (mut calls, _) = calls_with(&[1, 2]);
    calls.set_bounds(CallBounds {
        message_bytes: 1 << 20,
        ..BOUNDS
    });
    started(&mut calls);
    let reject = |text: &str| {
        Answer::Reject(Rejection::new(
            "c",
            text.repeat(1_000_000),
            None,
            CallState::Committed,
        ))
    };
    calls.settle(1, CallState::Committed, reject("x"), 1);
    // Escaped, each character of it has six bytes.
    calls.settle(2, CallState::Committed, reject("\u{1}"), 2);
    let replies = calls.take_replies(u64::MAX);
    assert!(replies[0].payload.contains("xxx…"), "its head is kept");
    for reply in &replies {
        assert_eq!(reply.kind, SettlementKind::Reject);
        assert!(reply.payload.len() <= 1 << 20, "{}", reply.payload.len());
    }
}

fn host_call(guest_id: u32) -> HostCall {
    HostCall {
        guest_id,
        method: Method::ResultsLoad,
        target: "r1".into(),
        arguments: "[]".into(),
    }
}

#[test]
fn the_host_answers_only_while_there_is_room() {
    let (mut calls, now) = calls_with(&[]);
    for id in [1, 2, 3] {
        calls.enqueue_host(host_call(id), now);
    }
    assert!(calls.is_live(1));
    assert_eq!(calls.next_for_host().map(|call| call.guest_id), Some(1));
    calls.answer(1, text(30), 1);
    assert!(calls.next_for_host().is_none(), "half of the room is used");
    let (pending, more) = calls.pending(now, 1000);
    assert_eq!(
        (pending.len(), pending[0].method.as_str(), more),
        (2, "results.load", 0)
    );
    calls.take_replies(u64::MAX);
    assert_eq!(calls.next_for_host().map(|call| call.guest_id), Some(2));
    calls.answer(2, text(41), 2);
    assert!(
        calls.take_replies(u64::MAX)[0]
            .payload
            .contains("reply_too_large")
    );
}

#[test]
fn nothing_starts_once_the_cell_winds_down() {
    let (mut calls, now) = calls_with(&[1, 2, 3]);
    calls.enqueue_host(host_call(9), now);
    assert_eq!(started(&mut calls), [1, 2]);
    calls.close();
    calls.settle(1, CallState::Committed, text(1), 1);
    assert_eq!(started(&mut calls), [] as [u32; 0]);
    assert!(calls.next_for_host().is_none());
    calls.finish();
    let effects = calls.ledger().effects().expect("writes");
    assert_eq!((effects.committed, effects.not_started), (1, 2));
}

#[test]
fn old_rejections_are_forgotten_first() {
    let (mut calls, _) = calls_with(&[]);
    for id in 0..=REMEMBERED_REJECTIONS as u32 {
        calls.answer(id, Answer::Reject(Rejection::too_many(1)), 1);
        calls.take_replies(u64::MAX);
    }
    assert_eq!(calls.rejection_of(0), None);
    assert_eq!(calls.rejection_of(1), Some(Refusal::TooMany));
}
