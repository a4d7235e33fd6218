//! Decides whether the address of a kernel's first shared variable may be null.
//!
//! On hardware no variable's is: shared memory begins after the bytes that are reserved for CUDA's libraries. Addresses
//! that begin elsewhere than the storage cost a subtraction for each access, which AMD's instructions can't take along,
//! so they begin there only for kernels that can tell: those that compare an address of shared memory with something
//! else, or pass one on where the analysis can't follow.

use rustc_hash::FxHashSet;

use crate::ast::StateSpace;
use crate::decode::program::{Base, Function, Instruction, Operand, Program, Reg};
use crate::isa::modifiers::AddressSpace;
use crate::isa::operation::{Action, Operation};

/// Whether a kernel that consists of these functions can tell an address of shared memory from null, or accesses shared
/// memory at an address that comes from no variable.
pub fn can_tell(program: &Program, functions: &[&Function]) -> bool {
    functions.iter().any(|function| Addresses::of(program, function).can_tell())
}

/// The use of addresses in registers by an instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// The result is an address if a source is one.
    Derive,
    /// The result is an address if both sources are.
    Choose,
    /// The sources are compared with each other.
    Compare,
    /// The result depends on the space only.
    AskSpace,
    /// Anything else.
    Other,
}

impl Use {
    fn of(instruction: &Instruction) -> Self {
        let Action::Compute(operation) = instruction.form.row.action else { return Self::Other };
        match operation {
            Operation::Mov
            | Operation::Cvta
            | Operation::ConvertIntToInt
            | Operation::IntegerAdd
            | Operation::IntegerSub
            | Operation::IntegerMad
            | Operation::Shl
            | Operation::And
            | Operation::Or
            | Operation::Xor
            | Operation::Lop3 => Self::Derive,
            Operation::Selp => Self::Choose,
            Operation::Setp | Operation::Set => Self::Compare,
            Operation::Isspacep => Self::AskSpace,
            _ => Self::Other,
        }
    }
}

/// The registers of a function that hold addresses of shared memory.
struct Addresses<'p> {
    program: &'p Program,
    function: &'p Function,
    /// The registers that some instruction sets to such an address.
    some: FxHashSet<Reg>,
    /// The registers among these that another instruction sets to something else.
    mixed: FxHashSet<Reg>,
}

impl<'p> Addresses<'p> {
    fn of(program: &'p Program, function: &'p Function) -> Self {
        let mut addresses = Self { program, function, some: FxHashSet::default(), mixed: FxHashSet::default() };
        // Both loops end, since each round adds a register or is the last.
        while addresses
            .add(|this, i| Use::of(i) != Use::Other && this.sources(i).any(|source| this.is_some(source)), false)
        {
        }
        while addresses.add(|this, i| !this.is_address(i), true) {}
        addresses
    }

    /// Adds the registers that instructions set of which something is true, and says whether there were any.
    fn add(&mut self, which: impl Fn(&Self, &Instruction) -> bool, mixed: bool) -> bool {
        let set = |i: &Instruction, found: &mut Vec<Reg>| {
            i.visit_registers(&mut |register, writes| {
                if writes {
                    found.push(register)
                }
            });
        };
        let mut found = Vec::new();
        self.function.instructions().filter(|i| which(self, i)).for_each(|i| set(i, &mut found));
        if mixed {
            found.retain(|register| self.some.contains(register));
        }
        let into = if mixed { &mut self.mixed } else { &mut self.some };
        let before = into.len();
        into.extend(found);
        into.len() > before
    }

    /// Whether the result of an instruction is an address of shared memory, on whichever way control came.
    fn is_address(&self, i: &Instruction) -> bool {
        match Use::of(i) {
            Use::Derive => {
                self.sources(i).any(|source| self.is_some(source))
                    && !self.sources(i).any(|source| self.is_mixed(source))
            }
            Use::Choose => {
                let mut chosen = self.sources(i).take(2);
                chosen.all(|source| self.is_some(source) && !self.is_mixed(source))
            }
            Use::Compare | Use::AskSpace | Use::Other => false,
        }
    }

    fn can_tell(&self) -> bool {
        // What module registers hold is read elsewhere.
        let leaves = self.function.module_registers.values().any(|register| self.some.contains(register));
        leaves || self.function.instructions().any(|i| self.tells(i))
    }

    /// Whether an instruction uses an address so that the result depends on the start of shared memory.
    fn tells(&self, i: &Instruction) -> bool {
        let escapes = match Use::of(i) {
            Use::Derive | Use::Choose | Use::AskSpace => false,
            Use::Compare => {
                let is_pure = |source| self.is_some(source) && !self.is_mixed(source);
                let compared = || self.sources(i).take(2);
                compared().any(|source| self.is_some(source)) && !compared().all(is_pure)
            }
            Use::Other => self.sources(i).any(|source| self.is_some(source)),
        };
        escapes || self.accesses_elsewhere(i)
    }

    /// Whether an instruction accesses shared memory at an address that comes from no variable.
    fn accesses_elsewhere(&self, i: &Instruction) -> bool {
        let is_shared =
            |space| matches!(space, AddressSpace::Shared | AddressSpace::SharedCta | AddressSpace::SharedCluster);
        let address = i.operands.iter().find_map(|operand| match operand {
            Operand::Address(base, _) => Some(base),
            _ => None,
        });
        i.modifiers.spaces().next().is_some_and(is_shared)
            && match address {
                Some(Base::Absolute) => true,
                Some(Base::Reg(register)) => !self.some.contains(register) || self.mixed.contains(register),
                Some(Base::Variable(_) | Base::Element { .. } | Base::Param(_)) | None => false,
            }
    }

    /// The operands whose values an instruction reads; of vectors and lists, their parts.
    fn sources<'i>(&self, i: &'i Instruction) -> impl Iterator<Item = &'i Operand> {
        let read = i.operands.iter().enumerate().filter(|(index, _)| !i.form.is_destination(*index));
        read.flat_map(|(_, operand)| match operand {
            Operand::Vector(parts) | Operand::List(parts) => parts.as_slice(),
            Operand::Pair(parts) => parts.as_slice(),
            single => std::slice::from_ref(single),
        })
    }

    fn is_some(&self, operand: &Operand) -> bool {
        match operand {
            Operand::Reg(register) | Operand::Sum(register, _) | Operand::AddressOf(Base::Reg(register), _) => {
                self.some.contains(register)
            }
            Operand::Video(selected) => self.some.contains(&selected.register),
            Operand::AddressOf(base, _) => base.variable().is_some_and(|id| {
                self.program.variables.at(id).is_some_and(|variable| variable.space == StateSpace::Shared)
            }),
            _ => false,
        }
    }

    fn is_mixed(&self, operand: &Operand) -> bool {
        match operand {
            Operand::Reg(register) | Operand::Sum(register, _) | Operand::AddressOf(Base::Reg(register), _) => {
                self.mixed.contains(register)
            }
            _ => false,
        }
    }
}
