//! Libraries: modules without a context. Their kernels can be launched like functions.

use std::ffi::c_uint;
use std::path::Path;
use std::sync::Arc;

use ptx2spv_translator::Source;

use crate::abi::code::{Code, INVALID_VALUE, NOT_FOUND};
use crate::abi::handle::{Handle, Object, Table};
use crate::abi::raw::{In, Memory, Out, Text, size_t};
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

static LIBRARIES: Table<Library> = Table::new();

impl Object for Library {
    const TAG: u8 = 6;

    fn table() -> &'static Table<Self> {
        &LIBRARIES
    }
}

fn make(library: Out<LibraryHandle>, source: &Source, options: &jit::Options) -> Result<(), Code> {
    let library = library.needed()?;
    let device = state::device()?;
    let loaded = Arc::new(Loaded::new(None, &device, source, options, false)?);
    let module = Handle::new(loaded.clone())?;
    library.set(Handle::new(Arc::new(Library { loaded, module }))?)
}

#[allow(clippy::too_many_arguments, reason = "CUDA's arguments")]
pub(crate) fn load_data(
    library: Out<LibraryHandle>,
    image: Memory,
    options: In<c_uint>,
    values: Out<usize>,
    count: c_uint,
    _library_options: In<c_uint>,
    _library_values: Memory,
    _library_count: c_uint,
) -> Result<(), Code> {
    let library = library.needed()?;
    state::device()?;
    make(library, &image::read(image)?, &jit::Options::read(count, options, values)?)
}

#[allow(clippy::too_many_arguments, reason = "CUDA's arguments")]
pub(crate) fn load_file(
    library: Out<LibraryHandle>,
    path: Text,
    options: In<c_uint>,
    values: Out<usize>,
    count: c_uint,
    _library_options: In<c_uint>,
    _library_values: Memory,
    _library_count: c_uint,
) -> Result<(), Code> {
    let library = library.needed()?;
    state::device()?;
    make(library, &image::from_file(Path::new(&path.get()?))?, &jit::Options::read(count, options, values)?)
}

pub(crate) fn unload(library: LibraryHandle) -> Result<(), Code> {
    state::device()?;
    let removed = library.remove()?;
    function::end_module(&removed.loaded);
    removed.module.remove().map(|_| ())
}

pub(crate) fn kernel(kernel: Out<FunctionHandle>, library: LibraryHandle, name: Text) -> Result<(), Code> {
    let kernel = kernel.needed()?;
    state::device()?;
    kernel.set(function::of_module(&library.get()?.loaded, &name.get()?)?)
}

pub(crate) fn kernel_count(count: Out<c_uint>, library: LibraryHandle) -> Result<(), Code> {
    let count = count.needed()?;
    state::device()?;
    count.set(library.get()?.loaded.module.kernel_names().len() as c_uint)
}

pub(crate) fn kernels(list: Out<FunctionHandle>, count: c_uint, library: LibraryHandle) -> Result<(), Code> {
    let list = list.needed()?;
    state::device()?;
    let loaded = library.get()?.loaded.clone();
    for (index, name) in loaded.module.kernel_names().iter().enumerate().take(count as usize) {
        list.at(index).set(function::of_module(&loaded, name)?)?;
    }
    Ok(())
}

pub(crate) fn module(module: Out<ModuleHandle>, library: LibraryHandle) -> Result<(), Code> {
    let module = module.needed()?;
    crate::context::current()?;
    module.set(library.get()?.module)
}

pub(crate) fn global(address: Out<u64>, bytes: Out<usize>, library: LibraryHandle, name: Text) -> Result<(), Code> {
    crate::context::current()?;
    let (start, size) = library.get()?.loaded.variable(&name.get()?)?;
    address.set_if_any(start);
    bytes.set_if_any(size_t(size));
    Ok(())
}

/// A managed variable.
pub(crate) fn managed(address: Out<u64>, bytes: Out<usize>, library: LibraryHandle, name: Text) -> Result<(), Code> {
    if !library.get()?.loaded.has_managed {
        return Err(NOT_FOUND);
    }
    global(address, bytes, library, name)
}

/// The library of a kernel.
pub(crate) fn of_kernel(library: Out<LibraryHandle>, kernel: FunctionHandle) -> Result<(), Code> {
    let library = library.needed()?;
    state::device()?;
    let loaded = kernel.get()?.loaded.clone();
    let found = LIBRARIES.find(|library| Arc::ptr_eq(&library.loaded, &loaded));
    library.set(found.ok_or(INVALID_VALUE)?)
}
