package io.saucr.services.testkit;

import io.saucr.services.core.Frame;
import io.saucr.services.core.Link;
import java.util.ArrayDeque;
import java.util.List;
import java.util.function.BooleanSupplier;

/** A link between two nodes: frames of one direction keep their order, and go with the link. */
final class Wire {

    private final long id;
    private final WireEnd dialler;
    private final WireEnd acceptor;
    private final Link atDialler;
    private final Link atAcceptor;
    private final ArrayDeque<Frame> toAcceptor = new ArrayDeque<>();
    private final ArrayDeque<Frame> toDialler = new ArrayDeque<>();

    Wire(long id, WireEnd dialler, WireEnd acceptor, boolean outside) {
        this.id = id;
        this.dialler = dialler;
        this.acceptor = acceptor;
        atDialler = new Link(id, acceptor.name(), false);
        atAcceptor = new Link(id, dialler.name(), outside);
    }

    void begin() {
        acceptor.linkUp(atAcceptor);
        dialler.linkUp(atDialler);
    }

    long id() {
        return id;
    }

    boolean has(WireEnd node) {
        return node == dialler || node == acceptor;
    }

    boolean dials(WireEnd from, String to) {
        return from == dialler && acceptor.name().equals(to);
    }

    void send(WireEnd from, Frame frame) {
        (from == dialler ? toAcceptor : toDialler).add(frame);
    }

    void steps(List<BooleanSupplier> possible) {
        if (!toAcceptor.isEmpty()) {
            possible.add(
                    () -> {
                        acceptor.frame(atAcceptor, toAcceptor.remove());
                        return true;
                    });
        }
        if (!toDialler.isEmpty()) {
            possible.add(
                    () -> {
                        dialler.frame(atDialler, toDialler.remove());
                        return true;
                    });
        }
    }

    /** Tells both, as far as they are up. */
    void end() {
        dialler.linkDown(atDialler);
        acceptor.linkDown(atAcceptor);
    }
}
