/* SIGTERM and SIGINT: the first asks the program to save and end, the second ends it at once. Any
 * thread reads the flag. */
#ifndef DG_TRAINER_VERBS_STOP_H
#define DG_TRAINER_VERBS_STOP_H

/* Let signals set the flag from now on. Main thread. */
void dg_stop_watch(void);
/* Nonzero after a signal; long work checks it. Static storage, any thread. */
const volatile int *dg_stop_flag(void);
/* The signal's number; 0: none came. */
int dg_stop_signal(void);

#endif
