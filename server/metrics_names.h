/* Label values of metrics that are collected as they occur: up to a number, beyond which all share
 * one index. They are never removed. Any thread. */
#ifndef DG_SERVER_METRICS_NAMES_H
#define DG_SERVER_METRICS_NAMES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#define DG_METRICS_NAMES 64
#define DG_METRICS_NAME_BYTES 256 /* a bundle's name is a file name */

struct dg_metrics_names {
    pthread_mutex_t lock;
    /* grows with lock held */
    atomic_size_t n;
    /* [n] are valid and stay as they are */
    char list[DG_METRICS_NAMES][DG_METRICS_NAME_BYTES];
};

void dg_metrics_names_init(struct dg_metrics_names *names);
void dg_metrics_names_deinit(struct dg_metrics_names *names);
/* The name's index, which is new if need be; DG_METRICS_NAMES when there is no more room. */
unsigned dg_metrics_names_place(struct dg_metrics_names *names, const char *name);

#endif
