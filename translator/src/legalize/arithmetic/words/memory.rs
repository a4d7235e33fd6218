//! Loads and stores of 64-bit elements as twice as many words, and addresses of two words.

use super::halves::{Halves, Words};
use crate::ir::{Access, Block, Builder, MemoryOrder, Rewritten, Space, Stmt, Type, Value, any_stmt};

/// Whether a list accesses 64 bits atomically: by an atomic, or with a memory order.
pub(crate) fn is_long(block: &Block) -> bool {
    any_stmt(block, &|stmt| match stmt {
        Stmt::Load { access, .. } | Stmt::Store { access, .. } => {
            access.bytes == 8 && access.order != MemoryOrder::Weak && !access.read_only
        }
        Stmt::Atomic(atomic) => atomic.access.bytes == 8,
        _ => false,
    })
}

impl Halves {
    pub(crate) fn address(&self, b: &Builder<'_>, access: Access, address: Value) -> Value {
        if access.space != Space::Global {
            return address;
        }
        let words = self.of(address);
        b.pair(Type::Pair, words.low, words.high)
    }

    pub(crate) fn load(&mut self, b: &Builder<'_>, results: &[Value], access: Access, address: Value) -> Rewritten {
        let address = self.address(b, access, address);
        if access.bytes != 8 {
            b.push(Stmt::Load { results: results.to_vec(), access, address });
            return Rewritten::Replaced;
        }
        let words = b.load(Access { bytes: 4, ..access }, address, 2 * results.len());
        for (result, halves) in results.iter().zip(words.chunks_exact(2)) {
            if let [low, high] = *halves {
                self.learn(*result, Words::new(low, high));
            }
        }
        Rewritten::Replaced
    }

    pub(crate) fn store(&mut self, b: &Builder<'_>, values: &[Value], access: Access, address: Value) -> Rewritten {
        let address = self.address(b, access, address);
        if access.bytes != 8 {
            b.store(access, address, values.to_vec());
            return Rewritten::Replaced;
        }
        let words = values.iter().map(|value| self.of(*value)).flat_map(|words| [words.low, words.high]).collect();
        b.store(Access { bytes: 4, ..access }, address, words);
        Rewritten::Replaced
    }
}
