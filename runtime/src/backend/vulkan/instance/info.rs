//! Queries a driver for a device's properties: names, versions, and the [`Target`] that the translator compiles for.

use std::collections::BTreeSet;

use ash::{ext, khr, vk};
use ptx2spv_translator::target::{Facts, FloatControls, Limits, MatrixTypes, Subgroups, UnitTypes, Version};
use ptx2spv_translator::{Feature, Target};

use crate::backend::vulkan::instance::features::{self, Offer};
use crate::backend::vulkan::instance::held;
use crate::backend::vulkan::instance::{Instance, drivers, newer, quirks, version_of};
use crate::error::{Error, Result};
use crate::info::{BusAddress, DeviceInfo, DeviceKind};

/// Queries the driver, which doesn't know the target's facts. `version` is the Vulkan version to use, at least 1.1.
pub fn query(instance: &Instance, physical: vk::PhysicalDevice, index: usize, version: Version) -> Result<DeviceInfo> {
    let offer = Offer::query(instance, physical, version)?;
    let mut driver = vk::PhysicalDeviceDriverProperties::default();
    let mut ids = vk::PhysicalDeviceIDProperties::default();
    let mut subgroup = vk::PhysicalDeviceSubgroupProperties::default();
    let mut sizes = vk::PhysicalDeviceSubgroupSizeControlProperties::default();
    let mut maintenance4 = vk::PhysicalDeviceMaintenance4Properties::default();
    let mut chain = vk::PhysicalDeviceProperties2::default().push_next(&mut ids).push_next(&mut subgroup);
    let has_sizes = offer.has(Some(Version(1, 3)), ext::subgroup_size_control::NAME);
    if offer.has(Some(Version(1, 2)), khr::driver_properties::NAME) {
        chain = chain.push_next(&mut driver);
    }
    if has_sizes {
        chain = chain.push_next(&mut sizes);
    }
    let has_maintenance4 = offer.has(Some(Version(1, 3)), khr::maintenance4::NAME);
    if has_maintenance4 {
        chain = chain.push_next(&mut maintenance4);
    }
    let mut controls = vk::PhysicalDeviceFloatControlsProperties::default();
    if offer.has(Some(Version(1, 2)), khr::shader_float_controls::NAME) {
        chain = chain.push_next(&mut controls);
    }
    let mut bus = vk::PhysicalDevicePCIBusInfoPropertiesEXT::default();
    let has_bus = offer.has(None, ext::pci_bus_info::NAME);
    if has_bus {
        chain = chain.push_next(&mut bus);
    }
    // SAFETY: `physical` was enumerated from `instance`, and the chain has only structures that the device knows.
    unsafe { instance.raw().get_physical_device_properties2(physical, &mut chain) };
    let properties = chain.properties;
    let text = |text: Result<&std::ffi::CStr, _>| {
        text.map_or_else(
            |_: std::ffi::FromBytesUntilNulError| String::new(),
            |text| text.to_string_lossy().into_owned(),
        )
    };
    let name = text(properties.device_name_as_c_str());
    let driver_info = text(driver.driver_info_as_c_str());
    let (features, own) = features::supported(instance, physical, &offer);
    let needed = [Feature::BufferDeviceAddress];
    let missing = needed.into_iter().filter(|feature| !features.contains(feature)).map(Feature::name).collect();
    let asks_for_sizes = has_sizes && features.contains(&Feature::SubgroupSizeControl);
    let identity = quirks::Identity {
        driver: driver.driver_id,
        driver_info: &driver_info,
        vendor: properties.vendor_id,
        subgroup_size: subgroup.subgroup_size,
        validation: instance.validation_log().is_some(),
    };
    let keeps_pipelines = identity.keeps_pipelines();
    let (bugs, mut quirks) = quirks::known(&identity);
    quirks.loop_budget = instance.restrictions().loop_budget(quirks.loop_budget);
    let mut float_controls = float_controls(&controls);
    FloatControls::names()
        .filter(|name| instance.restrictions().forbids(name))
        .for_each(|name| float_controls.remove(name));
    let limits = &properties.limits;
    let has_matrices = features.contains(&Feature::CooperativeMatrix);
    let matrix_units = if has_matrices { matrix_units(instance, physical)? } else { BTreeSet::new() };
    let target = Target {
        name: name.clone(),
        vulkan: version,
        spirv: offer.newest_spirv(),
        features,
        limits: Limits {
            max_push_constants_size: limits.max_push_constants_size,
            max_compute_shared_memory_size: limits.max_compute_shared_memory_size,
            max_compute_work_group_invocations: limits.max_compute_work_group_invocations,
            max_compute_work_group_size: limits.max_compute_work_group_size,
            max_compute_work_group_count: limits.max_compute_work_group_count,
        },
        subgroups: subgroups(&subgroup, asks_for_sizes.then_some(&sizes)),
        matrix_units,
        float_controls,
        facts: Facts::default(),
        quirks,
    };
    Ok(DeviceInfo {
        index: Some(index),
        name,
        kind: kind(properties.device_type),
        driver_name: text(driver.driver_name_as_c_str()),
        driver_info,
        driver_version: properties.driver_version,
        api_version: version_of(properties.api_version),
        uuid: ids.device_uuid,
        bus: has_bus.then_some(BusAddress {
            domain: bus.pci_domain,
            bus: bus.pci_bus,
            device: bus.pci_device,
            function: bus.pci_function,
        }),
        target,
        max_buffer_size: if has_maintenance4 { maintenance4.max_buffer_size } else { u64::MAX },
        seen: Vec::new(),
        bugs,
        ids: [properties.vendor_id, properties.device_id],
        missing,
        own,
        keeps_pipelines,
    })
}

/// The products of matrices that [`Target::matrix_units`] has.
fn matrix_units(instance: &Instance, physical: vk::PhysicalDevice) -> Result<BTreeSet<MatrixTypes>> {
    use vk::ComponentTypeKHR as Of;
    const UNITS: [(MatrixTypes, [Of; 4]); 7] = [
        (MatrixTypes::F16, [Of::FLOAT16, Of::FLOAT16, Of::FLOAT32, Of::FLOAT32]),
        (MatrixTypes::F16Alone, [Of::FLOAT16; 4]),
        (MatrixTypes::Bf16, [newer::BFLOAT16_COMPONENT, newer::BFLOAT16_COMPONENT, Of::FLOAT32, Of::FLOAT32]),
        (MatrixTypes::S8, [Of::SINT8, Of::SINT8, Of::SINT32, Of::SINT32]),
        (MatrixTypes::S8U8, [Of::SINT8, Of::UINT8, Of::SINT32, Of::SINT32]),
        (MatrixTypes::U8S8, [Of::UINT8, Of::SINT8, Of::SINT32, Of::SINT32]),
        (MatrixTypes::U8, [Of::UINT8, Of::UINT8, Of::UINT32, Of::UINT32]),
    ];
    let functions = khr::cooperative_matrix::Instance::new(instance.entry(), instance.raw());
    // SAFETY: `physical` was enumerated from `instance`, and has the extension.
    let offered = unsafe { functions.get_physical_device_cooperative_matrix_properties(physical) }
        .map_err(Error::vulkan("vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR"))?;
    let has = |(matrix_types, types): &(MatrixTypes, [Of; 4])| {
        offered.iter().any(|unit| {
            matrix_types.for_unit().map(UnitTypes::shape) == Some([unit.m_size, unit.n_size, unit.k_size])
                && [unit.a_type, unit.b_type, unit.c_type, unit.result_type] == *types
                && unit.scope == vk::ScopeKHR::SUBGROUP
        })
    };
    Ok(UNITS.iter().filter(|unit| has(unit)).map(|(types, ..)| *types).collect())
}

/// Subgroup properties. `sizes` is given if pipelines can choose the size.
fn subgroups(
    found: &vk::PhysicalDeviceSubgroupProperties<'_>,
    sizes: Option<&vk::PhysicalDeviceSubgroupSizeControlProperties<'_>>,
) -> Subgroups {
    let size = found.subgroup_size;
    let compute = vk::ShaderStageFlags::COMPUTE;
    let has = |operations| found.supported_stages.contains(compute) && found.supported_operations.contains(operations);
    Subgroups {
        size,
        min_size: sizes.map_or(size, |sizes| sizes.min_subgroup_size),
        max_size: sizes.map_or(size, |sizes| sizes.max_subgroup_size),
        required_size: sizes.is_some_and(|sizes| sizes.required_subgroup_size_stages.contains(compute)),
        ballot: has(vk::SubgroupFeatureFlags::BASIC | vk::SubgroupFeatureFlags::BALLOT),
        shuffle: has(vk::SubgroupFeatureFlags::SHUFFLE),
    }
}

fn kind(found: vk::PhysicalDeviceType) -> DeviceKind {
    match found {
        vk::PhysicalDeviceType::DISCRETE_GPU => DeviceKind::Discrete,
        vk::PhysicalDeviceType::INTEGRATED_GPU => DeviceKind::Integrated,
        vk::PhysicalDeviceType::VIRTUAL_GPU => DeviceKind::Virtual,
        vk::PhysicalDeviceType::CPU => DeviceKind::Cpu,
        _ => DeviceKind::Other,
    }
}

/// The float controls that can be declared for all widths together. Where widths are not independent and differ, none.
fn float_controls(found: &vk::PhysicalDeviceFloatControlsProperties<'_>) -> FloatControls {
    let joined = |independence| independence == vk::ShaderFloatControlsIndependence::NONE;
    let pair = |single: vk::Bool32, double: vk::Bool32, joined: bool| {
        let usable = !joined || single == double;
        (usable && single == vk::TRUE, usable && double == vk::TRUE)
    };
    let denorm = pair(
        found.shader_denorm_preserve_float32,
        found.shader_denorm_preserve_float64,
        joined(found.denorm_behavior_independence),
    );
    let rounding = pair(
        found.shader_rounding_mode_rte_float32,
        found.shader_rounding_mode_rte_float64,
        joined(found.rounding_mode_independence),
    );
    // The f16 controls are declared beside those of f32, which may have to be the same, and of f64, which has to be the same unless all are
    // independent.
    let half = |half: vk::Bool32, double: bool, independence| {
        use vk::ShaderFloatControlsIndependence as Independence;
        half == vk::TRUE && (independence == Independence::ALL || independence == Independence::TYPE_32_ONLY && double)
    };
    FloatControls {
        signed_zero_inf_nan_preserve_float16: found.shader_signed_zero_inf_nan_preserve_float16 == vk::TRUE,
        denorm_preserve_float16: half(
            found.shader_denorm_preserve_float16,
            denorm.1,
            found.denorm_behavior_independence,
        ),
        rounding_mode_rte_float16: half(
            found.shader_rounding_mode_rte_float16,
            rounding.1,
            found.rounding_mode_independence,
        ),
        signed_zero_inf_nan_preserve_float32: found.shader_signed_zero_inf_nan_preserve_float32 == vk::TRUE,
        signed_zero_inf_nan_preserve_float64: found.shader_signed_zero_inf_nan_preserve_float64 == vk::TRUE,
        denorm_preserve_float32: denorm.0,
        denorm_preserve_float64: denorm.1,
        rounding_mode_rte_float32: rounding.0,
        rounding_mode_rte_float64: rounding.1,
    }
}

/// A device. It can be opened unless [`DeviceInfo::missing`] has entries.
#[derive(Clone)]
pub(crate) struct PhysicalDevice {
    pub(crate) handle: vk::PhysicalDevice,
    /// The driver's description of the device.
    pub info: DeviceInfo,
}

impl Instance {
    /// Lists the devices in the loader's order, including those that can't run kernels.
    ///
    /// # Errors
    /// [`Error::NoDevice`] if there are none, [`Error::Forked`] in a forked process.
    pub(crate) fn physical_devices(&self) -> Result<Vec<PhysicalDevice>> {
        self.check_process()?;
        let raw = self.raw();
        // SAFETY: the instance is alive.
        let list =
            held::noting_threads(|| unsafe { raw.enumerate_physical_devices() }).map_err(|result| match result {
                vk::Result::ERROR_INITIALIZATION_FAILED => {
                    Error::NoDevice { reason: drivers::explain("no driver could be loaded") }
                }
                result => Error::vulkan("vkEnumeratePhysicalDevices")(result),
            })?;
        let mut devices = Vec::with_capacity(list.len());
        let mut old = Vec::new();
        for (index, handle) in list.into_iter().enumerate() {
            // SAFETY: `handle` was enumerated from this instance.
            let properties = unsafe { raw.get_physical_device_properties(handle) };
            let device = version_of(properties.api_version);
            // Vulkan 1.0 can't report the features that kernels need, and has no device addresses.
            if device >= Version(1, 1) {
                let version = device.min(self.version());
                devices.push(PhysicalDevice { handle, info: query(self, handle, index, version)? });
            } else {
                old.extend(properties.device_name_as_c_str().map(|name| name.to_string_lossy().into_owned()));
            }
        }
        if !devices.is_empty() {
            return Ok(devices);
        }
        let reason = match &old[..] {
            [] => drivers::explain("the loader lists none"),
            old => format!("Vulkan 1.1 is needed, and there is only Vulkan 1.0 on {}", old.join(", ")),
        };
        Err(Error::NoDevice { reason })
    }
}
