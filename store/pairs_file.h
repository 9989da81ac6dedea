/* Files of pairs, read according to their extension: NAME.tsv, NAME.csv or NAME.tmx. A name with
 * languages before the extension, such as terms.en-de.tsv, gives the languages of all its rows. Any
 * thread. */
#ifndef DG_STORE_PAIRS_FILE_H
#define DG_STORE_PAIRS_FILE_H

#include "store/memory.h"

/* Most bytes of one file. */
#define DG_PAIRS_FILE_BYTES (512u << 20)

/* Write the languages in a file's name to source and target; false if the name has none. Regions
 * and scripts begin with capitals there, as BCP 47 writes them (terms.zh-Hans-en.tsv), or follow
 * '_'. */
bool dg_pairs_file_languages(const char *path, char source[36], char target[36]);
/* Visit all pairs. source_lang and target_lang apply if the file's name gives no languages (NULL:
 * such a TSV file, or a CSV row without languages, is refused). DG_EINVAL: another kind of file;
 * DG_EFORMAT, DG_EIO, DG_ELIMIT. Messages name the file. */
int dg_pairs_file_read(const char *path, const char *source_lang, const char *target_lang,
    dg_memory_visit *visit, void *ctx, struct dg_error *err);
/* The file at path, or all files of pairs in a directory, sorted by name: *out[*n], freed with
 * dg_pairs_files_free. DG_EIO, DG_ENOMEM. */
int dg_pairs_files(const char *path, char ***out, size_t *n, struct dg_error *err);
void dg_pairs_files_free(char **files, size_t n);

#endif
