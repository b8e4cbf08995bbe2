package io.saucr.services.tests.standby;

import io.saucr.services.Address;
import io.saucr.services.Halt;
import io.saucr.services.MemberStatus;
import io.saucr.services.Protection;
import io.saucr.services.RunningService;
import io.saucr.services.ServiceException;
import io.saucr.services.ServiceStatus;
import io.saucr.services.standby.StandbyService;
import io.saucr.services.tests.crash.Lines;
import io.saucr.services.tests.crash.PointDisk;
import io.saucr.services.tests.crash.Points;
import io.saucr.services.turns.Place;
import io.saucr.services.wire.NetOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * The process of one member of {@link Registers}. It says {@code started <member>}. Orders: {@code
 * status}, answered by {@code status} and words {@code <name>=<value>}; {@code handover <member>},
 * or {@code handover} alone for any member, answered by {@code handed} or {@code refused <why>};
 * {@code arm <point> <count>} and {@code go}, as {@link Points} do; {@code stop}, answered by
 * {@code stopped}.
 */
public final class StandbyProgram {

    /** The property that says where segments are: members, ensemble, or the path of a folder. */
    static final String STORE = "saucr.tests.store";

    static final String MEMBERS = "members";

    private static final Duration SESSION = Duration.ofSeconds(4);
    private static final int SEGMENT_BYTES = 1 << 20;

    /** So small that bases are written again and again. */
    private static final long FOLD_BYTES = 64 << 10;

    /** A minute of silence, so that nothing but heartbeats tells of a primary that hangs. */
    private static final NetOptions NET =
            new NetOptions(
                    1 << 20,
                    16L << 20,
                    4L << 20,
                    1_000,
                    100,
                    Duration.ofMinutes(1),
                    Duration.ofMinutes(1),
                    Duration.ofMinutes(1),
                    Duration.ofMillis(10),
                    Duration.ofMillis(200),
                    Optional.empty());

    private StandbyProgram() {}

    /**
     * Runs until it is stopped or killed.
     *
     * @param args servers and path of the service; folder; members that force each segment; whether
     *     a standby takes the place of a disk; the time between two checkpoints in ms, 0 where
     *     replies wait; then, where it is not loopback, the host that clients and the one that
     *     members reach
     */
    public static void main(String[] args) throws Exception {
        boolean machine = args.length > 5;
        Path folder = Path.of(args[1]);
        Points points = new Points();
        Place place =
                Place.at(args[0], Optional.empty())
                        .withFolder(folder)
                        .withListen(new Address(machine ? args[5] : "127.0.0.1", 0))
                        .withSegmentBytes(SEGMENT_BYTES)
                        .withSessionTimeout(SESSION)
                        .withNet(NET);
        RunningService running =
                StandbyService.start(
                        new PointDisk(folder, points),
                        place.withOptions(place.options().foldBytes(FOLD_BYTES)),
                        Registers::new,
                        protection(
                                Integer.parseInt(args[2]),
                                Boolean.parseBoolean(args[3]),
                                Long.parseLong(args[4]),
                                machine ? Optional.of(new Address(args[6], 0)) : Optional.empty()),
                        Halt.process());
        Lines.say("started " + running.status().member().member());
        Lines.take(
                order -> {
                    String[] words = order.split(" ");
                    switch (words[0]) {
                        case "status" -> Lines.say(status(running));
                        case "handover" ->
                                Lines.say(
                                        handOver(
                                                running,
                                                words.length > 1
                                                        ? Optional.of(words[1])
                                                        : Optional.empty()));
                        case "arm" -> points.arm(words[1], Integer.parseInt(words[2]));
                        case "go" -> points.go();
                        case "stop" -> {
                            running.close();
                            Lines.say("stopped");
                        }
                        default -> throw new IllegalArgumentException("no such order: " + order);
                    }
                });
    }

    static Protection.Standby protection(
            int copies, boolean fast, long everyMillis, Optional<Address> members) {
        Protection.Standby all = Protection.standby().copies(copies).store(store());
        if (everyMillis > 0) {
            all = all.every(Duration.ofMillis(everyMillis));
        }
        if (members.isPresent()) {
            all = all.members(members.get());
        }
        return fast ? all.fast() : all;
    }

    private static Protection.Store store() {
        String store = System.getProperty(STORE, MEMBERS);
        return switch (store) {
            case MEMBERS -> Protection.Store.members();
            case "ensemble" -> Protection.Store.ensemble();
            default -> Protection.Store.folder(Path.of(store));
        };
    }

    private static String status(RunningService running) {
        ServiceStatus status;
        try {
            status = running.status();
        } catch (ServiceException e) {
            // It changes its role at this moment.
            return "status role=unknown";
        }
        MemberStatus member = status.member();
        return "status role=%s epoch=%s primary=%s turn=%s final=%s segment=%s stored=%s applied=%s copies=%s followers=%s"
                .formatted(
                        member.role(),
                        member.epoch(),
                        member.primary(),
                        status.turn(),
                        status.finalTurn(),
                        member.segment(),
                        member.stored(),
                        member.applied(),
                        member.copies(),
                        member.followers().size());
    }

    private static String handOver(RunningService running, Optional<String> to) {
        try {
            running.handOver(to);
            return "handed";
        } catch (ServiceException | IllegalArgumentException e) {
            return "refused " + e.getMessage();
        }
    }
}
