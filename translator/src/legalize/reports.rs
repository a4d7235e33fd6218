//! Turns reports to the host into operations on the module's status record: see [`Status`].
//!
//! The thread that changes the record's first word from "fine" owns the record and writes the other words.

use crate::diagnostic::Span;
use crate::index::number;
use crate::ir::{
    Access, Atomic, AtomicOp, Block, Builder, Compare, Function, MemoryOrder, Scope, Space, Stmt, Type, Value, any_stmt,
};
use ptx2spv_interface::{Status, push_constant};

/// The record's first word: read and changed by all threads at any time.
pub(super) const CODE: Access =
    Access { space: Space::Global, bytes: 4, order: MemoryOrder::Relaxed(Scope::Device), read_only: false };
/// The other words, which one thread writes.
const REST: Access = Access { space: Space::Global, bytes: 4, order: MemoryOrder::Weak, read_only: false };

/// Replaces every [`Stmt::Report`] of the kernel with this [number](ptx2spv_interface::Entry::number), and returns the
/// source positions of the reports. A position's index in the list is its number in the record.
pub fn expand_reports(function: &mut Function, status: Status, kernel: u32) -> Vec<Option<Span>> {
    let mut places = Vec::new();
    if reports_any(&function.body) {
        let body = std::mem::take(&mut function.body);
        let b = Builder::new(function);
        expand(&b, body, None, &mut Expansion { status, kernel, places: &mut places });
        b.finish();
    }
    places
}

/// Whether a list contains a report.
pub fn reports_any(block: &Block) -> bool {
    any_stmt(block, &|stmt| matches!(stmt, Stmt::Report(..)))
}

/// Address of a word of the record.
pub(super) fn word(b: &Builder<'_>, status: Status, number: u32) -> Value {
    let base = b.push_constant(Type::I64, push_constant::VARIABLES_ADDRESS);
    b.add_const(base, status.offset.saturating_add(4 * u64::from(number)))
}

struct Expansion<'p> {
    status: Status,
    kernel: u32,
    places: &'p mut Vec<Option<Span>>,
}

/// Appends statements that stand after the mark `at`.
fn expand(b: &Builder<'_>, stmts: Block, mut at: Option<Span>, expansion: &mut Expansion<'_>) {
    for stmt in stmts {
        match stmt {
            Stmt::At(span) => {
                at = span;
                b.push(Stmt::At(span));
            }
            Stmt::Report(fault, details) => expansion.report(b, fault.code(), &details, at),
            Stmt::If { .. } | Stmt::Loop(_) => b.push_with_lists(stmt, |b, list| expand(b, list, at, expansion)),
            stmt => b.push(stmt),
        }
    }
}

impl Expansion<'_> {
    fn report(&mut self, b: &Builder<'_>, code: u32, details: &[Value], at: Option<Span>) {
        let place = self.places.iter().position(|place| *place == at).unwrap_or_else(|| {
            self.places.push(at);
            self.places.len() - 1
        });
        let address = word(b, self.status, 0);
        let operand = b.i32(code);
        let fine = b.i32(Status::FINE);
        let found = b.value(Type::I32);
        b.atomic(Atomic {
            result: Some(found),
            op: AtomicOp::CompareExchange,
            access: CODE,
            address,
            operand,
            compare: Some(fine),
        });
        let first = b.compare_const(Compare::Equal, found, Status::FINE.into());
        b.if_(first, |b| {
            let kernel = b.i32(self.kernel);
            let place = b.i32(number(place));
            let words = [(Status::KERNEL, kernel), (Status::PLACE, place)];
            for (number, value) in words.into_iter().chain((Status::DETAILS..).zip(details.iter().copied())) {
                b.store(REST, word(b, self.status, number), vec![value]);
            }
        });
    }
}
