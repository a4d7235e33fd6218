//! Modules.

pub(crate) mod function;
pub(crate) mod image;
pub(crate) mod jit;
pub(crate) mod library;
pub(crate) mod lifetime;
pub(crate) mod link;
pub(crate) mod loaded;
pub(crate) mod texture_reference;

use std::ffi::c_uint;
use std::sync::Arc;

use ptx2spv_translator::Source;

use ptx2spv_runtime::MemoryRange;

use crate::abi::{Handle, In, Memory, Out, Result, Text, size_t};
use crate::context;
use crate::module::function::FunctionHandle;
use crate::module::loaded::{Loaded, ModuleHandle};
use crate::stream::capture;

pub(crate) fn load(path: Text) -> Result<ModuleHandle> {
    load_source(&image::from_file(path)?, &jit::Options::default())
}

pub(crate) fn load_data(image: Memory) -> Result<ModuleHandle> {
    load_source(&image::read(image)?, &jit::Options::default())
}

pub(crate) fn load_data_with(
    image: Memory,
    count: c_uint,
    options: In<c_uint>,
    values: Out<usize>,
) -> Result<ModuleHandle> {
    let options = jit::Options::read(count, options, values)?;
    load_source(&image::read(image)?, &options)
}

fn load_source(source: &Source, options: &jit::Options) -> Result<ModuleHandle> {
    let context = context::current()?;
    let device = context.device.clone();
    Handle::new(Arc::new(Loaded::new(Some(context), &device, source, options, false)?))
}

/// Unloads a module with everything that belongs to it. No context need be current: Blender unloads its module without one.
pub(crate) fn unload(module: ModuleHandle) -> Result {
    module.get()?;
    capture::potentially_unsafe()?;
    let removed = module.remove()?;
    function::end_module(&removed);
    texture_reference::end_module(&removed)
}

pub(crate) fn function(module: ModuleHandle, name: Text) -> Result<FunctionHandle> {
    function::of_module(&module.get()?, &name.get()?)
}

pub(crate) fn function_count(module: ModuleHandle) -> Result<c_uint> {
    Ok(module.get()?.module.kernel_names().len() as c_uint)
}

pub(crate) fn functions(list: Out<FunctionHandle>, count: c_uint, module: ModuleHandle) -> Result {
    let list = list.needed()?;
    context::current()?;
    function::list(list, count, &module.get()?)
}

/// The address and size of a variable.
pub(crate) fn global(module: ModuleHandle, name: Text) -> Result<(u64, usize)> {
    context::current()?;
    let MemoryRange { address, size } = module.get()?.variable(&name.get()?)?;
    Ok((address, size_t(size)))
}

/// `CU_MODULE_EAGER_LOADING`: kernels are translated with their module.
const EAGER: c_uint = 1;

/// `CU_MODULE_LAZY_LOADING`: kernels are translated when they are first launched.
const LAZY: c_uint = 2;

pub(crate) fn loading_mode() -> Result<c_uint> {
    Ok(if loaded::is_eager() { EAGER } else { LAZY })
}
