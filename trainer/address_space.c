/* When it is loaded, before main, OpenBLAS asks for a buffer of 128 MiB for each of its threads
 * except one, and retries for ever if the address space is limited to less. This file checks first:
 * the dynamic loader calls the program's own preinit functions before those of any library. Only
 * system calls here, as the libraries are not initialised yet. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define BUFFER ((size_t)128 << 20)

/* Number of threads that OpenBLAS will start. */
static size_t count_threads(char **envp)
{
    static const char *const names[] = {
        "OPENBLAS_NUM_THREADS=", "GOTO_NUM_THREADS=", "OMP_NUM_THREADS="};
    cpu_set_t set;
    size_t n = sched_getaffinity(0, sizeof set, &set) == 0 ? (size_t)CPU_COUNT(&set) : 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (char **e = envp; *e; e++) {
            const size_t len = strlen(names[i]);
            const long said = strncmp(*e, names[i], len) == 0 ? strtol(*e + len, NULL, 10) : 0;
            if (said > 0)
                return (size_t)said < n ? (size_t)said : n;
        }
    return n;
}

static void look(int argc, char **argv, char **envp)
{
    static const char words[] =
        "dragoman-train: too little address space (ulimit -v): the library for products "
        "(OpenBLAS) takes 128 MiB for each processor; raise it, or set OPENBLAS_NUM_THREADS=1\n";
    struct rlimit limit;
    (void)argc;
    (void)argv;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return;
    const size_t n = count_threads(envp), bytes = (n > 1 ? n - 1 : 1) * BUFFER;
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p != MAP_FAILED) {
        munmap(p, bytes);
        return;
    }
    if (write(STDERR_FILENO, words, sizeof words - 1) < 0)
        _exit(2);
    _exit(1);
}

__attribute__((section(".preinit_array"), used)) static void (*const before_libraries)(
    int, char **, char **) = look;
