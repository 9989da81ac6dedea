/* What a test says to the library of faults (preload.c) and hears from it: one page of numbers and
 * a table of places, in a file that both have mapped. tests/faults/faults.py has the same layout.
 * The library's threads change the counts without a lock; the test writes between two steps. */
#ifndef DG_TESTS_FAULTS_CONTROL_H
#define DG_TESTS_FAULTS_CONTROL_H

#include <stdatomic.h>
#include <stdint.h>

enum { FAULTS_PLACES = 1 << 14, FAULTS_FRAMES = 30 };

/* Which calls fail, a bit each. */
enum {
    FAULTS_OPEN = 1,
    FAULTS_READ = 2,
    FAULTS_WRITE = 4,
    FAULTS_SYNC = 8,
    FAULTS_RENAME = 16,
    FAULTS_TRUNCATE = 32,
    FAULTS_MKDIR = 64,
};

/* A stack that has asked for memory. */
struct faults_place {
    _Atomic uint64_t hash;          /* 0: free */
    _Atomic uint64_t first;         /* the number of its first call */
    _Atomic uint64_t count;         /* of its calls */
    _Atomic uint64_t depth;         /* of its frames */
    uint64_t frames[FAULTS_FRAMES]; /* return addresses, the innermost first */
};

struct faults_control {
    /* allocations */
    _Atomic uint64_t calls;      /* so far */
    _Atomic uint64_t failed;     /* of them */
    _Atomic int64_t live;        /* blocks that are allocated now */
    _Atomic uint64_t fail_at;    /* this call fails (the first is 1), and those after it: */
    _Atomic uint64_t fail_n;     /* so many in all */
    _Atomic uint64_t fail_place; /* calls of this place fail: */
    _Atomic uint64_t fail_times; /* so many of them */
    _Atomic uint64_t fail_skip;  /* after so many */
    _Atomic uint64_t record;     /* keep places */
    _Atomic uint64_t trace;      /* say on stderr where a call failed */
    /* time */
    _Atomic int64_t clock_ns; /* how far the wall clock is from the true one */
    /* files */
    _Atomic uint64_t io_mask;   /* which calls count; 0: none */
    _Atomic uint64_t io_at;     /* this one of them fails (the first is 1), and those after it: */
    _Atomic uint64_t io_n;      /* so many in all */
    _Atomic uint64_t io_errno;  /* how; 0: reads and writes do half of it */
    _Atomic uint64_t io_calls;  /* so far */
    _Atomic uint64_t io_failed; /* of them */
    char io_path[128];          /* in files whose name has this; "": in none */
    struct faults_place places[FAULTS_PLACES];
};

#endif
