package org.apache.zookeeper.server.quorum;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;

/** Key stores and trust stores for tests, made by the JDK's keytool. */
public final class TlsKeys {
    /** Of every store and key. */
    public static final String PASSWORD = "correct horse";

    private static final String ALIAS = "key";

    /** Certificates that the authority signs. */
    public enum Host {
        LOOPBACK("SAN=dns:localhost,ip:127.0.0.1", "-1d"),
        ELSEWHERE("SAN=dns:elsewhere.example", "-1d"),
        EXPIRED("SAN=dns:localhost,ip:127.0.0.1", "-100d");

        private final String names;
        private final String start;

        Host(String names, String start) {
            this.names = names;
            this.start = start;
        }
    }

    private final Path folder;
    private final Path authority;

    /** A store that trusts the authority. */
    public final Path trusted;

    /** A key that signed itself. */
    public final Path foreign;

    public TlsKeys(Path folder) throws IOException, GeneralSecurityException {
        this.folder = folder;
        authority = generate("authority", "-ext", "bc=ca:true");
        foreign = generate("foreign", "-ext", Host.LOOPBACK.names);
        trusted = folder.resolve("trusted.p12");
        KeyStore trust = KeyStore.getInstance("PKCS12");
        trust.load(null, null);
        trust.setCertificateEntry("authority", load(authority).getCertificate(ALIAS));
        store(trust, trusted);
    }

    /** A new key, with a certificate that the authority has signed. */
    public Path issued(String name, Host host) throws IOException, GeneralSecurityException {
        Path keys = generate(name);
        Path request = folder.resolve(name + ".csr");
        keytool(keys, "-certreq", "-file", request.toString());
        Path signed = folder.resolve(name + ".crt");
        keytool(
                authority,
                "-gencert",
                "-rfc",
                "-infile",
                request.toString(),
                "-outfile",
                signed.toString(),
                "-startdate",
                host.start,
                "-validity",
                "50",
                "-ext",
                host.names);
        KeyStore store = load(keys);
        Key key = store.getKey(ALIAS, PASSWORD.toCharArray());
        List<Certificate> chain = new ArrayList<>();
        try (InputStream in = Files.newInputStream(signed)) {
            chain.addAll(CertificateFactory.getInstance("X.509").generateCertificates(in));
        }
        store.setKeyEntry(
                ALIAS,
                key,
                PASSWORD.toCharArray(),
                chain.subList(0, 1).toArray(Certificate[]::new));
        store(store, keys);
        return keys;
    }

    /** The same keys in a store of another type. */
    public Path as(String type, Path keys) throws IOException, GeneralSecurityException {
        KeyStore from = load(keys);
        Path file = folder.resolve(keys.getFileName().toString().replace(".p12", "." + type));
        if (type.equals("pem")) {
            Files.writeString(file, pem(from));
            return file;
        }
        KeyStore to = KeyStore.getInstance(type);
        to.load(null, null);
        for (String alias : Collections.list(from.aliases())) {
            if (from.isKeyEntry(alias)) {
                char[] password = PASSWORD.toCharArray();
                to.setKeyEntry(
                        alias,
                        from.getKey(alias, password),
                        password,
                        from.getCertificateChain(alias));
            } else {
                to.setCertificateEntry(alias, from.getCertificate(alias));
            }
        }
        store(to, file);
        return file;
    }

    private static String pem(KeyStore store) throws GeneralSecurityException {
        StringBuilder text = new StringBuilder();
        for (String alias : Collections.list(store.aliases())) {
            if (store.isKeyEntry(alias)) {
                byte[] key = store.getKey(alias, PASSWORD.toCharArray()).getEncoded();
                text.append(block("PRIVATE KEY", key));
            }
            text.append(block("CERTIFICATE", store.getCertificate(alias).getEncoded()));
        }
        return text.toString();
    }

    private static String block(String what, byte[] content) {
        String lines = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content);
        return "-----BEGIN " + what + "-----\n" + lines + "\n-----END " + what + "-----\n";
    }

    private Path generate(String name, String... more) throws IOException {
        Path file = folder.resolve(name + ".p12");
        List<String> arguments =
                new ArrayList<>(List.of("-genkeypair", "-keyalg", "EC", "-dname", "CN=" + name));
        arguments.addAll(List.of(more));
        keytool(file, arguments.toArray(String[]::new));
        return file;
    }

    private static KeyStore load(Path file) throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            store.load(in, PASSWORD.toCharArray());
        }
        return store;
    }

    private static void store(KeyStore store, Path file)
            throws IOException, GeneralSecurityException {
        try (OutputStream out = Files.newOutputStream(file)) {
            store.store(out, PASSWORD.toCharArray());
        }
    }

    private static void keytool(Path store, String... arguments) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
        command.add("-J-XX:TieredStopAtLevel=1");
        command.addAll(List.of(arguments));
        command.addAll(List.of("-alias", ALIAS, "-storetype", "PKCS12", "-storepass", PASSWORD));
        command.addAll(List.of("-keystore", store.toString()));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            if (process.waitFor() != 0) {
                throw new IOException(command + ": " + output);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
    }
}
