/* The machine as a server would see it: from /proc, /sys and the control groups above this
 * process. */
#include "base/cgroup.h"
#include "base/cores.h"
#include "cli/doctor.h"
#include "kernels/cpu/cpu.h"
#include "kernels/device.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* As the server counts (server/service_http.c): descriptors for its models, epolls and threads, and
 * the fewest connections that it lowers its default to. */
#define OTHER_DESCRIPTORS 256
#define LEAST_CONNECTIONS 16
#define SMALL_MEMORY (256.0 * 1024 * 1024)

/* Read the processor's name. Without one, out stays as it is. */
static void read_name(char out[128])
{
    char line[8192];
    FILE *f = fopen("/proc/cpuinfo", "re");
    while (f && fgets(line, sizeof line, f) && sscanf(line, "model name : %127[^\n]", out) != 1)
        ;
    if (f)
        fclose(f);
}

static void look_at_processor(struct dg_doctor *d)
{
    char name[128] = "unknown processor", sets[128] = "";
    struct dg_backend *be = NULL;
    struct dg_error err = {0};
    struct dg_cpu_options o = {.threads = 1};
    read_name(name);
    for (const char *const *isa = dg_cpu_isas(); *isa; isa++)
        snprintf(
            sets + strlen(sets), sizeof sets - strlen(sets), "%s%s", sets[0] ? ", " : "", *isa);
    if (dg_cpu_open(&o, &be, &err) != DG_OK) {
        dg_doctor_say(d, DG_FINDING_FAIL, "processor",
            "unset DRAGOMAN_ISA, or name one that it has", "%s", err.message);
        return;
    }
    bool slow = strcmp(be->name, "cpu/generic") == 0, forced = getenv("DRAGOMAN_ISA") != NULL;
    dg_doctor_say(d, slow ? DG_FINDING_WARN : DG_FINDING_OK, "processor",
        !slow    ? NULL
        : forced ? "unset DRAGOMAN_ISA: the plain kernels are many times slower"
                 : "the plain kernels are many times slower: use a processor with AVX2",
        "%s; kernels %s of %s", name, be->name, sets);
    dg_cpu_close(be);
}

static void look_at_cores(struct dg_doctor *d)
{
    cpu_set_t set;
    int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    struct dg_cgroup group;
    dg_cgroup_read(NULL, NULL, &group);
    double limit = group.cpus;
    if (limit < 0 || limit >= cores)
        dg_doctor_say(d, DG_FINDING_OK, "cores", NULL, "%d", cores);
    else if (limit == (double)(int)limit)
        dg_doctor_say(
            d, DG_FINDING_OK, "cores", NULL, "%g of %d, by the control group", limit, cores);
    else
        dg_doctor_say(d, DG_FINDING_WARN, "cores",
            "a fraction of a core pauses threads: assign whole cores",
            "%g of %d, by the control group", limit, cores);
}

static void look_at_memory(struct dg_doctor *d)
{
    bool grouped;
    d->bytes_available = dg_memory_available(&grouped);
    dg_doctor_say(d, d->bytes_available < SMALL_MEMORY ? DG_FINDING_WARN : DG_FINDING_OK, "memory",
        d->bytes_available < SMALL_MEMORY ? "free some, or raise the limit" : NULL,
        "%.0f MB available%s", d->bytes_available / 1e6, grouped ? ", by the control group" : "");
}

/* A server lowers its default number of connections to what its descriptors allow, but not a number
 * that was given. */
static void look_at_descriptors(struct dg_doctor *d)
{
    static const char advice[] = "raise ulimit -n to 65536 (systemd: LimitNOFILE; Docker: --ulimit "
                                 "nofile=65536), or lower --max-connections";
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    const unsigned long long allowed = limit.rlim_max,
                             need = (unsigned long long)d->connections + OTHER_DESCRIPTORS;
    if (allowed < need && !d->connections_given && allowed >= OTHER_DESCRIPTORS + LEAST_CONNECTIONS)
        dg_doctor_say(d, DG_FINDING_WARN, "descriptors", advice,
            "%llu allowed, for %llu connections instead of %lld", allowed,
            allowed - OTHER_DESCRIPTORS, (long long)d->connections);
    else
        dg_doctor_say(d, allowed < need ? DG_FINDING_FAIL : DG_FINDING_OK, "descriptors",
            allowed < need ? advice : NULL, "%llu allowed, %lld connections need %llu", allowed,
            (long long)d->connections, need);
}

/* "cuda:0, cuda:2" */
static void name_devices(const struct dg_devices *devices, char *out, size_t cap)
{
    size_t n = 0;
    for (uint32_t i = 0; i < devices->n && n < cap; i++)
        n +=
            (size_t)snprintf(out + n, cap - n, "%scuda:%d", i ? ", " : "", devices->list[i].number);
}

/* DG_OK if each of the devices can be used. */
static int probe_devices(const struct dg_devices *devices, struct dg_error *err)
{
    int rc = DG_OK;
    for (uint32_t i = 0; i < devices->n && rc == DG_OK; i++)
        rc = dg_device_probe(&devices->list[i], err);
    return rc;
}

/* Report the device that a server would choose from the environment, and a GPU that would stay
 * idle. */
static void look_at_gpu(struct dg_doctor *d)
{
    struct dg_devices devices;
    struct dg_error err = {0};
    char names[256];
    if (dg_devices_choose(NULL, &devices, &err) != DG_OK ||
        probe_devices(&devices, &err) != DG_OK) {
        dg_doctor_say(d, DG_FINDING_FAIL, "gpu",
            "name a device and a precision that can be used here (docs/gpu.md) by "
            "DRAGOMAN_DEVICE and DRAGOMAN_PRECISION, or unset them",
            "%s", err.message);
        return;
    }
    const struct dg_device *first = &devices.list[0];
    bool there = access("/proc/driver/nvidia/version", R_OK) == 0;
    if (first->cuda) {
        name_devices(&devices, names, sizeof names);
        dg_doctor_say(d, DG_FINDING_OK, "gpu", NULL, "%s", names);
    } else if (!first->note[0]) {
        dg_doctor_say(d, DG_FINDING_OK, "gpu", NULL, "not used: the device is set to cpu");
    } else {
        dg_doctor_say(d, there ? DG_FINDING_WARN : DG_FINDING_OK, "gpu",
            there ? "see docs/gpu.md, or DRAGOMAN_DEVICE=cpu to leave it idle" : NULL,
            "not used: %s", first->note);
    }
}

void dg_doctor_machine(struct dg_doctor *d)
{
    look_at_processor(d);
    look_at_cores(d);
    look_at_memory(d);
    look_at_descriptors(d);
    look_at_gpu(d);
}

void dg_doctor_port(struct dg_doctor *d)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *list = NULL;
    char service[8];
    int on = 1;
    snprintf(service, sizeof service, "%u", d->port);
    int rc = getaddrinfo(d->host, service, &hints, &list);
    if (rc != 0) {
        dg_doctor_say(
            d, DG_FINDING_FAIL, "port", "another --host", "%s: %s", d->host, gai_strerror(rc));
        return;
    }
    int fd = socket(list->ai_family, list->ai_socktype | SOCK_CLOEXEC, list->ai_protocol);
    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    /* listen() also detects a listener that SO_REUSEADDR lets bind() overlook. */
    if (fd >= 0 && bind(fd, list->ai_addr, list->ai_addrlen) == 0 && listen(fd, 1) == 0)
        dg_doctor_say(d, DG_FINDING_OK, "port", NULL, "%s:%u is free", d->host, d->port);
    else
        dg_doctor_say(d, DG_FINDING_FAIL, "port",
            errno == EADDRINUSE
                ? "stop the program that listens there (another server?), or choose another "
                  "--port"
            : errno == EACCES ? "choose a port above 1023"
                              : "another --host",
            "%s:%u: %s", d->host, d->port, strerror(errno));
    if (fd >= 0)
        close(fd);
    freeaddrinfo(list);
}
