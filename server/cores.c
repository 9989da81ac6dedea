#include "server/cores.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

/* Cores that a control group's "QUOTA PERIOD" allows, rounded up; 0 = no limit. */
static int group_limit(const char *path)
{
    char text[64];
    long long quota, period;
    FILE *f = fopen(path, "re");
    if (!f)
        return 0;
    size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = '\0';
    if (sscanf(text, "%lld %lld", &quota, &period) != 2 || quota <= 0 || period <= 0)
        return 0; /* "max 100000" */
    return (int)((quota + period - 1) / period);
}

/* The limits of our own group and of all above it (version 2; a container usually sees its own as
 * the root). */
static int groups_limit(void)
{
    char line[512], path[600];
    int least = 0;
    FILE *f = fopen("/proc/self/cgroup", "re");
    if (!f)
        return 0;
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "0::", 3) != 0)
            continue;
        for (char *group = line + 3;;) {
            snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", group);
            int limit = group_limit(path);
            if (limit > 0 && (least == 0 || limit < least))
                least = limit;
            char *slash = strrchr(group, '/');
            if (!slash || group[0] == '\0')
                break;
            *slash = '\0';
        }
    }
    fclose(f);
    return least;
}

int dg_cores_available(void)
{
    cpu_set_t set;
    int n = 1;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        n = CPU_COUNT(&set);
    int limit = groups_limit();
    if (limit > 0 && limit < n)
        n = limit;
    return n > 0 ? n : 1;
}
