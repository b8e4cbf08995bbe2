package io.saucr.services.examples.dht;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;

/**
 * Where keys lie: nodes and keys have places on a circle of 64-bit numbers, and a key belongs to
 * the first node at its place or behind (consistent hashing). From node to node a request takes the
 * longest known way that does not lead past its goal: each node knows those that are 1, 2, 4, ...
 * nodes further on, so that it takes at most as many steps as the number of nodes has bits.
 * Immutable.
 */
final class Ring {

    private final List<String> inOrder;
    private final long[] places;

    /**
     * A ring.
     *
     * @param nodes their names, in any order
     * @throws IllegalArgumentException where there is none, or one twice
     */
    Ring(List<String> nodes) {
        if (nodes.isEmpty() || new HashSet<>(nodes).size() != nodes.size()) {
            throw new IllegalArgumentException(
                    "a ring has one node or more, each once, not " + nodes);
        }
        List<String> sorted = new ArrayList<>(nodes);
        sorted.sort(Comparator.comparing(Ring::place, Long::compareUnsigned));
        inOrder = List.copyOf(sorted);
        places = inOrder.stream().mapToLong(Ring::place).toArray();
    }

    /** The node to which a key belongs. */
    String owner(String key) {
        return inOrder.get(ownerIndex(key));
    }

    /**
     * To which node another one passes a request on.
     *
     * @return the owner itself, or a node nearer to it; the node itself where that is the owner
     */
    String next(String from, String key) {
        int at = inOrder.indexOf(from);
        int ahead = Math.floorMod(ownerIndex(key) - at, inOrder.size());
        return inOrder.get((at + Integer.highestOneBit(ahead)) % inOrder.size());
    }

    private int ownerIndex(String key) {
        long place = place(key);
        for (int index = 0; index < places.length; index++) {
            if (Long.compareUnsigned(place, places[index]) <= 0) {
                return index;
            }
        }
        return 0;
    }

    private static long place(String name) {
        try {
            byte[] digest =
                    MessageDigest.getInstance("SHA-256")
                            .digest(name.getBytes(StandardCharsets.UTF_8));
            return ByteBuffer.wrap(digest).getLong();
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("each Java platform has SHA-256", e);
        }
    }
}
