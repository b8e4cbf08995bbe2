package io.saucr.services.wire;

import java.time.Duration;
import java.util.Optional;

/**
 * How a service talks to its peers. All services that talk to each other should have the same frame
 * size: a receiver closes each connection over which a too large frame comes. Immutable.
 *
 * @param frameBytes the largest frame, from 4 KiB to 256 MiB; a message's body is less than it by
 *     {@link #FRAME_OVERHEAD_BYTES}
 * @param unsentBytes so much at most waits in memory for the network, per connection, beyond which
 *     the connection ends (K13): from two frames on. Four times as much at most waits over all of
 *     them. A service sends what it has in memory for a peer ({@link
 *     io.saucr.services.core.Limits#outboxBytes}) without a check, so this has to be enough for
 *     that, and for answers and acks. With less, the connection to a slow peer is closed, and so is
 *     the next one, which has the same to send
 * @param untakenBytes so much at most has been read and not yet handled, per connection, from 4 KiB
 *     on; beyond it nothing is read, and the peer feels that (K13)
 * @param connections the most accepted connections whose peers have identified themselves, from 1
 * @param strangers the most accepted connections of unknown peers, which have not identified
 *     themselves yet, from 1; one more closes the oldest
 * @param connectTimeout for TCP
 * @param helloTimeout for TLS and HELLO, from the connection on. A client that has identified
 *     itself may be silent for longer
 * @param silence after which the connection to a peer that sends nothing is closed, at least 100 ms
 * @param backoffMin before the second attempt to connect, at least 1 ms; doubles with each
 * @param backoffMax the longest between two attempts
 * @param tls how to encrypt and whom to trust; empty for plain TCP, which trusts everybody who can
 *     reach the port
 */
public record NetOptions(
        int frameBytes,
        long unsentBytes,
        long untakenBytes,
        int connections,
        int strangers,
        Duration connectTimeout,
        Duration helloTimeout,
        Duration silence,
        Duration backoffMin,
        Duration backoffMax,
        Optional<TlsOptions> tls) {

    /** The most that a frame has in addition to the body of its message, in bytes. */
    public static final int FRAME_OVERHEAD_BYTES = 2048;

    private static final int SMALLEST_FRAME_BYTES = 4 << 10;
    private static final int LARGEST_FRAME_BYTES = 256 << 20;
    private static final Duration LONGEST = Duration.ofHours(1);

    /**
     * Checks what was given.
     *
     * @throws IllegalArgumentException where it is out of range; the message says what is allowed
     */
    public NetOptions {
        range("frameBytes", frameBytes, SMALLEST_FRAME_BYTES, LARGEST_FRAME_BYTES);
        range("unsentBytes", unsentBytes, 2L * frameBytes, Long.MAX_VALUE);
        range("untakenBytes", untakenBytes, SMALLEST_FRAME_BYTES, Long.MAX_VALUE);
        range("connections", connections, 1, Integer.MAX_VALUE);
        range("strangers", strangers, 1, Integer.MAX_VALUE);
        range("connectTimeout", connectTimeout, Duration.ofMillis(1), LONGEST);
        range("helloTimeout", helloTimeout, Duration.ofMillis(1), LONGEST);
        range("silence", silence, Duration.ofMillis(100), LONGEST);
        range("backoffMin", backoffMin, Duration.ofMillis(1), LONGEST);
        range("backoffMax", backoffMax, backoffMin, LONGEST);
    }

    /**
     * Plain TCP: frames of 1 MiB, 16 MiB unsent, which is four times what a service has in memory
     * for a peer, 4 MiB untaken, 1,000 connections and 100 strangers, 5 s to connect, 10 s for TLS
     * and HELLO, 10 s of silence, 20 ms to 5 s between attempts.
     */
    public static NetOptions plain() {
        return new NetOptions(
                1 << 20,
                16L << 20,
                4L << 20,
                1000,
                100,
                Duration.ofSeconds(5),
                Duration.ofSeconds(10),
                Duration.ofSeconds(10),
                Duration.ofMillis(20),
                Duration.ofSeconds(5),
                Optional.empty());
    }

    /** These, with TLS. */
    public NetOptions with(TlsOptions keys) {
        return new NetOptions(
                frameBytes,
                unsentBytes,
                untakenBytes,
                connections,
                strangers,
                connectTimeout,
                helloTimeout,
                silence,
                backoffMin,
                backoffMax,
                Optional.of(keys));
    }

    /** The largest body of a message that fits a frame; for checks before it has a number. */
    public int bodyBytes() {
        return frameBytes - FRAME_OVERHEAD_BYTES;
    }

    /** The longest time in which each side sends something: a third of {@link #silence}. */
    public Duration keepAlive() {
        return silence.dividedBy(3);
    }

    private static void range(String what, long given, long least, long most) {
        if (given < least || given > most) {
            throw new IllegalArgumentException(
                    what + " is from " + least + " to " + most + ", not " + given);
        }
    }

    private static void range(String what, Duration given, Duration least, Duration most) {
        range(what + " in ms", given.toMillis(), least.toMillis(), most.toMillis());
    }
}
