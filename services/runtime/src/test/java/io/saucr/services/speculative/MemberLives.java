package io.saucr.services.speculative;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.saucr.services.core.Body;
import io.saucr.services.core.Change;
import io.saucr.services.core.Delta;
import io.saucr.services.core.speculation.Decision;
import io.saucr.services.core.speculation.VersionRecord;
import io.saucr.services.core.speculation.VersionRecord.Bounded;
import io.saucr.services.core.speculation.VersionRecord.Passed;
import io.saucr.services.core.speculation.VersionRecord.Sealed;
import io.saucr.services.core.speculation.VersionVector;
import io.saucr.services.core.speculation.Versions;
import io.saucr.services.core.speculation.Vertex;
import io.saucr.services.journal.Base;
import io.saucr.services.journal.DeadJournalException;
import io.saucr.services.journal.ForceMode;
import io.saucr.services.journal.Journal;
import io.saucr.services.journal.JournalListener;
import io.saucr.services.journal.JournalOptions;
import io.saucr.services.journal.Membership;
import io.saucr.services.journal.Recovered;
import io.saucr.services.journal.RefusedFolderException;
import io.saucr.services.journal.ServiceFolder;
import io.saucr.services.journal.SimulatedDisk;
import io.saucr.services.state.Changes;
import io.saucr.services.turns.DeltaFormat;
import io.saucr.services.turns.SurvivingVersions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.Consumer;

/**
 * The folder of one member through many processes. Each seals versions, passes to worlds, writes
 * bases, leaves the group or comes back, and dies of the disk or of nothing. What is read back has
 * to be what some records in a row lead to: all that were reported as synced, and none that were
 * not appended (K9, D10). One thread.
 */
final class MemberLives {

    static final Path FOLDER = Path.of("/simulated/hotels");
    static final String GROUP = "/groups/travel";

    private static final int SEGMENT_BYTES = 4096;
    private static final SecureRandom NONCES = new SecureRandom();

    /**
     * A record of versions; or a turn outside the group; or, where nothing is said, that the member
     * left, which gives the newest turn another number.
     */
    private record Entry(Optional<VersionRecord> record, long turn, String said) {}

    private record Layer(long version, long turn, String said) {}

    /** What some records in a row lead to. */
    private record Outcome(long world, List<Layer> layers) {

        static Outcome of(List<Entry> entries) {
            long world = 1;
            List<Layer> layers = new ArrayList<>(List.of(new Layer(0, 0, "")));
            for (Entry each : entries) {
                VersionRecord record = each.record().orElse(null);
                Layer last = layers.get(layers.size() - 1);
                if (record instanceof Passed passed) {
                    world = passed.world();
                    layers.removeIf(it -> it.version() > passed.kept());
                } else if (record instanceof Sealed sealed) {
                    layers.add(new Layer(sealed.version(), each.turn(), each.said()));
                } else if (!each.said().isEmpty()) {
                    layers.add(new Layer(last.version(), each.turn(), each.said()));
                } else if (record == null) {
                    // It left. A note says no more than what was final already.
                    layers.set(
                            layers.size() - 1, new Layer(last.version(), each.turn(), last.said()));
                }
            }
            return new Outcome(world, layers);
        }

        Layer last() {
            return layers.get(layers.size() - 1);
        }

        /** What turns up to a version said. */
        List<String> said(long upTo) {
            return layers.stream()
                    .filter(it -> it.version() <= upTo && !it.said().isEmpty())
                    .map(Layer::said)
                    .toList();
        }

        /** As a process finds it. */
        Found found() {
            return new Found(world, last().version(), last().turn(), said(Long.MAX_VALUE));
        }
    }

    /** What a process finds. */
    private record Found(long world, long newest, long turn, List<String> said) {}

    final SimulatedDisk disk;
    private final Random random;
    private final List<Entry> entries = new ArrayList<>();
    private int synced;
    private int life;
    private int texts;
    boolean diedOfTheDisk;
    int drops;
    int leaves;
    int folds;
    int notes;

    MemberLives(long seed) {
        disk = new SimulatedDisk(seed);
        random = new Random(~seed);
    }

    /** Finds which records are there, and forgets the others. */
    private void found(Found what) {
        for (int count = entries.size(); count >= synced; count--) {
            if (Outcome.of(entries.subList(0, count)).found().equals(what)) {
                entries.subList(count, entries.size()).clear();
                synced = count;
                return;
            }
        }
        throw new AssertionError(
                "life "
                        + life
                        + " read "
                        + what
                        + ", and "
                        + synced
                        + " of "
                        + entries
                        + " are on disk");
    }

    // ---- lives

    /** One process: of a member, or, where the folder is no member's now, of either kind. */
    void live(int steps) {
        life++;
        diedOfTheDisk = false;
        try {
            if (random.nextInt(3) == 0 && isOutside()) {
                outside();
            } else {
                member(steps);
            }
        } catch (RefusedFolderException e) {
            throw new AssertionError("life " + life + ": " + e.getMessage(), e);
        } catch (IOException | DeadJournalException e) {
            diedOfTheDisk = true;
        }
    }

    /** Whether local() may use the folder; what keeps it from that has to be the membership. */
    private boolean isOutside() throws IOException {
        try (ServiceFolder folder = ServiceFolder.open(disk, FOLDER, "hotels", NONCES)) {
            return folder.membership().filter(Membership::in).isEmpty();
        } catch (RefusedFolderException e) {
            if (!e.getMessage().contains(GROUP)) {
                throw e;
            }
            return false;
        }
    }

    private static JournalOptions options() {
        return new JournalOptions(ForceMode.always(), SEGMENT_BYTES);
    }

    private void outside() throws IOException {
        try (ServiceFolder folder = ServiceFolder.open(disk, FOLDER, "hotels", NONCES)) {
            Recovered recovered = folder.recover(options());
            List<String> said = new ArrayList<>();
            recovered.sections(
                    (name, content) -> {
                        if (!SurvivingVersions.isSection(name)) {
                            said.add(new String(content.readAllBytes(), UTF_8));
                        }
                    });
            recovered.turns((turn, bytes) -> said.add(text(turn, bytes)));
            // Such a process knows nothing of versions.
            Found before = Outcome.of(entries).found();
            found(new Found(before.world(), before.newest(), recovered.lastTurn(), said));
            Heard heard = new Heard();
            Journal journal = recovered.journal(heard);
            try {
                for (int more = random.nextInt(4); more > 0; more--) {
                    long turn = journal.appended() + 1;
                    Entry entry = new Entry(Optional.empty(), turn, text());
                    entries.add(entry);
                    journal.append(turn, ByteBuffer.wrap(bytes(turn, entry.said())));
                }
                if (heard.await(entries.size())
                        && random.nextBoolean()
                        && journal.forced() > recovered.base().turn()) {
                    recovered
                            .base()
                            .write(journal.forced(), texts(Outcome.of(entries).found().said()));
                    journal.folded(journal.forced());
                    folds++;
                }
            } finally {
                journal.close();
            }
            diedOfTheDisk = heard.failures > 0;
        }
    }

    private void member(int steps) throws IOException {
        try (ServiceFolder folder =
                ServiceFolder.openMember(disk, FOLDER, "hotels", GROUP, NONCES)) {
            VersionLog log = VersionLog.open(folder, GROUP, options());
            Heard heard = new Heard();
            try {
                Versions versions = log.versions(0);
                List<String> said = new ArrayList<>();
                log.sections((name, content) -> said.add(text(content.readAllBytes())));
                int folded = said.size();
                log.turns((turn, bytes) -> said.add(text(turn, bytes)));
                found(new Found(versions.world(), versions.newest(), log.lastTurn(), said));
                log.begin(heard);
                if (!new Living(log, heard, versions, folded).run(steps)) {
                    diedOfTheDisk = true;
                }
            } finally {
                log.close();
            }
            if (heard.failures == 0 && synced != entries.size()) {
                throw new AssertionError("not all of " + entries.size() + " were reported");
            }
            diedOfTheDisk |= heard.failures > 0;
        }
    }

    private String text() {
        String filler = "x".repeat(random.nextInt(8) == 0 ? random.nextInt(5_000) : 20);
        return "text " + ++texts + " of life " + life + filler;
    }

    private static String text(byte[] bytes) {
        return new String(bytes, UTF_8);
    }

    private static byte[] bytes(long turn, String said) {
        Change change = new Change.OutputMade(new Body("said", said.getBytes(UTF_8)));
        return DeltaFormat.bytes(new Delta(turn, 1, 0, List.of(change)), Changes.NONE);
    }

    private static String text(long turn, ByteBuffer bytes) {
        try {
            Change only = DeltaFormat.read(turn, bytes).changes().get(0);
            return text(((Change.OutputMade) only).body().bytes());
        } catch (IOException e) {
            // Not of the disk: somebody reads what is not meant for it.
            throw new AssertionError(e);
        }
    }

    private static Base.Sections texts(List<String> said) {
        return writer -> {
            for (int index = 0; index < said.size(); index++) {
                writer.section("" + index).write(said.get(index).getBytes(UTF_8));
            }
        };
    }

    /** A member while its process runs. */
    private final class Living {

        private final VersionLog log;
        private final Heard heard;
        private Versions versions;

        /** So many texts are in the base. */
        private int folded;

        Living(VersionLog log, Heard heard, Versions versions, int folded) {
            this.log = log;
            this.heard = heard;
            this.versions = versions;
            this.folded = folded;
        }

        /** Whether it did all that it wanted to. */
        boolean run(int steps) throws IOException {
            for (int step = 0; step < steps; step++) {
                if (heard.failures > 0) {
                    return false;
                }
                switch (random.nextInt(12)) {
                    case 0, 1 -> pass();
                    case 2 -> {
                        if (!fold()) {
                            return false;
                        }
                    }
                    case 3 -> {
                        if (random.nextInt(4) == 0) {
                            return leave();
                        }
                    }
                    case 4 -> note();
                    default -> seal();
                }
                if (random.nextInt(3) == 0 && !heard.await(entries.size())) {
                    return false;
                }
                heard.tell(record -> versions = versions.forced(record));
            }
            return true;
        }

        private void seal() {
            versions = versions.turn();
            if (random.nextInt(3) == 0) {
                long of = 1L + random.nextInt((int) versions.open());
                versions = versions.took(new Vertex(1, versions.world(), of));
            }
            Sealed sealed = versions.seal();
            versions = versions.sealed();
            long turn = Outcome.of(entries).last().turn() + 1 + random.nextInt(3);
            Entry entry = new Entry(Optional.of(sealed), turn, text());
            entries.add(entry);
            log.seal(sealed, turn, bytes(turn, entry.said()));
        }

        /** The group announces some of what is on disk, and the log notes it. */
        private void note() {
            List<Sealed> reported = versions.reportable();
            if (!reported.isEmpty()) {
                long own = reported.get(random.nextInt(reported.size())).version();
                long before = versions.boundary().at(0);
                versions = versions.bounded(versions.world(), VersionVector.of(own));
                Bounded noted = versions.toNote(before).orElseThrow();
                entries.add(new Entry(Optional.of(noted), 0, ""));
                log.note(noted);
                notes++;
            }
        }

        private void pass() {
            long known = versions.boundary().at(0);
            long cut = known + random.nextInt((int) (versions.newest() - known) + 1);
            long other = versions.boundary().at(1) + random.nextInt(3);
            VersionVector cuts = VersionVector.NONE.with(0, cut).with(1, other);
            long world = versions.world() + 1 + (random.nextInt(4) == 0 ? 1 : 0);
            long before = versions.newest();
            versions = versions.pass(new Decision(world, cuts));
            drops += versions.newest() < before ? 1 : 0;
            entries.add(new Entry(Optional.of(versions.passage()), 0, ""));
            log.pass(versions.passage());
        }

        private boolean fold() throws IOException {
            if (!heard.await(entries.size())) {
                return false;
            }
            heard.tell(record -> versions = versions.forced(record));
            Outcome now = Outcome.of(entries);
            List<String> said = now.said(versions.finalVersion());
            if (said.size() > folded) {
                long last =
                        now.layers().stream()
                                .filter(it -> it.version() <= versions.finalVersion())
                                .mapToLong(Layer::turn)
                                .max()
                                .getAsLong();
                log.fold(last, texts(said));
                folded = said.size();
                folds++;
            }
            return true;
        }

        private boolean leave() throws IOException {
            if (!heard.await(entries.size())) {
                return false;
            }
            heard.tell(record -> versions = versions.forced(record));
            if (versions.finalVersion() < versions.newest()) {
                return true;
            }
            List<String> said = Outcome.of(entries).found().said();
            log.leave(
                    turn -> {
                        entries.add(new Entry(Optional.empty(), turn, ""));
                        return texts(said);
                    });
            synced++;
            leaves++;
            return true;
        }
    }

    /** Hears of a log, and lets the life wait for that. */
    private final class Heard implements VersionLog.Listener, JournalListener {

        private final List<VersionRecord> records = new ArrayList<>();
        private int failures;

        @Override
        public synchronized void synced(VersionRecord record) {
            if (failures > 0 || !entries.get(synced).record().equals(Optional.of(record))) {
                throw new AssertionError(record + " is no next one, with " + failures);
            }
            records.add(record);
            synced++;
            notifyAll();
        }

        @Override
        public synchronized void forced(long turn) {
            while (synced < entries.size() && entries.get(synced).turn() <= turn) {
                synced++;
            }
            notifyAll();
        }

        @Override
        public synchronized void failed(IOException cause) {
            failures++;
            notifyAll();
        }

        synchronized boolean await(int count) {
            try {
                while (synced < count && failures == 0) {
                    wait();
                }
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            return failures == 0;
        }

        /** What was heard, on the thread of the life. */
        synchronized void tell(Consumer<VersionRecord> takes) {
            records.forEach(takes);
            records.clear();
        }
    }
}
