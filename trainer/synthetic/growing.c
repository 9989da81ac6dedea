#include "trainer/synthetic/growing.h"

#include "base/alloc.h"
#include "base/file.h"
#include "trainer/data/hash.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct dg_growing {
    /* [n] */
    char *paths[DG_GROWING_FILES], *parts[DG_GROWING_FILES];
    FILE *files[DG_GROWING_FILES];
    size_t n;
    char *state_path;
    struct dg_json *made_of, *state;
    bool done;
};

static int failed(struct dg_error *err, const char *path)
{
    return dg_error_set(err, DG_EIO, "cannot write %s: %s", path, strerror(errno));
}

/* Returns the size of a file in bytes; -1: it does not exist. */
static int64_t size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) ? -1 : (int64_t)st.st_size;
}

/* True if file i holds the bytes that the state names. A finished one has its part's name if a
 * crash came before the rename. */
static bool holds(const struct dg_growing *g, size_t i, int64_t bytes, bool done)
{
    const int64_t part = size_of(g->parts[i]), whole = size_of(g->paths[i]);
    return done ? whole == bytes || (whole < 0 && part == bytes) : part >= bytes;
}

/* Loads the state file if it belongs to these files and they hold what it says; otherwise NULL. */
static struct dg_json *load_state(struct dg_growing *g)
{
    struct dg_error ignored = {0};
    struct dg_json *saved = dg_json_load(g->state_path, &ignored);
    const struct dg_json *bytes = dg_json_get(saved, "bytes");
    bool good = saved && dg_json_same(dg_json_get(saved, "made_of"), g->made_of) &&
                dg_json_length(bytes) == g->n;
    const bool done = dg_json_bool(dg_json_get(saved, "done"));
    for (size_t i = 0; i < g->n && good; i++)
        good = holds(g, i, dg_json_int(dg_json_at(bytes, i)), done);
    g->done = good && done;
    if (good)
        return saved;
    dg_json_free(saved);
    return NULL;
}

/* DG_EINVAL if the file at this path is one of the inputs. */
static int spare_inputs(const struct dg_growing *g, const char *path, struct dg_error *err)
{
    int rc = 0;
    for (const char *key = dg_json_next_key(g->made_of, NULL); key && !rc;
         key = dg_json_next_key(g->made_of, key)) {
        const char *name = dg_json_string(dg_json_get(dg_json_get(g->made_of, key), "path"), NULL);
        rc = name ? dg_file_spare(path, &name, 1, err) : 0;
    }
    return rc;
}

static int check_outputs(const struct dg_growing *g, struct dg_error *err)
{
    for (size_t i = 0; i < 2 * g->n; i++) {
        int rc = spare_inputs(g, i < g->n ? g->paths[i] : g->parts[i - g->n], err);
        if (rc)
            return rc;
    }
    for (size_t i = 0; i < g->n; i++)
        if (size_of(g->paths[i]) >= 0)
            return dg_error_set(err, DG_EINVAL,
                "%s exists and was made from something else: remove it, or name another output",
                g->paths[i]);
    return 0;
}

/* Opens a part where the saved state ends, or empty. */
static int open_part(
    struct dg_growing *g, size_t i, const struct dg_json *saved, struct dg_error *err)
{
    const int64_t bytes = dg_json_int(dg_json_at(dg_json_get(saved, "bytes"), i));
    g->files[i] = fopen(g->parts[i], saved ? "r+b" : "w+b");
    if (!g->files[i] || ftruncate(fileno(g->files[i]), bytes) ||
        fseeko(g->files[i], bytes, SEEK_SET))
        return failed(err, g->parts[i]);
    return 0;
}

static int rename_part(const struct dg_growing *g, size_t i, struct dg_error *err)
{
    return rename(g->parts[i], g->paths[i]) ? failed(err, g->paths[i]) : 0;
}

int dg_growing_check_input(const char *path, struct dg_error *err)
{
    struct stat st;
    if (stat(path, &st))
        return dg_error_set(
            err, errno == ENOENT ? DG_ENOTFOUND : DG_EIO, "%s: %s", path, strerror(errno));
    return S_ISREG(st.st_mode) ? 0
                               : dg_error_set(err, DG_EINVAL,
                                     "%s is not a regular file, must be one: it is read more than "
                                     "once, which a pipe cannot be",
                                     path);
}

int dg_growing_add_input(
    struct dg_json *made_of, const char *name, const char *path, struct dg_error *err)
{
    char hash[33];
    int rc = dg_growing_check_input(path, err);
    if (rc == 0)
        rc = dg_hash_file(path, hash, NULL, err);
    if (rc)
        return rc;
    struct dg_json *input = dg_json_new_object();
    dg_json_set_string(input, "path", path);
    dg_json_set_string(input, "hash", hash);
    dg_json_set_take(made_of, name, input);
    return 0;
}

int dg_growing_open(const char *const *paths, size_t n, const struct dg_json *made_of,
    struct dg_growing **out, const struct dg_json **state, struct dg_error *err)
{
    struct dg_growing *g = dg_alloc(1, sizeof *g, "output files");
    int rc = 0;
    *out = NULL;
    g->n = n;
    for (size_t i = 0; i < n; i++) {
        g->paths[i] = dg_alloc_string(paths[i]);
        g->parts[i] = dg_alloc_print("%s.part", paths[i]);
    }
    g->state_path = dg_alloc_print("%s.json", paths[0]);
    g->made_of = dg_json_copy(made_of);
    g->state = load_state(g);
    if (!g->done)
        rc = check_outputs(g, err);
    for (size_t i = 0; i < n && !rc; i++) {
        if (!g->done)
            rc = open_part(g, i, g->state, err);
        else if (size_of(g->paths[i]) < 0)
            rc = rename_part(g, i, err);
    }
    if (rc) {
        dg_growing_close(g);
        return rc;
    }
    *state = dg_json_get(g->state, "state");
    *out = g;
    return 0;
}

void dg_growing_close(struct dg_growing *g)
{
    if (!g)
        return;
    for (size_t i = 0; i < g->n; i++) {
        if (g->files[i]) {
            fclose(g->files[i]);
            if (!g->state) /* nothing to continue */
                unlink(g->parts[i]);
        }
        free(g->paths[i]);
        free(g->parts[i]);
    }
    free(g->state_path);
    dg_json_free(g->made_of);
    dg_json_free(g->state);
    free(g);
}

bool dg_growing_is_done(const struct dg_growing *g)
{
    return g->done;
}

int dg_growing_line(
    struct dg_growing *g, size_t i, const char *text, size_t len, struct dg_error *err)
{
    for (size_t k = 0; k < len; k++) {
        const char c = text[k] == '\n' || text[k] == '\r' ? ' ' : text[k];
        if (putc_unlocked(c, g->files[i]) == EOF)
            return failed(err, g->parts[i]);
    }
    return putc_unlocked('\n', g->files[i]) == EOF ? failed(err, g->parts[i]) : 0;
}

static int write_state(const struct dg_growing *g, struct dg_error *err)
{
    struct dg_buffer text;
    dg_buffer_init(&text);
    dg_json_write(g->state, 2, &text);
    dg_buffer_adds(&text, "\n");
    dg_alloc_check(!text.failed, "the state of output files");
    int rc = dg_file_write(g->state_path, text.data, text.len, err);
    dg_buffer_deinit(&text);
    return rc;
}

int dg_growing_save_take(struct dg_growing *g, struct dg_json *state, struct dg_error *err)
{
    struct dg_json *all = dg_json_new_object(), *bytes = dg_json_new_array();
    int rc = 0;
    dg_json_set_take(all, "made_of", dg_json_copy(g->made_of));
    dg_json_set_take(all, "state", state);
    for (size_t i = 0; i < g->n && !rc; i++) {
        if (fflush(g->files[i]) || fdatasync(fileno(g->files[i])))
            rc = failed(err, g->parts[i]);
        dg_json_append_take(bytes, dg_json_new_int(ftello(g->files[i])));
    }
    dg_json_set_take(all, "bytes", bytes);
    dg_alloc_check(all, "the state of output files");
    dg_json_free(g->state);
    g->state = all;
    return rc ? rc : write_state(g, err);
}

int dg_growing_finish(struct dg_growing *g, struct dg_error *err)
{
    for (size_t i = 0; i < g->n; i++) {
        FILE *f = g->files[i];
        g->files[i] = NULL;
        const bool synced = !fflush(f) && !fsync(fileno(f));
        if (fclose(f) || !synced)
            return failed(err, g->parts[i]);
    }
    /* Saved before the renames, so that the next open completes them after a crash. */
    dg_json_set_bool(g->state, "done", true);
    int rc = write_state(g, err);
    for (size_t i = 0; i < g->n && !rc; i++)
        rc = rename_part(g, i, err);
    g->done = !rc;
    return rc;
}
