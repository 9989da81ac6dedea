/* What the control groups above this process allow (Linux, versions 1 and 2): the least limit of
 * its own group and of all above it; a container usually sees its own as the root. Any thread. */
#ifndef DG_BASE_CGROUP_H
#define DG_BASE_CGROUP_H

struct dg_cgroup {
    /* may be a fraction; below 0: no limit */
    double cpus;
    /* the limit; below 0: none */
    double memory_bytes;
    /* before some group meets its limit, idle file pages not counted as used; below 0: none has
     * one */
    double memory_left;
};

/* membership: as /proc/self/cgroup; root: as /sys/fs/cgroup. NULL: these. What cannot be read
 * limits nothing. */
void dg_cgroup_read(const char *membership, const char *root, struct dg_cgroup *out);

#endif
