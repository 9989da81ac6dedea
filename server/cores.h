/* How many cores this process may use: CPU affinity and the control group's CPU limit. Any thread.
 */
#ifndef DG_SERVER_CORES_H
#define DG_SERVER_CORES_H

/* At least 1. */
int dg_cores_available(void);

#endif
