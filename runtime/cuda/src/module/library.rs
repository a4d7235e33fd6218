//! Libraries: modules without a context. Their kernels can be launched like functions.

use std::ffi::c_uint;
use std::sync::Arc;

use ptx2spv_translator::Source;

use ptx2spv_runtime::MemoryRange;

use crate::abi::{Code, Handle, INVALID_VALUE, In, Memory, NOT_FOUND, Out, Text, objects, size_t};
use crate::context::state;
use crate::module::function::{self, FunctionHandle};
use crate::module::image;
use crate::module::jit;
use crate::module::loaded::{Loaded, ModuleHandle};

/// A library. All contexts share the device, and so the module.
pub(crate) struct Library {
    loaded: Arc<Loaded>,
    module: ModuleHandle,
}

pub(crate) type LibraryHandle = Handle<Library>;

objects!(LIBRARIES: Library = 6);

fn make(source: &Source, options: &jit::Options) -> Result<LibraryHandle, Code> {
    let loaded = Arc::new(Loaded::new(None, &state::device()?, source, options, false)?);
    let module = Handle::new(loaded.clone())?;
    Handle::new(Arc::new(Library { loaded, module }))
}

pub(crate) fn load_data(
    image: Memory,
    options: In<c_uint>,
    values: Out<usize>,
    count: c_uint,
) -> Result<LibraryHandle, Code> {
    let options = jit::Options::read(count, options, values)?;
    make(&image::read(image)?, &options)
}

pub(crate) fn load_file(
    path: Text,
    options: In<c_uint>,
    values: Out<usize>,
    count: c_uint,
) -> Result<LibraryHandle, Code> {
    make(&image::from_file(path)?, &jit::Options::read(count, options, values)?)
}

pub(crate) fn unload(library: LibraryHandle) -> Result<(), Code> {
    let removed = library.remove()?;
    function::end_module(&removed.loaded);
    removed.module.remove().map(|_| ())
}

pub(crate) fn kernel(library: LibraryHandle, name: Text) -> Result<FunctionHandle, Code> {
    function::of_module(&library.get()?.loaded, &name.get()?)
}

pub(crate) fn kernel_count(library: LibraryHandle) -> Result<c_uint, Code> {
    Ok(library.get()?.loaded.module.kernel_names().len() as c_uint)
}

pub(crate) fn kernels(list: Out<FunctionHandle>, count: c_uint, library: LibraryHandle) -> Result<(), Code> {
    let list = list.needed()?;
    state::device()?;
    function::list(list, count, &library.get()?.loaded)
}

pub(crate) fn module(library: LibraryHandle) -> Result<ModuleHandle, Code> {
    Ok(library.get()?.module)
}

/// The address and size of a variable.
pub(crate) fn global(library: LibraryHandle, name: Text) -> Result<(u64, usize), Code> {
    crate::context::current()?;
    let MemoryRange { address, size } = library.get()?.loaded.variable(&name.get()?)?;
    Ok((address, size_t(size)))
}

/// A managed variable.
pub(crate) fn managed(library: LibraryHandle, name: Text) -> Result<(u64, usize), Code> {
    if library.get()?.loaded.has_managed { global(library, name) } else { Err(NOT_FOUND) }
}

pub(crate) fn of_kernel(kernel: FunctionHandle) -> Result<LibraryHandle, Code> {
    let loaded = kernel.get()?.loaded.clone();
    LIBRARIES.find(|library| Arc::ptr_eq(&library.loaded, &loaded)).ok_or(INVALID_VALUE)
}
