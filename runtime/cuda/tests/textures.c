/* Arrays, textures and surfaces as CUDA's users have them, linked with -lcuda. The declarations are this program's own. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct array *Array;
typedef struct mipmapped *Mipmapped;
typedef struct texref *TexRef;
typedef uint64_t Address;
typedef uint64_t Object;

struct description {
    size_t width, height;
    int format;
    unsigned channels;
};

struct description_3d {
    size_t width, height, depth;
    int format;
    unsigned channels, flags;
};

struct part_3d {
    size_t x, y, z, level;
    int kind;
    const void *host;
    Address device;
    Array array;
    void *reserved;
    size_t pitch, height;
};

struct copy_3d {
    struct part_3d from, to;
    size_t width, height, depth;
};

struct resource {
    int kind;
    union {
        Array array;
        Mipmapped mipmapped;
        struct {
            Address address;
            int format;
            unsigned channels;
            size_t bytes;
        } linear;
        struct {
            Address address;
            int format;
            unsigned channels;
            size_t width, height, pitch;
        } pitched;
        int reserved[32];
    } of;
    unsigned flags;
};

struct texture {
    int address_modes[3], filter;
    unsigned flags, max_anisotropy;
    int mip_filter;
    float bias, least, most, border[4];
    int reserved[12];
};

struct view {
    int format;
    size_t width, height, depth;
    unsigned first_level, last_level, first_layer, last_layer, reserved[16];
};

int cuInit(unsigned flags);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDeviceGetTexture1DLinearMaxWidth(size_t *width, int format, unsigned channels, int device);
int cuCtxCreate_v2(void **context, unsigned flags, int device);
int cuCtxDestroy_v2(void *context);
int cuMemAlloc_v2(Address *address, size_t bytes);
int cuMemFree_v2(Address address);
int cuMemcpyHtoD_v2(Address to, const void *from, size_t bytes);
int cuMemcpyDtoH_v2(void *to, Address from, size_t bytes);
int cuArrayCreate_v2(Array *array, const struct description *description);
int cuArrayGetDescriptor_v2(struct description *description, Array array);
int cuArray3DCreate_v2(Array *array, const struct description_3d *description);
int cuArray3DGetDescriptor_v2(struct description_3d *description, Array array);
int cuArrayDestroy(Array array);
int cuMipmappedArrayCreate(Mipmapped *array, const struct description_3d *description, unsigned levels);
int cuMipmappedArrayGetLevel(Array *array, Mipmapped of, unsigned level);
int cuMipmappedArrayDestroy(Mipmapped array);
int cuMemcpyHtoA_v2(Array to, size_t offset, const void *from, size_t bytes);
int cuMemcpyAtoH_v2(void *to, Array from, size_t offset, size_t bytes);
int cuMemcpyHtoAAsync_v2(Array to, size_t offset, const void *from, size_t bytes, void *stream);
int cuMemcpyAtoHAsync_v2(void *to, Array from, size_t offset, size_t bytes, void *stream);
int cuMemcpyDtoA_v2(Array to, size_t offset, Address from, size_t bytes);
int cuMemcpyAtoD_v2(Address to, Array from, size_t offset, size_t bytes);
int cuMemcpyAtoA_v2(Array to, size_t to_offset, Array from, size_t from_offset, size_t bytes);
int cuMemcpy3D_v2(const struct copy_3d *copy);
int cuMemcpy3DAsync_v2(const struct copy_3d *copy, void *stream);
int cuStreamSynchronize(void *stream);
int cuGraphCreate(void **graph, unsigned flags);
int cuGraphAddMemcpyNode(void **node, void *graph, void *const *after, size_t count, const struct copy_3d *copy, void *context);
int cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags);
int cuGraphLaunch(void *exec, void *stream);
int cuGraphExecDestroy(void *exec);
int cuGraphDestroy(void *graph);
int cuTexObjectCreate(Object *object, const struct resource *resource, const struct texture *texture, const struct view *view);
int cuTexObjectDestroy(Object object);
int cuTexObjectGetResourceDesc(struct resource *resource, Object object);
int cuTexObjectGetTextureDesc(struct texture *texture, Object object);
int cuTexObjectGetResourceViewDesc(struct view *view, Object object);
int cuSurfObjectCreate(Object *object, const struct resource *resource);
int cuSurfObjectDestroy(Object object);
int cuSurfObjectGetResourceDesc(struct resource *resource, Object object);
int cuTexRefCreate(TexRef *reference);
int cuTexRefDestroy(TexRef reference);
int cuTexRefSetArray(TexRef reference, Array array, unsigned flags);
int cuTexRefGetArray(Array *array, TexRef reference);
int cuTexRefSetAddress_v2(size_t *offset, TexRef reference, Address address, size_t bytes);
int cuTexRefGetAddress_v2(Address *address, TexRef reference);
int cuTexRefSetFormat(TexRef reference, int format, int channels);
int cuTexRefGetFormat(int *format, int *channels, TexRef reference);
int cuTexRefSetAddressMode(TexRef reference, int dimension, int mode);
int cuTexRefGetAddressMode(int *mode, TexRef reference, int dimension);
int cuTexRefSetFlags(TexRef reference, unsigned flags);
int cuTexRefGetFlags(unsigned *flags, TexRef reference);
int cuTexRefSetMipmapLevelClamp(TexRef reference, float least, float most);
int cuTexRefGetMipmapLevelClamp(float *least, float *most, TexRef reference);
int cuTexRefSetBorderColor(TexRef reference, const float *color);
int cuTexRefGetBorderColor(float *color, TexRef reference);

int cuCtxSynchronize(void);
int cuModuleLoadData(void **module, const void *image);
int cuModuleUnload(void *module);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuModuleGetTexRef(TexRef *reference, void *module, const char *name);
int cuModuleGetSurfRef(void **reference, void *module, const char *name);
int cuSurfRefSetArray(void *reference, Array array, unsigned flags);
int cuSurfRefGetArray(Array *array, void *reference);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                   void *stream, void **arguments, void **extra);

enum { NOT_FOUND = 500 };
enum { INVALID_VALUE = 1, INVALID_HANDLE = 400, NOT_SUPPORTED = 801 };
enum { U8 = 1, S32 = 10, HALF = 0x10, FLOAT = 0x20 };
enum { LAYERED = 1, SURFACE = 2, CUBE = 4, SPARSE = 0x40 };
enum { HOST = 1, DEVICE = 2, ARRAY = 3 };

static void check(int result, int expected, const char *what, int line) {
    if (result != expected) {
        printf("line %d: %s: %d, not %d\n", line, what, result, expected);
        exit(1);
    }
}

#define EXPECT(expected, call) check(call, expected, #call, __LINE__)
#define OK(call) EXPECT(0, call)
#define TRUE(condition) check(!!(condition), 1, #condition, __LINE__)

static int attribute(int number) {
    int value;
    OK(cuDeviceGetAttribute(&value, number, 0));
    return value;
}

static void arrays(void) {
    Array array, other, level, again;
    Mipmapped levels;
    struct description description = {8, 0, S32, 1}, found;
    int numbers[8] = {0, 1, 2, 3, 4, 5, 6, 7}, read[8] = {0};
    OK(cuArrayCreate_v2(&array, &description));
    OK(cuArrayCreate_v2(&other, &description));
    OK(cuArrayGetDescriptor_v2(&found, array));
    TRUE(memcmp(&found, &description, sizeof found) == 0);
    OK(cuMemcpyHtoA_v2(array, 0, numbers, 32));
    OK(cuMemcpyHtoAAsync_v2(array, 8, numbers + 6, 8, NULL));
    OK(cuMemcpyAtoA_v2(other, 16, array, 0, 16));
    OK(cuMemcpyAtoA_v2(other, 0, array, 16, 16));
    OK(cuMemcpyAtoHAsync_v2(read, other, 4, 28, NULL));
    OK(cuStreamSynchronize(NULL));
    TRUE(memcmp(read, ((int[]){5, 6, 7, 0, 1, 6, 7}), 28) == 0);
    EXPECT(INVALID_VALUE, cuMemcpyHtoA_v2(array, 8, numbers, 32));
    EXPECT(INVALID_VALUE, cuMemcpyHtoA_v2(array, 2, numbers, 4));
    Address memory;
    OK(cuMemAlloc_v2(&memory, 32));
    OK(cuMemcpyAtoD_v2(memory + 4, array, 0, 8));
    OK(cuMemcpyDtoA_v2(other, 0, memory + 4, 8));
    OK(cuMemcpyAtoH_v2(read, other, 0, 12));
    TRUE(read[0] == 0 && read[1] == 1 && read[2] == 6);
    OK(cuMemFree_v2(memory));
    OK(cuArrayDestroy(array));
    EXPECT(INVALID_HANDLE, cuArrayDestroy(array));
    EXPECT(INVALID_HANDLE, cuMemcpyHtoA_v2(array, 0, numbers, 32));

    struct description_3d solid = {5, 4, 3, U8, 2, 0}, found_3d;
    OK(cuArray3DCreate_v2(&array, &solid));
    OK(cuArray3DGetDescriptor_v2(&found_3d, array));
    TRUE(memcmp(&found_3d, &solid, 36) == 0);
    unsigned char bytes[120], out[120] = {0};
    for (int i = 0; i < 120; i++) bytes[i] = i;
    struct copy_3d copy = {
        {.kind = HOST, .host = bytes, .pitch = 10, .height = 4},
        {.kind = ARRAY, .array = array},
        10, 4, 3,
    };
    OK(cuMemcpy3D_v2(&copy));
    /* Two elements of two rows of the two last slices, into the middle of rows of 20 bytes. */
    copy = (struct copy_3d){
        {.kind = ARRAY, .array = array, .x = 6, .y = 2, .z = 1},
        {.kind = HOST, .host = out, .x = 3, .pitch = 20, .height = 3},
        4, 2, 2,
    };
    OK(cuMemcpy3DAsync_v2(&copy, NULL));
    OK(cuStreamSynchronize(NULL));
    TRUE(out[3] == 66 && out[6] == 69 && out[7] == 0 && out[23] == 76 && out[63] == 106 && out[83] == 116);
    /* The same by a graph. */
    void *graph, *node, *exec;
    memset(out, 0, sizeof out);
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, NULL));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphLaunch(exec, NULL));
    OK(cuStreamSynchronize(NULL));
    TRUE(out[3] == 66 && out[86] == 119);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    copy.width = 5;
    EXPECT(INVALID_VALUE, cuMemcpy3D_v2(&copy));
    copy.width = 6;
    EXPECT(INVALID_VALUE, cuMemcpy3D_v2(&copy));
    OK(cuArrayDestroy(array));
    OK(cuArrayDestroy(other));

    solid = (struct description_3d){8, 8, 6, FLOAT, 3, CUBE};
    EXPECT(INVALID_VALUE, cuArray3DCreate_v2(&array, &solid));
    solid.channels = 4;
    OK(cuArray3DCreate_v2(&array, &solid));
    OK(cuArrayDestroy(array));
    solid.depth = 5;
    EXPECT(INVALID_VALUE, cuArray3DCreate_v2(&array, &solid));
    solid = (struct description_3d){8, 8, 0, 0x91, 4, 0};
    EXPECT(NOT_SUPPORTED, cuArray3DCreate_v2(&array, &solid));
    solid = (struct description_3d){8, 8, 0, U8, 4, SPARSE};
    EXPECT(NOT_SUPPORTED, cuArray3DCreate_v2(&array, &solid));
    solid = (struct description_3d){attribute(21) + 1, 0, 0, U8, 1, 0};
    EXPECT(INVALID_VALUE, cuArray3DCreate_v2(&array, &solid));

    /* Eight levels are requested, but the size allows only four. */
    solid = (struct description_3d){8, 2, 3, FLOAT, 1, LAYERED};
    OK(cuMipmappedArrayCreate(&levels, &solid, 8));
    OK(cuMipmappedArrayGetLevel(&level, levels, 2));
    OK(cuMipmappedArrayGetLevel(&again, levels, 2));
    TRUE(level == again);
    OK(cuArray3DGetDescriptor_v2(&found_3d, level));
    TRUE(found_3d.width == 2 && found_3d.height == 1 && found_3d.depth == 3 && found_3d.flags == LAYERED);
    EXPECT(INVALID_VALUE, cuMipmappedArrayGetLevel(&again, levels, 4));
    EXPECT(INVALID_HANDLE, cuArrayDestroy(level));
    OK(cuMipmappedArrayDestroy(levels));
    EXPECT(INVALID_HANDLE, cuArray3DGetDescriptor_v2(&found_3d, level));
}

static void objects(void) {
    Array array, flat;
    Mipmapped levels;
    Object object;
    Address memory;
    struct description_3d description = {8, 8, 4, U8, 4, LAYERED | SURFACE};
    OK(cuArray3DCreate_v2(&array, &description));
    struct resource resource = {0}, found;
    struct texture texture = {.address_modes = {1, 1, 1}, .filter = 1}, found_texture;
    struct view view = {0, 8, 8, 2, 0, 0, 1, 2, {0}}, found_view;
    resource.of.array = array;
    OK(cuTexObjectCreate(&object, &resource, &texture, NULL));
    TRUE(object != 0);
    OK(cuTexObjectGetResourceDesc(&found, object));
    TRUE(found.kind == 0 && found.of.array == array);
    OK(cuTexObjectGetTextureDesc(&found_texture, object));
    TRUE(memcmp(&texture, &found_texture, sizeof texture) == 0);
    EXPECT(INVALID_VALUE, cuTexObjectGetResourceViewDesc(&found_view, object));
    OK(cuTexObjectDestroy(object));
    // As on CUDA's driver.
    OK(cuTexObjectDestroy(object));
    OK(cuTexObjectDestroy(0));
    OK(cuSurfObjectDestroy(0));
    OK(cuTexObjectCreate(&object, &resource, &texture, &view));
    OK(cuTexObjectGetResourceViewDesc(&found_view, object));
    TRUE(found_view.last_layer == 2);
    OK(cuTexObjectDestroy(object));
    view.width = 4;
    EXPECT(INVALID_VALUE, cuTexObjectCreate(&object, &resource, &texture, &view));
    /* Integers as they are have no filter. */
    texture.flags = 1;
    EXPECT(INVALID_VALUE, cuTexObjectCreate(&object, &resource, &texture, NULL));
    texture.flags = 0x100;
    EXPECT(INVALID_VALUE, cuTexObjectCreate(&object, &resource, &texture, NULL));
    texture.flags = 0;
    OK(cuSurfObjectCreate(&object, &resource));
    OK(cuSurfObjectGetResourceDesc(&found, object));
    TRUE(found.of.array == array);
    OK(cuSurfObjectDestroy(object));
    EXPECT(INVALID_VALUE, cuSurfObjectGetResourceDesc(&found, object));
    description = (struct description_3d){8, 8, 0, FLOAT, 1, 0};
    OK(cuArray3DCreate_v2(&flat, &description));
    resource.of.array = flat;
    EXPECT(INVALID_VALUE, cuSurfObjectCreate(&object, &resource));
    OK(cuMipmappedArrayCreate(&levels, &description, 2));
    resource.kind = 1;
    resource.of.mipmapped = levels;
    EXPECT(INVALID_VALUE, cuTexObjectCreate(&object, &resource, &texture, NULL));
    texture.flags = 2;
    OK(cuTexObjectCreate(&object, &resource, &texture, NULL));
    OK(cuTexObjectDestroy(object));

    OK(cuMemAlloc_v2(&memory, 4096));
    TRUE(memory % attribute(14) == 0);
    resource = (struct resource){.kind = 2, .of.linear = {memory, HALF, 2, 4096}};
    OK(cuTexObjectCreate(&object, &resource, &texture, NULL));
    OK(cuTexObjectDestroy(object));
    resource.of.linear.bytes = 4097;
    EXPECT(INVALID_VALUE, cuTexObjectCreate(&object, &resource, &texture, NULL));
    resource = (struct resource){.kind = 3, .of.pitched = {memory, FLOAT, 1, 30, 32, 128}};
    OK(cuTexObjectCreate(&object, &resource, &texture, NULL));
    OK(cuTexObjectDestroy(object));
    resource.of.pitched.pitch = 120;
    EXPECT(INVALID_VALUE, cuTexObjectCreate(&object, &resource, &texture, NULL));
    size_t width;
    OK(cuDeviceGetTexture1DLinearMaxWidth(&width, FLOAT, 1, 0));
    TRUE(width == (size_t)attribute(69) && width >= 1 << 27);
    OK(cuMemFree_v2(memory));
    OK(cuMipmappedArrayDestroy(levels));
    OK(cuArrayDestroy(flat));
    OK(cuArrayDestroy(array));
}

static void references(void) {
    TexRef reference;
    Address memory, address;
    size_t offset = 1;
    int format, channels, mode;
    unsigned flags;
    float color[4] = {1, 2, 3, 4}, found[4], least, most;
    OK(cuTexRefCreate(&reference));
    OK(cuMemAlloc_v2(&memory, 1024));
    OK(cuTexRefSetAddress_v2(&offset, reference, memory + 12, 100));
    OK(cuTexRefGetAddress_v2(&address, reference));
    TRUE(offset == 12 && address == memory);
    EXPECT(INVALID_VALUE, cuTexRefSetAddress_v2(NULL, reference, memory + 12, 100));
    OK(cuTexRefSetFormat(reference, HALF, 2));
    OK(cuTexRefGetFormat(&format, &channels, reference));
    TRUE(format == HALF && channels == 2);
    EXPECT(INVALID_VALUE, cuTexRefSetFormat(reference, HALF, 3));
    OK(cuTexRefSetAddressMode(reference, 2, 3));
    OK(cuTexRefGetAddressMode(&mode, reference, 2));
    TRUE(mode == 3);
    EXPECT(INVALID_VALUE, cuTexRefSetAddressMode(reference, 3, 0));
    EXPECT(INVALID_VALUE, cuTexRefSetAddressMode(reference, 0, 4));
    OK(cuTexRefSetFlags(reference, 0x13));
    OK(cuTexRefGetFlags(&flags, reference));
    TRUE(flags == 0x13);
    OK(cuTexRefSetMipmapLevelClamp(reference, 0.5f, 2.5f));
    OK(cuTexRefGetMipmapLevelClamp(&least, &most, reference));
    TRUE(least == 0.5f && most == 2.5f);
    OK(cuTexRefSetBorderColor(reference, color));
    OK(cuTexRefGetBorderColor(found, reference));
    TRUE(memcmp(color, found, sizeof color) == 0);
    Array array, bound;
    struct description description = {8, 8, FLOAT, 1};
    OK(cuArrayCreate_v2(&array, &description));
    EXPECT(INVALID_VALUE, cuTexRefGetArray(&bound, reference));
    EXPECT(INVALID_VALUE, cuTexRefSetArray(reference, array, 0));
    OK(cuTexRefSetArray(reference, array, 1));
    OK(cuTexRefGetArray(&bound, reference));
    OK(cuTexRefGetFormat(&format, &channels, reference));
    TRUE(bound == array && format == FLOAT && channels == 1);
    OK(cuArrayDestroy(array));
    OK(cuMemFree_v2(memory));
    OK(cuTexRefDestroy(reference));
    EXPECT(INVALID_HANDLE, cuTexRefDestroy(reference));
}

/* Thread i gets element i of linear memory by a reference, and of arrays by an object and by a reference, and writes all; their sum
   to a surface. */
static const char *const KERNELS =
    ".version 7.0\n.target sm_50\n.address_size 64\n"
    ".global .texref table;\n"
    ".global .texref image;\n"
    ".global .surfref canvas;\n"
    ".visible .entry gather(.param .u64 object, .param .u64 out)\n"
    "{\n"
    "  .reg .b32 %i, %x, %zero, %r<12>;\n"
    "  .reg .b64 %object, %out, %at;\n"
    "  mov.u32 %i, %tid.x;\n"
    "  mov.u32 %zero, 0;\n"
    "  ld.param.u64 %object, [object];\n"
    "  ld.param.u64 %out, [out];\n"
    "  tex.1d.v4.s32.s32 {%r0, %r1, %r2, %r3}, [table, {%i}];\n"
    "  tex.2d.v4.s32.s32 {%r4, %r5, %r6, %r7}, [%object, {%i, %zero}];\n"
    "  tex.2d.v4.s32.s32 {%r8, %r9, %r10, %r11}, [image, {%i, %zero}];\n"
    "  mul.wide.u32 %at, %i, 16;\n"
    "  add.u64 %at, %at, %out;\n"
    "  st.global.v4.u32 [%at], {%r0, %r4, %r8, %i};\n"
    "  add.s32 %r0, %r0, %r4;\n"
    "  add.s32 %r0, %r0, %r8;\n"
    "  shl.b32 %x, %i, 2;\n"
    "  sust.b.2d.b32.trap [canvas, {%x, %zero}], {%r0};\n"
    "  ret;\n"
    "}\n";

static void kernels(void) {
    void *module, *function, *reference;
    TexRef table, image, again;
    Object object;
    Array canvas, array, bound;
    Address memory, out;
    int numbers[68], found[32], sums[8];
    for (int i = 0; i < 68; i++) numbers[i] = i * i;
    OK(cuModuleLoadData(&module, KERNELS));
    OK(cuModuleGetFunction(&function, module, "gather"));
    OK(cuModuleGetTexRef(&table, module, "table"));
    OK(cuModuleGetTexRef(&again, module, "table"));
    TRUE(table == again);
    OK(cuModuleGetTexRef(&image, module, "image"));
    EXPECT(NOT_FOUND, cuModuleGetTexRef(&again, module, "canvas"));
    EXPECT(NOT_FOUND, cuModuleGetSurfRef(&reference, module, "nothing"));
    EXPECT(INVALID_VALUE, cuTexRefDestroy(table));
    OK(cuModuleGetSurfRef(&reference, module, "canvas"));
    struct description line = {8, 1, S32, 1};
    struct description_3d drawn = {8, 1, 0, S32, 1, SURFACE};
    OK(cuArrayCreate_v2(&array, &line));
    OK(cuArray3DCreate_v2(&canvas, &drawn));
    EXPECT(INVALID_VALUE, cuSurfRefSetArray(reference, array, 0));
    OK(cuSurfRefSetArray(reference, canvas, 0));
    OK(cuSurfRefGetArray(&bound, reference));
    TRUE(bound == canvas);
    OK(cuMemcpyHtoA_v2(array, 0, numbers, 32));
    OK(cuMemAlloc_v2(&memory, sizeof numbers));
    OK(cuMemAlloc_v2(&out, sizeof found));
    OK(cuMemcpyHtoD_v2(memory, numbers, sizeof numbers));
    struct resource resource = {.kind = 0, .of.array = array};
    struct texture texture = {.flags = 1};
    OK(cuTexObjectCreate(&object, &resource, &texture, NULL));
    void *arguments[] = {&object, &out};
    for (int bind = 0; bind < 4; bind++) {
        /* References that nothing is bound to read as zeroes. */
        if (bind == 1) {
            /* Flags and format count although they are set after the address. */
            OK(cuTexRefSetAddress_v2(NULL, table, memory + 256, 12));
            OK(cuTexRefSetFlags(table, 1));
            OK(cuTexRefSetFormat(table, S32, 1));
        } else if (bind == 2) {
            size_t offset;
            OK(cuTexRefSetAddress_v2(&offset, table, memory, 32));
            OK(cuTexRefSetArray(image, array, 1));
        } else if (bind == 3) {
            OK(cuTexRefSetArray(image, NULL, 0));
        }
        OK(cuLaunchKernel(function, 1, 1, 1, 8, 1, 1, 0, NULL, arguments, NULL));
        OK(cuMemcpyDtoH_v2(found, out, sizeof found));
        OK(cuMemcpyAtoH_v2(sums, canvas, 0, sizeof sums));
        for (int i = 0; i < 8; i++) {
            int by_table = bind == 0 ? 0 : bind > 1 ? numbers[i] : i < 3 ? numbers[64 + i] : 0;
            int by_image = bind == 2 ? numbers[i] : 0;
            TRUE(found[4 * i] == by_table && found[4 * i + 1] == numbers[i] && found[4 * i + 2] == by_image);
            TRUE(found[4 * i + 3] == i && sums[i] == by_table + numbers[i] + by_image);
        }
    }
    /* sRGB has no effect on integers. */
    OK(cuTexRefSetFlags(table, 0x11));
    OK(cuLaunchKernel(function, 1, 1, 1, 8, 1, 1, 0, NULL, arguments, NULL));
    OK(cuTexRefSetFlags(table, 1));
    /* Invalid settings of a reference are reported by the launch. */
    OK(cuTexRefSetMipmapLevelClamp(table, __builtin_nanf(""), 1));
    EXPECT(INVALID_VALUE, cuLaunchKernel(function, 1, 1, 1, 8, 1, 1, 0, NULL, arguments, NULL));
    OK(cuTexRefSetMipmapLevelClamp(table, 0, 1));
    OK(cuLaunchKernel(function, 1, 1, 1, 8, 1, 1, 0, NULL, arguments, NULL));
    OK(cuCtxSynchronize());
    OK(cuTexObjectDestroy(object));
    OK(cuArrayDestroy(array));
    OK(cuModuleUnload(module));
    EXPECT(INVALID_HANDLE, cuTexRefSetFlags(table, 1));
    OK(cuArrayDestroy(canvas));
    OK(cuMemFree_v2(memory));
    OK(cuMemFree_v2(out));
}

int main(void) {
    void *context;
    OK(cuInit(0));
    OK(cuCtxCreate_v2(&context, 0, 0));
    arrays();
    objects();
    references();
    kernels();
    OK(cuCtxDestroy_v2(context));
    puts("done");
    return 0;
}
