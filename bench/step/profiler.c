#include "bench/step/profiler.h"

#include <dlfcn.h>
#include <string.h>

void bench_profile_from_here(void)
{
    /* The plugin opened it; the programs themselves do not link CUDA. */
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    void *found = driver ? dlsym(driver, "cuProfilerStart") : NULL;
    if (found) {
        int (*start)(void);
        memcpy(&start, &found, sizeof start);
        start();
    }
    if (driver)
        dlclose(driver);
}
