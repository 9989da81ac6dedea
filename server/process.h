/* Data and settings of this process in the operating system (Linux). Any thread. */
#ifndef DG_SERVER_PROCESS_H
#define DG_SERVER_PROCESS_H

struct dg_process {
    double cpu_seconds, resident_bytes, virtual_bytes, open_fds, max_fds, start_time_s;
};

/* Zeros where nothing can be read. */
void dg_process_read(struct dg_process *out);

/* One heap for all threads, and blocks of 64 KiB and more given back as soon as they are freed: the
 * requests of weeks leave no holes (docs/operations.md). MALLOC_ARENA_MAX,
 * MALLOC_MMAP_THRESHOLD_ and MALLOC_TRIM_THRESHOLD_ in the environment go first. Before any thread.
 */
void dg_process_keep_heap_small(void);

/* Give back the whole pages of freed blocks that others still enclose. For the thread that has
 * freed something large; others that allocate wait for it (some milliseconds). */
void dg_process_shrink_heap(void);

#endif
