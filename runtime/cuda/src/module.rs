//! Modules.

use std::collections::HashMap;
use std::ffi::c_uint;
use std::path::Path;
use std::sync::{Arc, Mutex};

use ptx2spv_runtime::{Device, Error, LoadOptions, Module};
use ptx2spv_translator::Source;
use ptx2spv_translator::interface::ServiceSizes;

use crate::code::{Code, NOT_FOUND};
use crate::context::{self, Context};
use crate::function::{self, FunctionHandle};
use crate::handle::{Handle, Object, Table};
use crate::image;
use crate::jit;
use crate::raw::{In, Memory, Out, Text};
use crate::reference::{self, SurfaceReferenceHandle, TextureReferenceHandle};
use crate::state;
use crate::sync::lock;
use crate::trace::{self, Dumped};

/// A module that is loaded: a context's, or a library's.
pub(crate) struct Loaded {
    /// The context that the module ends with; a library's belongs to none.
    context: Option<Arc<Context>>,
    pub module: Module,
    dumped: Option<Dumped>,
    /// Handles of the kernels that were asked for.
    functions: Mutex<HashMap<String, FunctionHandle>>,
    /// Handles of the references that were asked for.
    pub textures: Mutex<HashMap<String, TextureReferenceHandle>>,
    pub surfaces: Mutex<HashMap<String, SurfaceReferenceHandle>>,
}

pub(crate) type ModuleHandle = Handle<Loaded>;

static MODULES: Table<Loaded> = Table::new();

impl Object for Loaded {
    const TAG: u8 = 5;

    fn table() -> &'static Table<Self> {
        &MODULES
    }
}

impl Loaded {
    /// Loads PTX.
    pub fn new(
        context: Option<Arc<Context>>,
        device: &Device,
        source: &Source,
        options: &jit::Options,
    ) -> Result<Self, Code> {
        options.begin()?;
        // A library's modules are made in the context that is current.
        let limits = context.clone().or_else(|| context::current().ok());
        let sizes = limits.map_or_else(ServiceSizes::default, |context| context.service_sizes());
        let load = LoadOptions { sizes, ..LoadOptions::default() };
        let dumped = trace::dump("ptx", source.text().as_bytes());
        match device.load_with(source, load) {
            Ok(module) => Ok(Self {
                context,
                module,
                dumped,
                functions: Mutex::default(),
                textures: Mutex::default(),
                surfaces: Mutex::default(),
            }),
            Err(error) => {
                options.fail(&error.to_string())?;
                Err(refuse("module not loaded", error, dumped.as_ref()))
            }
        }
    }

    /// The handle of a kernel, translated if this is the first time.
    pub fn function(self: &Arc<Self>, name: &str) -> Result<FunctionHandle, Code> {
        let mut functions = lock(&self.functions);
        if let Some(&function) = functions.get(name) {
            return Ok(function);
        }
        let kernel = self.module.kernel(name).map_err(|error| self.refuse(error))?;
        let function = function::make(self, kernel)?;
        functions.insert(name.to_owned(), function);
        Ok(function)
    }

    /// Says why a kernel can't be had.
    pub fn refuse(&self, error: Error) -> Code {
        refuse("kernel not translated", error, self.dumped.as_ref())
    }

    pub fn is_of(&self, context: &Context) -> bool {
        self.context.as_ref().is_some_and(|own| own.is(context))
    }

    /// Address and size of a variable.
    pub fn variable(&self, name: &str) -> Result<(u64, u64), Code> {
        self.module.variable(name).ok_or(NOT_FOUND)
    }
}

/// Says on the standard error, on one line, why PTX is refused: clients rarely pass on what they are told.
fn refuse(what: &str, error: Error, dumped: Option<&Dumped>) -> Code {
    if let Error::Translation(diagnostics) = &error {
        let first = diagnostics.list.first().map(|first| {
            let source = &diagnostics.source;
            let place = source.place(first.place().start);
            let line = u32::try_from(place.line).ok().and_then(|line| source.line(&place.file, line));
            let text = line.map_or("", |line| source.slice(line).trim());
            format!("{place}: {}: {text}", first.kind)
        });
        trace::say(&format!("{what}: {}", first.unwrap_or_default()));
    }
    if let Some(dumped) = dumped {
        dumped.add(&error.to_string());
    }
    error.into()
}

pub(crate) fn load(module: Out<ModuleHandle>, path: Text) -> Result<(), Code> {
    let source = image::from_file(Path::new(&path.get()?))?;
    load_source(module, &source, &jit::Options::default())
}

pub(crate) fn load_data(module: Out<ModuleHandle>, image: Memory) -> Result<(), Code> {
    let module = module.needed()?;
    context::current()?;
    load_source(module, &image::read(image)?, &jit::Options::default())
}

pub(crate) fn load_data_with(
    module: Out<ModuleHandle>,
    image: Memory,
    count: c_uint,
    options: In<c_uint>,
    values: Out<usize>,
) -> Result<(), Code> {
    let module = module.needed()?;
    context::current()?;
    load_source(module, &image::read(image)?, &jit::Options::read(count, options, values)?)
}

fn load_source(module: Out<ModuleHandle>, source: &Source, options: &jit::Options) -> Result<(), Code> {
    let module = module.needed()?;
    let context = context::current()?;
    let device = context.device.clone();
    module.set(Handle::new(Arc::new(Loaded::new(Some(context), &device, source, options)?))?)
}

pub(crate) fn unload(module: ModuleHandle) -> Result<(), Code> {
    context::current()?;
    let removed = module.remove()?;
    function::end_module(&removed);
    reference::end_module(&removed)
}

pub(crate) fn function(function: Out<FunctionHandle>, module: ModuleHandle, name: Text) -> Result<(), Code> {
    let function = function.needed()?;
    context::current()?;
    function.set(module.get()?.function(&name.get()?)?)
}

pub(crate) fn function_count(count: Out<c_uint>, module: ModuleHandle) -> Result<(), Code> {
    let count = count.needed()?;
    context::current()?;
    count.set(module.get()?.module.kernel_names().len() as c_uint)
}

pub(crate) fn functions(list: Out<FunctionHandle>, count: c_uint, module: ModuleHandle) -> Result<(), Code> {
    let list = list.needed()?;
    context::current()?;
    let module = module.get()?;
    for (index, name) in module.module.kernel_names().iter().enumerate().take(count as usize) {
        list.at(index).set(module.function(name)?)?;
    }
    Ok(())
}

pub(crate) fn global(address: Out<u64>, bytes: Out<usize>, module: ModuleHandle, name: Text) -> Result<(), Code> {
    context::current()?;
    let (start, size) = module.get()?.variable(&name.get()?)?;
    address.set_if_any(start);
    bytes.set_if_any(usize::try_from(size).unwrap_or(usize::MAX));
    Ok(())
}

/// Kernels are translated when first asked for.
const LAZY: c_uint = 2;

pub(crate) fn loading_mode(mode: Out<c_uint>) -> Result<(), Code> {
    let mode = mode.needed()?;
    state::device()?;
    mode.set(LAZY)
}

/// Ends the modules of a context.
pub(crate) fn end_context(context: &Context) {
    MODULES.remove_all(|module| module.is_of(context));
}
