package io.saucr.services.core;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What an operator has a service do: with births that never come back (K15), and with what was put
 * aside (K12). What returns actions: do them at once, in their order. Turn thread, between turns.
 */
public final class AdminCommands {

    private final String name;
    private final Past past;
    private final Attempts attempts;
    private final Inputs inputs;
    private final Recorder recorder;
    private final Pairs pairs;

    AdminCommands(CoreState state, Inputs inputs, Recorder recorder, Pairs pairs) {
        this.inputs = inputs;
        this.recorder = recorder;
        this.pairs = pairs;
        name = state.name;
        past = state.past;
        attempts = state.attempts;
    }

    /**
     * An operator says that this birth never comes back (K15): what it has not acked returns, and
     * it gets this answer, should it come back nevertheless.
     *
     * @throws IllegalArgumentException where no service of that name is known, or none with that
     *     birth; says which are
     */
    public List<Action> declareLost(String service, Birth birth, String reason) {
        List<Action> out = new ArrayList<>();
        Peer peer = expectService(service);
        if (birth.equals(peer.birth)) {
            pairs.declareLost(peer, birth, reason, out);
        } else if (!peer.gone.contains(birth)) {
            throw new IllegalArgumentException(
                    name
                            + " knows no generation "
                            + birth
                            + " of "
                            + service
                            + (peer.birth == null
                                    ? ", and none that is there; what waits for it can be given up"
                                    : "; it knows " + peer.birth));
        }
        return out;
    }

    /**
     * An operator gives up what waits for a name under which nobody was met, or nobody after a
     * birth that is lost: it comes back, and was certainly not consumed.
     *
     * @throws IllegalArgumentException where no service of that name is known, or one is there,
     *     with a birth that can be declared gone
     */
    public List<Action> giveUp(String service, String reason) {
        List<Action> out = new ArrayList<>();
        Peer peer = expectService(service);
        if (peer.birth != null) {
            throw new IllegalArgumentException(
                    service
                            + " has the generation "
                            + peer.birth
                            + ", which may have consumed what was sent to it. If it never comes"
                            + " back, declare that generation gone");
        }
        own(List.of(new Change.GivenUp(service, reason)), out);
        look(Inputs.RETURNED);
        return out;
    }

    private Peer expectService(String service) {
        Peer peer = past.peers.get(service);
        if (peer == null || peer.outside || service.equals(name)) {
            throw new IllegalArgumentException(
                    name
                            + " knows no service "
                            + service
                            + "; it knows "
                            + past.peers.values().stream()
                                    .filter(it -> !it.outside && !it.key.equals(name))
                                    .map(it -> it.key)
                                    .toList());
        }
        return peer;
    }

    /**
     * A person removes what was put aside (K12).
     *
     * @throws IllegalArgumentException where nothing has that id
     */
    public List<Action> discardParked(long id) {
        List<Action> out = new ArrayList<>();
        Change.ParkedIs unused = expectParked(id);
        own(List.of(new Change.ParkedGone(id)), out);
        return out;
    }

    /**
     * A person has what was put aside tried again (K12): what had come back comes back again; the
     * rest as a message of this service to itself, since who sent it was told that it did not go
     * through.
     *
     * @throws IllegalArgumentException where nothing has that id
     */
    public List<Action> retryParked(long id) {
        List<Action> out = new ArrayList<>();
        Change.ParkedIs parked = expectParked(id);
        if (past.parkedReturns.containsKey(id)) {
            // Its type may have another handler, for others' messages: it must not get there.
            own(List.of(new Change.ReturnAgain(id)), out);
            look(Inputs.RETURNED);
        } else {
            own(
                    List.of(
                            new Change.ParkedGone(id),
                            new Change.Sent(name, 0, Optional.empty(), parked.body())),
                    out);
            look(name);
        }
        return out;
    }

    private Change.ParkedIs expectParked(long id) {
        Change.ParkedIs parked = past.parked.get(id);
        if (parked == null) {
            throw new IllegalArgumentException(
                    "nothing that is a dead letter by "
                            + name
                            + " has the id "
                            + id
                            + "; there are "
                            + past.parked.keySet());
        }
        return parked;
    }

    /**
     * A person lets a channel continue that waits (K12), as {@link CoreReport#stopped} named it.
     */
    public void resume(String channel) {
        attempts.resume(channel);
        look(channel);
    }

    private void own(List<Change> changes, List<Action> out) {
        recorder.own(changes, out);
    }

    private void look(String channel) {
        inputs.look(channel);
    }
}
