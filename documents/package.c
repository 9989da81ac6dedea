/* Packed files, by libzip: members with text are read, changed ones are replaced, and the others
 * are copied in packed form. A file that unpacks to more than the limits is refused, whatever sizes
 * its headers state. */
#include "documents/kinds.h"
#include "documents/office/prefixes.h"
#include "documents/xml/declaration.h"
#include "text/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

#define MOST_MEMBERS 20000
#define PLAIN_NAME 512 /* bytes of a name, with NUL, whose backslashes are read as slashes */
#define MOST_LIST ((size_t)16 << 20) /* bytes of a list of members */

static int tell(zip_error_t *why, struct dg_error *err)
{
    int rc = dg_extract_broken(err, "%s", zip_error_strerror(why));
    zip_error_fini(why);
    return rc;
}

static int encrypted(struct dg_error *err)
{
    return dg_error_field(err, DG_EINVAL, "file",
        "the file is encrypted: save it without a password or protection against copies");
}

/* Office encrypts a whole .docx within the container of its older formats (.doc, ...). */
static bool is_compound(const void *bytes, size_t n)
{
    static const unsigned char begin[] = {0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1};
    return n >= sizeof begin && memcmp(bytes, begin, sizeof begin) == 0;
}

/* Open the archive in bytes[n]. It gets a copy, because libzip frees the buffer that it writes to
 * even if told not to own it. */
static int open_archive(
    const void *bytes, size_t n, zip_source_t **source, zip_t **out, struct dg_error *err)
{
    zip_error_t why;
    zip_error_init(&why);
    *out = NULL;
    if (n == 0) /* libzip would not free an empty copy */
        return dg_extract_broken(err, "it is empty");
    if (is_compound(bytes, n))
        return dg_error_field(err, DG_EINVAL, "file",
            "the file is encrypted, or in an older format such as .doc: save it without a password "
            "and in the format of its name");
    void *copy = malloc(n);
    if (!copy)
        return dg_error_set(err, DG_ENOMEM, "no memory for a file");
    memcpy(copy, bytes, n);
    *source = zip_source_buffer_create(copy, n, 1, &why);
    if (!*source) {
        free(copy);
        return tell(&why, err);
    }
    zip_source_keep(*source);
    *out = zip_open_from_source(*source, 0, &why);
    if (*out)
        return DG_OK;
    zip_source_free(*source); /* the reference meant for the archive */
    zip_source_free(*source);
    return tell(&why, err);
}

static size_t count_tags(const char *s, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += s[i] == '<';
    return count;
}

/* Read all of member i; DG_ELIMIT if it has more than `most` bytes, or more tags than that. */
static int unpack(zip_t *z, zip_uint64_t i, size_t most, size_t most_tags,
    struct dg_extract_part *p, struct dg_error *err)
{
    size_t tags = 0;
    struct dg_buffer bytes = {0};
    zip_file_t *f = zip_fopen_index(z, i, 0);
    char block[65536];
    zip_int64_t n = 0;
    if (!f)
        return dg_extract_broken(
            err, "member %llu cannot be read: %s", (unsigned long long)i, zip_strerror(z));
    while (bytes.len <= most && tags <= most_tags && (n = zip_fread(f, block, sizeof block)) > 0) {
        dg_buffer_add(&bytes, block, (size_t)n);
        tags += count_tags(block, (size_t)n);
    }
    zip_fclose(f);
    p->s = p->own = dg_buffer_take(&bytes, &p->n);
    if (!p->own)
        return dg_error_set(err, DG_ENOMEM, "no memory for a member of a file");
    if (n < 0)
        return dg_extract_broken(err, "member %llu cannot be unpacked", (unsigned long long)i);
    if (p->n > most)
        return dg_error_field(err, DG_ELIMIT, "file", "the file unpacks to more than the limit");
    if (tags > most_tags)
        return dg_error_field(
            err, DG_ELIMIT, "file", "a part of the file has more than %zu tags", most_tags);
    return DG_OK;
}

/* True if the archive has a member of this name with these words. */
static bool says(zip_t *z, const char *member, const char *words)
{
    struct dg_extract_part p = {0};
    const zip_int64_t i = zip_name_locate(z, member, 0);
    const bool found = i >= 0 &&
                       unpack(z, (zip_uint64_t)i, MOST_LIST, MOST_LIST, &p, NULL) == DG_OK &&
                       memmem(p.s, p.n, words, strlen(words)) != NULL;
    free(p.own);
    return found;
}

/* A member with text that is none: in an OpenDocument or an EPUB, it may be encrypted. */
static int no_text(zip_t *z, const char *name, struct dg_error *err)
{
    if (says(z, "META-INF/manifest.xml", ":encryption-data") ||
        says(z, "META-INF/encryption.xml", name))
        return encrypted(err);
    return dg_extract_broken(err, "%.80s is not UTF-8", name);
}

/* The member's name with slashes, in `plain` if it must change: some programs on Windows write
 * xl\workbook.xml. */
static const char *with_slashes(const char *name, char plain[PLAIN_NAME])
{
    if (!strchr(name, '\\') || strlen(name) >= PLAIN_NAME)
        return name;
    snprintf(plain, PLAIN_NAME, "%s", name);
    for (char *at = plain; (at = strchr(at, '\\'));)
        *at = '/';
    return plain;
}

/* Gives the names of an office file's member their usual prefixes. If nothing in it is translated,
 * the archive's own bytes stay. */
static int use_prefixes(struct dg_extract_part *p, struct dg_error *err)
{
    struct dg_buffer usual = {0};
    if (dg_prefixes_usual(p->s, p->n, &usual)) {
        free(p->own);
        p->s = p->own = dg_buffer_take(&usual, &p->n);
    }
    dg_buffer_deinit(&usual);
    return p->own ? DG_OK : dg_error_set(err, DG_ENOMEM, "no memory for a member of a file");
}

static int read_member(
    struct dg_extract *x, zip_t *z, zip_uint64_t i, size_t *left, struct dg_error *err)
{
    const char *name = zip_get_name(z, i, 0);
    char plain[PLAIN_NAME];
    dg_part_reader *read = name ? x->kind->member(with_slashes(name, plain)) : NULL;
    if (!read)
        return DG_OK;
    struct dg_extract_part *p = dg_extract_add_part(x, err);
    int rc = p ? unpack(z, i, *left, x->limits.tags, p, err) : DG_ENOMEM;
    if (rc != DG_OK)
        return rc;
    p->member = i;
    *left -= p->n;
    if (dg_utf8_check(p->s, p->n, NULL) != DG_OK || memchr(p->s, '\0', p->n))
        return no_text(z, name, err);
    struct dg_error why = {0};
    rc = use_prefixes(p, &why);
    if (rc == DG_OK)
        rc = read(x, p, &why);
    if (rc == DG_OK) /* all members with text are XML */
        rc = dg_declaration_of_xml(x, p, &why);
    if (rc != DG_OK)
        return strcmp(why.field, "file") == 0 ? dg_error_field(err, rc, "file", "%s", why.message)
               : rc == DG_ENOMEM              ? dg_error_set(err, rc, "%s", why.message)
                                 : dg_extract_broken(err, "%.80s: %s", name, why.message);
    return rc;
}

int dg_package_read(struct dg_extract *x, struct dg_error *err)
{
    zip_source_t *source;
    zip_t *z;
    size_t left = x->limits.unpacked_bytes;
    int rc = open_archive(x->bytes, x->n, &source, &z, err);
    if (rc != DG_OK)
        return rc;
    zip_int64_t n = zip_get_num_entries(z, 0);
    if (n > MOST_MEMBERS)
        rc = dg_error_field(err, DG_ELIMIT, "file", "the file has %lld members, the limit is %d",
            (long long)n, MOST_MEMBERS);
    for (zip_int64_t i = 0; i < n && rc == DG_OK; i++)
        rc = read_member(x, z, (zip_uint64_t)i, &left, err);
    if (rc == DG_OK && x->n_parts == 0)
        rc = zip_name_locate(z, "encrypted-package", 0) >= 0
                 ? encrypted(err)
                 : dg_extract_broken(err, "it lacks the members of a %s file", x->kind->suffix);
    zip_discard(z);
    zip_source_free(source);
    return rc;
}

/* Replace part p by new bytes, with the old compression method and time. */
static int replace(
    zip_t *z, const struct dg_extract_part *p, const struct dg_buffer *bytes, struct dg_error *err)
{
    zip_stat_t old;
    zip_stat_init(&old);
    zip_source_t *source = zip_source_buffer(z, bytes->data, bytes->len, 0);
    if (!source || zip_stat_index(z, p->member, ZIP_FL_UNCHANGED, &old) != 0 ||
        zip_file_replace(z, p->member, source, 0) != 0) {
        zip_source_free(source);
        return dg_extract_broken(err, "%s", zip_strerror(z));
    }
    if (old.valid & ZIP_STAT_COMP_METHOD)
        zip_set_file_compression(
            z, p->member, old.comp_method == ZIP_CM_STORE ? ZIP_CM_STORE : ZIP_CM_DEFLATE, 0);
    if (old.valid & ZIP_STAT_MTIME)
        zip_file_set_mtime(z, p->member, old.mtime, 0);
    return DG_OK;
}

/* Append all bytes of the source. */
static int take(zip_source_t *source, struct dg_buffer *out, struct dg_error *err)
{
    char block[65536];
    zip_int64_t n = -1;
    if (zip_source_open(source) == 0) {
        while ((n = zip_source_read(source, block, sizeof block)) > 0)
            dg_buffer_add(out, block, (size_t)n);
        zip_source_close(source);
    }
    return n < 0 ? dg_error_set(err, DG_EINTERNAL, "the file could not be packed: %s",
                       zip_error_strerror(zip_source_error(source)))
                 : DG_OK;
}

int dg_package_write(const struct dg_extract *x, const struct dg_buffer *changed,
    struct dg_buffer *out, struct dg_error *err)
{
    zip_source_t *source;
    zip_t *z;
    int rc = open_archive(x->bytes, x->n, &source, &z, err);
    if (rc != DG_OK)
        return rc;
    for (size_t i = 0; i < x->n_parts && rc == DG_OK; i++)
        if (changed[i].data)
            rc = replace(z, &x->parts[i], &changed[i], err);
    if (rc == DG_OK && zip_close(z) != 0)
        rc = dg_extract_broken(err, "it cannot be packed again: %s", zip_strerror(z));
    else if (rc == DG_OK)
        z = NULL;
    if (z)
        zip_discard(z);
    if (rc == DG_OK)
        rc = take(source, out, err);
    zip_source_free(source);
    return rc;
}
