/* Heap memory of a JSON value, computed from the sizes of jansson 2.14's structs. */
#include "base/json.h"

#include "base/json_scan.h"

#include <string.h>

#define CHUNK 16       /* malloc's granularity, */
#define CHUNK_HEADER 8 /* and its overhead per chunk */
#define LEAST_CHUNK 32

enum { NUMBER = 24, STRING = 32, ARRAY = 40, OBJECT = 72, POINTER = 8, BUCKET = 16, PAIR = 64 };
enum { FIRST = 8 }; /* initial capacity of an array or object */

static size_t chunk(size_t n)
{
    const size_t size = (n + CHUNK_HEADER + CHUNK - 1) / CHUNK * CHUNK;
    return size > LEAST_CHUNK ? size : LEAST_CHUNK;
}

static size_t at_least(size_t least, size_t n)
{
    while (least < n)
        least *= 2;
    return least;
}

size_t dg_json_memory(const struct dg_json *v)
{
    size_t n = 0, len = 0;
    switch (dg_json_typeof(v)) {
    case DG_JSON_NULL:
    case DG_JSON_BOOL: return 0;
    case DG_JSON_INT:
    case DG_JSON_REAL: return chunk(NUMBER);
    case DG_JSON_STRING: dg_json_string(v, &len); return chunk(STRING) + chunk(len + 1);
    case DG_JSON_ARRAY:
        n = chunk(ARRAY) + chunk(at_least(FIRST, dg_json_length(v)) * POINTER);
        for (size_t i = 0; i < dg_json_length(v); i++)
            n += dg_json_memory(dg_json_at(v, i));
        return n;
    case DG_JSON_OBJECT:
        n = chunk(OBJECT) + chunk(at_least(FIRST, dg_json_length(v)) * BUCKET);
        for (const char *k = NULL; (k = dg_json_next_key(v, k)) != NULL;)
            n += chunk(PAIR + strlen(k)) + dg_json_memory(dg_json_get(v, k));
        return n;
    }
    return n;
}

size_t dg_json_memory_of_text(const char *s, size_t n)
{
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++) {
        switch (s[i]) {
        case '"': { /* a key takes less */
            const size_t end = dg_json_scan_string(s, n, i);
            bytes += chunk(STRING) + LEAST_CHUNK + (end - i);
            i = end;
            break;
        }
        case ':': bytes += chunk(PAIR) + 2 * BUCKET; break;    /* tables double as they grow */
        case ',': bytes += chunk(NUMBER) + 2 * POINTER; break; /* its slot in an array */
        case '[': bytes += chunk(ARRAY) + chunk(FIRST * POINTER); break;
        case '{': bytes += chunk(OBJECT) + chunk(FIRST * BUCKET); break;
        default: break;
        }
    }
    return bytes + chunk(NUMBER);
}
