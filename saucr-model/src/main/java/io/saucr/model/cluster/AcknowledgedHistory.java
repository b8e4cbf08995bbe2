package io.saucr.model.cluster;

import java.util.Arrays;

/**
 * Everything that was ever committed, in order: any of it may have been acknowledged to a client,
 * or read by one. Kept for S1, S2 and S5; no server sees it.
 */
public final class AcknowledgedHistory {
    private long[] entries = new long[16];

    /** In which epoch each was committed first. */
    private long[] epochs = new long[16];

    /** Whose acks their commits counted, as bits. */
    private int[] acks = new int[16];

    private int length;
    private boolean lost;
    private boolean contradicted;
    private boolean stale;
    private String explanation = "";

    /** How many entries were committed. */
    public int length() {
        return length;
    }

    /** Whether a serving leader lacked one of them. */
    public boolean lost() {
        return lost;
    }

    /** Whether a zxid was committed with two values. */
    public boolean contradicted() {
        return contradicted;
    }

    /** Whether a client was told that it reads everything, and did not. */
    public boolean stale() {
        return stale;
    }

    /** What was lost, contradicted or not read, "" if nothing was. */
    public String explanation() {
        return explanation;
    }

    long get(int index) {
        return entries[index];
    }

    /**
     * A leader serves with this history. What was committed in later epochs than its own it may not
     * know: it is deposed and has not noticed.
     */
    void serves(int leader, long epoch, long[] history, int historyLength) {
        for (int i = 0; i < length && !lost; i++) {
            if (epochs[i] < epoch && (i >= historyLength || history[i] != entries[i])) {
                lost = true;
                explanation =
                        "server %s serves without %s, which was committed"
                                .formatted(leader + 1, Entry.toString(entries[i]));
            }
        }
        committed(leader, epoch, history, 0, historyLength);
    }

    /** A leader commits the entries {@code from} to {@code to}, exclusively, of its history. */
    void committed(int leader, long epoch, long[] history, int from, int to) {
        for (int i = from; i < to; i++) {
            if (i < length) {
                compare(leader, history[i], entries[i]);
            } else {
                add(history[i], epoch, 0);
            }
        }
    }

    /** The commit of this entry counts the acks of these servers. */
    void counted(int index, int servers) {
        acks[index] |= servers;
    }

    /** Whether a commit of this entry has counted the server's ack. */
    boolean countsAckOf(int index, int server) {
        return (acks[index] & 1 << server) != 0;
    }

    /**
     * A leader answers a sync of a client, who reads these entries of its history.
     *
     * @param acknowledged how many had been committed when the sync came in
     */
    void synced(int leader, long[] history, int read, int acknowledged) {
        for (int i = 0; i < acknowledged && !stale; i++) {
            if (i >= read || history[i] != entries[i]) {
                stale = true;
                explanation =
                        ("a client of server %s reads after its sync, and %s was"
                                        + " committed before it")
                                .formatted(leader + 1, Entry.toString(entries[i]));
            }
        }
    }

    private void compare(int leader, long now, long before) {
        if (now == before) {
            return;
        }
        if (Entry.zxid(now) == Entry.zxid(before)) {
            contradicted = true;
            explanation =
                    "server %s commits another %s than was committed before"
                            .formatted(leader + 1, Entry.toString(now));
        } else if (!lost) {
            lost = true;
            explanation =
                    "server %s commits %s in the place of %s, which was committed"
                            .formatted(leader + 1, Entry.toString(now), Entry.toString(before));
        }
    }

    void clear() {
        length = 0;
        lost = false;
        contradicted = false;
        stale = false;
        explanation = "";
    }

    long epoch(int index) {
        return epochs[index];
    }

    int acks(int index) {
        return acks[index];
    }

    /** Behind all others, whose commits counted the acks of these servers, as bits. */
    void add(long entry, long epoch, int countedAcks) {
        if (length == entries.length) {
            entries = Arrays.copyOf(entries, length * 2);
            epochs = Arrays.copyOf(epochs, length * 2);
            acks = Arrays.copyOf(acks, length * 2);
        }
        epochs[length] = epoch;
        acks[length] = countedAcks;
        entries[length++] = entry;
    }
}
