package io.saucr.services.core;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** How a service's core is, for people. Turn thread, between turns; not to be kept. */
public final class CoreReport {

    private final String name;
    private final CoreState state;
    private final Past past;
    private final Inputs inputs;
    private final Pairs pairs;

    CoreReport(CoreState state, Inputs inputs, Pairs pairs) {
        this.state = state;
        this.inputs = inputs;
        this.pairs = pairs;
        name = state.name;
        past = state.past;
    }

    /** Channels that wait for a person or for a start that knows their next type (K12). */
    /** Channels that wait for a person or for a start that knows their next type (K12). */
    public List<String> stopped() {
        return inputs.stopped();
    }

    /** What was put aside (K12). */
    public List<Change.ParkedIs> parked() {
        return List.copyOf(past.parked.values());
    }

    /**
     * How far a channel is, for people.
     *
     * @param peer a service's name, or a client's name and birth
     * @param birth of the pair; empty while there is none
     * @param linked whether the peer is there
     * @param sent how many messages were sent to that name
     * @param unacked how many of them were not acked
     * @param inFiles how many of these are in a file, not in memory (K13)
     * @param oldestMillis when the oldest of these was sent, since 1970; 0 without one
     * @param consumed the number of the last message that was consumed from it
     * @param held messages that wait for their turn
     */
    public record Channel(
            String peer,
            boolean outside,
            Optional<Birth> birth,
            boolean linked,
            long sent,
            long unacked,
            long inFiles,
            long oldestMillis,
            long consumed,
            int held) {}

    /** All channels, by name. */
    public List<Channel> channels() {
        List<Channel> all = new ArrayList<>();
        for (Peer peer : past.peers.values()) {
            Conversation conversation = state.conversations.get(peer.key);
            all.add(
                    new Channel(
                            peer.key,
                            peer.outside,
                            Optional.ofNullable(peer.birth),
                            conversation != null && conversation.link().isPresent(),
                            peer.sent,
                            peer.sent - peer.floor(),
                            peer.inFiles,
                            peer.oldestMillis(),
                            peer.consumed.number(),
                            conversation == null ? 0 : conversation.held.size()));
        }
        return all;
    }

    /** Services that say that this one's birth is lost, with what to do (K15). */
    public Map<String, String> refusedBy() {
        Map<String, String> reasons = new TreeMap<>();
        for (Peer peer : past.peers.values()) {
            if (peer.refusedBy != null) {
                reasons.put(peer.key, pairs.refused(peer.key, peer.refusedBy));
            }
        }
        return reasons;
    }

    /** Whether what was put aside with this id had come back (K12). */
    public boolean cameBack(long parked) {
        return past.parkedReturns.containsKey(parked);
    }

    /** Calls to the world that have not returned (K17). */
    public int openOutputs() {
        return past.outputs.size();
    }

    /** Births that were replaced, as far as turns under a later one have said so (K11). */
    public List<Birth> replaced() {
        return past.formers.stream().map(Change.Former::birth).toList();
    }

    /** Timers that are set. */
    public int timers() {
        return past.timers.size();
    }

    /** Services that have not acked all that was sent to them, for who waits on whom (K13). */
    public List<String> waitsFor() {
        return past.peers.values().stream()
                .filter(it -> !it.outside && !it.key.equals(name) && it.isWaitedFor())
                .map(it -> it.key)
                .toList();
    }
}
