#include "convert/pull/child.h"

#include "base/file.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct message {
    int rc;
    struct dg_error err;
    struct dg_child_report report;
};

/* Enter a new network namespace, in which no interface is up. Root may create one; others need a
 * user namespace first, which some systems refuse. */
static bool leave_network(void)
{
    return unshare(CLONE_NEWNET) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0;
}

static void be_child(int (*work)(void *, struct dg_child_report *, struct dg_error *), void *arg,
    int to, pid_t parent)
{
    static const struct rlimit none = {0, 0};
    struct message m = {.rc = 0};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &none);
    if (getppid() != parent)
        _exit(1);
    m.report.has_network = !leave_network();
    m.rc = work(arg, &m.report, &m.err);
    dg_file_put(to, &m, sizeof m); /* if it fails, the parent sees it */
    fflush(NULL);
    _exit(0);
}

static bool read_message(int from, struct message *m)
{
    char *at = (char *)m;
    for (size_t left = sizeof *m; left > 0;) {
        const ssize_t n = read(from, at, left);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        left -= (size_t)n;
    }
    return true;
}

int dg_child_run(int (*work)(void *arg, struct dg_child_report *r, struct dg_error *err), void *arg,
    struct dg_child_report *out, struct dg_error *err)
{
    int ends[2], status = 0;
    struct message m;
    const pid_t self = getpid();
    if (pipe(ends) != 0)
        return dg_error_set(err, DG_EIO, "no pipe to a child process: %s", strerror(errno));
    fflush(NULL);
    const pid_t child = fork();
    if (child < 0) {
        close(ends[0]);
        close(ends[1]);
        return dg_error_set(err, DG_ENOMEM, "no child process: %s", strerror(errno));
    }
    if (child == 0) {
        close(ends[0]);
        be_child(work, arg, ends[1], self);
    }
    close(ends[1]);
    const bool told = read_message(ends[0], &m);
    close(ends[0]);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (!told)
        return dg_error_set(err, DG_EINTERNAL, "the conversion process was killed by signal %d%s",
            WIFSIGNALED(status) ? WTERMSIG(status) : 0,
            WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? " (out of memory?)" : "");
    *out = m.report;
    return m.rc ? dg_error_field(err, m.rc, m.err.field, "%s", m.err.message) : 0;
}
