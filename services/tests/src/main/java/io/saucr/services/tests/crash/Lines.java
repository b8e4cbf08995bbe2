package io.saucr.services.tests.crash;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/**
 * How a process of these tests is told what to do, and what it says to the world: lines on its
 * standard input and output. What stands in a line was seen outside. Any thread.
 */
public final class Lines {

    private Lines() {}

    /** One write, which a pipe takes as a whole: a process that is killed leaves no half line. */
    public static void say(String line) {
        byte[] bytes = (line + "\n").getBytes(StandardCharsets.UTF_8);
        System.out.write(bytes, 0, bytes.length);
        System.out.flush();
    }

    /** Gives lines to somebody until the test that started the process ends, and it with it. */
    public static void take(Consumer<String> orders) throws IOException {
        BufferedReader in =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            orders.accept(line);
        }
        Runtime.getRuntime().halt(0);
    }
}
