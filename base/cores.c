#include "base/cores.h"

#include "base/cgroup.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>

int dg_cores_available(void)
{
    struct dg_cgroup group;
    cpu_set_t set;
    int n = 1;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        n = CPU_COUNT(&set);
    dg_cgroup_read(NULL, NULL, &group);
    if (group.cpus > 0 && ceil(group.cpus) < n)
        n = (int)ceil(group.cpus);
    return n > 0 ? n : 1;
}

double dg_memory_available(bool *grouped)
{
    struct dg_cgroup group;
    char line[128];
    double free_bytes = 0, kb;
    FILE *f = fopen("/proc/meminfo", "re");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "MemAvailable: %lf kB", &kb) == 1)
            free_bytes = kb * 1024;
    if (f)
        fclose(f);
    dg_cgroup_read(NULL, NULL, &group);
    *grouped = group.memory_left >= 0 && group.memory_left < free_bytes;
    return *grouped ? group.memory_left : free_bytes;
}
