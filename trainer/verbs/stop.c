#include "trainer/verbs/stop.h"

#include "trainer/update/ranks.h"

#include <signal.h>
#include <stddef.h>

/* The only mutable globals: a signal handler can reach nothing else. */
static volatile sig_atomic_t stop_signal;
static volatile int stop_requested;

static void on_signal(int number)
{
    stop_signal = number;
    stop_requested = 1;
    signal(number, SIG_DFL); /* a second signal ends the program at once */
}

void dg_stop_watch(void)
{
    struct sigaction sa = {.sa_handler = on_signal};
    sigaction(SIGTERM, &sa, NULL);
    sigaction(SIGINT, &sa, NULL);
    if (dg_ranks_launched() > 1)
        sigaction(SIGUSR1, &sa, NULL); /* mpirun forwards it and does not kill afterwards */
}

const volatile int *dg_stop_flag(void)
{
    return &stop_requested;
}

int dg_stop_signal(void)
{
    return (int)stop_signal;
}
