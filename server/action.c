#include "server/action.h"

#include "server/api/routes.h"
#include "server/glossaries/glossaries.h"
#include "server/glossaries/memories.h"
#include "server/http/listen.h"
#include "server/http/tls.h"
#include "server/models/memory_plan.h"
#include "server/models/options.h"
#include "store/keys.h"
#include "store/memory.h"
#include "store/suggestions.h"
#include "store/uploads.h"
#include "text/icu.h"
#include "translate/search_fields.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int show(const struct dg_buffer *b, struct dg_error *err)
{
    if (b->failed)
        return dg_error_set(err, DG_ENOMEM, "no memory for the output");
    if (fwrite(b->data ? b->data : "", 1, b->len, stdout) != b->len || fflush(stdout) != 0)
        return dg_error_set(err, DG_EIO, "cannot write to stdout: %s", strerror(errno));
    return DG_OK;
}

/* Reads the glossaries' files as a start does; they are thrown away. */
static int check_glossaries(const char *path, struct dg_error *err)
{
    struct dg_glossaries *g = NULL;
    int rc = dg_glossaries_open(&g, err);
    if (rc == DG_OK)
        rc = dg_glossaries_load(g, path, err);
    dg_glossaries_close(g);
    return rc;
}

static int check_certificate(const struct dg_server_config *c, struct dg_error *err)
{
    struct dg_tls *tls = NULL;
    int rc = dg_tls_open(c->tls_certificate, c->tls_key, &tls, err);
    dg_tls_close(tls);
    return rc;
}

/* Checks the files that the settings name beside the models; none is written. */
static int check_files(const struct dg_server_config *c, struct dg_error *err)
{
    int rc = c->keys[0] != '\0' ? dg_keys_check(c->keys, NULL, err) : DG_OK;
    if (rc == DG_OK && c->glossaries[0] != '\0')
        rc = check_glossaries(c->glossaries, err);
    if (rc == DG_OK && c->collections[0] != '\0')
        rc = dg_memory_check(c->collections, err);
    if (rc == DG_OK)
        rc = dg_memories_check(c->memories, err);
    if (rc == DG_OK && c->suggestions[0] != '\0')
        rc = dg_suggestions_check(c->suggestions, err);
    if (rc == DG_OK && c->documents[0] != '\0')
        rc = dg_uploads_check(c->documents, err);
    if (rc == DG_OK && c->tls_certificate[0] != '\0')
        rc = check_certificate(c, err);
    return rc;
}

static int check_config(const struct dg_server_config *c, struct dg_error *err)
{
    struct dg_models_options o = dg_models_options_of(c);
    struct dg_models *models = NULL;
    int rc = dg_icu_open(err);
    if (rc == DG_OK)
        rc = check_files(c, err);
    if (rc == DG_OK)
        rc = dg_listen_check(c->host, c->unix_socket, err);
    if (rc == DG_OK)
        rc = dg_models_options_devices(c, &o, err);
    if (rc == DG_OK)
        rc = dg_models_open(&o, &models, err);
    if (rc == DG_OK)
        rc = dg_models_load(models, c->models, NULL, err);
    dg_models_close(models);
    return rc;
}

/* Prints the memory plan. For scripts, the exit status is 1 also if it does not fit. */
static int plan(const struct dg_server_config *c, int *status, struct dg_error *err)
{
    struct dg_models_options o = dg_models_options_of(c);
    struct dg_buffer b;
    bool fits = false;
    dg_buffer_init(&b);
    int rc = dg_models_options_devices(c, &o, err);
    if (rc == DG_OK)
        rc = dg_memory_plan_write(c, &o, &b, &fits, err);
    if (rc == DG_OK)
        rc = show(&b, err);
    *status = fits ? 0 : 1;
    dg_buffer_deinit(&b);
    return rc;
}

/* Writes the settings and the fields of a request as JSON, for the documents that are made from
 * them. */
static void describe(struct dg_buffer *b)
{
    struct dg_json *all = dg_json_new_object(), *settings = dg_json_new_array(),
                   *request = dg_json_new_array();
    const struct dg_fields search = dg_search_fields(NULL, NULL), best = dg_n_best_fields(NULL),
                           sampling = dg_sampling_fields(NULL);
    dg_server_config_describe(settings);
    dg_fields_describe(&search, NULL, request);
    dg_fields_describe(&best, NULL, request);
    dg_fields_describe(&sampling, "sampling", request);
    dg_json_set_take(all, "settings", settings);
    dg_json_set_take(all, "request", request);
    if (dg_json_write(all, 2, b))
        b->failed = true;
    dg_buffer_adds(b, "\n");
    dg_json_free(all);
}

static void show_routes(struct dg_buffer *b)
{
    size_t n;
    const struct dg_route *routes = dg_routes(&n);
    for (size_t i = 0; i < n; i++)
        dg_buffer_addf(b, "%s %s\n", routes[i].method, routes[i].path);
}

int dg_action_run(const struct dg_server_config *c, int *status, struct dg_error *err)
{
    struct dg_buffer b;
    if (c->action == DG_SHOW_PLAN)
        return plan(c, status, err);
    dg_buffer_init(&b);
    switch (c->action) {
    case DG_SHOW_HELP: dg_server_config_help(&b); break;
    case DG_SHOW_VERSION: dg_buffer_adds(&b, "dragoman-server " DG_VERSION "\n"); break;
    case DG_SHOW_ROUTES: show_routes(&b); break;
    case DG_SHOW_FIELDS: describe(&b); break;
    case DG_SHOW_OPTIONS: dg_server_config_complete(&b); break;
    default: dg_server_config_print(c, &b); break;
    }
    int rc = show(&b, err);
    dg_buffer_deinit(&b);
    *status = 0;
    if (rc == DG_OK && c->action == DG_CHECK_CONFIG)
        rc = check_config(c, err);
    return rc;
}
