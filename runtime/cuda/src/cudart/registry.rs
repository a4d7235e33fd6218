//! What programs register before `main`: their fat binaries, with the kernels and variables that stand in them. Modules are loaded when
//! the first of these is needed, in each context that needs one.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use crate::code::{Code, NOT_FOUND, NOT_SUPPORTED, OUT_OF_MEMORY};
use crate::context::{self, Context};
use crate::cudart::error::{INVALID_DEVICE_FUNCTION, INVALID_SYMBOL};
use crate::function::{self, FunctionHandle};
use crate::handle::Handle;
use crate::image;
use crate::jit;
use crate::loaded::{Loaded, ModuleHandle};
use crate::module;
use crate::raw::{Memory, Text};
use crate::state;
use crate::sync::lock;

/// A fat binary of the program's, or of a library that the program has loaded.
pub(crate) struct Binary {
    image: Memory,
    /// Managed variables, with the host's pointers that lead to them.
    managed: Mutex<Vec<(String, Memory)>>,
    /// The module in each context, or why there is none.
    modules: Mutex<HashMap<u64, Result<ModuleHandle, Code>>>,
}

/// What stands in a binary under a name.
struct Symbol {
    binary: Arc<Binary>,
    name: String,
}

/// A variable.
struct Variable {
    symbol: Symbol,
    size: u64,
}

/// Everything, by the host's addresses.
#[derive(Default)]
struct Registry {
    /// By the addresses that programs have for handles.
    binaries: HashMap<u64, Arc<Binary>>,
    functions: HashMap<u64, Arc<Symbol>>,
    variables: HashMap<u64, Arc<Variable>>,
}

static REGISTRY: LazyLock<Mutex<Registry>> = LazyLock::new(Mutex::default);

/// Registers a fat binary, and gives a handle: the address of the binary's record, which nothing else has as long as the record is there.
pub(crate) fn add(image: Memory) -> Memory {
    let binary = Arc::new(Binary { image, managed: Mutex::default(), modules: Mutex::default() });
    let handle = Arc::as_ptr(&binary).expose_provenance() as u64;
    lock(&REGISTRY).binaries.insert(handle, binary);
    Memory::from_address(handle)
}

/// Forgets a fat binary and what is in it, and unloads its modules.
pub(crate) fn remove(handle: Memory) {
    let removed = {
        let mut registry = lock(&REGISTRY);
        let Some(removed) = registry.binaries.remove(&handle.address()) else { return };
        registry.functions.retain(|_, symbol| !Arc::ptr_eq(&symbol.binary, &removed));
        registry.variables.retain(|_, variable| !Arc::ptr_eq(&variable.symbol.binary, &removed));
        removed
    };
    // At the end of the process, the device is no more.
    if state::device().is_ok() {
        for module in lock(&removed.modules).drain().filter_map(|(_, module)| module.ok()) {
            // Contexts end with their modules.
            let _ = module::end(module);
        }
    }
}

fn binary(handle: Memory) -> Option<Arc<Binary>> {
    lock(&REGISTRY).binaries.get(&handle.address()).cloned()
}

/// Registers a kernel by the address of the function that the host calls instead.
pub(crate) fn add_function(handle: Memory, host: Memory, name: Text) {
    if let (Some(binary), Ok(name)) = (binary(handle), name.get()) {
        lock(&REGISTRY).functions.insert(host.address(), Arc::new(Symbol { binary, name }));
    }
}

/// Registers a variable by the address of the host's of that name.
pub(crate) fn add_variable(handle: Memory, host: Memory, name: Text, size: u64) {
    if let (Some(binary), Ok(name)) = (binary(handle), name.get()) {
        let variable = Variable { symbol: Symbol { binary, name }, size };
        lock(&REGISTRY).variables.insert(host.address(), Arc::new(variable));
    }
}

/// Registers a managed variable by the host's pointer that is to lead to it.
pub(crate) fn add_managed(handle: Memory, pointer: Memory, name: Text, size: u64) {
    if let (Some(binary), Ok(text)) = (binary(handle), name.get()) {
        lock(&binary.managed).push((text, pointer));
        add_variable(handle, pointer, name, size);
    }
}

impl Binary {
    /// The module in the current context.
    fn module(&self) -> Result<Arc<Loaded>, Code> {
        let context = context::current()?;
        let mut modules = lock(&self.modules);
        let live = match modules.get(&context.id) {
            Some(Ok(handle)) => handle.get().ok(),
            Some(Err(code)) => return Err(code.because("the program's fat binary was refused before")),
            None => None,
        };
        if let Some(live) = live {
            return Ok(live);
        }
        let loaded = self.load(&context);
        match &loaded {
            // There may be room later.
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

    fn load(&self, context: &Arc<Context>) -> Result<Arc<Loaded>, Code> {
        let source = image::read(self.image)?;
        let managed = lock(&self.managed);
        let options = jit::Options::default();
        let loaded = Loaded::new(Some(context.clone()), &context.device, &source, &options, !managed.is_empty())?;
        for (name, pointer) in managed.iter() {
            let (address, _) = loaded.variable(name)?;
            pointer.as_out().set(address)?;
        }
        Ok(Arc::new(loaded))
    }
}

/// Loads a binary's module in the current context.
pub(crate) fn load(handle: Memory) -> Result<(), Code> {
    binary(handle).ok_or(NOT_FOUND)?.module().map(|_| ())
}

/// The kernel of a function of the host's; such a kernel itself stands for itself.
pub(crate) fn kernel(host: Memory) -> Result<FunctionHandle, Code> {
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

/// Address and size of the variable of one of the host's.
pub(crate) fn variable(host: Memory) -> Result<(u64, u64), Code> {
    let variable = lock(&REGISTRY).variables.get(&host.address()).cloned();
    let variable = variable.ok_or_else(|| INVALID_SYMBOL.because("not registered"))?;
    let Symbol { binary, name } = &variable.symbol;
    let (address, size) = binary.module()?.variable(name).map_err(|_| INVALID_SYMBOL)?;
    // An array whose size is another module's affair has none in PTX.
    if size == 0 || size == variable.size {
        Ok((address, variable.size))
    } else {
        Err(NOT_SUPPORTED.because(format!("{name} has {size} bytes, and {} in the host", variable.size)))
    }
}
