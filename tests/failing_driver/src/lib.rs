//! A Vulkan driver that passes calls on to another driver, and lets calls fail as a test has planned.
//!
//! The loader opens this library by a driver file, and gets the functions of the driver that [`DRIVER_VARIABLE`] names. Those of the table in
//! `functions` are wrapped: they count the objects that live, and return planned results without asking the driver.
//! Dispatchable handles are the other driver's own. See "Architecture of Loader Interfaces" in the documentation of Vulkan's loader.

mod functions;

use std::ffi::{CStr, c_char, c_void};
use std::mem::transmute;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicI32, AtomicPtr};
use std::sync::{Mutex, OnceLock, PoisonError};

use libloading::Library;

use functions::{DESTROYERS, FUNCTIONS};

/// The environment variable with the path of the driver that calls are passed on to.
pub const DRIVER_VARIABLE: &str = "FAILING_DRIVER_OF";

/// A planned failure.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The names of the functions that fail.
    pub functions: &'static [&'static str],
    /// The number of calls of these functions that succeed first.
    pub after: u32,
    /// The `VkResult` of a call that fails, which may be `VK_SUCCESS`: then the call does nothing.
    pub result: i32,
    /// Whether all later calls fail too.
    pub lasts: bool,
}

/// A function that returns a `VkResult`.
pub struct Function {
    /// The name, such as `vkCreateBuffer`.
    pub name: &'static str,
    wrapper: Pointer,
    real: AtomicPtr<c_void>,
    live: AtomicI32,
}

/// A function's address.
#[derive(Clone, Copy)]
struct Pointer(*const c_void);

// SAFETY: functions may be called by any thread.
unsafe impl Send for Pointer {}
// SAFETY: as above.
unsafe impl Sync for Pointer {}

impl Function {
    const fn new(name: &'static str, wrapper: *const c_void) -> Self {
        Self { name, wrapper: Pointer(wrapper), real: AtomicPtr::new(std::ptr::null_mut()), live: AtomicI32::new(0) }
    }

    /// The number of objects that the function has made and that nobody has destroyed.
    pub fn live(&self) -> i32 {
        self.live.load(Relaxed)
    }

    /// The planned result of a call that begins.
    fn planned(&self) -> Option<i32> {
        STATE.planned(self.name)
    }
}

/// The functions that can fail, and a test's plans for them.
pub struct State {
    /// The functions that can fail.
    pub functions: &'static [Function],
    plans: Mutex<Vec<Plan>>,
}

static STATE: State = State { functions: &FUNCTIONS, plans: Mutex::new(Vec::new()) };

impl State {
    /// Replaces the plans.
    pub fn plan(&self, plans: &[Plan]) {
        *self.plans.lock().unwrap_or_else(PoisonError::into_inner) = plans.to_vec();
    }

    /// Whether no plan is left: nothing was planned, or each planned failure has happened, none of which lasts.
    pub fn is_done(&self) -> bool {
        self.plans.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    fn planned(&self, name: &str) -> Option<i32> {
        let mut plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        let index = plans.iter().position(|plan| plan.functions.contains(&name))?;
        let plan = &mut plans[index];
        if plan.after > 0 {
            plan.after -= 1;
            return None;
        }
        let Plan { result, lasts, .. } = *plan;
        if !lasts {
            plans.remove(index);
        }
        Some(result)
    }
}

/// The state of the library that the loader has opened, which is another copy than the one in a test program.
///
/// # Errors
/// The library is not there.
pub fn state(library: &Path) -> Result<&'static State, libloading::Error> {
    // SAFETY: the library's initializers do nothing, and the function has this type. Both copies of the crate come from one build, so the
    // types are the same. The loader may close the library; this handle is never closed.
    unsafe {
        let library: &'static Library = Box::leak(Box::new(Library::new(library)?));
        let state: libloading::Symbol<'_, extern "C" fn() -> *const State> = library.get(b"failing_driver_state")?;
        Ok(&*state())
    }
}

#[unsafe(no_mangle)]
extern "C" fn failing_driver_state() -> *const State {
    &raw const STATE
}

/// The driver behind this one.
fn driver() -> Option<&'static Library> {
    static DRIVER: OnceLock<Option<Library>> = OnceLock::new();
    let open = || {
        let path = std::env::var_os(DRIVER_VARIABLE)?;
        // SAFETY: it is a Vulkan driver, which the loader would open too.
        unsafe { Library::new(path) }.ok()
    };
    DRIVER.get_or_init(open).as_ref()
}

type Get = unsafe extern "system" fn(*mut c_void, *const c_char) -> *const c_void;

/// Asks the driver for a function, by the function that the driver exports under `getter`.
///
/// # Safety
/// By the contract of that function.
unsafe fn get(getter: &[u8], instance: *mut c_void, name: *const c_char) -> *const c_void {
    // SAFETY: drivers export such functions.
    let getter = driver().and_then(|driver| unsafe { driver.get::<Get>(getter) }.ok());
    // SAFETY: by the contract.
    getter.map_or(std::ptr::null(), |get| wrap(name, unsafe { get(instance, name) }))
}

/// The wrapper of a function, or the function itself.
fn wrap(name: *const c_char, real: *const c_void) -> *const c_void {
    if real.is_null() {
        return real;
    }
    // SAFETY: the loader passes a string.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    if name == b"vkGetDeviceProcAddr" {
        GET_DEVICE_FUNCTION.store(real.cast_mut(), Relaxed);
        return get_device_function as *const c_void;
    }
    match FUNCTIONS.iter().chain(&DESTROYERS).find(|function| function.name.as_bytes() == name) {
        Some(function) => {
            function.real.store(real.cast_mut(), Relaxed);
            function.wrapper.0
        }
        None => real,
    }
}

static GET_DEVICE_FUNCTION: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

unsafe extern "system" fn get_device_function(device: *mut c_void, name: *const c_char) -> *const c_void {
    // SAFETY: the address was stored before this function could be known, and has this type.
    let get: Get = unsafe { transmute(GET_DEVICE_FUNCTION.load(Relaxed)) };
    // SAFETY: passes on the caller's contract.
    wrap(name, unsafe { get(device, name) })
}

/// Settles the version of the interface between loader and driver.
///
/// # Safety
/// The loader calls the function.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vk_icdNegotiateLoaderICDInterfaceVersion(version: *mut u32) -> i32 {
    type Negotiate = unsafe extern "system" fn(*mut u32) -> i32;
    const INITIALIZATION_FAILED: i32 = -3;
    // SAFETY: drivers export this function.
    let negotiate = driver()
        .and_then(|driver| unsafe { driver.get::<Negotiate>(b"vk_icdNegotiateLoaderICDInterfaceVersion") }.ok());
    // SAFETY: passes on the caller's contract.
    negotiate.map_or(INITIALIZATION_FAILED, |negotiate| unsafe { negotiate(version) })
}

/// A function of the instance, or of no instance.
///
/// # Safety
/// The loader calls the function.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vk_icdGetInstanceProcAddr(instance: *mut c_void, name: *const c_char) -> *const c_void {
    // SAFETY: passes on the caller's contract.
    unsafe { get(b"vk_icdGetInstanceProcAddr", instance, name) }
}

/// A function of physical devices.
///
/// # Safety
/// The loader calls the function.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vk_icdGetPhysicalDeviceProcAddr(
    instance: *mut c_void,
    name: *const c_char,
) -> *const c_void {
    // SAFETY: passes on the caller's contract.
    unsafe { get(b"vk_icdGetPhysicalDeviceProcAddr", instance, name) }
}
