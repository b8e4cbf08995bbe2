package io.saucr.services.members;

/**
 * Hears what happens between the members of a service. All calls run on the executor that {@link
 * MemberLinks} was given: of one link in this order: {@link #up}, then frames, then {@link #down},
 * the last.
 */
public interface MemberListener {

    /** Another member can be talked to: of the same service, birth and format. */
    void up(MemberLink link);

    /**
     * A frame arrived, whole: any but {@link MemberFrame.Hello} and {@link MemberFrame.Sorry}.
     * Until this has returned it counts against {@link
     * io.saucr.services.wire.NetOptions#untakenBytes}; beyond that nothing is read. Where it
     * throws, or a segment finds no room in memory, the link ends, and no later frame of it comes.
     */
    void frame(MemberLink link, MemberFrame frame);

    /** Little waits to be sent now; told after {@link MemberLinks#WRITABLE_BYTES} were exceeded. */
    default void writable(MemberLink link) {}

    /**
     * The link is closed, and frames sent on it may be lost. One that was dialled is dialled again.
     *
     * @param reason for people: who did what, and what to do about it
     */
    void down(MemberLink link, String reason);
}
