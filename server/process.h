/* What the operating system says about this process (Linux). Any thread. */
#ifndef DG_SERVER_PROCESS_H
#define DG_SERVER_PROCESS_H

struct dg_process {
    double cpu_seconds, resident_bytes, virtual_bytes, open_fds, max_fds, start_time_s;
};

/* Zeros where nothing can be read. */
void dg_process_read(struct dg_process *out);

#endif
