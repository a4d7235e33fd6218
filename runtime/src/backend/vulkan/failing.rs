//! Vulkan functions that fail when a test wants them to, to simulate exhausted memory and lost devices. Failing calls
//! don't reach the driver.

use std::cell::{Cell, RefCell};

use ash::vk;

/// A planned failure.
#[derive(Clone, Copy)]
struct Plan {
    /// Number of calls that succeed first.
    before: u32,
    result: vk::Result,
    calls: Calls,
}

/// The calls that can fail.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Calls {
    /// The next call of any kind.
    Any,
    /// The next call that submits work to the device or waits for it, and all such calls after it.
    Work,
    /// The next call that creates a pipeline.
    Pipelines,
    /// Submissions, and all of them vanish. Only waits for fences tell that the device is lost, as NVIDIA's driver does it.
    Submissions,
    /// Waits for fences. No plan is for them alone.
    Fences,
}

thread_local! {
    /// Whether devices opened by the thread can fail.
    static WRAPS: Cell<bool> = const { Cell::new(false) };
    static PLAN: Cell<Option<Plan>> = const { Cell::new(None) };
    /// The functions of the last device opened by the thread.
    static ORIGINAL: RefCell<Option<ash::Device>> = const { RefCell::new(None) };
}

/// The device's functions, wrapped to fail as planned if the thread wants that. Only this thread uses such a device,
/// and its instance has no other device.
pub(super) fn wrap(device: ash::Device) -> ash::Device {
    if !WRAPS.get() {
        return device;
    }
    ORIGINAL.replace(Some(device.clone()));
    let (mut first, mut newer) = (device.fp_v1_0().clone(), device.fp_v1_2().clone());
    replace(&mut first, &mut newer);
    ash::Device::from_parts_1_3(device.handle(), first, device.fp_v1_1().clone(), newer, device.fp_v1_3().clone())
}

/// The result that a call returns instead of reaching the driver.
fn planned(kind: Calls) -> Option<vk::Result> {
    let plan = PLAN.get()?;
    let is_planned = match plan.calls {
        Calls::Any => true,
        Calls::Work => matches!(kind, Calls::Work | Calls::Submissions | Calls::Fences),
        Calls::Submissions if kind == Calls::Submissions => return Some(vk::Result::SUCCESS),
        Calls::Submissions => kind == Calls::Fences,
        Calls::Pipelines | Calls::Fences => plan.calls == kind,
    };
    if !is_planned {
        return None;
    }
    if plan.before > 0 {
        PLAN.set(Some(Plan { before: plan.before - 1, ..plan }));
        return None;
    }
    if !matches!(plan.calls, Calls::Work | Calls::Submissions) {
        PLAN.set(None);
    }
    Some(plan.result)
}

macro_rules! failing {
    ($($table:ident.$name:ident($($arg:ident: $ty:ty),*) $kind:ident;)*) => {
        fn replace(first: &mut ash::DeviceFnV1_0, newer: &mut ash::DeviceFnV1_2) {
            $(failing!(@$table first newer).$name = {
                unsafe extern "system" fn $name($($arg: $ty),*) -> vk::Result {
                    let Some(original) = ORIGINAL.with_borrow(Clone::clone) else { return vk::Result::ERROR_UNKNOWN };
                    match planned(Calls::$kind) {
                        Some(result) => result,
                        // SAFETY: passes on the caller's contract.
                        None => unsafe { (failing!(@original $table original).$name)($($arg),*) },
                    }
                }
                $name
            };)*
        }
    };
    (@first $first:ident $newer:ident) => { $first };
    (@newer $first:ident $newer:ident) => { $newer };
    (@original first $device:ident) => { $device.fp_v1_0() };
    (@original newer $device:ident) => { $device.fp_v1_2() };
}

failing! {
    first.create_buffer(d: vk::Device, i: *const vk::BufferCreateInfo<'_>, c: *const vk::AllocationCallbacks<'_>, o: *mut vk::Buffer) Any;
    first.allocate_memory(d: vk::Device, i: *const vk::MemoryAllocateInfo<'_>, c: *const vk::AllocationCallbacks<'_>, o: *mut vk::DeviceMemory) Any;
    first.bind_buffer_memory(d: vk::Device, b: vk::Buffer, m: vk::DeviceMemory, o: vk::DeviceSize) Any;
    first.create_command_pool(d: vk::Device, i: *const vk::CommandPoolCreateInfo<'_>, c: *const vk::AllocationCallbacks<'_>, o: *mut vk::CommandPool) Any;
    first.allocate_command_buffers(d: vk::Device, i: *const vk::CommandBufferAllocateInfo<'_>, o: *mut vk::CommandBuffer) Any;
    first.reset_command_pool(d: vk::Device, p: vk::CommandPool, f: vk::CommandPoolResetFlags) Any;
    first.begin_command_buffer(b: vk::CommandBuffer, i: *const vk::CommandBufferBeginInfo<'_>) Any;
    first.end_command_buffer(b: vk::CommandBuffer) Any;
    first.create_semaphore(d: vk::Device, i: *const vk::SemaphoreCreateInfo<'_>, c: *const vk::AllocationCallbacks<'_>, o: *mut vk::Semaphore) Any;
    first.create_pipeline_cache(d: vk::Device, i: *const vk::PipelineCacheCreateInfo<'_>, c: *const vk::AllocationCallbacks<'_>, o: *mut vk::PipelineCache) Any;
    first.create_pipeline_layout(d: vk::Device, i: *const vk::PipelineLayoutCreateInfo<'_>, c: *const vk::AllocationCallbacks<'_>, o: *mut vk::PipelineLayout) Any;
    first.create_shader_module(d: vk::Device, i: *const vk::ShaderModuleCreateInfo<'_>, c: *const vk::AllocationCallbacks<'_>, o: *mut vk::ShaderModule) Any;
    first.create_query_pool(d: vk::Device, i: *const vk::QueryPoolCreateInfo<'_>, c: *const vk::AllocationCallbacks<'_>, o: *mut vk::QueryPool) Any;
    first.queue_submit(q: vk::Queue, n: u32, i: *const vk::SubmitInfo<'_>, f: vk::Fence) Submissions;
    first.wait_for_fences(d: vk::Device, n: u32, f: *const vk::Fence, a: vk::Bool32, t: u64) Fences;
    newer.wait_semaphores(d: vk::Device, i: *const vk::SemaphoreWaitInfo<'_>, t: u64) Work;
    newer.get_semaphore_counter_value(d: vk::Device, s: vk::Semaphore, o: *mut u64) Work;
    first.create_compute_pipelines(d: vk::Device, h: vk::PipelineCache, n: u32, i: *const vk::ComputePipelineCreateInfo<'_>, c: *const vk::AllocationCallbacks<'_>, o: *mut vk::Pipeline) Pipelines;
}

#[cfg(test)]
mod tests {
    use std::any::Any;
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use ptx2spv_translator::{Math, Source};

    use super::*;
    use crate::backend::vulkan::{self, Instance, InstanceOptions, PhysicalDevice};
    use crate::{Arg, Device, DeviceKind, Error, Kernel, LaunchConfig, LoadOptions, Stream};

    const PTX: &str = include_str!("ptx/failing.ptx");

    /// The device to open: a CPU device, since others may have other limits.
    fn physical(instance: &Instance) -> PhysicalDevice {
        let list = instance.physical_devices().unwrap();
        list.into_iter().find(|device| device.info.kind == DeviceKind::Cpu).unwrap()
    }

    fn open(instance: &Instance, physical: &PhysicalDevice) -> Result<Device, Error> {
        let device = vulkan::Device::create(instance, physical)?;
        Ok(Device::new(Arc::new(device), physical.info.clone(), None))
    }

    /// Uses most of the API. The result is an error or the right numbers.
    fn work(device: &Device) -> Result<(), Error> {
        let module = device.load_with(&Source::new("step.ptx", PTX), LoadOptions::uncached(Math::default()))?;
        let kernel = module.kernel("step")?;
        let stream = device.stream();
        let large = stream.allocate(100_000)?;
        let worked = work_in(&stream, &kernel, large);
        // SAFETY: no later command uses the memory.
        unsafe { stream.free(large) }?;
        worked?;
        device.synchronize()
    }

    fn work_in(stream: &Stream, kernel: &Kernel, large: u64) -> Result<(), Error> {
        let device = stream.device();
        let other = device.non_blocking_stream();
        let numbers = device.upload(&[5_u32; 64])?;
        let pinned = device.alloc_pinned(256)?;
        stream.write(large, &[7; 100_000])?;
        let (start, end) = (device.timing_event()?, device.timing_event()?);
        start.record(stream)?;
        // SAFETY: the kernel has 64 threads for 64 numbers.
        unsafe {
            kernel.launch_on(stream, &LaunchConfig::new([1; 3], [64, 1, 1]), &[Arg::Address(numbers.address())])
        }?;
        end.record(stream)?;
        other.wait_event(&end)?;
        other.copy(numbers.address(), pinned.address(), 256)?;
        other.synchronize()?;
        let expected: Vec<u32> = (0..64).map(|i| 15 + i).collect();
        // SAFETY: the copy has finished.
        assert_eq!(bytemuck::pod_collect_to_vec::<u8, u32>(unsafe { pinned.bytes() }), expected);
        let mut bytes = vec![0; 100_000];
        stream.read(large, &mut bytes)?;
        assert!(bytes.iter().all(|byte| *byte == 7));
        assert_eq!(numbers.download::<u32>()?, expected);
        end.elapsed_since(&start).map(|_| ())
    }

    /// A single test, since devices under validation are opened one at a time.
    #[test]
    fn what_fails_is_told_and_leaves_nothing() {
        WRAPS.set(true);
        for (staging, queues) in [(false, 1), (true, 3)] {
            let options = InstanceOptions::default().staging(staging).queues(Some(queues));
            let instance = Instance::new(&options).unwrap();
            let physical = physical(&instance);
            let calls = memory_runs_out_anywhere(&instance, &physical);
            assert!(calls > 30, "{calls} calls that can fail");
            the_device_is_lost_anywhere(&instance, &physical);
            a_loss_is_found_while_waiting(&instance, &physical);
            pipelines_are_refused(&instance, &physical);
            assert_eq!(instance.validation_messages(), [""; 0]);
        }
        WRAPS.set(false);
    }

    /// Lets each call fail in turn, and returns the number of calls.
    fn memory_runs_out_anywhere(instance: &Instance, physical: &PhysicalDevice) -> u32 {
        let kinds = [vk::Result::ERROR_OUT_OF_DEVICE_MEMORY, vk::Result::ERROR_OUT_OF_HOST_MEMORY];
        for before in 0.. {
            let result = kinds[before as usize % 2];
            PLAN.set(Some(Plan { before, result, calls: Calls::Any }));
            let opened = open(instance, physical);
            let Ok(device) = opened else {
                assert!(
                    PLAN.get().is_none() && matches!(opened, Err(Error::OutOfMemory(_))),
                    "call {before}: {opened:?}"
                );
                continue;
            };
            let worked = work(&device);
            let failed = PLAN.replace(None).is_none();
            assert!(matches!(worked, Ok(()) | Err(Error::OutOfMemory(_))), "call {before}: {worked:?}");
            // Abandoned work leaves no memory behind. The device works as before, unless a command buffer could not be
            // ended.
            let again = work(&device);
            let ended = matches!(&again, Err(Error::OutOfMemory(text)) if text.contains("an earlier vkQueueSubmit"));
            assert!(again.is_ok() || ended, "call {before}: {again:?} after {worked:?}");
            let backend = (device.backend() as &dyn Any).downcast_ref::<vulkan::Device>().unwrap();
            assert_eq!(backend.blocks.bytes(), 0, "call {before}");
            if !failed {
                return before;
            }
        }
        0
    }

    /// Lets the device be lost at each submission and wait in turn.
    fn the_device_is_lost_anywhere(instance: &Instance, physical: &PhysicalDevice) {
        for before in 0.. {
            let device = open(instance, physical).unwrap();
            PLAN.set(Some(Plan { before, result: vk::Result::ERROR_DEVICE_LOST, calls: Calls::Work }));
            let worked = work(&device);
            let lost = |result: Result<(), Error>| matches!(result, Err(Error::DeviceLost { .. }));
            if worked.is_ok() {
                PLAN.set(None);
                return;
            }
            assert!(lost(worked), "call {before}");
            // A lost device stays lost, but other devices work.
            assert!(lost(work(&device)) && lost(device.synchronize()), "call {before}");
            PLAN.set(None);
            drop(device);
        }
    }

    /// Lets the device be lost so that waits for semaphores time out.
    fn a_loss_is_found_while_waiting(instance: &Instance, physical: &PhysicalDevice) {
        for is_polled in [false, true] {
            let device = open(instance, physical).unwrap();
            let memory = device.upload(&[1_u32; 4]).unwrap();
            device.synchronize().unwrap();
            PLAN.set(Some(Plan { before: 0, result: vk::Result::ERROR_DEVICE_LOST, calls: Calls::Submissions }));
            let stream = device.stream();
            stream.set(memory.address(), 1_u8, 16).unwrap();
            let waited = if is_polled { poll(&stream) } else { device.synchronize() };
            assert!(matches!(waited, Err(Error::DeviceLost { .. })), "{is_polled}: {waited:?}");
            drop(memory);
            drop(device);
            PLAN.set(None);
        }
    }

    /// Asks for half a minute whether a stream is idle.
    fn poll(stream: &Stream) -> Result<(), Error> {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(30) && !stream.is_idle()? {
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    /// Lets the driver refuse a kernel's pipeline, with an error of Vulkan's and with one that the specification
    /// doesn't permit.
    fn pipelines_are_refused(instance: &Instance, physical: &PhysicalDevice) {
        for result in [vk::Result::ERROR_UNKNOWN, vk::Result::ERROR_INVALID_SHADER_NV] {
            let device = open(instance, physical).unwrap();
            PLAN.set(Some(Plan { before: 0, result, calls: Calls::Pipelines }));
            let refused = work(&device);
            assert!(PLAN.get().is_none());
            assert!(
                matches!(&refused, Err(Error::Vulkan { call: "vkCreateComputePipelines", .. })),
                "{result}: {refused:?}"
            );
            // Afterwards the same kernel works, and so does everything else.
            work(&device).unwrap();
            // A module that is loaded again takes the pipeline that is there, so the driver is not asked.
            PLAN.set(Some(Plan { before: 0, result, calls: Calls::Pipelines }));
            work(&device).unwrap();
            assert!(PLAN.take().is_some());
        }
    }
}
