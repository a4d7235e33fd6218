//! Finding the library, the device and the layers, and clear messages if they are missing.

use std::process::Command;

use ptx2spv_runtime::{
    DEVICE_VARIABLE, Device, DeviceKind, DeviceSelector, Error, Instance, InstanceOptions, RESTRICTIONS_VARIABLE,
    Restrictions, devices, find_device,
};
use ptx2spv_translator::target::{FloatControls, Version};
use ptx2spv_translator::{Assumptions, Feature, Target};

use crate::{Context, Load, basics_interface, oldest, options, turn};

#[test]
fn devices_describe_themselves() {
    let _turn = turn();
    let instance = Instance::new(&options()).unwrap();
    let devices = instance.devices().unwrap();
    for device in &devices {
        assert!(!device.name.is_empty());
        assert_eq!(device.target.name, device.name);
        assert!(device.api_version >= device.target.vulkan && device.target.vulkan >= Version(1, 1));
        assert!(device.target.spirv <= Version(1, 5));
        assert!(device.target.limits.max_compute_work_group_count.iter().all(|&count| count >= 65_535));
        assert!(device.target.subgroups.size.is_power_of_two());
        for name in [format!("name:{}", device.name), device.index.unwrap().to_string()] {
            let selector: DeviceSelector = name.parse().unwrap();
            assert_eq!(selector.choose(&devices).unwrap().name, device.name);
        }
    }
    let device = instance.open(&DeviceSelector::Default).unwrap();
    assert!(device.target().has(Feature::BufferDeviceAddress));
    drop(device);
    assert!(matches!(instance.open(&DeviceSelector::Index(99)), Err(Error::NoMatchingDevice { .. })));
    assert_eq!(instance.validation_messages(), [""; 0]);
}

/// A preset describes the device of Debian 12's Mesa. The device has at least the features of the preset.
fn lavapipe_keeps_its_preset() {
    let _turn = turn();
    let devices = Instance::new(&options()).unwrap().devices().unwrap();
    let found = devices.iter().find(|d| d.kind == DeviceKind::Cpu && d.driver_info.starts_with("Mesa 22.3."));
    let Some(device) = found else { return };
    let preset = Target::preset("lavapipe").unwrap();
    assert!(preset.features.is_subset(&device.target.features), "{:?}", device.target.features);
    let (promised, found) = (Assumptions::of(&preset).names(), Assumptions::of(&device.target).names());
    assert!(promised.is_subset(&found), "{:?}", promised.difference(&found));
    assert_eq!(device.target.limits, preset.limits);
    assert!((device.target.vulkan, device.target.spirv) >= (preset.vulkan, preset.spirv));
}

#[test]
fn lavapipe_keeps_its_preset_here() {
    lavapipe_keeps_its_preset();
}

/// Other processors, as far as Mesa can be told to ignore features of this one. Measurements of this one don't count
/// there.
#[test]
fn lavapipe_keeps_its_preset_elsewhere() {
    for capabilities in ["sse4.1", "avx"] {
        let processor =
            [("GALLIUM_OVERRIDE_CPU_CAPS", capabilities), ("LP_NATIVE_VECTOR_WIDTH", "256"), ("PTX2SPV_CACHE", "")];
        let variables = processor.into_iter().chain([("MESA_SHADER_CACHE_DISABLE", "true")]);
        if is_child("setup::lavapipe_keeps_its_preset_elsewhere", &variables.collect::<Vec<_>>()) {
            return lavapipe_keeps_its_preset();
        }
    }
}

/// A device can be used with some of its features hidden.
#[test]
fn restricted_devices() {
    let _turn = turn();
    let open = |restrictions: &str| {
        let restrictions = Some(restrictions.parse().unwrap());
        Instance::new(&options().restrictions(restrictions)).unwrap()
    };
    let is_first = oldest() == "vulkan=1.1";
    // From Vulkan 1.2 on, float controls need no extension, and are hidden by their own names.
    let float_controls = if is_first {
        "VK_KHR_shader_float_controls".to_owned()
    } else {
        [16, 32, 64].map(|bits| format!("shaderSignedZeroInfNanPreserveFloat{bits}")).join("+")
    };
    let target = open(&format!("{},without=shaderInt64+{float_controls}", oldest()))
        .open(&DeviceSelector::Default)
        .map(|device| device.target().clone());
    let target = target.unwrap();
    let versions = if is_first { (Version(1, 1), Version(1, 3)) } else { (Version(1, 2), Version(1, 5)) };
    assert_eq!((target.vulkan, target.spirv), versions);
    assert!(!target.has(Feature::ShaderInt64) && target.has(Feature::BufferDeviceAddress));
    assert_eq!(target.float_controls, FloatControls::default());
    // No kernel runs without device addresses. The device is listed all the same.
    let instance = open("vulkan=1.1,without=VK_KHR_buffer_device_address");
    let devices = instance.devices().unwrap();
    assert!(!devices.is_empty() && devices.iter().all(|device| device.missing() == ["bufferDeviceAddress"]));
    for selector in [DeviceSelector::Best, DeviceSelector::Index(0)] {
        let error = instance.open(&selector).unwrap_err();
        assert!(matches!(error, Error::UnusableDevice { .. }));
        let expected = "can't run kernels: it lacks bufferDeviceAddress (a newer driver may have it)";
        assert!(error.to_string().ends_with(expected), "{error}");
    }
}

#[test]
fn restrictions_by_environment() {
    let nothing = (RESTRICTIONS_VARIABLE, "without=bufferDeviceAddress");
    if is_child("setup::restrictions_by_environment", &[nothing]) {
        let error = Device::open(&DeviceSelector::Index(0)).unwrap_err();
        assert!(matches!(error, Error::UnusableDevice { .. }), "{error}");
        let device = Device::open(&DeviceSelector::Best).unwrap();
        assert_eq!(device.info().kind, DeviceKind::Reference);
        assert!(matches!(device.fallback(), Some(Error::UnusableDevice { .. })));
        for found in [
            Device::open(&DeviceSelector::Vulkan).map(drop),
            find_device(&DeviceSelector::Vulkan, &InstanceOptions::default()).map(drop),
        ] {
            assert!(matches!(found, Err(Error::UnusableDevice { .. })));
        }
        // The program's own restrictions come first.
        let restrictions = Some(Restrictions::default());
        Device::open_with(&DeviceSelector::Index(0), &options().restrictions(restrictions)).unwrap();
    }
}

/// The absence of messages elsewhere is meaningful only if validation is on.
#[test]
fn validation_speaks_up() {
    let mut context = Context::new();
    let Some(log) = context.log.0.take() else { return };
    let mut interface = basics_interface();
    interface.entries.clear();
    // A header, and `OpTypeVoid` without the memory model that every module must have.
    let module = context.device.spirv(&[0x0723_0203, 0x0001_0300, 0, 2, 0, 2 << 16 | 19, 1], &interface);
    drop(module);
    assert!(!log.messages().is_empty());
}

#[test]
fn missing_library() {
    let library = Some("/nonexistent/libvulkan.so.1".into());
    let error = Instance::new(&InstanceOptions::default().library(library)).unwrap_err();
    assert!(matches!(error, Error::NoLoader { .. }));
    assert!(error.to_string().contains("install the Vulkan loader"), "{error}");
}

/// Runs a test again in a separate process with other environment variables, because Vulkan's loader reads them and
/// other tests run at the same time. Returns whether this is that process.
fn is_child(test: &str, variables: &[(&str, &str)]) -> bool {
    const CHILD: &str = "PTX2SPV_TEST_CHILD";
    if std::env::var_os(CHILD).is_some() {
        return true;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    let output = command.args(["--exact", test]).envs(variables.iter().copied()).env(CHILD, "1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    false
}

#[test]
fn missing_driver() {
    let nowhere = "/nonexistent/icd.json";
    if is_child("setup::missing_driver", &[("VK_DRIVER_FILES", nowhere), ("VK_ICD_FILENAMES", nowhere)]) {
        let error = Device::open(&DeviceSelector::Kind(DeviceKind::Cpu)).unwrap_err();
        assert!(matches!(error, Error::NoDevice { .. }), "{error}");
        assert!(error.to_string().contains("no Vulkan device found"), "{error}");
        // If any device will do, the reference device is used, and the reason is reported.
        let device = Device::open(&DeviceSelector::Best).unwrap();
        assert_eq!(device.info().kind, DeviceKind::Reference);
        assert!(matches!(device.fallback(), Some(Error::NoDevice { .. })));
        assert!(matches!(Device::open(&DeviceSelector::Vulkan), Err(Error::NoDevice { .. })));
        let found = devices(&InstanceOptions::default());
        assert_eq!(found.devices.len(), 1);
        assert!(matches!(found.no_vulkan, Some(Error::NoDevice { .. })));
    }
}

#[test]
fn device_by_environment() {
    if is_child("setup::device_by_environment", &[(DEVICE_VARIABLE, "name:no such device")]) {
        let error = Device::open(&DeviceSelector::Default).unwrap_err().to_string();
        assert!(error.contains(DEVICE_VARIABLE), "{error}");
        assert!(error.contains("no device matches `name:no such device`; there are: 0: "), "{error}");
        Device::open(&DeviceSelector::Index(0)).unwrap();
    }
}

#[test]
fn reference_device_by_environment() {
    if is_child("setup::reference_device_by_environment", &[(DEVICE_VARIABLE, "reference:subgroup=64,seed=7")]) {
        let device = Device::open(&DeviceSelector::Default).unwrap();
        assert_eq!(device.info().kind, DeviceKind::Reference);
        assert_eq!((device.info().name.as_str(), device.info().index), ("reference (subgroup=64,seed=7)", None));
        assert_eq!(device.target().subgroups.size, 64);
        assert!(device.fallback().is_none() && device.instance().is_none());
    }
}
