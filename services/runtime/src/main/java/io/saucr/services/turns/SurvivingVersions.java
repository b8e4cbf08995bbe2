package io.saucr.services.turns;

import io.saucr.services.core.speculation.VersionRecord;
import io.saucr.services.core.speculation.VersionRecord.Bounded;
import io.saucr.services.core.speculation.VersionRecord.Passed;
import io.saucr.services.core.speculation.VersionRecord.Sealed;
import io.saucr.services.core.speculation.Versions;
import io.saucr.services.journal.Base;
import io.saucr.services.journal.Membership;
import io.saucr.services.journal.Recovered;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UTFDataFormatException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * Decides which turns in the journal of a group's member survive: all above the base, apart from
 * versions that a later passage did not keep (D10). First {@link #base}, where a base names a
 * version, then each record above it, in order. Keeps no turns: {@link #reading} shows them where
 * all records are read once more. One thread.
 */
public final class SurvivingVersions {

    /** The section of a base that names its version. */
    private static final String SECTION = "group";

    private static final int FORMAT = 1;

    /**
     * A record whose turns survive.
     *
     * @param position of it in the journal
     * @param world in which it was recorded
     * @param version its number; of turns from before the service was a member, that of the base
     * @param lastTurn the newest turn in it
     */
    public record Layer(long position, long world, long version, long lastTurn) {}

    private final String group;
    private final List<VersionRecord> records = new ArrayList<>();
    private final List<Layer> layers = new ArrayList<>();
    private Layer base;
    private long world;
    private long newest;

    /**
     * Of a folder.
     *
     * @param membership what the folder says; counts where the base names no version
     * @param baseTurn the number of the base; 0 without one
     */
    public SurvivingVersions(Membership membership, long baseTurn) {
        group = membership.group();
        base(membership.world(), membership.version(), baseTurn, baseTurn);
    }

    private void base(long ofWorld, long version, long lastTurn, long position) {
        base = new Layer(position, ofWorld, version, lastTurn);
        world = ofWorld;
        newest = version;
    }

    /**
     * Whether a section of a base is the one that {@link #base} reads. A base that a member wrote
     * as it left its group has it, too, and is read with {@code local()}.
     */
    public static boolean isSection(String section) {
        return section.equals(SECTION);
    }

    /** Writes the section: of which version of a member of that group the base is. */
    public static void write(String group, Layer of, Base.Writer to) throws IOException {
        OutputStream section = to.section(SECTION);
        DataOutputStream out = new DataOutputStream(section);
        out.writeInt(FORMAT);
        out.writeUTF(group);
        out.writeLong(of.world());
        out.writeLong(of.version());
        out.writeLong(of.lastTurn());
        out.flush();
    }

    /**
     * Reads that section. One of another group, which the service left, says nothing.
     *
     * @throws IOException where it is not one that this release can read
     */
    public void base(InputStream section) throws IOException {
        DataInputStream in = new DataInputStream(section);
        try {
            int format = in.readInt();
            if (format != FORMAT) {
                throw new IOException(
                        "the base's section "
                                + SECTION
                                + " is of format "
                                + format
                                + ", and this release reads "
                                + FORMAT
                                + ": start the release that wrote it");
            }
            if (in.readUTF().equals(group)) {
                base(in.readLong(), in.readLong(), in.readLong(), base.position());
            }
        } catch (EOFException | UTFDataFormatException e) {
            throw new IOException("the base's section " + SECTION + " is damaged", e);
        }
        if (world < 1 || newest < 0 || base.lastTurn() < 1) {
            throw new IOException(
                    "the base's section " + SECTION + " says what cannot be: " + base);
        }
    }

    /**
     * Takes the next record.
     *
     * @param content from position to limit, which stay
     * @throws IOException where it is damaged, or cannot follow on those before
     */
    public void record(long position, ByteBuffer content) throws IOException {
        VersionFormat.Entry entry = VersionFormat.read(position, content);
        VersionRecord record = entry.version().orElse(null);
        if (record instanceof Passed passed) {
            pass(position, passed);
        } else if (record instanceof Bounded bounded) {
            expect(
                    bounded.world() == world && bounded.version() <= newest,
                    position,
                    bounded + " in world " + world + " behind version " + newest);
            // It says all that these do; its own version stays, as it may be the newest.
            records.removeIf(
                    it ->
                            it instanceof Bounded
                                    || (it instanceof Sealed each
                                            && each.version() < bounded.version()));
            records.add(bounded);
        } else if (record instanceof Sealed sealed) {
            expect(
                    sealed.world() == world && sealed.version() > newest,
                    position,
                    sealed + " in world " + world + " behind version " + newest);
            newest = sealed.version();
            note(sealed);
            add(new Layer(position, world, newest, entry.lastTurn()));
        } else {
            expect(records.isEmpty(), position, "a turn of no version behind versions");
            add(new Layer(position, world, newest, entry.lastTurn()));
        }
    }

    /** Of versions in a row without dependencies the last one says all (D14). */
    private void note(Sealed sealed) {
        int last = records.size() - 1;
        if (last >= 0
                && records.get(last) instanceof Sealed before
                && before.dependencies().isNone()
                && sealed.dependencies().isNone()) {
            records.remove(last);
        }
        records.add(sealed);
    }

    private void add(Layer layer) throws IOException {
        expect(
                layer.lastTurn() > last().lastTurn(),
                layer.position(),
                "turn " + layer.lastTurn() + " behind turn " + last().lastTurn());
        layers.add(layer);
    }

    private void pass(long position, Passed passed) throws IOException {
        expect(
                passed.world() > world
                        && passed.kept() <= newest
                        && passed.kept() >= base.version(),
                position,
                passed + " in world " + world + " behind version " + newest);
        records.add(passed);
        world = passed.world();
        newest = passed.kept();
        layers.removeIf(it -> it.version() > passed.kept());
    }

    private static void expect(boolean fits, long position, String what) throws IOException {
        if (!fits) {
            throw new IOException("record " + position + " cannot be there: it is " + what);
        }
    }

    /**
     * Shows the turns of those that survive, where all records are read once more from the first.
     *
     * @param layers that survive, in order
     * @param into takes what {@link DeltaFormat#read} does, under the number of its last turn
     */
    public static Recovered.TurnReader reading(List<Layer> layers, Recovered.TurnReader into) {
        Iterator<Layer> left = layers.iterator();
        Layer[] next = {left.hasNext() ? left.next() : null};
        return (position, content) -> {
            Layer here = next[0];
            if (here != null && here.position() == position) {
                next[0] = left.hasNext() ? left.next() : null;
                into.turn(here.lastTurn(), VersionFormat.read(position, content).turns());
            }
        };
    }

    /** What its member knows of its versions. */
    public Versions versions(int member) {
        Versions versions = Versions.of(member, base.world(), base.version());
        for (VersionRecord each : records) {
            versions = versions.recovered(each);
        }
        return versions;
    }

    /** The base; its turn is 0 where there is none. */
    public Layer base() {
        return base;
    }

    /** Those above the base, in order. */
    public List<Layer> layers() {
        return List.copyOf(layers);
    }

    /** The newest that survives. */
    public Layer last() {
        return layers.isEmpty() ? base : layers.get(layers.size() - 1);
    }

    /** The world to which the member has passed. */
    public long world() {
        return world;
    }

    /** The newest version that survives. */
    public long newest() {
        return newest;
    }
}
