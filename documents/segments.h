/* Output of the readers of files (kinds.h). One thread at a time. Only for documents/. */
#ifndef DG_DOCUMENTS_SEGMENTS_H
#define DG_DOCUMENTS_SEGMENTS_H

#include "documents/extract.h"
#include "documents/strings/escapes.h"
#include "documents/strings/forms/pattern.h"
#include "documents/strings/yaml_scalar.h"
#include "documents/utf16.h"
#include "text/language_code.h"
#include "text/language_region.h"

#include <stdint.h>

/* How an answer is written into the file. */
enum dg_writing {
    DG_WRITE_PLAIN,   /* as it is: plain text, or markup that was read as such; see `encoding` */
    DG_WRITE_ESCAPED, /* by strings/escapes.h, as `escapes` says */
    DG_WRITE_MESSAGE, /* the same, by strings/message.h before */
    DG_WRITE_YAML,    /* as yaml_scalar.h writes it */
    DG_WRITE_DECLARATION, /* `before` instead of an answer, if another segment changes */
    DG_WRITE_SETTING,     /* the same, if one of any part changes */
    DG_WRITE_CUES,        /* divided among the cues of subtitles, its slots: cues.h */
    DG_WRITE_EVENT,       /* as the text of a dialogue: events.h */
    DG_WRITE_CELL,        /* as a cell of a table: table.h */
    DG_WRITE_QUOTED_CELL, /* the same, in quotation marks */
    DG_WRITE_WORD_TIMES,  /* a line of subtitles with the times of its words: word_times.h */
    DG_WRITE_SLOTS,       /* markup whose tags stand for bytes of the file: slots */
    DG_WRITE_FORM,        /* within the message of the segment before it that has one */
};

enum dg_slot_kind {
    DG_SLOT_TAGS,  /* <g> and </g>: an opening and a closing tag */
    DG_SLOT_RUN,   /* <g> and </g>: formatting of office text; begin .. end: the run's properties */
    DG_SLOT_RAW,   /* <x/>, or <f> with what it shows and </f>: raw bytes begin .. end */
    DG_SLOT_CHILD, /* <x/>: in a run of its own with the properties close .. close_end */
    DG_SLOT_CUE,   /* the lines of a subtitle; close: how many */
};

struct dg_slot {
    enum dg_slot_kind kind;
    size_t begin, end, close, close_end;
    /* how long a cue is shown */
    double seconds;
    /* RAW, an end of a range of words: an odd number for the first, the next number for the last;
     * else 0. Both have the same bytes key .. key_end, an id or a name */
    size_t range, key, key_end;
    /* the last end of a range: 1 + the slot of its first, if the text has that */
    size_t start;
};

/* Names of the tags of text in an office file, after the prefix of its segments. If it has no runs,
 * run and text are NULL, and text is directly in the paragraphs. */
struct dg_run_names {
    /* options of the texts' markup */
    const struct dg_markup *markup;
    /* NULL-terminated */
    const char *const *paragraphs;
    const char *paragraph_properties, *run, *run_properties, *text;
    /* the name of a text with an attribute that keeps spaces at its ends */
    const char *text_tag;
    /* the last element of a paragraph if it is not text, or NULL */
    const char *end;
    /* tags that may contain runs, NULL-terminated */
    const char *const *containers;
    /* children of a container, or NULL: one that holds all its words; what must be before them */
    const char *const *container_words, *const *container_properties;
    /* an element of a run's properties that underlines its words, or NULL */
    const char *underline;
    /* an element that is all of a run, and its child with the words that another one is the reading
     * of, NULL-terminated, or NULL */
    const char *const *ruby;
    /* empty tags that stand for a hyphen that does not end a line, and for spaces; or NULL */
    const char *hyphen, *space;
    /* tags that mean nothing once words have moved */
    const char *const *dropped;
    /* tags in or beside a run after which the sentence does not continue */
    const char *const *breaks;
    /* containers, and elements of a run's properties, that make words a link, or NULL */
    const char *const *links;
    /* empty tags before and after words that belong together, the first and the last in turn,
     * NULL-terminated, or NULL */
    const char *const *ranges;
    /* what is in the run after a range and belongs to it, or NULL */
    const char *reference;
    /* other elements with text alone are fields: the text stays, but models see it */
    bool fields;
    /* these names have the prefix of the root's name, if that has one */
    bool prefixed;
    /* the tag in a run's properties that names the language of its words, and what is before its
     * code, by enum dg_scripts; or NULL */
    const char *language, *codes[3];
};

struct dg_segment {
    /* bytes of the part that are replaced */
    size_t begin, end;
    /* [n] malloc'd; NULL: no answer is written, only `before` */
    char *text;
    size_t n;
    /* order of addition in its part: segments at one place are written in it */
    size_t order;
    /* index among the file's texts */
    size_t index;
    enum dg_format format;
    const struct dg_markup *markup;
    enum dg_writing writing;
    /* PLAIN: of markup in an attribute: only its quotation marks are still escaped */
    enum dg_encoding encoding;
    enum dg_escapes escapes;
    enum dg_yaml_style yaml;
    /* CELL: between two cells of a line */
    char separator;
    /* an ICU message, malloc'd, or NULL: this segment's text and those of the next ones, n_forms in
     * all, are sentences of it, and it is written with their answers (strings/forms/) */
    char *message;
    size_t n_forms;
    /* what is before it belongs to other segments, too: it is always written */
    bool linked;
    struct dg_pattern_style pattern;
    /* written before and after the answer, malloc'd or NULL; if `before` is set, an unchanged
     * answer is written, too */
    char *before, *after;
    /* [n_slots] malloc'd */
    struct dg_slot *slots;
    size_t n_slots, slots_cap;
    const struct dg_run_names *names;
    /* bytes of the part before each of the names, such as "x:"; equal: none */
    size_t prefix, prefix_end;
    /* properties of text outside any <g> */
    size_t run, run_end;
};

/* A file, or a member of one that is packed. */
struct dg_extract_part {
    /* malloc'd bytes, or NULL: borrowed */
    char *own;
    /* [n] */
    const char *s;
    size_t n;
    /* [n_segments] segments; one may be within a slot of another */
    struct dg_segment *segments;
    size_t n_segments, cap;
    /* its number in the archive */
    uint64_t member;
};

/* An office text has a language for each of these. */
enum dg_scripts { DG_SCRIPTS_WESTERN, DG_SCRIPTS_ASIAN, DG_SCRIPTS_COMPLEX };

struct dg_extract {
    const struct dg_kind *kind;
    /* [n] borrowed */
    const char *bytes;
    size_t n;
    /* byte order, if the file is UTF-16 text */
    enum dg_utf16_order utf16;
    /* [n_parts] */
    struct dg_extract_part *parts;
    size_t n_parts;
    /* [n_texts] texts to translate, in the order of the file */
    const struct dg_segment **texts;
    size_t n_texts, text_bytes;
    /* what dg_extract_keep was given, each with a NUL after it */
    struct dg_buffer kept;
    struct dg_extract_limits limits;
    /* those that are known before there are answers */
    struct dg_extract_stays stays;
    /* code of the target language, in its usual case; the same as programs write it, "pt_BR" */
    char target[DG_LANGUAGE_MAX], program_locale[DG_LANGUAGE_MAX];
    /* the same as office files have it: with its region, "de-DE", and for which of the languages of
     * a text */
    char locale[DG_LANGUAGE_MAX];
    struct dg_language_region region;
    enum dg_scripts scripts;
    /* codes of languages that are replaced */
    size_t n_codes;
};

/* Add a part; NULL: out of memory. The reader sets own, s, n and member. Invalidates pointers to
 * earlier parts. */
struct dg_extract_part *dg_extract_add_part(struct dg_extract *x, struct dg_error *err);

/* Add a segment like `like` to p, with a copy of text[n]; NULL: out of memory, or over the limits.
 * Invalidates pointers to earlier segments. */
struct dg_segment *dg_segment_add(struct dg_extract *x, struct dg_extract_part *p,
    struct dg_segment like, const char *text, size_t n, struct dg_error *err);
/* The same with the bytes that it replaces as its text, or with that of a buffer. DG_ELIMIT;
 * DG_ENOMEM, also where the buffer has failed. */
int dg_segment_add_own(
    struct dg_extract *x, struct dg_extract_part *p, struct dg_segment like, struct dg_error *err);
int dg_segment_add_text(struct dg_extract *x, struct dg_extract_part *p, struct dg_segment like,
    const struct dg_buffer *text, struct dg_error *err);
/* Add one without a text, which writes `bytes` over the part's bytes `at`. DG_ENOMEM. */
int dg_segment_add_bytes(struct dg_extract *x, struct dg_extract_part *p, struct dg_span at,
    enum dg_writing writing, const char *bytes, struct dg_error *err);
/* Have `before`, which is taken, and after[n] written around its answer, also where that is
 * unchanged. DG_ENOMEM, also where the buffer has failed. */
int dg_segment_enclose(struct dg_segment *g, struct dg_buffer *before, const char *after, size_t n,
    struct dg_error *err);
void dg_segment_free(struct dg_segment *g); /* what it holds */
int dg_slot_add(struct dg_segment *g, struct dg_slot slot, struct dg_error *err);

/* Keep all texts of the file that have the letters and digits of markup s[n], once all parts are
 * read: dg_extract_drop_kept. */
void dg_extract_keep(struct dg_extract *x, const char *s, size_t n);
/* Drop the segments of texts that are kept. DG_ENOMEM. */
int dg_extract_drop_kept(struct dg_extract *x, struct dg_error *err);

/* For appending bytes begin .. end of a part with the answers to the segments within them. */
struct dg_writer {
    const struct dg_extract *file;
    const struct dg_extract_part *part;
    const struct dg_extract_answer *answers;
    struct dg_buffer *out;
    /* maximum bytes of out, in which formatting is repeated for each of its words */
    size_t most;
    /* anything but the part's bytes was written: translations, settings */
    bool changed, set;
};
int dg_extract_part_write(struct dg_writer *w, size_t begin, size_t end, struct dg_error *err);

/* The number of the line at byte `at`, from 1. */
size_t dg_extract_line_of(const struct dg_extract_part *p, size_t at);

/* Count an ICU message at byte `at` of p that stays as it is. */
void dg_extract_note_stay(struct dg_extract_stays *stays, const struct dg_extract_part *p,
    size_t at, const struct dg_error *why);

/* Set err to DG_EINVAL (field file), "the file is broken: why". */
int dg_extract_broken(struct dg_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
