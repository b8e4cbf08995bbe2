package io.saucr.server.config;

import static io.saucr.server.config.SaucrSettings.notAllowed;

import io.saucr.core.config.ZooCfg;
import io.saucr.server.runtime.ObstacleException;
import io.saucr.server.runtime.SmallFile;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.apache.zookeeper.server.quorum.QuorumPeer.QuorumServer;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig.ConfigException;

/**
 * Finds out why ZooKeeper does not accept a configuration. It says, for example, "For input string"
 * and not of which key; so the keys that it reads are looked at once more. Nothing is refused here:
 * whatever ZooKeeper accepts never comes to this class. Changes nothing.
 */
public final class RefusedConfiguration {
    private static final Map<String, Allowed> KEYS = keys();
    private static final String DYNAMIC_FILE = "dynamicConfigFile";

    private final String path;
    private final Map<String, String> given;
    private final Throwable refusal;

    private RefusedConfiguration(String path, Map<String, String> given, Throwable refusal) {
        this.path = path;
        this.given = given;
        this.refusal = refusal;
    }

    /** What a key's value must be, and the words for it. */
    private record Allowed(Predicate<String> test, String words) {}

    /**
     * @param path of the file that ZooKeeper was to read
     * @return file, key, value and what is allowed; if no key is found, the file and ZooKeeper's
     *     own words
     */
    public static String explain(String path, Throwable refusal) {
        Path file = Path.of(path);
        if (!Files.isRegularFile(file)) {
            return path + ": this configuration file does not exist, or is no file";
        }
        try {
            return new RefusedConfiguration(path, read(file), refusal).explain();
        } catch (IOException e) {
            return unreadable(file, e);
        }
    }

    /**
     * As ZooKeeper reads it: the last one of a key counts, and blanks around a value do not, but
     * for those of a server.
     */
    private static Map<String, String> read(Path file) throws IOException {
        Map<String, String> result = ZooCfg.properties(file);
        result.replaceAll((key, value) -> isMember(key) ? value : value.trim());
        return result;
    }

    private String explain() {
        return firstBadValue()
                .or(this::dynamicFile)
                .or(() -> members(path, given))
                .or(this::missing)
                .or(this::contradiction)
                .or(this::serverId)
                .orElseGet(() -> path + ": " + ownWords());
    }

    private Optional<String> firstBadValue() {
        for (Map.Entry<String, Allowed> key : KEYS.entrySet()) {
            String value = given.get(key.getKey());
            if (value != null && !key.getValue().test().test(value)) {
                return Optional.of(notAllowed(path, key.getKey(), value, key.getValue().words()));
            }
        }
        return Optional.empty();
    }

    /** The servers of the ensemble may stand in a file of their own, and nothing else in it. */
    private Optional<String> dynamicFile() {
        String name = given.get(DYNAMIC_FILE);
        if (name == null) {
            return Optional.empty();
        }
        for (String key : given.keySet()) {
            if (isMember(key)) {
                return Optional.of(
                        "%s: %s=%s is not allowed next to %s; it must be in %s"
                                .formatted(path, key, given.get(key), DYNAMIC_FILE, name));
            }
        }
        Path file = Path.of(name);
        if (!Files.isRegularFile(file)) {
            return Optional.of(
                    notAllowed(path, DYNAMIC_FILE, name, "the path of a file that exists"));
        }
        try {
            Map<String, String> dynamic = read(file);
            for (String key : dynamic.keySet()) {
                if (!isMember(key)) {
                    return Optional.of(
                            ("%s: %s=%s is not allowed; this file has server.*,"
                                            + " group.* and weight.* alone, the other keys belong into"
                                            + " %s")
                                    .formatted(name, key, dynamic.get(key), path));
                }
            }
            return members(name, dynamic);
        } catch (IOException e) {
            return Optional.of(unreadable(file, e));
        }
    }

    private static boolean isMember(String key) {
        return key.startsWith("server.") || key.startsWith("group") || key.startsWith("weight");
    }

    /** The lines of servers, each for itself. */
    private static Optional<String> members(String file, Map<String, String> lines) {
        for (Map.Entry<String, String> line : lines.entrySet()) {
            String key = line.getKey();
            if (!key.startsWith("server.")) {
                continue;
            }
            if (!isNumber(key.substring("server.".length()), 0, Long.MAX_VALUE)) {
                return Optional.of(
                        ("%s: key %s is not allowed; it must be server.N, N the number"
                                        + " in the myid file of that server")
                                .formatted(file, key));
            }
            try {
                new QuorumServer(
                        Long.parseLong(key.substring("server.".length())), line.getValue());
            } catch (ConfigException | RuntimeException e) {
                return Optional.of(
                        notAllowed(file, key, line.getValue(), serverWords(line.getValue()))
                                + " ("
                                + e.getMessage()
                                + ")");
            }
        }
        return Optional.empty();
    }

    private static String serverWords(String value) {
        String words =
                "HOST:PORT:ELECTION-PORT[:participant|:observer][;[CLIENT-HOST:]CLIENT-PORT]";
        if (!value.equals(value.trim())) {
            return words + " without a blank at its end";
        }
        if (value.contains("|") && !Boolean.getBoolean("zookeeper.multiAddress.enabled")) {
            // ZooKeeper reads the key and does not use it here.
            return words
                    + "; for several addresses the server must be started with"
                    + " -Dzookeeper.multiAddress.enabled=true, which the key multiAddress.enabled"
                    + " does not replace";
        }
        return words;
    }

    private Optional<String> missing() {
        if (!given.containsKey("dataDir")) {
            return Optional.of(path + ": dataDir is missing; it must be the folder for the data");
        }
        for (String key : List.of("tickTime", "initLimit", "syncLimit")) {
            if (!given.containsKey(key) && said(key + " is not set")) {
                return Optional.of(
                        path + ": " + key + " is missing; it must be " + KEYS.get(key).words());
            }
        }
        return Optional.empty();
    }

    /** Values that are allowed each for itself. */
    private Optional<String> contradiction() {
        for (String port : List.of("clientPort", "secureClientPort")) {
            String address = port + "Address";
            if (given.containsKey(address) && said(port + " is not set")) {
                return Optional.of(
                        "%s: %s=%s is not allowed without %s, a port from 1 to 65535"
                                .formatted(path, address, given.get(address), port));
            }
        }
        String provider = given.get("metricsProvider.className");
        if (provider != null && said("metrics provider class")) {
            return Optional.of(
                    notAllowed(
                            path,
                            "metricsProvider.className",
                            provider,
                            "the name of a class on the class path"));
        }
        if (said("must not be larger")) {
            return Optional.of(
                    path
                            + ": minSessionTimeout="
                            + given.getOrDefault("minSessionTimeout", "(2 ticks)")
                            + " is not allowed; it must not be larger than maxSessionTimeout="
                            + given.getOrDefault("maxSessionTimeout", "(20 ticks)"));
        }
        return Optional.empty();
    }

    private Optional<String> serverId() {
        File file = new File(given.getOrDefault("dataDir", ""), "myid");
        if (said("myid file is missing")) {
            if (Files.exists(file.toPath(), LinkOption.NOFOLLOW_LINKS)) {
                return Optional.of(ObstacleException.noFile(file.toPath()).getMessage());
            }
            return Optional.of(
                    ("%s: the file %s is missing; it must hold the number of this"
                                    + " server, one of %s")
                            .formatted(path, file, serverNumbers()));
        }
        if (said("serverid ")) {
            return Optional.of(
                    ("%s: the file %s must hold the number of this server alone, one"
                                    + " of %s; it begins with %s")
                            .formatted(path, file, serverNumbers(), firstLine(file)));
        }
        return Optional.empty();
    }

    private String serverNumbers() {
        Map<String, String> all = new TreeMap<>(given);
        try {
            if (given.containsKey(DYNAMIC_FILE)) {
                all.putAll(read(Path.of(given.get(DYNAMIC_FILE))));
            }
        } catch (IOException e) {
            return "those of server.*: " + e.getMessage();
        }
        TreeSet<Long> numbers = new TreeSet<>();
        for (String key : all.keySet()) {
            if (key.startsWith("server.")) {
                numbers.add(Long.parseLong(key.substring("server.".length())));
            }
        }
        return listed(numbers);
    }

    /** Why a file cannot be read; the reader of the configuration names the path already. */
    private static String unreadable(Path file, IOException why) {
        return why.getCause() instanceof AccessDeniedException denied
                ? ObstacleException.unreadable(file, denied).getMessage()
                : why.getMessage();
    }

    private static String firstLine(File file) {
        try {
            return SmallFile.quoted(SmallFile.lines(file.toPath()).stream().findFirst().orElse(""));
        } catch (IOException e) {
            return e.getMessage();
        }
    }

    private boolean said(String words) {
        for (Throwable each = refusal; each != null; each = each.getCause()) {
            if (each.getMessage() != null && each.getMessage().contains(words)) {
                return true;
            }
        }
        return false;
    }

    private String ownWords() {
        Throwable innermost = refusal;
        while (innermost.getCause() != null) {
            innermost = innermost.getCause();
        }
        return innermost.getMessage() == null ? innermost.toString() : innermost.getMessage();
    }

    /** Whether it is a whole number of this range, both ends included. */
    private static boolean isNumber(String text, long least, long most) {
        try {
            long number = Long.parseLong(text);
            return number >= least && number <= most;
        } catch (NumberFormatException e) {
            return false;
        }
    }

    private static Map<String, Allowed> keys() {
        Map<String, Allowed> keys = new LinkedHashMap<>();
        for (String key : List.of("clientPort", "secureClientPort", "observerMasterPort")) {
            keys.put(key, number(0, 65_535, "a port from 1 to 65535, or 0 for none"));
        }
        long most = Integer.MAX_VALUE;
        keys.put("tickTime", number(1, most, "a number of milliseconds, at least 1"));
        keys.put("initLimit", number(1, most, "a number of ticks, at least 1"));
        keys.put("syncLimit", number(1, most, "a number of ticks, at least 1"));
        for (String key : List.of("minSessionTimeout", "maxSessionTimeout")) {
            keys.put(key, number(-1, most, "a number of milliseconds"));
        }
        keys.put("electionAlg", new Allowed("3"::equals, "3"));
        for (String key :
                List.of(
                        "maxClientCnxns",
                        "clientPortListenBacklog",
                        "connectToLearnerMasterLimit",
                        "autopurge.snapRetainCount",
                        "autopurge.purgeInterval",
                        "quorum.cnxn.threads.size",
                        "multiAddress.reachabilityCheckTimeoutMs")) {
            keys.put(key, number(Integer.MIN_VALUE, most, "a whole number"));
        }
        for (String key :
                List.of(
                        "jvm.pause.info-threshold.ms",
                        "jvm.pause.warn-threshold.ms",
                        "jvm.pause.sleep.time.ms")) {
            keys.put(key, number(Long.MIN_VALUE, Long.MAX_VALUE, "a number of milliseconds"));
        }
        for (String key :
                List.of(
                        "localSessionsEnabled",
                        "localSessionsUpgradingEnabled",
                        "quorumListenOnAllIPs",
                        "syncEnabled",
                        "standaloneEnabled",
                        "reconfigEnabled",
                        "sslQuorum",
                        "portUnification",
                        "sslQuorumReloadCertFiles",
                        "quorum.auth.enableSasl",
                        "quorum.auth.serverRequireSasl",
                        "quorum.auth.learnerRequireSasl",
                        "jvm.pause.monitor",
                        "multiAddress.enabled",
                        "multiAddress.reachabilityCheckEnabled")) {
            keys.put(key, oneOf("true", "false"));
        }
        keys.put("peerType", oneOf("participant", "observer"));
        for (String key : List.of("dataDir", "dataLogDir")) {
            keys.put(
                    key,
                    new Allowed(RefusedConfiguration::isPath, "the absolute path of a folder"));
        }
        // Last, since a look-up may take long.
        for (String key : List.of("clientPortAddress", "secureClientPortAddress")) {
            keys.put(
                    key,
                    new Allowed(
                            RefusedConfiguration::hasAddress,
                            "an IP address, or a host name that has one"));
        }
        return keys;
    }

    /** ZooKeeper looks at the first two characters of a relative path. */
    private static boolean isPath(String text) {
        File file = new File(text);
        return file.isAbsolute() || file.getPath().length() >= 2;
    }

    private static boolean hasAddress(String host) {
        try {
            InetAddress.getByName(host);
            return true;
        } catch (UnknownHostException e) {
            return false;
        }
    }

    private static Allowed number(long least, long most, String words) {
        return new Allowed(text -> isNumber(text, least, most), words);
    }

    private static Allowed oneOf(String one, String other) {
        return new Allowed(
                text -> List.of(one, other).contains(text.toLowerCase(Locale.ROOT)),
                one + " or " + other);
    }

    /** The ids in order, for a message. */
    public static String listed(Set<Long> servers) {
        return servers.stream().sorted().map(String::valueOf).collect(Collectors.joining(", "));
    }
}
