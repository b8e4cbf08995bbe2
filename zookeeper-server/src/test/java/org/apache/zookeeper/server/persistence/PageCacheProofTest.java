package org.apache.zookeeper.server.persistence;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** R25: what proves that the page cache is still the same, and what does not. */
class PageCacheProofTest {
    @TempDir Path parent;
    private Path folder;
    private Path log;

    @BeforeEach
    void aProcessWrote() throws IOException {
        folder = Files.createDirectories(parent.resolve("version-2"));
        log = Files.writeString(folder.resolve("log.100000001"), "entries");
        proof("boot-1").logFile(log);
    }

    private PageCacheProof proof(String bootId) {
        return new PageCacheProof(folder, bootId);
    }

    @Test
    void nothingHasChanged() {
        assertThat(proof("boot-1").through()).isPresent();
    }

    @Test
    void theMachinesOwnBootIdIsTheDefault() throws IOException {
        assertThat(proof("").through()).isEmpty();
        proof("").logFile(log);
        assertThat(proof("").through()).isPresent();
    }

    @Test
    void anotherBoot() {
        assertThat(proof("boot-2").through()).isEmpty();
    }

    @Test
    void theLogFileIsAnotherOne() throws IOException {
        Path copy = Files.copy(log, folder.resolve("copy"));
        Files.move(copy, log, StandardCopyOption.REPLACE_EXISTING);
        assertThat(proof("boot-1").through()).isEmpty();
    }

    @Test
    void theLogFileIsGone() throws IOException {
        Files.delete(log);
        assertThat(proof("boot-1").through()).isEmpty();
    }

    @Test
    void theNewestFileCounts() throws IOException {
        Path newest = Files.writeString(folder.resolve("log.100000009"), "more");
        proof("boot-1").logFile(newest);
        assertThat(proof("boot-1").through()).isPresent();
        Files.delete(newest);
        assertThat(proof("boot-1").through()).isEmpty();
    }

    @Test
    void theFolderIsACopy() throws IOException {
        Path copy = Files.createDirectories(parent.resolve("copy"));
        try (var files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.copy(file, copy.resolve(file.getFileName()));
            }
        }
        assertThat(new PageCacheProof(copy, "boot-1").through()).isEmpty();
    }

    @Test
    void aFailureWithdrawsItForGood() throws IOException {
        PageCacheProof proof = proof("boot-1");
        proof.withdraw();
        assertThat(proof.through()).isEmpty();
        proof.logFile(log);
        assertThat(proof("boot-1").through()).isEmpty();
    }

    /** The number of a mount is given to the next one, and so is an overlay's device. */
    @Test
    void whereARemountCannotBeToldNothingIsProven() throws IOException {
        Path mounts = parent.resolve("mountinfo");
        for (String type : List.of("overlay", "btrfs", "nfs4", "fuse.sshfs", "ext4", "ext3")) {
            Files.writeString(
                    mounts, "66 1 0:39 / / rw,relatime shared:1 - " + type + " /dev/none rw\n");
            PageCacheProof proof = new PageCacheProof(folder, "boot-1", mounts);
            proof.logFile(log);
            assertThat(proof.through()).as(type).isEmpty();
            assertThat(folder.resolve("saucr.proof")).doesNotExist();
        }
        Files.writeString(mounts, "66 1 0:39 / / rw,relatime - tmpfs none rw\n");
        PageCacheProof proof = new PageCacheProof(folder, "boot-1", mounts);
        proof.logFile(log);
        assertThat(proof.through()).isPresent();
        assertThat(proof("boot-1").through()).isEmpty();
    }

    @Test
    void itSaysWhatWasAckedLast() throws IOException {
        PageCacheProof proof = proof("boot-1");
        proof.logFile(log);
        assertThat(proof("boot-1").through()).hasValue(0);
        proof.reached(0x1_0000_0009L);
        assertThat(proof("boot-1").through()).hasValue(0x1_0000_0009L);
        proof.logFile(Files.writeString(folder.resolve("log.10000000a"), "more"));
        assertThat(proof("boot-1").through()).hasValue(0x1_0000_0009L);
        proof.reached(0x7fff_ffff_ffff_ffffL);
        assertThat(proof("boot-1").through()).hasValue(0x7fff_ffff_ffff_ffffL);
        proof.withdraw();
        proof.reached(0x1_0000_000aL);
        assertThat(proof("boot-1").through()).isEmpty();
    }

    @Test
    void anInterruptDoesNotEndIt() throws IOException {
        PageCacheProof proof = proof("boot-1");
        proof.logFile(log);
        Thread.currentThread().interrupt();
        proof.reached(0x1_0000_0009L);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(proof("boot-1").through()).hasValue(0x1_0000_0009L);
    }

    /** After a failed force pages look clean; only another page cache has none of them. */
    @Test
    void withoutAProofThePageCacheMayHideAFailure() throws IOException {
        assertThat(proof("boot-1").mayHideFailure()).isFalse();
        assertThat(proof("boot-2").mayHideFailure()).as("a cold page cache").isFalse();
        Files.delete(log);
        assertThat(proof("boot-1").mayHideFailure()).as("nothing proven, the same boot").isTrue();
        assertThat(proof("boot-2").mayHideFailure()).isFalse();
        Files.writeString(folder.resolve("saucr.proof"), "garbage");
        assertThat(proof("boot-2").mayHideFailure()).isTrue();
        proof("boot-1").withdraw();
        assertThat(proof("boot-1").mayHideFailure()).as("withdrawn").isTrue();
        assertThat(proof("boot-2").mayHideFailure()).isTrue();
    }

    @Test
    void whatIsProvenOutlivesTheLog() throws IOException {
        PageCacheProof proof = proof("boot-1");
        proof.logFile(log);
        proof.reached(0x1_0000_0009L);
        proof.close();
        proof.close();
        assertThat(proof("boot-1").through()).hasValue(0x1_0000_0009L);
        proof.withdraw();
        assertThat(proof("boot-1").through()).isEmpty();
    }

    @Test
    void garbageProvesNothing() throws IOException {
        Path file = folder.resolve("saucr.proof");
        String whole = Files.readString(file);
        for (String garbage :
                new String[] {
                    "",
                    "\n",
                    "12345678../version-2/log.100000001\n",
                    "12345678/etc/passwd\n",
                    whole.substring(0, whole.length() / 2),
                    whole + "more\n",
                    "\0\0\0"
                }) {
            Files.writeString(file, garbage);
            assertThat(proof("boot-1").through()).as(garbage).isEmpty();
        }
        Files.delete(file);
        assertThat(proof("boot-1").through()).isEmpty();
    }
}
