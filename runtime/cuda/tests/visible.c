/* Writes the devices that the program sees, and whether they are those of NVIDIA's management library. The declarations are this
   program's own. */
#include "checks.h"

typedef struct device *Device;

int cuInit(unsigned flags);
int cuDeviceGetCount(int *count);
int cuDeviceGetName(char *name, int length, int device);
int cuDeviceGetPCIBusId(char *text, int length, int device);
int nvmlInit_v2(void);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByPciBusId_v2(const char *id, Device *device);
int nvmlDeviceGetName(Device device, char *name, unsigned length);
int nvmlDeviceGetIndex(Device device, unsigned *index);

int main(void)
{
    int count = 0, result = cuInit(0);
    unsigned all;
    OK(nvmlInit_v2());
    OK(nvmlDeviceGetCount_v2(&all));
    if (result)
        printf("error %d\n", result);
    else
        OK(cuDeviceGetCount(&count));
    for (int i = 0; i < count; ++i) {
        char name[256], other[256], bus[32];
        unsigned index;
        Device device;
        OK(cuDeviceGetName(name, sizeof name, i));
        OK(cuDeviceGetPCIBusId(bus, sizeof bus, i));
        OK(nvmlDeviceGetHandleByPciBusId_v2(bus, &device));
        OK(nvmlDeviceGetName(device, other, sizeof other));
        OK(nvmlDeviceGetIndex(device, &index));
        TRUE(strcmp(name, other) == 0);
        printf("%d is %u of %u\n", i, index, all);
    }
    return 0;
}
