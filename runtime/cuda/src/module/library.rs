//! Libraries: modules without a context. Their kernels can be launched like functions.

use std::ffi::{c_int, c_uint};
use std::sync::{Arc, Mutex};

use ptx2spv_translator::Source;

use ptx2spv_runtime::{Device, MemoryRange};

use crate::abi::{
    Handle, INVALID_HANDLE, INVALID_VALUE, In, Memory, NOT_FOUND, NOT_SUPPORTED, Out, Result, Text, lock, objects,
    size_t,
};
use crate::context::{self, state};
use crate::module::function::{self, FunctionHandle};
use crate::module::image;
use crate::module::jit;
use crate::module::loaded::{Loaded, ModuleHandle};
use crate::stream::capture;

/// A library. All contexts of a device share its module.
pub(crate) struct Library {
    source: Source,
    /// The modules of devices. Programs have handles of the first module's kernels.
    modules: Mutex<Vec<(Arc<Loaded>, ModuleHandle)>>,
    first: Arc<Loaded>,
}

pub(crate) type LibraryHandle = Handle<Library>;

objects!(LIBRARIES: Library = 6);

fn make(source: &Source, options: &jit::Options) -> Result<LibraryHandle> {
    let current = context::current_if_any()?;
    let device = current.map_or_else(|| state::device_by_ordinal(0), |context| Ok(context.device.clone()))?;
    let first = Arc::new(Loaded::new(None, &device, source, options, false)?);
    let modules = Mutex::new(vec![(first.clone(), Handle::new(first.clone())?)]);
    Handle::new(Arc::new(Library { source: source.clone(), modules, first }))
}

impl Library {
    /// The module on a device, which is loaded now unless it has been.
    fn on(&self, device: &Device) -> Result<(Arc<Loaded>, ModuleHandle)> {
        let mut modules = lock(&self.modules);
        if let Some((loaded, handle)) = modules.iter().find(|(loaded, _)| loaded.device.is(device)) {
            return Ok((loaded.clone(), *handle));
        }
        if self.first.has_managed {
            return Err(NOT_SUPPORTED.because("managed variables on several devices"));
        }
        let loaded = Arc::new(Loaded::new(None, device, &self.source, &jit::Options::default(), false)?);
        let handle = Handle::new(loaded.clone())?;
        modules.push((loaded.clone(), handle));
        Ok((loaded, handle))
    }

    fn has(&self, loaded: &Arc<Loaded>) -> bool {
        lock(&self.modules).iter().any(|(own, _)| Arc::ptr_eq(own, loaded))
    }
}

/// The kernel's handle on a device. Fails for a kernel of another device, unless the kernel is a library's.
pub(crate) fn kernel_on(function: FunctionHandle, device: &Device) -> Result<FunctionHandle> {
    let known = function.get()?;
    if known.loaded.device.is(device) {
        return Ok(function);
    }
    let library = LIBRARIES.find(|library| library.has(&known.loaded));
    let library = library.ok_or_else(|| INVALID_HANDLE.because("a kernel of another device"))?;
    function::of_module(&library.get()?.on(device)?.0, known.kernel.name())
}

/// A library's kernel on the device of an ordinal.
fn of_device(kernel: FunctionHandle, device: c_int) -> Result<FunctionHandle> {
    kernel_on(kernel, &state::device_by_ordinal(device)?)
}

pub(crate) fn kernel_attribute(attribute: c_uint, kernel: FunctionHandle, device: c_int) -> Result<c_int> {
    function::attribute(attribute, of_device(kernel, device)?)
}

pub(crate) fn set_kernel_attribute(attribute: c_uint, value: c_int, kernel: FunctionHandle, device: c_int) -> Result {
    function::set_attribute(of_device(kernel, device)?, attribute, value)
}

pub(crate) fn set_kernel_cache_config(kernel: FunctionHandle, config: c_uint, device: c_int) -> Result {
    state::entry(device)?;
    function::set_cache_config(kernel, config)
}

pub(crate) fn function_of_kernel(kernel: FunctionHandle) -> Result<FunctionHandle> {
    kernel_on(kernel, &context::current()?.device)
}

pub(crate) fn load_data(
    image: Memory,
    options: In<c_uint>,
    values: Out<usize>,
    count: c_uint,
) -> Result<LibraryHandle> {
    let options = jit::Options::read(count, options, values)?;
    make(&image::read(image)?, &options)
}

pub(crate) fn load_file(path: Text, options: In<c_uint>, values: Out<usize>, count: c_uint) -> Result<LibraryHandle> {
    make(&image::from_file(path)?, &jit::Options::read(count, options, values)?)
}

pub(crate) fn unload(library: LibraryHandle) -> Result {
    library.get()?;
    capture::potentially_unsafe()?;
    let removed = library.remove()?;
    let unload = |(loaded, module): (Arc<Loaded>, ModuleHandle)| {
        function::end_module(&loaded);
        module.remove().map(|_| ())
    };
    // All are unloaded, whatever one says.
    lock(&removed.modules).drain(..).map(unload).fold(Ok(()), Result::and)
}

pub(crate) fn kernel(library: LibraryHandle, name: Text) -> Result<FunctionHandle> {
    function::of_module(&library.get()?.first, &name.get()?)
}

pub(crate) fn kernel_count(library: LibraryHandle) -> Result<c_uint> {
    Ok(library.get()?.first.module.kernel_names().len() as c_uint)
}

pub(crate) fn kernels(list: Out<FunctionHandle>, count: c_uint, library: LibraryHandle) -> Result {
    let list = list.needed()?;
    state::check()?;
    function::list(list, count, &library.get()?.first)
}

pub(crate) fn module(library: LibraryHandle) -> Result<ModuleHandle> {
    let context = context::current()?;
    Ok(library.get()?.on(&context.device)?.1)
}

/// The address and size of a variable.
pub(crate) fn global(library: LibraryHandle, name: Text) -> Result<(u64, usize)> {
    let context = context::current()?;
    let MemoryRange { address, size } = library.get()?.on(&context.device)?.0.variable(&name.get()?)?;
    Ok((address, size_t(size)))
}

/// A managed variable.
pub(crate) fn managed(library: LibraryHandle, name: Text) -> Result<(u64, usize)> {
    if library.get()?.first.has_managed { global(library, name) } else { Err(NOT_FOUND) }
}

pub(crate) fn of_kernel(kernel: FunctionHandle) -> Result<LibraryHandle> {
    let loaded = kernel.get()?.loaded.clone();
    LIBRARIES.find(|library| library.has(&loaded)).ok_or(INVALID_VALUE)
}
