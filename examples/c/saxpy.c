/* y = a * x + y by a PTX kernel on any Vulkan device, through ptx2spv's C interface.
 *
 *   cargo build --release -p ptx2spv-c
 *   cc -I runtime/c/include examples/c/saxpy.c -L target/release -lptx2spv_c -o saxpy
 *   LD_LIBRARY_PATH=target/release ./saxpy tests/kernels/saxpy.ptx
 */

#include <stdio.h>
#include <stdlib.h>

#include "ptx2spv.h"

enum { COUNT = 1000 };

/* Ends the program with the message of a call that failed. */
static void check(ptx2spv_status status) {
    if (status != PTX2SPV_STATUS_OK) {
        fprintf(stderr, "error: %s\n", ptx2spv_error());
        exit(1);
    }
}

static char *read_text(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) {
        perror(path);
        exit(1);
    }
    size_t size = (size_t)ftell(file);
    rewind(file);
    char *text = malloc(size + 1);
    if (!text || fread(text, 1, size, file) != size) {
        perror(path);
        exit(1);
    }
    text[size] = '\0';
    fclose(file);
    return text;
}

int main(int count, char **arguments) {
    const char *path = count > 1 ? arguments[1] : "tests/kernels/saxpy.ptx";
    char *text = read_text(path);

    ptx2spv_device *device;
    check(ptx2spv_open(NULL, &device));
    ptx2spv_module *module;
    check(ptx2spv_load(device, path, text, &module));
    ptx2spv_kernel *kernel;
    check(ptx2spv_find_kernel(module, "saxpy", &kernel));

    float x[COUNT], y[COUNT];
    for (int i = 0; i < COUNT; i++) {
        x[i] = (float)i;
        y[i] = 1.0f;
    }
    uint64_t x_address, y_address;
    check(ptx2spv_alloc(device, sizeof x, &x_address));
    check(ptx2spv_alloc(device, sizeof y, &y_address));
    check(ptx2spv_write(device, x_address, x, sizeof x));
    check(ptx2spv_write(device, y_address, y, sizeof y));

    float a = 2.0f;
    uint32_t n = COUNT;
    const void *values[] = {&a, &x_address, &y_address, &n};
    const uint32_t grid[] = {4, 1, 1}, block[] = {256, 1, 1};
    check(ptx2spv_launch(kernel, grid, block, 0, values, 4));
    check(ptx2spv_read(device, y_address, y, sizeof y));

    int right = 0;
    for (int i = 0; i < COUNT; i++)
        right += y[i] == 2.0f * (float)i + 1.0f;
    printf("%d right results on %s\n", right, ptx2spv_device_name(device));

    check(ptx2spv_free(device, x_address));
    check(ptx2spv_free(device, y_address));
    ptx2spv_kernel_free(kernel);
    ptx2spv_unload(module);
    ptx2spv_close(device);
    free(text);
    return right == COUNT ? 0 : 1;
}
