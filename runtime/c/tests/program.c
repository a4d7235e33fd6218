/* Parts that the example doesn't show: translation without a device, variables, and all errors. */

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "ptx2spv.h"

static const char *const COUNTER =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .global .align 4 .u32 count = 40;\n"
    ".visible .entry add(.param .u32 n) {\n"
    "  .reg .b32 %n;\n"
    "  ld.param.u32 %n, [n];\n"
    "  red.global.add.u32 [count], %n;\n"
    "  ret;\n}\n"
    ".visible .entry fail() { trap; }\n";

static void fails(ptx2spv_status status, ptx2spv_status expected, const char *message) {
    if (status != expected || !strstr(ptx2spv_error(), message)) {
        printf("%d, not %d: %s\n", (int)status, (int)expected, ptx2spv_error());
        assert(0);
    }
}

static void translate(void) {
    ptx2spv_translation *translation = NULL;
    assert(ptx2spv_translate("counter.ptx", COUNTER, "nvidia", NULL, &translation) == PTX2SPV_STATUS_OK);
    size_t words = 0;
    const uint32_t *spirv = ptx2spv_spirv(translation, &words);
    assert(words > 5 && spirv[0] == 0x07230203);
    assert(strstr(ptx2spv_interface(translation), "\"add\""));
    ptx2spv_translation_free(translation);

    fails(ptx2spv_translate("x.ptx", COUNTER, "no such device", NULL, &translation), PTX2SPV_STATUS_INVALID_ARGUMENT,
          "no such device");
    fails(ptx2spv_translate("x.ptx", COUNTER, "{}", NULL, &translation), PTX2SPV_STATUS_INVALID_ARGUMENT, "target");
    fails(ptx2spv_translate("x.ptx", COUNTER, "nvidia", "quick", &translation), PTX2SPV_STATUS_INVALID_ARGUMENT, "quick");
    fails(ptx2spv_translate("x.ptx", "\xff", "nvidia", NULL, &translation), PTX2SPV_STATUS_INVALID_ARGUMENT, "UTF-8");
    fails(ptx2spv_translate("x.ptx", NULL, "nvidia", NULL, &translation), PTX2SPV_STATUS_INVALID_ARGUMENT, "`ptx`");
    fails(ptx2spv_translate("x.ptx", COUNTER, "nvidia", NULL, NULL), PTX2SPV_STATUS_INVALID_ARGUMENT, "`translation`");
    fails(ptx2spv_translate("wrong.ptx", ".version 7.0\n.target sm_70\n.entry k() { ad.u32; }", "nvidia", NULL, &translation),
          PTX2SPV_STATUS_TRANSLATION, "wrong.ptx:3");
    assert(!ptx2spv_spirv(NULL, NULL) && !ptx2spv_interface(NULL) && !ptx2spv_device_name(NULL));
}

static void launch(void) {
    ptx2spv_device *device;
    ptx2spv_module *module;
    ptx2spv_kernel *add, *fail;
    fails(ptx2spv_open("no such device", &device), PTX2SPV_STATUS_UNSUPPORTED, "no such device");
    assert(ptx2spv_open("reference", &device) == PTX2SPV_STATUS_OK);
    fails(ptx2spv_load(device, "wrong.ptx", "?", &module), PTX2SPV_STATUS_TRANSLATION, "wrong.ptx:1");
    assert(ptx2spv_load(device, "counter.ptx", COUNTER, &module) == PTX2SPV_STATUS_OK);
    fails(ptx2spv_find_kernel(module, "ad", &add), PTX2SPV_STATUS_INVALID_ARGUMENT, "`ad`");
    assert(ptx2spv_find_kernel(module, "add", &add) == PTX2SPV_STATUS_OK);
    assert(ptx2spv_find_kernel(module, "fail", &fail) == PTX2SPV_STATUS_OK);

    uint64_t address, bytes;
    fails(ptx2spv_find_variable(module, "counter", &address, &bytes), PTX2SPV_STATUS_INVALID_ARGUMENT, "counter");
    assert(ptx2spv_find_variable(module, "count", &address, &bytes) == PTX2SPV_STATUS_OK && bytes == 4);
    const uint32_t one[] = {1, 1, 1}, large[] = {1 << 20, 1, 1};
    uint32_t two = 2, result = 0;
    const void *values[] = {&two}, *nothing[] = {NULL};
    assert(ptx2spv_launch(add, one, one, 0, values, 1) == PTX2SPV_STATUS_OK);
    assert(ptx2spv_read(device, address, &result, sizeof result) == PTX2SPV_STATUS_OK && result == 42);
    fails(ptx2spv_launch(add, one, one, 0, values, 2), PTX2SPV_STATUS_INVALID_ARGUMENT, "1 parameters, not 2");
    fails(ptx2spv_launch(add, one, one, 0, nothing, 1), PTX2SPV_STATUS_INVALID_ARGUMENT, "`n` is null");
    fails(ptx2spv_launch(add, one, large, 0, values, 1), PTX2SPV_STATUS_INVALID_ARGUMENT, "block");
    fails(ptx2spv_launch(add, NULL, one, 0, values, 1), PTX2SPV_STATUS_INVALID_ARGUMENT, "`grid`");

    assert(ptx2spv_set(device, address, 1, 2) == PTX2SPV_STATUS_OK);
    assert(ptx2spv_read(device, address, &result, sizeof result) == PTX2SPV_STATUS_OK && result == 0x0101);
    fails(ptx2spv_read(device, address, NULL, 4), PTX2SPV_STATUS_INVALID_ARGUMENT, "`data`");
    fails(ptx2spv_read(device, 16, &result, 4), PTX2SPV_STATUS_INVALID_ARGUMENT, "0x10");
    /* Sizes that no memory has. */
    fails(ptx2spv_read(device, address, &result, SIZE_MAX), PTX2SPV_STATUS_INVALID_ARGUMENT, "outside");
    fails(ptx2spv_read(device, address, &result, SIZE_MAX / 4), PTX2SPV_STATUS_INVALID_ARGUMENT, "outside");
    fails(ptx2spv_write(device, address, &result, SIZE_MAX), PTX2SPV_STATUS_INVALID_ARGUMENT, "`data`");
    fails(ptx2spv_write(device, address, NULL, 4), PTX2SPV_STATUS_INVALID_ARGUMENT, "`data`");
    fails(ptx2spv_alloc(device, UINT64_MAX, &address), PTX2SPV_STATUS_OUT_OF_MEMORY, "");
    fails(ptx2spv_free(device, 16), PTX2SPV_STATUS_INVALID_ARGUMENT, "0x10");

    assert(ptx2spv_launch(fail, one, one, 0, NULL, 0) == PTX2SPV_STATUS_OK);
    fails(ptx2spv_synchronize(device), PTX2SPV_STATUS_KERNEL, "trap");
    assert(ptx2spv_synchronize(device) == PTX2SPV_STATUS_OK);

    /* Kernels keep their module and their device. */
    ptx2spv_kernel_free(fail);
    ptx2spv_unload(module);
    ptx2spv_close(device);
    assert(ptx2spv_launch(add, one, one, 0, values, 1) == PTX2SPV_STATUS_OK);
    ptx2spv_kernel_free(add);
    ptx2spv_kernel_free(NULL);
}

/* Where there is no driver. */
static void fall_back(void) {
    ptx2spv_device *device;
    fails(ptx2spv_open("vulkan", &device), PTX2SPV_STATUS_UNSUPPORTED, "no Vulkan device found");
    assert(ptx2spv_open("reference", &device) == PTX2SPV_STATUS_OK && !ptx2spv_fallback(device));
    ptx2spv_close(device);
    assert(ptx2spv_open(NULL, &device) == PTX2SPV_STATUS_OK);
    assert(strstr(ptx2spv_fallback(device), "no Vulkan device found"));
    ptx2spv_close(device);
    assert(!ptx2spv_fallback(NULL));
}

int main(int count, char **arguments) {
    assert(!*ptx2spv_error() && strchr(ptx2spv_version(), '.'));
    if (count > 1 && !strcmp(arguments[1], "without-driver")) {
        fall_back();
        puts("done");
        return 0;
    }
    translate();
    launch();
    puts("done");
    return 0;
}
