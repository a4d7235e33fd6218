//! The two sides that compute: the tested device, and CUDA.

use anyhow::Result;
use ptx2spv::cuda::{Context, Launch, Memory, Module as CudaModule};
use ptx2spv_runtime::{Buffer, Device, Kernel, LaunchConfig, LoadOptions};
use ptx2spv_translator::{Math, Source};

use crate::functions::Function;

/// Threads of a block.
const BLOCK: u32 = 256;

/// A range of operand numbers: `count` numbers from `first` on, whose bits are `stride` apart.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// The index of the first operand in the sweep.
    pub first: u64,
    pub count: u32,
    /// The distance of their bits.
    pub stride: u32,
}

impl Range {
    /// Bits of the first operand.
    pub fn start(self) -> u32 {
        // Operands have at most 32 bits.
        #[allow(clippy::cast_possible_truncation)]
        let start = self.first as u32;
        start.wrapping_mul(self.stride)
    }
}

/// A side that computes a range of operands.
pub trait Side {
    /// The results' bits, zero-extended.
    fn compute(&self, range: Range) -> Result<Vec<u64>>;
}

/// The tested device.
pub struct Tested {
    kernel: Kernel,
    out: Buffer,
    bytes: u32,
}

impl Tested {
    /// Loads a function.
    pub fn new(device: &Device, function: &Function, chunk: u32, math: Math) -> Result<Self> {
        let source = Source::new(format!("{}.ptx", function.name), function.ptx());
        let module = device.load_with(&source, LoadOptions::uncached(math))?;
        let bytes = function.result_bytes();
        let out = device.alloc(u64::from(bytes) * u64::from(chunk))?;
        Ok(Self { kernel: module.kernel("sweep")?, out, bytes })
    }
}

impl Side for Tested {
    fn compute(&self, range: Range) -> Result<Vec<u64>> {
        let config = LaunchConfig::linear(range.count, BLOCK);
        let args = [(&self.out).into(), range.start().into(), range.stride.into(), range.count.into()];
        // SAFETY: the sweep's kernel writes an element of `out` for each operand of the range, for which there is
        // space.
        unsafe { self.kernel.launch(&config, &args) }?;
        let mut bytes = vec![0; self.bytes as usize * range.count as usize];
        self.out.read(0, &mut bytes)?;
        Ok(numbers(&bytes, self.bytes))
    }
}

/// CUDA on the first device.
pub struct Cuda<'c> {
    module: CudaModule<'c>,
    out: Memory<'c>,
    bytes: u32,
}

impl<'c> Cuda<'c> {
    /// Loads a function.
    pub fn new(context: &'c Context, function: &Function, chunk: u32) -> Result<Self> {
        let bytes = function.result_bytes();
        let out = context.alloc(bytes as usize * chunk as usize)?;
        Ok(Self { module: context.load(&function.ptx())?, out, bytes })
    }
}

impl Side for Cuda<'_> {
    fn compute(&self, range: Range) -> Result<Vec<u64>> {
        let launch =
            Launch { grid: [range.count.div_ceil(BLOCK), 1, 1], block: [BLOCK, 1, 1], dynamic_shared_bytes: 0 };
        let operands = [range.start(), range.stride, range.count].map(|number| number.to_le_bytes().to_vec());
        let mut args = vec![self.out.address().to_le_bytes().to_vec()];
        args.extend(operands);
        self.module.function("sweep")?.bind(launch, args)?.launch()?;
        Ok(numbers(&self.out.read(self.bytes as usize * range.count as usize)?, self.bytes))
    }
}

/// The 8-byte or 4-byte numbers in memory.
fn numbers(memory: &[u8], bytes: u32) -> Vec<u64> {
    if bytes == 8 {
        memory.as_chunks().0.iter().map(|number| u64::from_le_bytes(*number)).collect()
    } else {
        memory.as_chunks().0.iter().map(|number| u64::from(u32::from_le_bytes(*number))).collect()
    }
}
