#include "convert/output.h"

#include "base/file.h"
#include "tokenizer/spm_processor.h"
#include "weights/bundle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WEIGHTS_FILE "weights.dgw"

/* Add a file to "files" in the manifest. */
static int name_file(
    struct dg_json *manifest, const char *key, const char *name, struct dg_error *err)
{
    if (dg_json_set_string(dg_json_get(manifest, "files"), key, name) != 0)
        return dg_error_set(err, DG_ENOMEM, "no memory for %s", name);
    return 0;
}

static int write_weights(const struct dg_convert_bundle *b, struct dg_error *err)
{
    struct dg_weights_writer *w = NULL;
    int rc = dg_weights_writer_open(&w, err);
    if (!rc)
        rc = b->add_tensors(b->job, w, err);
    if (!rc)
        rc = dg_bundle_begin_with(b->out, WEIGHTS_FILE, w, err);
    dg_weights_writer_close(w);
    return rc ? rc : name_file(b->manifest, "weights", WEIGHTS_FILE, err);
}

/* Write one file of the bundle: a vocabulary or, without one, a copy of `from`. */
static int write_side(const char *out, struct dg_json *manifest, const char *key, const char *name,
    const struct dg_convert_vocab *v, const char *from, struct dg_error *err)
{
    char *path = dg_file_join(out, name);
    int rc = path ? name_file(manifest, key, name, err)
                  : dg_error_set(err, DG_ENOMEM, "no memory for %s", name);
    if (!rc)
        rc = v ? dg_convert_vocab_write(v, path, err) : dg_file_copy(from, path, err);
    free(path);
    return rc;
}

static bool is_joint_spm(const struct dg_convert_sides *s)
{
    return s->source_spm && s->target_spm && strcmp(s->source_spm, s->target_spm) == 0;
}

/* Find a bad SentencePiece model now, and not when the server opens the bundle. */
static int check_spms(const struct dg_convert_sides *s, struct dg_error *err)
{
    const char *const paths[2] = {s->source_spm, is_joint_spm(s) ? NULL : s->target_spm};
    int rc = 0;
    for (size_t i = 0; i < 2 && !rc; i++) {
        struct dg_spm *spm = NULL;
        rc = paths[i] ? dg_spm_open(paths[i], &spm, err) : 0;
        dg_spm_close(spm);
    }
    return rc;
}

static int write_sides(const struct dg_convert_bundle *b, struct dg_error *err)
{
    const struct dg_convert_sides *s = &b->sides;
    const char *out = b->out;
    struct dg_json *manifest = b->manifest;
    bool joint = dg_convert_vocab_equal(s->source, s->target);
    bool joint_spm = is_joint_spm(s);
    int rc = 0;
    if (s->source_spm)
        rc = write_side(out, manifest, "source_spm", joint_spm ? "joint.spm" : "source.spm", NULL,
            s->source_spm, err);
    if (s->target_spm && !rc)
        rc = write_side(out, manifest, "target_spm", joint_spm ? "joint.spm" : "target.spm", NULL,
            s->target_spm, err);
    if (!rc)
        rc = write_side(out, manifest, "source_vocab", joint ? "joint.vocab" : "source.vocab",
            s->source, NULL, err);
    if (!rc)
        rc = write_side(out, manifest, "target_vocab", joint ? "joint.vocab" : "target.vocab",
            s->target, NULL, err);
    return rc;
}

int dg_convert_output_write(const struct dg_convert_bundle *b, struct dg_error *err)
{
    int rc = check_spms(&b->sides, err);
    if (!rc)
        rc = dg_file_make_dir(b->out, err); /* found now, not after all tensors are read */
    if (!rc)
        rc = write_weights(b, err);
    if (!rc)
        rc = write_sides(b, err);
    if (!rc && b->add_files)
        rc = b->add_files(b->job, err);
    return rc ? rc : dg_bundle_seal(b->out, b->manifest, err);
}

static int no_memory(struct dg_error *err)
{
    return dg_error_set(err, DG_ENOMEM, "no memory for the manifest, or its text is not UTF-8");
}

/* The name given, or "en-de-fr" for a model from en to de,fr. */
static const char *name_of(const struct dg_convert_to *to, char out[80])
{
    if (to->name)
        return to->name;
    snprintf(out, 80, "%s-%s", to->source_lang, to->target_lang);
    for (char *comma = out; (comma = strchr(comma, ','));)
        *comma = '-';
    return out;
}

int dg_convert_output_manifest(const struct dg_convert_to *to, const char *from,
    const struct dg_config *c, struct dg_json **out, struct dg_error *err)
{
    char languages[80];
    const char *name = name_of(to, languages);
    int rc = dg_bundle_check_name("name", name, err);
    if (!rc && to->licence)
        rc = dg_bundle_check_text("licence", to->licence, err);
    if (rc)
        return rc;
    struct dg_json *m = dg_json_new_object(), *training = dg_json_new_object();
    rc = dg_json_set_int(m, "format", 1);
    rc |= dg_json_set_string(m, "name", name);
    if (to->licence)
        rc |= dg_json_set_string(m, "licence", to->licence);
    rc |= dg_json_set_take(m, "pairs", dg_json_new_array());
    rc |= dg_json_set_take(m, "files", dg_json_new_object());
    rc |= dg_config_write(c, m);
    rc |= dg_json_set_string(training, "converted_from", from);
    rc |= dg_json_set_take(m, "training", training);
    *out = m;
    return rc ? no_memory(err) : 0;
}

int dg_convert_output_pair(
    struct dg_json *m, const char *source_lang, const char *target_lang, struct dg_error *err)
{
    if (dg_bundle_check_language("source_lang", source_lang, err) ||
        dg_bundle_check_language("target_lang", target_lang, err))
        return DG_EINVAL;
    struct dg_json *pair = dg_json_new_array();
    int rc = dg_json_append_take(pair, dg_json_new_string(source_lang, strlen(source_lang)));
    rc |= dg_json_append_take(pair, dg_json_new_string(target_lang, strlen(target_lang)));
    rc |= dg_json_append_take(dg_json_get(m, "pairs"), pair);
    return rc ? no_memory(err) : 0;
}
