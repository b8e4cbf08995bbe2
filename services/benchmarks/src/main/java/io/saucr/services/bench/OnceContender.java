package io.saucr.services.bench;

import io.saucr.services.once.OnceClient;
import io.saucr.services.once.Operation;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryForever;
import org.apache.zookeeper.AsyncCallback.StatCallback;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;

/** Who writes to the ensemble, by the name in tables. */
enum OnceContender {
    PLAIN("plain", "ZooKeeper's client, asynchronous: after ConnectionLoss nobody knows", true) {
        @Override
        Writer open(String connect, Path folder) throws IOException {
            ZooKeeper client = new ZooKeeper(connect, SESSION_MILLIS, event -> {});
            return writer(
                    client,
                    (path, data) -> {
                        CompletableFuture<Object> done = new CompletableFuture<>();
                        StatCallback callback =
                                (code, of, context, stat) -> {
                                    if (code == KeeperException.Code.OK.intValue()) {
                                        done.complete(stat);
                                    } else {
                                        done.completeExceptionally(
                                                KeeperException.create(
                                                        KeeperException.Code.get(code), of));
                                    }
                                };
                        client.setData(path, data, -1, callback, null);
                        return done;
                    });
        }
    },
    ONCE("once", "once client without a folder, asynchronous", true) {
        @Override
        Writer open(String connect, Path folder) throws IOException {
            return once(OnceClient.at(connect).name("bench-memory").open());
        }
    },
    ONCE_FOLDER("once-folder", "once client with a folder, asynchronous", true) {
        @Override
        Writer open(String connect, Path folder) throws IOException {
            return once(
                    OnceClient.at(connect)
                            .name("bench-folder")
                            .folder(folder.resolve("once"))
                            .open());
        }
    },
    ONCE_ALONE("once-alone", "once client without a folder, each write waited for", false) {
        @Override
        Writer open(String connect, Path folder) throws IOException {
            return once(OnceClient.at(connect).name("bench-alone").open());
        }
    },
    CURATOR("curator", "Curator's idempotent(), each write waited for: it has no other", false) {
        @Override
        Writer open(String connect, Path folder) {
            CuratorFramework curator =
                    CuratorFrameworkFactory.newClient(
                            connect, SESSION_MILLIS, SESSION_MILLIS, new RetryForever(50));
            curator.start();
            return writer(
                    curator,
                    (path, data) ->
                            CompletableFuture.completedFuture(
                                    curator.setData().idempotent().forPath(path, data)));
        }
    };

    private static final int SESSION_MILLIS = (int) Duration.ofSeconds(15).toMillis();

    private final String title;
    private final String description;
    private final boolean pipelined;

    OnceContender(String title, String description, boolean pipelined) {
        this.title = title;
        this.description = description;
        this.pipelined = pipelined;
    }

    /** A client that is connected, or will be. Used by one thread. */
    interface Writer extends AutoCloseable {

        /**
         * Writes a node that exists.
         *
         * @return done when the ensemble has it
         */
        CompletableFuture<?> write(String path, byte[] data) throws Exception;

        @Override
        void close() throws IOException;
    }

    /** What a writer does. */
    private interface Writing {
        CompletableFuture<?> write(String path, byte[] data) throws Exception;
    }

    abstract Writer open(String connect, Path folder) throws IOException;

    /** Whether many writes are under way at a time. */
    boolean pipelined() {
        return pipelined;
    }

    String description() {
        return description;
    }

    @Override
    public String toString() {
        return title;
    }

    private static Writer once(OnceClient client) {
        return writer(client, (path, data) -> client.submit(Operation.setData(path, data, -1)));
    }

    private static Writer writer(AutoCloseable client, Writing writing) {
        return new Writer() {
            @Override
            public CompletableFuture<?> write(String path, byte[] data) throws Exception {
                return writing.write(path, data);
            }

            @Override
            public void close() throws IOException {
                try {
                    client.close();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new IOException(e);
                } catch (Exception e) {
                    throw new IOException(e);
                }
            }
        };
    }
}
