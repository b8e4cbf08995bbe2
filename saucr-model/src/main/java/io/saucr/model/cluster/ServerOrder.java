package io.saucr.model.cluster;

import io.saucr.core.Mode;

/**
 * The canonical order of a {@link ModelCluster}'s servers, and the canonical numbers of their
 * incarnations: two states that differ only in the names of servers get the same bytes.
 *
 * <p>Servers are ordered by a hash of their state that does not depend on names. Equal hashes are
 * ordered by name; such states may be counted twice.
 */
@SuppressWarnings("EnumOrdinal") // an order lives as long as the process
final class ServerOrder {
    private static final long MIX = 0x9E3779B97F4A7C15L;

    private final int n;

    /** Which server stands at a place. */
    private final int[] order;

    /** At which place a server stands. */
    private final int[] place;

    private final long[] signature;
    private final long[] refined;

    /** Of each server's own view, as bits. */
    private final int[] members;

    /** Incarnations of a server that something refers to, as bits. */
    private final long[] incarnations;

    ServerOrder(int servers) {
        n = servers;
        order = new int[n];
        place = new int[n];
        signature = new long[n];
        refined = new long[n];
        members = new int[n];
        incarnations = new long[n];
    }

    /** Which server stands at this place. */
    int serverAt(int index) {
        return order[index];
    }

    /** At which place this server stands. */
    int placeOf(int server) {
        return place[server];
    }

    /** Each server stands at the place of its number. */
    void byName() {
        for (int i = 0; i < n; i++) {
            order[i] = i;
            place[i] = i;
        }
    }

    /** Finds the order of this state's servers. */
    void find(ModelCluster cluster) {
        findOrder(cluster);
        findIncarnations(cluster);
    }

    private void findOrder(ModelCluster cluster) {
        for (int i = 0; i < n; i++) {
            signature[i] = local(cluster.servers[i]);
            members[i] = StateWriter.mask(cluster.servers[i].ownView);
        }
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < n; i++) {
                refined[i] = relational(cluster, cluster.servers[i]);
            }
            System.arraycopy(refined, 0, signature, 0, n);
        }
        sourcesFirst(cluster);
        for (int i = 0; i < n; i++) {
            int j = i;
            while (j > 0 && signature[order[j - 1]] > signature[i]) {
                order[j] = order[j - 1];
                j--;
            }
            order[j] = i;
        }
        for (int i = 0; i < n; i++) {
            place[order[i]] = i;
        }
    }

    /**
     * Of sources that are equally far a server asks the first: so the one that it asks comes before
     * them, and is the one that it asks after decoding, too.
     */
    private void sourcesFirst(ModelCluster cluster) {
        for (int i = 0; i < n; i++) {
            signature[i] &= Long.MAX_VALUE;
        }
        for (Server s : cluster.servers) {
            if (s.recovery != null && s.recovery.asksSource()) {
                signature[s.recovery.source] |= Long.MIN_VALUE;
            }
        }
    }

    private static long local(Server s) {
        long h = s.role.ordinal();
        h =
                mix(
                        h
                                ^ s.length
                                ^ (long) s.forced << 8
                                ^ (long) s.acked << 16
                                ^ (long) s.flushed << 24);
        h = mix(h ^ s.currentEpoch ^ s.acceptedEpoch << 8 ^ (long) s.queueLength << 16);
        h = mix(h ^ s.fastSwitch);
        h = mix(h ^ s.latestOnDisk);
        h = mix(h ^ s.ownView.seal() ^ (long) s.ownView.members().size() << 40);
        for (int i = 0; i < s.length; i++) {
            h = mix(h ^ s.log[i]);
        }
        h =
                mix(
                        h
                                ^ s.queueNext
                                ^ (long) s.initialHistory << 8
                                ^ (long) s.upToDateAt << 16
                                ^ (long) s.committed << 24
                                ^ (s.upToDate ? 1L << 40 : 0)
                                ^ (s.loggedInitialHistory ? 1L << 41 : 0)
                                ^ (s.established ? 1L << 42 : 0)
                                ^ (s.noopOwed ? 1L << 43 : 0)
                                ^ (s.unrecovered ? 1L << 44 : 0)
                                ^ (s.leads() && s.controller.mode() == Mode.FAST ? 1L << 45 : 0));
        h = mix(h ^ own(s));
        return h;
    }

    private static long own(Server s) {
        return s.knowledge == null ? s.mapOnDisk.get(s.sid) : s.knowledge.get(s.sid);
    }

    /** Mixes in what the server and each other one are to each other, in an order without names. */
    private long relational(ModelCluster cluster, Server s) {
        long sum = 0;
        for (int j = 0; j < n; j++) {
            if (j == s.index) {
                continue;
            }
            Server other = cluster.servers[j];
            sum += mix(signature[j] ^ mix(relation(s, other) ^ mix(relation(other, s))));
        }
        return mix(signature[s.index] ^ sum);
    }

    private long relation(Server s, Server other) {
        long h = s.knowledge == null ? s.mapOnDisk.get(other.sid) : s.knowledge.get(other.sid);
        h = mix(h ^ s.mapOnDisk.get(other.sid) * 31);
        h = mix(h ^ ((members[s.index] & 1 << other.index) != 0 ? 0x3333 : 0));
        Link link = s.links[other.index];
        if (link.open) {
            h =
                    mix(
                            h
                                    ^ 1
                                    ^ (long) link.acksRead << 1
                                    ^ (long) link.acksSent << 8
                                    ^ (long) link.joinedAt << 16
                                    ^ (long) link.newLeaderAck << 24
                                    ^ (long) link.upToDateAck << 28
                                    ^ (long) link.notices << 32
                                    ^ (long) link.countsFrom << 40);
        }
        if (s.leads()) {
            h = mix(h ^ s.count.durableThrough(other.sid) * 7);
        }
        if (other.leads() && s.link != null && s.leader == other.index) {
            h = mix(h ^ 0x5555);
        }
        Recovery recovery = s.recovery;
        if (recovery != null && recovery.finish == null) {
            h =
                    mix(
                            h
                                    ^ (recovery.underway[other.index] != null ? 1 : 0)
                                    ^ (recovery.received[other.index] != null ? 2 : 0)
                                    ^ (recovery.source == other.index ? 4 : 0)
                                    ^ ((recovery.heard & 1 << other.index) != 0 ? 8 : 0));
        }
        return h;
    }

    private void findIncarnations(ModelCluster cluster) {
        for (int i = 0; i < n; i++) {
            incarnations[i] = 1L << cluster.servers[i].incarnation;
        }
        for (Server l : cluster.servers) {
            if (!l.leads()) {
                continue;
            }
            for (int j = 0; j < n; j++) {
                Link link = l.links[j];
                if (link.open) {
                    incarnations[j] |= 1L << link.incarnation;
                    for (int k = 0; k < link.notices; k++) {
                        incarnations[link.noticeServer[k]] |= 1L << link.noticeIncarnation[k];
                    }
                }
            }
        }
    }

    /** Incarnations keep their order and lose their distance. */
    int rank(int server, long incarnation) {
        return Long.bitCount(incarnations[server] & ((1L << incarnation) - 1)) + 1;
    }

    private static long mix(long value) {
        long z = value * MIX;
        z = (z ^ (z >>> 32)) * 0xD6E8FEB86659FD93L;
        return z ^ (z >>> 29);
    }
}
