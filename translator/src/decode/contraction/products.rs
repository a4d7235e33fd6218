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
    /// Whether the product has another use, which requires a rounded product for all uses.
    pub(super) rounded: bool,
}

impl Product {
    fn new(item: usize, kind: Kind) -> Self {
        Self { item, kind, factors: [Factor::Other; 2], sums: Vec::new(), rounded: false }
    }
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

/// A factor of a product: a register and where its content is from, or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Factor {
    Register(Reg, Origin),
    Constant(u64),
    Other,
}

/// The origin of a register's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// The only instruction that writes the register.
    Only,
    /// An instruction of the block.
    Item(usize),
    /// Another block than this, given by its first item.
    Before(Option<usize>),
}

/// The content of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Product {
        product: usize,
        negated: bool,
    },
    /// A product or another value, depending on a guard.
    Perhaps(usize),
}

impl Content {
    fn of(product: usize) -> Self {
        Self::Product { product, negated: false }
    }

    fn product(self) -> usize {
        let (Self::Product { product, .. } | Self::Perhaps(product)) = self;
        product
    }
}

/// The registers that hold products.
pub(super) type Contents = FxHashMap<Reg, Content>;

/// The products and sums of a function.
pub(super) struct Products {
    pub(super) products: Vec<Product>,
    pub(super) sums: Vec<Sum>,
    /// The products of a constant or a parameter by their items.
    constants: FxHashMap<usize, usize>,
    once: WrittenOnce,
}

/// The registers of a block, after the instructions visited so far.
struct Registers {
    contents: Contents,
    /// The last instructions that write them.
    writes: FxHashMap<Reg, usize>,
    /// The block's first item.
    first: Option<usize>,
}

impl Products {
    /// Begins with products of a constant or a parameter. NVIDIA's compiler moves such a product to the sum's block.
    pub(super) fn of_constants(items: &[Item], liveness: &Liveness) -> Self {
        let once = WrittenOnce::new(items);
        let mut loaded = FxHashSet::default();
        for (item, instruction) in instructions(items).filter(|(_, instruction)| loads_constant(instruction)) {
            instruction.visit_registers(&mut |register, writes| {
                if writes && once.is_written_by(register, item) {
                    loaded.insert(register);
                }
            });
        }
        let is_constant = |operand: &Operand| match operand {
            Operand::Imm(_) => true,
            Operand::Reg(register) => loaded.contains(register),
            _ => false,
        };
        let mut found = Self { products: Vec::new(), sums: Vec::new(), constants: FxHashMap::default(), once };
        for (item, instruction) in instructions(items).filter(|(item, _)| liveness.dead.get(*item) == Some(&false)) {
            let kind = kind(instruction).filter(|_| instruction.operands.iter().skip(1).any(is_constant));
            if let Some(kind) = kind {
                found.constants.insert(item, found.products.len());
                found.products.push(Product::new(item, kind));
            }
        }
        found
    }

    /// The registers that hold the same product of a constant at the start of a block however control gets there, for
    /// each block.
    pub(super) fn at_starts(&self, items: &[Item], liveness: &Liveness, blocks: &[Block]) -> Vec<Contents> {
        let mut starts: Vec<Option<Contents>> = vec![None; blocks.len()];
        if let Some(first) = starts.first_mut() {
            *first = Some(Contents::default());
        }
        let mut todo = if self.constants.is_empty() { Vec::new() } else { vec![0] };
        while let Some(number) = todo.pop() {
            let (Some(block), Some(Some(start))) = (blocks.get(number), starts.get(number)) else { continue };
            let mut contents = start.clone();
            for (item, instruction) in executed(items, liveness, block) {
                let product = self.constants.get(&item).copied();
                let content = self.copied(instruction, &contents).or_else(|| product.map(Content::of));
                write(&mut contents, instruction, content);
            }
            contents.retain(|register, content| {
                matches!(content, Content::Product { .. }) && liveness.is_read_after(block, *register)
            });
            for &next in &block.next {
                match starts.get_mut(next) {
                    Some(Some(start)) => {
                        let before = start.len();
                        start.retain(|register, content| contents.get(register) == Some(content));
                        if start.len() < before {
                            todo.push(next);
                        }
                    }
                    Some(start) => {
                        *start = Some(contents.clone());
                        todo.push(next);
                    }
                    None => {}
                }
            }
        }
        starts.into_iter().map(Option::unwrap_or_default).collect()
    }

    /// Adds the products and sums of a block.
    pub(super) fn collect(
        &mut self,
        items: &[Item],
        liveness: &Liveness,
        block: &Block,
        starts: &[Contents],
        number: usize,
    ) {
        let mut contents = starts.get(number).cloned().unwrap_or_default();
        contents.retain(|register, _| liveness.is_read_from(block, *register));
        let mut registers = Registers { contents, writes: FxHashMap::default(), first: block.items.first().copied() };
        for (item, instruction) in executed(items, liveness, block) {
            self.instruction(item, instruction, &mut registers);
        }
        for (register, content) in registers.contents {
            let goes_on = |next: usize| starts.get(next).is_some_and(|start| start.get(&register) == Some(&content));
            if let Some(product) = self.products.get_mut(content.product())
                && !product.rounded
            {
                product.rounded =
                    liveness.is_read_after(block, register) && !block.next.iter().all(|next| goes_on(*next));
            }
        }
    }

    fn instruction(&mut self, item: usize, instruction: &Instruction, registers: &mut Registers) {
        let content = match self.copied(instruction, &registers.contents) {
            Some(content) => Some(content),
            None => {
                self.uses(item, instruction, registers);
                kind(instruction).map(|kind| self.product(item, kind, instruction, registers))
            }
        };
        instruction.visit_registers(&mut |register, writes| {
            if writes {
                registers.writes.insert(register, item);
            }
        });
        write(&mut registers.contents, instruction, content);
    }

    /// The product that an instruction copies or negates, if there is one.
    fn copied(&self, instruction: &Instruction, contents: &Contents) -> Option<Content> {
        let candidates = instruction.operands.iter().skip(1).take(2);
        let mut found = candidates.filter_map(|operand| match operand {
            Operand::Reg(source) => contents.get(source).map(|content| (*source, *content)),
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
            let Some(product) = registers.contents.get(&register).map(|content| content.product()) else { return };
            if writes {
                return;
            }
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
            let Some(Content::Product { product, negated }) = registers.contents.get(register).copied() else {
                return None;
            };
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

    fn product(&mut self, item: usize, kind: Kind, instruction: &Instruction, registers: &mut Registers) -> Content {
        let factors = [1, 2].map(|index| match instruction.operands.get(index) {
            Some(Operand::Reg(register)) => Factor::Register(*register, self.origin(*register, registers)),
            Some(Operand::Imm(bits)) => Factor::Constant(*bits),
            _ => Factor::Other,
        });
        let number = self.constants.get(&item).copied().unwrap_or(self.products.len());
        if number == self.products.len() {
            self.products.push(Product::new(item, kind));
        }
        // What holds the product of an earlier turn of a loop needs it rounded.
        let result = instruction.operands.first();
        let earlier = registers.contents.iter().any(|(register, content)| {
            content.product() == number && !matches!(result, Some(Operand::Reg(result)) if result == register)
        });
        if let Some(product) = self.products.get_mut(number) {
            product.factors = factors;
            product.rounded |= earlier;
        }
        Content::of(number)
    }

    fn origin(&self, register: Reg, registers: &Registers) -> Origin {
        match registers.writes.get(&register) {
            _ if self.once.contains(register) => Origin::Only,
            Some(item) => Origin::Item(*item),
            None => Origin::Before(registers.first),
        }
    }
}

/// The kind of a product that may be fused and is no copy.
fn kind(instruction: &Instruction) -> Option<Kind> {
    product(instruction).filter(|kind| copies::copy(instruction, *kind).is_none())
}

/// Notes the content of the registers that an instruction writes. A product, if it isn't a copy, is no longer in
/// others, which would hold that of an earlier turn of a loop.
fn write(contents: &mut Contents, instruction: &Instruction, content: Option<Content>) {
    if let Some(content) = content.filter(|_| kind(instruction).is_some()) {
        contents.retain(|_, other| other.product() != content.product());
    }
    instruction.visit_registers(&mut |register, writes| {
        if !writes {
            return;
        }
        let before = contents.remove(&register);
        let after = match instruction.guard {
            None => content,
            Some(_) => before.map(|before| Content::Perhaps(before.product())),
        };
        if let Some(after) = after {
            contents.insert(register, after);
        }
    });
}

/// The instructions of a block that are not dead, with their positions.
fn executed<'a>(
    items: &'a [Item],
    liveness: &'a Liveness,
    block: &'a Block,
) -> impl Iterator<Item = (usize, &'a Instruction)> {
    block.items.iter().filter_map(|&item| match items.get(item) {
        Some(Item::Instruction(instruction)) if liveness.dead.get(item) == Some(&false) => Some((item, instruction)),
        _ => None,
    })
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

    fn contains(&self, register: Reg) -> bool {
        self.0.get(&register).is_some_and(Option::is_some)
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
