package io.saucr.services.journal;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.Semaphore;

/**
 * Turns a second, forces a second and the time of a turn that waits for its force, beside plain
 * appends to a preallocated file with one force each. Arguments: a folder on the disk to be
 * measured, seconds per figure, bytes per delta. Prints; asserts nothing.
 */
final class JournalFigures {

    private static final int WINDOW = 256;

    private JournalFigures() {}

    public static void main(String[] args) throws Exception {
        Path folder = Path.of(args[0]);
        Duration each = Duration.ofSeconds(args.length > 1 ? Long.parseLong(args[1]) : 3);
        int bytes = args.length > 2 ? Integer.parseInt(args[2]) : 200;
        plain(folder.resolve("plain"), each, bytes);
        int number = 0;
        for (ForceMode force :
                new ForceMode[] {
                    ForceMode.always(), ForceMode.group(Duration.ofMillis(1)), ForceMode.os()
                }) {
            for (int window : new int[] {1, WINDOW}) {
                journal(folder.resolve("service" + ++number), force, window, each, bytes);
            }
        }
    }

    private static void plain(Path file, Duration each, int bytes) throws IOException {
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.allocate(JournalOptions.SEGMENT_BYTES), 0);
            channel.force(true);
            ByteBuffer record = ByteBuffer.allocateDirect(bytes + 32);
            long end = System.nanoTime() + each.toNanos();
            long turns = 0;
            while (System.nanoTime() < end) {
                channel.write(
                        record.clear(),
                        turns++
                                * record.capacity()
                                % (JournalOptions.SEGMENT_BYTES - record.capacity()));
                channel.force(false);
            }
            print("plain append and force", 1, each, turns, turns, 0);
        }
    }

    private static void journal(Path path, ForceMode force, int window, Duration each, int bytes)
            throws Exception {
        Semaphore free = new Semaphore(window);
        try (ServiceFolder folder = ServiceFolder.open(path, "figures", new SecureRandom())) {
            long before = System.nanoTime();
            Recovered recovered = folder.recover(new JournalOptions(force));
            double start = (System.nanoTime() - before) / 1e6;
            JournalListener listener =
                    new JournalListener() {
                        private long last;

                        @Override
                        public void forced(long turn) {
                            free.release((int) (turn - last));
                            last = turn;
                        }

                        @Override
                        public void failed(IOException cause) {
                            throw new AssertionError(cause);
                        }
                    };
            try (Journal journal = recovered.journal(listener)) {
                ByteBuffer delta = ByteBuffer.allocate(bytes);
                long end = System.nanoTime() + each.toNanos();
                long turn = 0;
                while (System.nanoTime() < end) {
                    free.acquireUninterruptibly();
                    journal.append(++turn, delta);
                    if (turn % 100_000 == 0) {
                        recovered.base().write(journal.forced(), writer -> {});
                        journal.folded(recovered.base().turn());
                    }
                }
                print(force.toString(), window, each, turn, journal.forces(), start);
            }
        }
    }

    private static void print(
            String what, int window, Duration each, long turns, long forces, double startMillis) {
        double seconds = each.toNanos() / 1e9;
        System.out.printf(
                Locale.ROOT,
                "%-24s window %3d: %8.0f turns/s, %7.0f forces/s, %8.1f us a turn, start %.0f ms%n",
                what,
                window,
                turns / seconds,
                forces / seconds,
                seconds * 1e6 * window / turns,
                startMillis);
    }
}
