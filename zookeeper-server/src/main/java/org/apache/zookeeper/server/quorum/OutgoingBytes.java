package org.apache.zookeeper.server.quorum;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.apache.zookeeper.server.Encoder;

/**
 * What a {@link PeerSocket} is to send: first it is collected, by several threads under one lock;
 * under the same lock the thread that writes takes all of it ({@link #take}), and writes what it
 * has taken without the lock. Small pieces are copied into one array, large values stay where they
 * are.
 */
final class OutgoingBytes implements Encoder.Sink {

    private final int mostKeptBytes;
    private final int callBytes;

    // Collected; under the lock.
    private byte[] collected = {};
    private int size;
    private final List<Shared> shared = new ArrayList<>();
    private long sharedBytes;

    // Taken; of the thread that writes.
    private byte[] taken = {};
    private ByteBuffer writing = ByteBuffer.wrap(taken);
    private final Deque<ByteBuffer> following = new ArrayDeque<>();

    /** A value that is not copied, and how much of the copied bytes comes before it. */
    @SuppressWarnings("ArrayRecordComponent") // written once, never compared
    private record Shared(int behind, byte[] value) {}

    /**
     * @param mostKeptBytes a larger array is not used again
     * @param callBytes the most that goes into one system call
     */
    OutgoingBytes(int mostKeptBytes, int callBytes) {
        this.mostKeptBytes = mostKeptBytes;
        this.callBytes = callBytes;
    }

    /** How many bytes are collected and not taken. Under the lock. */
    long collected() {
        return size + sharedBytes;
    }

    /** Under the lock. */
    @Override
    public void copy(byte[] from, int offset, int length) {
        if (size + length > collected.length) {
            int capacity = Math.max(size + length, 2 * collected.length);
            byte[] larger = new byte[capacity];
            System.arraycopy(collected, 0, larger, 0, size);
            collected = larger;
        }
        System.arraycopy(from, offset, collected, size, length);
        size += length;
    }

    /** Under the lock. The value must not change any more. */
    @Override
    public void share(byte[] value) {
        shared.add(new Shared(size, value));
        sharedBytes += value.length;
    }

    /**
     * Takes what was collected, once nothing {@link #isLeft} of what was taken before. The thread
     * that writes, under the lock.
     *
     * @return whether there was something
     */
    boolean take() {
        if (size == 0 && shared.isEmpty()) {
            return false;
        }
        byte[] old = taken;
        taken = collected;
        collected = old.length > mostKeptBytes ? new byte[0] : old;
        int done = 0;
        for (int i = 0; i < shared.size(); i++) {
            Shared each = shared.get(i);
            following.add(ByteBuffer.wrap(taken, done, each.behind() - done));
            following.add(ByteBuffer.wrap(each.value()));
            done = each.behind();
        }
        shared.clear();
        sharedBytes = 0;
        following.add(ByteBuffer.wrap(taken, done, size - done));
        writing = following.remove();
        size = 0;
        return true;
    }

    /** Whether something of what was taken is not written yet. The thread that writes. */
    boolean isLeft() {
        while (!writing.hasRemaining() && !following.isEmpty()) {
            writing = following.remove();
        }
        return writing.hasRemaining();
    }

    /** What is to be written next; empty where nothing is left. The thread that writes. */
    ByteBuffer next() {
        isLeft();
        return writing;
    }

    /** Writes as much as the channel takes at once. The thread that writes. */
    void writeTo(SocketChannel channel) throws IOException {
        while (isLeft()) {
            long count =
                    following.isEmpty() || writing.remaining() >= callBytes
                            ? writeOne(channel)
                            : writeSeveral(channel);
            if (count == 0) {
                return;
            }
        }
    }

    private int writeOne(SocketChannel channel) throws IOException {
        int end = writing.limit();
        writing.limit(Math.min(end, writing.position() + callBytes));
        try {
            return channel.write(writing);
        } finally {
            writing.limit(end);
        }
    }

    /** What stands before a large value leaves together with its beginning. */
    private long writeSeveral(SocketChannel channel) throws IOException {
        ByteBuffer next = following.element();
        int end = next.limit();
        next.limit(Math.min(end, next.position() + callBytes - writing.remaining()));
        try {
            return channel.write(new ByteBuffer[] {writing, next});
        } finally {
            next.limit(end);
        }
    }
}
