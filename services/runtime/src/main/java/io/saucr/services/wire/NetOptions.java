package io.saucr.services.wire;

import java.time.Duration;
import java.util.Optional;

/**
 * How a service talks to its peers. All services that talk to each other should have the same frame
 * size: a frame that is too large for its receiver ends each connection that it comes by.
 * Immutable.
 *
 * @param frameBytes the largest frame, from 4 KiB to 256 MiB; a message's body is less than it by
 *     {@link #FRAME_OVERHEAD_BYTES}
 * @param unsentBytes so much at most waits in memory for the network, per connection, beyond which
 *     the connection ends (K13): from two frames on. Four times as much at most waits over all of
 *     them. A service sends what it has in memory for a peer ({@link
 *     io.saucr.services.core.Limits#outboxBytes}) without looking, so this is to hold that, and
 *     answers and acks beside it: with less, a connection with a slow peer ends, and so does the
 *     next, which has the same to send
 * @param untakenBytes so much at most has been read and not yet handled, per connection, from 4 KiB
 *     on; beyond it nothing is read, and the peer feels that (K13)
 * @param connections that were accepted and said who they are, at most, from 1
 * @param strangers connections that were accepted and have not said who they are, at most, from 1;
 *     one more ends the oldest
 * @param connectTimeout for TCP
 * @param helloTimeout for TLS and HELLO, from the connection on; who said that it is a client may
 *     have nothing to ask for longer
 * @param silence after which a peer that says nothing is given up, at least 100 ms
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

    /** What a frame takes beside the body of its message, at most. */
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

    /** So often at least each side says something. */
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
