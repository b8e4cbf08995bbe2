/*
 * power_cut IFACES PIDS MOUNTS WHEN: takes the power from several servers at one instant, WHEN
 * (nanoseconds of the monotonic clock) or at once if that is over. Each of the others is a
 * comma-separated list, or "-". First every network interface goes down, then every process is stopped,
 * then every (ext4) file system is shut down without flushing its journal, then the processes are
 * killed. Prints when it began and when the last file system was shut down, on the same clock.
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SHUTDOWN _IOR('X', 125, uint32_t)
#define NO_LOG_FLUSH 2u
#define MOST 64

static int failures;

static void failed(const char *what, const char *which)
{
    fprintf(stderr, "power cut: %s %s: %s\n", what, which, strerror(errno));
    failures++;
}

static int split(char *list, char **items)
{
    int n = 0;
    if (strcmp(list, "-") != 0)
        for (char *item = strtok(list, ","); item && n < MOST; item = strtok(NULL, ","))
            items[n++] = item;
    return n;
}

static int64_t nanos(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int main(int argc, char **argv)
{
    char *ifaces[MOST], *pids[MOST], *mounts[MOST];
    int folders[MOST];
    if (argc != 5)
        return 64;
    int iface_count = split(argv[1], ifaces);
    int pid_count = split(argv[2], pids);
    int mount_count = split(argv[3], mounts);
    int net = socket(AF_INET, SOCK_DGRAM, 0);
    for (int i = 0; i < mount_count; i++)
        if ((folders[i] = open(mounts[i], O_RDONLY | O_DIRECTORY)) < 0)
            failed("open", mounts[i]);

    int64_t when = strtoll(argv[4], NULL, 10);
    struct timespec until = {when / 1000000000, when % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
    int64_t start = nanos();
    for (int i = 0; i < iface_count; i++) {
        struct ifreq request;
        memset(&request, 0, sizeof request);
        strncpy(request.ifr_name, ifaces[i], IFNAMSIZ - 1);
        if (ioctl(net, SIOCGIFFLAGS, &request) < 0
            || (request.ifr_flags &= (short)~IFF_UP, ioctl(net, SIOCSIFFLAGS, &request) < 0))
            failed("take down", ifaces[i]);
    }
    for (int i = 0; i < pid_count; i++)
        if (kill((pid_t)atoi(pids[i]), SIGSTOP) < 0 && errno != ESRCH)
            failed("stop", pids[i]);
    for (int i = 0; i < mount_count; i++) {
        uint32_t how = NO_LOG_FLUSH;
        if (folders[i] >= 0 && ioctl(folders[i], SHUTDOWN, &how) < 0)
            failed("shut down", mounts[i]);
    }
    int64_t end = nanos();
    for (int i = 0; i < pid_count; i++)
        if (kill((pid_t)atoi(pids[i]), SIGKILL) < 0 && errno != ESRCH)
            failed("kill", pids[i]);
    printf("%lld %lld\n", (long long)start, (long long)end);
    return failures ? 1 : 0;
}
