/* Names that `top -H`, `ps -L`, perf and gdb show for threads. Any thread. */
#ifndef DG_BASE_THREAD_NAME_H
#define DG_BASE_THREAD_NAME_H

enum { DG_THREAD_NAME = 16 }; /* bytes with the final 0, Linux's limit */

/* Name the calling thread "dg-" plus the formatted text; longer names are cut. A thread inherits
 * the name of the one that starts it. */
void dg_thread_name(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
