package io.saucr.model.cluster;

import io.saucr.core.leader.FollowerConnection;

/**
 * A leader's end of a follower's connection, with what the follower has written into it and the
 * leader has not read, in this order: the ack of NEWLEADER, the ack of UPTODATE, then acks and
 * notices. It outlives the follower's end: what a dead server wrote can still be read.
 */
final class Link {
    /** More than were ever unread at once in millions of schedules (nine). */
    static final int MAX_NOTICES = 64;

    static final int NOT_SENT = 0;
    static final int UNREAD = 1;
    static final int READ = 2;

    boolean open;
    long connection;

    /** What the leader knows of it. */
    FollowerConnection<Link> known;

    /** The process at the other end. */
    long incarnation;

    /** The follower, null once its end is closed. */
    Server otherEnd;

    /** The first position of the leader's queue that was put into this connection as proposed. */
    int joinedAt;

    /**
     * From which position on its acks may count towards F, {@link Server#NOWHERE} while none do.
     */
    int countsFrom = Server.NOWHERE;

    int newLeaderAck;
    int upToDateAck;

    /** Whether the leader missed a heartbeat of the follower and has not heard it since (R6). */
    boolean silent;

    /** Acks of the queue's positions from {@code acksRead} to {@code acksSent}, exclusively. */
    int acksRead;

    int acksSent;

    /** Notices: the restarted server, its incarnation, and which position's ack comes next. */
    final int[] noticeServer = new int[MAX_NOTICES];

    final long[] noticeIncarnation = new long[MAX_NOTICES];
    final int[] noticeBefore = new int[MAX_NOTICES];
    int notices;

    // R22. The place of questions and answers among acks does not matter, and an unread one says
    // nothing that a newer one does not. 0 is none.

    /** The newest question that the leader has put into it. */
    long asked;

    /** A question that the follower has not read. */
    long question;

    /** An answer that the leader has not read: the question's number. */
    long answer;

    boolean synced() {
        return upToDateAck == READ;
    }

    boolean readable() {
        return newLeaderAck == UNREAD
                || (newLeaderAck == READ
                        && (upToDateAck == UNREAD || notices > 0 || acksRead < acksSent));
    }

    void open(
            FollowerConnection<Link> newConnection,
            long newIncarnation,
            int queueLength,
            int firstAck) {
        open = true;
        known = newConnection;
        connection = newConnection.number();
        incarnation = newIncarnation;
        joinedAt = queueLength;
        countsFrom = Server.NOWHERE;
        newLeaderAck = NOT_SENT;
        upToDateAck = NOT_SENT;
        acksRead = firstAck;
        acksSent = firstAck;
        silent = false;
        notices = 0;
        forgetQuestions();
    }

    private void forgetQuestions() {
        asked = 0;
        question = 0;
        answer = 0;
    }

    /** The follower's end begins. */
    void attach(Server follower) {
        otherEnd = follower;
        follower.link = this;
    }

    void close() {
        open = false;
        known = null;
        if (otherEnd != null) {
            otherEnd.link = null;
            otherEnd = null;
        }
        newLeaderAck = NOT_SENT;
        upToDateAck = NOT_SENT;
        acksRead = 0;
        acksSent = 0;
        joinedAt = 0;
        countsFrom = Server.NOWHERE;
        silent = false;
        notices = 0;
        forgetQuestions();
    }

    /** Whether there is a notice of this restart that is unread. */
    boolean tells(int server, long incarnationOfServer) {
        for (int i = 0; i < notices; i++) {
            if (noticeServer[i] == server && noticeIncarnation[i] == incarnationOfServer) {
                return true;
            }
        }
        return false;
    }

    /** The same notice twice says nothing new as long as the first one is unread. */
    void tell(int server, long incarnationOfServer) {
        if (tells(server, incarnationOfServer)) {
            return;
        }
        if (notices == MAX_NOTICES) {
            throw new IllegalStateException("too many unread notices");
        }
        noticeServer[notices] = server;
        noticeIncarnation[notices] = incarnationOfServer;
        noticeBefore[notices] = acksSent;
        notices++;
    }

    void removeFirstNotice() {
        notices--;
        for (int i = 0; i < notices; i++) {
            noticeServer[i] = noticeServer[i + 1];
            noticeIncarnation[i] = noticeIncarnation[i + 1];
            noticeBefore[i] = noticeBefore[i + 1];
        }
    }
}
