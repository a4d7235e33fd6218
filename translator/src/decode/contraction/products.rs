//! Products and sums of a basic block, and how products are used there.

use rustc_hash::{FxHashMap, FxHashSet};

use super::blocks::Block;
use super::candidates::{Kind, is_difference, product, sum};
use super::copies;
use super::liveness::Liveness;
use crate::decode::program::{Base, Instruction, Item, Operand, Reg};
use crate::isa::operation::{Action, Operation};

/// A product that may be fused.
#[derive(Debug)]
pub(super) struct Product {
    pub(super) item: usize,
    kind: Kind,
    factors: [Factor; 2],
    /// The sums with this product, one for each operand that is the product.
    pub(super) sums: Vec<usize>,
    /// Whether there is another use of the product, which requires a rounded product for all uses.
    pub(super) rounded: bool,
}

/// A sum that has a product among its operands.
#[derive(Debug)]
pub(super) struct Sum {
    pub(super) item: usize,
    /// Its operands that are products: their numbers, and whether the operand is negated.
    pub(super) sides: [Option<(usize, bool)>; 2],
    /// The product that it is fused with, whether that is the second operand, and whether the operand is negated.
    pub(super) fused: Option<(usize, bool, bool)>,
}

impl Sum {
    /// Fuses the sum with one of its operands: the first, 0, or the second, 1.
    pub(super) fn fuse(&mut self, side: usize) {
        if let Some(Some((product, negated))) = self.sides.get(side) {
            self.fused = Some((*product, side == 1, *negated));
        }
    }

    /// Whether both operands are the same product.
    pub(super) fn is_double(&self) -> bool {
        matches!(self.sides, [Some((a, _)), Some((b, _))] if a == b)
    }
}

/// A factor of a product: a register with the number of earlier writes in the block, or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Factor {
    Register(Reg, u32),
    Constant(u64),
    Other,
}

/// The content of a register.
#[derive(Clone, Copy, Debug)]
enum Content {
    Product {
        product: usize,
        negated: bool,
    },
    /// A product or another value, depending on a guard.
    Perhaps(usize),
}

/// The products and sums of a function.
#[derive(Default)]
pub(super) struct Products {
    pub(super) products: Vec<Product>,
    pub(super) sums: Vec<Sum>,
    /// Registers that hold products of a constant, or their negations, in all blocks.
    everywhere: FxHashMap<Reg, Content>,
}

/// The registers of a block, after the instructions visited so far.
#[derive(Default)]
struct Registers {
    contents: FxHashMap<Reg, Content>,
    writes: FxHashMap<Reg, u32>,
}

impl Products {
    /// Begins with products of a constant or a parameter in registers without other writes. NVIDIA's compiler moves
    /// such a product to the sum's block.
    pub(super) fn of_constants(items: &[Item], liveness: &Liveness) -> Self {
        let mut found = Self::default();
        let once = WrittenOnce::new(items);
        let mut constants = FxHashSet::default();
        for (item, instruction) in instructions(items).filter(|(_, instruction)| loads_constant(instruction)) {
            instruction.visit_registers(&mut |register, writes| {
                if writes && once.is_written_by(register, item) {
                    constants.insert(register);
                }
            });
        }
        let is_constant = |operand: &Operand| match operand {
            Operand::Imm(_) => true,
            Operand::Reg(register) => constants.contains(register),
            _ => false,
        };
        for (item, instruction) in instructions(items).filter(|(item, _)| liveness.dead.get(*item) == Some(&false)) {
            let Some(register) = once.result(item, instruction) else { continue };
            let registers = Registers::default();
            let content = found.copied(instruction, &registers).or_else(|| {
                let kind = product(instruction).filter(|kind| copies::copy(instruction, *kind).is_none())?;
                let constant = instruction.operands.iter().skip(1).any(is_constant);
                constant.then(|| found.product(item, kind, instruction, &registers))
            });
            found.everywhere.extend(content.map(|content| (register, content)));
        }
        found
    }

    /// The product in a register, if there is one.
    fn content(&self, register: Reg, registers: &Registers) -> Option<Content> {
        registers.contents.get(&register).or_else(|| self.everywhere.get(&register)).copied()
    }

    /// Adds the products and sums of a block.
    pub(super) fn collect(&mut self, items: &[Item], liveness: &Liveness, block: &Block) {
        let mut registers = Registers::default();
        for &item in &block.items {
            if let Some(Item::Instruction(instruction)) = items.get(item)
                && liveness.dead.get(item) == Some(&false)
            {
                self.instruction(item, instruction, &mut registers);
            }
        }
        for (register, content) in registers.contents {
            let (Content::Product { product, .. } | Content::Perhaps(product)) = content;
            if let Some(product) = self.products.get_mut(product)
                && !product.rounded
            {
                product.rounded = liveness.is_read_after(block, register);
            }
        }
    }

    fn instruction(&mut self, item: usize, instruction: &Instruction, registers: &mut Registers) {
        let everywhere = instruction.operands.first().is_some_and(|operand| match operand {
            Operand::Reg(register) => self.everywhere.contains_key(register),
            _ => false,
        });
        if everywhere {
            if product(instruction).is_some() {
                self.uses(item, instruction, registers);
            }
            return;
        }
        let content = match self.copied(instruction, registers) {
            Some(content) => Some(content),
            None => {
                self.uses(item, instruction, registers);
                let kind = product(instruction).filter(|kind| copies::copy(instruction, *kind).is_none());
                kind.map(|kind| self.product(item, kind, instruction, registers))
            }
        };
        let guarded = instruction.guard.is_some();
        instruction.visit_registers(&mut |register, writes| {
            if !writes {
                return;
            }
            *registers.writes.entry(register).or_default() += 1;
            let before = registers.contents.remove(&register);
            let after = match (guarded, before) {
                (false, _) => content,
                (true, Some(Content::Product { product, .. } | Content::Perhaps(product))) => {
                    Some(Content::Perhaps(product))
                }
                (true, None) => None,
            };
            if let Some(after) = after {
                registers.contents.insert(register, after);
            }
        });
    }

    /// The product that an instruction copies or negates, if there is one.
    fn copied(&self, instruction: &Instruction, registers: &Registers) -> Option<Content> {
        let candidates = instruction.operands.iter().skip(1).take(2);
        let mut found = candidates.filter_map(|operand| match operand {
            Operand::Reg(source) => self.content(*source, registers).map(|content| (*source, content)),
            _ => None,
        });
        let (source, Content::Product { product, negated }) = found.next()? else { return None };
        let copy = copies::copy(instruction, self.products.get(product)?.kind)?;
        (copy.source == source).then_some(Content::Product { product, negated: negated != copy.negates })
    }

    /// Notes an instruction's uses of products.
    fn uses(&mut self, item: usize, instruction: &Instruction, registers: &Registers) {
        let sides = sum(instruction).map_or([None; 2], |kind| self.sides(instruction, kind, registers));
        let sides = if self.are_doubled(instruction, sides) { [None; 2] } else { sides };
        let mut fusable: Vec<usize> = sides.iter().flatten().map(|(product, _)| *product).collect();
        if !fusable.is_empty() {
            for product in &fusable {
                if let Some(product) = self.products.get_mut(*product) {
                    product.sums.push(self.sums.len());
                }
            }
            self.sums.push(Sum { item, sides, fused: None });
        }
        instruction.visit_registers(&mut |register, writes| {
            let Some(content) = self.content(register, registers).filter(|_| !writes) else { return };
            let (Content::Product { product, .. } | Content::Perhaps(product)) = content;
            if let Some(position) = fusable.iter().position(|fusable| *fusable == product) {
                fusable.swap_remove(position);
            } else if let Some(product) = self.products.get_mut(product) {
                product.rounded = true;
            }
        });
    }

    /// The operands that are products of the sum's kind, and whether each is negated.
    fn sides(&self, instruction: &Instruction, kind: Kind, registers: &Registers) -> [Option<(usize, bool)>; 2] {
        [1, 2].map(|index| {
            let Some(Operand::Reg(register)) = instruction.operands.get(index) else { return None };
            let Some(Content::Product { product, negated }) = self.content(*register, registers) else { return None };
            (self.products.get(product)?.kind == kind).then_some((product, negated))
        })
    }

    /// Whether both operands of a sum are products of the same factors. The compiler turns such a sum into twice the
    /// product.
    fn are_doubled(&self, instruction: &Instruction, sides: [Option<(usize, bool)>; 2]) -> bool {
        let [Some((a, a_negated)), Some((b, b_negated))] = sides else { return false };
        let factors = |product: usize| self.products.get(product).map(|product| product.factors);
        let (Some([a1, a2]), Some(b_factors)) = (factors(a), factors(b)) else { return false };
        let same = b_factors == [a1, a2] || b_factors == [a2, a1];
        a != b && same && a_negated == b_negated && !is_difference(instruction)
    }

    fn product(&mut self, item: usize, kind: Kind, instruction: &Instruction, registers: &Registers) -> Content {
        let factors = [1, 2].map(|index| match instruction.operands.get(index) {
            Some(Operand::Reg(register)) => {
                Factor::Register(*register, registers.writes.get(register).copied().unwrap_or(0))
            }
            Some(Operand::Imm(bits)) => Factor::Constant(*bits),
            _ => Factor::Other,
        });
        self.products.push(Product { item, kind, factors, sums: Vec::new(), rounded: false });
        Content::Product { product: self.products.len() - 1, negated: false }
    }
}

/// The instructions of a function with their positions.
fn instructions(items: &[Item]) -> impl Iterator<Item = (usize, &Instruction)> {
    items.iter().enumerate().filter_map(|(position, item)| match item {
        Item::Instruction(instruction) => Some((position, instruction)),
        Item::Label(_) => None,
    })
}

/// Registers with a single write, which is unguarded.
struct WrittenOnce(FxHashMap<Reg, Option<usize>>);

impl WrittenOnce {
    fn new(items: &[Item]) -> Self {
        let mut written = FxHashMap::default();
        for (item, instruction) in instructions(items) {
            instruction.visit_registers(&mut |register, writes| {
                if writes {
                    let once = instruction.guard.is_none().then_some(item);
                    written.entry(register).and_modify(|writer| *writer = None).or_insert(once);
                }
            });
        }
        Self(written)
    }

    /// The destination register of an instruction, if no other instruction writes it.
    fn result(&self, item: usize, instruction: &Instruction) -> Option<Reg> {
        let Some(Operand::Reg(register)) = instruction.operands.first() else { return None };
        let is_result = instruction.form.is_destination(0) && self.is_written_by(*register, item);
        is_result.then_some(*register)
    }

    /// Whether an instruction is the only one that writes a register.
    fn is_written_by(&self, register: Reg, item: usize) -> bool {
        self.0.get(&register) == Some(&Some(item))
    }
}

/// Whether an instruction loads a value that is the same for all threads: a constant or a parameter.
fn loads_constant(instruction: &Instruction) -> bool {
    let Action::Compute(operation) = instruction.form.row.action else { return false };
    matches!(
        (operation, instruction.operands.get(1)),
        (Operation::Mov, Some(Operand::Imm(_))) | (Operation::Load, Some(Operand::Address(Base::Param(_), _)))
    )
}
