#include "cli/trial.h"

#include "cli/decode_options.h"

#include <stdio.h>
#include <string.h>

int dg_trial_open(const char *dir, struct dragoman_model **out, struct dg_error *err)
{
    struct dragoman_open_options o;
    struct dragoman_error error;
    dragoman_open_options_init(&o, DRAGOMAN_OPEN_OPTIONS_SIZE);
    o.device = "cpu";
    o.precision = "fp32";
    o.workers = 1;
    return dragoman_open(dir, &o, out, &error) ? dg_decode_options_error(&error, err) : DG_OK;
}

int dg_trial_run(struct dragoman_model *m, const char *text, char *answer, size_t cap,
    size_t *tokens, struct dg_error *err)
{
    const struct dragoman_text whole = {text, strlen(text)};
    struct dragoman_results *results = NULL;
    struct dragoman_error error;
    struct dragoman_usage usage;
    if (dragoman_translate(m, &whole, 1, NULL, &results, &error))
        return dg_decode_options_error(&error, err);
    const struct dragoman_result *r = dragoman_results_at(results, 0);
    snprintf(answer, cap, "%s", dragoman_result_text(r, 0, NULL));
    dg_error_trim_utf8(answer);
    dragoman_result_usage(r, &usage, sizeof usage);
    *tokens = usage.target_tokens;
    dragoman_results_free(results);
    return DG_OK;
}
