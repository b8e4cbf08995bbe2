package io.saucr.services.ensemble;

import io.saucr.services.Credentials;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.zookeeper.common.PathUtils;

/**
 * Where services answer, as {@link Leadership} writes it below their paths. A name is a hint only:
 * who really answers there says so in its HELLO, and channels continue while the ensemble is away,
 * at the address that was known last. All of a process with the same ensemble, timeout and
 * credentials share one thread and one session, {@link NameWatch}. Any thread.
 */
public final class Names implements AutoCloseable {

    private final NameWatch watch;
    private volatile boolean closed;

    /**
     * Names of one ensemble; nothing is sent before the first is followed.
     *
     * @param connect servers as for ZooKeeper's client, without a chroot
     * @param sessionTimeout of the client
     * @param credentials who asks, as for {@code addAuthInfo}; empty for anybody
     */
    public Names(String connect, Duration sessionTimeout, Optional<Credentials> credentials) {
        watch = NameWatch.use(new SharedSession.Key(connect, sessionTimeout, credentials));
    }

    /**
     * Tells the address of a service now and whenever it changes, or is registered anew; empty
     * while nobody answers under that name. What happens between two looks is not told. A change is
     * told one round trip after the watch's.
     *
     * @param path of the service, absolute; IllegalArgumentException where it is none
     * @param changed called by the thread of all names; must not block
     */
    public void follow(String path, Consumer<Optional<String>> changed) {
        PathUtils.validatePath(path);
        watch.follow(path, new NameWatch.Follower(this, changed));
    }

    /**
     * Which head a service has, no matter who holds it: one that was made at another place, or in
     * another ensemble, is another. Empty where none was seen. By the thread of the names, in a
     * callback.
     */
    public Optional<String> head(String path) {
        return watch.head(path);
    }

    boolean isClosed() {
        return closed;
    }

    /** Once the callback under way has returned, followers hear nothing more. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            watch.leave(this);
        }
    }
}
