//! Undefined bits of memory, and reports of them to the host.

use super::*;

const ONE: Agent = Agent { workgroup: 0, subgroup: 0, lane: 0 };
const TWO: Agent = Agent { workgroup: 0, subgroup: 0, lane: 1 };

fn at(space: Space, offset: u64) -> Location {
    Location { space, offset }
}

fn device(offset: u64) -> Location {
    at(Space::Device(1), offset)
}

fn started() -> (Strict, Plain) {
    let mut strict = Strict::new(Mode { check: true, seed: None });
    strict.allocate(1);
    strict.begin_dispatch(Shape { workgroup_size: 2, subgroup_size: 2 });
    strict.order.begin_workgroup(0);
    (strict, Plain::default())
}

#[test]
fn memory_is_undefined_until_it_is_written() {
    let (mut strict, memory) = started();
    assert_eq!(strict.load(&memory, ONE, device(0), 4, &SHARED, 0).undefined, 0xffff_ffff);
    assert_eq!(strict.load(&memory, ONE, at(Space::Workgroup(0), 8), 8, &SHARED, 0).undefined, u64::MAX);
    strict.host_write(1, 1, 2);
    assert_eq!(strict.load(&memory, ONE, device(0), 4, &SHARED, 0).undefined, 0xff00_00ff);
    strict.store(&memory, ONE, device(3), 1, (7, 0), &SHARED, 0);
    assert_eq!(strict.load(&memory, ONE, device(0), 4, &SHARED, 0).undefined, 0xff);
    // Across a page boundary of the map.
    strict.host_write(1, 1000, 3000);
    assert_eq!(strict.load(&memory, ONE, device(1020), 8, &SHARED, 0).undefined, 0);
    assert_eq!(strict.load(&memory, ONE, device(1021), 8, &SHARED, 0).undefined, 0);
    assert_eq!(strict.load(&memory, ONE, device(3996), 8, &SHARED, 0).undefined, 0xffff_ffff_0000_0000);
}

#[test]
fn undefined_bits_are_kept_one_by_one() {
    let (mut strict, memory) = started();
    strict.store(&memory, ONE, device(16), 4, (0x55, 0x0f00_0001), &SHARED, 0);
    let loaded = strict.load(&memory, ONE, device(16), 4, &SHARED, 0);
    assert_eq!((loaded.bits, loaded.undefined), (0x55, 0x0f00_0001));
    assert_eq!(strict.load(&memory, ONE, device(19), 1, &SHARED, 0).undefined, 0x0f);
}

#[test]
fn an_atomic_hands_undefined_bits_on() {
    let (mut strict, memory) = started();
    let add = atomic(AtomicOp::Update(Binary::IAdd), Space::Device(1), Scope::Device, RELAXED);
    let old = strict
        .atomic(&memory, ONE, device(0), &add, 0, |bits, undefined| Some(New { bits: bits + 1, undefined, kept: 0 }));
    assert_eq!(old.undefined, 0xffff_ffff);
    strict.host_write(1, 0, 4);
    let old = strict
        .atomic(&memory, ONE, device(0), &add, 0, |bits, undefined| Some(New { bits: bits + 1, undefined, kept: 0 }));
    assert_eq!((old.bits, old.undefined), (1, 0));
}

#[test]
fn what_an_atomic_keeps_is_as_defined_as_it_was() {
    let (mut strict, memory) = started();
    // One loop changes a byte of a word that it has read. Meanwhile, another invocation stores the next byte with the
    // same bits.
    let swap = atomic(AtomicOp::CompareExchange, Space::Device(1), Scope::Device, RELAXED);
    let read = strict.atomic(&memory, ONE, device(0), &swap, 0, |_, _| None);
    assert_eq!((read.bits, read.undefined), (0, 0xffff_ffff));
    strict.store(&memory, TWO, device(1), 1, (0, 0), &SHARED, 0);
    let new = New { bits: 0x54, undefined: 0xffff_ff00, kept: 0xffff_ff00 };
    strict.atomic(&memory, ONE, device(0), &swap, 1, |old, _| (old == read.bits).then_some(new));
    let loaded = strict.load(&memory, ONE, device(0), 4, &SHARED, 0);
    assert_eq!((loaded.bits, loaded.undefined), (0x54, 0xffff_0000));
    // The rest was never stored.
    assert_eq!(strict.host_read(1, 0, 4), None);
    strict.store(&memory, TWO, device(2), 1, (0, 0xff), &SHARED, 2);
    let new = New { bits: 0x55, undefined: 0xffff_0000, kept: 0xffff_ff00 };
    strict.atomic(&memory, ONE, device(0), &swap, 3, |_, _| Some(new));
    assert_eq!(strict.host_read(1, 0, 4).map(|store| (store.offset, store.pc)), Some((2, 2)));
}

#[test]
fn the_host_hears_of_undefined_stores_only() {
    let (mut strict, memory) = started();
    // No kernel wrote: no finding.
    assert_eq!(strict.host_read(1, 0, 4096), None);
    strict.store(&memory, TWO, device(100), 4, (0, 0xff00), &SHARED, 17);
    strict.store(&memory, ONE, device(200), 4, (0, 0xff00), &SHARED, 17);
    strict.store(&memory, ONE, device(300), 4, (0, 0), &SHARED, 18);
    let found = UndefinedStore { offset: 101, dispatch: 1, agent: TWO, pc: 17 };
    assert_eq!(strict.host_read(1, 0, 4096), Some(found));
    assert_eq!(strict.host_read(1, 0, 101), None);
    assert_eq!(strict.host_read(1, 102, 99), None);
    assert_eq!(strict.host_read(1, 300, 4), None);
    // The host's copies keep undefined values, and overwriting removes them.
    strict.end_dispatch();
    strict.host_copy((1, 96), (2, 0), 16);
    assert_eq!(strict.host_read(2, 0, 16).map(|store| store.offset), Some(5));
    strict.host_copy((1, 96), (1, 400), 16);
    assert_eq!(strict.host_read(1, 400, 16).map(|store| store.offset), Some(405));
    strict.host_write(1, 100, 4);
    assert_eq!(strict.host_read(1, 100, 4), None);
    strict.host_copy((1, 96), (2, 0), 16);
    assert_eq!(strict.host_read(2, 0, 16), None);
    strict.begin_dispatch(Shape { workgroup_size: 2, subgroup_size: 2 });
    strict.order.begin_workgroup(0);
    strict.store(&memory, ONE, device(200), 4, (0, 0), &SHARED, 17);
    assert_eq!(strict.host_read(1, 200, 4), None);
    strict.store(&memory, ONE, device(200), 1, (0, 1), &SHARED, 17);
    assert_eq!(strict.host_read(1, 200, 4).map(|store| store.dispatch), Some(2));
}

#[test]
fn a_new_workgroup_has_new_memory() {
    let (mut strict, memory) = started();
    strict.store(&memory, ONE, at(Space::Workgroup(0), 0), 4, (1, 0), &SHARED, 0);
    strict.end_workgroup(0);
    strict.order.begin_workgroup(1);
    let other = Agent { workgroup: 1, ..ONE };
    assert_eq!(strict.load(&memory, other, at(Space::Workgroup(1), 0), 4, &SHARED, 0).undefined, 0xffff_ffff);
    assert!(strict.end_dispatch().is_empty());
}

#[test]
fn adversarial_runs_read_arbitrary_bits_where_undefined() {
    let mut strict = Strict::new(Mode { check: false, seed: Some(3) });
    strict.begin_dispatch(Shape { workgroup_size: 2, subgroup_size: 2 });
    strict.order.begin_workgroup(0);
    let memory = Plain::default();
    strict.store(&memory, ONE, device(0), 8, (0xab, 0xffff_0000), &SHARED, 0);
    let values: Vec<_> = (0..8).map(|_| strict.load(&memory, ONE, device(0), 8, &SHARED, 0).bits).collect();
    assert!(values.iter().all(|bits| bits & !0xffff_0000 == 0xab));
    assert!(values.iter().any(|bits| *bits != values[0]));
}
