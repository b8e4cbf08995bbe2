package io.saucr.services.members;

import java.util.Optional;

/**
 * One connection with another member, once both have said who they are. Any thread.
 *
 * <p>A pair of members may have two, as each may dial the other, and one that restarted is back
 * before its old connection is known to be dead.
 */
public interface MemberLink {

    /** A number that no other link of this process has or had. */
    long id();

    /** Who is at the other end. */
    MemberFrame.Hello hello();

    /** Whether this side dialled. */
    boolean dialled();

    /** The other member's host and port, for people. */
    String remote();

    /**
     * Sends a frame behind those sent before, or loses it with the link. Does not wait. Once more
     * than {@link io.saucr.services.wire.NetOptions#unsentBytes} wait for the network, the next one
     * ends the link: so with less a segment of any size is taken. Once it has ended nothing is
     * sent.
     *
     * @throws IllegalArgumentException for {@link MemberFrame.Hello} and {@link
     *     MemberFrame.Heartbeat}, which the link sends itself
     */
    void send(MemberFrame frame);

    /** Bytes that were sent and the network has not taken. */
    long unsentBytes();

    /**
     * So many bytes that came stay in memory after the listener returned: with {@link
     * io.saucr.services.wire.NetOptions#untakenBytes} of them nothing is read until some are {@link
     * #release released}. Any thread.
     */
    void hold(long bytes);

    /** So many bytes that were held are not any more. Any thread. */
    void release(long bytes);

    /**
     * When anything last came from the other member, as {@link System#nanoTime} tells; also a part
     * of a segment. While this side does not read, as its listener has much untaken, silence says
     * nothing, and this is now.
     */
    long lastHeardNanos();

    /** The newest heartbeat, which may be ahead of what the listener has been told. */
    Optional<MemberFrame.Heartbeat> lastHeartbeat();

    /**
     * Ends the link at once; the other member is told the reason. What waits to be sent is lost.
     * {@link MemberListener#down} follows.
     */
    void close(String reason);
}
