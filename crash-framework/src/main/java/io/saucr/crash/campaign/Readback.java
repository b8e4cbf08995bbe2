package io.saucr.crash.campaign;

import io.saucr.ensemble.ClientSession;
import io.saucr.ensemble.EnsembleException;
import io.saucr.ensemble.NewNodes;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.zookeeper.KeeperException;

/** Reads nodes back, after a sync, through one server or several. Stateless. */
final class Readback {
    private static final int AT_A_TIME = 500;

    private Readback() {}

    /**
     * The paths that are missing or hold something else.
     *
     * @throws IOException if the servers do not answer in time
     */
    static List<String> missing(String connectString, Collection<String> paths, Duration timeout)
            throws IOException, InterruptedException {
        long deadline = System.nanoTime() + timeout.toNanos();
        try (ClientSession client = connect(connectString, timeout)) {
            CompletableFuture<Integer> synced = new CompletableFuture<>();
            client.sync("/", (status, path, context) -> synced.complete(status), null);
            check(get(synced, deadline), "sync");
            List<String> missing = new ArrayList<>();
            List<String> left = new ArrayList<>(paths);
            while (!left.isEmpty()) {
                List<String> some = left.subList(0, Math.min(AT_A_TIME, left.size()));
                List<CompletableFuture<Integer>> reads = new ArrayList<>();
                for (String path : some) {
                    CompletableFuture<Integer> read = new CompletableFuture<>();
                    client.getData(
                            path,
                            false,
                            (status, asked, context, data, stat) -> {
                                boolean same = Arrays.equals(data, NewNodes.data(asked));
                                boolean other =
                                        status == KeeperException.Code.OK.intValue() && !same;
                                read.complete(
                                        other ? KeeperException.Code.NONODE.intValue() : status);
                            },
                            null);
                    reads.add(read);
                }
                for (int i = 0; i < some.size(); i++) {
                    int status = get(reads.get(i), deadline);
                    if (status == KeeperException.Code.NONODE.intValue()) {
                        missing.add(some.get(i));
                    } else {
                        check(status, some.get(i));
                    }
                }
                some.clear();
            }
            return missing;
        }
    }

    private static ClientSession connect(String servers, Duration timeout)
            throws IOException, InterruptedException {
        try {
            return ClientSession.connected(servers, timeout);
        } catch (EnsembleException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    private static int get(CompletableFuture<Integer> answer, long deadline)
            throws IOException, InterruptedException {
        try {
            return answer.get(Math.max(1, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw new IOException("no answer in time", e);
        } catch (ExecutionException e) {
            throw new IOException(e);
        }
    }

    private static void check(int status, String what) throws IOException {
        KeeperException.Code code = KeeperException.Code.get(status);
        if (code != KeeperException.Code.OK) {
            throw new IOException(what + ": " + code);
        }
    }
}
