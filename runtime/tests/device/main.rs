//! Tests of the runtime on a device, a Vulkan device under the validation layers, with hand-written SPIR-V.
//!
//! `PTX2SPV_DEVICE` selects the device, which may be the reference device. `PTX2SPV_VALIDATION=0` disables the layers,
//! for machines without them.

mod blocks;
mod buffers;
mod checked;
mod children;
mod cooperative;
mod faults;
mod graphs;
mod images;
mod launches;
mod loops;
mod memory;
mod modules;
mod pinned;
mod reference;
mod reports;
mod setup;
mod shared_memory;
mod shipped;
mod streams;
mod textures;

use std::cell::RefCell;
use std::path::Path;
use std::process::Command;
use std::rc::{Rc, Weak};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use ptx2spv_runtime::{
    Arg, Config, Device, DeviceSelector, Error, Instance, InstanceOptions, Kernel, LaunchConfig, Module,
    VALIDATION_VARIABLE, ValidationLog,
};
use ptx2spv_translator::interface::Bundle;
use ptx2spv_translator::{Interface, Translation};

/// A device with validation. Dropping it closes the device, and checks that the layers had no messages.
struct Context {
    device: Device,
    /// Dropped after the device.
    log: Log,
    /// Dropped last.
    _turn: Option<Turn>,
}

/// The messages of the validation layers, if they are enabled.
struct Log(Option<Arc<ValidationLog>>);

/// Checks that nothing keeps the device open any more, and that validation found nothing, leaks included.
impl Drop for Log {
    fn drop(&mut self) {
        if let Some(log) = self.0.as_ref().filter(|_| !thread::panicking()) {
            assert_eq!(Arc::strong_count(log), 1, "something keeps the instance open");
            assert!(log.messages().is_empty(), "{}", log.messages().join("\n"));
        }
    }
}

/// Held by a thread while others must not use the validation layers.
type Turn = Rc<MutexGuard<'static, ()>>;

/// Waits until no other test has devices under validation. A test may have several turns at once.
///
/// The layers of Debian 12 look up the device of each call in a table without a lock
/// (<https://github.com/KhronosGroup/Vulkan-ValidationLayers/issues/4391>): opening a device crashes what other threads do with
/// theirs.
fn turn() -> Turn {
    static TURN: Mutex<()> = Mutex::new(());
    thread_local! {
        static MINE: RefCell<Weak<MutexGuard<'static, ()>>> = const { RefCell::new(Weak::new()) };
    }
    MINE.with(|mine| {
        let held = mine.borrow().upgrade();
        held.unwrap_or_else(|| {
            // The lock guards no data that a failed test could have left inconsistent.
            let turn = Rc::new(TURN.lock().unwrap_or_else(PoisonError::into_inner));
            *mine.borrow_mut() = Rc::downgrade(&turn);
            turn
        })
    })
}

/// Launches the kernels of these tests, which access only the buffers that they get. Other kernels run on the reference
/// device only.
trait Launch {
    fn run(&self, config: &LaunchConfig, args: &[Arg<'_>]) -> Result<(), Error>;
    fn timed(&self, config: &LaunchConfig, args: &[Arg<'_>], repeats: u32) -> Result<Vec<Duration>, Error>;
}

impl Launch for Kernel {
    fn run(&self, config: &LaunchConfig, args: &[Arg<'_>]) -> Result<(), Error> {
        // SAFETY: see `Launch`.
        unsafe { self.launch(config, args) }
    }

    fn timed(&self, config: &LaunchConfig, args: &[Arg<'_>], repeats: u32) -> Result<Vec<Duration>, Error> {
        // SAFETY: see `Launch`.
        unsafe { self.time(config, args, repeats) }
    }
}

/// Loads the modules of these tests, which are valid. The runtime's checks refuse the others, or they are for the
/// reference device only.
trait Load {
    fn spirv(&self, spirv: &[u32], interface: &Interface) -> Result<Module, Error>;
    fn translated(&self, translation: &Translation) -> Result<Module, Error>;
    fn bundle(&self, bundle: &Bundle) -> Result<Module, Error>;
    fn file(&self, path: impl AsRef<Path>) -> Result<Module, Error>;
}

impl Load for Device {
    fn spirv(&self, spirv: &[u32], interface: &Interface) -> Result<Module, Error> {
        // SAFETY: see `Load`.
        unsafe { self.load_spirv(spirv, interface) }
    }

    fn translated(&self, translation: &Translation) -> Result<Module, Error> {
        // SAFETY: see `Load`.
        unsafe { self.load_translated(translation) }
    }

    fn bundle(&self, bundle: &Bundle) -> Result<Module, Error> {
        // SAFETY: see `Load`.
        unsafe { self.load_bundle(bundle) }
    }

    fn file(&self, path: impl AsRef<Path>) -> Result<Module, Error> {
        // SAFETY: see `Load`.
        unsafe { self.load_file(path) }
    }
}

fn options() -> InstanceOptions {
    let validation = std::env::var_os(VALIDATION_VARIABLE).is_none_or(|value| value != "0");
    InstanceOptions::default().validation(Some(validation))
}

impl Context {
    fn new() -> Self {
        Self::with(&options())
    }

    /// The device itself, one that spreads streams over four queues and always copies through staging buffers, one
    /// without timeline semaphores, and the reference device.
    fn several() -> [Self; 4] {
        let spread = Self::with(&options().staging(true).queues(Some(4)));
        let reference = Self { device: Device::reference(Config::default()), log: Log(None), _turn: None };
        [Self::new(), spread, Self::restricted("without=timelineSemaphore"), reference]
    }

    /// The device itself, and with a minimum of features: then kernels check accesses, not the device.
    fn checking() -> Vec<Self> {
        let all = [Self::new(), Self::restricted(&format!("{},without=shaderInt64", oldest()))];
        all.into_iter().filter(|context| context.device.as_reference().is_none()).collect()
    }

    /// The device without the named features.
    fn restricted(restrictions: &str) -> Self {
        Self::with(&options().restrictions(Some(restrictions.parse().unwrap())))
    }

    fn with(options: &InstanceOptions) -> Self {
        let turn = turn();
        let device = Device::open_with(&DeviceSelector::Default, options).unwrap();
        let log = Log(device.instance().and_then(Instance::validation_log));
        Self { device, log, _turn: Some(turn) }
    }

    fn basics(&self) -> Module {
        self.device.spirv(basics(), &basics_interface()).unwrap()
    }

    fn kernel(&self, name: &str) -> Kernel {
        self.basics().kernel(name).unwrap()
    }
}

/// The restriction to the oldest version of Vulkan with which the device can be used: 1.1, unless it has device addresses as
/// a feature of 1.2 alone, as SwiftShader has.
fn oldest() -> &'static str {
    static OLDEST: OnceLock<&str> = OnceLock::new();
    OLDEST.get_or_init(|| {
        let _turn = turn();
        let opens = |restrictions: &&str| {
            let options = options().restrictions(Some(restrictions.parse().unwrap()));
            match Device::open_with(&DeviceSelector::Default, &options) {
                Ok(_) => true,
                Err(Error::UnusableDevice { missing, .. }) => {
                    assert_eq!(missing, ["bufferDeviceAddress"]);
                    false
                }
                Err(error) => panic!("{error}"),
            }
        };
        ["vulkan=1.1", "vulkan=1.2"].into_iter().find(opens).unwrap()
    })
}

/// `shaders/basics.spvasm`, assembled.
fn basics() -> &'static [u32] {
    static WORDS: OnceLock<Vec<u32>> = OnceLock::new();
    WORDS.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/shaders/basics.spvasm");
        let output = Command::new("spirv-as").args(["--target-env", "spv1.3", "-o", "-"]).arg(source).output();
        let output = output.expect("spirv-as of SPIRV-Tools must be installed");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
    })
}

/// The description of `shaders/basics.spvasm`, in the translator's format.
fn basics_interface() -> Interface {
    serde_json::from_str(include_str!("../shaders/basics.json")).unwrap()
}
