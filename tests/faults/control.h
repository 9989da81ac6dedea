/* Shared between a test and the fault library (preload.c): one page of numbers and a table of
 * places, in a file that both have mapped. tests/faults/faults.py has the same layout. The
 * library's threads change the counts without a lock; the test writes between two steps. */
#ifndef DG_TESTS_FAULTS_CONTROL_H
#define DG_TESTS_FAULTS_CONTROL_H

#include <stdatomic.h>
#include <stdint.h>

enum { FAULTS_PLACES = 1 << 14, FAULTS_FRAMES = 30 };

/* Bit masks of the calls that fail. */
enum {
    FAULTS_OPEN = 1,
    FAULTS_READ = 2,
    FAULTS_WRITE = 4,
    FAULTS_SYNC = 8,
    FAULTS_RENAME = 16,
    FAULTS_TRUNCATE = 32,
    FAULTS_MKDIR = 64,
};

/* A call stack that has asked for memory. */
struct faults_place {
    _Atomic uint64_t hash;          /* 0: free */
    _Atomic uint64_t first;         /* number of its first call */
    _Atomic uint64_t count;         /* number of its calls */
    _Atomic uint64_t depth;         /* number of its frames */
    uint64_t frames[FAULTS_FRAMES]; /* return addresses, the innermost first */
};

struct faults_control {
    /* allocations */
    _Atomic uint64_t calls;      /* calls so far */
    _Atomic uint64_t failed;     /* calls that failed */
    _Atomic int64_t live;        /* blocks allocated now */
    _Atomic uint64_t fail_place; /* hash of the place whose calls fail */
    _Atomic uint64_t fail_times; /* how many of them fail */
    _Atomic uint64_t fail_skip;  /* how many of them succeed first */
    _Atomic uint64_t record;     /* record places */
    _Atomic uint64_t trace;      /* print the stack of each failing call on stderr */
    /* time */
    _Atomic int64_t clock_ns; /* offset of the wall clock from the true time */
    /* files */
    _Atomic uint64_t io_mask; /* calls that are counted; 0: none */
    /* number of the first counted call that fails (the first is 1); 0: none */
    _Atomic uint64_t io_at;
    _Atomic uint64_t io_n;      /* how many calls fail from there on */
    _Atomic uint64_t io_errno;  /* error of a failing call; 0: reads and writes do half of it */
    _Atomic uint64_t io_calls;  /* calls so far */
    _Atomic uint64_t io_failed; /* calls that failed */
    char io_path[128];          /* only files whose name contains this; "": none */
    struct faults_place places[FAULTS_PLACES];
};

#endif
