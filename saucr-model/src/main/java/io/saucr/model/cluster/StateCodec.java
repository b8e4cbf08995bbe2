package io.saucr.model.cluster;

/**
 * Encodes the state of a {@link ModelCluster} in a few hundred bytes. States that differ only in
 * the names of servers mostly get the same bytes ({@link ServerOrder}); where they do not, the
 * search takes longer and misses nothing.
 *
 * <p>Not thread-safe. Epochs and leaders below 32, counters below 64: {@link #encode} refuses more.
 */
public final class StateCodec {
    /** No state takes more bytes. */
    public static final int MAX_BYTES = 4096;

    private final ServerOrder order;
    private final StateWriter writer;
    private final StateReader reader;

    /** For clusters of this many servers. */
    public StateCodec(int servers) {
        this(servers, false);
    }

    /**
     * @param answersAreLost whether answers on their way to a recovering server are never received,
     *     so that it is enough to know that there were any (see {@link PartialOrderReduction})
     */
    public StateCodec(int servers, boolean answersAreLost) {
        order = new ServerOrder(servers);
        writer = new StateWriter(servers, order, answersAreLost);
        reader = new StateReader(servers, answersAreLost);
    }

    /**
     * The server that the last state encoded has at this place; decoded, it is the server there.
     */
    public int serverAt(int index) {
        return order.serverAt(index);
    }

    /**
     * Writes the state.
     *
     * @param out at least {@link #MAX_BYTES} long
     * @return how many bytes were written
     */
    public int encode(ModelCluster cluster, byte[] out) {
        order.find(cluster);
        return writer.write(cluster, out);
    }

    /** Makes the cluster the one whose state was written; its servers stand at their places. */
    public void decode(ModelCluster cluster, byte[] in) {
        order.byName();
        reader.read(cluster, in);
    }
}
