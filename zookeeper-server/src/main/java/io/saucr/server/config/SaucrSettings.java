package io.saucr.server.config;

import static java.util.Map.entry;

import io.saucr.core.config.HostPort;
import io.saucr.core.log.LogIdentity;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The {@code saucr.} keys of {@code zoo.cfg} ({@code docs/operate/settings.md}), parsed and
 * checked. Immutable.
 *
 * @param enabled whether this server replicates situation-aware; if not it is Apache's
 * @param heartbeatInterval how long a connection may be silent before a heartbeat is sent, 500
 *     microseconds to 1 minute
 * @param missedHeartbeatsBeforeElection silent intervals after which a follower looks for a new
 *     leader, 2 to 1,000,000
 * @param fastModeConfirmations prompt rounds in a row before the leader turns to fast, 1 to 1,000
 * @param backgroundFlushInterval how often the log is forced in fast mode, 1 millisecond to 1 hour
 * @param idleFlush time without writes after which disk and markers say "on disk", 1 millisecond to
 *     1 hour
 * @param bootId replaces the machine's boot id (R25); empty for the machine's own. Only for test
 *     beds that simulate the loss of power without a reboot: 1 to 64 letters, digits, dots, dashes
 *     and underscores
 * @param ensembleName the name of the ensemble, by which another ensemble's folder is recognised
 *     (R26): 1 to 64 letters, digits, dots, dashes and underscores; empty if it has no name
 * @param diskTimeout how long a server's own disk may be late before it leaves the lead, or its
 *     leader (R24), 1 second to 1 hour
 * @param committedLogMegabytes how much the committed log, from which learners are synchronized,
 *     may hold in memory, 1 to 65,536
 * @param slowRequestTime a request that takes at least so long is logged, 1 millisecond to 1 hour;
 *     zero if none is
 * @param adminServers host and port of other servers' AdminServers, by server id; immutable
 */
public record SaucrSettings(
        boolean enabled,
        Duration heartbeatInterval,
        int missedHeartbeatsBeforeElection,
        int fastModeConfirmations,
        Duration backgroundFlushInterval,
        Duration idleFlush,
        String bootId,
        String ensembleName,
        Duration diskTimeout,
        int committedLogMegabytes,
        Duration slowRequestTime,
        Map<Long, String> adminServers) {

    /** ZooKeeper turns an unknown key of zoo.cfg into a system property with this prefix. */
    static final String PROPERTY_PREFIX = "zookeeper.";

    private static final String ENABLED = "saucr.enabled";
    private static final String HEARTBEAT = "saucr.heartbeatInterval";
    private static final String MISSED = "saucr.missedHeartbeatsBeforeElection";
    private static final String CONFIRMATIONS = "saucr.fastModeConfirmations";
    private static final String BACKGROUND = "saucr.backgroundFlushInterval";
    private static final String IDLE = "saucr.idleFlush";
    private static final String BOOT_ID = "saucr.bootId";
    private static final String ENSEMBLE_NAME = "saucr.ensembleName";
    private static final String DISK_TIMEOUT = "saucr.diskTimeout";
    private static final String COMMITTED_LOG = "saucr.committedLogMegabytes";
    private static final String SLOW_REQUEST = "saucr.slowRequestTime";
    private static final String ADMIN_SERVERS = "saucr.adminServers";

    /** What {@link #slowRequestTime(String)} takes. */
    public static final String SLOW_REQUEST_TIMES = "1ms to 1h, for example 500ms, or off";

    private static final Map<String, String> ALLOWED =
            new TreeMap<>(
                    Map.ofEntries(
                            entry(ENABLED, "true or false"),
                            entry(HEARTBEAT, "500us to 1m, for example 50ms"),
                            entry(MISSED, "2 to 1000000"),
                            entry(CONFIRMATIONS, "1 to 1000"),
                            entry(BACKGROUND, "1ms to 1h, for example 100ms"),
                            entry(IDLE, "1ms to 1h, for example 500ms"),
                            entry(BOOT_ID, "1 to 64 letters, digits, dots, dashes and underscores"),
                            entry(
                                    ENSEMBLE_NAME,
                                    "1 to 64 letters, digits, dots, dashes and underscores"),
                            entry(DISK_TIMEOUT, "1s to 1h, for example 10s"),
                            entry(COMMITTED_LOG, "1 to 65536"),
                            entry(SLOW_REQUEST, SLOW_REQUEST_TIMES),
                            entry(
                                    ADMIN_SERVERS,
                                    "ID=HOST:PORT, separated by commas, each ID once and ports from 1"
                                            + " to 65535, for example 1=zk1:8080,2=zk2:8080")));

    private static final Pattern ADMIN_SERVER = Pattern.compile("(\\d{1,9})=(.*)");
    private static final Pattern NAME = LogIdentity.ENSEMBLE;
    private static final Pattern DURATION = Pattern.compile("(\\d{1,9})(us|ms|s|m|h)?");
    private static final Duration DEFAULT_HEARTBEAT = Duration.ofMillis(50);
    private static final Duration DEFAULT_ELECTION_SILENCE = Duration.ofSeconds(2);
    private static final int LEAST_DEFAULT_MISSED = 4;
    private static final String OFF = "off";
    private static final Duration DEFAULT_SLOW_REQUEST = Duration.ofMillis(500);
    private static final int MOST_MEGABYTES = 65_536;
    private static final long BYTES_OF_MEGABYTE = 1 << 20;
    private static final int DEFAULT_SHARE_OF_HEAP = 8;

    /**
     * A key or value with which the server must not start; the message names both and what is
     * allowed.
     */
    public static final class InvalidSettingException extends Exception {
        private static final long serialVersionUID = 1L;

        public InvalidSettingException(String message) {
            super(message);
        }
    }

    /**
     * Reads the settings that ZooKeeper put into system properties while it parsed a configuration
     * file.
     *
     * @param source what to name in an error, the file's path
     * @throws InvalidSettingException on an unknown {@code saucr.} key, one that is probably meant
     *     to be one, or a value out of range
     */
    public static SaucrSettings parse(String source, Properties systemProperties)
            throws InvalidSettingException {
        Map<String, String> given = new TreeMap<>();
        for (String property : systemProperties.stringPropertyNames()) {
            if (!property.startsWith(PROPERTY_PREFIX)) {
                continue;
            }
            String key = property.substring(PROPERTY_PREFIX.length());
            if (ALLOWED.containsKey(key)) {
                given.put(key, systemProperties.getProperty(property).trim());
            } else {
                refuseUnknown(source, key);
            }
        }
        Reader reader = new Reader(source, given);
        Duration heartbeat =
                reader.duration(
                        HEARTBEAT,
                        DEFAULT_HEARTBEAT,
                        Duration.ofNanos(500_000),
                        Duration.ofMinutes(1));
        return new SaucrSettings(
                reader.flag(ENABLED),
                heartbeat,
                reader.integer(MISSED, defaultMissed(heartbeat), 2, 1_000_000),
                reader.integer(CONFIRMATIONS, 3, 1, 1_000),
                reader.duration(
                        BACKGROUND,
                        Duration.ofMillis(100),
                        Duration.ofMillis(1),
                        Duration.ofHours(1)),
                reader.duration(
                        IDLE, Duration.ofMillis(500), Duration.ofMillis(1), Duration.ofHours(1)),
                reader.matching(BOOT_ID, NAME),
                reader.matching(ENSEMBLE_NAME, NAME),
                reader.duration(
                        DISK_TIMEOUT,
                        Duration.ofSeconds(10),
                        Duration.ofSeconds(1),
                        Duration.ofHours(1)),
                reader.integer(
                        COMMITTED_LOG,
                        defaultMegabytes(Runtime.getRuntime().maxMemory()),
                        1,
                        MOST_MEGABYTES),
                reader.slowRequestTime(given.get(SLOW_REQUEST)),
                reader.addresses(ADMIN_SERVERS));
    }

    /**
     * Parses a value of {@code saucr.slowRequestTime}.
     *
     * @return zero for off
     * @throws InvalidSettingException unless it is one of {@value #SLOW_REQUEST_TIMES}
     */
    public static Duration slowRequestTime(String text) throws InvalidSettingException {
        return new Reader("admin command", Map.of(SLOW_REQUEST, text)).slowRequestTime(text);
    }

    /** Other keys than ours are ZooKeeper's, or a plug-in's. */
    private static void refuseUnknown(String source, String key) throws InvalidSettingException {
        Optional<String> meant = Misspelling.of(key, ALLOWED.keySet());
        if (meant.isPresent() || Misspelling.isOurs(key)) {
            throw new InvalidSettingException(
                    source
                            + ": unknown key "
                            + key
                            + meant.map(right -> ", probably " + right).orElse("")
                            + "; known are "
                            + String.join(", ", ALLOWED.keySet()));
        }
    }

    /**
     * The words for a value that a file must not have.
     *
     * @param allowed what it must be
     */
    public static String notAllowed(String file, String key, String value, String allowed) {
        return file + ": " + key + "=" + value + " is not allowed; it must be " + allowed;
    }

    /** The settings that apply, as they would be written into {@code zoo.cfg}. */
    public String inForce() {
        Map<String, String> values = new LinkedHashMap<>();
        values.put(HEARTBEAT, text(heartbeatInterval));
        values.put(MISSED, Integer.toString(missedHeartbeatsBeforeElection));
        values.put(CONFIRMATIONS, Integer.toString(fastModeConfirmations));
        values.put(BACKGROUND, text(backgroundFlushInterval));
        values.put(IDLE, text(idleFlush));
        values.put(DISK_TIMEOUT, text(diskTimeout));
        values.put(COMMITTED_LOG, Integer.toString(committedLogMegabytes));
        values.put(SLOW_REQUEST, slowRequestTime.isZero() ? OFF : text(slowRequestTime));
        values.put(BOOT_ID, bootId);
        values.put(
                ADMIN_SERVERS,
                new TreeMap<>(adminServers)
                        .entrySet().stream()
                                .map(server -> server.getKey() + "=" + server.getValue())
                                .collect(Collectors.joining(",")));
        values.values().removeIf(String::isEmpty);
        return values.entrySet().stream()
                .map(value -> value.getKey() + "=" + value.getValue())
                .collect(Collectors.joining(" "));
    }

    private static String text(Duration duration) {
        long micros = duration.toNanos() / 1_000;
        if (micros % 1_000 != 0) {
            return micros + "us";
        }
        long millis = micros / 1_000;
        return millis % 1_000 != 0 ? millis + "ms" : millis / 1_000 + "s";
    }

    /**
     * How much later than an interval an answer may come: 30 milliseconds less than the interval,
     * but 20 to 200. With the defaults a silent server is noticed after 70 milliseconds. So if
     * three servers fail 50 milliseconds apart, the last one has forced its log.
     */
    public Duration tolerance() {
        long millis = Math.min(200, Math.max(20, heartbeatInterval.toMillis() - 30));
        return Duration.ofMillis(millis);
    }

    /**
     * The number of intervals in two seconds, so that a short interval alone does not cause hasty
     * elections.
     */
    private static int defaultMissed(Duration heartbeat) {
        long intervals = DEFAULT_ELECTION_SILENCE.dividedBy(heartbeat);
        return (int) Math.max(LEAST_DEFAULT_MISSED, intervals);
    }

    /** What the committed log may hold. */
    public long committedLogBytes() {
        return committedLogMegabytes * BYTES_OF_MEGABYTE;
    }

    static int defaultMegabytes(long heapBytes) {
        long share = heapBytes / DEFAULT_SHARE_OF_HEAP / BYTES_OF_MEGABYTE;
        return (int) Math.max(1, Math.min(MOST_MEGABYTES, share));
    }

    private record Reader(String source, Map<String, String> given) {
        boolean flag(String key) throws InvalidSettingException {
            String value = given.getOrDefault(key, "false");
            return switch (value) {
                case "true" -> true;
                case "false" -> false;
                default -> throw invalid(key, value);
            };
        }

        int integer(String key, int otherwise, int least, int most) throws InvalidSettingException {
            String value = given.get(key);
            if (value == null) {
                return otherwise;
            }
            try {
                int number = Integer.parseInt(value);
                if (number >= least && number <= most) {
                    return number;
                }
            } catch (NumberFormatException e) {
                throw invalid(key, value);
            }
            throw invalid(key, value);
        }

        Duration duration(String key, Duration otherwise, Duration least, Duration most)
                throws InvalidSettingException {
            String value = given.get(key);
            if (value == null) {
                return otherwise;
            }
            Matcher matcher = DURATION.matcher(value);
            if (!matcher.matches()) {
                throw invalid(key, value);
            }
            long amount = Long.parseLong(matcher.group(1));
            String unit = matcher.group(2) == null ? "ms" : matcher.group(2);
            Duration duration =
                    switch (unit) {
                        case "us" -> Duration.ofNanos(amount * 1_000);
                        case "s" -> Duration.ofSeconds(amount);
                        case "m" -> Duration.ofMinutes(amount);
                        case "h" -> Duration.ofHours(amount);
                        default -> Duration.ofMillis(amount);
                    };
            if (duration.compareTo(least) < 0 || duration.compareTo(most) > 0) {
                throw invalid(key, value);
            }
            return duration;
        }

        Duration slowRequestTime(String value) throws InvalidSettingException {
            return OFF.equals(value)
                    ? Duration.ZERO
                    : duration(
                            SLOW_REQUEST,
                            DEFAULT_SLOW_REQUEST,
                            Duration.ofMillis(1),
                            Duration.ofHours(1));
        }

        String matching(String key, Pattern allowed) throws InvalidSettingException {
            String value = given.get(key);
            if (value == null) {
                return "";
            }
            if (!allowed.matcher(value).matches()) {
                throw invalid(key, value);
            }
            return value;
        }

        Map<Long, String> addresses(String key) throws InvalidSettingException {
            String value = given.getOrDefault(key, "");
            Map<Long, String> result = new TreeMap<>();
            for (String item : value.isEmpty() ? new String[0] : value.split(",", -1)) {
                Matcher matcher = ADMIN_SERVER.matcher(item.trim());
                if (!matcher.matches()) {
                    throw invalid(key, value);
                }
                String address = address(key, value, matcher.group(2));
                if (result.put(Long.parseLong(matcher.group(1)), address) != null) {
                    throw invalid(key, value);
                }
            }
            return Map.copyOf(result);
        }

        private String address(String key, String value, String text)
                throws InvalidSettingException {
            try {
                return HostPort.parse(text, 0).toString();
            } catch (IllegalArgumentException e) {
                throw invalid(key, value);
            }
        }

        private InvalidSettingException invalid(String key, String value) {
            return new InvalidSettingException(notAllowed(source, key, value, ALLOWED.get(key)));
        }
    }
}
