package io.saucr.crash.nemesis;

import io.saucr.history.HistoryRecorder;
import io.saucr.history.RegisterCall;
import io.saucr.history.RegisterCall.CompareAndSet;
import io.saucr.history.RegisterCall.Read;
import io.saucr.history.RegisterCall.Write;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;

/**
 * Registers as nodes, and one client of them, which records what it asks and hears. A read is a
 * {@code sync} and a {@code getData}, a write a {@code setData}, and compare-and-set a {@code
 * setData} with the version under which this client saw the expected value. A register begins with
 * a write of 0, which creates its node. Used by one thread.
 *
 * <p>A call without an answer is INFO, if it could have an effect, and the client continues under a
 * new process number.
 */
final class RegisterClient implements AutoCloseable {
    static final int SESSION_MILLIS = 6000;
    private static final long INITIAL = 0;
    private static final Duration CALL_LIMIT = Duration.ofSeconds(6);

    private final String connectString;
    private final HistoryRecorder recorder;
    private final AtomicInteger processes;
    private final Map<Object, Seen> seen = new HashMap<>();
    private ZooKeeper client;
    private int process;

    /** What a register held, and the version under which it did. */
    private record Seen(Object value, int version) {}

    /**
     * How a call of ZooKeeper's ended.
     *
     * @param seen what the register holds after it; null if the call failed or does not say
     */
    private record Answer(Code code, Seen seen) {
        static Answer of(int status, Supplier<Seen> seen) {
            Code code = Code.get(status);
            return new Answer(code, code == Code.OK ? seen.get() : null);
        }
    }

    /**
     * @param processes gives out process numbers
     */
    RegisterClient(String connectString, HistoryRecorder recorder, AtomicInteger processes)
            throws IOException {
        this.connectString = connectString;
        this.recorder = recorder;
        this.processes = processes;
        process = processes.getAndIncrement();
        client = connect();
    }

    private static String path(Object key) {
        return "/register-" + key;
    }

    private ZooKeeper connect() throws IOException {
        return new ZooKeeper(connectString, SESSION_MILLIS, event -> {});
    }

    /**
     * Whether a call has a chance now; a client without a connection should wait, and one whose
     * session has expired gets another.
     */
    boolean ready() throws IOException {
        if (!client.getState().isAlive()) {
            replaceClient();
        }
        return client.getState().isConnected();
    }

    /**
     * @return whether an answer came
     */
    boolean read(long key) throws InterruptedException, IOException {
        Read call = new Read(key, null);
        recorder.invoke(process, call);
        CompletableFuture<Answer> synced = new CompletableFuture<>();
        CompletableFuture<Answer> read = new CompletableFuture<>();
        // On one connection, in this order: what is read is not older than the sync.
        client.sync(
                path(key),
                (status, path, context) -> synced.complete(Answer.of(status, () -> null)),
                null);
        client.getData(
                path(key),
                false,
                (status, path, context, data, stat) ->
                        read.complete(
                                Answer.of(status, () -> new Seen(value(data), stat.getVersion()))),
                null);
        Answer first = await(synced);
        Answer second = await(read);
        boolean there = second.code() == Code.OK;
        if (first.code() != Code.OK || !(there || second.code() == Code.NONODE)) {
            recorder.fail(process, call);
            return false;
        }
        if (there) {
            seen.put(key, second.seen());
        }
        recorder.ok(process, new Read(key, there ? second.seen().value() : RegisterCall.ABSENT));
        return true;
    }

    /**
     * Creates a register with a write of 0. Tries again when a connection is lost, because the
     * servers may still be electing: as nobody else writes, that is the same write.
     *
     * @param deadline of {@link System#nanoTime}
     * @throws IOException if there is no register then, or the servers refuse it
     */
    void create(long key, long deadline) throws InterruptedException, IOException {
        RegisterCall call = new Write(key, INITIAL);
        recorder.invoke(process, call);
        while (true) {
            CompletableFuture<Answer> answer = new CompletableFuture<>();
            client.create(
                    path(key),
                    data(INITIAL),
                    ZooDefs.Ids.OPEN_ACL_UNSAFE,
                    CreateMode.PERSISTENT,
                    (status, path, context, name) -> answer.complete(Answer.of(status, () -> null)),
                    null);
            Code code = await(answer).code();
            if (code == Code.OK || code == Code.NODEEXISTS) {
                recorder.ok(process, call);
                return;
            }
            boolean again = code == Code.CONNECTIONLOSS || code == Code.OPERATIONTIMEOUT;
            if (!again || System.nanoTime() > deadline) {
                throw new IOException("register " + key + " was not created: " + code);
            }
        }
    }

    void write(long key, long value) throws InterruptedException, IOException {
        change(new Write(key, value), value, -1);
    }

    /** Compare-and-set from what this client saw last; a read if it saw nothing yet. */
    void compareAndSet(long key, long value) throws InterruptedException, IOException {
        Seen last = seen.get(key);
        if (last == null) {
            read(key);
        } else {
            change(new CompareAndSet(key, last.value(), value), value, last.version());
        }
    }

    private void change(RegisterCall call, long value, int version)
            throws InterruptedException, IOException {
        recorder.invoke(process, call);
        CompletableFuture<Answer> answer = new CompletableFuture<>();
        client.setData(
                path(call.key()),
                data(value),
                version,
                (status, path, context, stat) ->
                        answer.complete(
                                Answer.of(status, () -> new Seen(value, stat.getVersion()))),
                null);
        Answer result = await(answer);
        if (result.code() == Code.OK) {
            seen.put(call.key(), result.seen());
            recorder.ok(process, call);
        } else if (result.code() == Code.BADVERSION || result.code() == Code.NONODE) {
            seen.remove(call.key());
            recorder.fail(process, call);
        } else {
            seen.clear();
            recorder.info(process, call);
            process = processes.getAndIncrement();
        }
    }

    /**
     * Waits for a call to end. One that takes too long counts as one whose connection was lost, and
     * the client gets a new connection.
     */
    private Answer await(CompletableFuture<Answer> answer)
            throws InterruptedException, IOException {
        try {
            return answer.get(CALL_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            replaceClient();
            return new Answer(Code.OPERATIONTIMEOUT, null);
        } catch (ExecutionException e) {
            throw new IOException(e);
        }
    }

    private static byte[] data(long value) {
        return Long.toString(value).getBytes(StandardCharsets.US_ASCII);
    }

    /** What a node holds; as text, which nobody writes, if it is no number. */
    private static Object value(byte[] data) {
        String text = data == null ? "" : new String(data, StandardCharsets.ISO_8859_1);
        return text.matches("\\d{1,18}") ? (Object) Long.valueOf(text) : text;
    }

    private void replaceClient() throws IOException {
        close();
        client = connect();
    }

    /** Ends the session without waiting, because the servers may not answer. */
    @Override
    public void close() {
        ZooKeeper old = client;
        Thread closer =
                new Thread(
                        () -> {
                            try {
                                old.close();
                            } catch (InterruptedException e) {
                                Thread.currentThread().interrupt();
                            }
                        },
                        "close client");
        closer.setDaemon(true);
        closer.start();
    }
}
