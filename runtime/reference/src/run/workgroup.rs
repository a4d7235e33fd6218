//! A workgroup: its invocations, their scheduling, and their joint operations.

use super::builtin::Shape;
use super::group::{self, Places, places};
use super::lane::{Lane, Snapshot, State};
use super::launch::Launch;
use super::step::{self, Context, Stop};
use super::trace;
use super::world::{Who, World};
use crate::code::Inst;
use crate::config::Choice;
use crate::finding::{Finding, FindingKind, Site};

/// Initial number of instructions of an invocation's slice. It is short, since spinning invocations waste their slices.
/// Slices of computing invocations are doubled up to [`LONGEST_SLICE`] times.
const SLICE: u32 = 2048;
const LONGEST_SLICE: u32 = 5;
/// From so many idle slices on, an invocation is watched for cycles in each slice, however short. Before, copying a large state would
/// take longer than the slice.
const LONG_IDLE: u32 = 16;

pub(super) struct Workgroup<W: World> {
    shape: Shape,
    /// The invocations, ordered by subgroup and position in it.
    lanes: Vec<Lane>,
    local: W::Local,
}

/// The result of running a workgroup for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    /// All invocations have ended.
    Done,
    /// Something happened that others may have waited for.
    Moved,
    /// Invocations have run, but without a visible effect.
    Busy,
    /// All live invocations wait or cycle. Only another workgroup can make them progress.
    Stuck,
}

impl<W: World> Workgroup<W> {
    /// Begins a workgroup, reusing the invocations of one that has ended, if any. `None` if the host has too little
    /// memory.
    pub fn begin(
        launch: &Launch<'_>,
        number: u64,
        id: [u32; 3],
        lanes: Option<Vec<Lane>>,
        world: &mut W,
    ) -> Option<Self> {
        let local = world.begin(number)?;
        let code = &launch.program.code;
        let subgroup_size = launch.program.subgroup_size;
        let shape = Shape { groups: launch.groups, workgroup: id, size: code.workgroup_size, subgroup_size };
        let count = shape.size.iter().product();
        let mut lanes = lanes.unwrap_or_else(|| {
            (0..count)
                .map(|index| Lane::new(code, index, index / subgroup_size, index % subgroup_size, launch.shadowed))
                .collect()
        });
        lanes.iter_mut().for_each(|lane| lane.restart(code));
        if W::Choice::OPEN {
            // Vulkan doesn't specify which invocations form a subgroup.
            for index in (1..lanes.len()).rev() {
                let other = index - world.choice().pick(index as u32 + 1) as usize;
                let (a, b) = (lanes[index].index, lanes[other].index);
                (lanes[index].index, lanes[other].index) = (b, a);
            }
        }
        Some(Self { shape, lanes, local })
    }

    /// Ends the workgroup, and returns its invocations for reuse.
    pub fn end(self, world: &mut W) -> Vec<Lane> {
        world.end(self.local);
        self.lanes
    }

    /// Runs each invocation for a slice, and executes the joint operations that they wait for. Adds the number of
    /// instructions to `steps`.
    pub fn pass(
        &mut self,
        launch: &Launch<'_>,
        world: &mut W,
        snapshot: &mut Snapshot,
        steps: &mut u64,
    ) -> Result<Pass, Box<Finding>> {
        let Self { shape, lanes, local } = self;
        let mut members = Members { cx: Context { launch, shape, world, local }, lanes };
        let before = members.cx.world.version();
        let size = shape.subgroup_size as usize;
        let subgroups = members.lanes.len().div_ceil(size);
        let mut moved = false;
        for subgroup in order(subgroups, members.cx.world.choice()) {
            let count = (members.lanes.len() - subgroup * size).min(size);
            for place in order(count, members.cx.world.choice()) {
                moved |= members.slice(subgroup * size + place, snapshot, steps)?;
            }
            moved |= members.converge(subgroup, false);
        }
        moved |= members.pass_barrier();
        if members.all(|state| state == State::Ended) {
            return Ok(Pass::Done);
        }
        if moved || before != members.cx.world.version() {
            return Ok(Pass::Moved);
        }
        if !members.all(|state| state != State::Ready) {
            return Ok(Pass::Busy);
        }
        for subgroup in 0..subgroups {
            if members.converge(subgroup, true) {
                return Ok(Pass::Moved);
            }
        }
        if members.all(|state| !matches!(state, State::Cycling { .. })) {
            Err(members.divergence())
        } else {
            Ok(Pass::Stuck)
        }
    }

    /// The finding for invocations that wait for ever.
    pub fn deadlock(&self, launch: &Launch<'_>) -> Box<Finding> {
        let cycling = |lane: &&Lane| matches!(lane.state, State::Cycling { .. });
        let spins = self.lanes.iter().filter(cycling).count();
        let parked = self.lanes.iter().filter(|lane| lane.is_parked()).count();
        let message = format!(
            "{spins} invocations of this workgroup spin and {parked} wait for others, but no invocation is left that could release them"
        );
        let site = |lane: &Lane| launch.site(lane.pc, &self.shape, lane.index);
        let first = self.lanes.iter().find(cycling).unwrap_or(&self.lanes[0]);
        let other = self.lanes.iter().find(|lane| lane.is_parked()).map(site);
        Finding::new(FindingKind::Deadlock, message, site(first), other).into()
    }

    /// The position of one of the invocations that have not ended.
    pub fn somewhere(&self, launch: &Launch<'_>) -> Site {
        let lane = self.lanes.iter().find(|lane| lane.state != State::Ended).unwrap_or(&self.lanes[0]);
        launch.site(lane.pc, &self.shape, lane.index)
    }
}

/// All of `0..count`, each once; in ascending order without open choices.
fn order<C: Choice>(count: usize, choice: &mut C) -> impl Iterator<Item = usize> + use<C> {
    let bits = count.next_power_of_two();
    let (first, stride) =
        if C::OPEN { (choice.pick(bits as u32) as usize, 2 * choice.pick(bits as u32) as usize + 1) } else { (0, 1) };
    // An odd stride visits all numbers below a power of two.
    (0..bits).map(move |i| i.wrapping_mul(stride).wrapping_add(first) & (bits - 1)).filter(move |&i| i < count)
}

/// A running workgroup.
struct Members<'a, 'b, W: World> {
    cx: Context<'a, W>,
    lanes: &'b mut [Lane],
}

impl<W: World> Members<'_, '_, W> {
    fn all(&self, is_so: impl Fn(State) -> bool) -> bool {
        self.lanes.iter().all(|lane| is_so(lane.state))
    }

    /// Runs an invocation if it is ready. Returns whether it has reached a wait, or its end.
    fn slice(&mut self, index: usize, snapshot: &mut Snapshot, steps: &mut u64) -> Result<bool, Box<Finding>> {
        let cx = &mut self.cx;
        let lane = &mut self.lanes[index];
        let version = cx.world.version();
        match lane.state {
            State::Ready => {}
            State::Cycling { version: then } if then != version => lane.state = State::Ready,
            _ => return Ok(false),
        }
        let limit = if W::Choice::OPEN {
            let longest = 1 << cx.world.choice().pick(12);
            1 + cx.world.choice().pick(longest)
        } else {
            SLICE
        } << lane.idle_slices.min(LONGEST_SLICE);
        let (stop, used) = if cx.launch.traces(cx.shape, lane.index) {
            trace::follow(cx, lane, limit, snapshot)
        } else if lane.idle_slices == 0 || lane.idle_slices < LONG_IDLE && lane.words() > limit as usize {
            step::run::<W, false>(cx, lane, limit, snapshot)
        } else {
            snapshot.take(lane);
            step::run::<W, true>(cx, lane, limit, snapshot)
        };
        *steps += u64::from(used);
        match stop {
            Stop::Slice => {
                lane.idle_slices = if cx.world.version() == version { lane.idle_slices + 1 } else { 0 };
                Ok(false)
            }
            Stop::Waits => {
                lane.idle_slices = 0;
                if lane.state == State::Ended {
                    cx.world.end_invocation(cx.local, lane.who());
                }
                Ok(true)
            }
            Stop::Cycle => {
                lane.state = State::Cycling { version };
                Ok(false)
            }
            Stop::Fault(fault) => Err(cx.launch.fatal(*fault, lane.pc, cx.shape, lane.index)),
        }
    }

    /// The invocations of a subgroup, as a range.
    fn subgroup(&self, subgroup: usize) -> std::ops::Range<usize> {
        let size = self.cx.shape.subgroup_size as usize;
        subgroup * size..(subgroup * size + size).min(self.lanes.len())
    }

    /// Executes subgroup operations that all their participants have reached. Returns whether there were any. With
    /// `impatient`, it doesn't wait for invocations that only may come.
    fn converge(&mut self, subgroup: usize, impatient: bool) -> bool {
        let Some(tangle) = self.tangle(subgroup) else { return false };
        let convergence = self.cx.launch.program.code.convergence;
        let range = self.subgroup(subgroup);
        let is_whole = tangle.count_ones() as usize == range.len();
        if !W::Choice::OPEN || convergence.maximal || is_whole && convergence.subgroup_uniform {
            self.execute(subgroup, tangle);
            return true;
        }
        if is_whole {
            let here = range.start;
            if (0..self.lanes.len()).all(|other| self.same(here, other)) {
                let size = self.cx.shape.subgroup_size as usize;
                for subgroup in 0..self.lanes.len().div_ceil(size) {
                    let count = self.subgroup(subgroup).len();
                    self.execute(subgroup, Places::MAX >> (128 - count));
                }
                return true;
            }
            let may_come = |other| self.same(here, other) || self.can_reach(other, here);
            if !impatient && (0..self.lanes.len()).all(may_come) {
                return false;
            }
        }
        self.execute_part(subgroup, tangle);
        true
    }

    /// Executes an operation for some of the waiting invocations, as Vulkan permits unless the whole workgroup is
    /// converged.
    fn execute_part(&mut self, subgroup: usize, tangle: Places) {
        let choice = self.cx.world.choice();
        let chosen = if choice.pick(2) == 0 {
            tangle
        } else {
            tangle & (Places::from(choice.bits()) << 64 | Places::from(choice.bits()))
        };
        let lowest = tangle & tangle.wrapping_neg();
        self.execute(subgroup, if chosen == 0 { lowest } else { chosen });
    }

    /// Invocations of a subgroup that wait at the same place, which no other invocation of it can still reach.
    fn tangle(&self, subgroup: usize) -> Option<Places> {
        let range = self.subgroup(subgroup);
        let mut waiting: Places = 0;
        let mut live: Places = 0;
        for (place, lane) in self.lanes[range.clone()].iter().enumerate() {
            waiting |= Places::from(lane.state == State::AtGroup) << place;
            live |= Places::from(lane.state != State::Ended) << place;
        }
        let mut candidates = waiting;
        while candidates != 0 {
            let first = range.start + candidates.trailing_zeros() as usize;
            let at_same = places(waiting).filter(|&place| self.same(range.start + place as usize, first));
            let tangle = at_same.fold(0, |set, place| set | 1 << place);
            if places(live & !tangle).all(|place| !self.can_reach(range.start + place as usize, first)) {
                return Some(tangle);
            }
            candidates &= !tangle;
        }
        None
    }

    fn same(&self, a: usize, b: usize) -> bool {
        let Launch { program, .. } = self.cx.launch;
        let (a, b) = (&self.lanes[a], &self.lanes[b]);
        a.state == b.state && program.convergence.same(&program.code, a.position(), b.position())
    }

    fn can_reach(&self, from: usize, to: usize) -> bool {
        let Launch { program, .. } = self.cx.launch;
        let (from, to) = (&self.lanes[from], &self.lanes[to]);
        from.state != State::Ended && program.convergence.can_reach(&program.code, from.position(), to.position())
    }

    /// Executes the operation that some invocations of a subgroup wait at, and releases them.
    fn execute(&mut self, subgroup: usize, tangle: Places) {
        let range = self.subgroup(subgroup);
        let lanes = &mut self.lanes[range];
        let code = &self.cx.launch.program.code;
        let pc = lanes[tangle.trailing_zeros() as usize].pc;
        match code.insts[pc as usize] {
            Inst::Group(index) => {
                let size = self.cx.shape.subgroup_size;
                group::execute(&mut self.cx, &code.groups[index as usize], lanes, tangle, size, pc);
            }
            Inst::Barrier(index) => {
                let agents: Vec<Who> = places(tangle).map(|place| lanes[place as usize].who()).collect();
                self.cx.world.barrier(self.cx.local, &agents, &code.barriers[index as usize]);
            }
            // There are no other places to wait at.
            _ => {}
        }
        for place in places(tangle) {
            let lane = &mut lanes[place as usize];
            if self.cx.launch.traces(self.cx.shape, lane.index) {
                trace::record(self.cx.launch, lane, pc);
            }
            lane.go_on();
        }
    }

    /// Releases all invocations from a barrier of the workgroup, if all of them wait there.
    fn pass_barrier(&mut self) -> bool {
        let Some(first) = self.lanes.first() else { return false };
        let Inst::Barrier(index) = self.cx.launch.program.code.insts[first.pc as usize] else { return false };
        if first.state != State::AtBarrier || !(0..self.lanes.len()).all(|other| self.same(0, other)) {
            return false;
        }
        let agents: Vec<Who> = self.lanes.iter().map(Lane::who).collect();
        self.cx.world.barrier(self.cx.local, &agents, &self.cx.launch.program.code.barriers[index as usize]);
        self.lanes.iter_mut().for_each(Lane::go_on);
        true
    }

    /// The finding for live invocations that all wait, but at different places.
    fn divergence(&self) -> Box<Finding> {
        let Context { launch, shape, .. } = &self.cx;
        let site = |lane: &Lane| launch.site(lane.pc, shape, lane.index);
        let at_barrier = self.lanes.iter().position(|lane| lane.state == State::AtBarrier);
        let (kind, first) = match at_barrier {
            Some(first) => (FindingKind::DivergentBarrier, first),
            None => (FindingKind::Deadlock, 0),
        };
        let together = (0..self.lanes.len()).filter(|&other| self.same(first, other)).count();
        let ended = self.lanes.iter().filter(|lane| lane.state == State::Ended).count();
        let elsewhere = (0..self.lanes.len())
            .find(|&other| self.lanes[other].state != State::Ended && !self.same(first, other))
            .map(|other| site(&self.lanes[other]));
        let message = format!(
            "{together} of {} invocations wait here, {ended} have ended and {} wait elsewhere",
            self.lanes.len(),
            self.lanes.len() - together - ended
        );
        Finding::new(kind, message, site(&self.lanes[first]), elsewhere).into()
    }
}
