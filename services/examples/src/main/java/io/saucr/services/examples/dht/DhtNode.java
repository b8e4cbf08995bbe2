package io.saucr.services.examples.dht;

import io.saucr.services.Caller;
import io.saucr.services.Handlers;
import io.saucr.services.MapState;
import io.saucr.services.Service;
import io.saucr.services.State;
import io.saucr.services.Turn;
import io.saucr.services.ValueState;
import java.util.List;

/**
 * A node of a distributed hash table whose every key lies on one node alone (section 5.3 of the
 * paper, "MaceKen stores data only on the primary"). Any node takes any request; one that is not of
 * its keys goes from node to node to the owner, and the owner's answer comes straight back to the
 * node that was asked, which answers its client. Whatever crashes meanwhile, a request is carried
 * out once, and a value that a client was told of is there after all nodes crashed at once.
 *
 * <p>All nodes know the same list of nodes, which does not change.
 */
public final class DhtNode implements Service {

    private final String name;
    private final Ring ring;
    private final MapState<String, Entry> entries;
    private final MapState<Long, Caller> waiting;
    private final ValueState<Long> requests;

    /** Sets the value of a key. */
    public record Put(String key, String value) {}

    /** Asks for the value of a key. */
    public record Get(String key) {}

    /**
     * What a key has: to the one that asked or put.
     *
     * @param value or null where the key has none
     * @param puts how often the key was put so far; a put that was carried out twice would show
     * @param owner the node that has it
     * @param hops from node to node, the answer's aside
     */
    public record Found(String value, long puts, String owner, int hops) {}

    /**
     * A request on its way to the owner.
     *
     * @param origin the node that was asked
     * @param id of the request there
     * @param key of what
     * @param value to put, or null to get
     * @param hops so far
     */
    public record Routed(String origin, long id, String key, String value, int hops) {}

    /** The owner's answer to the node that was asked. */
    public record Answered(long id, Found found) {}

    /** A value, and how often its key was put. */
    public record Entry(String value, long puts) {}

    /** What this node itself has of a key, as a {@link Found}. */
    public record Look(String key) {}

    /** How full the node is. */
    public record Ask() {}

    /**
     * How full the node is.
     *
     * @param keys that it has
     * @param puts of them all
     * @param waiting clients whose requests are on their way
     */
    public record Holds(int keys, long puts, int waiting) {}

    /**
     * A node.
     *
     * @param name its own
     * @param nodes names of all nodes, this one included
     * @throws IllegalArgumentException where it is not among them
     */
    public DhtNode(State state, String name, List<String> nodes) {
        if (!nodes.contains(name)) {
            throw new IllegalArgumentException(name + " is not one of the nodes " + nodes);
        }
        this.name = name;
        ring = new Ring(nodes);
        entries = state.map("entries", String.class, Entry.class);
        waiting = state.map("waiting", Long.class, Caller.class);
        requests = state.value("requests", Long.class);
    }

    @Override
    public void handlers(Handlers on) {
        on.message(Put.class, (put, turn) -> asked(put.key(), put.value(), turn));
        on.message(Get.class, (get, turn) -> asked(get.key(), null, turn));
        on.message(Routed.class, this::pass);
        on.message(
                Answered.class,
                (answered, turn) -> {
                    Caller caller = waiting.remove(answered.id());
                    turn.reply(caller, answered.found());
                });
        on.query(Look.class, (look, turn) -> found(entries.get(look.key()), 0));
        on.query(Ask.class, (ask, turn) -> holds());
    }

    private void asked(String key, String value, Turn turn) {
        if (ring.owner(key).equals(name)) {
            turn.reply(carryOut(key, value, 0));
            return;
        }
        long id = requests.orElse(0L) + 1;
        requests.update(id);
        waiting.put(id, turn.detach());
        turn.send(ring.next(name, key), new Routed(name, id, key, value, 1));
    }

    private void pass(Routed routed, Turn turn) {
        if (ring.owner(routed.key()).equals(name)) {
            Found found = carryOut(routed.key(), routed.value(), routed.hops());
            turn.send(routed.origin(), new Answered(routed.id(), found));
            return;
        }
        turn.send(
                ring.next(name, routed.key()),
                new Routed(
                        routed.origin(),
                        routed.id(),
                        routed.key(),
                        routed.value(),
                        routed.hops() + 1));
    }

    /** On the owner. */
    private Found carryOut(String key, String value, int hops) {
        Entry entry = entries.get(key);
        if (value != null) {
            entry = new Entry(value, entry == null ? 1 : entry.puts() + 1);
            entries.put(key, entry);
        }
        return found(entry, hops);
    }

    private Found found(Entry entry, int hops) {
        return entry == null
                ? new Found(null, 0, name, hops)
                : new Found(entry.value(), entry.puts(), name, hops);
    }

    private Holds holds() {
        long puts = 0;
        for (Entry entry : entries.values()) {
            puts += entry.puts();
        }
        return new Holds(entries.size(), puts, waiting.size());
    }
}
