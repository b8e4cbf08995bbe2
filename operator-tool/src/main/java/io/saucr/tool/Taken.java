package io.saucr.tool;

import io.saucr.tool.AdminClient.Download;
import io.saucr.tool.EndpointException.Reason;
import java.io.IOException;
import java.nio.file.Path;

/**
 * A snapshot that a server has taken and sent. Immutable.
 *
 * @param from the server
 * @param begun the last zxid that it shows whole; the snapshot's own zxid if the server does not
 *     tell
 */
record Taken(Endpoint from, Snapshot snapshot, long begun) {
    /**
     * Makes the server take one that has everything which was acknowledged before, and writes it to
     * the disk.
     *
     * @throws EndpointException if the server did not give one, or one that cannot be right
     * @throws IOException if it could not be written, or is damaged
     */
    static Taken take(Endpoint endpoint, Connection connection, Path file)
            throws IOException, InterruptedException {
        // A server that is behind, or cut off, would give a sound snapshot that lacks writes.
        Deadline deadline = Deadline.in(connection.patience());
        EndpointCommand.check(endpoint, connection, deadline);
        long acknowledged = 0;
        try {
            String zxid = FourLetterWord.srvr(endpoint, connection, deadline).get("Zxid");
            acknowledged = zxid == null ? 0 : Long.decode(zxid);
        } catch (EndpointException e) {
            if (e.reason() != Reason.UNKNOWN_COMMAND) {
                throw e;
            }
        }
        Deadline silence = Deadline.in(connection.silence());
        long expected;
        long written;
        String begun;
        try (Download download =
                new AdminClient(connection)
                        .download(endpoint, "snapshot?streaming=true", silence)) {
            expected = download.bytes();
            begun = download.zxid();
            written = NewFile.write(download.in(), file);
        } catch (EndpointException e) {
            throw new EndpointException(
                    e.reason(),
                    endpoint.adminName()
                            + " "
                            + (e.reason() == Reason.UNKNOWN_COMMAND
                                    ? "knows no such command: it came with ZooKeeper 3.9"
                                    : e.getMessage()));
        }
        if (expected >= 0 && expected != written) {
            throw new EndpointException(
                    Reason.UNREACHABLE,
                    "broke off: it sent %d of %d bytes".formatted(written, expected));
        }
        Snapshot snapshot = Snapshot.read(file);
        if (snapshot.zxid() < acknowledged) {
            throw new EndpointException(
                    Reason.REFUSED,
                    "gave a snapshot of %s, though it had %s before"
                            .formatted(Snapshot.hex(snapshot.zxid()), Snapshot.hex(acknowledged)));
        }
        return new Taken(endpoint, snapshot, begun == null ? snapshot.zxid() : Long.decode(begun));
    }
}
