package io.saucr.apache;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;

/**
 * Key stores like those of ZooKeeper's source tree, which Apache does not publish with the tests: a
 * key for servers and clients, a store that trusts it, and a key that it does not trust.
 * Thread-safe.
 */
final class TestKeys {
    private static final String PASSWORD = "testpass";

    /** Tests know it, and that it names no address: a check of the host's name fails. */
    private static final String SUBJECT =
            "CN=localhost,OU=ZooKeeper,O=Apache,L=Unknown,ST=Unknown,C=Unknown";

    private static final List<String> STORES =
            List.of("testKeyStore.jks", "testTrustStore.jks", "testUntrustedKeyStore.jks");

    private final Path made;

    /**
     * @param work where the stores are kept, once they are made
     */
    TestKeys(Path work) {
        made = work.resolve("keys");
    }

    /** Gives a class the stores, where ZooKeeper's build has them. */
    void copyTo(Path folderOfClass) throws IOException {
        make();
        Path to = folderOfClass.resolve("src/test/resources/data/ssl");
        Files.createDirectories(to);
        for (String store : STORES) {
            Files.copy(made.resolve(store), to.resolve(store));
        }
    }

    private synchronized void make() throws IOException {
        if (Files.exists(made)) {
            return;
        }
        Path unfinished = made.resolveSibling("new-keys");
        Files.createDirectories(unfinished);
        for (String store : STORES) {
            Files.deleteIfExists(unfinished.resolve(store));
        }
        Path keys = unfinished.resolve(STORES.get(0));
        Path certificate = unfinished.resolve("certificate.pem");
        String pair = "-genkeypair -alias own -keyalg RSA -validity 3650 -dname " + SUBJECT;
        keytool(keys, pair);
        keytool(keys, "-exportcert -rfc -alias own", "-file", certificate.toString());
        keytool(
                unfinished.resolve(STORES.get(1)),
                "-importcert -noprompt -alias trusted",
                "-file",
                certificate.toString());
        keytool(unfinished.resolve(STORES.get(2)), pair);
        Files.move(unfinished, made, StandardCopyOption.ATOMIC_MOVE);
    }

    private static void keytool(Path store, String options, String... more) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
        command.addAll(List.of(options.split(" ")));
        command.addAll(List.of(more));
        command.addAll(List.of("-storetype", "JKS", "-storepass", PASSWORD, "-keypass", PASSWORD));
        command.addAll(List.of("-keystore", store.toString()));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            if (process.waitFor() != 0) {
                throw new IOException(String.join(" ", command) + " failed: " + output.trim());
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
            throw new IOException("interrupted: " + String.join(" ", command), e);
        }
    }
}
