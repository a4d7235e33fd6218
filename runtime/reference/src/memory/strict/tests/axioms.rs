//! The axioms of the Vulkan memory model, as in the appendix "Memory Model" of the specification, for executions of a
//! few events. Independent of the reference device's implementation.

use std::collections::BTreeSet;

use crate::code::Scope;

#[derive(Clone, Debug)]
pub(super) struct Event {
    /// Workgroup, subgroup, lane.
    pub(super) thread: (u32, u16, u16),
    /// The accessed location, if any.
    pub(super) place: Option<u32>,
    pub(super) reads: bool,
    pub(super) writes: bool,
    pub(super) atomic: bool,
    pub(super) non_private: bool,
    /// Whether the access has an availability or visibility operation of its own.
    pub(super) av_vis: bool,
    /// The storage class of an access.
    pub(super) class: usize,
    /// The scope of an atomic, a barrier, or an availability or visibility operation.
    pub(super) scope: Scope,
    pub(super) acquire: bool,
    pub(super) release: bool,
    /// `MakeAvailable` and `MakeVisible`.
    pub(super) make_available: bool,
    pub(super) make_visible: bool,
    /// Storage classes in its semantics.
    pub(super) semantics: [bool; 2],
    /// The instance of a control barrier.
    pub(super) barrier: Option<usize>,
    /// The write that it reads from; `None` for the initial value.
    pub(super) reads_from: Option<usize>,
}

/// A relation between events: for each event, the set of related ones.
#[derive(Clone, PartialEq, Eq)]
struct Relation(Vec<u64>);

impl Relation {
    fn new(n: usize, holds: impl Fn(usize, usize) -> bool) -> Self {
        Self((0..n).map(|a| (0..n).filter(|b| holds(a, *b)).fold(0, |row, b| row | 1 << b)).collect())
    }

    fn has(&self, a: usize, b: usize) -> bool {
        self.0[a] >> b & 1 != 0
    }

    fn or(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a | b).collect())
    }

    fn and(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a & b).collect())
    }

    fn then(&self, other: &Self) -> Self {
        let n = self.0.len();
        Self(self.0.iter().map(|row| (0..n).filter(|i| row >> i & 1 != 0).fold(0, |r, i| r | other.0[i])).collect())
    }

    fn reflexive(&self) -> Self {
        Self(self.0.iter().enumerate().map(|(i, row)| row | 1 << i).collect())
    }

    fn closure(&self) -> Self {
        let mut result = self.clone();
        loop {
            let next = result.or(&result.then(&result));
            if next == result {
                return result;
            }
            result = next;
        }
    }

    fn is_acyclic(&self) -> bool {
        let closure = self.closure();
        (0..self.0.len()).all(|i| !closure.has(i, i))
    }
}

/// The verdict of the axioms on an execution.
pub(super) struct Verdict {
    /// Pairs of events that race.
    pub(super) races: Vec<(usize, usize)>,
    /// Whether an implementation may show the execution, if there is no race.
    pub(super) consistent: bool,
}

/// Judges an execution. The order of its events agrees with program order and modification orders.
pub(super) fn judge(events: &[Event]) -> Verdict {
    let n = events.len();
    let set = |holds: &dyn Fn(&Event) -> bool| Relation::new(n, |a, b| a == b && holds(&events[a]));
    let pairs = |holds: &dyn Fn(&Event, &Event) -> bool| Relation::new(n, |a, b| holds(&events[a], &events[b]));
    let sequence = |relations: &[&Relation]| {
        relations.iter().skip(1).fold(relations[0].clone(), |result, relation| result.then(relation))
    };

    let same_thread = pairs(&|a, b| a.thread == b.thread);
    let same_subgroup = pairs(&|a, b| (a.thread.0, a.thread.1) == (b.thread.0, b.thread.1));
    let same_workgroup = pairs(&|a, b| a.thread.0 == b.thread.0);
    let everything = pairs(&|_, _| true);
    let po = Relation::new(n, |a, b| a < b && same_thread.has(a, b));
    let sloc = pairs(&|a, b| a.place.is_some() && a.place == b.place);
    let in_scope = {
        let at_least = |scope: Scope| pairs(&move |a, b| a.scope >= scope && b.scope >= scope);
        at_least(Scope::Device)
            .or(&same_workgroup.and(&at_least(Scope::Workgroup)))
            .or(&same_subgroup.and(&at_least(Scope::Subgroup)))
    };
    let mutually_ordered =
        Relation::new(n, |a, b| a != b && events[a].atomic && events[b].atomic && sloc.has(a, b) && in_scope.has(a, b));

    let reads = set(&|e| e.reads);
    let writes = set(&|e| e.writes);
    let atomic_reads = set(&|e| e.atomic && e.reads);
    let atomic_writes = set(&|e| e.atomic && e.writes);
    let atomic_release = set(&|e| e.atomic && e.release);
    let atomic_acquire = set(&|e| e.atomic && e.acquire);
    let release_barrier = set(&|e| e.place.is_none() && e.release);
    let acquire_barrier = set(&|e| e.place.is_none() && e.acquire);
    let reads_from = Relation::new(n, |a, b| events[b].reads && events[b].reads_from == Some(a));

    // Modification order is the order of the events. Only read-modify-writes continue a release sequence.
    let asmo = Relation::new(n, |a, b| a < b && events[a].writes && events[b].writes && mutually_ordered.has(a, b));
    let next = Relation::new(n, |a, b| asmo.has(a, b) && !(a + 1..b).any(|c| asmo.has(a, c) && asmo.has(c, b)));
    let sequences = next.then(&set(&|e| e.reads && e.writes)).closure().reflexive();
    let read_in_order = reads_from.and(&mutually_ordered);

    let to_semantics =
        Relation::new(n, |a, b| po.has(a, b) && events[a].place.is_some() && events[b].semantics[events[a].class]);
    let from_semantics =
        Relation::new(n, |a, b| po.has(a, b) && events[b].place.is_some() && events[a].semantics[events[b].class]);
    let same_barrier =
        Relation::new(n, |a, b| a != b && events[a].barrier.is_some() && events[a].barrier == events[b].barrier);
    let barriers = set(&|e| e.barrier.is_some());
    let po_or_same = po.reflexive();
    // An atomic releases or acquires by itself, or for a barrier beside it.
    let releases = [atomic_release, sequence(&[&release_barrier, &from_semantics, &atomic_writes])];
    let acquires = [atomic_acquire, sequence(&[&atomic_reads, &to_semantics, &acquire_barrier])];
    let through_barriers =
        sequence(&[&release_barrier, &po_or_same, &barriers, &same_barrier, &barriers, &po_or_same, &acquire_barrier]);
    let synchronizes = in_scope.and(&releases.iter().fold(through_barriers, |all, release| {
        acquires.iter().fold(all, |all, acquire| all.or(&sequence(&[release, &sequences, &read_in_order, acquire])))
    }));

    let inter_thread = |classes: &[usize]| {
        let speaks = |e: &Event| classes.iter().all(|class| e.semantics[*class]);
        let concerned = |e: &Event| e.place.is_some() && classes.contains(&e.class) || speaks(e);
        let speaking = set(&speaks);
        let concerned = set(&concerned);
        sequence(&[&speaking, &synchronizes, &speaking])
            .or(&sequence(&[&concerned, &po, &set(&|e| e.release && speaks(e))]))
            .or(&sequence(&[&set(&|e| e.acquire && speaks(e)), &po, &concerned]))
            .closure()
    };
    let hb_all = inter_thread(&[0]).or(&inter_thread(&[1])).or(&inter_thread(&[0, 1])).or(&po);

    // Availability and visibility operations, and the accesses that they cover.
    let covers = Relation::new(n, |a, b| {
        let (x, y) = (&events[a], &events[b]);
        x.place.is_some() && y.make_available && y.semantics[x.class]
            || y.place.is_some() && x.make_visible && x.semantics[y.class]
            || (x.av_vis || y.av_vis) && sloc.has(a, b)
    });
    let shared_reads = set(&|e| e.reads && e.non_private);
    let shared_writes = set(&|e| e.writes && e.non_private);
    let shared = shared_reads.or(&shared_writes);
    let covered = po_or_same.and(&covers);
    let mut ordered = hb_all.and(&same_thread).or(&sequence(&[&shared_reads, &hb_all, &shared]));
    let places: BTreeSet<_> = events.iter().filter_map(|e| Some((e.place?, e.class))).collect();
    for (place, class) in places {
        // These operations are ordered like accesses to the storage class.
        let hb = inter_thread(&[class]).or(&inter_thread(&[0, 1])).or(&po);
        let itself = move |e: &Event| e.av_vis && e.place == Some(place);
        let available = |scope| {
            let makes = move |e: &Event| e.writes && itself(e) || e.make_available && e.semantics[class];
            set(&move |e| makes(e) && e.scope >= scope)
        };
        let visible = |scope| {
            let makes = move |e: &Event| e.reads && itself(e) || e.make_visible && e.semantics[class];
            set(&move |e| makes(e) && e.scope >= scope)
        };
        let here = set(&move |e| e.place == Some(place));
        let (shared_reads, shared_writes) = (shared_reads.then(&here), shared_writes.then(&here));
        let within = |group: &Relation| hb.and(group);
        let av_subgroup = available(Scope::Subgroup);
        let av_workgroup = av_subgroup.then(&within(&same_subgroup)).reflexive().then(&available(Scope::Workgroup));
        let av_device = sequence(&[
            &av_subgroup.then(&within(&same_subgroup)).reflexive(),
            &av_workgroup.then(&within(&same_workgroup)).reflexive(),
            &available(Scope::Device),
        ]);
        let vis_subgroup = visible(Scope::Subgroup);
        let vis_workgroup = visible(Scope::Workgroup).then(&within(&same_subgroup).then(&vis_subgroup).reflexive());
        let vis_device = sequence(&[
            &visible(Scope::Device),
            &within(&same_workgroup).then(&vis_workgroup).reflexive(),
            &within(&same_subgroup).then(&vis_subgroup).reflexive(),
        ]);
        for (av, vis, group) in [
            (&av_subgroup, &vis_subgroup, &same_subgroup),
            (&av_workgroup, &vis_workgroup, &same_workgroup),
            (&av_device, &vis_device, &everything),
        ] {
            let made = sequence(&[&shared_writes, &covered, av, &hb.and(group)]);
            ordered = ordered.or(&made.then(&shared_writes)).or(&sequence(&[&made, vis, &covered, &shared_reads]));
        }
    }
    let ordered = ordered.and(&sloc);

    let mut races = Vec::new();
    for a in 0..n {
        for b in a + 1..n {
            let conflict = sloc.has(a, b) && (events[a].writes || events[b].writes) && !mutually_ordered.has(a, b);
            if conflict && !ordered.has(a, b) && !ordered.has(b, a) {
                races.push((a, b));
            }
        }
    }

    let write_order = sequence(&[&writes, &ordered, &writes]);
    let initial = Relation::new(n, |a, b| {
        a != b && events[a].reads && events[a].reads_from.is_none() && events[b].writes && sloc.has(a, b)
    });
    let inverse = Relation::new(n, |a, b| reads_from.has(b, a));
    let from_reads = inverse.then(&write_order.or(&asmo)).or(&initial);
    let from_reads = Relation::new(n, |a, b| a != b && from_reads.has(a, b));
    let order = ordered.or(&reads_from).or(&from_reads).or(&asmo);
    let plain_reads = set(&|e| e.reads && !e.atomic);
    let hidden = sequence(&[&write_order, &writes, &ordered, &reads]);
    let shadowed = reads_from.then(&plain_reads).and(&hidden);
    Verdict { races, consistent: order.is_acyclic() && shadowed.0.iter().all(|row| *row == 0) }
}
