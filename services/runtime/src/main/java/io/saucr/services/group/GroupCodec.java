package io.saucr.services.group;

import static io.saucr.services.wire.FrameFields.need;
import static io.saucr.services.wire.FrameFields.readBirth;
import static io.saucr.services.wire.FrameFields.readByte;
import static io.saucr.services.wire.FrameFields.readFlag;
import static io.saucr.services.wire.FrameFields.readLong;
import static io.saucr.services.wire.FrameFields.readName;
import static io.saucr.services.wire.FrameFields.readText;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.speculation.Decision;
import io.saucr.services.core.speculation.GroupHead;
import io.saucr.services.core.speculation.Listing;
import io.saucr.services.core.speculation.VersionRecord.Sealed;
import io.saucr.services.core.speculation.VersionVector;
import io.saucr.services.wire.BadFrameException;
import io.saucr.services.wire.CheckedFrames;
import io.saucr.services.wire.FrameFields;
import java.util.ArrayList;
import java.util.List;

/**
 * The bytes of a link between a member of a group and its coordinator. Each direction begins with a
 * preface, which every format shares, as it shares SORRY:
 *
 * <pre>
 * magic "SAUG" | format, 4
 * </pre>
 *
 * then {@link CheckedFrames}, all numbers big-endian:
 *
 * <pre>
 * SORRY     text
 * HELLO     group, a name | member, a name | birth | start, 8 | nonce, 8
 * HEARTBEAT
 * LISTS     starts, 1 | world, 8 | base, 8 | boundary | versions
 * REPORTS   world, 8 | versions
 * LEAVES    version, 8
 * DECIDED   epoch, 8 | world, 8 | cuts
 * ADMITTED  epoch, 8 | world, 8 | cuts
 * BOUNDARY  epoch, 8 | world, 8 | boundary
 * LEFT      epoch, 8
 * REFUSED   text
 * </pre>
 *
 * Cuts and boundaries are a count, 1, and as many versions, 8 each, by the member's index; the last
 * is not 0. Versions are a count, 4, and for each its number, 8, and its dependencies, written as a
 * boundary. Names, texts and births are those of {@link FrameFields}.
 *
 * <p>Whatever bytes arrive, reading gives a frame, asks for more, or throws {@link
 * BadFrameException}; lengths are checked before anything of that length is made. Immutable, any
 * thread.
 */
final class GroupCodec {

    static final int FORMAT = 1;

    /** All that a member lists fits in one frame. */
    static final int MOST_BYTES = 16 << 20;

    /** As long as nobody has said who it is. */
    static final int MOST_BYTES_BEFORE = 4 << 10;

    /** A version without dependencies. */
    private static final int LEAST_VERSION_BYTES = 9;

    private static final int SORRY = 1;
    private static final int HELLO = 2;
    private static final int HEARTBEAT = 3;
    private static final int LISTS = 4;
    private static final int REPORTS = 5;
    private static final int LEAVES = 6;
    private static final int DECIDED = 7;
    private static final int ADMITTED = 8;
    private static final int BOUNDARY = 9;
    private static final int LEFT = 10;
    private static final int REFUSED = 11;

    private GroupCodec() {}

    static ByteBuf preface(ByteBufAllocator alloc) {
        return CheckedFrames.preface(CheckedFrames.MAGIC_OF_GROUPS, FORMAT, alloc);
    }

    /**
     * Writes a frame.
     *
     * @throws IllegalArgumentException where it is larger than {@link #MOST_BYTES}
     */
    static ByteBuf write(GroupFrame frame, ByteBufAllocator alloc) {
        ByteBuf out = alloc.buffer(64).writeInt(0);
        boolean written = false;
        try {
            fields(frame, out);
            int length = out.writerIndex() - CheckedFrames.LENGTH_BYTES + CheckedFrames.CHECK_BYTES;
            if (length > MOST_BYTES) {
                throw new IllegalArgumentException(
                        "a frame has at most " + MOST_BYTES + " bytes, and this one " + length);
            }
            CheckedFrames.end(out.setInt(0, length));
            written = true;
            return out;
        } finally {
            if (!written) {
                out.release();
            }
        }
    }

    private static void fields(GroupFrame frame, ByteBuf out) {
        if (frame instanceof GroupFrame.Sorry it) {
            FrameFields.writeText(out.writeByte(SORRY), FrameFields.textBytes(it.reason()));
        } else if (frame instanceof GroupFrame.Hello it) {
            out.writeByte(HELLO);
            FrameFields.writeName(out, FrameFields.nameBytes("group", it.group()));
            FrameFields.writeName(out, FrameFields.nameBytes("service", it.member()));
            FrameFields.writeBirth(out, it.start().birth());
            out.writeLong(it.start().number()).writeLong(it.start().nonce());
        } else if (frame instanceof GroupFrame.Heartbeat) {
            out.writeByte(HEARTBEAT);
        } else if (frame instanceof GroupFrame.Lists it) {
            Listing listing = it.listing();
            out.writeByte(LISTS).writeByte(it.starts() ? 1 : 0);
            out.writeLong(listing.world()).writeLong(listing.base());
            write(listing.boundary(), out);
            write(listing.versions(), out);
        } else if (frame instanceof GroupFrame.Reports it) {
            write(it.versions(), out.writeByte(REPORTS).writeLong(it.world()));
        } else if (frame instanceof GroupFrame.Leaves it) {
            out.writeByte(LEAVES).writeLong(it.version());
        } else if (frame instanceof GroupFrame.Decided it) {
            write(it.decision(), out.writeByte(DECIDED).writeLong(it.epoch()));
        } else if (frame instanceof GroupFrame.Admitted it) {
            write(it.decision(), out.writeByte(ADMITTED).writeLong(it.epoch()));
        } else if (frame instanceof GroupFrame.Boundary it) {
            write(
                    it.versions(),
                    out.writeByte(BOUNDARY).writeLong(it.epoch()).writeLong(it.world()));
        } else if (frame instanceof GroupFrame.Left it) {
            out.writeByte(LEFT).writeLong(it.epoch());
        } else if (frame instanceof GroupFrame.Refused it) {
            FrameFields.writeText(out.writeByte(REFUSED), FrameFields.textBytes(it.reason()));
        }
    }

    private static void write(Decision decision, ByteBuf out) {
        write(decision.cuts(), out.writeLong(decision.world()));
    }

    private static void write(VersionVector versions, ByteBuf out) {
        out.writeByte(versions.members());
        for (int member = 0; member < versions.members(); member++) {
            out.writeLong(versions.at(member));
        }
    }

    private static void write(List<Sealed> versions, ByteBuf out) {
        out.writeInt(versions.size());
        for (Sealed each : versions) {
            write(each.dependencies(), out.writeLong(each.version()));
        }
    }

    /**
     * Reads the preface.
     *
     * @return whether it was there; nothing was taken else
     */
    static boolean readPreface(ByteBuf in) {
        return CheckedFrames.readPreface(
                in,
                CheckedFrames.MAGIC_OF_GROUPS,
                FORMAT,
                GroupCodec::other,
                "all members of the group");
    }

    private static String other(int magic) {
        String who =
                switch (magic) {
                    case CheckedFrames.MAGIC_OF_SERVICES -> "another service or a client";
                    case CheckedFrames.MAGIC_OF_STANDBYS -> "a standby member of a service";
                    default -> null;
                };
        return who == null
                ? FrameFields.foreign(magic)
                : "it speaks as " + who + "; here members of a group talk to their coordinator";
    }

    /**
     * Reads a frame.
     *
     * @param most bytes that it may have
     * @return null where bytes are missing; nothing was taken then
     */
    static GroupFrame read(ByteBuf in, int most) {
        return CheckedFrames.read(in, most, GroupCodec::readFields);
    }

    private static GroupFrame readFields(ByteBuf in) {
        int kind = in.readUnsignedByte();
        return switch (kind) {
            case SORRY -> new GroupFrame.Sorry(FrameFields.printable(readText(in)));
            case HELLO -> new GroupFrame.Hello(readName(in), readName(in), readStart(in));
            case HEARTBEAT -> new GroupFrame.Heartbeat();
            case LISTS -> readLists(in);
            case REPORTS -> {
                long world = readLong(in);
                yield new GroupFrame.Reports(world, readVersions(world, in));
            }
            case LEAVES -> new GroupFrame.Leaves(readLong(in));
            case DECIDED -> new GroupFrame.Decided(readLong(in), readDecision(in));
            case ADMITTED -> new GroupFrame.Admitted(readLong(in), readDecision(in));
            case BOUNDARY -> new GroupFrame.Boundary(readLong(in), readLong(in), readVector(in));
            case LEFT -> new GroupFrame.Left(readLong(in));
            case REFUSED -> new GroupFrame.Refused(FrameFields.printable(readText(in)));
            default -> throw new BadFrameException("there is no frame of kind " + kind);
        };
    }

    private static Incarnation readStart(ByteBuf in) {
        return new Incarnation(readBirth(in), readLong(in), readLong(in));
    }

    private static GroupFrame readLists(ByteBuf in) {
        boolean starts = readFlag(in);
        long world = readLong(in);
        long base = readLong(in);
        VersionVector boundary = readVector(in);
        List<Sealed> versions = readVersions(world, in);
        return new GroupFrame.Lists(new Listing(world, base, versions, boundary), starts);
    }

    private static Decision readDecision(ByteBuf in) {
        return new Decision(readLong(in), readVector(in));
    }

    private static VersionVector readVector(ByteBuf in) {
        int members = readByte(in);
        if (members > GroupHead.MOST_MEMBERS) {
            throw new BadFrameException(
                    "a group has at most " + GroupHead.MOST_MEMBERS + " members, not " + members);
        }
        need(in, 8 * members);
        long[] versions = new long[members];
        for (int member = 0; member < members; member++) {
            versions[member] = FrameFields.readNumber(in, "version", 0);
        }
        if (members > 0 && versions[members - 1] == 0) {
            throw new BadFrameException("the last of " + members + " versions is 0");
        }
        return VersionVector.of(versions);
    }

    private static List<Sealed> readVersions(long world, ByteBuf in) {
        need(in, 4);
        long count = in.readUnsignedInt();
        if (count * LEAST_VERSION_BYTES > in.readableBytes()) {
            throw new BadFrameException(
                    count + " versions are announced in " + in.readableBytes() + " bytes");
        }
        List<Sealed> versions = new ArrayList<>((int) count);
        for (long left = count; left > 0; left--) {
            versions.add(new Sealed(world, readLong(in), readVector(in)));
        }
        return versions;
    }
}
