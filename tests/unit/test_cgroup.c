/* Control groups as files under a folder of our own. */
#include "base/cgroup.h"
#include "base/cores.h"
#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char root[64], membership[96];

static int set_up(void **state)
{
    (void)state;
    snprintf(root, sizeof root, "/tmp/dragoman-cgroup-XXXXXX");
    if (!mkdtemp(root))
        return -1;
    snprintf(membership, sizeof membership, "%s/membership", root);
    return 0;
}

static int tear_down(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", root);
    return system(command);
}

static void put(const char *dir, const char *file, const char *text)
{
    char path[300];
    snprintf(path, sizeof path, "%s%s", root, dir);
    assert_int_equal(dg_file_make_dir(path, NULL), 0);
    snprintf(path, sizeof path, "%s%s/%s", root, dir, file);
    assert_int_equal(dg_file_write(path, text, strlen(text), NULL), 0);
}

static struct dg_cgroup look(const char *member)
{
    struct dg_cgroup g;
    put("", "membership", member);
    dg_cgroup_read(membership, root, &g);
    return g;
}

static void version_2(void **state)
{
    (void)state;
    put("/a/b", "cpu.max", "max 100000\n");
    put("/a/b", "memory.max", "max\n");
    struct dg_cgroup g = look("0::/a/b\n");
    assert_true(g.cpus < 0 && g.memory_bytes < 0 && g.memory_left < 0);
    put("/a", "cpu.max", "150000 100000\n"); /* the parent's limit is the lowest */
    put("/a/b", "cpu.max", "200000 100000\n");
    put("/a/b", "memory.max", "1000\n");
    put("/a/b", "memory.current", "400\n");
    put("/a", "memory.max", "5000\n");
    put("/a", "memory.current", "4900\n");
    g = look("0::/a/b\n");
    assert_true(g.cpus == 1.5 && g.memory_bytes == 1000 && g.memory_left == 100);
    put("", "cpu.max", "50000 100000\n"); /* a container's own group is the root */
    assert_true(look("0::/\n").cpus == 0.5);
    put("/a", "memory.current", "9000\n");
    assert_true(look("0::/a/b\n").memory_left == 0);
}

static void version_1(void **state)
{
    (void)state;
    put("/cpu,cpuacct/x", "cpu.cfs_quota_us", "-1\n");
    put("/cpu,cpuacct/x", "cpu.cfs_period_us", "100000\n");
    put("/memory/x/y", "memory.limit_in_bytes", "9223372036854771712\n");
    static const char member[] = "3:cpu,cpuacct:/x\n2:memory:/x/y\n1:name=systemd:/x\n0::/\n";
    struct dg_cgroup g = look(member);
    assert_true(g.cpus < 0 && g.memory_bytes < 0);
    put("/cpu,cpuacct/x", "cpu.cfs_quota_us", "300000\n");
    put("/memory/x", "memory.limit_in_bytes", "2048\n");
    put("/memory/x", "memory.usage_in_bytes", "48\n");
    g = look(member);
    assert_true(g.cpus == 3 && g.memory_bytes == 2048 && g.memory_left == 2000);
    /* The group's path is the host's and not visible here: the root of the hierarchy counts. */
    put("/memory", "memory.limit_in_bytes", "512\n");
    assert_true(look("2:memory:/host/path\n").memory_bytes == 512);
}

/* A group whose memory is full of a large file's pages still has room. */
static void idle_file_pages_are_not_taken(void **state)
{
    (void)state;
    put("/a", "memory.max", "5000\n");
    put("/a", "memory.current", "4900\n");
    put("/a", "memory.stat", "anon 300\nfile 4600\nactive_file 600\ninactive_file 4000\nslab 5\n");
    assert_true(look("0::/a\n").memory_left == 4100);
    put("/a", "memory.stat", "anon 300\nworkingset_inactive_file 9\n");
    assert_true(look("0::/a\n").memory_left == 100);
    put("/a", "memory.stat",
        "inactive_file 6000\n"); /* read later than memory.current: more than is used */
    assert_true(look("0::/a\n").memory_left == 5000);
    /* In version 1 only usage_in_bytes and the total_ lines include the groups below. */
    put("/memory/x", "memory.limit_in_bytes", "2048\n");
    put("/memory/x", "memory.usage_in_bytes", "1048\n");
    put("/memory/x", "memory.stat",
        "cache 900\ninactive_file 100\ntotal_cache 900\ntotal_inactive_file 800\n");
    assert_true(look("2:memory:/x\n").memory_left == 1800);
}

static void nothing_to_read(void **state)
{
    struct dg_cgroup g;
    (void)state;
    dg_cgroup_read("/nowhere", "/nowhere", &g);
    assert_true(g.cpus < 0 && g.memory_bytes < 0 && g.memory_left < 0);
    g = look("nonsense\n0::\n:::\n");
    assert_true(g.cpus < 0);
}

static void this_machine(void **state)
{
    bool grouped;
    (void)state;
    assert_true(dg_cores_available() >= 1);
    assert_true(dg_memory_available(&grouped) > 1e6);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(version_2), TEST(version_1),
        TEST(idle_file_pages_are_not_taken), TEST(nothing_to_read), cmocka_unit_test(this_machine)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
