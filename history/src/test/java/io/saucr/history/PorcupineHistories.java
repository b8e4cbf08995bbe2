package io.saucr.history;

import io.saucr.history.RegisterCall.CompareAndSet;
import io.saucr.history.RegisterCall.Read;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * Prints the random histories that {@code src/test/go/porcupine} judges, one a line: a JSON array
 * of calls, each {@code [process, register, invoked, answered, required, written]}; -1 answered for
 * never, -9 for nothing required or written.
 */
final class PorcupineHistories {
    static final int COUNT = 1000;
    private static final long NOTHING = -9;

    private PorcupineHistories() {}

    public static void main(String[] args) {
        System.out.print(text());
    }

    static String text() {
        return LongStream.range(0, COUNT)
                .mapToObj(seed -> line(RandomHistories.of(seed)) + "\n")
                .collect(Collectors.joining());
    }

    static String digest(String text) {
        try {
            byte[] bytes =
                    MessageDigest.getInstance("SHA-256")
                            .digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(bytes);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JVM has SHA-256", e);
        }
    }

    private static String line(History history) {
        return history.registers().stream()
                .sorted(Comparator.comparing(register -> (Long) register.key()))
                .flatMap(register -> register.operations().stream())
                .map(
                        o ->
                                LongStream.of(
                                                o.process(),
                                                (Long) o.call().key(),
                                                o.called(),
                                                o.returned() == RegisterOperation.NEVER
                                                        ? -1
                                                        : o.returned(),
                                                required(o.call()),
                                                written(o.call()))
                                        .mapToObj(Long::toString)
                                        .collect(Collectors.joining(",", "[", "]")))
                .collect(Collectors.joining(",", "[", "]"));
    }

    private static long required(RegisterCall call) {
        return call instanceof Read read
                ? (Long) read.value()
                : call instanceof CompareAndSet cas ? (Long) cas.expected() : NOTHING;
    }

    private static long written(RegisterCall call) {
        return call instanceof Read ? NOTHING : (Long) call.after(null);
    }
}
