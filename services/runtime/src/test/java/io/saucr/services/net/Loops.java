package io.saucr.services.net;

import io.netty.channel.EventLoop;
import io.netty.channel.SingleThreadEventLoop;
import io.netty.util.concurrent.AbstractScheduledEventExecutor;
import java.lang.reflect.Field;
import java.util.Collection;

/** What an event loop holds, which Netty tells in part only. */
public final class Loops {

    private Loops() {}

    /** Tasks for later; behind all that was given to the loop before. */
    public static int scheduled(EventLoop loop) throws Exception {
        Field tasks = AbstractScheduledEventExecutor.class.getDeclaredField("scheduledTaskQueue");
        tasks.setAccessible(true);
        return loop.submit(() -> tasks.get(loop) instanceof Collection<?> held ? held.size() : 0)
                .get();
    }

    /** Sockets, which it looks at from its own thread only. */
    public static int channels(EventLoop loop) {
        return loop.submit(
                        () -> {
                            int channels = 0;
                            for (var all =
                                            ((SingleThreadEventLoop) loop)
                                                    .registeredChannelsIterator();
                                    all.hasNext();
                                    all.next()) {
                                channels++;
                            }
                            return channels;
                        })
                .syncUninterruptibly()
                .getNow();
    }
}
