#include "base/cgroup.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNLIMITED_BYTES 9e18 /* version 1 reports "no limit" as a number near 2^63 */

static bool read_text(const char *dir, const char *file, char *out, size_t cap)
{
    char path[1200];
    snprintf(path, sizeof path, "%s/%s", dir, file);
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    size_t n = fread(out, 1, cap - 1, f);
    fclose(f);
    out[n] = '\0';
    return n > 0;
}

/* The number in a file; below 0 when there is none ("max", -1, no file). */
static double read_number(const char *dir, const char *file)
{
    char text[64];
    if (!read_text(dir, file, text, sizeof text) || !isdigit((unsigned char)text[0]))
        return -1;
    return strtod(text, NULL);
}

static void lower(double *least, double value)
{
    if (value >= 0 && (*least < 0 || value < *least))
        *least = value;
}

static void take_cpus(const char *dir, struct dg_cgroup *out)
{
    char text[64];
    double quota, period;
    if (read_text(dir, "cpu.max", text, sizeof text)) { /* "QUOTA PERIOD" or "max PERIOD" */
        if (sscanf(text, "%lf %lf", &quota, &period) == 2 && quota > 0 && period > 0)
            lower(&out->cpus, quota / period);
        return;
    }
    quota = read_number(dir, "cpu.cfs_quota_us");
    period = read_number(dir, "cpu.cfs_period_us");
    if (quota > 0 && period > 0)
        lower(&out->cpus, quota / period);
}

/* The value of `name` in the group's memory.stat (a line "NAME BYTES" each); 0 if it is absent. */
static double read_stat(const char *dir, const char *name)
{
    char text[8192];
    size_t n = strlen(name);
    if (!read_text(dir, "memory.stat", text, sizeof text))
        return 0;
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, n) == 0 && line[n] == ' ')
            return strtod(line + n, NULL);
    }
    return 0;
}

/* Memory in use excludes inactive file pages, because the kernel drops those before it refuses an
 * allocation. */
static void take_memory(const char *dir, struct dg_cgroup *out)
{
    double limit = read_number(dir, "memory.max"), used = read_number(dir, "memory.current");
    const char *idle = "inactive_file";
    if (limit < 0) {
        limit = read_number(dir, "memory.limit_in_bytes");
        used = read_number(dir, "memory.usage_in_bytes");
        idle = "total_inactive_file";
    }
    if (limit < 0 || limit > UNLIMITED_BYTES)
        return;
    used -= read_stat(dir, idle);
    double left = used > 0 ? limit - used : limit;
    lower(&out->memory_bytes, limit);
    lower(&out->memory_left, left > 0 ? left : 0);
}

/* Apply the limits of a group and of every group above it, up to the root of its hierarchy. */
static void climb(const char *base, const char *group, bool cpu, bool memory, struct dg_cgroup *out)
{
    char dir[1100];
    int n = snprintf(dir, sizeof dir, "%s%s", base, group);
    if (n < 0 || (size_t)n >= sizeof dir)
        return;
    for (size_t floor = strlen(base);;) {
        if (cpu)
            take_cpus(dir, out);
        if (memory)
            take_memory(dir, out);
        char *slash = strrchr(dir, '/');
        if (!slash || (size_t)(slash - dir) < floor)
            return;
        *slash = '\0';
    }
}

/* Is `name` in a list such as "cpu,cpuacct"? */
static bool has(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = list; *p; p += strcspn(p, ","), p += *p == ',')
        if (strcspn(p, ",") == n && memcmp(p, name, n) == 0)
            return true;
    return false;
}

void dg_cgroup_read(const char *membership, const char *root, struct dg_cgroup *out)
{
    char line[1024], base[1024];
    *out = (struct dg_cgroup){-1, -1, -1};
    if (!root)
        root = "/sys/fs/cgroup";
    FILE *f = fopen(membership ? membership : "/proc/self/cgroup", "re");
    while (f && fgets(line, sizeof line, f)) { /* "ID:CONTROLLERS:/GROUP" */
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = '\0';
        controllers++;
        if (controllers[0] == '\0') { /* version 2 */
            climb(root, group, true, true, out);
            continue;
        }
        if (!has(controllers, "cpu") && !has(controllers, "memory"))
            continue;
        snprintf(base, sizeof base, "%.500s/%.500s", root, controllers);
        climb(base, group, has(controllers, "cpu"), has(controllers, "memory"), out);
    }
    if (f)
        fclose(f);
}
