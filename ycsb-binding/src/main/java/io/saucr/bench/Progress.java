package io.saucr.bench;

import java.io.PrintStream;
import java.time.Duration;

/**
 * A line that says what is done and how long it still takes: redrawn on a terminal, else printed
 * once for each round. Used by one thread.
 */
final class Progress {
    private static final int BAR = 20;

    private final PrintStream out;
    private final boolean terminal;
    private final int slices;
    private long firstSlice;
    private int done;
    private String step = "";

    /**
     * @param slices that the run will have at least
     */
    Progress(PrintStream out, boolean terminal, int slices) {
        this.out = out;
        this.terminal = terminal;
        this.slices = slices;
    }

    void step(String what) {
        step = what;
        if (firstSlice == 0 && what.startsWith("round")) {
            firstSlice = System.nanoTime();
        }
        if (terminal) {
            draw();
        } else if (!what.startsWith("round")) {
            out.println(what);
        }
    }

    void measured() {
        done++;
    }

    void roundEnded(int round) {
        if (!terminal) {
            out.println("round " + round + " measured, " + left());
        }
    }

    void end() {
        if (terminal) {
            out.print("\r" + " ".repeat(100) + "\r");
            out.flush();
        }
    }

    private void draw() {
        int filled = Math.min(BAR, BAR * done / slices);
        String line =
                String.format(
                        "\r[%s%s] %3d %% %-14s %-50.50s",
                        "#".repeat(filled),
                        ".".repeat(BAR - filled),
                        Math.min(100, 100 * done / slices),
                        left(),
                        step);
        out.print(line);
        out.flush();
    }

    private String left() {
        if (done == 0) {
            return "";
        }
        if (done >= slices) {
            return "more rounds";
        }
        long each = (System.nanoTime() - firstSlice) / done;
        Duration left = Duration.ofNanos(each * (slices - done));
        return left.toMinutes() > 0 ? left.toMinutes() + " min left" : left.toSeconds() + " s left";
    }
}
