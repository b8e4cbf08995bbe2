package io.saucr.services.group;

/**
 * One connection between a member and a coordinator, once both have said who they are. Any thread.
 */
public interface GroupLink {

    /** A number that no other link of this process has or had. */
    long id();

    /** Who is at the other end. */
    GroupFrame.Hello hello();

    /** Whether this side dialled: then the other one coordinates. */
    boolean dialled();

    /** The other end's host and port, for people. */
    String remote();

    /**
     * Sends a frame behind those sent before, or loses it with the link. Does not wait. Once more
     * than {@link io.saucr.services.wire.NetOptions#unsentBytes} wait for the network, the next one
     * ends the link.
     *
     * @throws IllegalArgumentException where it is not for this side to send
     */
    void send(GroupFrame frame);

    /** Ends the link; the other end gets the reason. {@link GroupListener#down} follows. */
    void close(String reason);
}
