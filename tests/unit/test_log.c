#include "base/log.h"

#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Redirects stderr to an unlinked file while a test runs. */
struct capture {
    int saved, file;
};

static struct capture capture_begin(void)
{
    char name[] = "/tmp/test_log_XXXXXX";
    struct capture c = {dup(STDERR_FILENO), mkstemp(name)};
    assert_true(c.saved >= 0 && c.file >= 0);
    unlink(name);
    fcntl(c.file, F_SETFL, O_APPEND);
    dup2(c.file, STDERR_FILENO);
    return c;
}

/* Returns what was written; the caller frees it. */
static char *capture_end(struct capture c)
{
    dup2(c.saved, STDERR_FILENO);
    off_t n = lseek(c.file, 0, SEEK_END);
    char *text = calloc(1, (size_t)n + 1);
    assert_non_null(text);
    assert_int_equal(pread(c.file, text, (size_t)n, 0), n);
    close(c.file);
    close(c.saved);
    return text;
}

/* Checks the form of the time stamp; returns the line after it. */
static const char *behind_stamp(const char *line)
{
    int year, month, day, hour, minute, second, ms, n = 0;
    assert_int_equal(sscanf(line, "ts=%4d-%2d-%2dT%2d:%2d:%2d.%3dZ %n", &year, &month, &day, &hour,
                         &minute, &second, &ms, &n),
        7);
    assert_true(year >= 2024 && month >= 1 && month <= 12 && hour < 24);
    return line + n;
}

static void line_has_level_event_and_values(void **state)
{
    (void)state;
    struct capture c = capture_begin();
    dg_log(DG_LOG_INFO, "model loaded pairs=%d name=\"%s\"", 2, "a b");
    char *text = capture_end(c);
    assert_string_equal(
        behind_stamp(text), "level=info event=\"model loaded\" pairs=2 name=\"a b\"\n");
    free(text);
    c = capture_begin();
    dg_log(DG_LOG_WARN, "ready");
    text = capture_end(c);
    assert_string_equal(behind_stamp(text), "level=warn event=\"ready\"\n");
    free(text);
}

static void control_characters_cannot_make_a_second_line(void **state)
{
    (void)state;
    struct capture c = capture_begin();
    dg_log(DG_LOG_ERROR, "stop reason=\"%s\"", "a\nts=0 level=info\r\t\033[0mü");
    char *text = capture_end(c);
    assert_string_equal(
        behind_stamp(text), "level=error event=\"stop\" reason=\"a ts=0 level=info   [0mü\"\n");
    free(text);
}

static void level_filters(void **state)
{
    (void)state;
    struct capture c = capture_begin();
    dg_log(DG_LOG_DEBUG, "hidden");
    dg_log_set_level(DG_LOG_ERROR);
    dg_log(DG_LOG_WARN, "hidden");
    dg_log_set_level(DG_LOG_DEBUG);
    dg_log(DG_LOG_DEBUG, "shown");
    dg_log_set_level(DG_LOG_INFO);
    char *text = capture_end(c);
    assert_string_equal(behind_stamp(text), "level=debug event=\"shown\"\n");
    free(text);
}

static void long_line_is_cut_and_ended(void **state)
{
    (void)state;
    char value[10000];
    memset(value, 'v', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    struct capture c = capture_begin();
    dg_log(DG_LOG_INFO, "big value=%s", value);
    char *text = capture_end(c);
    size_t n = strlen(text);
    assert_true(n > 3000 && n < 4096);
    assert_string_equal(text + n - 4, "...\n");
    free(text);
}

static void errno_survives(void **state)
{
    (void)state;
    int saved = dup(STDERR_FILENO);
    close(STDERR_FILENO); /* the write fails with EBADF */
    errno = ENOSPC;
    dg_log(DG_LOG_ERROR, "lost");
    int after = errno;
    dup2(saved, STDERR_FILENO);
    close(saved);
    assert_int_equal(after, ENOSPC);
}

enum { THREADS = 4, LINES = 500 };

static void *log_many(void *arg)
{
    for (int i = 0; i < LINES; i++)
        dg_log(DG_LOG_INFO, "tick thread=%d line=%d pad=%0200d", *(const int *)arg, i, 0);
    return NULL;
}

static void threads_write_whole_lines(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    int names[THREADS], next[THREADS] = {0}, total = 0;
    struct capture c = capture_begin();
    for (int t = 0; t < THREADS; t++) {
        names[t] = t;
        assert_int_equal(pthread_create(&threads[t], NULL, log_many, &names[t]), 0);
    }
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    char *text = capture_end(c), *rest = text;
    for (char *line; (line = strsep(&rest, "\n")) && *line; total++) {
        int thread, number, end = 0;
        assert_int_equal(
            sscanf(behind_stamp(line), "level=info event=\"tick\" thread=%d line=%d pad=%*d%n",
                &thread, &number, &end),
            2);
        assert_true(thread >= 0 && thread < THREADS && end > 0);
        assert_int_equal(number, next[thread]++); /* a thread's lines stay in order */
    }
    assert_int_equal(total, THREADS * LINES);
    free(text);
}

/* Returns the line as jansson parses it; NULL: not JSON. */
static struct dg_json *logged_json(const char *value)
{
    struct capture c = capture_begin();
    dg_log_set_format(DG_LOG_JSON);
    dg_log(DG_LOG_WARN, "two words n=%d x=-0.25 zeros=007 reason=\"%s\" id=a/b=c", 12, value);
    dg_log_set_format(DG_LOG_LOGFMT);
    char *text = capture_end(c);
    size_t n = strlen(text);
    assert_true(n > 1 && n < 4096 && text[n - 1] == '\n' && strchr(text, '\n') == text + n - 1);
    struct dg_json *v = dg_json_parse(text, n, NULL);
    free(text);
    return v;
}

static void json_has_the_same_keys(void **state)
{
    (void)state;
    struct dg_json *v = logged_json("a \"quoted\" back\\slash ü x=1");
    assert_non_null(v);
    assert_string_equal(dg_json_string(dg_json_get(v, "event"), NULL), "two words");
    assert_string_equal(dg_json_string(dg_json_get(v, "level"), NULL), "warn");
    assert_int_equal(dg_json_number(dg_json_get(v, "n")), 12);
    assert_true(dg_json_number(dg_json_get(v, "x")) == -0.25);
    assert_string_equal(dg_json_string(dg_json_get(v, "zeros"), NULL), "007");
    assert_string_equal(
        dg_json_string(dg_json_get(v, "reason"), NULL), "a \"quoted\" back\\slash ü x=1");
    assert_string_equal(dg_json_string(dg_json_get(v, "id"), NULL), "a/b=c");
    dg_json_free(v);
}

/* A file name of any bytes and any length gives one line, which parses. */
static void json_of_any_bytes(void **state)
{
    char value[4200];
    (void)state;
    srand(3);
    for (int i = 0; i < 3000; i++) {
        size_t n = (size_t)rand() % (i % 10 == 0 ? sizeof value : 40);
        for (size_t k = 0; k < n; k++)
            value[k] = (char)(i % 3 == 0 ? "\"\\ =ab1"[rand() % 8] : 1 + rand() % 255);
        value[n] = '\0';
        struct dg_json *v = logged_json(value);
        assert_non_null(v);
        dg_json_free(v);
    }
}

/* A pipe that nobody reads blocks no thread; lines that do not fit are counted, and the count is
 * logged when the pipe is read again. In a process of its own, since there is only one ring. flags:
 * O_NONBLOCK, as a parent process may have set it for the pipe that it shares. */
static void nobody_reads(int flags)
{
    int ends[2];
    struct dg_error err = {0};
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(fcntl(ends[1], F_SETFL, flags), 0);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    assert_int_equal(dg_log_start(&err), 0);
    for (int i = 0; i < 20000; i++)
        dg_log(DG_LOG_INFO, "line number=%d", i);
    uint64_t dropped = dg_log_dropped();
    if (dropped == 0 || dropped >= 20000)
        _exit(1);
    FILE *f = fdopen(ends[0], "r");
    char line[4096];
    unsigned long long said = 0, seen = 0;
    for (int next = 0; said < dropped && fgets(line, sizeof line, f);) {
        int number;
        unsigned long long more;
        if (sscanf(strstr(line, "event="), "event=\"log lines dropped\" n=%llu", &more) == 1) {
            said += more;
            continue;
        }
        if (sscanf(strstr(line, "event="), "event=\"line\" number=%d", &number) != 1 ||
            number < next)
            _exit(2);
        next = number + 1;
        seen++;
    }
    if (said != dropped)
        _exit(3);
    dg_log(DG_LOG_INFO, "last");
    dg_log_stop(); /* returns once everything is in the pipe, or the pipe stays full */
    _exit(seen > 0 ? 0 : 4);
}

/* Checks that run(argument) ends its process with 0. */
static void check_process(void (*run)(int argument), int argument)
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(20); /* ends one that waits for lines that were lost */
        run(argument);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void a_log_that_nobody_reads(void **state)
{
    (void)state;
    check_process(nobody_reads, 0);
    check_process(nobody_reads, O_NONBLOCK);
}

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* A file that may not grow, as on a full disk, takes a part of a line and then none. Those lines
 * are counted; when there is room again, the count is logged on a line of its own. room: bytes that
 * the file takes at first. */
static void disk_is_full(int room)
{
    const uint64_t lines = 100;
    struct dg_error err = {0};
    struct capture c = capture_begin();
    signal(SIGXFSZ, SIG_IGN);
    limit_files((rlim_t)room);
    assert_int_equal(dg_log_start(&err), 0);
    for (uint64_t i = 0; i < lines; i++)
        dg_log(DG_LOG_INFO, "line number=%d", (int)i);
    for (int i = 0; dg_log_dropped() == 0 && i < 5000; i++)
        usleep(1000);
    limit_files(RLIM_INFINITY);
    dg_log(DG_LOG_INFO, "last");
    dg_log_stop();
    const uint64_t dropped = dg_log_dropped();
    uint64_t whole = 0, cut = 0;
    unsigned long long said = 0;
    char *text = capture_end(c), *rest = text, end[16];
    for (char *line; (line = strsep(&rest, "\n")) && *line;) {
        int number;
        if (sscanf(line, "ts=%*s level=warn event=\"log lines dropped\" n=%llu", &said) == 1)
            continue;
        if (sscanf(line, "ts=%*s level=info event=\"line\" number=%d%15s", &number, end) == 1 ||
            strstr(line, "event=\"last\""))
            whole++;
        else
            cut++;
    }
    free(text);
    const uint64_t partial = room > 0; /* no line of this length ends there */
    _exit(said != dropped ? 1 : whole + dropped != lines + 1 ? 2 : cut != partial ? 3 : 0);
}

static void a_log_on_a_full_disk(void **state)
{
    (void)state;
    check_process(disk_is_full, 0);
    check_process(disk_is_full, 1001);
}

/* With nothing that takes the lines, the end does not wait for it. */
static void reader_is_gone(int argument)
{
    int ends[2];
    struct dg_error err = {0};
    (void)argument;
    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    close(ends[0]);
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(dg_log_start(&err), 0);
    for (int i = 0; i < 10; i++)
        dg_log(DG_LOG_INFO, "line number=%d", i);
    dg_log_stop();
    _exit(dg_log_dropped() == 10 ? 0 : 1);
}

static void a_log_without_reader(void **state)
{
    (void)state;
    check_process(reader_is_gone, 0);
}

static void all_is_written_by_the_end(void **state)
{
    (void)state;
    struct dg_error err = {0};
    struct capture c = capture_begin();
    assert_int_equal(dg_log_start(&err), 0);
    for (int i = 0; i < 300; i++)
        dg_log(DG_LOG_INFO, "line number=%d", i);
    dg_log_stop();
    dg_log(DG_LOG_INFO, "line number=%d", 300);
    char *text = capture_end(c), *rest = text;
    int next = 0;
    for (char *line; (line = strsep(&rest, "\n")) && *line;) {
        int number;
        assert_int_equal(
            sscanf(behind_stamp(line), "level=info event=\"line\" number=%d", &number), 1);
        assert_int_equal(number, next++);
    }
    assert_int_equal(next, 301);
    assert_int_equal(dg_log_dropped(), 0);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(line_has_level_event_and_values),
        cmocka_unit_test(control_characters_cannot_make_a_second_line),
        cmocka_unit_test(level_filters),
        cmocka_unit_test(long_line_is_cut_and_ended),
        cmocka_unit_test(errno_survives),
        cmocka_unit_test(threads_write_whole_lines),
        cmocka_unit_test(json_has_the_same_keys),
        cmocka_unit_test(json_of_any_bytes),
        cmocka_unit_test(a_log_that_nobody_reads),
        cmocka_unit_test(a_log_on_a_full_disk),
        cmocka_unit_test(a_log_without_reader),
        cmocka_unit_test(all_is_written_by_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
