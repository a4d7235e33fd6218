/* A program that says how kernels are loaded, and how many files loading a module of three kernels adds to the cache. The declarations
   are this program's own. */
#include <dirent.h>

#include "checks.h"

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(Context *context, int device);
int cuCtxSetCurrent(Context context);
int cuModuleLoadData(Module *module, const void *image);
int cuModuleGetLoadingMode(unsigned *mode);
int cuModuleUnload(Module module);

static int files(void) {
    DIR *folder = opendir(getenv("PTX2SPV_CACHE"));
    int count = 0;
    while (folder && readdir(folder)) {
        count++;
    }
    if (folder) {
        closedir(folder);
    }
    return count;
}

int main(void) {
    Context context;
    Module module;
    unsigned mode;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    OK(cuModuleGetLoadingMode(&mode));
    int before = files();
    OK(cuModuleLoadData(&module,
        ".version 7.0\n.target sm_50\n.address_size 64\n"
        ".visible .entry one() { ret; }\n"
        ".visible .entry two() { ret; }\n"
        ".visible .entry three() { ret; }\n"));
    printf("mode %u, %d files\n", mode, files() - before);
    OK(cuModuleUnload(module));
    return 0;
}
