package io.saucr.bench.measure;

import java.io.PrintStream;
import java.time.Duration;

/**
 * A line that says what is done and how long it still takes: redrawn on a terminal, else printed
 * now and then. Used by one thread.
 */
public final class Progress {
    private static final int BAR = 20;
    private static final int LINE = 100;

    private final PrintStream out;
    private final boolean terminal;
    private final int total;
    private long firstStep;
    private int doneBefore;
    private int done;
    private String step = "";

    private Progress(PrintStream out, boolean terminal, int total) {
        this.out = out;
        this.terminal = terminal;
        this.total = total;
    }

    /**
     * On standard error.
     *
     * @param total measurements that the run will have at least
     */
    public static Progress of(int total) {
        return new Progress(System.err, Boolean.getBoolean("saucr.bench.terminal"), total);
    }

    /** What is done now; a step that begins with "round" is a measurement. */
    public void step(String what) {
        step = what;
        boolean measurement = what.startsWith("round");
        if (measurement && firstStep == 0) {
            firstStep = System.nanoTime();
            doneBefore = done;
        }
        if (terminal) {
            draw();
        } else if (!measurement) {
            out.println(what);
        }
    }

    /** One measurement is done, now or in an earlier part of the run. */
    public void done() {
        done++;
    }

    /** A remark; where no line is redrawn, it is printed with the time left. */
    public void note(String what) {
        if (!terminal) {
            out.println(what + ", " + left());
        }
    }

    /** Removes the line. */
    public void end() {
        if (terminal) {
            out.print("\r" + " ".repeat(LINE) + "\r");
            out.flush();
        }
    }

    private void draw() {
        int filled = Math.min(BAR, BAR * done / total);
        String line =
                String.format(
                        "\r[%s%s] %3d %% %-14s %-60.60s",
                        "#".repeat(filled),
                        ".".repeat(BAR - filled),
                        Math.min(100, 100 * done / total),
                        left(),
                        step);
        out.print(line);
        out.flush();
    }

    private String left() {
        if (done == doneBefore) {
            return "";
        }
        if (done >= total) {
            return "nothing left";
        }
        long each = (System.nanoTime() - firstStep) / (done - doneBefore);
        Duration left = Duration.ofNanos(each * (total - done));
        return left.toMinutes() > 0 ? left.toMinutes() + " min left" : left.toSeconds() + " s left";
    }
}
