package io.saucr.services.standby;

import io.saucr.services.checkpoint.BaseReceipt;
import io.saucr.services.checkpoint.MemberFolder;
import io.saucr.services.checkpoint.ShippedBase;
import io.saucr.services.members.MemberFrame;
import io.saucr.services.members.MemberLink;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A base on its way from the primary to a standby that needs more than segments. */
final class BaseTransfer {

    /** So much of it is under way at most. */
    private static final long AHEAD_BYTES = 4L << 20;

    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    /** A link that takes nothing for so long is given up. */
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(30);

    private BaseTransfer() {}

    /**
     * Sends the newest base; waits while the link is slow.
     *
     * @throws IOException where there is none, the disk fails, or the link takes nothing
     */
    static void send(MemberFolder folder, MemberLink link) throws IOException {
        try (ShippedBase base =
                folder.ship().orElseThrow(() -> new IOException("there is no base"))) {
            link.send(new MemberFrame.Base(base.at().number(), base.length(), base.digest()));
            for (; ; ) {
                ByteBuffer part = base.next(MemberFrame.BASE_PART_BYTES);
                if (!part.hasRemaining()) {
                    break;
                }
                awaitRoom(link);
                link.send(new MemberFrame.BasePart(part));
            }
            link.send(new MemberFrame.BaseEnd());
        }
    }

    private static void awaitRoom(MemberLink link) throws IOException {
        long since = System.nanoTime();
        while (link.unsentBytes() > AHEAD_BYTES) {
            if (System.nanoTime() - since > PATIENCE_NANOS
                    || Thread.currentThread().isInterrupted()) {
                throw new IOException(link.remote() + " takes nothing");
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    /** Takes a base's frames into a folder. On the store's thread. */
    static final class Receiver {

        private final boolean replaces;
        private BaseReceipt receipt;

        /**
         * Takes one base after the other.
         *
         * @param replaces whether one as of a held segment takes the place of the own state (X14)
         */
        Receiver(boolean replaces) {
            this.replaces = replaces;
        }

        /**
         * Takes the next frame.
         *
         * @return whether the base is whole, and the folder's newest
         * @throws IOException where it is refused, or the disk fails; the folder is as it was
         */
        boolean take(MemberFrame frame, MemberFolder into) throws IOException {
            if (frame instanceof MemberFrame.Base it) {
                close();
                receipt =
                        replaces && it.number() <= into.last().number()
                                ? into.receiveHeld(it.number(), it.length(), it.digest())
                                : into.receive(it.number(), it.length(), it.digest());
            } else if (receipt != null && frame instanceof MemberFrame.BasePart it) {
                receipt.part(it.bytes());
            } else if (receipt != null && frame instanceof MemberFrame.BaseEnd) {
                receipt.finish();
                close();
                return true;
            }
            return false;
        }

        /** Gives up what is not whole. */
        void close() throws IOException {
            if (receipt != null) {
                receipt.close();
                receipt = null;
            }
        }
    }
}
