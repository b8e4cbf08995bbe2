package io.saucr.services.replay;

import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Methods of the JDK whose effect or result is another one where a handler is replayed. */
final class Unrepeatable {

    private static final String TIME = ": take turn.nowMillis()";
    private static final String RANDOM = ": take turn.random()";
    private static final String LOCKS = ", which is not recorded: take LaneState.lock";
    private static final String THREADS = ": work of another thread has no place in the trace";
    private static final String IO = ": what is outside of the service differs by member";
    private static final String HERE = ": it differs by machine";

    /** Single methods, by class and name. */
    private static final Map<String, String> METHODS =
            Map.ofEntries(
                    Map.entry("java/lang/System.nanoTime", TIME),
                    Map.entry("java/lang/System.currentTimeMillis", TIME),
                    Map.entry("java/time/Instant.now", TIME),
                    Map.entry("java/time/LocalDate.now", TIME),
                    Map.entry("java/time/LocalTime.now", TIME),
                    Map.entry("java/time/LocalDateTime.now", TIME),
                    Map.entry("java/time/OffsetDateTime.now", TIME),
                    Map.entry("java/time/ZonedDateTime.now", TIME),
                    Map.entry("java/time/Year.now", TIME),
                    Map.entry("java/time/YearMonth.now", TIME),
                    Map.entry("java/time/Clock.systemUTC", TIME),
                    Map.entry("java/time/Clock.systemDefaultZone", TIME),
                    Map.entry("java/time/Clock.system", TIME),
                    Map.entry("java/util/Calendar.getInstance", TIME),
                    Map.entry("java/lang/Math.random", RANDOM),
                    Map.entry("java/util/UUID.randomUUID", RANDOM),
                    Map.entry("java/util/concurrent/ThreadLocalRandom.current", RANDOM),
                    Map.entry("java/lang/System.identityHashCode", HERE),
                    Map.entry("java/lang/System.getenv", HERE),
                    Map.entry("java/lang/System.getProperty", HERE),
                    Map.entry("java/util/Locale.getDefault", HERE),
                    Map.entry("java/util/TimeZone.getDefault", HERE),
                    Map.entry("java/time/ZoneId.systemDefault", HERE),
                    Map.entry("java/lang/System.exit", IO),
                    Map.entry("java/lang/Runtime.exec", IO),
                    Map.entry("java/lang/Thread.<init>", THREADS),
                    Map.entry("java/lang/Thread.start", THREADS),
                    Map.entry("java/util/Timer.<init>", THREADS),
                    Map.entry("java/util/Collection.parallelStream", THREADS),
                    Map.entry("java/util/List.parallelStream", THREADS),
                    Map.entry("java/util/Set.parallelStream", THREADS),
                    Map.entry("java/util/stream/Stream.parallel", THREADS),
                    Map.entry("java/util/stream/IntStream.parallel", THREADS),
                    Map.entry("java/util/stream/LongStream.parallel", THREADS),
                    Map.entry("java/util/stream/DoubleStream.parallel", THREADS));

    /** Of these without parameters: with a seed they are the same everywhere. */
    private static final Map<String, String> WITHOUT_SEED =
            Map.of(
                    "java/util/Random.<init>", RANDOM,
                    "java/util/SplittableRandom.<init>", RANDOM,
                    "java/util/Date.<init>", TIME,
                    "java/lang/Object.wait", LOCKS,
                    "java/lang/Object.notify", LOCKS,
                    "java/lang/Object.notifyAll", LOCKS);

    /** All that they do. */
    private static final Map<String, String> CLASSES =
            Map.ofEntries(
                    Map.entry("java/security/SecureRandom", RANDOM),
                    Map.entry("java/util/concurrent/Executors", THREADS),
                    Map.entry("java/util/concurrent/ForkJoinPool", THREADS),
                    Map.entry("java/util/concurrent/locks/ReentrantLock", LOCKS),
                    Map.entry("java/util/concurrent/locks/ReentrantReadWriteLock", LOCKS),
                    Map.entry("java/util/concurrent/locks/StampedLock", LOCKS),
                    Map.entry("java/util/concurrent/locks/LockSupport", LOCKS),
                    Map.entry("java/util/concurrent/Semaphore", LOCKS),
                    Map.entry("java/nio/file/Files", IO),
                    Map.entry("java/io/File", IO),
                    Map.entry("java/io/FileInputStream", IO),
                    Map.entry("java/io/FileOutputStream", IO),
                    Map.entry("java/io/FileReader", IO),
                    Map.entry("java/io/FileWriter", IO),
                    Map.entry("java/io/RandomAccessFile", IO),
                    Map.entry("java/lang/ProcessBuilder", IO));

    private static final Set<String> ASYNCHRONOUS = Set.of("runAsync", "supplyAsync");

    private Unrepeatable() {}

    /**
     * Why a call can not be replayed, for people; empty if it can, as far as is known.
     *
     * @param owner internal name of the class, as {@code java/lang/System}
     */
    static Optional<String> problem(String owner, String name, String descriptor) {
        String method = owner + "." + name;
        String why = METHODS.get(method);
        if (why == null && descriptor.startsWith("()")) {
            why = WITHOUT_SEED.get(method);
        }
        if (why == null) {
            why = CLASSES.get(owner);
        }
        if (why == null && owner.startsWith("java/net/") && !owner.equals("java/net/URI")) {
            why = IO;
        }
        if (why == null && owner.startsWith("java/util/concurrent/atomic/")) {
            why = ", which is not recorded: take a LaneMap";
        }
        if (why == null
                && owner.equals("java/util/concurrent/CompletableFuture")
                && (ASYNCHRONOUS.contains(name) || name.endsWith("Async"))) {
            why = THREADS;
        }
        if (why == null) {
            return Optional.empty();
        }
        String type = owner.substring(owner.lastIndexOf('/') + 1);
        return Optional.of(
                (name.equals("<init>") ? "makes a " + type : "calls " + type + "." + name + "()")
                        + why);
    }
}
