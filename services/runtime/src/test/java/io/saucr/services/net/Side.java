package io.saucr.services.net;

import io.saucr.services.Address;
import io.saucr.services.core.Birth;
import io.saucr.services.core.Body;
import io.saucr.services.core.Count;
import io.saucr.services.core.Frame;
import io.saucr.services.core.Incarnation;
import io.saucr.services.wire.NetOptions;
import io.saucr.services.wire.Transport;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Predicate;

/** One service or client of a test: its connections, and what its listener was told, in order. */
final class Side implements LinkListener, AutoCloseable {

    /** What a listener was told. */
    sealed interface Told {
        Connection link();
    }

    record Up(Connection link) implements Told {}

    record Got(Connection link, Frame frame) implements Told {}

    record Writable(Connection link) implements Told {}

    record Down(Connection link, String reason) implements Told {}

    final String name;
    final Peers peers;
    final List<Told> told = new CopyOnWriteArrayList<>();
    final ExecutorService turns = Executors.newSingleThreadExecutor();

    Side(Transport transport, String name, NetOptions options) throws IOException {
        this(transport, name, options, false);
    }

    private Side(Transport transport, String name, NetOptions options, boolean client)
            throws IOException {
        this.name = name;
        this.peers =
                client
                        ? Peers.openClient(transport, name, options, this, turns, new Random(1))
                        : Peers.open(transport, name, options, this, turns, new Random(1));
    }

    static Side client(Transport transport, String name, NetOptions options) throws IOException {
        return new Side(transport, name, options, true);
    }

    Address listen() throws IOException {
        return peers.listen(new Address("127.0.0.1", 0));
    }

    @Override
    public void up(Connection link) {
        told.add(new Up(link));
    }

    @Override
    public void frame(Connection link, Frame frame) {
        told.add(new Got(link, frame));
    }

    @Override
    public void writable(Connection link) {
        told.add(new Writable(link));
    }

    @Override
    public void down(Connection link, String reason) {
        told.add(new Down(link, reason));
    }

    /** Waits for something to be told. */
    <T extends Told> T await(Class<T> what, Predicate<T> which) {
        return Awaited.until(
                () ->
                        told.stream()
                                .filter(what::isInstance)
                                .map(what::cast)
                                .filter(which)
                                .findFirst(),
                () -> name + " was told " + told + ", and cannot reach " + peers.unreachable());
    }

    <T extends Told> T await(Class<T> what) {
        return await(what, any -> true);
    }

    /** Waits for the reason for which a peer cannot be reached. */
    String trouble(String peer) {
        return trouble(peer, any -> true);
    }

    /** Waits for such a reason; another attempt may have another. */
    String trouble(String peer, Predicate<String> which) {
        return Awaited.until(
                () -> Optional.ofNullable(peers.unreachable().get(peer)).filter(which),
                () -> name + " was told " + told + ", and cannot reach " + peers.unreachable());
    }

    List<Frame> frames(Connection link) {
        return told.stream()
                .filter(t -> t instanceof Got got && got.link() == link)
                .map(t -> ((Got) t).frame())
                .toList();
    }

    Frame.Hello hello() {
        return hello(name);
    }

    static Frame.Hello hello(String name) {
        return new Frame.Hello(
                name,
                new Incarnation(new Birth(name.hashCode(), 2), 3, 4),
                Optional.empty(),
                Frame.PairState.NEW,
                Count.NONE,
                Count.NONE,
                Count.NONE);
    }

    static Frame.Msg message(long number, int bytes) {
        return new Frame.Msg(number, 0, Optional.empty(), new Body("Note", new byte[bytes]));
    }

    @Override
    public void close() {
        peers.close();
        turns.shutdownNow();
    }
}
