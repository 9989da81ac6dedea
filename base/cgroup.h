/* Limits of this process's control groups (Linux, versions 1 and 2): the lowest limit of its own
 * group and of all above it. A container usually sees its own group as the root. Any thread. */
#ifndef DG_BASE_CGROUP_H
#define DG_BASE_CGROUP_H

struct dg_cgroup {
    /* may be a fraction; below 0: no limit */
    double cpus;
    /* the limit; below 0: none */
    double memory_bytes;
    /* bytes left before a group reaches its limit, without idle file pages; below 0: no limit */
    double memory_left;
};

/* membership: a file like /proc/self/cgroup; root: a folder like /sys/fs/cgroup. NULL means these
 * two. Unreadable files mean no limit. */
void dg_cgroup_read(const char *membership, const char *root, struct dg_cgroup *out);

#endif
