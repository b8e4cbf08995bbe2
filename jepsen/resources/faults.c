/*
 * By LD_PRELOAD, faults of one process: its wall clock is off by as many seconds as the file FAULT_CLOCK says, and each fsync
 * and fdatasync takes as many milliseconds longer as the file FAULT_FSYNC says. Clocks that only measure are left alone.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static int (*real_clock_gettime)(clockid_t, struct timespec *);

static long number_in(const char *variable) {
    const char *name = getenv(variable);
    FILE *file = name ? fopen(name, "re") : NULL;
    long number = 0;
    if (file) {
        if (fscanf(file, "%ld", &number) != 1) number = 0;
        fclose(file);
    }
    return number;
}

/* Looks at the file ten times a second at most: clocks are read all the time. */
static long clock_shift(void) {
    static volatile long shift, looked_at;
    struct timespec now;
    if (!real_clock_gettime) real_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
    real_clock_gettime(CLOCK_MONOTONIC, &now);
    long tenths = now.tv_sec * 10 + now.tv_nsec / 100000000;
    if (tenths != looked_at) {
        looked_at = tenths;
        shift = number_in("FAULT_CLOCK");
    }
    return shift;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    if (!real_clock_gettime) real_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
    int failed = real_clock_gettime(clock, time);
    if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += clock_shift();
    return failed;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *into) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (into) *into = now.tv_sec;
    return now.tv_sec;
}

static void wait_longer(void) {
    long ms = number_in("FAULT_FSYNC");
    if (ms > 0) {
        struct timespec longer = {ms / 1000, ms % 1000 * 1000000};
        nanosleep(&longer, NULL);
    }
}

int fsync(int file) {
    static int (*next)(int);
    if (!next) next = dlsym(RTLD_NEXT, "fsync");
    wait_longer();
    return next(file);
}

int fdatasync(int file) {
    static int (*next)(int);
    if (!next) next = dlsym(RTLD_NEXT, "fdatasync");
    wait_longer();
    return next(file);
}
