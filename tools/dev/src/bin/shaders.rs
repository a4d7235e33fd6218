//! Runs the test shaders of the reference device on Vulkan devices, and checks or records their results.
//!
//! Unlike kernels, these shaders have push constants of their own and use whatever the device has. So this is a small Vulkan
//! program of its own: all buffers are in one mapped memory, and objects live until the program ends.

use std::path::PathBuf;
use std::process::ExitCode;
use std::{fs, slice};

use anyhow::{Context, Result, bail, ensure};
use ash::{khr, vk};
use clap::Parser;
use ptx2spv::cli::{self, Status};

#[allow(dead_code, reason = "the tests of the reference device use the rest")]
#[path = "../../../../runtime/reference/tests/shaders/description.rs"]
mod description;

use description::{Recorded, Shader};

/// Runs the shaders of a directory on the first Vulkan device, and compares the results with the recorded ones for its
/// subgroup size.
#[derive(Debug, Parser)]
#[command(name = "shaders", version, max_term_width = 100)]
struct CommandLine {
    /// Directory with the shaders.
    #[arg(default_value = "runtime/reference/tests/shaders")]
    directory: PathBuf,
    /// Only shaders whose name contains this.
    #[arg(long, value_name = "TEXT", default_value = "")]
    filter: String,
    /// Record the results instead of comparing them.
    #[arg(long)]
    record: bool,
}

fn main() -> ExitCode {
    let arguments = CommandLine::parse();
    cli::main(|out| {
        let vulkan = Vulkan::new()?;
        writeln!(out, "{}, subgroups of {}", vulkan.name, vulkan.subgroup_size)?;
        let mut wrong = 0;
        for mut shader in description::read(&arguments.directory)? {
            if !shader.name.contains(&arguments.filter) {
                continue;
            }
            // Flushed before the run, since drivers may crash.
            write!(out, "{}: ", shader.name)?;
            out.flush()?;
            let outcome = match vulkan.lacking(&shader.spirv) {
                Some(capability) => format!("not run: the device lacks {capability}"),
                None => {
                    let results = vulkan.run(&shader).with_context(|| shader.name.clone())?;
                    if arguments.record {
                        vulkan.record(&mut shader.recorded, results);
                        let path = arguments.directory.join(format!("{}.expected.json", shader.name));
                        fs::write(path, text(&shader.recorded)?)?;
                        "recorded".to_owned()
                    } else {
                        let difference = vulkan.compare(&shader, &results);
                        wrong += u32::from(difference.is_some());
                        difference.unwrap_or_else(|| "ok".to_owned())
                    }
                }
            };
            writeln!(out, "{outcome}")?;
        }
        Ok(if wrong == 0 { Status::Success } else { Status::Failure })
    })
}

/// Records as JSON, with a line for each 16 words.
fn text(recorded: &[Recorded]) -> Result<String> {
    let list = |words: &Vec<u32>| {
        let row = |row: &[u32]| row.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        format!("[\n{}\n]", words.chunks(16).map(row).collect::<Vec<_>>().join(",\n"))
    };
    let entries = recorded.iter().map(|entry| {
        let results: Vec<String> = entry.results.iter().map(list).collect();
        Ok(format!(
            "{{\"devices\": {}, \"results\": [{}]}}",
            serde_json::to_string(&entry.devices)?,
            results.join(", ")
        ))
    });
    Ok(format!("[{}]\n", entries.collect::<Result<Vec<_>>>()?.join(",\n")))
}

struct Vulkan {
    name: String,
    subgroup_size: u32,
    subgroup_operations: vk::SubgroupFeatureFlags,
    float16: bool,
    explicit_layout: bool,
    device: ash::Device,
    queue: vk::Queue,
    commands: vk::CommandBuffer,
    /// The host address and device address of the buffer's memory.
    host: *mut u8,
    address: u64,
    // Keeps the library with the functions loaded.
    _entry: ash::Entry,
}

/// Maximum total bytes of a shader's buffers.
const MEMORY: u64 = 1 << 20;
/// Satisfies every layout.
const ALIGN: u64 = 256;

impl Vulkan {
    fn new() -> Result<Self> {
        // SAFETY: the system's Vulkan loader is trusted.
        let entry = unsafe { ash::Entry::load() }?;
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let info = vk::InstanceCreateInfo::default().application_info(&application);
        // SAFETY: `info` lives until the call returns. The same holds for the structures of all calls below. Handles
        // are never destroyed, and so are valid wherever they are used.
        let instance = unsafe { entry.create_instance(&info, None) }?;
        // SAFETY: see above.
        let physical = *unsafe { instance.enumerate_physical_devices() }?.first().context("no Vulkan device")?;

        let mut properties11 = vk::PhysicalDeviceVulkan11Properties::default();
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut properties11);
        // SAFETY: see above.
        unsafe { instance.get_physical_device_properties2(physical, &mut properties) };
        let name = properties.properties.device_name_as_c_str()?.to_string_lossy().into_owned();

        // SAFETY: see above.
        let extensions = unsafe { instance.enumerate_device_extension_properties(physical) }?;
        let wanted = khr::workgroup_memory_explicit_layout::NAME;
        let explicit_layout = extensions.iter().any(|found| found.extension_name_as_c_str() == Ok(wanted));
        let names: Vec<_> = explicit_layout.then_some(wanted.as_ptr()).into_iter().collect();
        let mut layout = vk::PhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR::default();
        let mut features11 = vk::PhysicalDeviceVulkan11Features::default();
        let mut features12 = vk::PhysicalDeviceVulkan12Features::default();
        let mut features13 = vk::PhysicalDeviceVulkan13Features::default();
        let mut features = vk::PhysicalDeviceFeatures2::default()
            .push_next(&mut features11)
            .push_next(&mut features12)
            .push_next(&mut features13);
        if explicit_layout {
            features = features.push_next(&mut layout);
        }
        // SAFETY: see above.
        unsafe { instance.get_physical_device_features2(physical, &mut features) };
        // Robustness would hide faults.
        features.features.robust_buffer_access = vk::FALSE;

        // SAFETY: see above.
        let families = unsafe { instance.get_physical_device_queue_family_properties(physical) };
        let compute = |family: &vk::QueueFamilyProperties| family.queue_flags.contains(vk::QueueFlags::COMPUTE);
        let family = u32::try_from(families.iter().position(compute).context("no compute queue")?)?;
        let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&names)
            .push_next(&mut features);
        // SAFETY: see above; the enabled features are those that the device has.
        let device = unsafe { instance.create_device(physical, &info, None) }?;
        // SAFETY: see above.
        let queue = unsafe { device.get_device_queue(family, 0) };
        let info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(family)
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
        // SAFETY: see above.
        let pool = unsafe { device.create_command_pool(&info, None) }?;
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        // SAFETY: see above.
        let commands = *unsafe { device.allocate_command_buffers(&info) }?.first().context("no command buffer")?;

        let usage = vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
        let info = vk::BufferCreateInfo::default().size(MEMORY).usage(usage);
        // SAFETY: see above.
        let buffer = unsafe { device.create_buffer(&info, None) }?;
        // SAFETY: see above.
        let (needs, memory) = unsafe {
            (device.get_buffer_memory_requirements(buffer), instance.get_physical_device_memory_properties(physical))
        };
        let visible = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let fits = |&index: &u32| {
            let ty = memory.memory_types.get(index as usize);
            needs.memory_type_bits >> index & 1 != 0 && ty.is_some_and(|ty| ty.property_flags.contains(visible))
        };
        let index = (0..memory.memory_type_count).find(fits).context("no memory that the host sees")?;
        let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(index)
            .push_next(&mut flags);
        // SAFETY: see above; the memory is large enough for the buffer, and remains mapped.
        let (host, address) = unsafe {
            let memory = device.allocate_memory(&info, None)?;
            device.bind_buffer_memory(buffer, memory, 0)?;
            let host = device.map_memory(memory, 0, MEMORY, vk::MemoryMapFlags::empty())?;
            (host, device.get_buffer_device_address(&vk::BufferDeviceAddressInfo::default().buffer(buffer)))
        };
        Ok(Self {
            name,
            subgroup_size: properties11.subgroup_size,
            subgroup_operations: properties11.subgroup_supported_operations,
            float16: features12.shader_float16 != 0,
            explicit_layout: layout.workgroup_memory_explicit_layout8_bit_access != 0,
            device,
            queue,
            commands,
            host: host.cast(),
            address,
            _entry: entry,
        })
    }

    /// A capability that a module declares and the device lacks, among those that are optional.
    fn lacking(&self, spirv: &[u32]) -> Option<&'static str> {
        let operations = |flags| self.subgroup_operations.contains(flags);
        let mut rest = spirv.get(5..).unwrap_or_default();
        while let [first, capability, ..] = *rest
            && first == 2 << 16 | 17
        {
            let (name, there) = match capability {
                9 => ("Float16", self.float16),
                65 => ("GroupNonUniformShuffle", operations(vk::SubgroupFeatureFlags::SHUFFLE)),
                4428 => ("WorkgroupMemoryExplicitLayoutKHR", self.explicit_layout),
                _ => ("", true),
            };
            if !there {
                return Some(name);
            }
            rest = &rest[2..];
        }
        None
    }

    /// Runs a shader and returns the words of its results.
    fn run(&self, shader: &Shader) -> Result<Vec<Vec<u32>>> {
        let (description, device) = (&shader.description, &self.device);
        let mut places = Vec::new();
        let mut end = 0;
        for buffer in &description.buffers {
            let words = buffer.words();
            places.push((end, words.len()));
            let next = (end + words.len() as u64 * 4).next_multiple_of(ALIGN);
            ensure!(next <= MEMORY, "too much memory");
            // SAFETY: the range is within the mapping, and no dispatch is running.
            unsafe { self.host.add(end as usize).cast::<u32>().copy_from_nonoverlapping(words.as_ptr(), words.len()) };
            end = next;
        }
        let addresses: Vec<u64> = places.iter().map(|(offset, _)| self.address + offset).collect();
        let push: Vec<u8> = description.push_constants(&addresses).iter().flat_map(|word| word.to_le_bytes()).collect();

        let (mut data, mut entries) = (Vec::new(), Vec::new());
        for (&id, &value) in &description.specialize {
            let size = if value > u64::from(u32::MAX) { 8 } else { 4 };
            let offset = u32::try_from(data.len())?;
            entries.push(vk::SpecializationMapEntry { constant_id: id, offset, size });
            data.extend_from_slice(&value.to_le_bytes()[..size]);
        }
        let specialization = vk::SpecializationInfo::default().map_entries(&entries).data(&data);

        let ranges = [vk::PushConstantRange {
            stage_flags: vk::ShaderStageFlags::COMPUTE,
            offset: 0,
            size: u32::try_from(push.len())?,
        }];
        let info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&ranges);
        // SAFETY: as in `new`.
        let layout = unsafe { device.create_pipeline_layout(&info, None) }?;
        let info = vk::ShaderModuleCreateInfo::default().code(&shader.spirv);
        // SAFETY: as in `new`; the module passes `spirv-val`, and the device has its capabilities.
        let module = unsafe { device.create_shader_module(&info, None) }?;
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main")
            .specialization_info(&specialization);
        let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
        // SAFETY: as in `new`.
        let made = unsafe { device.create_compute_pipelines(vk::PipelineCache::null(), &info, None) };
        let [pipeline] = made.map_err(|(_, error)| error)?[..] else { bail!("no pipeline") };

        let [x, y, z] = description.groups;
        let barrier = vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::SHADER_WRITE)
            .dst_access_mask(vk::AccessFlags::HOST_READ);
        // SAFETY: as in `new`; the shader only accesses the buffer, and the queue is waited for.
        unsafe {
            let (point, commands) = (vk::PipelineBindPoint::COMPUTE, self.commands);
            device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default())?;
            device.cmd_bind_pipeline(commands, point, pipeline);
            device.cmd_push_constants(commands, layout, vk::ShaderStageFlags::COMPUTE, 0, &push);
            device.cmd_dispatch(commands, x, y, z);
            let (from, to) = (vk::PipelineStageFlags::COMPUTE_SHADER, vk::PipelineStageFlags::HOST);
            device.cmd_pipeline_barrier(commands, from, to, vk::DependencyFlags::empty(), &[barrier], &[], &[]);
            device.end_command_buffer(commands)?;
            let submit = [vk::SubmitInfo::default().command_buffers(slice::from_ref(&commands))];
            device.queue_submit(self.queue, &submit, vk::Fence::null())?;
            device.queue_wait_idle(self.queue)?;
        }
        let read = |buffer: usize| {
            let &(offset, words) = places.get(buffer).context("no such buffer")?;
            // SAFETY: the range is within the mapping, was written above, and the dispatch has ended.
            Ok(unsafe { slice::from_raw_parts(self.host.add(offset as usize).cast::<u32>(), words) }.to_vec())
        };
        description.results.iter().map(|looked| read(looked.buffer)).collect()
    }

    /// Adds results to the recorded ones, replacing those of the same subgroup size.
    fn record(&self, recorded: &mut Vec<Recorded>, results: Vec<Vec<u32>>) {
        recorded.iter_mut().for_each(|entry| drop(entry.devices.remove(&self.subgroup_size)));
        let device = (self.subgroup_size, self.name.clone());
        match recorded.iter_mut().find(|entry| entry.results == results) {
            Some(entry) => drop(entry.devices.insert(device.0, device.1)),
            None => recorded.push(Recorded { devices: [device].into(), results }),
        }
        recorded.retain(|entry| !entry.devices.is_empty());
    }

    /// The difference from the recorded results, if any.
    fn compare(&self, shader: &Shader, results: &[Vec<u32>]) -> Option<String> {
        let expected = shader.recorded.iter().find(|entry| entry.devices.contains_key(&self.subgroup_size));
        let Some(expected) = expected else { return Some("nothing recorded".to_owned()) };
        shader.description.difference(results, &expected.results)
    }
}
