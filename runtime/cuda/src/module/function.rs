//! Functions (kernels of modules) and kernels (of libraries), which are one kind of object here.

use std::ffi::{CString, c_char, c_int, c_uint};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex};

use ptx2spv_runtime::{DeclaredKernel, Kernel};

use crate::abi::{Handle, INVALID_VALUE, Object, Out, Result, objects};
use crate::context::{Context, device, state};
use crate::module::loaded::{self, Loaded, ModuleHandle};

/// A kernel that the program has a handle of.
pub(crate) struct Function {
    pub loaded: Arc<Loaded>,
    pub kernel: DeclaredKernel,
    name: CString,
    /// The limit for dynamic shared memory that the program has set, in bytes.
    dynamic_shared: AtomicI32,
    carveout: AtomicI32,
    pub old_launch: Mutex<OldLaunch>,
}

/// Launch parameters set by the functions from before CUDA 4.
#[derive(Clone, Default)]
pub(crate) struct OldLaunch {
    pub block: Option<[c_uint; 3]>,
    pub shared_bytes: c_uint,
    /// Bytes of the arguments in use.
    pub size: usize,
    pub arguments: Vec<u8>,
}

pub(crate) type FunctionHandle = Handle<Function>;

objects!(FUNCTIONS: Function = 8);

/// Default limit of a block's shared memory.
const SHARED_UNASKED: u32 = 48 << 10;

/// No limit was set.
const UNSET: i32 = -1;

/// Registers of a thread. A fixed value, since Vulkan drivers don't report it.
const REGISTERS: c_int = 32;

/// A kernel of a module. It is translated when it is first launched, unless the module's loading is eager.
pub(crate) fn of_module(loaded: &Arc<Loaded>, name: &str) -> Result<FunctionHandle> {
    loaded.names.find_or_make(name, || {
        let kernel = loaded.module.declared_kernel(name).map_err(|error| loaded.refuse(error))?;
        if loaded::is_eager() {
            kernel.kernel().map_err(|error| loaded.refuse(error))?;
        }
        let name = CString::new(kernel.name()).map_err(|_| INVALID_VALUE)?;
        let (dynamic_shared, carveout) = (UNSET.into(), UNSET.into());
        let old_launch = Mutex::default();
        Ok(Arc::new(Function { loaded: loaded.clone(), kernel, name, dynamic_shared, carveout, old_launch }))
    })
}

impl Function {
    /// The kernel, translated now unless it has been.
    pub fn translated(&self) -> Result<&Kernel> {
        self.kernel.kernel().map_err(|error| self.loaded.refuse(error))
    }

    /// The limit for a launch's dynamic shared memory, in bytes.
    pub fn max_dynamic_shared(&self) -> u32 {
        let own = self.kernel.attributes().static_shared_bytes;
        u32::try_from(self.dynamic_shared.load(Ordering::SeqCst)).unwrap_or(SHARED_UNASKED.saturating_sub(own))
    }

    /// The value of an attribute.
    pub fn attribute(&self, attribute: c_uint) -> Option<c_int> {
        let known = self.kernel.attributes();
        let number = |value: u32| c_int::try_from(value).unwrap_or(c_int::MAX);
        let (major, minor) = device::capability();
        Some(match attribute {
            0 => number(known.max_threads),
            1 => number(known.static_shared_bytes),
            // Constant and local memory: drivers don't report them.
            2 | 3 => 0,
            4 => REGISTERS,
            // The PTX target, by which programs find their compiler's choices (CUB its tuning parameters), and the
            // version of the driver's machine code, which is the device's.
            5 => number(known.architecture?),
            6 => 10 * major + minor,
            7 => 0,
            8 => number(self.max_dynamic_shared()),
            9 => self.carveout.load(Ordering::SeqCst),
            // Attributes of clusters.
            10..=15 => 0,
            _ => return None,
        })
    }

    fn set_attribute(&self, attribute: c_uint, value: c_int) -> Result {
        match attribute {
            8 => {
                let most = self.kernel.attributes().max_dynamic_shared_bytes;
                u32::try_from(value).ok().filter(|&bytes| bytes <= most).ok_or(INVALID_VALUE)?;
                let all = self.kernel.attributes().static_shared_bytes.saturating_add(value.cast_unsigned());
                self.kernel.set_launched_shared_limit(all)?;
                self.dynamic_shared.store(value, Ordering::SeqCst);
            }
            9 if (-1..=100).contains(&value) => self.carveout.store(value, Ordering::SeqCst),
            // Clusters of non-portable sizes are always allowed.
            14 => {}
            _ => return Err(INVALID_VALUE),
        }
        Ok(())
    }
}

pub(crate) fn attribute(attribute: c_uint, function: FunctionHandle) -> Result<c_int> {
    function.get()?.attribute(attribute).ok_or(INVALID_VALUE)
}

pub(crate) fn set_attribute(function: FunctionHandle, attribute: c_uint, value: c_int) -> Result {
    function.get()?.set_attribute(attribute, value)
}

pub(crate) fn set_cache_config(function: FunctionHandle, config: c_uint) -> Result {
    function.get()?;
    // The cache configuration is a hint. Vulkan has no equivalent.
    if config <= 3 { Ok(()) } else { Err(INVALID_VALUE) }
}

pub(crate) fn set_shared_config(function: FunctionHandle, config: c_uint) -> Result {
    function.get()?;
    if config <= 2 { Ok(()) } else { Err(INVALID_VALUE) }
}

pub(crate) fn module(function: FunctionHandle) -> Result<ModuleHandle> {
    let loaded = function.get()?.loaded.clone();
    Loaded::table().find(|other| std::ptr::eq(other, &*loaded)).ok_or(INVALID_VALUE)
}

/// The name lives as long as the function.
pub(crate) fn name(function: FunctionHandle) -> Result<*const c_char> {
    Ok(function.get()?.name.as_ptr())
}

pub(crate) fn parameter(function: FunctionHandle, index: usize, offset: Out<usize>, size: Out<usize>) -> Result {
    let offset = offset.needed()?;
    state::check()?;
    let function = function.get()?;
    let param = function.kernel.params().get(index).ok_or(INVALID_VALUE)?;
    offset.set(param.offset as usize)?;
    size.set_if_any(param.size as usize);
    Ok(())
}

/// Whether a kernel has been translated: `CU_FUNCTION_LOADING_STATE_LOADED`, or `UNLOADED`.
pub(crate) fn is_loaded(function: FunctionHandle) -> Result<c_uint> {
    Ok(function.get()?.kernel.is_translated().into())
}

pub(crate) fn load(function: FunctionHandle) -> Result {
    function.get()?.translated().map(|_| ())
}

/// Writes the first functions of a module.
pub(crate) fn list(list: Out<FunctionHandle>, count: c_uint, loaded: &Arc<Loaded>) -> Result {
    let names = loaded.module.kernel_names().iter().enumerate().take(count as usize);
    names.into_iter().try_for_each(|(index, name)| list.at(index).set(of_module(loaded, name)?))
}

/// Destroys the functions of a module.
pub(crate) fn end_module(module: &Arc<Loaded>) {
    FUNCTIONS.remove_all(|function| Arc::ptr_eq(&function.loaded, module));
}

/// Destroys the functions of a context's modules.
pub(crate) fn end_context(context: &Context) {
    FUNCTIONS.remove_all(|function| function.loaded.is_of(context));
}
