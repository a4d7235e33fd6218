//! The linker functions. Inputs are PTX, also from fat binaries, objects and libraries. The linked image is the text of
//! all modules.

use std::ffi::{c_char, c_uint, c_void};
use std::path::Path;
use std::sync::{Arc, Mutex};

use ptx2spv_runtime::{Error, Linker};

use crate::abi::{
    Code, Handle, INVALID_VALUE, In, Memory, NO_BINARY_FOR_GPU, NOT_SUPPORTED, Out, Result, Text, lock, objects,
};
use crate::context;
use crate::module::image;
use crate::module::jit;

/// A link in progress.
pub(crate) struct Link {
    /// The caller's log buffers, valid until the link is destroyed.
    options: jit::Options,
    state: Mutex<State>,
}

struct State {
    linker: Linker,
    /// Number of inputs so far: errors name an input without a name by its number.
    inputs: usize,
    /// The linked image with a terminating zero. Callers may read it until the link is destroyed.
    image: Option<Box<[u8]>>,
}

pub(crate) type LinkHandle = Handle<Link>;

objects!(LINKS: Link = 7);

/// Kinds of input. The kind after these is NVIDIA's intermediate code, which can't be read here.
const MACHINE_CODE: c_uint = 0;
const PTX: c_uint = 1;
const LIBRARY: c_uint = 4;

pub(crate) fn create(count: c_uint, options: In<c_uint>, values: Out<usize>) -> Result<LinkHandle> {
    let options = jit::Options::read(count, options, values)?;
    options.begin()?;
    let state = Mutex::new(State { linker: Linker::new(image::choice()), inputs: 0, image: None });
    Handle::new(Arc::new(Link { options, state }))
}

pub(crate) fn add_data(
    link: LinkHandle,
    kind: c_uint,
    data: Memory,
    size: usize,
    name: *const c_char,
    count: c_uint,
    options: In<c_uint>,
    values: Out<usize>,
) -> Result {
    let link = link.get()?;
    jit::Options::read(count, options, values)?;
    if data.is_null() || size == 0 {
        return Err(INVALID_VALUE);
    }
    let name = Text::from(name).get().ok().filter(|name| !name.is_empty());
    let name = name.unwrap_or_else(|| format!("module-{}.ptx", lock(&link.state).inputs + 1));
    link.add(kind, &name, data.bytes(size as u64)?)
}

pub(crate) fn add_file(
    link: LinkHandle,
    kind: c_uint,
    path: Text,
    count: c_uint,
    options: In<c_uint>,
    values: Out<usize>,
) -> Result {
    let link = link.get()?;
    jit::Options::read(count, options, values)?;
    let path = path.get()?;
    link.add(kind, &path, &image::read_file(Path::new(&path))?)
}

impl Link {
    /// Adds an input if it is PTX. Its bytes decide between PTX, fat binary, object and library, not the given kind.
    fn add(&self, kind: c_uint, name: &str, bytes: &[u8]) -> Result {
        match kind {
            MACHINE_CODE => return Err(NO_BINARY_FOR_GPU.because("machine code (a cubin): only PTX can be linked")),
            PTX..=LIBRARY => {}
            _ => return Err(NOT_SUPPORTED.because(format!("input of kind {kind}: only PTX can be linked"))),
        }
        let state = &mut *lock(&self.state);
        state.inputs += 1;
        state.linker.add_bytes(name, bytes).map_err(|error| self.fail(error))
    }

    /// Writes an error to the caller's log.
    fn fail(&self, error: Error) -> Code {
        match self.options.fail(&error.to_string()) {
            Ok(()) => error.into(),
            Err(code) => code,
        }
    }
}

pub(crate) fn complete(link: LinkHandle, image: Out<*const c_void>, size: Out<usize>) -> Result {
    let image = image.needed()?;
    context::current()?;
    let link = link.get()?;
    let mut state = lock(&link.state);
    if state.linker.is_empty() {
        return Err(INVALID_VALUE);
    }
    let linked = state.linker.link("linked").map_err(|error| link.fail(error))?;
    let bytes = state.image.insert(linked.text().bytes().chain([0]).collect());
    size.set_if_any(bytes.len());
    image.set(bytes.as_ptr().cast())
}

pub(crate) fn destroy(link: LinkHandle) -> Result {
    crate::context::state::check()?;
    link.remove().map(|_| ())
}
