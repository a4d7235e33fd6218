//! Barriers that not all threads reach at one place.

use crate::support::*;

/// `OpControlBarrier`s of a kernel with this body.
fn barriers(body: &str) -> usize {
    accepted(&kernel("k", body)).disassemble().matches("OpControlBarrier").count()
}

#[test]
fn uniform_barriers_stay_as_they_are() {
    assert_eq!(barriers(""), 0);
    assert_eq!(barriers("bar.sync 0;"), 1);
    assert_eq!(barriers("mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @%p1 add.u32 %r2, %r2, 1; bar.sync 0;"), 1);
    // A branch of some threads that rejoins before the barrier.
    assert_eq!(
        barriers("mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @%p1 bra L; add.u32 %r2, %r2, 1; L: bar.sync 0;"),
        1
    );
    // A loop and a condition that are the same for all threads.
    assert_eq!(barriers("LOOP: bar.sync 0; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 9; @%p1 bra LOOP;"), 1);
    assert_eq!(barriers("mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 0; @%p1 bra L; bar.sync 0; L: bar.sync 0;"), 2);
}

#[test]
fn barriers_that_only_some_threads_reach_become_one() {
    // One at the start, for the flags of the threads that are left, and the one where all threads meet.
    let exit = "mov.u32 %r1, %tid.x; setp.gt.u32 %p1, %r1, 20; @%p1 ret; bar.sync 0; add.u32 %r1, %r1, 1; bar.sync 0;";
    assert_eq!(barriers(exit), 2);
    assert_eq!(
        barriers("mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @%p1 bra L; bar.sync 0; bra M; L: bar.sync 0; M:"),
        2
    );
    assert_eq!(
        barriers("mov.u32 %r1, %tid.x; LOOP: bar.sync 0; sub.u32 %r1, %r1, 1; setp.gt.s32 %p1, %r1, 0; @%p1 bra LOOP;"),
        2
    );
}

#[test]
fn barriers_that_all_threads_reach_ask_for_a_multiple_of_those_they_wait_for() {
    let threads = |code: &str| accepted(&kernel("k", code)).interface.entries[0].block.threads;
    assert_eq!(threads("bar.sync 0, 64; bar.sync 1, 64;"), Some(64));
    assert_eq!(threads("bar.sync 0, 64; bar.sync 1, 96;"), Some(192));
    assert_eq!(threads("bar.sync 0; bar.sync 1;"), None);
    // The accounting of named barriers works for any number of threads.
    assert_eq!(threads("mov.u32 %r1, %ntid.x; bar.sync 0, %r1;"), None);
    assert_eq!(threads("bar.arrive 0, 64; bar.sync 1, 64;"), None);
    let required = accepted(".entry k() .reqntid 32, 2 { bar.sync 0, 64; ret; }");
    assert_eq!(required.interface.entries[0].block.threads, None);
    refused(&kernel("k", "¦bar.sync 16;"), &["barrier 16: there are 16, numbered from 0"]);
    refused(&kernel("k", "¦bar.arrive 1, 0;"), &["an arrival at a barrier for no threads"]);
    accepted(&kernel("k", "bar.sync 1, 0;"));
    refused(&kernel("k", "¦bar.sync 0, 48;"), &["a barrier for 48 threads: that is not a multiple of a warp's 32"]);
}

#[test]
fn loops_that_wait_for_other_threads_let_them_run() {
    let spin = "L: atom.global.cas.b32 %r1, [%rd1], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra L; st.release.gpu.global.u32 [%rd1], 0;";
    assert_eq!(barriers(spin), 2);
    let flag = "L: ld.volatile.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra L;";
    assert_eq!(barriers(flag), 2);
    // A loop that only counts with atomics, and one around a compare-and-swap with what the loop has read.
    let counts = "mov.u32 %r2, 9; L: atom.global.add.u32 %r1, [%rd1], 1; sub.u32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra L;";
    assert_eq!(barriers(counts), 0);
    let retries = "ld.global.u32 %r1, [%rd1]; L: mov.u32 %r2, %r1; add.u32 %r3, %r2, 1; \
        atom.global.cas.b32 %r1, [%rd1], %r2, %r3; setp.ne.u32 %p1, %r1, %r2; @%p1 bra L;";
    assert_eq!(barriers(retries), 0);
}
