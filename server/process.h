/* Data and settings of this process in the operating system (Linux). Any thread. */
#ifndef DG_SERVER_PROCESS_H
#define DG_SERVER_PROCESS_H

struct dg_process {
    double cpu_seconds, resident_bytes, virtual_bytes, open_fds, max_fds, start_time_s;
};

/* Zeros where nothing can be read. */
void dg_process_read(struct dg_process *out);

/* Use one heap for all threads, and return blocks of 64 KiB and more to the system as soon as they
 * are freed, so that the heap does not fragment over weeks of requests (docs/operations.md).
 * MALLOC_ARENA_MAX, MALLOC_MMAP_THRESHOLD_ and MALLOC_TRIM_THRESHOLD_ in the environment take
 * precedence. Call it before any thread. */
void dg_process_keep_heap_small(void);

/* Return whole free pages inside the heap to the system. For the thread that has freed something
 * large; others that allocate wait for it (some milliseconds). */
void dg_process_shrink_heap(void);

#endif
