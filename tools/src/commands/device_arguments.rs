//! Arguments of the commands that run kernels.

use std::time::Duration;

use anyhow::Result;
use clap::Args;
use ptx2spv::cases::DeviceBackend;
use ptx2spv::cli::{MathArgument, UsageError};
use ptx2spv::progress::Progress;
use ptx2spv_runtime::DeviceSelector;

/// The device to run on.
#[derive(Debug, Args)]
pub struct DeviceArguments {
    /// Device: its number, a part of its name, or cpu, discrete, integrated, virtual, best, vulkan, reference
    /// [default: the environment variable PTX2SPV_DEVICE, else best].
    ///
    /// The reference device takes options, such as reference:subgroup=64,without=shaderFloat64 (see
    /// docs/reference-device.md). Without a Vulkan device, the best device is the reference device, while `vulkan` is an
    /// error. The environment variable PTX2SPV_RESTRICT removes features from other devices, such as
    /// vulkan=1.1,without=shaderInt64 (see docs/devices.md).
    #[arg(long, value_name = "DEVICE")]
    device: Option<DeviceSelector>,
    /// Run under Vulkan's validation layers; their messages count as failures.
    #[arg(long)]
    validation: bool,
    /// Report accesses outside of memory and misaligned accesses, with line and thread; with --device reference also
    /// races, uninitialized values and the like.
    #[arg(long)]
    check: bool,
    /// With --device reference: make choices that Vulkan leaves open by this seed, in the worst permitted ways.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Submit long grids in parts, so that none takes much longer than N milliseconds and no watchdog stops it. Grids
    /// whose blocks may wait for each other are not split.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_dispatch_ms: Option<u64>,
    #[command(flatten)]
    math: MathArgument,
}

impl DeviceArguments {
    /// Whether the device detects undefined behavior.
    pub fn is_checking(&self) -> Result<bool> {
        Ok(self.check || matches!(self.selector()?, DeviceSelector::Reference(options) if options.check))
    }

    /// Refuses `--check` for translated kernels, unless the device itself checks accesses.
    pub fn refuse_checks_of_translated(&self) -> Result<()> {
        match self.selector()? {
            DeviceSelector::Reference(_) => Ok(()),
            _ if self.check => {
                Err(UsageError("--check of a translated module needs --device reference, or the PTX".to_owned()).into())
            }
            _ => Ok(()),
        }
    }

    /// The device with the flags that only apply to the reference device, which are errors for other devices.
    pub fn selector(&self) -> Result<DeviceSelector> {
        let selector = self.device.clone().unwrap_or_default().resolve()?;
        match selector {
            DeviceSelector::Reference(options) => {
                let (check, seed) = (self.check || options.check, self.seed.or(options.seed));
                Ok(DeviceSelector::Reference(options.check(check).seed(seed)))
            }
            _ if self.seed.is_some() => Err(reference_only("--seed")),
            other => Ok(other),
        }
    }

    /// Configures a device by the flags.
    pub fn configure(&self, backend: DeviceBackend) -> DeviceBackend {
        let most = self.max_dispatch_ms.map(Duration::from_millis);
        backend.with_math(self.math.get()).with_max_dispatch_time(most).with_checks(self.check)
    }

    pub fn open(&self, selector: &DeviceSelector) -> Result<DeviceBackend> {
        // For `InstanceOptions`, where the environment decides without the flag.
        let validation = self.validation.then_some(true);
        let selector = match selector {
            DeviceSelector::Reference(_) => selector.clone(),
            // As given by the user, so that errors name the environment variable if it is from there.
            _ => self.device.clone().unwrap_or_default(),
        };
        // On its first use, a device is tested.
        let backend = Progress::during("opening the device", || DeviceBackend::open(&selector, validation))?;
        Ok(self.configure(backend))
    }
}

/// The error of a flag that only applies to the reference device.
pub fn reference_only(flag: &str) -> anyhow::Error {
    UsageError(format!("{flag} is for the reference device: add --device reference")).into()
}
