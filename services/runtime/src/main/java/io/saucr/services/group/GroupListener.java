package io.saucr.services.group;

/**
 * Hears what happens on links of a group. All calls run on the executor that {@link GroupLinks} was
 * given: of one link in this order: {@link #up}, then frames, then {@link #down}, the last.
 */
public interface GroupListener {

    /** The other end can be talked to: a member of the same group. */
    void up(GroupLink link);

    /** A member said something, on a link that it dialled. */
    void heard(GroupLink link, GroupFrame.Up frame);

    /** The coordinator said something, on a link that this side dialled. */
    void heard(GroupLink link, GroupFrame.Down frame);

    /**
     * The link has ended, and frames sent on it may be lost. One that was dialled is dialled again.
     *
     * @param reason for people: who did what, and what to do about it
     */
    void down(GroupLink link, String reason);
}
