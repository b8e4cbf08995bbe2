package io.saucr.server.runtime;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What the key and trust stores of TLS were read to, until their files change. ZooKeeper's port on
 * Netty reads both for each connection of a client, under one lock: decrypting them takes tens of
 * milliseconds, and nobody else connects meanwhile.
 *
 * <p>A file counts as changed if its time of modification, its size, or the file that the path
 * leads to is another one. It is looked at before it is read, so a change during the reading is
 * noticed by the next call. Nothing else is shared between connections, sessions of TLS above all:
 * each handshake checks the peer's certificate. Any thread.
 */
public final class TlsStores {

    /** More than a process has in use; tests make many. */
    static final int MOST = 16;

    private static final TlsStores OF_THE_PROCESS = new TlsStores();

    /** The least recently used one first. */
    private final Map<List<Object>, Read> known =
            new LinkedHashMap<>(MOST, 0.75f, true) {
                private static final long serialVersionUID = 1;

                @Override
                protected boolean removeEldestEntry(Map.Entry<List<Object>, Read> eldest) {
                    return size() > MOST;
                }
            };

    /** A file as it was when somebody looked. */
    private record Version(Object file, FileTime modified, long size) {}

    private record Read(Version version, Object manager) {}

    /** What a call of a method that reads a store has found. */
    public static class Look {
        private final TlsStores stores;
        private final List<Object> key;
        private final Version version;

        private Look(TlsStores stores, List<Object> key, Version version) {
            this.stores = stores;
            this.key = key;
            this.version = version;
        }

        /**
         * What the method returns.
         *
         * @param read what it has read; null where it did not have to read
         */
        public Object result(Object read) {
            if (version != null && read != null) {
                stores.add(key, new Read(version, read));
            }
            return read;
        }
    }

    /** The store need not be read. */
    public static final class Known extends Look {
        private final Object manager;

        private Known(TlsStores stores, List<Object> key, Object manager) {
            super(stores, key, null);
            this.manager = manager;
        }

        @Override
        public Object result(Object read) {
            return manager;
        }
    }

    TlsStores() {}

    /**
     * Looks before a method reads a store.
     *
     * @param kind of what it makes of the store
     * @param arguments all that decides what it makes; the first one is the path
     * @return a {@link Known} if the method need not run
     */
    public static Look look(String kind, Object... arguments) {
        return OF_THE_PROCESS.find(kind, arguments);
    }

    Look find(String kind, Object... arguments) {
        Object[] key = new Object[arguments.length + 1];
        key[0] = kind;
        System.arraycopy(arguments, 0, key, 1, arguments.length);
        return find((String) arguments[0], Arrays.asList(key));
    }

    private Look find(String path, List<Object> key) {
        Version version = version(path);
        Read read;
        synchronized (known) {
            read = known.get(key);
        }
        if (version != null && read != null && read.version.equals(version)) {
            return new Known(this, key, read.manager);
        }
        return new Look(this, key, version);
    }

    private void add(List<Object> key, Read read) {
        synchronized (known) {
            known.put(key, read);
        }
    }

    int size() {
        synchronized (known) {
            return known.size();
        }
    }

    /** Null where the file cannot be looked at: who reads it says why. */
    private static Version version(String path) {
        if (path == null || path.isEmpty()) {
            return null;
        }
        try {
            BasicFileAttributes now =
                    Files.readAttributes(Path.of(path), BasicFileAttributes.class);
            return new Version(now.fileKey(), now.lastModifiedTime(), now.size());
        } catch (IOException | InvalidPathException e) {
            return null;
        }
    }
}
