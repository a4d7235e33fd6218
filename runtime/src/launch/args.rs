//! Kernel arguments: checks them against the parameters and packs them into the parameter block.

use ptx2spv_translator::interface::{Entry, Variables};

use crate::backend::launch::Arguments;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::memory::buffer::Buffer;
use crate::memory::slice::DeviceSlice;
use crate::texture::{Sampler, Surface, Texture};

/// One kernel argument. Values must have the parameter's size in bytes; signed and unsigned are the same here.
///
/// ```
/// use ptx2spv_runtime::{Arg, Config, Device, LaunchConfig, Source};
///
/// let device = Device::reference(Config::default());
/// let ptx = "
///     .version 7.0
///     .target sm_50
///     .address_size 64
///     .visible .entry store(.param .u64 out, .param .u32 value)
///     {
///         .reg .b32 %r;
///         .reg .b64 %rd;
///         ld.param.u64 %rd, [out];
///         ld.param.u32 %r, [value];
///         st.global.u32 [%rd], %r;
///         ret;
///     }";
/// let kernel = device.load(&Source::new("store.ptx", ptx))?.kernel("store")?;
/// let numbers = device.upload(&[0_u32; 4])?;
/// // SAFETY: the kernel writes one number, for which the buffer has room.
/// unsafe { kernel.launch(&LaunchConfig::linear(1, 1), &[Arg::Interior(&numbers, 8), Arg::U32(5)]) }?;
/// assert_eq!(numbers.download::<u32>()?, [0, 0, 5, 0]);
/// # Ok::<(), ptx2spv_runtime::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the scalar variants are their types")]
pub enum Arg<'a> {
    /// A buffer's address.
    Pointer(&'a Buffer),
    /// An address inside of a buffer, as an offset in bytes.
    Interior(&'a Buffer, u64),
    /// A texture's handle.
    Texture(&'a Texture),
    /// A surface's handle.
    Surface(&'a Surface),
    /// A sampler's handle.
    Sampler(&'a Sampler),
    /// A device address, such as [`Buffer::address`] and an offset.
    Address(u64),
    U8(u8),
    U16(u16),
    U32(u32),
    U64(u64),
    S8(i8),
    S16(i16),
    S32(i32),
    S64(i64),
    F32(f32),
    F64(f64),
    /// Any other value as little-endian bytes: a struct, an array, a half.
    Bytes(&'a [u8]),
}

pub(crate) struct Args<'a>(pub &'a [Arg<'a>]);

impl Arguments for Args<'_> {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn address(&self, index: usize) -> Option<u64> {
        self.0.get(index)?.address()
    }
}

macro_rules! from {
    ($($variant:ident: $ty:ty),*) => {
        $(impl<'a> From<$ty> for Arg<'a> {
            fn from(value: $ty) -> Self {
                Self::$variant(value)
            }
        })*
    };
}

from!(Pointer: &'a Buffer, Texture: &'a Texture, Surface: &'a Surface, Sampler: &'a Sampler, U8: u8, U16: u16, U32: u32, U64: u64, S8: i8, S16: i16, S32: i32, S64: i64, F32: f32, F64: f64,
    Bytes: &'a [u8]);

impl<'a, T> From<&'a DeviceSlice<T>> for Arg<'a> {
    fn from(slice: &'a DeviceSlice<T>) -> Self {
        let (buffer, offset) = slice.place();
        Self::Interior(buffer, offset)
    }
}

impl Arg<'_> {
    /// The device that the argument belongs to, if any.
    pub(crate) fn device(&self) -> Option<&Device> {
        match self {
            Self::Pointer(buffer) | Self::Interior(buffer, _) => Some(buffer.device()),
            Self::Texture(texture) => Some(texture.device()),
            Self::Surface(surface) => Some(surface.device()),
            Self::Sampler(sampler) => Some(sampler.device()),
            _ => None,
        }
    }

    /// The device address that the argument passes, if any.
    pub(crate) fn address(&self) -> Option<u64> {
        match self {
            Self::Pointer(buffer) => Some(buffer.address()),
            Self::Interior(buffer, offset) => Some(buffer.address().wrapping_add(*offset)),
            Self::Address(address) => Some(*address),
            _ => None,
        }
    }

    /// Calls `write` with the argument's little-endian bytes.
    pub(crate) fn with_bytes<R>(&self, write: impl FnOnce(&[u8]) -> R) -> R {
        match self {
            Self::Pointer(buffer) => write(&buffer.address().to_le_bytes()),
            Self::Interior(buffer, offset) => write(&buffer.address().wrapping_add(*offset).to_le_bytes()),
            Self::Texture(texture) => write(&texture.handle().to_le_bytes()),
            Self::Surface(surface) => write(&surface.handle().to_le_bytes()),
            Self::Sampler(sampler) => write(&sampler.handle().to_le_bytes()),
            Self::Address(value) | Self::U64(value) => write(&value.to_le_bytes()),
            Self::U8(value) => write(&value.to_le_bytes()),
            Self::U16(value) => write(&value.to_le_bytes()),
            Self::U32(value) => write(&value.to_le_bytes()),
            Self::S8(value) => write(&value.to_le_bytes()),
            Self::S16(value) => write(&value.to_le_bytes()),
            Self::S32(value) => write(&value.to_le_bytes()),
            Self::S64(value) => write(&value.to_le_bytes()),
            Self::F32(value) => write(&value.to_le_bytes()),
            Self::F64(value) => write(&value.to_le_bytes()),
            Self::Bytes(bytes) => write(bytes),
        }
    }
}

/// Packs arguments into a parameter block; bytes without a parameter are zero. The entry and the module's variables
/// must have passed [`crate::module::check::interface`]. For 32-bit pointers, addresses are truncated.
pub(crate) fn pack(
    device: &Device,
    variables: &Variables,
    entry: &Entry,
    args: &[Arg<'_>],
    block: &mut [u8],
) -> Result {
    if args.len() != entry.params.len() {
        return Err(Error::ArgumentCount {
            kernel: entry.name.clone(),
            expected: entry.params.len(),
            given: args.len(),
        });
    }
    for (index, (arg, param)) in args.iter().zip(&entry.params).enumerate() {
        if let Some(owner) = arg.device() {
            device.check_same(owner)?;
        }
        let short = param.size == 4 && variables.near;
        if let Some(address) = arg.address() {
            if short && address != 0 && !device.near().is_some_and(|near| near.contains(address)) {
                return Err(Error::TooFar(format!("argument {index} of `{}`", entry.name)));
            }
            if !short && param.size != 8 {
                let (kernel, param, size) = (entry.name.clone(), param.name.clone(), param.size);
                return Err(Error::ArgumentPointer { kernel, index, param, size });
            }
        }
        let low = short && arg.address().is_some();
        arg.with_bytes(|bytes| {
            let bytes = bytes.get(..4).filter(|_| low).unwrap_or(bytes);
            let range = param.offset as usize..param.offset as usize + param.size as usize;
            match block.get_mut(range) {
                Some(place) if place.len() == bytes.len() => {
                    place.copy_from_slice(bytes);
                    Ok(())
                }
                _ => Err(Error::ArgumentSize {
                    kernel: entry.name.clone(),
                    index,
                    param: param.name.clone(),
                    expected: param.size,
                    given: bytes.len(),
                }),
            }
        })?;
    }
    Ok(())
}

/// The number of threads to launch, and the amount of dynamic shared memory.
///
/// ```
/// use ptx2spv_runtime::LaunchConfig;
///
/// // A thread for each of a thousand numbers, in blocks of 256.
/// assert_eq!(LaunchConfig::linear(1000, 256).grid, [4, 1, 1]);
/// // A thread for each pixel of a picture.
/// assert_eq!(LaunchConfig::covering([640, 480, 1], [16, 16, 1]).grid, [40, 30, 1]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LaunchConfig {
    /// Blocks (CTAs) in x, y and z: up to 2^31 - 1, 65,535 and 65,535 on every device.
    pub grid: [u32; 3],
    /// Threads per block in x, y and z.
    pub block: [u32; 3],
    /// Bytes of dynamic (`.extern .shared`) shared memory.
    pub dynamic_shared_bytes: u32,
}

impl LaunchConfig {
    /// A grid of blocks without dynamic shared memory.
    pub const fn new(grid: [u32; 3], block: [u32; 3]) -> Self {
        Self { grid, block, dynamic_shared_bytes: 0 }
    }

    /// The smallest grid that covers this many threads in x, y and z.
    pub fn covering(threads: [u32; 3], block: [u32; 3]) -> Self {
        Self::new([0, 1, 2].map(|i| threads[i].div_ceil(block[i].max(1))), block)
    }

    /// Sets the bytes of dynamic shared memory.
    #[must_use]
    pub fn with_shared(self, dynamic_shared_bytes: u32) -> Self {
        Self { dynamic_shared_bytes, ..self }
    }

    /// The smallest grid of blocks of `block` threads that covers `threads` threads in x.
    pub fn linear(threads: u32, block: u32) -> Self {
        Self::new([threads.div_ceil(block.max(1)), 1, 1], [block, 1, 1])
    }
}
