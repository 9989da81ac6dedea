#include "bench/load/reply.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const timing_names[DG_LOAD_TIMINGS] = {
    "plan", "queue", "encode", "decode", "total"};

void dg_load_reply_reset(struct dg_load_reply *r)
{
    dg_buffer_reset(&r->in);
    r->status = 0;
    r->body_at = r->body_len = 0;
    r->until_end = r->close = false;
    for (int i = 0; i < DG_LOAD_TIMINGS; i++)
        r->timing[i] = -1.0f;
}

void dg_load_reply_init(struct dg_load_reply *r)
{
    dg_buffer_init(&r->in);
    dg_load_reply_reset(r);
}

void dg_load_reply_deinit(struct dg_load_reply *r)
{
    dg_buffer_deinit(&r->in);
}

/* Read "plan;dur=0.10, queue;dur=2.00, ..."; the line ends at `end`. */
static void read_timing(struct dg_load_reply *r, const char *s, const char *end)
{
    while (s < end) {
        while (s < end && (*s == ' ' || *s == ','))
            s++;
        size_t name = strcspn(s, ";,\r");
        for (int i = 0; i < DG_LOAD_TIMINGS; i++)
            if (strlen(timing_names[i]) == name && strncmp(s, timing_names[i], name) == 0 &&
                strncmp(s + name, ";dur=", 5) == 0)
                r->timing[i] = strtof(s + name + 5, NULL);
        s += strcspn(s, ",\r");
        if (s < end && *s != ',')
            break;
    }
}

/* The value of a header line when its name is `name`, else NULL. */
static const char *value_of(const char *line, const char *name)
{
    size_t n = strlen(name);
    if (strncasecmp(line, name, n) != 0 || line[n] != ':')
        return NULL;
    line += n + 1;
    return line + strspn(line, " \t");
}

/* Read the complete headers, up to `end`, which is after the empty line. */
static int read_headers(struct dg_load_reply *r, const char *end)
{
    const char *line = r->in.data, *v;
    bool length = false;
    if (strncmp(line, "HTTP/1.", 7) != 0 || (r->status = atoi(line + 9)) < 100)
        return -1;
    while ((line = strstr(line, "\r\n") + 2) < end && *line != '\r') {
        if ((v = value_of(line, "Content-Length"))) {
            r->body_len = strtoul(v, NULL, 10);
            length = true;
        } else if (value_of(line, "Transfer-Encoding")) {
            return -1;
        } else if ((v = value_of(line, "Connection"))) {
            r->close = strncasecmp(v, "close", 5) == 0;
        } else if ((v = value_of(line, "Server-Timing"))) {
            read_timing(r, v, strstr(v, "\r\n"));
        }
    }
    r->until_end = !length && r->status != 204 && r->status != 304;
    return 0;
}

int dg_load_reply_feed(struct dg_load_reply *r, bool ended)
{
    if (r->in.failed)
        return -1;
    if (r->status == 0) {
        const char *end = r->in.len > 0 ? strstr(r->in.data, "\r\n\r\n") : NULL;
        if (!end)
            return ended || r->in.len > 65536 ? -1 : 0;
        if (read_headers(r, end + 4) != 0)
            return -1;
        r->body_at = (size_t)(end + 4 - r->in.data);
    }
    size_t got = r->in.len - r->body_at;
    if (r->until_end) {
        r->body_len = got;
        r->close = true;
        return ended;
    }
    if (got > r->body_len)
        return -1;
    return got == r->body_len ? 1 : ended ? -1 : 0;
}
