package io.saucr.services.turns;

import io.saucr.services.EnsembleOutcome;
import io.saucr.services.core.Birth;
import io.saucr.services.core.Body;
import io.saucr.services.once.GaveUpException;
import io.saucr.services.once.OnceClient;
import io.saucr.services.once.Operation;
import io.saucr.services.once.Outcome;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.zookeeper.Op;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A service's writes to its ensemble: outputs that a once client makes, with the output's id as the
 * key, so that one which is made again by a later start happens once (E10). Its records lie in a
 * folder within the service's, or in the service's state where standbys continue with it: then a
 * write is sent once the head covers the turn that noted it (C7), and what a deposed primary still
 * has under way is fenced as a dead start's (E3, E5). The client is opened by the first write. Turn
 * thread; {@link #close} by any thread, after which nothing is written.
 */
public final class OwnWrites implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(OwnWrites.class);

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,128}");

    /** As many as the service keeps in memory anyway; a start may find them all. */
    private static final int OPEN_WRITES = 1_000_000;

    private final Place place;
    private final OutputCalls.Answers answers;
    private volatile Turns turns;
    private OnceClient client;
    private boolean closed;

    /**
     * No client yet.
     *
     * @param answers hears what became of a write
     */
    OwnWrites(Place place, OutputCalls.Answers answers) {
        this.place = place;
        this.answers = answers;
    }

    /** Writes are this life's from now on. */
    void serve(Turns these) {
        turns = these;
    }

    /**
     * A life has ended. Writes under way continue, and one that the next life finds open is the
     * same (E10); but a client whose notes were in the state that is over begins anew with the
     * next.
     */
    synchronized void release() {
        if (client != null && turns.onceNotes().isPresent()) {
            client.close();
            client = null;
        }
    }

    /** Why turns of a service at that place cannot write, or null where they can. */
    static String refusal(Place place) {
        if (place.ensemble().isEmpty()) {
            return place.name() + " runs without an ensemble, so it cannot write to one";
        }
        return NAME.matcher(name(place)).matches()
                ? null
                : "a service that writes to the ensemble has a path of letters, digits, dots,"
                        + " dashes and underscores, up to 128 in all, not "
                        + place.path(place.name());
    }

    /** Of the once client: the path, as two services of one name may be in two places. */
    static String name(Place place) {
        // A dot that was there is doubled, or two places could have one name.
        return place.path(place.name()).substring(1).replace(".", "..").replace('/', '.');
    }

    /** Makes a write; does not wait for it. */
    synchronized void write(long output, String id, Operation operation) throws IOException {
        if (closed) {
            return;
        }
        Birth birth = turns.start().incarnation().birth();
        if (!id.startsWith(birth + "-")) {
            // Its once client was another, of which this folder may know nothing (E9).
            String why = "it was open when generation " + birth + " replaced the one that wrote it";
            tell(output, new EnsembleOutcome(paths(operation), false, why, "", true));
            return;
        }
        if (client == null) {
            client = open(birth);
        }
        CompletableFuture<Outcome> outcome;
        try {
            outcome = client.submit(id, operation);
        } catch (IllegalArgumentException e) {
            tell(output, new EnsembleOutcome(paths(operation), false, e.getMessage(), ""));
            return;
        }
        CompletableFuture<Outcome> unused =
                outcome.whenComplete(
                        (result, failure) -> decided(output, operation, result, failure));
    }

    private OnceClient open(Birth birth) throws IOException {
        OnceClient.Builder builder =
                OnceClient.at(place.ensemble().orElseThrow())
                        .name(name(place))
                        .sessionTimeout(place.sessionTimeout())
                        .openOperations(OPEN_WRITES)
                        .acls(place.acls());
        place.credentials().ifPresent(it -> builder.credentials(it.scheme(), it.secret()));
        turns.start().markers().forEach(builder::insteadOf);
        if (turns.onceNotes().isEmpty()) {
            return builder.folder(place.folder().resolve(folder(birth))).open();
        }
        // An order replaced each of them, and the one that it left behind may not have written yet.
        turns.core().report().replaced().forEach(builder::insteadOf);
        return builder.log(
                        new StateLog(
                                turns.onceNotes().get(),
                                turns.noting(),
                                turns.start().incarnations()))
                .onStop(this::stopped)
                .open();
    }

    private void stopped(String reason) {
        LOG.warn("{}: this member writes no more to the ensemble: {}", place.name(), reason);
    }

    /** A new birth's begins empty, as the one before it may be older than what it wrote. */
    private String folder(Birth birth) {
        return turns.start().formers().isEmpty() ? "once" : "once-" + birth;
    }

    private void decided(long output, Operation operation, Outcome outcome, Throwable failure) {
        if (outcome != null) {
            tell(
                    output,
                    new EnsembleOutcome(
                            paths(operation),
                            outcome.happened(),
                            outcome.refusal().map(Enum::name).orElse(""),
                            outcome.created().orElse("")));
        } else if (failure instanceof GaveUpException) {
            tell(output, new EnsembleOutcome(paths(operation), false, failure.getMessage(), ""));
        } else if (turns.onceNotes().isPresent()) {
            LOG.debug(
                    "{}: a write to the ensemble waits for the next primary: {}",
                    place.name(),
                    failure.getMessage());
        } else {
            LOG.error(
                    "{}: a write to the ensemble waits for another start: {}",
                    place.name(),
                    failure.getMessage());
        }
    }

    private void tell(long output, EnsembleOutcome outcome) {
        Optional<Body> told = turns.told(outcome);
        answers.answered(output, told);
    }

    private static String paths(Operation operation) {
        return operation.parts().stream().map(Op::getPath).collect(Collectors.joining(","));
    }

    @Override
    public synchronized void close() {
        closed = true;
        if (client != null) {
            client.close();
        }
    }
}
