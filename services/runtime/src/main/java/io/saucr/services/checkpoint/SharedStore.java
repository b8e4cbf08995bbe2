package io.saucr.services.checkpoint;

import io.saucr.services.core.Birth;
import io.saucr.services.core.standby.SegmentId;
import java.io.Closeable;
import java.io.IOException;
import java.util.List;

/**
 * Where members share segments and bases of one birth. Several may write at the same time, also
 * different segments of one number, as a deposed primary's last ones are (C2): so it says nothing
 * of an order, and which of them count, only the head knows (C3). A segment is safe as soon as
 * {@link #append} returns, a base as soon as {@link #putBase} does. Where that throws, it may be
 * there or not; it may be put there again.
 */
public interface SharedStore extends SegmentStore {

    /** Opens stores. Any thread, one at a time. */
    interface Opener extends Closeable {

        /**
         * Opens that of a birth, and makes it where there is none.
         *
         * @throws IOException where that is not possible; says where, and why
         */
        SharedStore open(Birth birth) throws IOException;

        /** Where it is, for people. */
        String where();
    }

    /** Nothing is left to be forced. */
    @Override
    default void force() {}

    /**
     * Which segments are here, by number and epoch.
     *
     * @throws IOException where it could not be read
     */
    List<SegmentId> list() throws IOException;

    /**
     * As of which segments bases are here, by number and epoch.
     *
     * @throws IOException where it could not be read
     */
    List<SegmentId> bases() throws IOException;

    /**
     * Writes a base, from its first byte on.
     *
     * @throws IllegalArgumentException where it may not be put here; nothing was written
     * @throws IOException where it could not be written
     */
    void putBase(ShippedBase base) throws IOException;

    /**
     * Opens a base, all bytes of which are checked before.
     *
     * @throws MissingSegmentException where it is not here
     * @throws io.saucr.services.journal.RefusedFolderException where it is damaged, or another's
     * @throws IOException where it could not be read
     */
    ShippedBase base(SegmentId at) throws IOException;

    /**
     * Deletes a segment, where it is here: one that no head names any more, or none ever did.
     *
     * @throws IOException where it may still be here
     */
    void drop(SegmentId id) throws IOException;

    /**
     * Deletes a base, where it is here.
     *
     * @throws IOException where it may still be here
     */
    void dropBase(SegmentId at) throws IOException;

    /**
     * Deletes what was left by processes that ended while they wrote. What another process is
     * writing may fail there for it, and is tried again; what is whole is never touched.
     *
     * @throws IOException where it could not be done
     */
    void sweep() throws IOException;
}
