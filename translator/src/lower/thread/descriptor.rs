//! Matrices in shared memory that `wgmma` takes by descriptors (PTX section 9.7.15.5.1.2).
//!
//! Memory has pieces of 16 bytes. By lines, rows of A or columns of B, a piece is of one line; else it is of eight lines, as one place in the
//! direction of the sum. Eight pieces make a core matrix of eight lines: pieces of successive lines, or of successive places. Swizzling brings 2, 4 or 8
//! core matrices together, so that a row of them is 32, 64 or 128 bytes, and exchanges the pieces of a row by the row's number.

use super::matrix::own_lane;
use crate::ir::{Access, Binary, Builder, MemoryOrder, Space, Type, Value, Var};
use crate::isa::fragments::{Block, Matrix, Product};
use crate::lower::lowering::Lowering;
use crate::lower::memory::cluster;

/// Eight lines and eight places.
const CORE: u32 = 8;
/// The bits of addresses that descriptors have.
const ADDRESS: u64 = 0x3_ffff;

/// The rows of core matrices that a lane takes, and their places.
pub struct Descriptor {
    /// Whether lines lie in one piece.
    by_lines: bool,
    /// Elements of a word.
    in_word: u32,
    /// The address of the lane's first element, as the program sees addresses of its block.
    first: Var,
    /// Bytes from the lane's first element to its second one, if they lie in different pieces.
    next: Var,
    /// Bytes from one core matrix to the next in the direction of the sum.
    along: Var,
    /// Bytes from one to the next in the other direction, those together by swizzling apart.
    across: Var,
    /// The binary logarithm of the number of core matrices that swizzling brings together.
    swizzling: Var,
    /// The start of the repeating pattern, in rows of 128 bytes.
    base: Var,
}

impl Descriptor {
    /// Takes a descriptor apart.
    pub fn of(l: &mut Lowering<'_, '_>, descriptor: Value, product: &Product, matrix: Matrix, by_lines: bool) -> Self {
        let lane = own_lane(l);
        let b = &l.b;
        let (low, high) = b.halves(descriptor);
        let bytes = |word, position| b.shl(b.and_const(b.shr(word, position), ADDRESS >> 4), 4);
        let [start, leading, stride] = [bytes(low, 0), bytes(low, 16), bytes(high, 0)];
        let base = b.and_const(b.shr(high, 17), 7);
        // None, then 128, 64 and 32 bytes.
        let mode = b.shr(high, 30);
        let swizzling = b.and_const(b.neg(mode), 3);
        let is_plain = b.is_zero(mode);
        let span = b.shl_by(b.i32(16), swizzling);
        let [group, quad] = [b.shr(lane, 2), b.and_const(lane, 3)];
        let (along, across, own) = if by_lines {
            // Pieces of a line follow each other within a swizzled row.
            let own = b.add(b.mul(group, span), b.shl(quad, 2));
            (b.select(is_plain, leading, b.i32(16)), stride, own)
        } else {
            let own = b.add(b.mul(b.shl(quad, 1), span), b.shl(group, 1));
            (b.select(is_plain, leading, stride), b.select(is_plain, stride, leading), own)
        };
        let first = b.add(start, own);
        let [first, next, along, across, swizzling, base] =
            [first, span, along, across, swizzling, base].map(|value| {
                let var = b.var(Type::I32);
                b.set(var, value);
                var
            });
        let in_word = product.elements_of_register(matrix);
        Self { by_lines, in_word, first, next, along, across, swizzling, base }
    }

    /// The word of a lane in a block, `before` eights of lines further.
    pub fn load(&self, b: &Builder<'_>, block: Block, before: Value) -> Value {
        let eights = b.add_const(before, (block.line / CORE).into());
        let across = b.get(self.across);
        let over = if self.by_lines {
            b.mul(eights, across)
        } else {
            let swizzling = b.get(self.swizzling);
            let inside = b.and(eights, self.rows_less_one(b));
            let outside = b.shr_by(eights, swizzling);
            b.add(b.shl(inside, 4), b.mul(outside, across))
        };
        // A block is as deep as a core matrix.
        let depth = block.start / (4 * self.in_word);
        let along = b.binary_const(Binary::Mul, b.get(self.along), depth.into());
        let address = b.add(b.add(b.get(self.first), over), along);
        if self.by_lines {
            return self.load_at(b, address, 4);
        }
        let low = self.load_at(b, address, 2);
        let second = b.add(address, b.get(self.next));
        b.or(low, b.shl(self.load_at(b, second, 2), 16))
    }

    fn rows_less_one(&self, b: &Builder<'_>) -> Value {
        b.sub_const(b.shl_by(b.i32(1), b.get(self.swizzling)), 1)
    }

    /// Loads so many bytes at an address before swizzling.
    fn load_at(&self, b: &Builder<'_>, address: Value, bytes: u8) -> Value {
        let row = b.sub(b.shr(address, 7), b.get(self.base));
        let turn = b.shl(b.and(row, self.rows_less_one(b)), 4);
        let address = b.xor(address, turn);
        // The bits count from the start of the block's own shared memory.
        let own = cluster::own_address(b, 0);
        let inside = b.and_const(b.sub(address, own), ADDRESS);
        let place = b.shared_offset(b.add(own, inside));
        let access = Access { space: Space::Shared, bytes, order: MemoryOrder::Weak, read_only: false };
        b.load_one(access, place)
    }
}
