package io.saucr.tests.ensemble;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Key stores with certificates for loopback, signed by themselves, made by the JDK's keytool. */
final class Certificates {
    /** Of every store and key. */
    static final String PASSWORD = "correct horse";

    private Certificates() {}

    /** A new key with its certificate. */
    static Path keys(Path file) throws IOException {
        keytool(
                file,
                "-genkeypair",
                "-keyalg",
                "EC",
                "-dname",
                "CN=localhost",
                "-ext",
                "SAN=ip:127.0.0.1,dns:localhost");
        return file;
    }

    /** A store that trusts the certificate of another one, and holds no key. */
    static Path certificateOf(Path keys, Path file) throws IOException {
        Path certificate = file.resolveSibling("certificate");
        keytool(keys, "-exportcert", "-file", certificate.toString());
        keytool(file, "-importcert", "-noprompt", "-file", certificate.toString());
        return file;
    }

    private static void keytool(Path store, String... arguments) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
        command.addAll(List.of(arguments));
        command.addAll(List.of("-alias", "server", "-storetype", "PKCS12", "-storepass", PASSWORD));
        command.addAll(List.of("-keystore", store.toString()));
        BuiltDistribution.run(command.toArray(String[]::new));
    }
}
