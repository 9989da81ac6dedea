#include "server/process.h"

#include "base/clock.h"

#include <dirent.h>
#include <malloc.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static double count_fds(void)
{
    double n = -3; /* ".", ".." and the directory itself */
    DIR *d = opendir("/proc/self/fd");
    if (!d)
        return 0;
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

/* When the machine started, in seconds since the epoch. Stays as it is unless somebody sets the
 * clock by seconds: the two clocks are not read at the same moment, and any change of a start time
 * counts as a restart (DragomanRestarts). /proc/stat has no part in it, because the systemd unit
 * hides that file (ProcSubset=pid). */
static double boot_time(void)
{
    static _Atomic double kept;
    const double now = dg_clock_wall_s() - (double)dg_clock_boot_ns() * 1e-9;
    double before = atomic_load(&kept);
    if (fabs(now - before) < 2)
        return before;
    return atomic_compare_exchange_strong(&kept, &before, now) ? now : before;
}

/* Seconds since the epoch: boot time plus the 22nd field of stat, in clock ticks. */
static double start_time(void)
{
    char line[1024];
    unsigned long long ticks = 0;
    FILE *f = fopen("/proc/self/stat", "re");
    if (f) {
        /* the second field, in brackets, may hold anything, even spaces */
        if (fgets(line, sizeof line, f) && strrchr(line, ')'))
            sscanf(strrchr(line, ')') + 1,
                " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
                &ticks);
        fclose(f);
    }
    return boot_time() + (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

void dg_process_read(struct dg_process *out)
{
    unsigned long long virtual_pages = 0, resident_pages = 0;
    struct rlimit limit;
    double page = (double)sysconf(_SC_PAGESIZE);
    memset(out, 0, sizeof *out);
    FILE *f = fopen("/proc/self/statm", "re");
    if (f) {
        if (fscanf(f, "%llu %llu", &virtual_pages, &resident_pages) == 2) {
            out->virtual_bytes = (double)virtual_pages * page;
            out->resident_bytes = (double)resident_pages * page;
        }
        fclose(f);
    }
    out->cpu_seconds = (double)dg_clock_cpu_ns() / 1e9;
    out->open_fds = count_fds();
    out->start_time_s = start_time();
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        out->max_fds = (double)limit.rlim_cur;
}

void dg_process_keep_heap_small(void)
{
#ifdef __GLIBC__
    if (!getenv("MALLOC_ARENA_MAX"))
        mallopt(M_ARENA_MAX, 1);
    /* Above the blocks that each sentence allocates, the largest of which are CLD2's 56 KiB:
     * mapping and touching these anew took 45 of a cached sentence's 110 us. */
    if (!getenv("MALLOC_MMAP_THRESHOLD_"))
        mallopt(M_MMAP_THRESHOLD, 65536);
    if (!getenv("MALLOC_TRIM_THRESHOLD_"))
        mallopt(M_TRIM_THRESHOLD, 1 << 20); /* with 128 KiB, brk frees and retakes such a block */
    mallopt(M_MXFAST, 0);                   /* freed small blocks join their neighbours */
#endif
}

void dg_process_shrink_heap(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
