package io.saucr.services.net;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/** Keys and self-signed certificates of a test, made by the JDK's keytool. */
final class Keys {

    static final String PASSWORD = "test-password";

    private static final String ALIAS = "service";

    private final Path folder;

    Keys(Path folder) {
        this.folder = folder;
    }

    /** A key store in which a certificate stands. */
    Path make(String file, String subject, String... more) throws IOException {
        Path store = folder.resolve(file + ".p12");
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
        command.addAll(List.of("-J-XX:TieredStopAtLevel=1", "-J-Xshare:auto", "-genkeypair"));
        command.addAll(List.of("-keyalg", "EC", "-alias", ALIAS, "-dname", subject));
        command.addAll(List.of("-keystore", store.toString(), "-storepass", PASSWORD));
        command.addAll(List.of(more));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), UTF_8);
        try {
            if (process.waitFor() != 0) {
                throw new IOException(command + ": " + said);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
        return store;
    }

    /** A trust store, as PEM, of the certificates in key stores. */
    Path trust(String file, Path... stores) throws IOException, GeneralSecurityException {
        StringBuilder text = new StringBuilder();
        for (Path store : stores) {
            block(text, "CERTIFICATE", open(store).getCertificate(ALIAS).getEncoded());
        }
        return Files.writeString(folder.resolve(file + ".pem"), text);
    }

    /** The key of a key store with its certificate, as PEM. */
    Path pem(Path store) throws IOException, GeneralSecurityException {
        StringBuilder text = new StringBuilder();
        KeyStore keys = open(store);
        block(text, "PRIVATE KEY", keys.getKey(ALIAS, PASSWORD.toCharArray()).getEncoded());
        block(text, "CERTIFICATE", keys.getCertificate(ALIAS).getEncoded());
        return Files.writeString(Path.of(store + "-key.pem"), text);
    }

    private static KeyStore open(Path store) throws IOException, GeneralSecurityException {
        return KeyStore.getInstance(store.toFile(), PASSWORD.toCharArray());
    }

    private static void block(StringBuilder text, String what, byte[] bytes) {
        text.append("-----BEGIN ").append(what).append("-----\n");
        text.append(Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes));
        text.append("\n-----END ").append(what).append("-----\n");
    }
}
