#include "convert/ctranslate2/argos.h"

#include "base/file.h"
#include "convert/input.h"

#include <zip.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Files needed from a package: their paths within its one directory, and their maximum sizes. */
static const struct {
    const char *entry;
    zip_uint64_t most;
} wanted[] = {{"metadata.json", 1 << 20}, {"sentencepiece.model", 64 << 20},
    {"model/model.bin", (zip_uint64_t)8 << 30}, {"model/config.json", 1 << 20},
    {"model/shared_vocabulary.json", 64 << 20}, {"model/shared_vocabulary.txt", 64 << 20},
    {"model/source_vocabulary.json", 64 << 20}, {"model/source_vocabulary.txt", 64 << 20},
    {"model/target_vocabulary.json", 64 << 20}, {"model/target_vocabulary.txt", 64 << 20}};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define REFUSE(code, ...) dg_error_field(err, code, "argos", __VA_ARGS__)

static int unpack_entry(
    zip_t *zip, zip_uint64_t i, size_t which, const char *dir, struct dg_error *err)
{
    zip_stat_t st;
    if (zip_stat_index(zip, i, 0, &st) != 0 || !(st.valid & ZIP_STAT_SIZE) ||
        !(st.valid & ZIP_STAT_COMP_SIZE) || st.size > wanted[which].most ||
        st.size / 1100 > st.comp_size) /* deflate cannot do better than 1032 : 1 */
        return REFUSE(DG_EFORMAT, "entry %s has an impossible size", wanted[which].entry);
    char *bytes = malloc(st.size ? st.size : 1), *path = dg_file_join(dir, wanted[which].entry);
    zip_file_t *f = zip_fopen_index(zip, i, 0);
    char past;
    int rc = bytes && path ? 0 : dg_error_set(err, DG_ENOMEM, "no memory for a package");
    /* One read past the end makes libzip compare the CRC. */
    if (!rc &&
        (!f || zip_fread(f, bytes, st.size) != (zip_int64_t)st.size || zip_fread(f, &past, 1) != 0))
        rc = REFUSE(
            DG_EFORMAT, "entry %s cannot be read, or its checksum is wrong", wanted[which].entry);
    if (!rc)
        rc = dg_file_write(path, bytes, st.size, err);
    if (f)
        zip_fclose(f);
    free(bytes);
    free(path);
    return rc;
}

/* Writes only wanted entries, under names of our own, so that no entry can leave the folder. */
static int unpack(const char *path, const char *dir, struct dg_error *err)
{
    int why = 0, rc = 0;
    zip_t *zip = zip_open(path, ZIP_RDONLY, &why);
    if (!zip && why == ZIP_ER_NOENT)
        return REFUSE(DG_ENOTFOUND, "cannot open %s: No such file or directory", path);
    if (!zip)
        return REFUSE(DG_EFORMAT, "%s cannot be opened as an Argos package, which is a zip", path);
    for (zip_int64_t i = 0; i < zip_get_num_entries(zip, 0) && !rc; i++) {
        const char *name = zip_get_name(zip, (zip_uint64_t)i, 0),
                   *rest = name ? strchr(name, '/') : NULL;
        for (size_t k = 0; rest && k < COUNT(wanted) && !rc; k++)
            if (strcmp(rest + 1, wanted[k].entry) == 0)
                rc = unpack_entry(zip, (zip_uint64_t)i, k, dir, err);
        if (!rc && rest && strcmp(rest, "/bpe.model") == 0)
            rc = REFUSE(DG_EUNSUP, "the package has a bpe.model, whose text needs Moses' "
                                   "tokeniser: not supported");
    }
    zip_discard(zip);
    return rc;
}

const char *dg_argos_language(const char *code)
{
    return strcmp(code, "zt") == 0 ? "zh-Hant" : strcmp(code, "pb") == 0 ? "pt-BR" : code;
}

static const char *language(const struct dg_json *metadata, const char *key)
{
    const char *code = dg_json_string(dg_json_get(metadata, key), NULL);
    return code ? dg_argos_language(code) : NULL;
}

static int convert(
    const char *dir, const struct dg_convert_ctranslate2 *given, struct dg_error *err)
{
    struct dg_convert_ctranslate2 o = *given;
    char *model = dg_file_join(dir, "model"), *spm = dg_file_join(dir, "sentencepiece.model");
    struct dg_json *metadata = NULL;
    int rc = model && spm ? dg_input_json(dir, "metadata.json", true, &metadata, err)
                          : dg_error_set(err, DG_ENOMEM, "no memory for a path");
    o.dir = model;
    o.source_spm = o.target_spm = spm;
    o.to.source_lang = o.to.source_lang ? o.to.source_lang : language(metadata, "from_code");
    o.to.target_lang = o.to.target_lang ? o.to.target_lang : language(metadata, "to_code");
    o.target_prefix = dg_json_string(dg_json_get(metadata, "target_prefix"), NULL);
    if (!rc)
        rc = dg_convert_ctranslate2(&o, err);
    dg_json_free(metadata);
    free(model);
    free(spm);
    return rc;
}

/* Remove what unpack has written, and the folders. */
static void remove_unpacked(const char *dir, const char *model)
{
    for (size_t i = 0; i < COUNT(wanted); i++) {
        char *file = dg_file_join(dir, wanted[i].entry);
        if (file)
            unlink(file);
        free(file);
    }
    rmdir(model);
    rmdir(dir);
}

int dg_convert_argos(const char *path, const struct dg_convert_ctranslate2 *o, struct dg_error *err)
{
    const char *tmp = getenv("TMPDIR");
    char dir[512], model[520];
    if (dg_file_is_folder(path))
        return convert(path, o, err);
    snprintf(dir, sizeof dir, "%s/dragoman-argos-XXXXXX", tmp && tmp[0] ? tmp : "/tmp");
    if (!mkdtemp(dir))
        return REFUSE(DG_EIO, "no folder to unpack the package into can be made in %s", dir);
    snprintf(model, sizeof model, "%s/model", dir);
    int rc = dg_file_make_dir(model, err);
    if (!rc)
        rc = unpack(path, dir, err);
    if (!rc)
        rc = convert(dir, o, err);
    remove_unpacked(dir, model);
    return rc;
}
