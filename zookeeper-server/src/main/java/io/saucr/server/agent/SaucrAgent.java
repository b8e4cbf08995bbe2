package io.saucr.server.agent;

import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.ProtectionDomain;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/**
 * Turns an untouched installation of the release that this build is based on into ours: {@code
 * SERVER_JVMFLAGS=-javaagent:saucr-zookeeper-agent.jar}, same {@code zoo.cfg}. The jar holds our
 * own classes, which the JVM finds behind those of the installation, and next to them, as
 * resources, the few released classes that the build patches. When the JVM loads one of these, it
 * gets the patched bytes: exactly those of our distribution.
 *
 * <p>Each released class must be, byte for byte, the one that was patched. If one is not, the JVM
 * ends before the server starts: a server without the whole patch must not run.
 */
public final class SaucrAgent implements ClassFileTransformer {
    private static final String PATCHED = "META-INF/saucr/patched/";
    private static final String RELEASED = "META-INF/saucr/released/";
    private static final String DIGEST = ".sha256";
    private static final String CLASS = ".class";

    /** By internal class name. */
    private final Map<String, Patched> classes;

    private static final class Patched {
        final String releasedDigest;
        final byte[] bytes;

        Patched(String releasedDigest, byte[] bytes) {
            this.releasedDigest = releasedDigest;
            this.bytes = bytes;
        }
    }

    private SaucrAgent(Map<String, Patched> classes) {
        this.classes = Map.copyOf(classes);
    }

    private static volatile boolean runs;

    /** Whether this process has the agent. */
    public static boolean runs() {
        return runs;
    }

    /** Called by the JVM before the server's main method. */
    public static void premain(String arguments, Instrumentation instrumentation) {
        runs = true;
        try {
            SaucrAgent agent = new SaucrAgent(readPatched());
            agent.checkInstallation();
            instrumentation.addTransformer(agent);
        } catch (IOException | URISyntaxException | IllegalStateException e) {
            end(e.getMessage());
        }
    }

    private static Map<String, Patched> readPatched() throws IOException, URISyntaxException {
        Path self =
                Path.of(
                        SaucrAgent.class
                                .getProtectionDomain()
                                .getCodeSource()
                                .getLocation()
                                .toURI());
        Map<String, Patched> result = new HashMap<>();
        try (JarFile jar = new JarFile(self.toFile())) {
            List<String> names =
                    jar.stream()
                            .map(JarEntry::getName)
                            .filter(name -> name.startsWith(PATCHED) && name.endsWith(CLASS))
                            .toList();
            for (String name : names) {
                String file = name.substring(PATCHED.length());
                byte[] digest = read(jar, RELEASED + file + DIGEST);
                result.put(
                        file.substring(0, file.length() - CLASS.length()),
                        new Patched(
                                new String(digest, StandardCharsets.US_ASCII).strip(),
                                read(jar, name)));
            }
        }
        if (result.isEmpty()) {
            throw new IllegalStateException(
                    self + " holds no patched class: it was not built whole");
        }
        return result;
    }

    private static byte[] read(JarFile jar, String name) throws IOException {
        JarEntry entry = jar.getJarEntry(name);
        if (entry == null) {
            throw new IOException(jar.getName() + " lacks " + name);
        }
        try (InputStream bytes = jar.getInputStream(entry)) {
            return bytes.readAllBytes();
        }
    }

    private void checkInstallation() throws IOException {
        for (Map.Entry<String, Patched> each : classes.entrySet()) {
            String file = each.getKey() + CLASS;
            try (InputStream released = ClassLoader.getSystemResourceAsStream(file)) {
                if (released == null) {
                    throw notReleased(each.getKey(), ": the class path lacks it");
                }
                requireReleased(each.getKey(), released.readAllBytes());
            }
        }
    }

    private void requireReleased(String name, byte[] bytes) {
        if (!digest(bytes).equals(classes.get(name).releasedDigest)) {
            throw notReleased(name, "");
        }
    }

    private static IllegalStateException notReleased(String name, String why) {
        return new IllegalStateException(
                "%s is not that of Apache ZooKeeper %s as released%s"
                        .formatted(name.replace('/', '.'), basedOn(), why));
    }

    private static String basedOn() {
        String version = SaucrAgent.class.getPackage().getSpecificationVersion();
        return version == null ? "" : version;
    }

    @Override
    public byte[] transform(
            ClassLoader loader,
            String name,
            Class<?> redefined,
            ProtectionDomain domain,
            byte[] bytes) {
        Patched patched = name == null ? null : classes.get(name);
        if (patched == null) {
            return null;
        }
        try {
            requireReleased(name, bytes);
            return patched.bytes;
        } catch (IllegalStateException e) {
            // The JVM would swallow an exception and run the class as it is.
            end(e.getMessage() + "; another agent has changed it");
            return null;
        }
    }

    private static void end(String problem) {
        System.err.println(
                "SAUCR agent: "
                        + problem
                        + ". This server is not started; remove the agent, or use it with the release"
                        + " that it is made for.");
        Runtime.getRuntime().halt(1);
    }

    private static String digest(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JVM has SHA-256", e);
        }
    }
}
