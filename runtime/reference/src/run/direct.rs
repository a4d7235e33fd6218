//! The frequent instructions of plain runs, in a form that takes one dispatch each.
//!
//! [`step`](super::step) finds an instruction's kind first, then its operation, then its width. Here all three are one number. An
//! announced access is one operation together with its first load or store, and a comparison together with the branch on it. There
//! is an entry for each instruction of the code, so that positions are the same in both forms. All that can fail, wait or be traced
//! is left to [`step`](super::step), from the instruction on that begins it.

use super::lane::Lane;
use super::private::{number, set_number};
use super::world::{Access, Value, Who, World, element};
use crate::arithmetic;
use crate::code::{Binary, Class, Conversion, FloatControls, Inst, MemoryAccess, Pc, Slot, Ternary, Unary};

/// Defines [`Direct`], how it comes from an instruction, and what its arithmetic does. An operation is listed with the widths that it
/// stands for, the width that it is computed with, and its operands. Comparisons have a second name for those with the branch on them.
macro_rules! direct {
    (
        compute { $($name:ident: $kind:ident $op:ident $bits:pat => $width:literal ($($operand:ident),*);)* }
        compare { $($compare:ident $with_branch:ident: $compare_op:ident $compare_bits:pat => $compare_width:literal;)* }
        access { $($access:ident: $class:ident $loads:literal;)* }
        convert { $($convert:ident: $convert_op:ident $from:literal $to:literal;)* }
    ) => {
        /// An instruction whose operation is known; see [`Inst`].
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub(super) enum Direct {
            $($name { d: Slot, $($operand: Slot),* },)*
            $($compare { d: Slot, a: Slot, b: Slot }, $with_branch { d: Slot, a: Slot, b: Slot },)*
            $($convert { d: Slot, a: Slot },)*
            Move { d: Slot, a: Slot },
            Offset { d: Slot, a: Slot, offset: u32 },
            /// With an index of 32 bits, and a stride that is a power of two.
            Index { shift: u8, d: Slot, a: Slot, index: Slot, count: u32 },
            /// Announces an access; `low` are the bits of the address that must be zero.
            Access { low: u8, pointer: Slot },
            $($access(Part),)*
            Jump(Pc),
            Branch { condition: Slot, yes: Pc, no: Pc },
            /// The next round of a loop, with the jump back.
            NextRound { index: u32, to: Pc },
            EnterLoop(u32),
            /// Anything else.
            Other,
        }

        impl Direct {
            /// The form of an instruction and those that follow it.
            fn of(insts: &[Inst]) -> Self {
                match *insts {
                    $([Inst::$kind { op: $kind::$op, bits: $bits, d, $($operand),* }, ..] => {
                        Self::$name { d, $($operand),* }
                    })*
                    $(
                        [Inst::Binary { op: Binary::$compare_op, bits: $compare_bits, d, a, b },
                            Inst::Branch { condition, .. }, ..] if condition == d => Self::$with_branch { d, a, b },
                        [Inst::Binary { op: Binary::$compare_op, bits: $compare_bits, d, a, b }, ..] => {
                            Self::$compare { d, a, b }
                        }
                    )*
                    $([Inst::Convert { op: Conversion::$convert_op, from: $from, to: $to, d, a }, ..] => {
                        Self::$convert { d, a }
                    })*
                    // Registers are zero above their width.
                    [Inst::Convert { op: Conversion::UConvert, from, to, d, a }, ..] if from <= to => Self::Move { d, a },
                    [Inst::Move { d, a }, ..] => Self::Move { d, a },
                    [Inst::Offset { d, a, offset }, ..] => Self::Offset { d, a, offset },
                    [Inst::Index { bits: 32, d, a, index, stride, count }, ..] if stride.is_power_of_two() => {
                        Self::Index { shift: stride.trailing_zeros() as u8, d, a, index, count }
                    }
                    [Inst::Access { pointer, align, .. }, ref rest @ ..] if align <= 128 => {
                        let low = (align.max(1) - 1) as u8;
                        match Self::access(rest.first(), low, 2) {
                            Some((direct, same)) if same == pointer => direct,
                            _ => Self::Access { low, pointer },
                        }
                    }
                    [ref inst @ (Inst::Load { .. } | Inst::Store { .. }), ..] => {
                        Self::access(Some(inst), 0, 1).map_or(Self::Other, |(direct, _)| direct)
                    }
                    [Inst::Jump(to), ..] => Self::Jump(to),
                    [Inst::Branch { condition, yes, no }, ..] => Self::Branch { condition, yes, no },
                    [Inst::NextRound(index), Inst::Jump(to), ..] => Self::NextRound { index, to },
                    [Inst::EnterLoop(index), ..] => Self::EnterLoop(index),
                    _ => Self::Other,
                }
            }

            /// The form of a load or store that is the last of `count` instructions, and the register of its pointer.
            fn access(inst: Option<&Inst>, low: u8, count: u8) -> Option<(Self, Slot)> {
                let (class, bytes, register, pointer, offset, loads) = match *inst? {
                    Inst::Load { class, bytes, d, pointer, offset, .. } => (class, bytes, d, pointer, offset, true),
                    Inst::Store { class, bytes, value, pointer, offset, .. } => {
                        (class, bytes, value, pointer, offset, false)
                    }
                    _ => return None,
                };
                let part = Part { bytes, low, count, register, pointer, offset };
                match (class, loads) {
                    $((Class::$class, $loads) => Some((Self::$access(part), pointer)),)*
                    (Class::PushConstant, _) => None,
                }
            }
        }

        /// Runs an invocation's instructions from `pc` on until one that is left to [`step`](super::step). Returns their number, which
        /// is below `limit`. With `WATCH`, stops at the instruction `watched` and at the one before it, and runs neither.
        pub(super) fn run<W: World, const WATCH: bool>(
            (code, floats): (&[Direct], &FloatControls),
            (world, local): (&mut W, &mut W::Local),
            lane: &mut Lane,
            pc: &mut Pc,
            limit: u32,
            watched: Pc,
        ) -> u32 {
            let Lane { registers, private, rounds, index, subgroup, .. } = lane;
            let (registers, private) = (&mut registers[..], &mut private[..]);
            let (mut here, mut used) = (*pc, 0);
            while used + 1 < limit && (!WATCH || watched.wrapping_sub(here) > 1) {
                let who = Who { lane: *index, subgroup: *subgroup, pc: here };
                let mut count = 1;
                let mut next = here + 1;
                match code[here as usize] {
                    $(Direct::$name { d, $($operand),* } => {
                        let operands = [$(registers[$operand as usize]),*];
                        registers[d as usize] = $kind::$op.apply($width, operands, floats, world.choice());
                    })*
                    $(
                        Direct::$compare { d, a, b } => {
                            let operands = [registers[a as usize], registers[b as usize]];
                            registers[d as usize] =
                                Binary::$compare_op.apply($compare_width, operands, floats, world.choice());
                        }
                        Direct::$with_branch { d, a, b } => {
                            let operands = [registers[a as usize], registers[b as usize]];
                            let truth = Binary::$compare_op.apply($compare_width, operands, floats, world.choice());
                            registers[d as usize] = truth;
                            if let Direct::Branch { yes, no, .. } = code[next as usize] {
                                next = if truth != 0 { yes } else { no };
                                count = 2;
                            }
                        }
                    )*
                    $(Direct::$convert { d, a } => {
                        let x = registers[a as usize];
                        registers[d as usize] =
                            arithmetic::convert(Conversion::$convert_op, $from, $to, x, floats, world.choice());
                    })*
                    Direct::Move { d, a } => registers[d as usize] = registers[a as usize],
                    Direct::Offset { d, a, offset } => {
                        registers[d as usize] = registers[a as usize].wrapping_add(offset.into());
                    }
                    Direct::Index { shift, d, a, index, count } => {
                        let at = i64::from(registers[index as usize] as u32 as i32) as u64;
                        registers[d as usize] = element(registers[a as usize], at, 1 << shift, count);
                    }
                    Direct::Access { low, pointer } => {
                        if registers[pointer as usize] & u64::from(low) != 0 {
                            break;
                        }
                    }
                    $(Direct::$access(part) => {
                        let world = (&mut *world, &mut *local);
                        let done = part.access(world, who, (Class::$class, $loads), registers, private);
                        let Some(()) = done else { break };
                        (count, next) = (part.count, here + Pc::from(part.count));
                    })*
                    Direct::Jump(to) => next = to,
                    Direct::Branch { condition, yes, no } => {
                        next = if registers[condition as usize] != 0 { yes } else { no };
                    }
                    Direct::NextRound { index, to } => {
                        rounds[index as usize] += 1;
                        next = to;
                    }
                    Direct::EnterLoop(index) => rounds[index as usize] = 0,
                    Direct::Other => break,
                }
                used += u32::from(count);
                here = next;
            }
            *pc = here;
            used
        }
    };
}

direct! {
    compute {
        Not32: Unary Not 32 => 32 (a);
        Not64: Unary Not 64 => 64 (a);
        LogicalNot: Unary LogicalNot _ => 1 (a);
        Negate32: Unary SNegate 32 => 32 (a);
        FNegate32: Unary FNegate 32 => 32 (a);
        FAbs32: Unary FAbs 32 => 32 (a);
        IAdd32: Binary IAdd 32 => 32 (a, b);
        IAdd64: Binary IAdd 64 => 64 (a, b);
        ISub32: Binary ISub 32 => 32 (a, b);
        ISub64: Binary ISub 64 => 64 (a, b);
        IMul32: Binary IMul 32 => 32 (a, b);
        IMul64: Binary IMul 64 => 64 (a, b);
        ShiftLeft32: Binary ShiftLeftLogical 32 => 32 (a, b);
        ShiftLeft64: Binary ShiftLeftLogical 64 => 64 (a, b);
        ShiftRight: Binary ShiftRightLogical _ => 64 (a, b);
        ShiftRightArithmetic32: Binary ShiftRightArithmetic 32 => 32 (a, b);
        ShiftRightArithmetic64: Binary ShiftRightArithmetic 64 => 64 (a, b);
        And: Binary BitwiseAnd _ => 64 (a, b);
        Or: Binary BitwiseOr _ => 64 (a, b);
        Xor: Binary BitwiseXor _ => 64 (a, b);
        LogicalAnd: Binary LogicalAnd _ => 1 (a, b);
        LogicalOr: Binary LogicalOr _ => 1 (a, b);
        UMin: Binary UMin _ => 64 (a, b);
        UMax: Binary UMax _ => 64 (a, b);
        SMin32: Binary SMin 32 => 32 (a, b);
        SMax32: Binary SMax 32 => 32 (a, b);
        FAdd32: Binary FAdd 32 => 32 (a, b);
        FAdd64: Binary FAdd 64 => 64 (a, b);
        FSub32: Binary FSub 32 => 32 (a, b);
        FSub64: Binary FSub 64 => 64 (a, b);
        FMul32: Binary FMul 32 => 32 (a, b);
        FMul64: Binary FMul 64 => 64 (a, b);
        NMin32: Binary NMin 32 => 32 (a, b);
        NMax32: Binary NMax 32 => 32 (a, b);
        Select: Ternary Select _ => 64 (a, b, c);
        Fma32: Ternary Fma 32 => 32 (a, b, c);
        Fma64: Ternary Fma 64 => 64 (a, b, c);
        FmaKHR32: Ternary FmaKHR 32 => 32 (a, b, c);
        FmaKHR64: Ternary FmaKHR 64 => 64 (a, b, c);
    }
    compare {
        Equal EqualBranch: IEqual _ => 64;
        NotEqual NotEqualBranch: INotEqual _ => 64;
        ULess ULessBranch: ULessThan _ => 64;
        ULessEqual ULessEqualBranch: ULessThanEqual _ => 64;
        UGreater UGreaterBranch: UGreaterThan _ => 64;
        UGreaterEqual UGreaterEqualBranch: UGreaterThanEqual _ => 64;
        SLess32 SLess32Branch: SLessThan 32 => 32;
        SLessEqual32 SLessEqual32Branch: SLessThanEqual 32 => 32;
        SLess64 SLess64Branch: SLessThan 64 => 64;
        FEqual32 FEqual32Branch: FOrdEqual 32 => 32;
        FLess32 FLess32Branch: FOrdLessThan 32 => 32;
        FLessEqual32 FLessEqual32Branch: FOrdLessThanEqual 32 => 32;
    }
    access {
        LoadDevice: Device true;
        LoadWorkgroup: Workgroup true;
        LoadPrivate: Private true;
        StoreDevice: Device false;
        StoreWorkgroup: Workgroup false;
        StorePrivate: Private false;
    }
    convert {
        Low32: UConvert 64 32;
        Sign64: SConvert 32 64;
        UToF32: ConvertUToF 32 32;
        SToF32: ConvertSToF 32 32;
    }
}

impl Direct {
    /// The form of all code.
    pub(super) fn all(insts: &[Inst]) -> Box<[Direct]> {
        (0..insts.len()).map(|at| Self::of(&insts[at..])).collect()
    }
}

/// A scalar of an access, whose register is loaded or stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Part {
    bytes: u8,
    /// Bits of the pointer that must be zero.
    low: u8,
    /// Instructions that this one does the work of: two with the access's announcement.
    count: u8,
    register: Slot,
    pointer: Slot,
    offset: u32,
}

impl Part {
    /// Performs the access; `None`, without an effect, where it is at fault.
    #[inline(always)]
    fn access<W: World>(
        &self,
        (world, local): (&mut W, &mut W::Local),
        who: Who,
        (class, loads): (Class, bool),
        registers: &mut [u64],
        private: &mut [u8],
    ) -> Option<()> {
        let address = registers[self.pointer as usize];
        if address & u64::from(self.low) != 0 {
            return None;
        }
        let address = address.wrapping_add(self.offset.into());
        let register = self.register as usize;
        if class == Class::Private {
            let from = usize::try_from(address).ok()?;
            let bytes = private.get_mut(from..from.checked_add(self.bytes.into())?)?;
            if loads { registers[register] = number(bytes) } else { set_number(bytes, registers[register]) }
        } else {
            let access = Access { class, address, bytes: self.bytes, how: MemoryAccess::default() };
            if loads {
                registers[register] = world.load(local, who, access).ok()?.bits;
            } else {
                world.store(local, who, access, Value { bits: registers[register], undefined: 0 }).ok()?;
            }
        }
        Some(())
    }
}
