package io.saucr.services.tests.crash;

import io.saucr.crash.fault.FaultBackend;
import io.saucr.ensemble.ServerAddress;
import io.saucr.services.core.head.Head;
import io.saucr.services.tests.once.ClientLine;
import io.saucr.services.tests.once.Fate;
import io.saucr.services.tests.once.Request;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;

/**
 * A payer, a payee and their client on three machines that can be broken, next to a ZooKeeper
 * server that can't be, and what was seen of them outside. The payer reaches that server through a
 * line, on which its writes can be held. One thread.
 */
final class CrashWorld implements AutoCloseable {

    static final int MACHINES = 3;

    private static final int TICK_MILLIS = 500;
    private static final int SESSION_MILLIS = 60_000;

    final FaultBackend machines;
    final Witness witness = new Witness();
    final Member payer;
    final Member payee;
    final Member client;

    private final NIOServerCnxnFactory server;
    private final ClientLine line;
    private final ZooKeeper session;
    private volatile Function<Request, Fate> fates = request -> Fate.PASS;

    /**
     * Nothing runs yet but the server.
     *
     * @param machines {@link #MACHINES} new ones; closed with this
     */
    CrashWorld(FaultBackend machines, Path work) throws Exception {
        this.machines = machines;
        Path data = Files.createDirectories(work.resolve("zookeeper"));
        server = new NIOServerCnxnFactory();
        server.configure(new InetSocketAddress(0), 200);
        server.startup(new ZooKeeperServer(data.toFile(), data.toFile(), TICK_MILLIS));
        line = new ClientLine(machines.outside(), direct(), request -> fates.apply(request));
        session = new ZooKeeper(direct(), SESSION_MILLIS, (WatchedEvent event) -> {});
        session.create(
                Ledger.WRITTEN, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        payer = service(1, Ledger.PAYER, work);
        payee = service(2, Ledger.PAYEE, work);
        client =
                new Member(
                        3,
                        Ledger.TELLER,
                        machines,
                        ClientProgram.class,
                        Member.SMALL_JVM,
                        work.resolve(Ledger.TELLER + ".log"),
                        witness::client);
    }

    private Member service(int id, String name, Path work) {
        return new Member(
                id,
                name,
                machines,
                ServiceProgram.class,
                Member.SMALL_JVM,
                work.resolve(name + ".log"),
                heard -> witness.service(name, heard));
    }

    private String direct() {
        return machines.outside() + ":" + server.getLocalPort();
    }

    /** What becomes of each write of the payer to the ensemble. */
    void fates(Function<Request, Fate> chosen) {
        fates = chosen;
    }

    ClientLine line() {
        return line;
    }

    List<Member> members() {
        return List.of(payer, payee, client);
    }

    /** Starts a process and does not wait for it. */
    void launch(Member member) throws IOException {
        launch(member, "-", 0);
    }

    /** The same, with a point that is armed from the beginning. */
    void launch(Member member, String point, int count) throws IOException {
        String place = (member == payer ? line.connectString() : direct()) + "/ledger";
        String folder = machines.dataDirectory(member.id()).resolve(member.name()).toString();
        if (member == client) {
            member.start(List.of(place, folder, Integer.toString(member.starts() + 1)));
            return;
        }
        ServerAddress address = machines.address(member.id());
        member.start(
                Arrays.asList(
                        member.name(),
                        place,
                        folder,
                        address.peerHost() + ":" + address.quorumPort(),
                        point,
                        Integer.toString(count)));
    }

    /** Starts a process, and waits until it answers. */
    void start(Member member) throws IOException {
        launch(member);
        awaitStarted(member);
    }

    void awaitStarted(Member member) {
        member.await(member == client ? "resumed" : "started");
    }

    /** What a service counted, now. */
    Map<String, Long> books(Member member) {
        String books;
        do {
            books = member.ask("books", "books");
        } while (books.contains(ServiceProgram.UNANSWERED));
        return counts(books);
    }

    /** How a service is, now. */
    Map<String, Long> status(Member member) {
        return counts(member.ask("status", "status"));
    }

    private static Map<String, Long> counts(String line) {
        Map<String, Long> counts = new HashMap<>();
        for (String word : line.split(" ")) {
            int equals = word.indexOf('=');
            if (equals > 0) {
                counts.put(word.substring(0, equals), Long.parseLong(word.substring(equals + 1)));
            }
        }
        return counts;
    }

    /** The start that holds the payer's head. */
    long head() throws Exception {
        return Head.decode(session.getData("/ledger/payer/head", false, null)).holder().number();
    }

    /** How often the payer's znode was written to. */
    long writes() throws KeeperException, InterruptedException {
        Stat stat = session.exists(Ledger.WRITTEN, false);
        return stat.getVersion();
    }

    /** Waits until all of so many moves was done and nothing is under way any more; then judges. */
    void settle(long moves) throws Exception {
        long end = System.nanoTime() + Member.PATIENCE.toNanos();
        while (true) {
            Witness.Seen seen = witness.seen();
            Map<String, Long> payeeBooks = books(payee);
            Map<String, Long> payerBooks = books(payer);
            witness.noOrphan(seen, payeeBooks, payerBooks);
            boolean quiet =
                    payerBooks.getOrDefault("credited", 0L) >= moves
                            && payerBooks.getOrDefault("ticks", 0L) >= moves / 5
                            && payerBooks.getOrDefault("written", 0L) >= moves / 10
                            && status(payer).get("unacked") == 0
                            && status(payer).get("outputs") == 0
                            && status(payee).get("unacked") == 0
                            && payeeBooks.getOrDefault("moved", 0L) >= moves
                            && witness.seen().moved() >= moves;
            boolean late = System.nanoTime() > end;
            if (late) {
                System.out.println(
                        "not quiet: payer " + status(payer) + ", payee " + status(payee));
            }
            if (quiet || late) {
                witness.settled(payerBooks, payeeBooks, moves, writes());
                for (Member service : List.of(payer, payee)) {
                    Map<String, Long> status = status(service);
                    if (status.get("dead-letters") + status.get("stopped") > 0) {
                        throw new IllegalStateException(
                                service.name() + " has put aside: " + status);
                    }
                }
                return;
            }
            Thread.sleep(10);
        }
    }

    @Override
    public void close() throws IOException {
        try {
            session.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        members().forEach(Member::close);
        line.close();
        server.shutdown();
        machines.close();
    }
}
