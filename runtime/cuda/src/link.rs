//! The linker functions. What is linked is PTX text, and so is the image.

use std::ffi::{c_char, c_uint, c_void};
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::code::{Code, INVALID_VALUE, NOT_SUPPORTED};
use crate::context;
use crate::handle::{Handle, Object, Table};
use crate::image;
use crate::jit;
use crate::raw::{In, Memory, Out, Text};
use crate::sync::lock;

/// A link that is going on.
pub(crate) struct Link {
    parts: Mutex<Parts>,
}

#[derive(Default)]
struct Parts {
    list: Vec<String>,
    /// What was made of the parts, with the zero at its end. Callers have it until the link is destroyed.
    image: Option<Box<[u8]>>,
}

pub(crate) type LinkHandle = Handle<Link>;

static LINKS: Table<Link> = Table::new();

impl Object for Link {
    const TAG: u8 = 7;

    fn table() -> &'static Table<Self> {
        &LINKS
    }
}

/// Kinds of input: machine code, PTX, fat binaries, objects, libraries, intermediate code.
const PTX: c_uint = 1;

pub(crate) fn create(
    count: c_uint,
    options: In<c_uint>,
    values: Out<usize>,
    link: Out<LinkHandle>,
) -> Result<(), Code> {
    let link = link.needed()?;
    context::current()?;
    jit::Options::read(count, options, values)?.begin()?;
    link.set(Handle::new(Arc::new(Link { parts: Mutex::default() }))?)
}

#[allow(clippy::too_many_arguments, reason = "CUDA's arguments")]
pub(crate) fn add_data(
    link: LinkHandle,
    kind: c_uint,
    data: Memory,
    size: usize,
    _name: *const c_char,
    count: c_uint,
    options: In<c_uint>,
    values: Out<usize>,
) -> Result<(), Code> {
    context::current()?;
    let link = link.get()?;
    jit::Options::read(count, options, values)?;
    if data.is_null() || size == 0 {
        return Err(INVALID_VALUE);
    }
    add(&link, kind, || image::from_bytes(data.bytes(size as u64)?))
}

pub(crate) fn add_file(
    link: LinkHandle,
    kind: c_uint,
    path: Text,
    count: c_uint,
    options: In<c_uint>,
    values: Out<usize>,
) -> Result<(), Code> {
    context::current()?;
    let link = link.get()?;
    jit::Options::read(count, options, values)?;
    add(&link, kind, || image::from_file(Path::new(&path.get()?)))
}

fn add(link: &Link, kind: c_uint, ptx: impl FnOnce() -> Result<String, Code>) -> Result<(), Code> {
    if kind != PTX {
        return Err(NOT_SUPPORTED.because(format!("input of kind {kind}: only PTX can be linked")));
    }
    lock(&link.parts).list.push(ptx()?);
    Ok(())
}

pub(crate) fn complete(link: LinkHandle, image: Out<*const c_void>, size: Out<usize>) -> Result<(), Code> {
    let image = image.needed()?;
    context::current()?;
    let link = link.get()?;
    let mut parts = lock(&link.parts);
    let text = match &parts.list[..] {
        [] => return Err(INVALID_VALUE),
        [only] => only.clone(),
        several => return Err(NOT_SUPPORTED.because(format!("{} modules to link: only one can be", several.len()))),
    };
    let bytes = parts.image.insert(text.into_bytes().into_iter().chain([0]).collect());
    size.set_if_any(bytes.len());
    image.set(bytes.as_ptr().cast())
}

pub(crate) fn destroy(link: LinkHandle) -> Result<(), Code> {
    crate::state::device()?;
    link.remove().map(|_| ())
}
