/* The checks of `dragoman doctor`. Each adds findings; none changes anything. One thread. */
#ifndef DG_CLI_DOCTOR_H
#define DG_CLI_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dg_finding_level { DG_FINDING_OK, DG_FINDING_WARN, DG_FINDING_FAIL };

struct dg_finding {
    enum dg_finding_level level;
    char subject[32], message[512];
    /* what to do, or NULL; static storage */
    const char *advice;
};

struct dg_doctor {
    /* models: a bundle or a directory of bundles */
    const char *models, *host;
    /* file of API keys, or NULL */
    const char *keys;
    uint32_t port;
    /* maximum number of the server's connections; whether it was given, else it is the default */
    int64_t connections;
    bool connections_given;
    /* [n], with capacity cap */
    struct dg_finding *list;
    size_t n, cap;
    /* where `make install` put the bundles; used when no models were named */
    char installed[2048];
    /* memory this process may still take; set by dg_doctor_machine */
    double bytes_available;
};

/* Add a finding. Out of memory ends the process, because an incomplete report is of no use. */
void dg_doctor_say(struct dg_doctor *d, enum dg_finding_level level, const char *subject,
    const char *advice, const char *format, ...) __attribute__((format(printf, 5, 6)));

void dg_doctor_machine(struct dg_doctor *d); /* processor, cores, memory, descriptors, device */
void dg_doctor_port(struct dg_doctor *d);    /* whether a server can listen there */
void dg_doctor_models(struct dg_doctor *d);  /* checksums, memory, a translation by each */

#endif
