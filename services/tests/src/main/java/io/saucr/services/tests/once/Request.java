package io.saucr.services.tests.once;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.apache.zookeeper.ZooDefs.OpCode;

/**
 * One frame from a client to a server, behind its length: header and body. The bytes are not
 * changed.
 */
final class Request {
    private final byte[] frame;

    Request(byte[] frame) {
        this.frame = frame;
    }

    byte[] frame() {
        return frame;
    }

    int xid() {
        return ByteBuffer.wrap(frame).getInt();
    }

    int type() {
        return ByteBuffer.wrap(frame).getInt(Integer.BYTES);
    }

    boolean isWrite() {
        return switch (type()) {
            case OpCode.create,
                    OpCode.create2,
                    OpCode.createContainer,
                    OpCode.createTTL,
                    OpCode.delete,
                    OpCode.deleteContainer,
                    OpCode.setData,
                    OpCode.multi ->
                    true;
            default -> false;
        };
    }

    /** Whether this text, such as a path or data, stands in it. */
    boolean contains(String text) {
        // One character per byte, so that nothing in the frame is taken for another thing.
        String all = new String(frame, StandardCharsets.ISO_8859_1);
        byte[] wanted = text.getBytes(StandardCharsets.UTF_8);
        return all.contains(new String(wanted, StandardCharsets.ISO_8859_1));
    }
}
