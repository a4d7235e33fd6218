//! The interpreter's loop: runs one invocation until it waits for others, ends, or has used up its slice.

use super::builtin::Shape;
use super::direct;
use super::lane::{Lane, Shadow, Snapshot, State};
use super::launch::Launch;
use super::private;
use super::world::{Access, STRAY, Value, Who, World, element};
use crate::arithmetic::{self, undefined};
use crate::code::{Binary, Class, Code, Inst, Pc, Scope, Slot, Variable};
use crate::config::Choice;
use crate::finding::FindingKind;
use crate::memory::device::ADDRESS_BITS;
use crate::memory::{Fault, Result};

/// The reason why an invocation stopped.
#[derive(Debug)]
pub(super) enum Stop {
    /// The invocation's slice is used up.
    Slice,
    /// The invocation waits or has ended, according to its state.
    Waits,
    /// The invocation's state equals the snapshot, and memory hasn't changed.
    Cycle,
    Fault(Box<Fault>),
}

/// The context in which an invocation runs.
pub(super) struct Context<'a, W: World> {
    pub launch: &'a Launch<'a>,
    pub shape: &'a Shape,
    pub world: &'a mut W,
    pub local: &'a mut W::Local,
}

impl<W: World> Context<'_, W> {
    /// Reports a register with undefined bits, which counts as defined afterwards.
    #[inline(always)]
    pub fn demand(&mut self, shadow: Option<&mut Shadow>, who: Who, slot: Slot, what: &str) {
        if W::STRICT
            && let Some(shadow) = shadow
            && shadow.undefined[slot as usize] != 0
        {
            self.report(shadow, who, slot, what);
        }
    }

    #[cold]
    fn report(&mut self, shadow: &mut Shadow, who: Who, slot: Slot, what: &str) {
        let origin = shadow.origins[slot as usize];
        let undefined = std::mem::take(&mut shadow.undefined[slot as usize]);
        let (kind, source) = match self.launch.program.code.insts[origin as usize] {
            Inst::Load { .. } | Inst::Atomic(_) => {
                (FindingKind::Uninitialised, "loaded from memory to which no defined value was written")
            }
            _ => (FindingKind::Undefined, "from an operation whose result is undefined"),
        };
        let message = format!("{what} has undefined bits (mask {undefined:#x}), {source}");
        self.world.report(self.local, who, kind, message, Some(origin));
    }

    /// Arbitrary values for undefined bits.
    #[inline(always)]
    pub fn arbitrary(&mut self, undefined: u64) -> u64 {
        if undefined == 0 { 0 } else { self.world.choice().bits() & undefined }
    }
}

/// Runs an invocation for at most `limit` instructions, and returns the number of instructions run. With `WATCH`,
/// compares the invocation with the snapshot whenever it reaches the snapshot's instruction.
pub(super) fn run<W: World, const WATCH: bool>(
    cx: &mut Context<'_, W>,
    lane: &mut Lane,
    limit: u32,
    snapshot: &mut Snapshot,
) -> (Stop, u32) {
    let code: &Code = &cx.launch.program.code;
    let version = if WATCH { cx.world.version() } else { 0 };
    let watched = snapshot.pc();
    let mut cycles = |cx: &Context<'_, W>, lane: &Lane, pc| {
        pc == snapshot.pc()
            && snapshot.matches(&lane.calls, &lane.registers, &lane.private)
            && cx.world.version() == version
    };
    let mut pc = lane.pc;
    let mut used = 0;
    let stop = loop {
        if !W::STRICT {
            let program = cx.launch.program;
            let code = (&program.directs[..], &program.code.floats);
            let world = (&mut *cx.world, &mut *cx.local);
            let direct = direct::run::<W, WATCH>(code, world, lane, &mut pc, limit - used, watched);
            used += direct;
            if WATCH && direct > 0 && cycles(cx, lane, pc) {
                break Stop::Cycle;
            }
        }
        if used == limit {
            break Stop::Slice;
        }
        used += 1;
        match step(cx, code, lane, &mut pc) {
            Ok(None) => {}
            Ok(Some(state)) => {
                lane.state = state;
                break Stop::Waits;
            }
            Err(fault) => break Stop::Fault(fault),
        }
        if WATCH && cycles(cx, lane, pc) {
            break Stop::Cycle;
        }
    };
    lane.pc = pc;
    (stop, used)
}

/// Runs one instruction. `pc` stays at the instruction if the invocation waits there, in the state that is returned, or can't continue.
///
/// The compiler only uses registers below `Code::slots`, positions below the number of instructions, and valid indices
/// into tables, and it ends every function with a jump or return. So all indexing here is in bounds.
#[inline(always)]
fn step<W: World>(cx: &mut Context<'_, W>, code: &Code, lane: &mut Lane, pc: &mut Pc) -> Result<Option<State>> {
    let here = *pc;
    let floats = &code.floats;
    let who = Who { lane: lane.index, subgroup: lane.subgroup, pc: here };
    macro_rules! register {
        ($slot:expr) => {
            lane.registers[$slot as usize]
        };
    }
    // Sets the undefined bits of results, if they are tracked.
    macro_rules! shadow {
        (|$shadow:ident| $body:expr) => {
            if W::STRICT
                && let Some($shadow) = lane.shadow.as_deref_mut()
            {
                $body;
            }
        };
    }
    let mut next = here + 1;
    match code.insts[here as usize] {
        Inst::Unary { op, bits, d, a } => {
            let x = register!(a);
            register!(d) = op.apply(bits, [x], floats, cx.world.choice());
            shadow!(|s| s.set(d, undefined::unary(op, bits, x, s.undefined[a as usize]), here, &[a]));
        }
        Inst::Binary { op, bits, d, a, b } => {
            let operands = [register!(a), register!(b)];
            register!(d) = op.apply(bits, operands, floats, cx.world.choice());
            shadow!(|s| s.set(d, binary_undefined(code, s, op, bits, operands, [a, b]), here, &[a, b]));
        }
        Inst::Ternary { op, bits, d, a, b, c } => {
            let operands = [register!(a), register!(b), register!(c)];
            register!(d) = op.apply(bits, operands, floats, cx.world.choice());
            shadow!(|s| s.set(d, undefined::ternary(op, bits, operands, s.of([a, b, c])), here, &[a, b, c]));
        }
        Inst::Wide { op, bits, d, a, b } => {
            let (x, y) = (register!(a), register!(b));
            [register!(d), register!(d + 1)] = arithmetic::wide(op, bits, x, y);
            shadow!(|s| {
                let [low, high] = undefined::wide(bits, s.of([a, b]));
                s.set(d, low, here, &[a, b]);
                s.set(d + 1, high, here, &[a, b]);
            });
        }
        Inst::Convert { op, from, to, d, a } => {
            let x = register!(a);
            register!(d) = arithmetic::convert(op, from, to, x, floats, cx.world.choice());
            shadow!(|s| s.set(d, undefined::convert(op, from, to, x, s.undefined[a as usize]), here, &[a]));
        }
        Inst::InsertBits { bits, d, insert, offset, count } => {
            let [base, x, at, n] = [d, insert, offset, count].map(|slot| register!(slot));
            register!(d) = arithmetic::insert_bits(bits, base, x, at, n, cx.world.choice());
            shadow!(|s| {
                let result = undefined::insert_bits(bits, [base, x, at, n], s.of([d, insert, offset, count]));
                s.set(d, result, here, &[d, insert, offset, count]);
            });
        }
        Inst::Move { d, a } => {
            register!(d) = register!(a);
            shadow!(|s| s.set(d, s.undefined[a as usize], here, &[a]));
        }
        Inst::Offset { d, a, offset } => {
            register!(d) = register!(a).wrapping_add(offset.into());
            shadow!(|s| s.set(d, spread(s.undefined[a as usize]), here, &[a]));
        }
        Inst::Index { bits, d, a, index, stride, count } => {
            let unused = 64 - u32::from(bits);
            let at = ((register!(index) << unused) as i64 >> unused) as u64;
            register!(d) = element(register!(a), at, stride.into(), count);
            shadow!(|s| {
                let [ua, ui] = s.of([a, index]);
                s.set(d, spread(ua | ui), here, &[a, index]);
            });
        }
        Inst::Access { class, pointer, bytes, align, write } => {
            cx.demand(lane.shadow.as_deref_mut(), who, pointer, "an address");
            let address = register!(pointer);
            if align > 1 && !address.is_multiple_of(align.into()) {
                return Err(misaligned(address, bytes, align, write));
            }
            if W::STRICT {
                match class {
                    Class::Device | Class::Workgroup => cx.world.check(cx.local, class, address, bytes),
                    Class::Private => within(class, address, bytes, lane.private.len()),
                    Class::PushConstant => within(class, address, bytes, cx.launch.push_constants.len()),
                }
                .map_err(|fault| stray(fault, address, class, code))?;
            }
        }
        Inst::Load { class, bytes, how, d, pointer, offset } => {
            let address = register!(pointer).wrapping_add(offset.into());
            let value = match class {
                Class::Device | Class::Workgroup => {
                    let access = Access { class, address, bytes, how: code.accesses[usize::from(how)] };
                    cx.world.load(cx.local, who, access)
                }
                Class::Private => private::load(lane, address, bytes),
                Class::PushConstant => private::constant(cx.launch.push_constants, address, bytes),
            }
            .map_err(|fault| stray(fault, address, class, code))?;
            register!(d) = value.bits;
            if W::STRICT {
                // Values read by atomics keep their undefined bits when stored in a variable.
                let stays = || {
                    let shadow = lane.shadow.as_deref().filter(|_| class == Class::Private);
                    shadow.is_some_and(|s| matches!(code.insts[s.stored_at(address, here) as usize], Inst::Atomic(_)))
                };
                if value.undefined != 0 && !stays() {
                    register!(d) = value.bits & !value.undefined | cx.arbitrary(value.undefined);
                }
                shadow!(|s| {
                    let of_own = class == Class::Private && value.undefined != 0;
                    let origin = if of_own { s.stored_at(address, here) } else { here };
                    s.set(d, value.undefined, origin, &[]);
                });
            }
        }
        Inst::Store { class, bytes, how, value: slot, pointer, offset } => {
            let address = register!(pointer).wrapping_add(offset.into());
            let undefined = if W::STRICT { lane.shadow.as_ref().map_or(0, |s| s.undefined[slot as usize]) } else { 0 };
            let value = Value { bits: register!(slot), undefined };
            match class {
                Class::Device | Class::Workgroup => {
                    let access = Access { class, address, bytes, how: code.accesses[usize::from(how)] };
                    cx.world.store(cx.local, who, access, value)
                }
                Class::Private => private::store(lane, address, bytes, value),
                Class::PushConstant => Err(Fault::new(FindingKind::ReadOnly, "push constants can't be written")),
            }
            .map_err(|fault| stray(fault, address, class, code))?;
            if class == Class::Private {
                shadow!(|s| s.note_stored(address, slot));
            }
        }
        Inst::Forget { offset, bytes } => {
            let range = offset as usize..(offset + bytes) as usize;
            shadow!(|s| s.forget(range));
        }
        Inst::Atomic(index) => atomic(cx, lane, who, index)?,
        Inst::Builtin { builtin, component, d } => {
            register!(d) = cx.shape.value(lane, builtin, component);
        }
        Inst::Clock { d } => register!(d) = cx.world.clock(),
        Inst::Group(_) => return Ok(Some(State::AtGroup)),
        Inst::Barrier(index) => match code.barriers[index as usize].execution {
            Scope::Invocation => {}
            Scope::Subgroup => return Ok(Some(State::AtGroup)),
            Scope::Workgroup | Scope::Device => return Ok(Some(State::AtBarrier)),
        },
        Inst::Arrive { thread, place } => {
            let thread = register!(thread) as u32;
            cx.world.arrive(cx.local, who, thread, place);
        }
        Inst::Fence(index) => cx.world.fence(cx.local, who, &code.barriers[index as usize]),
        Inst::Jump(to) => next = to,
        Inst::Branch { condition, yes, no } => {
            cx.demand(lane.shadow.as_deref_mut(), who, condition, "a branch's condition");
            next = if register!(condition) != 0 { yes } else { no };
        }
        Inst::Call(to) => {
            lane.calls.push(here);
            next = to;
        }
        Inst::Return => match lane.calls.pop() {
            Some(call) => next = call + 1,
            None => return Ok(Some(State::Ended)),
        },
        Inst::Unreachable => {
            return Err(Fault::new(FindingKind::Unreachable, "an invocation reached OpUnreachable"));
        }
        Inst::EnterLoop(index) => lane.rounds[index as usize] = 0,
        Inst::NextRound(index) => {
            lane.rounds[index as usize] += 1;
            // The jump back is part of the step: between the two, the position would be at the end of the new
            // iteration.
            if let Inst::Jump(to) = code.insts[next as usize] {
                next = to;
            }
        }
    }
    *pc = next;
    Ok(None)
}

fn atomic<W: World>(cx: &mut Context<'_, W>, lane: &mut Lane, who: Who, index: u32) -> Result {
    use crate::code::AtomicOp::*;
    let code = &cx.launch.program.code;
    let atomic = &code.atomics[index as usize];
    let has_value = atomic.op != Load;
    if W::STRICT {
        // An operand that is only stored may be undefined.
        if has_value && !matches!(atomic.op, Store | Exchange | CompareExchange) {
            cx.demand(lane.shadow.as_deref_mut(), who, atomic.value, "the operand of an atomic operation");
        }
        // A value read by an atomic keeps its undefined bits, so it can be compared with the current value.
        if atomic.op == CompareExchange && !lane.shadow.as_ref().is_some_and(|s| was_read(code, s, atomic.comparator)) {
            cx.demand(lane.shadow.as_deref_mut(), who, atomic.comparator, "the comparator of an atomic operation");
        }
    }
    let shadow = lane.shadow.as_ref().filter(|_| W::STRICT);
    let register = |slot: Slot, there: bool| Value {
        bits: if there { lane.registers[slot as usize] } else { 0 },
        undefined: shadow.filter(|_| there).map_or(0, |s| s.undefined[slot as usize]),
    };
    let value = register(atomic.value, has_value);
    let comparator = register(atomic.comparator, atomic.op == CompareExchange);
    let address = lane.registers[atomic.pointer as usize];
    let old = cx
        .world
        .atomic(cx.local, who, atomic, address, value, comparator)
        .map_err(|fault| stray(fault, address, atomic.class, code))?;
    if atomic.op != Store {
        // Undefined bits are arbitrary, but the same for all invocations, until they are written.
        lane.registers[atomic.d as usize] = old.bits;
        if W::STRICT
            && let Some(shadow) = lane.shadow.as_deref_mut()
        {
            shadow.set(atomic.d, old.undefined, who.pc, &[]);
            // For defined bits too, see `binary_undefined`.
            shadow.origins[atomic.d as usize] = who.pc;
        }
    }
    Ok(())
}

/// Whether a register with undefined bits holds a value read by an atomic.
fn was_read(code: &Code, shadow: &Shadow, slot: Slot) -> bool {
    matches!(code.insts[shadow.origins[slot as usize] as usize], Inst::Atomic(_))
}

/// The undefined bits of a binary operation's result. Comparing two words read by atomics is defined, because undefined
/// bits of memory don't change, and compare-and-swap loops that change a part of a word need the comparison.
fn binary_undefined(code: &Code, shadow: &Shadow, op: Binary, bits: u8, operands: [u64; 2], slots: [Slot; 2]) -> u64 {
    let found = undefined::binary(op, bits, operands, shadow.of(slots));
    let equality = found != 0 && matches!(op, Binary::IEqual | Binary::INotEqual);
    if equality && slots.iter().all(|&slot| was_read(code, shadow, slot)) { 0 } else { found }
}

/// A pointer is entirely undefined if any bit of its operands is.
fn spread(undefined: u64) -> u64 {
    if undefined == 0 { 0 } else { u64::MAX }
}

/// The mask of the lowest bits.
pub(super) fn mask(bits: u8) -> u64 {
    u64::MAX >> (64 - u32::from(bits.clamp(1, 64)))
}

fn within(class: Class, address: u64, bytes: u32, size: usize) -> Result {
    let fits = address.checked_add(bytes.into()).is_some_and(|end| end <= size as u64);
    if fits { Ok(()) } else { Err(private::outside(class, address, bytes, size)) }
}

#[cold]
fn misaligned(address: u64, bytes: u32, align: u32, write: bool) -> Box<Fault> {
    let what = if write { "a write" } else { "a read" };
    let message = format!("{what} of {bytes} bytes at {address:#x}, which is not a multiple of {align}");
    Fault::new(FindingKind::Misaligned, message)
}

/// Explains a fault at an address that comes from an index outside of an array.
#[cold]
fn stray(mut fault: Box<Fault>, address: u64, class: Class, code: &Code) -> Box<Fault> {
    // Addresses before a null pointer have all of the highest bits set.
    if address >> ADDRESS_BITS == STRAY >> ADDRESS_BITS {
        let meant = address & !STRAY;
        fault.message = format!("an index is outside of its array, which results in address {meant:#x}");
        let end = |variable: &Variable| u64::from(variable.offset) + u64::from(variable.bytes);
        let before = |variable: &&Variable| variable.class == class && end(variable) <= meant;
        if let Some(variable) = code.variables.iter().filter(before).max_by_key(|variable| end(variable)) {
            let (gap, name) = (meant - end(variable), &variable.name);
            fault.message += &format!(", {gap} bytes past the end of {name}, which has {} bytes", variable.bytes);
        }
    }
    fault
}
