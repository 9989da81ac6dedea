/* How many cores and how much memory this process may use. Any thread. */
#ifndef DG_BASE_CORES_H
#define DG_BASE_CORES_H

#include <stdbool.h>

/* By CPU affinity and the control groups' CPU limit, rounded up; at least 1. */
int dg_cores_available(void);

/* Bytes that may still be taken: what the machine has free or the control groups leave, whichever
 * is less; *grouped says that it is the latter. 0 when nothing can be read. */
double dg_memory_available(bool *grouped);

#endif
