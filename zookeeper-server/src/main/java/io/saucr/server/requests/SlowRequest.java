package io.saucr.server.requests;

import io.saucr.core.Zxid;
import io.saucr.server.requests.AckTimes.Ack;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A request that took long, as the server of its client saw it, or the leader for a client of
 * another server. Immutable.
 *
 * @param at when it was over, milliseconds since 1970
 * @param operation such as {@code setData}
 * @param path printable; null if it has none
 * @param session its id
 * @param client address and port; null if it is another server's, or there is none
 * @param of the server that has the client; 0 for this one
 * @param bytes of the data that it writes, or of the answer to it
 * @param zxid of a write; 0 of a read
 * @param millis how long it took
 * @param stages milliseconds by stage, in their order; that of a client's server
 * @param replication what the leader knows of it; null on other servers, and of a read
 */
public record SlowRequest(
        long at,
        String operation,
        String path,
        long session,
        String client,
        long of,
        int bytes,
        long zxid,
        long millis,
        Map<String, Long> stages,
        Replication replication) {

    /** From the client, until its turn at this server. */
    static final String QUEUE = "queue";

    /** Until this server learns that it is committed. */
    static final String COMMIT = "commit";

    /** Until what is before it is done. */
    static final String WAIT = "wait";

    /** Until it is applied and answered. */
    static final String APPLY = "apply";

    /** Until it is answered. */
    static final String READ = "read";

    /**
     * How a write came to be committed. Times are milliseconds, rounded down.
     *
     * @param mode that it was proposed in
     * @param queueMillis until it was validated
     * @param proposalMillis until it was proposed
     * @param commitMillis from the proposal until it was committed; -1 if it is not yet
     * @param acks since the proposal, the first one first
     * @param completedBy the server whose acknowledgement completed the quorum; 0 if none did
     * @param missing voters that had not acknowledged it
     */
    public record Replication(
            String mode,
            long queueMillis,
            long proposalMillis,
            long commitMillis,
            List<Ack> acks,
            long completedBy,
            List<Long> missing) {

        String sentence() {
            List<String> acked =
                    acks.stream()
                            .map(
                                    ack ->
                                            "server "
                                                    + ack.server()
                                                    + " after "
                                                    + ack.millis()
                                                    + " ms"
                                                    + (ack.server() == completedBy
                                                            ? " (completed the quorum)"
                                                            : ""))
                            .toList();
            return mode
                    + " mode, queue "
                    + queueMillis
                    + " ms, proposal "
                    + proposalMillis
                    + " ms, "
                    + (commitMillis < 0 ? "not committed" : "commit " + commitMillis + " ms")
                    + "; acks: "
                    + (acked.isEmpty() ? "none" : String.join(", ", acked))
                    + (missing.isEmpty()
                            ? ""
                            : "; none yet of server "
                                    + missing.stream()
                                            .map(sid -> Long.toString(sid))
                                            .collect(Collectors.joining(", ")));
        }

        Map<String, Object> readable() {
            Map<String, Object> result = new LinkedHashMap<>();
            result.put("mode", mode);
            result.put("queueMillis", queueMillis);
            result.put("proposalMillis", proposalMillis);
            result.put("commitMillis", commitMillis < 0 ? null : commitMillis);
            List<Map<String, Object>> all = new ArrayList<>();
            for (Ack ack : acks) {
                all.add(Map.of("server", ack.server(), "millis", ack.millis()));
            }
            result.put("acks", all);
            result.put("completedBy", completedBy == 0 ? null : completedBy);
            result.put("missing", missing);
            return result;
        }
    }

    /** One line for the log. */
    String sentence() {
        StringBuilder line = new StringBuilder("Slow request: ").append(operation);
        if (path != null) {
            line.append(' ').append(path);
        }
        line.append(" of session 0x").append(Long.toHexString(session));
        if (of != 0) {
            line.append(", a client of server ").append(of);
        } else if (client != null) {
            line.append(" at ").append(client);
        }
        line.append(", ").append(bytes).append(" bytes");
        if (zxid != 0) {
            line.append(", zxid ").append(Zxid.toString(zxid));
        }
        if (replication != null && replication.commitMillis < 0) {
            line.append(", waits for ").append(millis).append(" ms");
        } else {
            line.append(of == 0 ? ", took " : ", took the leader ").append(millis).append(" ms");
        }
        if (!stages.isEmpty()) {
            line.append(": ");
            line.append(
                    stages.entrySet().stream()
                            .map(stage -> stage.getKey() + " " + stage.getValue() + " ms")
                            .collect(Collectors.joining(", ")));
        }
        if (replication != null) {
            line.append(of == 0 ? "; on the leader: " : ": ").append(replication.sentence());
        }
        return line.toString();
    }

    /** For the AdminServer; the keys are the same for every request. */
    public Map<String, Object> readable() {
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("at", at);
        result.put("operation", operation);
        result.put("path", path);
        result.put("session", String.format(Locale.ROOT, "0x%x", session));
        result.put("client", client);
        result.put("clientOf", of == 0 ? null : of);
        result.put("bytes", bytes);
        result.put("zxid", zxid == 0 ? null : Zxid.toString(zxid));
        result.put("millis", millis);
        result.put("stageMillis", stages);
        result.put("replication", replication == null ? null : replication.readable());
        return result;
    }
}
