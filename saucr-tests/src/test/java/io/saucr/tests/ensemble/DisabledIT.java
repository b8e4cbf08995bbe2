package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.ensemble.Distribution;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs.Ids;
import org.junit.jupiter.api.Test;

/**
 * With SAUCR off, the same client's operations leave the same bytes on every server's disk as
 * Apache's released server does, except for what is never the same twice: session ids, times, and
 * the two checksums over them. An empty file is there in addition, whose lock keeps a second
 * process off the folder.
 */
class DisabledIT {
    private static final int FILE_HEADER_BYTES = 16;
    private static final int SESSION_BYTES = 8;
    private static final int TIME_AT = 20;
    private static final int TIME_BYTES = 8;
    private static final int HEADER_BYTES = 32;

    /**
     * The hash over the tree depends on times. Its version, which stands before it, is compared.
     */
    private static final int TREE_DIGEST_BYTES = 8;

    private static final byte END_OF_RECORD = 'B';
    private static final String LOCK = "saucr.lock";

    /** What a server has on disk, with the bytes that are never the same twice made zero. */
    private record Disk(TreeSet<String> files, String header, long fileLength, List<String> log) {}

    @Test
    void theSameOperationsLeaveTheSameBytesAsApaches() throws Exception {
        List<Disk> ours = disksAfterOperations("disabled-ours", BuiltDistribution.servers());
        List<Disk> apaches = disksAfterOperations("disabled-apaches", Distribution.stock());
        assertThat(ours.get(0).log()).hasSizeGreaterThan(30);
        assertThat(ours).allSatisfy(each -> assertThat(each.files().remove(LOCK)).isTrue());
        assertThat(ours).isEqualTo(apaches);
    }

    private static List<Disk> disksAfterOperations(String name, Distribution distribution)
            throws Exception {
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.start(
                        SaucrEnsemble.describe(name, 3)
                                .set("saucr.enabled", "false")
                                .distribution(1, distribution)
                                .distribution(2, distribution)
                                .distribution(3, distribution))) {
            try (Client client = ensemble.connect(2)) {
                operate(client);
            }
            List<Disk> disks = new ArrayList<>();
            long entries = entries(ensemble, ensemble.leader());
            for (int id : ensemble.all()) {
                SaucrEnsemble.await(
                        "the log of server " + id, () -> entries(ensemble, id) == entries);
                disks.add(disk(ensemble.server(id).dataDirectory().resolve("version-2")));
            }
            return disks;
        }
    }

    private static void operate(Client client) throws Exception {
        client.create("/a", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        client.create("/e", new byte[] {1}, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
        client.create("/c", null, Ids.OPEN_ACL_UNSAFE, CreateMode.CONTAINER);
        for (int i = 0; i < 20; i++) {
            client.create(
                    "/a/n", new byte[i], Ids.READ_ACL_UNSAFE, CreateMode.PERSISTENT_SEQUENTIAL);
            client.setData("/a", new byte[100 * i], i);
        }
        client.multi(
                List.of(
                        Op.create("/m", new byte[7], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT),
                        Op.setData("/a", new byte[3], -1),
                        Op.check("/a", -1),
                        Op.delete("/c", 0)));
        client.setACL("/m", Ids.READ_ACL_UNSAFE, 0);
        client.delete("/m", -1);
        client.setData("/a", new byte[200_000], -1);
    }

    private static long entries(SaucrEnsemble ensemble, int id) throws IOException {
        return disk(ensemble.server(id).dataDirectory().resolve("version-2")).log().size();
    }

    private static Disk disk(Path folder) throws IOException {
        TreeSet<String> kinds = new TreeSet<>();
        Path log = null;
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                String name = file.getFileName().toString();
                kinds.add(name.replaceFirst("^snapshot\\..*", "snapshot"));
                if (name.startsWith("log.")) {
                    assertThat(log).as("one log file").isNull();
                    log = file;
                }
            }
        }
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(log));
        byte[] header = new byte[FILE_HEADER_BYTES];
        bytes.get(header);
        List<String> entries = new ArrayList<>();
        for (long checksum = bytes.getLong(); checksum != 0; checksum = bytes.getLong()) {
            byte[] entry = new byte[bytes.getInt()];
            bytes.get(entry);
            assertThat(bytes.get()).isEqualTo(END_OF_RECORD);
            entries.add(HexFormat.of().formatHex(masked(entry)));
        }
        return new Disk(kinds, HexFormat.of().formatHex(header), bytes.capacity(), entries);
    }

    private static byte[] masked(byte[] entry) {
        assertThat(entry.length).isGreaterThan(HEADER_BYTES + TREE_DIGEST_BYTES);
        ByteBuffer bytes = ByteBuffer.wrap(entry);
        bytes.put(0, new byte[SESSION_BYTES]);
        bytes.put(TIME_AT, new byte[TIME_BYTES]);
        bytes.put(entry.length - TREE_DIGEST_BYTES, new byte[TREE_DIGEST_BYTES]);
        return entry;
    }
}
