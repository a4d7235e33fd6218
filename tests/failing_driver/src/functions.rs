//! The functions that can fail, and the functions that destroy their objects.

use std::ffi::c_void;
use std::mem::transmute;
use std::sync::atomic::Ordering::Relaxed;

use crate::Function;

/// Wraps functions, whose arguments are integers or pointers: 64-bit processors pass all of these in the same way. A function before the
/// arrow makes as many objects as the expression says. The last expression is what a failure does.
macro_rules! functions {
    ($($name:ident($($argument:ident),*) => $objects:expr $(, $failure:expr)?;)*) => {
        pub static FUNCTIONS: [Function; [$(Index::$name),*].len()] = [$({
            unsafe extern "system" fn call($($argument: usize),*) -> i32 {
                let function = &FUNCTIONS[Index::$name as usize];
                if let Some(result) = function.planned() {
                    $($failure;)?
                    return result;
                }
                // SAFETY: the address was stored when the wrapper was given away, and is that of a function with these arguments.
                let real: unsafe extern "system" fn($($argument: usize),*) -> i32 = unsafe { transmute(function.real.load(Relaxed)) };
                // SAFETY: passes on the caller's contract.
                let result = unsafe { real($($argument),*) };
                if result == 0 {
                    function.live.fetch_add($objects as i32, Relaxed);
                }
                result
            }
            Function::new(stringify!($name), call as *const c_void)
        }),*];

        // The names are those of Vulkan.
        #[allow(non_camel_case_types, clippy::enum_variant_names)]
        #[derive(Clone, Copy)]
        enum Index { $($name),* }
    };
}

/// Pipelines that can't be made are null.
fn no_pipelines(count: usize, pipelines: usize) {
    // SAFETY: the caller has given the address of as many handles, which have 64 bits.
    unsafe { std::ptr::write_bytes(pipelines as *mut u64, 0, count as u32 as usize) };
}

functions! {
    vkCreateInstance(info, allocator, instance) => 1;
    vkEnumeratePhysicalDevices(instance, count, devices) => 0;
    vkCreateDevice(physical, info, allocator, device) => 1;
    vkAllocateMemory(device, info, allocator, memory) => 1;
    vkMapMemory(device, memory, offset, size, flags, data) => 0;
    vkCreateBuffer(device, info, allocator, buffer) => 1;
    vkBindBufferMemory(device, buffer, memory, offset) => 0;
    vkCreateImage(device, info, allocator, image) => 1;
    vkBindImageMemory(device, image, memory, offset) => 0;
    vkCreateImageView(device, info, allocator, view) => 1;
    vkCreateSampler(device, info, allocator, sampler) => 1;
    vkCreateDescriptorSetLayout(device, info, allocator, layout) => 1;
    vkCreateDescriptorPool(device, info, allocator, pool) => 1;
    vkAllocateDescriptorSets(device, info, sets) => 0;
    vkCreateShaderModule(device, info, allocator, module) => 1;
    vkCreatePipelineCache(device, info, allocator, cache) => 1;
    vkCreatePipelineLayout(device, info, allocator, layout) => 1;
    vkCreateComputePipelines(device, cache, count, infos, allocator, pipelines) => count, no_pipelines(count, pipelines);
    vkCreateCommandPool(device, info, allocator, pool) => 1;
    vkAllocateCommandBuffers(device, info, buffers) => 0;
    vkResetCommandPool(device, pool, flags) => 0;
    vkBeginCommandBuffer(commands, info) => 0;
    vkEndCommandBuffer(commands) => 0;
    vkCreateSemaphore(device, info, allocator, semaphore) => 1;
    vkCreateFence(device, info, allocator, fence) => 1;
    vkResetFences(device, count, fences) => 0;
    vkCreateQueryPool(device, info, allocator, pool) => 1;
    vkGetQueryPoolResults(device, pool, first, count, size, data, stride, flags) => 0;
    vkQueueSubmit(queue, count, infos, fence) => 0;
    vkWaitForFences(device, count, fences, all, timeout) => 0;
    vkGetFenceStatus(device, fence) => 0;
    vkWaitSemaphores(device, info, timeout) => 0;
    vkGetSemaphoreCounterValue(device, semaphore, value) => 0;
}

/// Wraps functions that destroy the object before the last argument, the allocator.
macro_rules! destroyers {
    ($($name:ident($($parent:ident)?) of $maker:ident;)*) => {
        /// The functions that destroy objects.
        pub static DESTROYERS: [Function; [$(Destroyer::$name),*].len()] = [$({
            unsafe extern "system" fn call($($parent: usize,)? object: usize, allocator: usize) {
                if object != 0 {
                    FUNCTIONS[Index::$maker as usize].live.fetch_sub(1, Relaxed);
                }
                let real = DESTROYERS[Destroyer::$name as usize].real.load(Relaxed);
                // SAFETY: the address was stored when the wrapper was given away, and is that of a function with these arguments.
                let real: unsafe extern "system" fn($(destroyers!(@ty $parent),)? usize, usize) = unsafe { transmute(real) };
                // SAFETY: passes on the caller's contract.
                unsafe { real($($parent,)? object, allocator) }
            }
            Function::new(stringify!($name), call as *const c_void)
        }),*];

        // The names are those of Vulkan.
        #[allow(non_camel_case_types, clippy::enum_variant_names)]
        #[derive(Clone, Copy)]
        enum Destroyer { $($name),* }
    };
    (@ty $parent:ident) => { usize };
}

destroyers! {
    vkDestroyInstance() of vkCreateInstance;
    vkDestroyDevice() of vkCreateDevice;
    vkFreeMemory(device) of vkAllocateMemory;
    vkDestroyBuffer(device) of vkCreateBuffer;
    vkDestroyImage(device) of vkCreateImage;
    vkDestroyImageView(device) of vkCreateImageView;
    vkDestroySampler(device) of vkCreateSampler;
    vkDestroyDescriptorSetLayout(device) of vkCreateDescriptorSetLayout;
    vkDestroyDescriptorPool(device) of vkCreateDescriptorPool;
    vkDestroyShaderModule(device) of vkCreateShaderModule;
    vkDestroyPipelineCache(device) of vkCreatePipelineCache;
    vkDestroyPipelineLayout(device) of vkCreatePipelineLayout;
    vkDestroyPipeline(device) of vkCreateComputePipelines;
    vkDestroyCommandPool(device) of vkCreateCommandPool;
    vkDestroySemaphore(device) of vkCreateSemaphore;
    vkDestroyFence(device) of vkCreateFence;
    vkDestroyQueryPool(device) of vkCreateQueryPool;
}
