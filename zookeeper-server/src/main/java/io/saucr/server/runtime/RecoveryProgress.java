package io.saucr.server.runtime;

import io.saucr.core.Zxid;
import io.saucr.core.recovery.RecoveryProcedure.Status;

/**
 * How far a recovery has got, for operators (R19). Immutable.
 *
 * @param status of the procedure
 * @param entries copied so far
 * @param bytes copied so far, snapshots included
 * @param elapsedMillis since the process started to recover
 */
public record RecoveryProgress(Status status, long entries, long bytes, long elapsedMillis) {

    /** One line that says what is missing, or how far the copy has got. */
    public String sentence() {
        String sofar =
                status.answered()
                        + " answered, "
                        + (status.uncounted().isEmpty()
                                ? ""
                                : status.uncounted() + " too but do not count yet, ")
                        + status.missing()
                        + " did not, "
                        + status.stillNeeded()
                        + " more needed"
                        + ofView();
        if (status.source().isEmpty()) {
            return sofar
                    + (status.unheard().isEmpty()
                            ? ""
                            : "; more count once the leader of their epoch has answered, or each of "
                                    + status.unheard()
                                    + " has been heard, too")
                    + (status.problem().isEmpty() ? "" : "; last attempt: " + status.problem());
        }
        return "%s; copying from server %s: at %s of %s, %s entries, %s bytes"
                .formatted(
                        sofar,
                        status.source().getAsLong(),
                        Zxid.toString(status.lastLogged()),
                        Zxid.toString(status.through()),
                        entries,
                        bytes);
    }

    /** Whose answers count (R23). */
    private String ofView() {
        return status.view().isFirst() || status.stillNeeded() == 0
                ? ""
                : " of the view of "
                        + status.view().members()
                        + " that was sealed at "
                        + Zxid.toString(status.view().seal())
                        + ", or one of a server in a newer view";
    }
}
