package io.saucr.services.core.replay;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * CRC32C of all that one run of a handler did: its events with the versions of what they acquired,
 * its choices, and the bytes that it stored and sent (X14). It continues behind a barrier. One
 * thread at a time.
 */
public final class HandlerHash {

    private final CRC32C crc = new CRC32C();
    private final ByteBuffer buffer = ByteBuffer.allocate(16);

    /** Adds bytes that the handler stored or sent. */
    public void saw(byte[] bytes) {
        crc.update(buffer.clear().putInt(bytes.length).flip());
        crc.update(bytes, 0, bytes.length);
    }

    void event(LaneEvent event, int choice) {
        Resource resource = event.resource();
        buffer.clear().putInt(event.kind().code()).putInt(choice);
        if (resource != null) {
            buffer.putInt(resource.number());
            buffer.putInt(event.acquires(choice) ? resource.version() : 0);
        }
        crc.update(buffer.flip());
    }

    void killed(int choice) {
        crc.update(buffer.clear().putInt(choice).flip());
    }

    int value() {
        return (int) crc.getValue();
    }
}
