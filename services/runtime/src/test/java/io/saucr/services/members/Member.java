package io.saucr.services.members;

import io.saucr.services.Address;
import io.saucr.services.core.Birth;
import io.saucr.services.net.Awaited;
import io.saucr.services.wire.NetOptions;
import io.saucr.services.wire.Transport;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;

/** One member of a test: its links, and what its listener was told, in order. */
final class Member implements MemberListener, AutoCloseable {

    static final Birth BIRTH = new Birth(1, 2);

    /** What a listener was told. */
    sealed interface Told {
        MemberLink link();
    }

    record Up(MemberLink link) implements Told {}

    record Got(MemberLink link, MemberFrame frame) implements Told {}

    record Writable(MemberLink link) implements Told {}

    record Down(MemberLink link, String reason) implements Told {}

    final MemberFrame.Hello self;
    final MemberLinks links;
    final List<Told> told = new CopyOnWriteArrayList<>();
    final ExecutorService turns = Executors.newSingleThreadExecutor();

    /** As of which segment its heartbeats say its state is: one more each time. */
    final AtomicLong beats = new AtomicLong();

    Member(Transport transport, NetOptions options, MemberFrame.Hello self) throws IOException {
        this.self = self;
        this.links =
                MemberLinks.open(
                        transport,
                        options,
                        self,
                        this,
                        turns,
                        () -> new MemberFrame.Heartbeat(0, beats.incrementAndGet()));
    }

    static String id(int number) {
        return String.format("%016x", number);
    }

    static MemberFrame.Hello hello(String service, int number) {
        return new MemberFrame.Hello(
                service, Optional.of(BIRTH), id(number), number, MemberLinks.FORMAT);
    }

    String id() {
        return self.member();
    }

    Address listen() throws IOException {
        return links.listen(new Address("127.0.0.1", 0));
    }

    @Override
    public void up(MemberLink link) {
        told.add(new Up(link));
    }

    @Override
    public void frame(MemberLink link, MemberFrame frame) {
        if (!(frame instanceof MemberFrame.Heartbeat)) {
            told.add(new Got(link, frame));
        }
    }

    @Override
    public void writable(MemberLink link) {
        told.add(new Writable(link));
    }

    @Override
    public void down(MemberLink link, String reason) {
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
                () -> id() + " was told " + told + ", and cannot reach " + links.unreachable());
    }

    <T extends Told> T await(Class<T> what) {
        return await(what, any -> true);
    }

    /** Waits for the reason for which a member cannot be reached. */
    String trouble(String member) {
        return trouble(member, any -> true);
    }

    /** Waits for such a reason; another attempt may have another. */
    String trouble(String member, Predicate<String> which) {
        return Awaited.until(
                () -> Optional.ofNullable(links.unreachable().get(member)).filter(which),
                () -> id() + " was told " + told + ", and cannot reach " + links.unreachable());
    }

    List<MemberFrame> frames() {
        return told.stream().filter(Got.class::isInstance).map(t -> ((Got) t).frame()).toList();
    }

    @Override
    public void close() {
        links.close();
        turns.shutdownNow();
    }
}
