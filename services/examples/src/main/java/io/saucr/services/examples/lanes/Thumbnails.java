package io.saucr.services.examples.lanes;

import io.saucr.services.Asks;
import io.saucr.services.Bytes;
import io.saucr.services.replay.LaneHandlers;
import io.saucr.services.replay.LaneMap;
import io.saucr.services.replay.LaneService;
import io.saucr.services.replay.LaneState;
import java.util.concurrent.locks.Lock;

/**
 * Makes thumbnails of grey images, and keeps them. The work is done with no lock held, in parallel;
 * two totals that belong together are changed under one lock.
 */
public final class Thumbnails implements LaneService {

    /** Width and height of a thumbnail at most, in pixels. */
    public static final int MOST_PIXELS = 64;

    private static final int LARGEST_SIDE = 4096;
    private static final int LONGEST_NAME = 200;
    private static final String IMAGES = "images";
    private static final String BYTES = "bytes";

    /**
     * Makes and keeps a thumbnail, in place of the one of that name.
     *
     * @param name 1 to 200 characters
     * @param width from 1 to 4096 pixels, as {@code height}
     * @param pixels a byte each, row by row
     */
    public record Render(String name, int width, int height, Bytes pixels) implements Asks<Image> {
        public Render {
            if (name == null || name.isEmpty() || name.length() > LONGEST_NAME) {
                throw new IllegalArgumentException(
                        "the name of an image has 1 to " + LONGEST_NAME + " characters");
            }
            check("width", width);
            check("height", height);
            if (pixels == null || pixels.size() != width * height) {
                throw new IllegalArgumentException(
                        "an image of %d by %d pixels has %d bytes, not %s"
                                .formatted(
                                        width,
                                        height,
                                        width * height,
                                        pixels == null ? "null" : pixels.size()));
            }
        }

        private static void check(String side, int pixels) {
            if (pixels < 1 || pixels > LARGEST_SIDE) {
                throw new IllegalArgumentException(
                        "the %s of an image is 1 to %d pixels, not %d"
                                .formatted(side, LARGEST_SIDE, pixels));
            }
        }
    }

    /** Asks for a thumbnail. */
    public record Find(String name) implements Asks<Image> {}

    /** Asks how many thumbnails there are. */
    public record Count() implements Asks<Totals> {}

    /** A thumbnail; without pixels if there is none. */
    public record Image(int width, int height, Bytes pixels) {}

    /**
     * What is kept.
     *
     * @param images how many
     * @param bytes of their pixels
     */
    public record Totals(long images, long bytes) {}

    private static final Image NONE = new Image(0, 0, Bytes.of());

    private final LaneMap<String, Image> images;
    private final LaneMap<String, Long> totals;
    private final Lock accounting;

    /** Declares the state. */
    public Thumbnails(LaneState state) {
        images = state.map("images", String.class, Image.class);
        totals = state.map("totals", String.class, Long.class, 1);
        accounting = state.lock("accounting");
    }

    @Override
    public void handlers(LaneHandlers on) {
        on.message(
                Render.class,
                (render, turn) -> {
                    Image image = scale(render.width(), render.height(), render.pixels());
                    keep(render.name(), image);
                    return image;
                });
        on.message(Find.class, (find, turn) -> images.getOrDefault(find.name(), NONE));
        on.message(Count.class, (count, turn) -> count());
    }

    private void keep(String name, Image image) {
        accounting.lock();
        try {
            Image before = images.get(name);
            images.put(name, image);
            totals.merge(IMAGES, before == null ? 1L : 0L, Long::sum);
            long removed = before == null ? 0 : before.pixels().size();
            totals.merge(BYTES, image.pixels().size() - removed, Long::sum);
        } finally {
            accounting.unlock();
        }
    }

    private Totals count() {
        accounting.lock();
        try {
            return new Totals(totals.getOrDefault(IMAGES, 0L), totals.getOrDefault(BYTES, 0L));
        } finally {
            accounting.unlock();
        }
    }

    /** An image of at most 64 by 64 pixels, each the mean of a square of the image. */
    static Image scale(int width, int height, Bytes pixels) {
        int square = Math.max(1, -Math.floorDiv(-Math.max(width, height), MOST_PIXELS));
        int columns = -Math.floorDiv(-width, square);
        int rows = -Math.floorDiv(-height, square);
        byte[] scaled = new byte[columns * rows];
        for (int row = 0; row < rows; row++) {
            for (int column = 0; column < columns; column++) {
                scaled[row * columns + column] =
                        mean(width, height, pixels, column * square, row * square, square);
            }
        }
        return new Image(columns, rows, Bytes.of(scaled));
    }

    private static byte mean(int width, int height, Bytes pixels, int left, int top, int square) {
        long sum = 0;
        int count = 0;
        for (int y = top; y < Math.min(height, top + square); y++) {
            for (int x = left; x < Math.min(width, left + square); x++) {
                sum += pixels.get(y * width + x) & 0xff;
                count++;
            }
        }
        return (byte) (sum / count);
    }
}
