//! Loads PTX kernels and launches them on any Vulkan device, or on a reference device that needs no driver and reports
//! undefined behavior.
//!
//! The types are those of CUDA's driver API: [`Instance`] (the driver), [`Device`] (a context), [`Stream`], [`Event`],
//! [`Buffer`] (device memory; [`DeviceSlice`] of typed elements, [`DeviceMemory`] by plain addresses), [`Array`], [`Texture`],
//! [`Surface`], [`Module`], [`Kernel`].
//!
//! ```no_run
//! use ptx2spv_runtime::{Device, DeviceSelector, LaunchConfig, Source};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let device = Device::open(&DeviceSelector::Default)?;
//! let text = std::fs::read_to_string("vector_add.ptx")?;
//! let module = device.load(&Source::new("vector_add.ptx", text))?;
//! let kernel = module.kernel("vector_add")?;
//!
//! let n = 1_000_000_u32;
//! let a = device.upload(&vec![1.0_f32; n as usize])?;
//! let b = device.upload(&vec![2.0_f32; n as usize])?;
//! let c = device.alloc(4 * u64::from(n))?;
//! // SAFETY: `vector_add` takes three arrays of `n` floats and `n`, and stays inside of the arrays.
//! unsafe { kernel.launch(&LaunchConfig::linear(n, 256), &[(&a).into(), (&b).into(), (&c).into(), n.into()]) }?;
//! let sums: Vec<f32> = c.download()?;
//! assert_eq!(sums[0], 3.0);
//! # Ok(())
//! # }
//! ```
//!
//! The cargo feature `reference`, enabled by default, adds the reference device. Without it, opening that device fails
//! with [`Error::NoReference`]. As WebAssembly the crate has that device alone.
//!
//! Contracts:
//! * **Order.** Launches, fills and device-to-device copies are asynchronous and take effect in the order of the calls,
//!   as on CUDA's default stream. A [`Stream`] has its own order. Reading and writing buffers from the host waits for
//!   earlier work on the device. While the device is busy, launches are collected and submitted together;
//!   [`Device::synchronize`] and every access from the host submits them.
//! * **Addresses** are real: kernels may store a buffer's address, compute with it and follow it.
//! * **Lifetimes.** Dropped objects are freed once the device has finished everything launched before.
//! * **Threads.** All types can be shared between threads. Launches from several threads run in the order in which the
//!   calls reach the device.
//! * **Errors** are found before anything reaches the device: wrong arguments, sizes, limits and missing features have
//!   errors of their own. After [`Error::DeviceLost`], everything on that device fails.
//! * **Forks.** A device belongs to the process that opened it. In a forked child, every use of the device fails with
//!   [`Error::Forked`], and none of its objects are freed; the child may open a device of its own.
//! * **Aborted kernels.** A kernel can stop at a `trap` or a failed assertion, and some drivers stop kernels before
//!   their work is done. The next call that waits for the kernel, reads from the device or submits work behind the kernel
//!   then fails with [`Error::Aborted`]. Nothing runs behind a kernel that was stopped by its own code: calls that submit
//!   work behind a kernel that may be stopped wait for its end. The reference device stops kernels that access memory outside of their allocations or wait for
//!   ever, and reports [`Error::Fault`] in the same way; its other findings are collected in
//!   [`ReferenceDevice::take_findings`].
//! * **Watchdogs.** A desktop may kill work that runs for seconds: [`Device::set_max_dispatch_time`] splits long grids
//!   into several submissions.
//! * **Waiting** has no limit unless [`Device::set_wait_limit`] sets one.
//! * **Cache.** Translations are stored in the user's [`Cache`], for this and other processes, unless [`LoadOptions`]
//!   disable it.
//! * **Output.** Output of `printf` in kernels arrives with the same calls as errors, and is collected in
//!   [`Device::take_output`].
//! * **Events.** Kernels count events with `pmevent` (`__prof_trigger`): [`Module::counters`] returns the counts,
//!   [`Module::reset_counters`] resets them.
//! * **Trust.** A kernel is foreign code: as in CUDA, it can read and write any memory that the device can access. Its
//!   addresses are not checked, so that launching is `unsafe`. The reference device does check them.

// Callers get errors, not panics.
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable, clippy::todo)
)]
// The back ends share a front, of which the reference device needs less.
#![cfg_attr(target_family = "wasm", allow(dead_code))]

mod backend;
mod cache;
mod clock;
mod device;
mod error;
mod graph;
mod info;
mod launch;
mod memory;
mod module;
#[cfg(not(target_family = "wasm"))]
mod open;
mod profile;
#[cfg(feature = "reference")]
mod reference;
mod stream;
mod sync;
mod texel;
mod texture;

pub use backend::range::{MemoryInfo, MemoryRange, PinnedKind, PinnedRange};
#[cfg(feature = "reference")]
pub use backend::reference::ReferenceDevice;
pub use backend::shape::Extent;
#[cfg(not(target_family = "wasm"))]
pub use backend::vulkan::{
    Instance, InstanceOptions, QUEUES_VARIABLE, VALIDATION_VARIABLE, ValidationLog, survive_kernel_faults,
};
pub use cache::{CACHE_VARIABLE, Cache, CacheUsage};
pub use device::Device;
pub use device::pool::{MemoryPool, PoolUsage};
pub use error::{Error, ErrorGroup, Result, closest};
pub use graph::{Graph, KernelWork, LaunchableGraph, NodeId, NodeKind, SetNode, Work, topological_order};
pub use info::options::ReferenceOptions;
pub use info::restrictions::{RESTRICTIONS_VARIABLE, Restrictions};
pub use info::select::{DEVICE_VARIABLE, DeviceSelector};
pub use info::{BusAddress, DeviceInfo, DeviceKind, KnownBug, Process, target_by_name};
pub use launch::args::{Arg, LaunchConfig};
pub use launch::launcher::Launcher;
pub use launch::occupancy::Occupancy;
pub use launch::prepare::PreparationTimes;
pub use memory::DeviceMemory;
pub use memory::buffer::Buffer;
pub use memory::copies::{CopyAddress, CopySide};
pub use memory::pinned::PinnedBuffer;
pub use memory::slice::DeviceSlice;
pub use module::Module;
pub use module::code::LoadOptions;
pub use module::kernel::{DeclaredKernel, Kernel, KernelAttributes};
pub use module::linker::{Linker, read_programs};
pub use module::texture_reference::Reference;
#[cfg(not(target_family = "wasm"))]
pub use open::{FoundDevices, ListedDevice, devices, find_device, listed_devices};
pub use profile::{PROFILE_VARIABLE, ProfileRange};
pub use ptx2spv_fatbin as fatbin;
#[cfg(feature = "reference")]
pub use ptx2spv_reference::{Config, Mode, Trace};
pub use ptx2spv_reference::{Finding, FindingKind, Site, SpirvInstruction};
pub use ptx2spv_translator::{
    Diagnostic, Diagnostics, ErrorKind, Feature, Generation, Interface, Math, Program, Source, Span, Target, Topic,
    interface, target,
};
pub use stream::event::Event;
pub use stream::{SetValue, Stream, StreamOptions};
pub use texel::error::TextureError;
pub use texel::format::{ChannelFormat, FormatError, ReadMode, TexelFormat};
pub use texel::limits as texture_limits;
pub use texel::reference_kind::ReferenceKind;
pub use texel::shape::ArrayShape;
pub use texture::tensor_map::{Tensor, TensorInterleave, TensorMap, TensorMapError, TensorSwizzle, TensorType};
pub use texture::{
    AddressMode, Array, ArrayDescriptor, ArrayRegion, Filter, MipmappedArray, Resource, ResourceView, Sampler, Surface,
    Texture, TextureDescriptor,
};
