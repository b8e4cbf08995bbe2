package org.apache.zookeeper.server.persistence;

import io.saucr.core.NamedErrors;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Set;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * A log file behind an asynchronous channel that works in the calling thread: one system call, as
 * with a {@link FileChannel}. But an interrupt of a thread that uses a {@code FileChannel} closes
 * it for all threads, and hides the disk's answer.
 */
final class UninterruptibleFile implements LogFile {
    private static final ExecutorService CALLING_THREAD = new CallingThread();

    private final Path path;
    private final AsynchronousFileChannel channel;

    UninterruptibleFile(Path path) throws IOException {
        this.path = path;
        this.channel =
                AsynchronousFileChannel.open(
                        path,
                        Set.of(
                                StandardOpenOption.CREATE,
                                StandardOpenOption.TRUNCATE_EXISTING,
                                StandardOpenOption.WRITE),
                        CALLING_THREAD);
    }

    @Override
    public void write(ByteBuffer bytes, long position) throws IOException {
        long at = position;
        try {
            while (bytes.hasRemaining()) {
                at += result(channel.write(bytes, at));
            }
        } catch (IOException e) {
            throw NamedErrors.of(path, e);
        }
    }

    private static int result(Future<Integer> done) throws IOException {
        try {
            return done.get();
        } catch (ExecutionException e) {
            throw new IOException(e.getCause().getMessage(), e.getCause());
        } catch (InterruptedException e) {
            throw new IllegalStateException("the calling thread has done it already", e);
        }
    }

    /** Apache's padding needs a {@link FileChannel}; it is rare, so one is opened for each call. */
    @Override
    public long pad(FilePadding padding, long position) throws IOException {
        long[] size = new long[1];
        NamedErrors.in(
                path,
                () ->
                        Uninterrupted.run(
                                () -> {
                                    try (FileChannel other =
                                            FileChannel.open(path, StandardOpenOption.WRITE)) {
                                        size[0] = padding.padFile(other, position);
                                    }
                                }));
        return size[0];
    }

    @Override
    public void force() throws IOException {
        NamedErrors.in(path, () -> channel.force(false));
    }

    @Override
    public void close() throws IOException {
        NamedErrors.in(path, channel::close);
    }

    private static final class CallingThread extends AbstractExecutorService {
        @Override
        public void execute(Runnable task) {
            task.run();
        }

        @Override
        public void shutdown() {}

        @Override
        public List<Runnable> shutdownNow() {
            return List.of();
        }

        @Override
        public boolean isShutdown() {
            return false;
        }

        @Override
        public boolean isTerminated() {
            return false;
        }

        @Override
        public boolean awaitTermination(long timeout, TimeUnit unit) {
            return false;
        }
    }
}
