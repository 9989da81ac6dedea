/* libgumbo frees recursively and does not limit its allocations: a thousand unclosed tags before a
 * thousand paragraphs make a million nodes. So all its memory comes from an arena with a limit, and
 * exceeding the limit, or the time, jumps out of it. */
#include "text/format/html/tree.h"

#include "base/arena.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define MEMORY_BYTES (32u << 20) /* plus BYTES_PER_BYTE for each byte of the document */
#define BYTES_PER_BYTE 256
#define CPU_NS 1000000000ull /* plus NS_PER_BYTE; a thousand tags a millisecond is usual */
#define NS_PER_BYTE 500
#define LOOK_AT_CLOCK 4096   /* allocations between two checks of the time */
#define MOST_STEPS 50000000u /* 0.5 s */

struct dg_html_tree {
    const GumboOutput *output;
    struct dg_arena arena;
    uint64_t until_ns;
    size_t n_allocations;
    bool ended; /* out of memory below the arena's limit */
    jmp_buf out;
};

/* The thread's CPU time, which does not count time spent waiting for others. */
static uint64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void *allocate(void *arg, size_t size)
{
    struct dg_html_tree *t = arg;
    void *p = dg_arena_alloc(&t->arena, size);
    bool late = ++t->n_allocations % LOOK_AT_CLOCK == 0 && cpu_ns() > t->until_ns;
    t->ended = !p && size < t->arena.limit_bytes - t->arena.used_bytes;
    if (!p || late)
        longjmp(t->out, 1);
    return p;
}

static void release(void *arg, void *p)
{
    (void)arg;
    (void)p;
}

/* Parse s[n]; false: the limits, or the machine's memory, end it. */
static bool parse(struct dg_html_tree *t, const char *s, size_t n)
{
    GumboOptions options = kGumboDefaultOptions;
    if (setjmp(t->out) != 0)
        return false;
    options.allocator = allocate;
    options.deallocator = release;
    options.userdata = t;
    options.max_errors = 0;
    t->output = gumbo_parse_with_options(&options, s, n);
    return true;
}

/* False if libgumbo might take too long: at the end of the document it walks its stack of open
 * elements once for each open <template>, and allocates nothing there, so `allocate` cannot stop
 * it. */
static bool has_few_templates(const char *s, size_t n)
{
    static const char template[] = "<template";
    const size_t len = sizeof template - 1;
    uint64_t tags = 0, templates = 0;
    for (const char *at = s, *end = s + n;
         at < end && (at = memchr(at, '<', (size_t)(end - at))) != NULL; at++) {
        tags++;
        templates += (size_t)(end - at) >= len && strncasecmp(at, template, len) == 0;
    }
    return tags * templates <= MOST_STEPS;
}

int dg_html_tree_open(const char *s, size_t n, struct dg_html_tree **out, struct dg_error *err)
{
    struct dg_html_tree *t = calloc(1, sizeof *t);
    if (!t)
        return dg_error_set(err, DG_ENOMEM, "no memory to parse HTML");
    dg_arena_init(&t->arena, MEMORY_BYTES + BYTES_PER_BYTE * n);
    t->until_ns = cpu_ns() + CPU_NS + NS_PER_BYTE * n;
    if (has_few_templates(s, n) && parse(t, s, n)) {
        *out = t;
        return DG_OK;
    }
    const bool no_memory = t->ended;
    dg_html_tree_close(t);
    if (no_memory)
        return dg_error_set(err, DG_ENOMEM, "no memory to parse HTML");
    return dg_error_field(err, DG_ELIMIT, "text",
        "the HTML is nested too deeply: it would take too much memory or time to parse");
}

const GumboNode *dg_html_tree_document(const struct dg_html_tree *t)
{
    return t->output->document;
}

void dg_html_tree_close(struct dg_html_tree *t)
{
    dg_arena_deinit(&t->arena);
    free(t);
}
