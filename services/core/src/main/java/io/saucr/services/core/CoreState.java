package io.saucr.services.core;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What the parts of a service's core share. Turn thread. */
final class CoreState {

    final String name;
    final Limits limits;
    final Past past;
    final Attempts attempts;
    final Map<String, Conversation> conversations = new TreeMap<>();

    /** The start that runs, null before it is known, and what its folder knows of others. */
    Incarnation self;

    List<Birth> formers;
    OwnPast ownPast;

    /** Null before the start begins. */
    ServiceClock clock;

    /** How far what was done can be told. */
    Finals finals = Finals.NONE;

    /** Its members hear what is not final outside. */
    Group group = Group.NONE;

    /** Whether the state says behind which turn each start began (C11). */
    boolean keepsEpochs;

    boolean halted;

    CoreState(String name, Limits limits) {
        this.name = name;
        this.limits = limits;
        past = new Past(name, limits);
        attempts = new Attempts(limits);
    }

    Conversation conversation(String key) {
        return conversations.computeIfAbsent(
                key, it -> new Conversation(it, limits.window(), () -> group));
    }

    void halt(String reason, List<Action> out) {
        halted = true;
        out.add(new Action.Halt(reason));
    }

    /** Nothing leaves a service that must not continue. */
    List<Action> unlessHalted(List<Action> out) {
        return halted ? new ArrayList<>() : out;
    }
}
