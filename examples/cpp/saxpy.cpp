// Launches a translated kernel with Vulkan alone: loads saxpy.spv, binds it as saxpy.h says, dispatches, checks the result.
//
//   ptx2spv translate tests/kernels/saxpy.ptx --target vulkan1.1-minimum --emit spirv,header -o out
//   g++ -std=c++17 -I out examples/cpp/saxpy.cpp -lvulkan -o saxpy && ./saxpy out/saxpy.spv
//
// The target's modules run on every device and use no optional feature. `ptx2spv translate` without a target makes a faster
// module for this machine's device. docs/interface.md explains each step. The example leaves out what saxpy doesn't need:
// variables, warp operations, shared memory.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include <vulkan/vulkan.h>

#include "saxpy.h" // written by `ptx2spv translate --emit header`

namespace {

[[noreturn]] void fail(const std::string &what) {
    std::fprintf(stderr, "error: %s\n", what.c_str());
    std::exit(1);
}

void check(VkResult result, const char *call) {
    if (result != VK_SUCCESS) {
        fail(std::string(call) + " returned " + std::to_string(result));
    }
}

std::vector<uint32_t> read_words(const char *path) {
    std::ifstream file(path, std::ios::binary);
    std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (bytes.size() < 20 || bytes.size() % 4 != 0) {
        fail(std::string(path) + " is not a SPIR-V module");
    }
    std::vector<uint32_t> words(bytes.size() / 4);
    std::memcpy(words.data(), bytes.data(), bytes.size());
    return words;
}

// Features of Vulkan 1.2 and older, by the names in a module's description.
struct Features {
    VkPhysicalDeviceFeatures2 core{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, nullptr, {}};
    VkPhysicalDeviceVulkan11Features v11{};
    VkPhysicalDeviceVulkan12Features v12{};

    Features() {
        v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
        v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
        core.pNext = &v11;
        v11.pNext = &v12;
    }
    Features(const Features &) = delete;

    VkBool32 *find(const std::string &name) {
        const struct {
            const char *name;
            VkBool32 *field;
        } known[] = {
            {"shaderInt64", &core.features.shaderInt64},
            {"shaderInt16", &core.features.shaderInt16},
            {"shaderFloat64", &core.features.shaderFloat64},
            {"storageBuffer16BitAccess", &v11.storageBuffer16BitAccess},
            {"storageBuffer8BitAccess", &v12.storageBuffer8BitAccess},
            {"shaderFloat16", &v12.shaderFloat16},
            {"shaderInt8", &v12.shaderInt8},
            {"shaderBufferInt64Atomics", &v12.shaderBufferInt64Atomics},
            {"shaderSharedInt64Atomics", &v12.shaderSharedInt64Atomics},
            {"bufferDeviceAddress", &v12.bufferDeviceAddress},
            {"vulkanMemoryModel", &v12.vulkanMemoryModel},
            {"vulkanMemoryModelDeviceScope", &v12.vulkanMemoryModelDeviceScope},
        };
        for (const auto &feature : known) {
            if (name == feature.name) {
                return feature.field;
            }
        }
        return nullptr; // a newer feature, which has its own structure
    }
};

struct Gpu {
    VkInstance instance = VK_NULL_HANDLE;
    VkPhysicalDevice physical = VK_NULL_HANDLE;
    VkDevice device = VK_NULL_HANDLE;
    VkQueue queue = VK_NULL_HANDLE;
    uint32_t family = 0;
    VkPhysicalDeviceProperties properties{};
};

// The first device with Vulkan 1.2, a compute queue and the module's features, with these features enabled.
Gpu open_device(const ptx2spv_module &module) {
    Gpu gpu;
    VkApplicationInfo application{};
    application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    application.apiVersion = VK_API_VERSION_1_2;
    VkInstanceCreateInfo instance_info{};
    instance_info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    instance_info.pApplicationInfo = &application;
    check(vkCreateInstance(&instance_info, nullptr, &gpu.instance), "vkCreateInstance");
    uint32_t count = 0;
    check(vkEnumeratePhysicalDevices(gpu.instance, &count, nullptr), "vkEnumeratePhysicalDevices");
    std::vector<VkPhysicalDevice> devices(count);
    check(vkEnumeratePhysicalDevices(gpu.instance, &count, devices.data()), "vkEnumeratePhysicalDevices");
    std::string reasons;
    for (VkPhysicalDevice physical : devices) {
        vkGetPhysicalDeviceProperties(physical, &gpu.properties);
        const std::string name = gpu.properties.deviceName;
        if (gpu.properties.apiVersion < VK_API_VERSION_1_2) {
            reasons += "\n  " + name + ": no Vulkan 1.2";
            continue;
        }
        Features offered, enabled;
        vkGetPhysicalDeviceFeatures2(physical, &offered.core);
        std::string missing;
        for (uint32_t i = 0; i < module.feature_count; i++) {
            const VkBool32 *offer = offered.find(module.features[i]);
            if (offer == nullptr || *offer == VK_FALSE) {
                missing += std::string(" ") + module.features[i];
            } else {
                *enabled.find(module.features[i]) = VK_TRUE;
            }
        }
        uint32_t family_count = 0;
        vkGetPhysicalDeviceQueueFamilyProperties(physical, &family_count, nullptr);
        std::vector<VkQueueFamilyProperties> families(family_count);
        vkGetPhysicalDeviceQueueFamilyProperties(physical, &family_count, families.data());
        const auto computes = [](const VkQueueFamilyProperties &f) { return (f.queueFlags & VK_QUEUE_COMPUTE_BIT) != 0; };
        const auto family = std::find_if(families.begin(), families.end(), computes);
        if (!missing.empty() || family == families.end()) {
            reasons += "\n  " + name + ": lacks" + (missing.empty() ? " a compute queue" : missing);
            continue;
        }
        gpu.physical = physical;
        gpu.family = static_cast<uint32_t>(family - families.begin());
        const float priority = 1.0f;
        VkDeviceQueueCreateInfo queue_info{};
        queue_info.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
        queue_info.queueFamilyIndex = gpu.family;
        queue_info.queueCount = 1;
        queue_info.pQueuePriorities = &priority;
        VkDeviceCreateInfo device_info{};
        device_info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
        device_info.pNext = &enabled.core;
        device_info.queueCreateInfoCount = 1;
        device_info.pQueueCreateInfos = &queue_info;
        check(vkCreateDevice(physical, &device_info, nullptr, &gpu.device), "vkCreateDevice");
        vkGetDeviceQueue(gpu.device, gpu.family, 0, &gpu.queue);
        return gpu;
    }
    fail("no device can run the module" + reasons);
}

struct Buffer {
    VkBuffer handle = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    VkDeviceAddress address = 0;
    float *values = nullptr; // mapped memory
};

// A buffer with an address, in host-visible memory. A real program would copy to device-local memory.
Buffer make_buffer(const Gpu &gpu, VkDeviceSize size) {
    Buffer buffer;
    VkBufferCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    info.size = size;
    info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    check(vkCreateBuffer(gpu.device, &info, nullptr, &buffer.handle), "vkCreateBuffer");
    VkMemoryRequirements requirements;
    vkGetBufferMemoryRequirements(gpu.device, buffer.handle, &requirements);
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(gpu.physical, &memory);
    const VkMemoryPropertyFlags wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    uint32_t type = 0;
    while (type < memory.memoryTypeCount && ((requirements.memoryTypeBits >> type & 1) == 0 ||
                                             (memory.memoryTypes[type].propertyFlags & wanted) != wanted)) {
        type++;
    }
    VkMemoryAllocateFlagsInfo flags{};
    flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
    flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
    VkMemoryAllocateInfo allocate{};
    allocate.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    allocate.pNext = &flags;
    allocate.allocationSize = requirements.size;
    allocate.memoryTypeIndex = type;
    check(vkAllocateMemory(gpu.device, &allocate, nullptr, &buffer.memory), "vkAllocateMemory");
    check(vkBindBufferMemory(gpu.device, buffer.handle, buffer.memory, 0), "vkBindBufferMemory");
    void *mapped = nullptr;
    check(vkMapMemory(gpu.device, buffer.memory, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
    buffer.values = static_cast<float *>(mapped);
    VkBufferDeviceAddressInfo address{};
    address.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
    address.buffer = buffer.handle;
    buffer.address = vkGetBufferDeviceAddress(gpu.device, &address);
    return buffer;
}

// Writes an argument to its place in the parameter block.
template <typename T>
void set_argument(std::vector<unsigned char> &block, const ptx2spv_kernel &kernel, uint32_t index, T value) {
    if (index >= kernel.param_count || kernel.params[index].size != sizeof value) {
        fail("argument " + std::to_string(index) + " does not fit");
    }
    std::memcpy(block.data() + kernel.params[index].offset, &value, sizeof value);
}

} // namespace

int main(int argc, char **argv) {
    const ptx2spv_module &module = saxpy;
    const ptx2spv_kernel &kernel = module.kernels[0];
    if (argc != 2) {
        fail("usage: saxpy saxpy.spv");
    }
    if (module.run_count != 0 || module.relocation_count != 0 || kernel.subgroup_size != 0 ||
        kernel.scratch_address != 0) {
        fail("saxpy has neither initial values nor warp operations nor scratch memory");
    }
    if (module.relies_on_count != 0) {
        std::fprintf(stderr, "note: made for devices of one kind; on others results may be wrong. It relies on");
        for (uint32_t i = 0; i < module.relies_on_count; i++) {
            std::fprintf(stderr, " %s", module.relies_on[i]);
        }
        std::fprintf(stderr, "\n");
    }
    const std::vector<uint32_t> words = read_words(argv[1]);
    const Gpu gpu = open_device(module);

    // 1. A pipeline for the entry point, with the block's size and the shared memory as specialization constants.
    const uint32_t threads = 64;
    const uint32_t shared = std::max((kernel.shared_bytes + 15) / 16 * 16, 16u);
    const uint32_t constants[8] = {threads, 1, 1, shared, threads, 1, 1, 0};
    VkSpecializationMapEntry entries[8];
    for (uint32_t id = 0; id < 8; id++) {
        entries[id] = {id, id * 4, 4};
    }
    const VkSpecializationInfo specialization{8, entries, sizeof constants, constants};
    VkShaderModuleCreateInfo shader_info{};
    shader_info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    shader_info.codeSize = words.size() * 4;
    shader_info.pCode = words.data();
    VkShaderModule shader;
    check(vkCreateShaderModule(gpu.device, &shader_info, nullptr, &shader), "vkCreateShaderModule");
    const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, kernel.push_constant_size};
    VkPipelineLayoutCreateInfo layout_info{};
    layout_info.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
    layout_info.pushConstantRangeCount = 1;
    layout_info.pPushConstantRanges = &range;
    VkPipelineLayout layout;
    check(vkCreatePipelineLayout(gpu.device, &layout_info, nullptr, &layout), "vkCreatePipelineLayout");
    VkComputePipelineCreateInfo pipeline_info{};
    pipeline_info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
    pipeline_info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    pipeline_info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    pipeline_info.stage.module = shader;
    pipeline_info.stage.pName = kernel.name;
    pipeline_info.stage.pSpecializationInfo = &specialization;
    pipeline_info.layout = layout;
    VkPipeline pipeline;
    check(vkCreateComputePipelines(gpu.device, VK_NULL_HANDLE, 1, &pipeline_info, nullptr, &pipeline),
          "vkCreateComputePipelines");

    // 2. Memory: the arrays, the module's variables if there are any (here only the fault report), the parameters.
    const uint32_t n = 1000;
    const float a = 0.1f;
    const Buffer x = make_buffer(gpu, n * sizeof(float)), y = make_buffer(gpu, n * sizeof(float));
    for (uint32_t i = 0; i < n; i++) {
        x.values[i] = static_cast<float>(i);
        y.values[i] = 0.3f;
    }
    Buffer variables;
    if (module.variables_size != 0) {
        variables = make_buffer(gpu, module.variables_size);
        std::memset(variables.values, 0, module.variables_size);
    }
    std::vector<unsigned char> params(kernel.params_size);
    set_argument(params, kernel, 0, a);
    set_argument(params, kernel, 1, x.address);
    set_argument(params, kernel, 2, y.address);
    set_argument(params, kernel, 3, n);

    // 3. The push constants: addresses, the grid's size, the dispatch's base, and the parameters.
    const uint32_t blocks = (n + threads - 1) / threads;
    const uint32_t grid[3] = {blocks, 1, 1};
    std::vector<unsigned char> push(40 + params.size() + 4);
    std::memcpy(push.data(), &variables.address, 8);
    std::memcpy(push.data() + 16, grid, sizeof grid);
    if (kernel.params_in_buffer != 0) {
        const Buffer block = make_buffer(gpu, params.size());
        std::memcpy(block.values, params.data(), params.size());
        std::memcpy(push.data() + 8, &block.address, 8);
    } else {
        std::memcpy(push.data() + 40, params.data(), params.size());
    }

    // 4. Dispatch. A grid beyond maxComputeWorkGroupCount takes several dispatches, each with its base at byte 28.
    VkCommandPoolCreateInfo pool_info{};
    pool_info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    pool_info.queueFamilyIndex = gpu.family;
    VkCommandPool pool;
    check(vkCreateCommandPool(gpu.device, &pool_info, nullptr, &pool), "vkCreateCommandPool");
    VkCommandBufferAllocateInfo commands_info{};
    commands_info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    commands_info.commandPool = pool;
    commands_info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    commands_info.commandBufferCount = 1;
    VkCommandBuffer commands;
    check(vkAllocateCommandBuffers(gpu.device, &commands_info, &commands), "vkAllocateCommandBuffers");
    VkCommandBufferBeginInfo begin{};
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    check(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdPushConstants(commands, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, kernel.push_constant_size, push.data());
    vkCmdDispatch(commands, blocks, 1, 1);
    VkMemoryBarrier barrier{};
    barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
    barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0,
                         nullptr, 0, nullptr);
    check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
    VkSubmitInfo submit{};
    submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &commands;
    check(vkQueueSubmit(gpu.queue, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
    check(vkQueueWaitIdle(gpu.queue), "vkQueueWaitIdle");

    // 5. Whether the kernel reported a fault, and the result.
    if (module.status_offset != PTX2SPV_NONE && variables.values != nullptr) {
        uint32_t fault;
        std::memcpy(&fault, reinterpret_cast<const char *>(variables.values) + module.status_offset, 4);
        if (fault != 0) {
            fail("the kernel reported fault " + std::to_string(fault));
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        const float expected = std::fma(a, static_cast<float>(i), 0.3f); // as nvcc compiles a * x + y
        if (y.values[i] != expected) {
            fail("element " + std::to_string(i) + " is " + std::to_string(y.values[i]));
        }
    }
    std::printf("%u right results on %s\n", n, gpu.properties.deviceName);
    return 0; // the objects are freed when the process ends
}
