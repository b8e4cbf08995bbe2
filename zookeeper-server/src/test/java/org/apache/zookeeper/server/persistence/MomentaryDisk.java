package org.apache.zookeeper.server.persistence;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/** A disk that refuses one operation on a log file, and takes everything before and after it. */
final class MomentaryDisk implements LogFile.Opener {
    enum Operation {
        CREATE,
        WRITE,
        PAD,
        FORCE,
        CLOSE
    }

    private Operation refused;

    /** The next operation of this kind fails; a write has then written half of it. */
    synchronized void refuseNext(Operation operation) {
        refused = operation;
    }

    /** Whether what was to be refused has been. */
    synchronized boolean hasRefused() {
        return refused == null;
    }

    private synchronized boolean refuses(Operation operation) {
        if (refused != operation) {
            return false;
        }
        refused = null;
        return true;
    }

    private void check(Operation operation) throws IOException {
        if (refuses(operation)) {
            throw new IOException("No space left on device");
        }
    }

    @Override
    public LogFile create(Path path) throws IOException {
        check(Operation.CREATE);
        return new File(LogFile.create(path));
    }

    private final class File implements LogFile {
        private final LogFile real;

        File(LogFile real) {
            this.real = real;
        }

        @Override
        public void write(ByteBuffer bytes, long position) throws IOException {
            if (refuses(Operation.WRITE)) {
                int half = bytes.remaining() / 2;
                real.write(bytes.slice(bytes.position(), half), position);
                bytes.position(bytes.position() + half);
                throw new IOException("No space left on device");
            }
            real.write(bytes, position);
        }

        @Override
        public long pad(FilePadding padding, long position) throws IOException {
            check(Operation.PAD);
            return real.pad(padding, position);
        }

        @Override
        public void force() throws IOException {
            check(Operation.FORCE);
            real.force();
        }

        @Override
        public void close() throws IOException {
            real.close();
            check(Operation.CLOSE);
        }
    }
}
