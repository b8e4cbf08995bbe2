package io.saucr.services.tests.crash;

import io.saucr.services.Address;
import io.saucr.services.Client;
import io.saucr.services.Halt;
import io.saucr.services.Protection;
import io.saucr.services.RunningService;
import io.saucr.services.Service;
import io.saucr.services.ServiceStatus;
import io.saucr.services.Services;
import io.saucr.services.State;
import io.saucr.services.local.LocalService;
import io.saucr.services.turns.Place;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * The process of one service. Orders: {@code arm <point> <count>}, {@code go}, {@code books}. It
 * says {@code started <incarnation>}, {@code at <point>}, {@code books <name>=<count>...}, and
 * {@code world <number> <id>} for each call to the world.
 */
final class ServiceProgram {

    /** Where books are asked for while the service's own connection is made again. */
    static final String UNANSWERED = "unanswered";

    private ServiceProgram() {}

    /**
     * Runs until it is killed.
     *
     * @param args payer or payee; servers and path above the service; folder; address; the point
     *     that is armed from the beginning and its count, or "-" and 0
     */
    public static void main(String[] args) throws Exception {
        String name = args[0];
        Path folder = Path.of(args[2]);
        Address address = Address.parse(args[3]);
        Points points = new Points();
        if (!args[4].equals("-")) {
            points.arm(args[4], Integer.parseInt(args[5]));
        }
        Function<State, Service> constructor =
                name.equals(Ledger.PAYER)
                        ? state -> new Payer(state, points)
                        : state -> new Payee(state, points);
        Place place =
                Place.at(args[1] + "/" + name, Optional.empty())
                        .withFolder(folder)
                        .withListen(address)
                        .withNet(Settings.NET)
                        .withSegmentBytes(Settings.SEGMENT_BYTES)
                        .withSessionTimeout(Settings.SESSION);
        RunningService running =
                LocalService.start(
                        new PointDisk(folder, points),
                        place.withOptions(
                                place.options()
                                        .with(Settings.LIMITS)
                                        .foldBytes(Settings.FOLD_BYTES)),
                        constructor,
                        Protection.local(),
                        Halt.process());
        Client own = Services.without(name, Map.of(name, address)).net(Settings.NET).client();
        Lines.say("started " + running.status().incarnation());
        Lines.take(
                order -> {
                    String[] words = order.split(" ");
                    switch (words[0]) {
                        case "arm" -> points.arm(words[1], Integer.parseInt(words[2]));
                        case "go" -> points.go();
                        case "books" -> books(own);
                        case "status" -> status(running);
                        default -> throw new IllegalArgumentException("no such order: " + order);
                    }
                });
    }

    /** As a client sees them. */
    private static void books(Client own) {
        CompletableFuture<?> unused =
                own.ask(new Ledger.Ask(), Ledger.Books.class)
                        .whenComplete(
                                (books, failure) -> {
                                    if (failure == null) {
                                        say("books", new TreeMap<>(books.counts()));
                                    } else {
                                        Lines.say("books " + UNANSWERED + ": " + failure);
                                    }
                                });
    }

    private static void status(RunningService running) {
        ServiceStatus status = running.status();
        Map<String, Long> counts = new TreeMap<>();
        counts.put("incarnation", status.incarnation());
        counts.put("turn", status.turn());
        counts.put("finalTurn", status.finalTurn());
        counts.put("duplicates", status.duplicates());
        counts.put("dead-letters", (long) status.deadLetters().size());
        counts.put("stopped", (long) status.stopped().size());
        counts.put("timers", (long) status.timers());
        counts.put("outputs", (long) status.outputs());
        counts.put(
                "unacked",
                status.channels().stream().mapToLong(ServiceStatus.Channel::unacked).sum());
        say("status", counts);
    }

    private static void say(String what, Map<String, Long> counts) {
        StringBuilder line = new StringBuilder(what);
        counts.forEach((key, value) -> line.append(' ').append(key).append('=').append(value));
        Lines.say(line.toString());
    }
}
