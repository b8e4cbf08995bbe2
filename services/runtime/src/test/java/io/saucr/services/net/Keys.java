package io.saucr.services.net;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Locale;
import javax.security.auth.x500.X500Principal;

/**
 * Keys and certificates of a test. The JDK has no public class that makes certificates, and its
 * keytool takes a second for each, so they are put together here, as RFC 5280 has them.
 */
public final class Keys {

    public static final String PASSWORD = "test-password";

    private static final String ALIAS = "service";

    private static final int BOOLEAN = 0x01;
    private static final int INTEGER = 0x02;
    private static final int BIT_STRING = 0x03;
    private static final int OCTET_STRING = 0x04;
    private static final int GENERALIZED_TIME = 0x18;
    private static final int SEQUENCE = 0x30;

    // Object identifiers: 1.2.840.10045.4.3.2, 2.5.29.19 and 2.5.29.17.
    private static final byte[] ECDSA_WITH_SHA256 = HexFormat.of().parseHex("06082a8648ce3d040302");
    private static final byte[] BASIC_CONSTRAINTS = HexFormat.of().parseHex("0603551d13");
    private static final byte[] ALTERNATIVE_NAMES = HexFormat.of().parseHex("0603551d11");

    private static final DateTimeFormatter GENERALIZED =
            DateTimeFormatter.ofPattern("yyyyMMddHHmmss'Z'", Locale.ROOT);

    private final Path folder;

    public Keys(Path folder) {
        this.folder = folder;
    }

    /** A key store with a certificate that signed itself and counts today. */
    public Path make(String file, String subject, String... dnsNames)
            throws IOException, GeneralSecurityException {
        return make(file, subject, null, -1, 1, false, dnsNames);
    }

    /** As {@link #make}, of an authority that issues others. */
    public Path authority(String file, String subject)
            throws IOException, GeneralSecurityException {
        return make(file, subject, null, -1, 1, true);
    }

    /** A key store with a certificate that an authority issued and that counts today. */
    public Path issued(String file, String subject, Path authority)
            throws IOException, GeneralSecurityException {
        return make(file, subject, authority, -1, 1, false);
    }

    /**
     * A key store with a certificate.
     *
     * @param authority who issues it; null where it signs itself
     * @param from day from today on which it begins to count
     * @param to day on which it ends
     */
    public Path make(
            String file,
            String subject,
            Path authority,
            int from,
            int to,
            boolean issues,
            String... dnsNames)
            throws IOException, GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec("secp256r1"));
        KeyPair pair = generator.generateKeyPair();
        X500Principal name = new X500Principal(subject);
        X500Principal issuer = name;
        PrivateKey signer = pair.getPrivate();
        if (authority != null) {
            KeyStore store = open(authority);
            issuer = ((X509Certificate) store.getCertificate(ALIAS)).getSubjectX500Principal();
            signer = (PrivateKey) store.getKey(ALIAS, PASSWORD.toCharArray());
        }
        byte[] algorithm = der(SEQUENCE, ECDSA_WITH_SHA256);
        byte[] contents =
                der(
                        SEQUENCE,
                        der(0xA0, der(INTEGER, new byte[] {2})),
                        der(INTEGER, new byte[] {1}),
                        algorithm,
                        issuer.getEncoded(),
                        der(SEQUENCE, time(from), time(to)),
                        name.getEncoded(),
                        pair.getPublic().getEncoded(),
                        der(0xA3, der(SEQUENCE, constraints(issues), names(dnsNames))));
        Signature signature = Signature.getInstance("SHA256withECDSA");
        signature.initSign(signer);
        signature.update(contents);
        byte[] whole =
                der(SEQUENCE, contents, algorithm, der(BIT_STRING, new byte[1], signature.sign()));
        Certificate certificate =
                CertificateFactory.getInstance("X.509")
                        .generateCertificate(new ByteArrayInputStream(whole));
        KeyStore keys = KeyStore.getInstance("PKCS12");
        keys.load(null, null);
        keys.setKeyEntry(
                ALIAS, pair.getPrivate(), PASSWORD.toCharArray(), new Certificate[] {certificate});
        Path store = folder.resolve(file + ".p12");
        try (OutputStream out = Files.newOutputStream(store)) {
            keys.store(out, PASSWORD.toCharArray());
        }
        return store;
    }

    private static byte[] constraints(boolean issues) {
        byte[] flag = issues ? der(BOOLEAN, new byte[] {-1}) : new byte[0];
        return der(SEQUENCE, BASIC_CONSTRAINTS, der(OCTET_STRING, der(SEQUENCE, flag)));
    }

    private static byte[] names(String... dnsNames) {
        if (dnsNames.length == 0) {
            return new byte[0];
        }
        byte[][] parts = new byte[dnsNames.length][];
        for (int i = 0; i < parts.length; i++) {
            parts[i] = der(0x82, dnsNames[i].getBytes(UTF_8));
        }
        return der(SEQUENCE, ALTERNATIVE_NAMES, der(OCTET_STRING, der(SEQUENCE, parts)));
    }

    private static byte[] time(int day) {
        ZonedDateTime at = ZonedDateTime.now(ZoneOffset.UTC).plusDays(day);
        return der(GENERALIZED_TIME, GENERALIZED.format(at).getBytes(UTF_8));
    }

    private static byte[] der(int tag, byte[]... parts) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        int length = Arrays.stream(parts).mapToInt(part -> part.length).sum();
        out.write(tag);
        // The shortest form, or what is read is not what was signed.
        if (length < 0x80) {
            out.write(length);
        } else if (length < 0x100) {
            out.write(0x81);
            out.write(length);
        } else {
            out.write(0x82);
            out.write(length >> 8);
            out.write(length);
        }
        for (byte[] part : parts) {
            out.writeBytes(part);
        }
        return out.toByteArray();
    }

    /** A trust store, as PEM, of the certificates in key stores. */
    public Path trust(String file, Path... stores) throws IOException, GeneralSecurityException {
        StringBuilder text = new StringBuilder();
        for (Path store : stores) {
            block(text, "CERTIFICATE", open(store).getCertificate(ALIAS).getEncoded());
        }
        return Files.writeString(folder.resolve(file + ".pem"), text);
    }

    /** The key of a key store with its certificate, as PEM. */
    public Path pem(Path store) throws IOException, GeneralSecurityException {
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
