package io.saucr.server.runtime;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Listens to SIGPWR, by which the software of an uninterruptible power supply reports a power
 * failure. Java has no public interface for signals, only one that every JDK ships; where it or the
 * signal is missing, the server runs without.
 */
public final class PowerFailureSignal {
    private static final Logger LOG = LoggerFactory.getLogger(PowerFailureSignal.class);

    private static final String NAME = "PWR";

    private PowerFailureSignal() {}

    /** Runs the reaction on a thread of its own whenever the signal comes. */
    public static void listen(Runnable reaction) {
        try {
            Class<?> signal = Class.forName("sun.misc.Signal");
            Class<?> handler = Class.forName("sun.misc.SignalHandler");
            Object forwarding =
                    Proxy.newProxyInstance(
                            handler.getClassLoader(),
                            new Class<?>[] {handler},
                            (proxy, method, arguments) -> {
                                if (method.getName().equals("handle")) {
                                    CriticalThread.guard(reaction);
                                }
                                return null;
                            });
            signal.getMethod("handle", signal, handler)
                    .invoke(
                            null,
                            signal.getConstructor(String.class).newInstance(NAME),
                            forwarding);
        } catch (ReflectiveOperationException | RuntimeException e) {
            Throwable cause = e instanceof InvocationTargetException ? e.getCause() : e;
            LOG.info("SIG{} is not listened to here: {}", NAME, cause.toString());
        }
    }
}
