//! Fat binaries that programs register before `main`, with their kernels and variables. Each context loads a binary's
//! module when it first needs one of them.

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int};
use std::sync::{Arc, LazyLock, Mutex};

use ptx2spv_runtime::MemoryRange;

use crate::abi::{Code, Handle, Memory, NOT_FOUND, NOT_SUPPORTED, OUT_OF_MEMORY, Result, Text, code, lock, trace};
use crate::context::{self, Context, state};
use crate::cudart::call;
use crate::cudart::error::{self, INVALID_DEVICE_FUNCTION, INVALID_SURFACE, INVALID_SYMBOL, INVALID_TEXTURE};
use crate::module::function::{self, FunctionHandle};
use crate::module::loaded::{Loaded, ModuleHandle};
use crate::module::texture_reference::{self, SurfaceReferenceHandle, TextureReferenceHandle};
use crate::module::{self, image, jit};

/// A fat binary of the program, or of a library that the program has loaded.
pub(crate) struct Binary {
    image: Memory,
    /// Names of managed variables, with the host pointers to set.
    managed: Mutex<Vec<(String, Memory)>>,
    /// The module in each context, or the error of loading it.
    modules: Mutex<HashMap<u64, Result<ModuleHandle>>>,
}

/// A named symbol of a binary.
struct Symbol {
    binary: Arc<Binary>,
    name: String,
}

struct Variable {
    symbol: Symbol,
    size: u64,
}

/// All registered objects by host address.
#[derive(Default)]
struct Registry {
    /// Fat binaries, by the addresses that programs use as their handles.
    binaries: HashMap<u64, Arc<Binary>>,
    functions: HashMap<u64, Arc<Symbol>>,
    variables: HashMap<u64, Arc<Variable>>,
    references: HashMap<u64, Arc<NamedReference>>,
}

/// A reference to a texture or a surface.
struct NamedReference {
    symbol: Symbol,
    /// Whether integers are read as fractions.
    is_normalized_float: bool,
}

static REGISTRY: LazyLock<Mutex<Registry>> = LazyLock::new(Mutex::default);

/// Registers a fat binary. The handle is the address of its record, which is unique while the record lives.
pub(crate) fn add(image: Memory) -> Memory {
    let binary = Arc::new(Binary { image, managed: Mutex::default(), modules: Mutex::default() });
    let handle = Arc::as_ptr(&binary).expose_provenance() as u64;
    lock(&REGISTRY).binaries.insert(handle, binary);
    Memory::from_address(handle)
}

/// Removes a fat binary and its symbols, and unloads its modules.
pub(crate) fn remove(handle: Memory) {
    let removed = {
        let mut registry = lock(&REGISTRY);
        let Some(removed) = registry.binaries.remove(&handle.address()) else { return };
        registry.functions.retain(|_, symbol| !Arc::ptr_eq(&symbol.binary, &removed));
        registry.references.retain(|_, reference| !Arc::ptr_eq(&reference.symbol.binary, &removed));
        registry.variables.retain(|_, variable| !Arc::ptr_eq(&variable.symbol.binary, &removed));
        removed
    };
    // When the process exits, the device is already gone.
    if state::check().is_ok() {
        for module in lock(&removed.modules).drain().filter_map(|(_, module)| module.ok()) {
            // Fails if the module was destroyed with its context.
            let _ = module::unload(module);
        }
    }
}

fn binary(handle: Memory) -> Option<Arc<Binary>> {
    lock(&REGISTRY).binaries.get(&handle.address()).cloned()
}

/// Registers a kernel by the address of its host stub.
pub(crate) fn add_function(handle: Memory, host: Memory, name: Text) {
    if let (Some(binary), Ok(name)) = (binary(handle), name.get()) {
        lock(&REGISTRY).functions.insert(host.address(), Arc::new(Symbol { binary, name }));
    }
}

/// Registers a variable by the address of its host shadow.
pub(crate) fn add_variable(handle: Memory, host: Memory, name: Text, size: u64) {
    if let (Some(binary), Ok(name)) = (binary(handle), name.get()) {
        let variable = Variable { symbol: Symbol { binary, name }, size };
        lock(&REGISTRY).variables.insert(host.address(), Arc::new(variable));
    }
}

/// Registers a managed variable by the host pointer that is to point to it.
pub(crate) fn add_managed(handle: Memory, pointer: Memory, name: Text, size: u64) {
    if let (Some(binary), Ok(text)) = (binary(handle), name.get()) {
        lock(&binary.managed).push((text, pointer));
        add_variable(handle, pointer, name, size);
    }
}

/// Registers a reference to a texture or a surface by the address of the program's variable.
pub(crate) fn add_reference(handle: Memory, host: Memory, name: Text, is_normalized_float: c_int) {
    if let (Some(binary), Ok(name)) = (binary(handle), name.get()) {
        let reference =
            NamedReference { symbol: Symbol { binary, name }, is_normalized_float: is_normalized_float != 0 };
        lock(&REGISTRY).references.insert(host.address(), Arc::new(reference));
    }
}

impl Binary {
    /// The binary's module in the current context, which is loaded if necessary.
    fn module(&self) -> Result<Arc<Loaded>> {
        let context = context::current()?;
        let mut modules = lock(&self.modules);
        let live = match modules.get(&context.id) {
            Some(Ok(handle)) => handle.get().ok(),
            Some(Err(code)) => return Err(code.because("loading the program's fat binary failed before")),
            None => None,
        };
        if let Some(live) = live {
            return Ok(live);
        }
        let is_elsewhere = |module: &Result<ModuleHandle>| {
            module.is_ok_and(|module| module.get().is_ok_and(|module| !module.device.is(&context.device)))
        };
        if modules.values().any(is_elsewhere) && !lock(&self.managed).is_empty() {
            return Err(NOT_SUPPORTED.because("managed variables on several devices"));
        }
        let loaded = self.load(&context);
        match &loaded {
            // Not remembered: memory may become free later.
            Err(OUT_OF_MEMORY) => {}
            Err(code) => {
                modules.insert(context.id, Err(*code));
            }
            Ok(loaded) => {
                modules.insert(context.id, Ok(Handle::new(loaded.clone())?));
            }
        }
        loaded
    }

    fn load(&self, context: &Arc<Context>) -> Result<Arc<Loaded>> {
        let source = image::read(self.image)?;
        let managed = lock(&self.managed);
        let options = jit::Options::default();
        let loaded = Loaded::new(Some(context.clone()), &context.device, &source, &options, !managed.is_empty())?;
        for (name, pointer) in managed.iter() {
            pointer.as_out().set(loaded.variable(name)?.address)?;
        }
        Ok(Arc::new(loaded))
    }
}

/// Loads a binary's module into the current context.
pub(crate) fn load(handle: Memory) -> Result {
    binary(handle).ok_or(NOT_FOUND)?.module().map(|_| ())
}

/// The kernel of a host stub. Kernel handles are accepted too.
pub(crate) fn kernel(host: Memory) -> Result<FunctionHandle> {
    let symbol = lock(&REGISTRY).functions.get(&host.address()).cloned();
    let Some(symbol) = symbol else {
        let handle = FunctionHandle::from_value(host.address() as usize);
        return handle.get().map(|_| handle).map_err(|_| INVALID_DEVICE_FUNCTION.because("not registered"));
    };
    function::of_module(&symbol.binary.module()?, &symbol.name).map_err(|code| match code {
        NOT_FOUND => INVALID_DEVICE_FUNCTION.because(format!("the fat binary has no kernel {}", symbol.name)),
        code => code,
    })
}

/// The host stub of a kernel, or its handle if the program has no stub for it.
pub(crate) fn host_of(kernel: FunctionHandle) -> Result<Memory> {
    let function = kernel.get()?;
    let context = context::current()?;
    let is_of = |symbol: &Symbol| {
        let modules = lock(&symbol.binary.modules);
        let module = modules.get(&context.id).and_then(|module| module.ok()?.get().ok());
        symbol.name == function.kernel.name() && module.is_some_and(|module| Arc::ptr_eq(&module, &function.loaded))
    };
    let registry = lock(&REGISTRY);
    let host = registry.functions.iter().find(|(_, symbol)| is_of(symbol)).map(|(&host, _)| host);
    Ok(Memory::from_address(host.unwrap_or(kernel.value() as u64)))
}

/// The memory of the variable with this host shadow.
pub(crate) fn variable(host: Memory) -> Result<MemoryRange> {
    let variable = lock(&REGISTRY).variables.get(&host.address()).cloned();
    let variable = variable.ok_or_else(|| INVALID_SYMBOL.because("not registered"))?;
    let Symbol { binary, name } = &variable.symbol;
    let MemoryRange { address, size } = binary.module()?.variable(name).map_err(|_| INVALID_SYMBOL)?;
    // An array that is defined in another module has no size in this module's PTX.
    if size == 0 || size == variable.size {
        Ok(MemoryRange { address, size: variable.size })
    } else {
        Err(NOT_SUPPORTED.because(format!("{name} has {size} bytes on the device, and {} on the host", variable.size)))
    }
}

fn named_reference(host: Memory, error: Code) -> Result<Arc<NamedReference>> {
    lock(&REGISTRY).references.get(&host.address()).cloned().ok_or_else(|| error.because("not registered"))
}

/// The texture reference of a variable of the program, and whether it reads integers as fractions.
pub(crate) fn texture(host: Memory) -> Result<(TextureReferenceHandle, bool)> {
    let known = named_reference(host, INVALID_TEXTURE)?;
    let Symbol { binary, name } = &known.symbol;
    let handle = texture_reference::texture_of(&*binary.module()?, name).map_err(|_| INVALID_TEXTURE)?;
    Ok((handle, known.is_normalized_float))
}

/// The surface reference of a variable of the program.
pub(crate) fn surface(host: Memory) -> Result<SurfaceReferenceHandle> {
    let known = named_reference(host, INVALID_SURFACE)?;
    let Symbol { binary, name } = &known.symbol;
    texture_reference::surface_of(&*binary.module()?, name).map_err(|_| INVALID_SURFACE)
}

// Functions that compiler-generated code calls: before `main`, at exit, and around launches.

/// Has nothing left to do once everything in the binary is registered.
pub(crate) fn binary_end(_binary: Memory) {}

/// Sets the host's pointers to managed variables, before the program's first access to one. Programs ignore the result
/// and would follow a NULL pointer, so that an error is also written to the standard error.
pub(crate) fn init_module(binary: Memory) -> c_char {
    let loaded = call::enter().and_then(|()| load(binary));
    match loaded {
        Ok(()) => 1,
        Err(code) => {
            let name = error::name_of(code).map_or_else(|| code.0.to_string().into(), CStr::to_string_lossy);
            let reason = code::take_reason().map_or_else(String::new, |reason| format!(": {reason}"));
            trace::say(&format!("managed variables are not available: {name}{reason}"));
            0
        }
    }
}
