//! Checked and adversarial runs: single-threaded, with the knowledge of memory in [`crate::memory::strict`].

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use super::arrivals::{Arrivals, WARP};
use super::builtin::position;
use super::findings::Findings;
use super::launch::{Launch, Program};
use super::private;
use super::schedule::Shared;
use super::step::mask;
use super::world::{Access, Value, Who, World};
use crate::code::{Atomic, AtomicOp, Barrier, Class, Pc, Variable};
use crate::config::{Choice, Mode, Plain, Seeded};
use crate::finding::{Finding, FindingKind, Site};
use crate::memory::device::Memory;
use crate::memory::strict::{Action, Agent, Bytes, Location, Missing, New, Party, Race, Shape, Space, Strict};
use crate::memory::{Result, Words};

/// The knowledge about device memory that persists between dispatches.
#[derive(Debug)]
pub(crate) struct Knowledge {
    mode: Mode,
    pub strict: Strict,
    /// Earlier dispatches with their numbers of workgroups, since undefined values in memory may come from any of them.
    past: Vec<(Arc<Program>, [u32; 3])>,
}

impl Knowledge {
    /// The knowledge of a device without memory.
    pub fn new(mode: Mode) -> Self {
        Self { mode, strict: Strict::new(mode), past: Vec::new() }
    }

    /// Runs a dispatch. Its findings are added to `findings`, except the fault that ended it.
    pub fn run(
        &mut self,
        program: &Arc<Program>,
        launch: &Launch<'_>,
        memory: &Memory,
        findings: &mut Findings,
    ) -> Result<(), Box<Finding>> {
        let code = &program.code;
        self.past.push((program.clone(), launch.groups));
        let dispatch = self.strict.begin_dispatch(Shape {
            workgroup_size: code.workgroup_size.iter().product(),
            subgroup_size: program.subgroup_size,
        });
        let mut found = Findings::default();
        let ended = match self.mode.seed {
            Some(seed) => {
                let choice = Seeded::new(seed ^ u64::from(dispatch).rotate_left(32));
                self.run_with(choice, launch, memory, &mut found)
            }
            None => self.run_with(Plain, launch, memory, &mut found),
        };
        let races = self.strict.end_dispatch();
        if self.mode.check {
            for race in races {
                found.add(FindingKind::Race, program.word(race.second.pc), || describe_race(launch, memory, &race));
            }
        }
        findings.append(found);
        ended
    }

    fn run_with<C: Choice>(
        &mut self,
        mut choice: C,
        launch: &Launch<'_>,
        memory: &Memory,
        found: &mut Findings,
    ) -> Result<(), Box<Finding>> {
        let shared = Shared::new(1);
        let order = (choice.pick(u32::MAX).into(), 2 * u64::from(choice.pick(1 << 20)) + 1);
        let (check, strict) = (self.mode.check, &mut self.strict);
        let world = StrictWorld { launch, memory, check, order, strict, version: 0, clock: 0, choice, found };
        shared.work(0, launch, world);
        shared.into_fatal().map_or(Ok(()), Err)
    }

    /// Checks bytes read by the host for undefined values stored by a kernel.
    pub fn host_read(&self, memory: &Memory, address: u64, bytes: u64, findings: &mut Findings) {
        let Some((number, offset)) = memory.locate(address, bytes).filter(|_| self.mode.check) else { return };
        let Some(undefined) = self.strict.host_read(number, offset, bytes) else { return };
        let Some((program, groups)) = (undefined.dispatch as usize).checked_sub(1).and_then(|past| self.past.get(past))
        else {
            return;
        };
        let at = memory.describe(number, undefined.offset);
        let message = format!("the host reads an undefined value at {at}, which a kernel stored there");
        let site = site(program, *groups, undefined.agent, undefined.pc);
        let finding = Finding::new(FindingKind::Undefined, message, site, None);
        findings.append(Findings::from(finding));
    }
}

/// The memory of a workgroup.
struct Local {
    number: u32,
    words: Words,
    arrivals: Arrivals,
}

/// The memory that an invocation can access: device memory, and its workgroup's.
struct Reachable<'a> {
    memory: &'a Memory,
    words: &'a Words,
}

impl Bytes for Reachable<'_> {
    fn load(&self, location: Location, bytes: u8) -> u64 {
        let loaded = match location.space {
            Space::Device(number) => self.memory.load(self.memory.address(number, location.offset), bytes),
            Space::Workgroup(_) => self.words.load(location.offset, bytes),
        };
        // Locations come from addresses that were checked.
        loaded.unwrap_or(0)
    }

    fn store(&self, location: Location, bytes: u8, bits: u64) {
        match location.space {
            Space::Device(number) => self.memory.store(self.memory.address(number, location.offset), bytes, bits),
            Space::Workgroup(_) => self.words.store(location.offset, bytes, bits),
        };
    }
}

/// The world of checked and adversarial runs.
struct StrictWorld<'a, C> {
    launch: &'a Launch<'a>,
    memory: &'a Memory,
    check: bool,
    /// The first workgroup to begin, and the stride to the next, modulo their number.
    order: (u64, u64),
    strict: &'a mut Strict,
    version: u64,
    clock: u64,
    choice: C,
    found: &'a mut Findings,
}

impl<'a, C> StrictWorld<'a, C> {
    /// The location of an access and the memory that has it, or the access's fault.
    fn locate<'l>(&self, local: &'l Local, class: Class, address: u64, bytes: u32) -> Result<(Location, Reachable<'l>)>
    where
        'a: 'l,
    {
        let found = match class {
            Class::Device => {
                let found = self.memory.locate(address, bytes.into());
                if let Some((number, _)) = found.filter(|_| self.check)
                    && let Some(fault) = self.memory.unallocated(number, address, bytes)
                {
                    return Err(fault);
                }
                found.map(|(number, offset)| (Space::Device(number), offset))
            }
            _ => local.words.contains(address, bytes.into()).then_some((Space::Workgroup(local.number), address)),
        };
        let Some((space, offset)) = found else {
            return Err(match class {
                Class::Device => self.memory.fault(address, bytes.into(), "an access"),
                _ => private::outside(class, address, bytes, local.words.bytes() as usize),
            });
        };
        Ok((Location { space, offset }, Reachable { memory: self.memory, words: &local.words }))
    }

    /// Adds a finding at an instruction, or counts it if there is one already.
    fn find(&mut self, local: &Local, kind: FindingKind, who: Who, message: String, other: Option<Who>) {
        let Launch { program, groups, .. } = *self.launch;
        let at = |who| site(program, groups, agent(local, who), who.pc);
        self.found.add(kind, program.word(who.pc), || Finding::new(kind, message, at(who), other.map(at)));
    }
}

fn agent(local: &Local, who: Who) -> Agent {
    Agent { workgroup: local.number, subgroup: who.subgroup as u16, lane: who.lane as u16 }
}

impl<C: Choice> World for StrictWorld<'_, C> {
    type Choice = C;
    type Local = Local;

    const STRICT: bool = true;

    fn choice(&mut self) -> &mut C {
        &mut self.choice
    }

    fn version(&self) -> u64 {
        self.version
    }

    fn publish(&mut self, shared: &AtomicU64) {
        shared.store(self.version, Relaxed);
    }

    fn place_in_order(&self, number: u64, total: u64) -> Option<u64> {
        let (first, stride) = self.order;
        let all = total.checked_next_power_of_two().unwrap_or(total);
        // An odd stride visits all numbers below a power of two.
        (number < all)
            .then(|| if stride == 1 { number } else { number.wrapping_mul(stride).wrapping_add(first) & (all - 1) })
    }

    fn clock(&mut self) -> u64 {
        self.clock += 16;
        self.clock
    }

    fn begin(&mut self, number: u64) -> Option<Local> {
        let number = number as u32;
        self.strict.order.begin_workgroup(number);
        let words = Words::zeroed(self.launch.program.code.workgroup_bytes.into())?;
        Some(Local { number, words, arrivals: Arrivals::default() })
    }

    fn end_invocation(&mut self, local: &mut Local, who: Who) {
        self.strict.order.end_invocation(agent(local, who));
    }

    fn end(&mut self, local: Local) {
        self.strict.end_workgroup(local.number);
    }

    fn check(&mut self, local: &mut Local, class: Class, address: u64, bytes: u32) -> Result {
        self.locate(local, class, address, bytes).map(drop)
    }

    fn load(&mut self, local: &mut Local, who: Who, access: Access) -> Result<Value> {
        let Access { class, address, bytes, how } = access;
        let (location, reachable) = self.locate(local, class, address, bytes.into())?;
        let loaded = self.strict.load(&reachable, agent(local, who), location, bytes, &how, who.pc);
        // A value that may differ next time counts as a change of memory.
        self.version += u64::from(loaded.stale);
        Ok(Value { bits: loaded.bits, undefined: loaded.undefined })
    }

    fn store(&mut self, local: &mut Local, who: Who, access: Access, value: Value) -> Result {
        let Access { class, address, bytes, how } = access;
        let (location, reachable) = self.locate(local, class, address, bytes.into())?;
        let before = reachable.load(location, bytes);
        self.strict.store(&reachable, agent(local, who), location, bytes, (value.bits, value.undefined), &how, who.pc);
        self.version += u64::from(before != reachable.load(location, bytes));
        Ok(())
    }

    fn atomic(
        &mut self,
        local: &mut Local,
        who: Who,
        atomic: &Atomic,
        address: u64,
        value: Value,
        comparator: Value,
    ) -> Result<Value> {
        let (location, reachable) = self.locate(local, atomic.class, address, (atomic.bits / 8).into())?;
        let floats = &self.launch.program.code.floats;
        let choice = &mut self.choice;
        let mut changed = false;
        let update = |old, old_undefined| {
            let new = atomic.op.apply(atomic.bits, [old, value.bits, comparator.bits], floats, choice);
            changed = new != old;
            let writes = match atomic.op {
                AtomicOp::Load => false,
                AtomicOp::CompareExchange => old == comparator.bits,
                _ => true,
            };
            let undefined = match atomic.op {
                AtomicOp::Load | AtomicOp::Store | AtomicOp::Exchange | AtomicOp::CompareExchange => value.undefined,
                // All operands are defined. An undefined old value makes the result undefined.
                _ if old_undefined != 0 => mask(atomic.bits),
                _ => 0,
            };
            // Compare-and-swap loops write back the rest of the word as they have read it.
            let kept = comparator.undefined & !(new ^ old);
            writes.then_some(New { bits: new, undefined, kept })
        };
        let loaded = self.strict.atomic(&reachable, agent(local, who), location, atomic, who.pc, update);
        self.version += u64::from(changed || loaded.stale);
        Ok(Value { bits: loaded.bits, undefined: loaded.undefined })
    }

    fn arrive(&mut self, local: &mut Local, who: Who, thread: u32, place: u32) {
        let Some(other) = local.arrivals.arrive(thread, place, who).filter(|_| self.check) else { return };
        let message = format!(
            "thread {} of a warp waits at this barrier instruction while thread {} waits at another one; all have to execute the same one",
            thread % WARP,
            other.thread % WARP
        );
        self.find(local, FindingKind::DivergedWarp, who, message, Some(other.who));
    }

    fn fence(&mut self, local: &mut Local, who: Who, barrier: &Barrier) {
        self.strict.order.fence(agent(local, who), barrier);
    }

    fn barrier(&mut self, local: &mut Local, who: &[Who], barrier: &Barrier) {
        let agents: Vec<Agent> = who.iter().map(|&who| agent(local, who)).collect();
        self.strict.order.barrier(&agents, barrier);
    }

    fn report(&mut self, local: &Local, who: Who, kind: FindingKind, message: String, origin: Option<Pc>) {
        if self.check {
            self.find(local, kind, who, message, origin.map(|pc| Who { pc, ..who }));
        }
    }
}

/// The site of an agent at an instruction.
fn site(program: &Program, groups: [u32; 3], agent: Agent, pc: Pc) -> Site {
    let local = position(program.code.workgroup_size, agent.lane.into());
    program.site(pc, Some(position(groups, agent.workgroup)), Some(local))
}

fn describe_race(launch: &Launch<'_>, memory: &Memory, race: &Race) -> Finding {
    let Launch { program, groups, .. } = *launch;
    let offset = race.location.offset;
    let place = match race.location.space {
        Space::Device(number) => memory.describe(number, offset),
        Space::Workgroup(_) => {
            let covers = |variable: &&Variable| {
                variable.class == Class::Workgroup
                    && (0..u64::from(variable.bytes)).contains(&(offset.wrapping_sub(variable.offset.into())))
            };
            program.code.variables.iter().find(covers).map_or_else(
                || format!("byte {offset} of workgroup memory"),
                |variable| {
                    format!("byte {} of {} in workgroup memory", offset - u64::from(variable.offset), variable.name)
                },
            )
        }
    };
    let done = |party: Party| match party.action {
        Action::Read => "a read",
        Action::Write => "a write",
        Action::AtomicRead => "an atomic read",
        Action::AtomicWrite => "an atomic write",
    };
    let why = match race.missing {
        Missing::Order => "nothing orders them",
        Missing::NonPrivate => {
            "a private access takes no part in synchronisation (NonPrivatePointer, or Coherent in GLSL's model)"
        }
        Missing::Availability => "the write is not made available to the other invocation (MakeAvailable)",
        Missing::Visibility => "the write is not made visible to the other invocation (MakeVisible)",
        Missing::Scope => "the scope of one excludes the other invocation",
    };
    let (first, second) = (done(race.first), done(race.second));
    let site = |party: Party| site(program, groups, party.agent, party.pc);
    let message = format!("{second} at {place} and {first} before it by another invocation: {why}");
    let finding = Finding::new(FindingKind::Race, message, site(race.second), Some(site(race.first)));
    Finding { repeated: race.repeated, ..finding }
}
