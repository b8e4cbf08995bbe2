package io.saucr.services.tests.once;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.apache.jute.BinaryInputArchive;
import org.apache.zookeeper.MultiOperationRecord;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.proto.RequestHeader;

/**
 * One frame from a client to a server, behind its length: header and body. The bytes are not
 * changed.
 */
public final class Request {
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

    /** Whether it may change something; a multi that only checks does not. */
    boolean isWrite() {
        return switch (type()) {
            case OpCode.create,
                    OpCode.create2,
                    OpCode.createContainer,
                    OpCode.createTTL,
                    OpCode.delete,
                    OpCode.deleteContainer,
                    OpCode.setData ->
                    true;
            case OpCode.multi -> changesSomething();
            default -> false;
        };
    }

    private boolean changesSomething() {
        MultiOperationRecord parts = new MultiOperationRecord();
        try {
            BinaryInputArchive in = BinaryInputArchive.getArchive(new ByteArrayInputStream(frame));
            new RequestHeader().deserialize(in, "header");
            parts.deserialize(in, "parts");
        } catch (IOException e) {
            throw new UncheckedIOException("a multi that cannot be read", e);
        }
        for (Op part : parts) {
            if (part.getType() != OpCode.check) {
                return true;
            }
        }
        return false;
    }

    /** Whether this text, such as a path or data, stands in it. */
    public boolean contains(String text) {
        // One character per byte, so that nothing in the frame is taken for another thing.
        String all = new String(frame, StandardCharsets.ISO_8859_1);
        byte[] wanted = text.getBytes(StandardCharsets.UTF_8);
        return all.contains(new String(wanted, StandardCharsets.ISO_8859_1));
    }
}
