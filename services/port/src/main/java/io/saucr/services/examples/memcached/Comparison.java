package io.saucr.services.examples.memcached;

import io.saucr.services.examples.auction.Killed;
import io.saucr.services.examples.memcached.TicketOffice.Answers;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;

/**
 * The same clients at the original and at the port, both killed by SIGKILL while seats are sold.
 * What they are told is compared with what the original says when nothing is killed.
 */
final class Comparison {

    private static final int HEAP_MEGABYTES = 96;
    private static final int TICK_MILLIS = 500;

    private final Path work;
    private final int steps;
    private final int kills;

    /**
     * What one of them said.
     *
     * @param kills of processes
     * @param told while seats were sold
     * @param seen at the end
     */
    record Run(int kills, Answers told, Answers seen) {

        /** How many answers are not those of a run without failures. */
        int wrong(Run sound) {
            return told.different(sound.told()) + seen.different(sound.seen());
        }
    }

    /**
     * A comparison.
     *
     * @param work an empty folder
     * @param steps of each buyer, from 10
     * @param kills while they buy, from 1 to {@code steps}
     * @throws IllegalArgumentException where they are not
     */
    Comparison(Path work, int steps, int kills) {
        if (steps < 10 || kills < 1 || kills > steps) {
            throw new IllegalArgumentException(
                    "there are at least 10 steps, and from 1 to as many kills as steps, not %s and %s"
                            .formatted(steps, kills));
        }
        this.work = work;
        this.steps = steps;
        this.kills = kills;
    }

    /** All four runs. True where the port was right all the time. */
    boolean run(PrintWriter out) throws Exception {
        out.printf("%-34s %8s %8s %12s%n", "", "answers", "wrong", "sold again");
        Run sound = original(0);
        report("original, not killed", sound, sound, out);
        report("original, killed", original(kills), sound, out);
        Run local = port("local");
        report("port, killed", local, sound, out);
        Run standby = port("standby");
        report("port with standby, killed", standby, sound, out);
        return isRight(local, sound) && isRight(standby, sound);
    }

    private static boolean isRight(Run port, Run sound) {
        return port.wrong(sound) == 0 && port.told().soldAgain() == 0;
    }

    private static void report(String what, Run run, Run sound, PrintWriter out) {
        out.printf(
                "%-34s %,8d %,8d %,12d%n",
                run.kills() == 0 ? what : what + " " + run.kills() + " times",
                run.told().size() + run.seen().size(),
                run.wrong(sound),
                run.told().soldAgain());
    }

    /** The original. */
    Run original(int times) throws Exception {
        int port = freePort();
        try (Killed original = process("original-" + times, "original", Integer.toString(port))) {
            TicketOffice office = new TicketOffice(port, steps);
            Answers told = office.sell(seats -> kill(original, seats, times));
            return new Run(original.kills(), told, office.look());
        }
    }

    /**
     * The port; before the end is looked at, all of its processes are killed once more.
     *
     * @param protection local with one member, standby with two, which are killed in turn
     */
    Run port(String protection) throws Exception {
        Path folder = work.resolve(protection);
        Path data = Files.createDirectories(folder.resolve("zookeeper"));
        NIOServerCnxnFactory ensemble = new NIOServerCnxnFactory();
        ensemble.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 100);
        ensemble.startup(new ZooKeeperServer(data.toFile(), data.toFile(), TICK_MILLIS));
        String place = "127.0.0.1:" + ensemble.getLocalPort() + "/memcached";
        int port = freePort();
        List<Killed> members = new ArrayList<>();
        try (Killed listener =
                process(
                        protection + "-listener",
                        "listen",
                        place,
                        folder.resolve("listener").toString(),
                        Integer.toString(port))) {
            for (int member = 0; member < (protection.equals("local") ? 1 : 2); member++) {
                members.add(
                        process(
                                protection + "-" + member,
                                "serve",
                                protection,
                                place,
                                folder.resolve("service-" + member).toString()));
            }
            TicketOffice office = new TicketOffice(port, steps);
            Answers told = office.sell(seats -> killInTurn(members, seats));
            listener.kill();
            for (Killed each : members) {
                each.killAndStart();
            }
            listener.start();
            int killed = members.stream().mapToInt(Killed::kills).sum() + listener.kills();
            return new Run(killed, told, office.look());
        } finally {
            members.forEach(Killed::close);
            ensemble.shutdown();
        }
    }

    private void killInTurn(List<Killed> members, int seats) throws Exception {
        int killed = members.stream().mapToInt(Killed::kills).sum();
        kill(members.get(killed % members.size()), seats, kills);
    }

    private Killed process(String name, String... arguments) throws IOException {
        return new Killed(
                name,
                work.resolve("log").resolve(name),
                HEAP_MEGABYTES,
                MemcachedProcess.class,
                arguments);
    }

    /** At equal distances, while the other buyers' commands are under way. */
    private void kill(Killed process, int seats, int times) throws Exception {
        int all = TicketOffice.BUYERS * steps;
        int distance = all / (times + 1);
        if (seats % distance == 0 && seats / distance <= times) {
            process.killAndStart();
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }
}
