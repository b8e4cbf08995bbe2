/*
 * Stands between a server and its disk, by LD_PRELOAD: delays and counts forces, lets them fail, fills
 * the disk or makes it read-only, refuses some writes, lets everything hang, and remembers what was
 * forced, so that after SIGKILL everything else can be taken away.
 *
 * Only files below SAUCR_SHIM_ROOT are concerned. Java talks to it through the page that
 * SAUCR_SHIM_CONTROL names (mapped shared by both sides; the layout is in FsyncShim.java), and reads
 * what to undo from SAUCR_SHIM_JOURNAL. Without these variables the library does nothing.
 *
 * The journal is a sequence of records, each appended by one write(2), before the operation it
 * describes (a creation, and the removal of a folder: after it; a file that the journal does not know
 * has just been created). PowerLoss.java reads it. A data record carries what stood in the range before
 * (nothing, if that was zeros or beyond the end) and the size of the file before; a force record
 * carries the length that the journal had when the force began: only what stood before is covered.
 * After a force that failed the pages look clean, as Linux has it: later forces pass them over, unless
 * they are written once more. One lock orders records and operations alike, so a record that a force
 * covers belongs to an operation that is complete. Writes through mmap are not seen.
 *
 * The wall clock can be shifted; clocks that only measure never are. Connections to ports of loopback can
 * be sent on a detour, through which a test cuts the network.
 *
 * Before a name is removed or replaced, the file gets a second name in SAUCR_SHIM_GRAVES (same file
 * system), from where it can come back if the removal was never forced.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define MAGIC 0x53415543525348ULL
#define PAGE 4096
#define MAX_FDS 65536
#define CHUNK (64 * 1024)

struct control {
    uint64_t magic;       /*   0 */
    uint64_t delay_us;    /*   8 written by Java */
    uint64_t fail_forces; /*  16 written by Java */
    uint64_t full_disk;   /*  24 written by Java */
    uint64_t journal_on;  /*  32 written by Java before the start */
    uint64_t read_only;   /*  40 written by Java */
    int64_t clock_shift;  /*  48 written by Java, milliseconds */
    uint64_t refuse_next;  /*  56 written by Java, counted down here: so many writes are refused */
    uint64_t refuse_errno; /*  64 written by Java before refuse_next: with this error */
    uint64_t hung;         /*  72 written by Java */
    uint64_t reserved[6];
    uint64_t forces[4];      /* 128 by class of file: log, snapshot, other, directory */
    uint64_t failed_forces;  /* 160 */
    uint64_t refused_writes; /* 168 */
    uint64_t force_nanos;    /* 176 time spent in forces, delay included */
    uint64_t pid;            /* 184 */
    uint64_t reserved2[40];
    uint64_t detours[64]; /* 512 written by Java: port << 32 | other port; 0 ends the list */
};

enum file_class { LOG, SNAPSHOT, OTHER, DIRECTORY };
enum fd_state { UNKNOWN, FOREIGN, TRACKED };
enum record_kind {
    CREATE = 1, /* name now names ino, which is new */
    RENAME = 2, /* name -> name2 */
    UNLINK = 3, /* name is gone */
    DATA = 4,   /* [offset, offset+length) of ino is about to change; old content follows */
    ZERO = 5,   /* as DATA, the old content was zeros or nothing */
    FORCE = 6,  /* ino is durable, as of journal length `offset`; with its name, if a directory */
    ABORT = 7,  /* the RENAME, MOVE or UNLINK just before did not happen */
    /* 8 is KNOWN: a durable file that was there before, written by PowerLoss.java */
    FAILED = 9, /* a force of ino failed, as of journal length `offset`: its pages look clean now */
    MOVE = 10,  /* as RENAME, of a folder: what is in it moves along */
    RMDIR = 11  /* the folder is gone; a new one of that name is another one */
};

struct record {
    uint32_t kind;
    uint32_t name_length;
    uint64_t ino;
    uint64_t offset;
    uint64_t length;
    uint64_t old_size;
    uint32_t name2_length;
    uint32_t data_length;
};

static struct control private_control;
static struct control *control = &private_control;
static char root[PATH_MAX];
static size_t root_length;
static char graves[PATH_MAX];
static int journal = -1;
static unsigned char fds[MAX_FDS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define REAL(name) ((__typeof__(&name))real(#name))

static void *real(const char *name)
{
    void *address = dlsym(RTLD_NEXT, name);
    if (!address) {
        fprintf(stderr, "fsync shim: no symbol %s\n", name);
        _exit(99);
    }
    return address;
}

/* Resolved once each: dlsym is too slow, and not safe everywhere, for every call. */
#define FORWARD(name)                                                                          \
    static __typeof__(&name) next_##name;                                                      \
    static inline __typeof__(&name) get_##name(void)                                           \
    {                                                                                          \
        __typeof__(&name) f = __atomic_load_n(&next_##name, __ATOMIC_RELAXED);                 \
        if (!f) {                                                                              \
            f = REAL(name);                                                                    \
            __atomic_store_n(&next_##name, f, __ATOMIC_RELAXED);                               \
        }                                                                                      \
        return f;                                                                              \
    }

FORWARD(fsync)
FORWARD(fdatasync)
FORWARD(write)
FORWARD(writev)
FORWARD(pwrite)
FORWARD(pwritev)
FORWARD(sendfile)
FORWARD(copy_file_range)
FORWARD(ftruncate)
FORWARD(truncate)
FORWARD(posix_fallocate)
FORWARD(fallocate)
FORWARD(open)
FORWARD(openat)
FORWARD(close)
FORWARD(dup2)
FORWARD(dup3)
FORWARD(rename)
FORWARD(unlink)
FORWARD(rmdir)
FORWARD(connect)
FORWARD(clock_gettime)
FORWARD(gettimeofday)

static void die(const char *what)
{
    dprintf(2, "fsync shim: %s: %s\n", what, strerror(errno));
    _exit(99);
}

static void *watch_parent(void *argument)
{
    pid_t parent = (pid_t)(intptr_t)argument;
    struct timespec pause = {0, 250 * 1000 * 1000};
    while (getppid() == parent)
        nanosleep(&pause, NULL);
    kill(getpid(), SIGKILL);
    return NULL;
}

__attribute__((constructor)) static void begin(void)
{
    const char *page = getenv("SAUCR_SHIM_CONTROL");
    const char *data = getenv("SAUCR_SHIM_ROOT");
    if (!page || !data)
        return;
    if (!realpath(data, root))
        die(data);
    root_length = strlen(root);
    int fd = get_open()(page, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        die(page);
    struct control *mapped = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED)
        die("mmap");
    get_close()(fd);
    if (mapped->magic != MAGIC) {
        errno = EINVAL;
        die("control page of another version");
    }
    control = mapped;
    control->pid = (uint64_t)getpid();
    const char *path = getenv("SAUCR_SHIM_JOURNAL");
    const char *graveyard = getenv("SAUCR_SHIM_GRAVES");
    if (control->journal_on && path && graveyard) {
        journal = get_open()(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
        if (journal < 0)
            die(path);
        snprintf(graves, sizeof graves, "%s", graveyard);
    }
    if (getenv("SAUCR_SHIM_DIE_WITH_PARENT")) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, watch_parent, (void *)(intptr_t)getppid()) == 0)
            pthread_detach(thread);
    }
}

static int below_root(const char *path)
{
    return root_length && strncmp(path, root, root_length) == 0
           && (path[root_length] == '/' || path[root_length] == 0);
}

static int path_of_fd(int fd, char *path)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, PATH_MAX - 1);
    if (n < 0)
        return -1;
    path[n] = 0;
    return 0;
}

/* The name as it stands in the file system, directories resolved, the last part not. */
static int path_of_name(const char *name, char *path)
{
    const char *slash = strrchr(name, '/');
    char parent[PATH_MAX];
    char resolved[PATH_MAX];
    if (!slash)
        snprintf(parent, sizeof parent, ".");
    else if (slash == name)
        snprintf(parent, sizeof parent, "/");
    else
        snprintf(parent, sizeof parent, "%.*s", (int)(slash - name), name);
    if (!realpath(parent, resolved))
        return -1;
    int n = snprintf(path, PATH_MAX, "%s/%s", strcmp(resolved, "/") ? resolved : "",
                     slash ? slash + 1 : name);
    return n < 0 || n >= PATH_MAX ? -1 : 0;
}

static int path_at(int dirfd, const char *name, char *path)
{
    if (name[0] == '/' || dirfd == AT_FDCWD)
        return path_of_name(name, path);
    char directory[PATH_MAX];
    char joined[PATH_MAX];
    if (path_of_fd(dirfd, directory) < 0)
        return -1;
    int n = snprintf(joined, sizeof joined, "%s/%s", directory, name);
    return n < 0 || n >= PATH_MAX ? -1 : path_of_name(joined, path);
}

static void append(struct record *r, const char *name, const char *name2, const void *data)
{
    char buffer[sizeof(struct record) + 2 * PATH_MAX + CHUNK];
    size_t n = sizeof *r;
    r->name_length = name ? (uint32_t)strlen(name) : 0;
    r->name2_length = name2 ? (uint32_t)strlen(name2) : 0;
    if (!data)
        r->data_length = 0;
    memcpy(buffer, r, sizeof *r);
    memcpy(buffer + n, name ? name : "", r->name_length);
    n += r->name_length;
    memcpy(buffer + n, name2 ? name2 : "", r->name2_length);
    n += r->name2_length;
    memcpy(buffer + n, data ? data : "", r->data_length);
    n += r->data_length;
    if (get_write()(journal, buffer, n) != (ssize_t)n)
        die("journal");
}

/* Whether fd is a regular file below the root; remembered until fd is closed. */
static int tracked(int fd)
{
    if (!root_length || fd < 0 || fd >= MAX_FDS)
        return 0;
    unsigned char state = __atomic_load_n(&fds[fd], __ATOMIC_RELAXED);
    if (state == UNKNOWN) {
        struct stat s;
        char path[PATH_MAX];
        state = fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && path_of_fd(fd, path) == 0
                        && below_root(path)
                    ? TRACKED
                    : FOREIGN;
        __atomic_store_n(&fds[fd], state, __ATOMIC_RELAXED);
    }
    return state == TRACKED;
}

static void forget(int fd)
{
    if (fd >= 0 && fd < MAX_FDS)
        __atomic_store_n(&fds[fd], UNKNOWN, __ATOMIC_RELAXED);
}

static int is_zero(const char *data, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (data[i])
            return 0;
    return 1;
}

/* Under the lock, before [offset, offset+length) of fd changes or is cut off. */
static void remember(int fd, uint64_t offset, uint64_t length)
{
    if (journal < 0)
        return;
    struct stat s;
    if (fstat(fd, &s) < 0)
        return;
    /* The descriptor may be open for writing only; the old content is read through another one. */
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    int reader = -1;
    uint64_t size = (uint64_t)s.st_size;
    struct record r = {.ino = s.st_ino, .old_size = size};
    do {
        char old[CHUNK];
        uint64_t n = length < CHUNK ? length : CHUNK;
        ssize_t got = 0;
        if (offset < size) {
            if (reader < 0)
                reader = get_open()(link, O_RDONLY | O_CLOEXEC);
            if (reader < 0)
                die("read what a write replaces");
            got = pread(reader, old, n, (off_t)offset);
            if (got < 0)
                die("read what a write replaces");
        }
        r.kind = is_zero(old, (size_t)got) ? ZERO : DATA;
        r.offset = offset;
        r.length = n;
        r.data_length = r.kind == DATA ? (uint32_t)got : 0;
        append(&r, NULL, NULL, r.kind == DATA ? old : NULL);
        offset += n;
        length -= n;
    } while (length > 0);
    if (reader >= 0)
        get_close()(reader);
}

static uint64_t position(int fd)
{
    struct stat s;
    int flags = fcntl(fd, F_GETFL);
    if (flags >= 0 && (flags & O_APPEND) && fstat(fd, &s) == 0)
        return (uint64_t)s.st_size;
    off_t at = lseek(fd, 0, SEEK_CUR);
    return at < 0 ? 0 : (uint64_t)at;
}

/* Before any lock is taken: what does not return must not keep others from returning. */
static void wait_while_hung(void)
{
    struct timespec pause = {0, 2 * 1000 * 1000};
    while (__atomic_load_n(&control->hung, __ATOMIC_RELAXED))
        nanosleep(&pause, NULL);
}

static int read_only(void)
{
    if (!__atomic_load_n(&control->read_only, __ATOMIC_RELAXED))
        return 0;
    __atomic_fetch_add(&control->refused_writes, 1, __ATOMIC_RELAXED);
    errno = EROFS;
    return 1;
}

static int refused(void)
{
    if (read_only())
        return 1;
    int error = 0;
    if (__atomic_load_n(&control->full_disk, __ATOMIC_RELAXED))
        error = ENOSPC;
    uint64_t left = __atomic_load_n(&control->refuse_next, __ATOMIC_ACQUIRE);
    while (!error && left)
        if (__atomic_compare_exchange_n(&control->refuse_next, &left, left - 1, 0, __ATOMIC_ACQUIRE,
                                        __ATOMIC_ACQUIRE))
            error = (int)__atomic_load_n(&control->refuse_errno, __ATOMIC_RELAXED);
    if (!error)
        return 0;
    __atomic_fetch_add(&control->refused_writes, 1, __ATOMIC_RELAXED);
    errno = error;
    return 1;
}

static uint64_t total(const struct iovec *parts, int count)
{
    uint64_t n = 0;
    for (int i = 0; i < count; i++)
        n += parts[i].iov_len;
    return n;
}

#define GUARDED(type, fd, at, length, call)     \
    do {                                        \
        if (!tracked(fd))                       \
            return call;                        \
        wait_while_hung();                      \
        if (refused())                          \
            return -1;                          \
        if (journal < 0)                        \
            return call;                        \
        pthread_mutex_lock(&lock);              \
        remember(fd, at, length);               \
        type guarded_result = call;             \
        int guarded_error = errno;              \
        pthread_mutex_unlock(&lock);            \
        errno = guarded_error;                  \
        return guarded_result;                  \
    } while (0)

ssize_t write(int fd, const void *data, size_t n)
{
    GUARDED(ssize_t, fd, position(fd), n, get_write()(fd, data, n));
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    GUARDED(ssize_t, fd, position(fd), total(parts, count), get_writev()(fd, parts, count));
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t at)
{
    GUARDED(ssize_t, fd, (uint64_t)at, n, get_pwrite()(fd, data, n, at));
}

ssize_t pwrite64(int fd, const void *data, size_t n, off64_t at) { return pwrite(fd, data, n, at); }

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at)
{
    GUARDED(ssize_t, fd, (uint64_t)at, total(parts, count), get_pwritev()(fd, parts, count, at));
}

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t at)
{
    return pwritev(fd, parts, count, at);
}

ssize_t sendfile(int fd, int from, off_t *at, size_t n)
{
    GUARDED(ssize_t, fd, position(fd), n, get_sendfile()(fd, from, at, n));
}

ssize_t sendfile64(int fd, int from, off64_t *at, size_t n) { return sendfile(fd, from, at, n); }

ssize_t copy_file_range(int from, off64_t *from_at, int fd, off64_t *at, size_t n, unsigned flags)
{
    GUARDED(ssize_t, fd, at ? (uint64_t)*at : position(fd), n,
            get_copy_file_range()(from, from_at, fd, at, n, flags));
}

static uint64_t tail(int fd, off_t size)
{
    struct stat s;
    return fstat(fd, &s) == 0 && s.st_size > size ? (uint64_t)(s.st_size - size) : 0;
}

int ftruncate(int fd, off_t size)
{
    GUARDED(int, fd, (uint64_t)size, tail(fd, size), get_ftruncate()(fd, size));
}

int ftruncate64(int fd, off64_t size) { return ftruncate(fd, size); }

int truncate(const char *name, off_t size)
{
    int fd = open(name, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    int result = ftruncate(fd, size);
    int error = errno;
    close(fd);
    errno = error;
    return result;
}

int truncate64(const char *name, off64_t size) { return truncate(name, size); }

int fallocate(int fd, int mode, off_t at, off_t n)
{
    GUARDED(int, fd, (uint64_t)at, (uint64_t)n, get_fallocate()(fd, mode, at, n));
}

int fallocate64(int fd, int mode, off64_t at, off64_t n) { return fallocate(fd, mode, at, n); }

int posix_fallocate(int fd, off_t at, off_t n)
{
    if (!tracked(fd) || journal < 0)
        return get_posix_fallocate()(fd, at, n);
    wait_while_hung();
    if (refused())
        return errno;
    pthread_mutex_lock(&lock);
    remember(fd, (uint64_t)at, (uint64_t)n);
    int result = get_posix_fallocate()(fd, at, n);
    pthread_mutex_unlock(&lock);
    return result;
}

int posix_fallocate64(int fd, off64_t at, off64_t n) { return posix_fallocate(fd, at, n); }

static enum file_class class_of(const char *path, mode_t mode)
{
    const char *base = strrchr(path, '/');
    base = base ? base + 1 : path;
    if (S_ISDIR(mode))
        return DIRECTORY;
    if (strncmp(base, "log.", 4) == 0)
        return LOG;
    return strncmp(base, "snapshot.", 9) == 0 ? SNAPSHOT : OTHER;
}

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

static int force(int fd, int (*forward)(int))
{
    struct stat s;
    char path[PATH_MAX];
    if (!root_length || fstat(fd, &s) < 0 || !(S_ISREG(s.st_mode) || S_ISDIR(s.st_mode))
        || path_of_fd(fd, path) < 0 || !below_root(path))
        return forward(fd);
    uint64_t start = now();
    wait_while_hung();
    pthread_mutex_lock(&lock);
    /* Java may append records, too. */
    uint64_t covered = journal < 0 ? 0 : (uint64_t)lseek(journal, 0, SEEK_END);
    pthread_mutex_unlock(&lock);
    /* With a journal, that is the disk: the real one has nothing to add but noise. */
    int result = journal >= 0 ? 0 : forward(fd);
    int error = errno;
    /* The delay is the least time that a force takes, so that a slow host does not add to it. */
    uint64_t end = start + 1000 * __atomic_load_n(&control->delay_us, __ATOMIC_RELAXED);
    struct timespec until = {(time_t)(end / 1000000000ULL), (long)(end % 1000000000ULL)};
    while (now() < end)
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    if (__atomic_load_n(&control->fail_forces, __ATOMIC_RELAXED)) {
        result = -1;
        error = EIO;
    }
    if (result < 0) {
        __atomic_fetch_add(&control->failed_forces, 1, __ATOMIC_RELAXED);
        if (journal >= 0 && S_ISREG(s.st_mode)) {
            struct record r = {.kind = FAILED, .ino = s.st_ino, .offset = covered};
            pthread_mutex_lock(&lock);
            append(&r, NULL, NULL, NULL);
            pthread_mutex_unlock(&lock);
        }
        errno = error;
        return -1;
    }
    if (journal >= 0) {
        struct record r = {.kind = FORCE, .ino = s.st_ino, .offset = covered};
        pthread_mutex_lock(&lock);
        append(&r, S_ISDIR(s.st_mode) ? path : NULL, NULL, NULL);
        pthread_mutex_unlock(&lock);
    }
    __atomic_fetch_add(&control->forces[class_of(path, s.st_mode)], 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&control->force_nanos, now() - start, __ATOMIC_RELAXED);
    return 0;
}

int fsync(int fd) { return force(fd, get_fsync()); }

int fdatasync(int fd) { return force(fd, get_fdatasync()); }

static int open_tracked(int dirfd, const char *name, int flags, mode_t mode)
{
    char path[PATH_MAX];
    int writes = (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC));
    int ours = root_length && writes && !(flags & O_TMPFILE & ~O_DIRECTORY)
               && path_at(dirfd, name, path) == 0 && below_root(path);
    if (!ours) {
        int fd = get_openat()(dirfd, name, flags, mode);
        forget(fd);
        return fd;
    }
    struct stat s;
    wait_while_hung();
    pthread_mutex_lock(&lock);
    int existed = stat(path, &s) == 0;
    int fd = -1;
    if (read_only() || (!existed && (flags & O_CREAT) && refused())) {
        fd = -1;
    } else {
        /* The cut is made by hand, so that it is remembered. */
        fd = get_openat()(dirfd, name, flags & ~O_TRUNC, mode);
        if (fd >= 0) {
            forget(fd);
            if (journal >= 0 && fstat(fd, &s) == 0 && S_ISREG(s.st_mode)) {
                if (!existed) {
                    struct record r = {.kind = CREATE, .ino = s.st_ino};
                    append(&r, path, NULL, NULL);
                }
            }
            if ((flags & O_TRUNC) && existed) {
                remember(fd, 0, tail(fd, 0));
                int cut = (flags & O_ACCMODE) == O_RDONLY ? get_truncate()(path, 0)
                                                          : get_ftruncate()(fd, 0);
                if (cut < 0) {
                    get_close()(fd);
                    fd = -1;
                }
            }
        }
    }
    int error = errno;
    pthread_mutex_unlock(&lock);
    errno = error;
    return fd;
}

static mode_t mode_of(int flags, va_list arguments)
{
    return flags & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY)) ? va_arg(arguments, mode_t) : 0;
}

#define OPEN(name)                                         \
    int name(const char *path, int flags, ...)             \
    {                                                      \
        va_list arguments;                                 \
        va_start(arguments, flags);                        \
        mode_t mode = mode_of(flags, arguments);           \
        va_end(arguments);                                 \
        return open_tracked(AT_FDCWD, path, flags, mode);  \
    }

#define OPENAT(name)                                       \
    int name(int dirfd, const char *path, int flags, ...)  \
    {                                                      \
        va_list arguments;                                 \
        va_start(arguments, flags);                        \
        mode_t mode = mode_of(flags, arguments);           \
        va_end(arguments);                                 \
        return open_tracked(dirfd, path, flags, mode);     \
    }

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

int creat(const char *path, mode_t mode)
{
    return open_tracked(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

int creat64(const char *path, mode_t mode) { return creat(path, mode); }

int close(int fd)
{
    forget(fd);
    return get_close()(fd);
}

int dup2(int from, int to)
{
    forget(to);
    return get_dup2()(from, to);
}

int dup3(int from, int to, int flags)
{
    forget(to);
    return get_dup3()(from, to, flags);
}

/* Under the lock: the file keeps a name by its number, so that its removal can be undone. */
static void bury(const char *path)
{
    struct stat s;
    if (journal < 0 || lstat(path, &s) < 0 || !S_ISREG(s.st_mode))
        return;
    char grave[PATH_MAX + 64];
    snprintf(grave, sizeof grave, "%s/%llu", graves, (unsigned long long)s.st_ino);
    if (link(path, grave) < 0 && errno != EEXIST)
        die("keep a removed file");
}

static void settle(int result)
{
    struct record r = {.kind = ABORT};
    if (result < 0)
        append(&r, NULL, NULL, NULL);
}

/* Whether a name cannot change because the disk is read-only; waits while it hangs. */
static int fixed_name(const char *name)
{
    char path[PATH_MAX];
    int special = __atomic_load_n(&control->read_only, __ATOMIC_RELAXED)
                  || __atomic_load_n(&control->hung, __ATOMIC_RELAXED);
    if (!root_length || !special || path_of_name(name, path) < 0 || !below_root(path))
        return 0;
    wait_while_hung();
    return read_only();
}

static int rename_tracked(const char *from, const char *to)
{
    char path[PATH_MAX];
    char path2[PATH_MAX];
    if (fixed_name(from) || fixed_name(to))
        return -1;
    if (journal < 0 || path_of_name(from, path) < 0 || path_of_name(to, path2) < 0
        || !(below_root(path) || below_root(path2)))
        return get_rename()(from, to);
    struct stat s;
    pthread_mutex_lock(&lock);
    struct record r = {.kind = RENAME};
    if (lstat(path, &s) == 0) {
        r.ino = s.st_ino;
        r.kind = S_ISDIR(s.st_mode) ? MOVE : RENAME;
    }
    bury(path2);
    append(&r, path, path2, NULL);
    int result = get_rename()(from, to);
    int error = errno;
    settle(result);
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}

int rename(const char *from, const char *to) { return rename_tracked(from, to); }

int renameat(int dirfd, const char *from, int dirfd2, const char *to)
{
    char path[PATH_MAX];
    char path2[PATH_MAX];
    if (path_at(dirfd, from, path) < 0 || path_at(dirfd2, to, path2) < 0)
        return -1;
    return rename_tracked(path, path2);
}

static int remove_tracked(const char *path)
{
    pthread_mutex_lock(&lock);
    struct record r = {.kind = UNLINK};
    bury(path);
    append(&r, path, NULL, NULL);
    int result = get_unlink()(path);
    int error = errno;
    settle(result);
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}

/* Whether the journal is to know that the name is gone; path is its name in the file system. */
static int is_journaled(const char *name, char *path)
{
    return journal >= 0 && path_of_name(name, path) == 0 && below_root(path);
}

int unlink(const char *name)
{
    char path[PATH_MAX];
    if (fixed_name(name))
        return -1;
    return is_journaled(name, path) ? remove_tracked(path) : get_unlink()(name);
}

int rmdir(const char *name)
{
    char path[PATH_MAX];
    if (fixed_name(name))
        return -1;
    if (!is_journaled(name, path))
        return get_rmdir()(name);
    pthread_mutex_lock(&lock);
    int result = get_rmdir()(path);
    int error = errno;
    struct record r = {.kind = RMDIR};
    if (result == 0)
        append(&r, path, NULL, NULL);
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}

int unlinkat(int dirfd, const char *name, int flags)
{
    char path[PATH_MAX];
    if (path_at(dirfd, name, path) < 0)
        return -1;
    return flags & AT_REMOVEDIR ? rmdir(path) : unlink(path);
}

int remove(const char *name)
{
    struct stat s;
    if (lstat(name, &s) < 0)
        return -1;
    return S_ISDIR(s.st_mode) ? rmdir(name) : unlink(name);
}

static in_port_t detour(in_port_t port)
{
    uint64_t wanted = ntohs(port);
    for (int i = 0; i < 64; i++) {
        uint64_t entry = __atomic_load_n(&control->detours[i], __ATOMIC_RELAXED);
        if (entry == 0)
            break;
        if (entry >> 32 == wanted)
            return htons((uint16_t)entry);
    }
    return port;
}

int connect(int fd, const struct sockaddr *address, socklen_t length)
{
    if (root_length && address->sa_family == AF_INET && length >= sizeof(struct sockaddr_in)) {
        struct sockaddr_in other;
        memcpy(&other, address, sizeof other);
        if ((ntohl(other.sin_addr.s_addr) >> 24) == 127) {
            other.sin_port = detour(other.sin_port);
            return get_connect()(fd, (struct sockaddr *)&other, sizeof other);
        }
    }
    if (root_length && address->sa_family == AF_INET6 && length >= sizeof(struct sockaddr_in6)) {
        struct sockaddr_in6 other;
        memcpy(&other, address, sizeof other);
        if (IN6_IS_ADDR_V4MAPPED(&other.sin6_addr) && other.sin6_addr.s6_addr[12] == 127) {
            other.sin6_port = detour(other.sin6_port);
            return get_connect()(fd, (struct sockaddr *)&other, sizeof other);
        }
    }
    return get_connect()(fd, address, length);
}

static int64_t clock_shift(void)
{
    return __atomic_load_n(&control->clock_shift, __ATOMIC_RELAXED);
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
    int result = get_clock_gettime()(clock, t);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        int64_t nanos = t->tv_nsec + clock_shift() % 1000 * 1000000;
        int64_t carry = nanos < 0 ? -1 : nanos / 1000000000;
        t->tv_sec += clock_shift() / 1000 + carry;
        t->tv_nsec = nanos - carry * 1000000000;
    }
    return result;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
    int result = get_gettimeofday()(t, zone);
    if (result == 0) {
        struct timespec shifted;
        clock_gettime(CLOCK_REALTIME, &shifted);
        t->tv_sec = shifted.tv_sec;
        t->tv_usec = shifted.tv_nsec / 1000;
    }
    return result;
}

time_t time(time_t *result)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    if (result)
        *result = t.tv_sec;
    return t.tv_sec;
}
