/* ptx2spv in C: translates PTX to SPIR-V, and launches kernels on any Vulkan device. Made from runtime/c by cbindgen. */

#ifndef PTX2SPV_H
#define PTX2SPV_H

#include <stddef.h>
#include <stdint.h>

// What a function answers.
typedef enum {
  // All went well.
  PTX2SPV_STATUS_OK = 0,
  // An argument is wrong: null, not UTF-8, an unknown name, an address that isn't allocated, a launch that can't be.
  PTX2SPV_STATUS_INVALID_ARGUMENT = 1,
  // The PTX is wrong or can't be translated; the message names the line.
  PTX2SPV_STATUS_TRANSLATION = 2,
  // The device, or the driver, lacks something, or there is no such device.
  PTX2SPV_STATUS_UNSUPPORTED = 3,
  // The device or the host has no memory left.
  PTX2SPV_STATUS_OUT_OF_MEMORY = 4,
  // A kernel ended by itself or was stopped: a trap, a failed assertion, or an illegal access on the reference device.
  PTX2SPV_STATUS_KERNEL = 5,
  // The device didn't answer in time.
  PTX2SPV_STATUS_TIMEOUT = 6,
  // The device is lost: everything on it fails from now on.
  PTX2SPV_STATUS_DEVICE_LOST = 7,
  // Something else, which the message says.
  PTX2SPV_STATUS_OTHER = 8,
} ptx2spv_status;

// An open device.
typedef struct ptx2spv_device ptx2spv_device;

// A kernel of a module.
typedef struct ptx2spv_kernel ptx2spv_kernel;

// PTX that was loaded.
typedef struct ptx2spv_module ptx2spv_module;

// A SPIR-V module with the description of its kernels.
typedef struct ptx2spv_translation ptx2spv_translation;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// What went wrong in the calling thread's last call that failed; an empty text if none did. It stays valid until the thread's next
// call.
const char *ptx2spv_error(void);

// The version of the library, such as "0.1.0".
const char *ptx2spv_version(void);

// Translates a PTX text.
//
// `name` is what messages call it, `target` a preset ("nvidia", "vulkan1.1-minimum", …: `ptx2spv devices --presets` lists them) or the
// JSON of a device (`ptx2spv devices --device X --json`), `math` is "exact" (also if it is null), "fast", or topics as `--math`
// takes them.
//
// # Safety
// The texts end with a zero, and `translation` points to room for a pointer.
ptx2spv_status ptx2spv_translate(const char *name,
                                 const char *ptx,
                                 const char *target,
                                 const char *math,
                                 ptx2spv_translation **translation);

// The words of the module and how many there are. They stay valid as long as the translation; null for a null pointer.
//
// # Safety
// `translation` is null or live, and `words` points to room for a number or is null.
const uint32_t *ptx2spv_spirv(const ptx2spv_translation *translation,
                              size_t *words);

// The description of kernels, parameters and variables as JSON, as `ptx2spv translate` writes it (docs/interface.md). It stays
// valid as long as the translation; null for a null pointer.
//
// # Safety
// `translation` is null or live.
const char *ptx2spv_interface(const ptx2spv_translation *translation);

// Frees a translation.
//
// # Safety
// `translation` is null or live, and isn't used afterwards.
void ptx2spv_translation_free(ptx2spv_translation *translation);

// Opens a device: by number, by kind ("cpu", "integrated", "discrete", "reference") or by a part of the name, as `--device` takes
// it; null is the environment's `PTX2SPV_DEVICE`, or else the best one.
//
// # Safety
// `selector` is null or ends with a zero, and `device` points to room for a pointer.
ptx2spv_status ptx2spv_open(const char *selector,
                            ptx2spv_device **device);

// The device's name, which stays valid as long as the device; null for a null pointer.
//
// # Safety
// `device` is null or live.
const char *ptx2spv_device_name(const ptx2spv_device *device);

// Waits until everything launched has finished.
//
// # Safety
// `device` is null or live.
ptx2spv_status ptx2spv_synchronize(const ptx2spv_device *device);

// Allocates device memory, and gives its address, which kernels take for a pointer. It may be freed only by this device's
// ptx2spv_free.
//
// # Safety
// `device` is null or live, and `address` points to room for a number.
ptx2spv_status ptx2spv_alloc(const ptx2spv_device *device,
                             uint64_t bytes,
                             uint64_t *address);

// Frees device memory by its address, once all launches that were made before have finished.
//
// # Safety
// `device` is null or live, and no launch is still to come that reaches the memory.
ptx2spv_status ptx2spv_free(const ptx2spv_device *device, uint64_t address);

// Writes bytes to device memory, in the order of the calls.
//
// # Safety
// `device` is null or live, and `data` points to so many bytes.
ptx2spv_status ptx2spv_write(const ptx2spv_device *device,
                             uint64_t address,
                             const void *data,
                             size_t bytes);

// Reads bytes of device memory, once all that was launched before has finished.
//
// # Safety
// `device` is null or live, and `data` points to room for so many bytes.
ptx2spv_status ptx2spv_read(const ptx2spv_device *device,
                            uint64_t address,
                            void *data,
                            size_t bytes);

// Sets bytes of device memory.
//
// # Safety
// `device` is null or live.
ptx2spv_status ptx2spv_set(const ptx2spv_device *device,
                           uint64_t address,
                           uint8_t value,
                           uint64_t bytes);

// Closes a device. It ends when its last module and kernel is freed too.
//
// # Safety
// `device` is null or live, and isn't used afterwards.
void ptx2spv_close(ptx2spv_device *device);

// Loads a PTX text on a device; `name` is what messages call it. Kernels are translated when they are asked for.
//
// # Safety
// `device` is null or live, the texts end with a zero, and `module` points to room for a pointer.
ptx2spv_status ptx2spv_load(const ptx2spv_device *device,
                            const char *name,
                            const char *ptx,
                            ptx2spv_module **module);

// Address and size of a module's variable; `bytes` may be null.
//
// # Safety
// `module` is null or live, `name` ends with a zero, `address` points to room for a number, and so does `bytes`, or is null.
ptx2spv_status ptx2spv_find_variable(const ptx2spv_module *module,
                                     const char *name,
                                     uint64_t *address,
                                     uint64_t *bytes);

// A kernel by its name in PTX.
//
// # Safety
// `module` is null or live, `name` ends with a zero, and `kernel` points to room for a pointer.
ptx2spv_status ptx2spv_find_kernel(const ptx2spv_module *module,
                                   const char *name,
                                   ptx2spv_kernel **kernel);

// Launches a kernel, asynchronously and in the order of the calls. `grid` and `block` are three numbers each, x first. As with CUDA's
// cuLaunchKernel, `arguments` has a pointer to the value of each parameter, whose size the kernel says; `count` is how many.
//
// # Safety
// `kernel` is null or live. The arguments point to values as large as the parameters, and are what the kernel was written for: on a
// Vulkan device nothing checks the addresses that it computes.
ptx2spv_status ptx2spv_launch(const ptx2spv_kernel *kernel,
                              const uint32_t *grid,
                              const uint32_t *block,
                              uint32_t dynamic_shared_bytes,
                              const void *const *arguments,
                              size_t count);

// Frees a kernel.
//
// # Safety
// `kernel` is null or live, and isn't used afterwards.
void ptx2spv_kernel_free(ptx2spv_kernel *kernel);

// Frees a module. Its kernels stay usable.
//
// # Safety
// `module` is null or live, and isn't used afterwards.
void ptx2spv_unload(ptx2spv_module *module);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* PTX2SPV_H */
