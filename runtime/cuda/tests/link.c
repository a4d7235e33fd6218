/* A program that links modules and loads fat binaries out of memory. The declarations are this program's own. */
#include "checks.h"

typedef struct link *Link;
typedef struct library *Library;

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(Context *context, int device);
int cuCtxSetCurrent(Context context);
int cuMemAlloc_v2(Address *address, size_t bytes);
int cuMemcpyDtoH_v2(void *to, Address from, size_t bytes);
int cuModuleLoadData(Module *module, const void *image);
int cuModuleLoadFatBinary(Module *module, const void *image);
int cuModuleLoad(Module *module, const char *path);
int cuModuleGetFunction(Function *function, Module module, const char *name);
int cuModuleUnload(Module module);
int cuLibraryLoadData(Library *library, const void *image, int *options, void **values, unsigned count, int *library_options,
                      void **library_values, unsigned library_count);
int cuLibraryGetKernel(Function *kernel, Library library, const char *name);
int cuLaunchKernel(Function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **arguments, void **extra);
int cuLinkCreate_v2(unsigned count, int *options, void **values, Link *link);
int cuLinkAddData_v2(Link link, int kind, void *data, size_t size, const char *name, unsigned count, int *options, void **values);
int cuLinkAddFile_v2(Link link, int kind, const char *path, unsigned count, int *options, void **values);
int cuLinkComplete(Link link, void **image, size_t *size);
int cuLinkDestroy(Link link);

enum { MACHINE_CODE = 0, PTX = 1, FAT_BINARY = 2, LIBRARY = 4, INTERMEDIATE = 5 };

#define HEADER ".version 7.0\n.target sm_70\n.address_size 64\n"
static char kernel[] =
    HEADER ".extern .global .u32 x;\n.visible .entry k(.param .u64 out)\n{\n    .reg .b64 %d;\n    .reg .b32 %r;\n"
           "    ld.param.u64 %d, [out];\n    ld.global.u32 %r, [x];\n    st.global.u32 [%d], %r;\n    ret;\n}\n";
static char data[] = HEADER ".visible .global .u32 x = 7;\n";

/* A container with the PTX of a text, uncompressed. */
static size_t pack(unsigned char *to, const char *text, uint16_t kind)
{
    uint64_t size = (strlen(text) + 8) / 8 * 8, rest = 64 + size;
    const uint32_t container[] = {0xba55ed50, 1 | 16 << 16};
    const uint16_t entry[] = {kind, 0x0101, 64, 0};
    const uint16_t version[] = {0, 7};
    const uint32_t architecture = 70;
    memset(to, 0, 80 + size);
    memcpy(to, container, 8);
    memcpy(to + 8, &rest, 8);
    memcpy(to + 16, entry, 8);
    memcpy(to + 24, &size, 8);
    memcpy(to + 40, version, 4);
    memcpy(to + 44, &architecture, 4);
    memcpy(to + 80, text, strlen(text));
    return 80 + size;
}

static Address out;

static void runs(Function function, uint32_t expected)
{
    uint32_t value = 0;
    void *arguments[] = {&out};
    OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    OK(cuMemcpyDtoH_v2(&value, out, 4));
    EXPECT((int)expected, (int)value);
}

static void loads(const void *image, uint32_t expected)
{
    Module module;
    Function function;
    OK(cuModuleLoadData(&module, image));
    OK(cuModuleGetFunction(&function, module, "k"));
    runs(function, expected);
    OK(cuModuleUnload(module));
}

int main(int count, char **names)
{
    static unsigned char first[4096], second[4096], machine[4096];
    Context context;
    Link link;
    Library library;
    Function function;
    Module module;
    void *image;
    size_t size;
    TRUE(count == 2);
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    OK(cuMemAlloc_v2(&out, 64));

    /* PTX, a fat binary and a file, in any order; the image is loaded as a module and as a library. */
    size_t packed = pack(second, data, 1);
    OK(cuLinkCreate_v2(0, NULL, NULL, &link));
    OK(cuLinkAddData_v2(link, PTX, kernel, sizeof kernel, "kernel", 0, NULL, NULL));
    OK(cuLinkAddData_v2(link, FAT_BINARY, second, packed, NULL, 0, NULL, NULL));
    OK(cuLinkComplete(link, &image, &size));
    TRUE(size > sizeof kernel + sizeof data);
    loads(image, 7);
    OK(cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&function, library, "k"));
    runs(function, 7);
    OK(cuLinkDestroy(link));
    FILE *file = fopen(names[1], "wb");
    TRUE(file && fwrite(second, packed, 1, file) == 1 && fclose(file) == 0);
    OK(cuLinkCreate_v2(0, NULL, NULL, &link));
    OK(cuLinkAddFile_v2(link, LIBRARY, names[1], 0, NULL, NULL));
    OK(cuLinkAddData_v2(link, PTX, kernel, sizeof kernel, "", 0, NULL, NULL));
    OK(cuLinkComplete(link, &image, &size));
    loads(image, 7);
    OK(cuLinkDestroy(link));

    /* The log names the undefined symbol, and the link can go on. */
    char log[600] = "";
    int options[] = {5, 6};
    void *values[] = {log, (void *)sizeof log};
    OK(cuLinkCreate_v2(2, options, values, &link));
    EXPECT(1, cuLinkComplete(link, &image, &size));
    OK(cuLinkAddData_v2(link, PTX, kernel, sizeof kernel, "kernel.ptx", 0, NULL, NULL));
    EXPECT(218, cuLinkComplete(link, &image, &size));
    TRUE(strstr(log, "Undefined reference to `x`") && strstr(log, "kernel.ptx:4:22"));
    char wrong[] = HEADER "wibble";
    EXPECT(218, cuLinkAddData_v2(link, PTX, wrong, sizeof wrong, "wrong", 0, NULL, NULL));
    TRUE(strstr(log, "wrong:4:1"));
    EXPECT(218, cuLinkAddData_v2(link, PTX, wrong, sizeof wrong, NULL, 0, NULL, NULL));
    TRUE(strstr(log, "module-3.ptx:4:1"));
    EXPECT(218, cuLinkAddData_v2(link, PTX, wrong, sizeof wrong, "", 0, NULL, NULL));
    TRUE(strstr(log, "module-4.ptx:4:1"));
    EXPECT(209, cuLinkAddData_v2(link, MACHINE_CODE, kernel, sizeof kernel, "", 0, NULL, NULL));
    EXPECT(801, cuLinkAddData_v2(link, INTERMEDIATE, kernel, sizeof kernel, "", 0, NULL, NULL));
    OK(cuLinkAddData_v2(link, PTX, data, sizeof data, "data.ptx", 0, NULL, NULL));
    OK(cuLinkComplete(link, &image, &size));
    loads(image, 7);
    OK(cuLinkDestroy(link));
    EXPECT(400, cuLinkComplete(link, &image, &size));

    /* Containers with the wrappers that programs have for them: a single one, and that of a linked program. */
    char alone[1024];
    snprintf(alone, sizeof alone, "%s", kernel);
    memcpy(strstr(alone, ".extern"), ".weak  ", 7);
    pack(first, alone, 1);
    loads(first, 0);
    OK(cuModuleLoadFatBinary(&module, first));
    struct {
        uint32_t magic, version;
        const void *data, *extra;
    } wrapper = {0x466243b1, 1, first, NULL};
    loads(&wrapper, 0);
    pack(machine, "machine code", 2);
    EXPECT(209, cuModuleLoadData(&module, machine));
    pack(first, kernel, 1);
    const void *list[] = {first, second, NULL};
    wrapper.version = 2;
    wrapper.data = machine;
    wrapper.extra = list;
    loads(&wrapper, 7);
    pack(first, data, 1);
    EXPECT(218, cuModuleLoadData(&module, &wrapper));
    wrapper.data = kernel;
    wrapper.version = 1;
    EXPECT(200, cuModuleLoadData(&module, &wrapper));
    first[20] = 3;
    EXPECT(200, cuModuleLoadData(&module, first));
    OK(cuModuleLoad(&module, names[1]));
    puts("done");
    return 0;
}
