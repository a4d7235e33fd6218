/* ptx2spv in C: translates PTX to SPIR-V, and launches kernels on any Vulkan device. Made from runtime/c by cbindgen. */

#ifndef PTX2SPV_H
#define PTX2SPV_H

#include <stddef.h>
#include <stdint.h>

// The result of a function.
typedef enum {
  // Success.
  PTX2SPV_STATUS_OK = 0,
  // An argument or a setting is wrong: null, not UTF-8, an unknown name, an address that isn't allocated, an impossible launch.
  PTX2SPV_STATUS_INVALID_ARGUMENT = 1,
  // A module can't be read, is wrong or can't be translated. The message names the line of PTX.
  PTX2SPV_STATUS_TRANSLATION = 2,
  // The device or the driver lacks a feature, or there is no such device.
  PTX2SPV_STATUS_UNSUPPORTED = 3,
  // The device or the host is out of memory.
  PTX2SPV_STATUS_OUT_OF_MEMORY = 4,
  // A kernel ended itself or was stopped: a trap, a failed assertion, or an illegal access that the kernel's own checks or the
  // reference device found.
  PTX2SPV_STATUS_KERNEL = 5,
  // The device didn't answer in time.
  PTX2SPV_STATUS_TIMEOUT = 6,
  // The device is lost: every later call on it fails.
  PTX2SPV_STATUS_DEVICE_LOST = 7,
  // Any other error; see the message.
  PTX2SPV_STATUS_OTHER = 8,
} ptx2spv_status;

// An open device.
typedef struct ptx2spv_device ptx2spv_device;

// A kernel of a module.
typedef struct ptx2spv_kernel ptx2spv_kernel;

// Loaded PTX.
typedef struct ptx2spv_module ptx2spv_module;

// A SPIR-V module with the description of its kernels.
typedef struct ptx2spv_translation ptx2spv_translation;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The message of the calling thread's last failed call, or an empty text if none failed. It stays valid until the
// thread's next call.
const char *ptx2spv_error(void);

// The version of the library, such as "0.1.0".
const char *ptx2spv_version(void);

// Translates a PTX text.
//
// Messages call the text `name`. `target` is a preset ("nvidia", "vulkan1.1-minimum", …: `ptx2spv devices --presets`
// lists them) or the JSON of a device (`ptx2spv devices --device X --json`). `math` is "exact", "fast" or topics as
// for `--math`, such as "matrix=ampere"; null means "exact".
//
// # Safety
// The texts end with a zero, and `translation` points to room for a pointer.
ptx2spv_status ptx2spv_translate(const char *name,
                                 const char *ptx,
                                 const char *target,
                                 const char *math,
                                 ptx2spv_translation **translation);

// The words of the module, and their number in `words`. They stay valid as long as the translation. Null for a null
// pointer.
//
// # Safety
// `translation` is null or live, and `words` points to room for a number or is null.
const uint32_t *ptx2spv_spirv(const ptx2spv_translation *translation,
                              size_t *words);

// The description of kernels, parameters and variables as JSON, as `ptx2spv translate` writes it (docs/interface.md).
// It stays valid as long as the translation. Null for a null pointer.
//
// # Safety
// `translation` is null or live.
const char *ptx2spv_interface(const ptx2spv_translation *translation);

// Frees a translation.
//
// # Safety
// `translation` is null or live, and isn't used afterwards.
void ptx2spv_translation_free(ptx2spv_translation *translation);

// Opens a device. The selector is a number, a kind ("cpu", "integrated", "discrete", "vulkan" for any of these,
// "reference") or a part of the name, as for `--device`. Null stands for the environment variable `PTX2SPV_DEVICE`, or
// the best device if that isn't set.
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

// Why the reference device, an interpreter, is used instead of a Vulkan device. Null if a Vulkan device is used, or if
// the reference device was asked for. The text stays valid as long as the device. ptx2spv_open has written a warning to
// the standard error, once per process. With the selector "vulkan", ptx2spv_open fails instead.
//
// # Safety
// `device` is null or live.
const char *ptx2spv_fallback(const ptx2spv_device *device);

// Waits until all work launched so far has finished.
//
// # Safety
// `device` is null or live.
ptx2spv_status ptx2spv_synchronize(const ptx2spv_device *device);

// Allocates device memory and stores its address, which is what kernels take for a pointer. Only this device's
// ptx2spv_free may free the memory.
//
// # Safety
// `device` is null or live, and `address` points to room for a number.
ptx2spv_status ptx2spv_alloc(const ptx2spv_device *device,
                             uint64_t bytes,
                             uint64_t *address);

// Frees the device memory at an address, after all earlier launches have finished.
//
// # Safety
// `device` is null or live, and no later launch accesses the memory.
ptx2spv_status ptx2spv_free(const ptx2spv_device *device, uint64_t address);

// Writes bytes to device memory, in the order of the calls.
//
// # Safety
// `device` is null or live, and `data` points to `bytes` bytes.
ptx2spv_status ptx2spv_write(const ptx2spv_device *device,
                             uint64_t address,
                             const void *data,
                             size_t bytes);

// Reads bytes of device memory, after all earlier launches have finished.
//
// # Safety
// `device` is null or live, and `data` points to room for `bytes` bytes.
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

// Closes a device. The device itself lives until its last module and kernel are freed.
//
// # Safety
// `device` is null or live, and isn't used afterwards.
void ptx2spv_close(ptx2spv_device *device);

// Loads a PTX text on a device. Messages call it `name`. A kernel is translated when it is first asked for.
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

// Launches a kernel, asynchronously and in the order of the calls. `grid` and `block` are three numbers each, x first.
// As with CUDA's cuLaunchKernel, `arguments` holds one pointer per parameter, to a value of the parameter's size.
// `count` is their number.
//
// # Safety
// `kernel` is null or live. The arguments point to values of the parameters' sizes, and the kernel is valid for them:
// a Vulkan device doesn't check the addresses that a kernel computes.
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
