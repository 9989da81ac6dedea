/* How many cores and how much memory this process may use. Any thread. */
#ifndef DG_BASE_CORES_H
#define DG_BASE_CORES_H

#include <stdbool.h>

/* Number of cores by CPU affinity and the control groups' CPU limit, rounded up; at least 1. */
int dg_cores_available(void);

/* Available bytes: the lower of the machine's available memory and what the control groups leave;
 * *grouped is true for the latter. 0 when nothing can be read. */
double dg_memory_available(bool *grouped);

#endif
