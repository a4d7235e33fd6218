//! The region of device memory in which kernels request launches.

use super::launch_texts;
use super::runtime_calls::Call;
use crate::decode::program::{FuncId, Function, Program};
use crate::index::number;
use ptx2spv_interface::{ServiceSizes, launches};

/// The place of the region, and its capacities: see [`launches::Launches`].
#[derive(Clone, Copy, Debug)]
pub struct LaunchRegion {
    /// Offset in the variables' allocation.
    pub offset: u64,
    /// Number of functions in the table.
    pub functions: u32,
    /// Number of records.
    pub capacity: u32,
    pub record_bytes: u32,
    /// Whether kernels query the device.
    pub asks: bool,
    /// Whether kernels use names and texts of errors.
    pub texts: bool,
    /// Sizes of the heap and of the region for printed output.
    pub heap: u64,
    pub output: u64,
}

impl LaunchRegion {
    /// The region for a module's kernels, not yet placed; `None` if the module calls no function of the device runtime.
    pub fn of(program: &Program, sizes: ServiceSizes) -> Option<Self> {
        let declared = program.functions.iter().filter(|function| function.body.is_none());
        let declared: Vec<Call> = declared.filter_map(Call::find).collect();
        if declared.is_empty() {
            return None;
        }
        let kernels = program.address_taken.iter().filter_map(|id| program.functions.at(*id));
        let most = kernels.map(params_size).max().unwrap_or(0);
        let bytes = most.saturating_add(launches::record::PARAMS).max(launches::record::LEAST).next_multiple_of(64);
        let functions = number(program.functions.len());
        // Parameters take at most 1 MiB.
        let record_bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let asks = declared.iter().any(|call| call.asks());
        let texts = declared.iter().any(|call| matches!(call, Call::ErrorString(_)));
        let ServiceSizes { heap, output, launches: capacity, .. } = sizes;
        Some(Self { offset: 0, functions, capacity, record_bytes, asks, texts, heap, output })
    }

    /// Offset of the table in the region.
    pub const TABLE: u64 = launches::HEADER;

    /// Offset in the region of the device's attributes, which the host writes.
    pub fn attributes(self) -> u64 {
        Self::TABLE + launches::FUNCTION_BYTES * u64::from(self.functions)
    }

    /// Offset in the region of names and texts of errors.
    pub fn texts_offset(self) -> u64 {
        self.attributes() + if self.asks { launches::ATTRIBUTES_BYTES } else { 0 }
    }

    /// Offset of the first record in the region.
    pub fn records(self) -> u64 {
        let texts = if self.texts { launch_texts::size() } else { 0 };
        (self.texts_offset() + texts).next_multiple_of(64)
    }

    pub fn size(self) -> u64 {
        self.records() + u64::from(self.capacity) * u64::from(self.record_bytes)
    }

    /// The description of the region for the host.
    pub fn describe(self, program: &Program) -> launches::Launches {
        launches::Launches {
            offset: self.offset,
            size: self.size(),
            records: self.records(),
            capacity: self.capacity,
            record_bytes: self.record_bytes,
            attributes: self.asks.then(|| self.attributes()),
            kernels: program
                .kernels()
                .map(|(FuncId(function), kernel)| launches::Launched { name: kernel.name.clone(), function })
                .collect(),
        }
    }
}

/// Bytes of a kernel's parameters.
fn params_size(kernel: &Function) -> u64 {
    kernel.params.iter().take(kernel.formals).fold(0, |end: u64, param| {
        end.next_multiple_of(u64::from(param.align.max(1))).saturating_add(param.size.into())
    })
}
