#include "trainer/run/tensorboard.h"

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Fields of Event, Summary and SessionLog (event.proto, summary.proto). */
enum { EVENT_TIME = 1, EVENT_STEP = 2, EVENT_VERSION = 3, EVENT_SUMMARY = 5, EVENT_SESSION = 7 };
enum { SUMMARY_VALUE = 1, VALUE_TAG = 1, VALUE_NUMBER = 2, SESSION_STATUS = 1, SESSION_START = 1 };
/* Protobuf's wire types. */
enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

struct dg_tensorboard {
    int file;
    char *path;
    struct dg_buffer event, summary, value, record;
};

/* CRC-32C (Castagnoli), the reflected polynomial 0x82F63B78, bit by bit: an event is short. */
static uint32_t crc32c(const void *data, size_t n)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        crc ^= ((const uint8_t *)data)[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78 : 0);
    }
    return ~crc;
}

/* Mask a checksum as records require: a CRC of data that contains CRCs is weak. */
static uint32_t masked(uint32_t crc)
{
    return (crc >> 15 | crc << 17) + 0xA282EAD8;
}

static void add_little(struct dg_buffer *b, uint64_t x, int bytes)
{
    for (int i = 0; i < bytes; i++, x >>= 8)
        dg_buffer_add(b, &(char){(char)(x & 0xFF)}, 1);
}

static void add_varint(struct dg_buffer *b, uint64_t x)
{
    for (; x >= 0x80; x >>= 7)
        add_little(b, (x & 0x7F) | 0x80, 1);
    add_little(b, x, 1);
}

static void add_key(struct dg_buffer *b, int field, int wire)
{
    add_varint(b, (uint64_t)field << 3 | (uint64_t)wire);
}

static void add_bytes(struct dg_buffer *b, int field, const char *data, size_t n)
{
    add_key(b, field, BYTES);
    add_varint(b, n);
    dg_buffer_add(b, data, n);
}

/* Begin an Event message with its time; the caller adds the rest. */
static void begin_event(struct dg_tensorboard *t)
{
    const double now = dg_clock_wall_s();
    uint64_t bits;
    memcpy(&bits, &now, sizeof bits);
    dg_buffer_reset(&t->event);
    add_key(&t->event, EVENT_TIME, FIXED64);
    add_little(&t->event, bits, 8);
}

static void add_step(struct dg_tensorboard *t, int64_t step)
{
    add_key(&t->event, EVENT_STEP, VARINT);
    add_varint(&t->event, (uint64_t)step);
}

/* Write the event as a record: length, checksum of the length, data, checksum of the data. */
static int write_event(struct dg_tensorboard *t, struct dg_error *err)
{
    struct dg_buffer *r = &t->record;
    dg_buffer_reset(r);
    add_little(r, t->event.len, 8);
    add_little(r, masked(crc32c(r->data, 8)), 4);
    dg_buffer_add(r, t->event.data, t->event.len);
    add_little(r, masked(crc32c(t->event.data, t->event.len)), 4);
    dg_alloc_check(!r->failed && !t->event.failed, "an event");
    const int why = dg_file_append_whole(t->file, r->data, r->len);
    return why ? dg_error_set(err, DG_EIO, "cannot write %s: %s", t->path, strerror(why)) : 0;
}

/* Write the start of a file: its version, and that a session starts after this step. */
static int begin(struct dg_tensorboard *t, int64_t step, struct dg_error *err)
{
    begin_event(t);
    add_bytes(&t->event, EVENT_VERSION, "brain.Event:2", strlen("brain.Event:2"));
    int rc = write_event(t, err);
    if (rc)
        return rc;
    const char start[] = {SESSION_STATUS << 3 | VARINT, SESSION_START};
    begin_event(t);
    add_step(t, step + 1);
    add_bytes(&t->event, EVENT_SESSION, start, sizeof start);
    return write_event(t, err);
}

int dg_tensorboard_open(
    const char *dir, int64_t step, struct dg_tensorboard **out, struct dg_error *err)
{
    char host[65] = "localhost";
    *out = NULL;
    if (mkdir(dir, 0777) && errno != EEXIST)
        return dg_error_set(err, DG_EIO, "cannot make %s: %s", dir, strerror(errno));
    gethostname(host, sizeof host - 1);
    struct dg_tensorboard *t = dg_alloc(1, sizeof *t, "event file");
    /* TensorBoard reads the files of a folder in the order of their names: the microseconds put a
     * later file of the same second last. */
    t->path = dg_alloc_print("%s/events.out.tfevents.%010llu.%s.%d.%06llu", dir,
        (unsigned long long)dg_clock_wall_s(), host, (int)getpid(),
        (unsigned long long)(dg_clock_ns() / 1000 % 1000000));
    dg_buffer_init(&t->event);
    dg_buffer_init(&t->summary);
    dg_buffer_init(&t->value);
    dg_buffer_init(&t->record);
    t->file = open(t->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    int rc = t->file < 0 ? dg_error_set(err, DG_EIO, "cannot open %s: %s", t->path, strerror(errno))
                         : begin(t, step, err);
    if (rc)
        dg_tensorboard_close(t);
    else
        *out = t;
    return rc;
}

void dg_tensorboard_close(struct dg_tensorboard *t)
{
    if (!t)
        return;
    if (t->file >= 0)
        close(t->file);
    dg_buffer_deinit(&t->event);
    dg_buffer_deinit(&t->summary);
    dg_buffer_deinit(&t->value);
    dg_buffer_deinit(&t->record);
    free(t->path);
    free(t);
}

int dg_tensorboard_add(struct dg_tensorboard *t, int64_t step,
    const struct dg_tensorboard_value *values, size_t n, struct dg_error *err)
{
    dg_buffer_reset(&t->summary);
    for (size_t i = 0; i < n; i++) {
        const float number = (float)values[i].value;
        uint32_t bits;
        memcpy(&bits, &number, sizeof bits);
        dg_buffer_reset(&t->value);
        add_bytes(&t->value, VALUE_TAG, values[i].tag, strlen(values[i].tag));
        add_key(&t->value, VALUE_NUMBER, FIXED32);
        add_little(&t->value, bits, 4);
        add_bytes(&t->summary, SUMMARY_VALUE, t->value.data, t->value.len);
    }
    dg_alloc_check(!t->value.failed && !t->summary.failed, "an event");
    begin_event(t);
    add_step(t, step);
    add_bytes(&t->event, EVENT_SUMMARY, t->summary.data, t->summary.len);
    return write_event(t, err);
}
