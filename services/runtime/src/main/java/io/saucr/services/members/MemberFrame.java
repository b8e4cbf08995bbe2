package io.saucr.services.members;

import io.saucr.services.core.Birth;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.wire.FrameFields;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * What one member says to another. Each is checked when it is made, by any code, so that what
 * cannot be sent is refused here, and what was received is whole. Immutable.
 */
public sealed interface MemberFrame {

    /** Of a segment, at most. */
    int SEGMENT_BYTES = 192 << 20;

    /** Of one part of a base, at most. */
    int BASE_PART_BYTES = 64 << 10;

    /**
     * Who speaks. The first frame in each direction; sent by the link itself.
     *
     * @param service whose member it is
     * @param birth of the service, as far as this member knows it
     * @param member 16 hexadecimal digits, lower case, of its folder
     * @param nonce of this start of the process
     * @param format of all that it sends; members of different formats do not talk
     */
    record Hello(String service, Optional<Birth> birth, String member, long nonce, int format)
            implements MemberFrame {

        private static final Pattern MEMBER = Pattern.compile("[0-9a-f]{16}");

        public Hello {
            if (!MEMBER.matcher(member).matches()) {
                throw new IllegalArgumentException(
                        "a member is 16 hexadecimal digits in lower case, not \"" + member + "\"");
            }
            if (format < 1) {
                throw new IllegalArgumentException("formats are numbered from 1, not " + format);
            }
        }
    }

    /**
     * Asks for all segments from now on.
     *
     * @param last the newest that the sender has, forced; {@link SegmentId#NONE} where it has none
     * @param base number of a segment that the head is known to have named, up to which the
     *     sender's chain is therefore the service's; 0 where it knows none
     */
    record Follow(SegmentId last, long base) implements MemberFrame {

        public Follow {
            notNegative("base", base);
        }
    }

    /**
     * A segment, whole.
     *
     * @param bytes its encoding, up to {@link #SEGMENT_BYTES}, read-only; the one that made the
     *     frame changes them no more
     */
    record Segment(ByteBuffer bytes) implements MemberFrame {

        public Segment {
            bytes = bounded("segment", bytes, SEGMENT_BYTES);
        }

        @Override
        public ByteBuffer bytes() {
            // A position of its own for each reader.
            return bytes.duplicate();
        }
    }

    /**
     * A base begins; its parts follow.
     *
     * @param number of the segment as of which it is
     * @param length of all its parts
     * @param digest SHA-256 of them: 64 hexadecimal digits, lower case
     */
    record Base(long number, long length, String digest) implements MemberFrame {

        private static final Pattern DIGEST = Pattern.compile("[0-9a-f]{64}");

        public Base {
            FrameFields.checkNumber("segment of a base", number, 1);
            notNegative("length of a base", length);
            if (!DIGEST.matcher(digest).matches()) {
                throw new IllegalArgumentException(
                        "a base's digest has 64 hexadecimal digits: \"" + digest + "\"");
            }
        }
    }

    /**
     * The next part of the base that began last.
     *
     * @param bytes 1 to {@link #BASE_PART_BYTES}, read-only; the one that made the frame changes
     *     them no more
     */
    record BasePart(ByteBuffer bytes) implements MemberFrame {

        public BasePart {
            bytes = bounded("part of a base", bytes, BASE_PART_BYTES);
        }

        @Override
        public ByteBuffer bytes() {
            return bytes.duplicate();
        }
    }

    /** All parts of the base have been sent. */
    record BaseEnd() implements MemberFrame {}

    /** The head names this segment. */
    record Committed(SegmentId segment) implements MemberFrame {}

    /**
     * The sender lives. Sent by the link itself; may overtake what was sent before.
     *
     * @param waitingMillis how long the sender's oldest output has waited for the head; 0 where
     *     none waits
     * @param state number of the newest segment that was named as of which the sender's state is,
     *     or will be in a moment; 0 while it has still to be read
     */
    record Heartbeat(long waitingMillis, long state) implements MemberFrame {

        public Heartbeat {
            notNegative("wait", waitingMillis);
            notNegative("segment of a state", state);
        }
    }

    /** The sender has written all segments up to this number, not forced. */
    record Written(long number) implements MemberFrame {

        public Written {
            FrameFields.checkNumber("written segment", number, 1);
        }
    }

    /** The sender has forced all segments up to this number. */
    record Stored(long number) implements MemberFrame {

        public Stored {
            FrameFields.checkNumber("stored segment", number, 1);
        }
    }

    /** Asks for the segments of these numbers, both included. */
    record Fetch(long from, long to) implements MemberFrame {

        public Fetch {
            FrameFields.checkNumber("first segment to fetch", from, 1);
            if (to < from) {
                throw new IllegalArgumentException(
                        "segments "
                                + from
                                + " to "
                                + to
                                + " are none: the last is before the first");
            }
        }
    }

    /**
     * The sender cannot give the segment of this number.
     *
     * @param reason for people; what is too long is cut
     */
    record Missing(long number, String reason) implements MemberFrame {

        public Missing {
            FrameFields.checkNumber("missing segment", number, 1);
        }
    }

    /**
     * Asks for a base of the receiver, as the sender's own state is wrong (X14).
     *
     * @param from number of the segment as of which it is at least
     */
    record NeedsBase(long from) implements MemberFrame {

        public NeedsBase {
            FrameFields.checkNumber("segment of a base that is needed", from, 1);
        }
    }

    /**
     * Ends the link, before all that waits to be sent.
     *
     * @param reason for people; what is too long is cut
     */
    record Sorry(String reason) implements MemberFrame {}

    private static void notNegative(String what, long number) {
        if (number < 0) {
            throw new IllegalArgumentException("the " + what + " is from 0, not " + number);
        }
    }

    private static ByteBuffer bounded(String what, ByteBuffer bytes, int most) {
        if (!bytes.hasRemaining() || bytes.remaining() > most) {
            throw new IllegalArgumentException(
                    "a " + what + " has 1 to " + most + " bytes, not " + bytes.remaining());
        }
        return bytes.slice().asReadOnlyBuffer();
    }
}
