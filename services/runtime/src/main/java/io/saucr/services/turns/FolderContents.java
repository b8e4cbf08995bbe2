package io.saucr.services.turns;

import io.saucr.services.core.Change;
import io.saucr.services.core.Delta;
import io.saucr.services.core.Limits;
import io.saucr.services.core.ServiceCore;
import io.saucr.services.core.Stored;
import io.saucr.services.journal.FolderReader;
import io.saucr.services.journal.Membership;
import io.saucr.services.journal.OutboxFiles;
import io.saucr.services.journal.SharedJournal;
import io.saucr.services.state.StateStore;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What a service's folder says of its channels, messages and timers, read offline and without
 * changing anything, up to the first turn that cannot be read. Applied as a start does it (K9), but
 * nothing is run and no message is read. Immutable.
 *
 * @param files the folder itself
 * @param kind whose folder it is
 * @param turn up to which turn the rest is right; 0 where nothing could be read
 * @param changes everything as of that turn; empty where nothing could be read
 * @param unread why turns behind that could not be read, apart from what is wrong with the files
 */
public record FolderContents(
        FolderReader files, Kind kind, long turn, List<Change> changes, Optional<String> unread) {

    /** A running process may change files under the eyes of the one that reads them. */
    private static final int TRIES = 5;

    /** The first byte of a turn's CBOR: an array. Records of once clients begin with less. */
    private static final int CBOR_ARRAY = 0x80;

    private static final String ONCE_SECTION = "once";

    /** Who keeps what must survive in a folder. */
    public enum Kind {
        SERVICE("service or client"),
        ONCE_CLIENT("once client"),
        PARTITIONS("journal of partitions"),
        UNKNOWN("whose is not known, as there is no turn");

        private final String text;

        Kind(String text) {
            this.text = text;
        }

        @Override
        public String toString() {
            return text;
        }
    }

    public FolderContents {
        changes = List.copyOf(changes);
    }

    /**
     * Reads a folder.
     *
     * @throws io.saucr.services.journal.RefusedFolderException where it is no service's or client's
     * @throws IOException where the folder itself cannot be listed
     */
    public static FolderContents read(Path path) throws IOException {
        FolderContents found = readOnce(path);
        for (int tries = 1; tries < TRIES && found.mayHaveMoved(); tries++) {
            found = readOnce(path);
        }
        return found;
    }

    private boolean mayHaveMoved() {
        return files.inUseBy().isPresent() && (unread.isPresent() || !files.problems().isEmpty());
    }

    private static FolderContents readOnce(Path path) throws IOException {
        FolderReader files = FolderReader.read(path, FolderContents::summary);
        return new Reading(files).read();
    }

    private static String summary(String section, InputStream content) throws IOException {
        if (StateStore.isSection(section)) {
            return StateStore.summary(section, content);
        }
        if (Recording.isSection(section)) {
            return "channels, timers, outputs";
        }
        if (OutboxFiles.isSection(section)) {
            return "files of messages that wait for peers";
        }
        if (SurvivingVersions.isSection(section)) {
            return "the version in a group";
        }
        return section.equals(ONCE_SECTION) ? "operations" : "of a release that this one is not";
    }

    /**
     * The turn as of which a base is, where this section of it says so.
     *
     * @throws IOException where the section ends before it does
     */
    public static Optional<Long> turnOf(String section, InputStream content) throws IOException {
        return Recording.isSection(section)
                ? Optional.of(Recording.turn(content))
                : Optional.empty();
    }

    /** Changes of a kind, in their order. */
    public <T extends Change> List<T> all(Class<T> kind) {
        return changes.stream().filter(kind::isInstance).map(kind::cast).toList();
    }

    /** How many messages to a peer were not acked, also those that lie in files (K13). */
    public long unacked(Change.PeerIs peer) {
        return peer.unacked().size() + inFiles(peer).map(Change.InFiles::messages).orElse(0L);
    }

    /** When the oldest of these was sent; 0 without one. */
    public long oldestMillis(Change.PeerIs peer) {
        return peer.unacked().stream()
                .map(Change.Unacked::sentMillis)
                .findFirst()
                .or(() -> inFiles(peer).map(Change.InFiles::sinceMillis))
                .orElse(0L);
    }

    private Optional<Change.InFiles> inFiles(Change.PeerIs peer) {
        return all(Change.InFiles.class).stream()
                .filter(it -> it.peer().equals(peer.peer()))
                .findFirst();
    }

    /** How many messages came back and were not consumed, also those that lie in files (K13). */
    public long returned() {
        return all(Change.ReturnIs.class).size()
                + all(Change.ReturningIs.class).stream().mapToLong(it -> it.to() - it.from()).sum();
    }

    /** Of which streams messages are needed, and behind which count. */
    private static Map<Long, Long> streams(List<Change> changes) {
        Map<Long, Long> needed = new TreeMap<>();
        long sent = 0;
        for (Change change : changes) {
            if (change instanceof Change.PeerIs it) {
                sent = it.sent();
            } else if (change instanceof Change.InFiles it) {
                needed.put(it.stream(), sent - it.messages());
            } else if (change instanceof Change.ReturningIs it) {
                needed.merge(it.stream(), it.from(), Math::min);
            }
        }
        return needed;
    }

    /** One reading. */
    private static final class Reading {

        private final FolderReader files;
        private final List<String> unread = new ArrayList<>();
        private Kind kind = Kind.UNKNOWN;
        private ServiceCore core;

        /** Of a member of a group, whose newest turns may have been undone (D10). */
        private final Optional<SurvivingVersions> survived;

        Reading(FolderReader files) {
            this.files = files;
            survived =
                    files.membership()
                            .filter(Membership::in)
                            .map(it -> new SurvivingVersions(it, files.baseTurn()));
        }

        FolderContents read() {
            if (files.name().filter(SharedJournal::isName).isPresent()) {
                kind = Kind.PARTITIONS;
            }
            if (files.name().isEmpty() || files.incarnations().isEmpty()) {
                return new FolderContents(files, kind, 0, List.of(), Optional.empty());
            }
            try {
                core = new ServiceCore(files.name().get(), files.incarnations(), Limits.standard());
                files.sections(this::section);
                files.turns(this::turn);
                if (survived.isPresent()) {
                    files.turns(SurvivingVersions.reading(survived.get().layers(), this::recover));
                }
            } catch (IOException | RuntimeException e) {
                unread.add(
                        e.getMessage() == null || !(e instanceof IOException)
                                ? e.toString()
                                : e.getMessage());
            }
            Optional<String> why = unread.stream().findFirst();
            if (core == null || kind != Kind.SERVICE) {
                return new FolderContents(files, kind, 0, List.of(), why);
            }
            Delta all = core.snapshot();
            if (why.isEmpty() && files.starts()) {
                files.outbox(streams(all.changes()));
            }
            return new FolderContents(files, kind, all.turn(), all.changes(), why);
        }

        private void section(String name, InputStream content) throws IOException {
            if (Recording.isSection(name)) {
                kind = Kind.SERVICE;
                core.recover(DeltaFormat.read(turnOf(content), content));
            } else if (name.equals(ONCE_SECTION)) {
                kind = Kind.ONCE_CLIENT;
            } else if (survived.isPresent() && SurvivingVersions.isSection(name)) {
                survived.get().base(content);
            }
        }

        private long turnOf(InputStream content) throws IOException {
            byte[] turn = content.readNBytes(Long.BYTES);
            if (turn.length < Long.BYTES) {
                throw new IOException("the base's section ends in its first 8 bytes");
            }
            return ByteBuffer.wrap(turn).getLong();
        }

        private void turn(long turn, ByteBuffer delta) throws IOException {
            if (kind == Kind.UNKNOWN) {
                kind =
                        delta.hasRemaining()
                                        && Byte.toUnsignedInt(delta.get(delta.position()))
                                                < CBOR_ARRAY
                                ? Kind.ONCE_CLIENT
                                : Kind.SERVICE;
            }
            if (survived.isPresent()) {
                survived.get().record(turn, delta);
            } else if (kind == Kind.SERVICE) {
                recover(turn, delta);
            }
        }

        private void recover(long turn, ByteBuffer delta) throws IOException {
            core.recover(DeltaFormat.read(turn, delta));
            // Who only looks keeps no messages beyond their windows.
            List<Stored> unused = core.stored();
        }
    }
}
