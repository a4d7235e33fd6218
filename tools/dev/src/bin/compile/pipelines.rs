//! Pipelines and their statistics, by Vulkan itself: the runtime would test the device first, which takes one that computes.
//! Objects live until the process ends.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use ash::{ext, khr, vk};
use ptx2spv_translator::interface::{Entry, Interface, spec_id};
use ptx2spv_translator::target;
use serde::{Deserialize, Serialize};

use crate::cost::Cost;
use crate::{adreno, amd, intel};

/// The output of a device's compiler for a kernel.
#[derive(Debug, Serialize, Deserialize)]
pub struct Compiled {
    /// The file's name and the kernel's.
    pub name: String,
    /// Processor time.
    pub seconds: f64,
    /// Invocations that run together.
    #[serde(default)]
    pub subgroup: u32,
    /// Statistics, by the driver's names.
    pub statistics: BTreeMap<String, f64>,
    /// The last of the texts that the driver shows, which is the machine code.
    #[serde(default)]
    pub code: String,
}

impl Compiled {
    /// A statistic by the driver's name for it.
    pub fn statistic(&self, name: &str) -> u64 {
        self.statistics.get(name).map_or(0, |value| *value as u64)
    }

    /// The cost of the code, a round of whose loops does the work of so many; `None` where nothing is known of the device's instructions.
    pub fn cost(&self, unrolled: u64) -> Option<Cost> {
        let code = &self.code;
        adreno::cost(code, unrolled)
            .or_else(|| amd::cost(code, unrolled))
            .or_else(|| intel::cost(code, self.subgroup, unrolled))
    }
}

/// A device with all its features.
pub struct Vulkan {
    /// The driver's version in words.
    pub driver: String,
    device: ash::Device,
    executables: khr::pipeline_executable_properties::Device,
    // Keeps the library with the functions loaded.
    _entry: ash::Entry,
}

/// The extensions that modules may need, and the one that shows statistics.
const EXTENSIONS: [&CStr; 7] = [
    khr::pipeline_executable_properties::NAME,
    ext::shader_atomic_float::NAME,
    khr::workgroup_memory_explicit_layout::NAME,
    khr::shader_maximal_reconvergence::NAME,
    khr::shader_subgroup_uniform_control_flow::NAME,
    khr::shader_float_controls2::NAME,
    khr::shader_clock::NAME,
];

impl Vulkan {
    /// Opens the first device whose name contains a text.
    pub fn new(name: &str) -> Result<Self> {
        // SAFETY: the system's Vulkan loader is trusted.
        let entry = unsafe { ash::Entry::load() }?;
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let info = vk::InstanceCreateInfo::default().application_info(&application);
        // SAFETY: `info` lives until the call returns. The same holds for the structures of all calls below. Handles
        // are never destroyed, and so are valid wherever they are used.
        let instance = unsafe { entry.create_instance(&info, None) }?;
        // SAFETY: see above.
        let physical = unsafe { instance.enumerate_physical_devices() }?.into_iter().find(|&physical| {
            // SAFETY: see above.
            let properties = unsafe { instance.get_physical_device_properties(physical) };
            properties.device_name_as_c_str().is_ok_and(|found| found.to_string_lossy().contains(name))
        });
        let physical = physical.context("no such Vulkan device")?;
        let mut driver = vk::PhysicalDeviceDriverProperties::default();
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut driver);
        // SAFETY: see above.
        unsafe { instance.get_physical_device_properties2(physical, &mut properties) };
        let driver = driver.driver_info_as_c_str()?.to_string_lossy().into_owned();

        // SAFETY: see above.
        let offered = unsafe { instance.enumerate_device_extension_properties(physical) }?;
        let is_offered = |name| offered.iter().any(|extension| extension.extension_name_as_c_str() == Ok(name));
        let told = khr::pipeline_executable_properties::NAME;
        anyhow::ensure!(
            is_offered(told),
            "the device doesn't show what its compiler makes ({})",
            told.to_string_lossy()
        );
        let extensions: Vec<&CStr> = EXTENSIONS.into_iter().filter(|name| is_offered(*name)).collect();
        let mut structures = Structures::default();
        let mut features = structures.chain(&extensions);
        // SAFETY: see above.
        unsafe { instance.get_physical_device_features2(physical, &mut features) };
        let priorities = [1.0];
        // SAFETY: see above.
        let families = unsafe { instance.get_physical_device_queue_family_properties(physical) };
        let compute = |family: &vk::QueueFamilyProperties| family.queue_flags.contains(vk::QueueFlags::COMPUTE);
        let family = u32::try_from(families.iter().position(compute).context("no compute queue")?)?;
        let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&priorities)];
        let names: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&names)
            .push_next(&mut features);
        // SAFETY: see above; the enabled features are those that the device has.
        let device = unsafe { instance.create_device(physical, &info, None) }?;
        let executables = khr::pipeline_executable_properties::Device::new(&instance, &device);
        Ok(Self { driver, device, executables, _entry: entry })
    }

    /// Makes a pipeline of each kernel of a file, with blocks of that many threads where it leaves them open.
    pub fn compile(&self, file: &Path, block: u32) -> Result<Vec<Compiled>> {
        let words = ash::util::read_spv(&mut fs::File::open(file)?)?;
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let description = file.with_extension("json");
        if !description.exists() {
            let kernel =
                Kernel { name: c"main".to_owned(), push_constants: 128, constants: Vec::new(), subgroup: None };
            return Ok(vec![self.pipeline(self.module(&words)?, &kernel, stem)?]);
        }
        let interface: Interface = serde_json::from_slice(&fs::read(description)?)?;
        let module = self.module(&words)?;
        // Kernels that read images need descriptors, which nothing here has.
        let entries = interface.entries.iter().filter(|entry| !entry.samples());
        entries
            .map(|entry| self.pipeline(module, &Kernel::of(entry, [block, 1, 1])?, format!("{stem}:{}", entry.name)))
            .collect()
    }

    /// Makes a pipeline of a kernel, as its interface describes it, with blocks of that shape where it leaves them open.
    pub fn compile_kernel(&self, words: &[u32], entry: &Entry, block: [u32; 3]) -> Result<Compiled> {
        self.pipeline(self.module(words)?, &Kernel::of(entry, block)?, entry.name.clone())
    }

    fn module(&self, words: &[u32]) -> Result<vk::ShaderModule> {
        let info = vk::ShaderModuleCreateInfo::default().code(words);
        // SAFETY: as in `new`; the module is taken to be valid SPIR-V for this device, as its author promises.
        Ok(unsafe { self.device.create_shader_module(&info, None) }?)
    }

    fn pipeline(&self, module: vk::ShaderModule, kernel: &Kernel, name: String) -> Result<Compiled> {
        let ranges =
            [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(kernel.push_constants)];
        let ranges = if kernel.push_constants == 0 { &[][..] } else { &ranges };
        let info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(ranges);
        // SAFETY: as in `new`.
        let layout = unsafe { self.device.create_pipeline_layout(&info, None) }?;
        let data: Vec<u8> = kernel.constants.iter().flat_map(|(_, value)| value.to_ne_bytes()).collect();
        let entries: Vec<_> = (0..)
            .step_by(4)
            .zip(&kernel.constants)
            .map(|(offset, (id, _))| vk::SpecializationMapEntry { constant_id: *id, offset, size: 4 })
            .collect();
        let specialization = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
        let mut stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(&kernel.name)
            .specialization_info(&specialization);
        let mut required = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default();
        if let Some(size) = kernel.subgroup {
            required = required.required_subgroup_size(size);
            stage = stage.flags(vk::PipelineShaderStageCreateFlags::REQUIRE_FULL_SUBGROUPS).push_next(&mut required);
        }
        use vk::PipelineCreateFlags as Flags;
        let flags = Flags::CAPTURE_STATISTICS_KHR | Flags::CAPTURE_INTERNAL_REPRESENTATIONS_KHR;
        let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout).flags(flags)];
        let start = processor_seconds()?;
        // SAFETY: as in `new`.
        let made = unsafe { self.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None) };
        let seconds = processor_seconds()? - start;
        let [pipeline] = made.map_err(|(_, error)| error).with_context(|| name.clone())?[..] else {
            bail!("no pipeline")
        };
        let told = vk::PipelineInfoKHR::default().pipeline(pipeline);
        // SAFETY: as in `new`.
        let executables = unsafe { self.executables.get_pipeline_executable_properties(&told) }?;
        let subgroup = executables.first().context("no executable")?.subgroup_size;
        let info = vk::PipelineExecutableInfoKHR::default().pipeline(pipeline);
        // SAFETY: as in `new`; a compute pipeline has at least one executable.
        let found = unsafe { self.executables.get_pipeline_executable_statistics(&info) }?;
        // Hashes say nothing to a reader.
        let told = found.iter().filter(|statistic| {
            statistic.name_as_c_str().is_ok_and(|name| !name.to_string_lossy().to_lowercase().ends_with("hash"))
        });
        let statistics = told.map(|statistic| {
            use vk::PipelineExecutableStatisticFormatKHR as Format;
            // SAFETY: the format says which member it is.
            let value = unsafe {
                match statistic.format {
                    Format::BOOL32 => f64::from(statistic.value.b32),
                    Format::INT64 => statistic.value.i64 as f64,
                    Format::UINT64 => statistic.value.u64 as f64,
                    _ => statistic.value.f64,
                }
            };
            Ok((statistic.name_as_c_str()?.to_string_lossy().into_owned(), value))
        });
        let statistics = statistics.collect::<Result<_>>()?;
        Ok(Compiled { name, seconds, subgroup, statistics, code: self.code(&info)? })
    }

    /// The last of an executable's texts.
    fn code(&self, info: &vk::PipelineExecutableInfoKHR<'_>) -> Result<String> {
        let (get, device) =
            (self.executables.fp().get_pipeline_executable_internal_representations_khr, self.device.handle());
        let mut count = 0;
        // SAFETY: as in `new`; first the number of texts, then their sizes, then the texts.
        unsafe { get(device, info, &mut count, std::ptr::null_mut()) }.result()?;
        let mut texts = vec![vk::PipelineExecutableInternalRepresentationKHR::default(); count as usize];
        // SAFETY: see above.
        unsafe { get(device, info, &mut count, texts.as_mut_ptr()) }.result()?;
        let mut room: Vec<Vec<u8>> = texts.iter().map(|text| vec![0; text.data_size]).collect();
        for (text, room) in texts.iter_mut().zip(&mut room) {
            text.p_data = room.as_mut_ptr().cast();
        }
        // SAFETY: see above; each has room for its size.
        unsafe { get(device, info, &mut count, texts.as_mut_ptr()) }.result()?;
        let last = texts.iter().zip(room).rfind(|(text, _)| text.is_text == vk::TRUE);
        Ok(last
            .map_or_else(String::new, |(_, bytes)| String::from_utf8_lossy(&bytes).trim_end_matches('\0').to_owned()))
    }
}

/// The parameters of a pipeline, besides its module.
struct Kernel {
    name: CString,
    push_constants: u32,
    constants: Vec<(u32, u32)>,
    subgroup: Option<u32>,
}

impl Kernel {
    /// A kernel with blocks of that shape where it leaves them open, and with 1 KiB of dynamic shared memory where it has any.
    fn of(entry: &Entry, block: [u32; 3]) -> Result<Self> {
        let threads = |[x, y, z]: [u32; 3]| x * y * z;
        let allowed = entry.block.max.map(threads).filter(|&most| most < threads(block));
        let block = entry.block.required.or(allowed.map(|most| [most, 1, 1])).unwrap_or(block);
        let dynamic = if entry.shared.dynamic { 1024 } else { 0 };
        let shared = target::shared_bytes(entry.shared.static_bytes, dynamic, entry.cluster).next_multiple_of(16);
        let [x, y, z] = target::workgroup(block, entry.packing, entry.cluster);
        let constants = vec![
            (spec_id::BLOCK_X, x),
            (spec_id::BLOCK_Y, y),
            (spec_id::BLOCK_Z, z),
            (spec_id::SHARED_BYTES, u32::try_from(shared)?),
            (spec_id::NTID_X, block[0]),
            (spec_id::NTID_Y, block[1]),
            (spec_id::NTID_Z, block[2]),
            (spec_id::DYNAMIC_SHARED_BYTES, dynamic),
            (spec_id::MEMORY_BARRIERS, 1),
        ];
        let subgroup = entry.packing.map(|packing| packing.subgroup_size).filter(|&size| size > 1);
        Ok(Self {
            name: CString::new(entry.name.as_str())?,
            push_constants: entry.push_constant_size,
            constants,
            subgroup,
        })
    }
}

/// Structures of features, for the device to fill in.
#[derive(Default)]
struct Structures {
    core11: vk::PhysicalDeviceVulkan11Features<'static>,
    core12: vk::PhysicalDeviceVulkan12Features<'static>,
    core13: vk::PhysicalDeviceVulkan13Features<'static>,
    executables: vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR<'static>,
    atomic_float: vk::PhysicalDeviceShaderAtomicFloatFeaturesEXT<'static>,
    layout: vk::PhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR<'static>,
    reconvergence: vk::PhysicalDeviceShaderMaximalReconvergenceFeaturesKHR<'static>,
    uniform: vk::PhysicalDeviceShaderSubgroupUniformControlFlowFeaturesKHR<'static>,
    controls: vk::PhysicalDeviceShaderFloatControls2FeaturesKHR<'static>,
    clock: vk::PhysicalDeviceShaderClockFeaturesKHR<'static>,
}

impl Structures {
    /// Chains the features of Vulkan 1.3 and of these extensions.
    fn chain(&mut self, extensions: &[&CStr]) -> vk::PhysicalDeviceFeatures2<'_> {
        let mut chain = vk::PhysicalDeviceFeatures2::default()
            .push_next(&mut self.core11)
            .push_next(&mut self.core12)
            .push_next(&mut self.core13);
        macro_rules! add {
            ($($field:ident: $extension:ident),*) => {
                $(if extensions.contains(&add!(@ $extension)) { chain = chain.push_next(&mut self.$field); })*
            };
            (@ shader_atomic_float) => { ext::shader_atomic_float::NAME };
            (@ $extension:ident) => { khr::$extension::NAME };
        }
        add!(
            executables: pipeline_executable_properties, atomic_float: shader_atomic_float,
            layout: workgroup_memory_explicit_layout, reconvergence: shader_maximal_reconvergence,
            uniform: shader_subgroup_uniform_control_flow, controls: shader_float_controls2, clock: shader_clock
        );
        chain
    }
}

/// Processor time of this thread, which is the one that compiles, as Linux counts it.
fn processor_seconds() -> Result<f64> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").context("/proc/thread-self/schedstat")?;
    let nanoseconds: f64 = text.split_whitespace().next().context("an empty schedstat")?.parse()?;
    Ok(nanoseconds / 1e9)
}
