/* NVIDIA's management library (NVML): one device, with the answers that Vulkan and the driver library have. The declarations are this
   program's own. */
#include "checks.h"
#include <sys/wait.h>
#include <unistd.h>

typedef struct device *Device;

struct memory {
    unsigned long long total, free, used;
};

struct memory_2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};

struct bus {
    char short_id[16];
    unsigned domain, bus, device, kind, subsystem;
    char id[32];
};

int cuInit(unsigned flags);
int cuDeviceGetName(char *name, int length, int device);
int cuDeviceGetUuid(unsigned char *uuid, int device);
int cuDeviceTotalMem_v2(size_t *bytes, int device);
int cuDriverGetVersion(int *version);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int nvmlInit_v2(void);
int nvmlInitWithFlags(unsigned flags);
int nvmlShutdown(void);
const char *nvmlErrorString(int result);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, Device *device);
int nvmlDeviceGetHandleByUUID(const char *uuid, Device *device);
int nvmlDeviceGetHandleByPciBusId_v2(const char *id, Device *device);
int nvmlDeviceGetName(Device device, char *name, unsigned length);
int nvmlDeviceGetUUID(Device device, char *uuid, unsigned length);
int nvmlDeviceGetIndex(Device device, unsigned *index);
int nvmlDeviceGetMemoryInfo(Device device, struct memory *memory);
int nvmlDeviceGetMemoryInfo_v2(Device device, struct memory_2 *memory);
int nvmlDeviceGetPciInfo_v3(Device device, struct bus *bus);
int nvmlDeviceGetPciInfo_v2(Device device, struct bus *bus);
int nvmlDeviceGetCudaComputeCapability(Device device, int *major, int *minor);
int nvmlDeviceGetTemperature(Device device, int sensor, unsigned *degrees);
int nvmlDeviceGetUtilizationRates(Device device, unsigned *rates);
int nvmlSystemGetDriverVersion(char *version, unsigned length);
int nvmlSystemGetCudaDriverVersion(int *version);

int main(void)
{
    unsigned number = 7;
    EXPECT(1, nvmlDeviceGetCount_v2(&number));
    EXPECT(1, nvmlDeviceGetTemperature(NULL, 0, &number));
    EXPECT(1, nvmlShutdown());
    TRUE(strlen(nvmlErrorString(1)) > 0 && strcmp(nvmlErrorString(0), nvmlErrorString(1)) != 0);

    /* The driver stays closed. */
    OK(nvmlInit_v2());
    int value = 0;
    EXPECT(3, cuDeviceGetAttribute(&value, 1, 0));
    OK(nvmlDeviceGetCount_v2(&number));
    TRUE(number == 1);
    EXPECT(2, nvmlDeviceGetCount_v2(NULL));
    Device device, same;
    OK(nvmlDeviceGetHandleByIndex_v2(0, &device));
    EXPECT(2, nvmlDeviceGetHandleByIndex_v2(1, &device));
    OK(nvmlDeviceGetIndex(device, &number));
    TRUE(number == 0);
    EXPECT(2, nvmlDeviceGetIndex(NULL, &number));
    EXPECT(2, nvmlDeviceGetIndex((Device)&number, &number));

    char name[96], other[96], uuid[80];
    OK(nvmlDeviceGetName(device, name, sizeof name));
    TRUE(strlen(name) > 0);
    EXPECT(7, nvmlDeviceGetName(device, other, strlen(name)));
    OK(nvmlDeviceGetName(device, other, strlen(name) + 1));
    EXPECT(2, nvmlDeviceGetName(device, NULL, sizeof name));
    OK(nvmlDeviceGetUUID(device, uuid, sizeof uuid));
    TRUE(strncmp(uuid, "GPU-", 4) == 0 && strlen(uuid) == 40);
    OK(nvmlDeviceGetHandleByUUID(uuid, &same));
    TRUE(same == device);
    EXPECT(6, nvmlDeviceGetHandleByUUID("GPU-0", &same));
    struct bus bus;
    OK(nvmlDeviceGetPciInfo_v3(device, &bus));
    OK(nvmlDeviceGetHandleByPciBusId_v2(bus.id, &same));
    TRUE(same == device);
    OK(nvmlDeviceGetHandleByPciBusId_v2(bus.short_id, &same));
    EXPECT(6, nvmlDeviceGetHandleByPciBusId_v2("0000:7f:00.0", &same));
    /* Old programs have 52 bytes. */
    struct bus old;
    memset(&old, 0xaa, sizeof old);
    OK(nvmlDeviceGetPciInfo_v2(device, &old));
    TRUE(strcmp(old.short_id, bus.short_id) == 0 && old.bus == bus.bus);
    TRUE((old.id[15] & 0xff) == 0 && (old.id[16] & 0xff) == 0xaa && (old.id[31] & 0xff) == 0xaa);

    struct memory memory;
    OK(nvmlDeviceGetMemoryInfo(device, &memory));
    TRUE(memory.total > 0 && memory.free + memory.used == memory.total);
    struct memory_2 more = { .version = 0 };
    EXPECT(2, nvmlDeviceGetMemoryInfo_v2(device, &more));
    more.version = sizeof more | 2u << 24;
    OK(nvmlDeviceGetMemoryInfo_v2(device, &more));
    TRUE(more.total == memory.total && more.free + more.used + more.reserved == more.total);
    int major = 0, minor = 0;
    OK(nvmlDeviceGetCudaComputeCapability(device, &major, &minor));
    OK(nvmlSystemGetDriverVersion(other, sizeof other));
    TRUE(other[0] >= '0' && other[0] <= '9');
    OK(nvmlSystemGetCudaDriverVersion(&value));
    int version = 0;
    OK(cuDriverGetVersion(&version));
    TRUE(value == version);
    EXPECT(3, nvmlDeviceGetTemperature(device, 0, &number));
    EXPECT(3, nvmlDeviceGetUtilizationRates(device, &number));

    /* A child has the driver, though its parent has the library open. */
    fflush(stdout);
    int child = fork();
    if (child == 0) {
        exit(cuInit(0));
    }
    int status = 1;
    TRUE(child > 0 && waitpid(child, &status, 0) == child && status == 0);

    /* The driver's device is the same. */
    OK(nvmlInitWithFlags(0));
    OK(cuInit(0));
    OK(cuDeviceGetName(other, sizeof other, 0));
    TRUE(strcmp(name, other) == 0);
    unsigned char bytes[16];
    OK(cuDeviceGetUuid(bytes, 0));
    sprintf(other, "GPU-%02x%02x%02x%02x-%02x", bytes[0], bytes[1], bytes[2], bytes[3], bytes[4]);
    TRUE(strncmp(uuid, other, strlen(other)) == 0);
    size_t total = 0;
    OK(cuDeviceTotalMem_v2(&total, 0));
    TRUE(total == memory.total);
    OK(cuDeviceGetAttribute(&value, 75, 0));
    TRUE(value == major);
    OK(nvmlShutdown());
    OK(nvmlDeviceGetCount_v2(&number));
    OK(nvmlShutdown());
    EXPECT(1, nvmlDeviceGetCount_v2(&number));

    /* A child doesn't get the device that its parent has open. */
    fflush(stdout);
    child = fork();
    if (child == 0) {
        exit(nvmlInit_v2() != 0 ? 0 : 1);
    }
    status = 1;
    TRUE(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    puts("done");
    return 0;
}
