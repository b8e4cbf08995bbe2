package io.saucr.services.ensemble;

import io.saucr.services.core.head.Head;
import java.util.function.Function;

/**
 * How a head is written in its znode.
 *
 * @param <H> what it says
 * @param encode the znode's content
 * @param decode reads it
 */
record HeadText<H>(Function<H, byte[]> encode, Decoding<H> decode) {

    /** Reads what was written. */
    interface Decoding<H> {
        H decode(byte[] content) throws Head.UnreadableHeadException;
    }
}
