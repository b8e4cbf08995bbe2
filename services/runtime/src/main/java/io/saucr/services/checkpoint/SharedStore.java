package io.saucr.services.checkpoint;

import io.saucr.services.core.standby.SegmentId;
import java.io.IOException;
import java.util.List;

/**
 * Where members share segments. Several may write at the same time, also different segments of one
 * number, as a deposed primary's last ones are (C2): so it says nothing of an order, and which of
 * them count, only the head knows (C3). A segment is safe as soon as {@link #append} returns. Where
 * that throws, it may be there or not; it may be appended again.
 */
public interface SharedStore extends SegmentStore {

    /** Nothing is left to be forced. */
    @Override
    default void force() {}

    /**
     * What is here, by number and epoch.
     *
     * @throws IOException where it could not be read
     */
    List<SegmentId> list() throws IOException;

    /**
     * Deletes a segment, where it is here: one that no head names any more, or none ever did.
     *
     * @throws IOException where it may still be here
     */
    void drop(SegmentId id) throws IOException;
}
