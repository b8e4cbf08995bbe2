package io.saucr.services.core.head;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the znode {@code head} of a service says: which incarnation holds the service (K14). Text of
 * one line, so that an operator can read it with any client. Immutable.
 *
 * @param holder whose start wrote it
 * @param replaces the birth that held the head before, where an operator gave the service a new one
 *     (K11)
 */
public record Head(Incarnation holder, Optional<Birth> replaces) {

    /** How the line begins. A later release that writes more raises the number. */
    private static final String FORMAT = "saucr-service-head 1";

    /** How the head of a service with standbys begins, at the same place. */
    private static final String STANDBY = "saucr-standby-head";

    /** Of a birth that replaced none. */
    public Head(Incarnation holder) {
        this(holder, Optional.empty());
    }

    /** Longest content that is looked at, in bytes: a head is about a hundred. */
    public static final int LARGEST_BYTES = 1024;

    private static final Pattern LINE =
            Pattern.compile(
                    FORMAT
                            + " birth=([0-9a-f]{32}) incarnation=([1-9][0-9]{0,18}) nonce=([0-9a-f]{16})"
                            + "(?: replaces=([0-9a-f]{32}))?\n");

    /** The content of the znode, UTF-8, about a hundred bytes. */
    public byte[] encode() {
        return String.format(
                        Locale.ROOT,
                        "%s birth=%s incarnation=%d nonce=%016x%s\n",
                        FORMAT,
                        holder.birth(),
                        holder.number(),
                        holder.nonce(),
                        replaces.map(it -> " replaces=" + it).orElse(""))
                .getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Reads what {@link #encode} writes.
     *
     * @param content of the znode, any bytes
     * @throws UnreadableHeadException where it is anything else; the message says what stands there
     *     and what is expected
     */
    public static Head decode(byte[] content) throws UnreadableHeadException {
        String line = text(content, LARGEST_BYTES);
        Matcher matcher = LINE.matcher(line);
        if (line.startsWith(STANDBY)) {
            throw new UnreadableHeadException(
                    "it is that of a service with Protection.standby(), and this one runs with"
                            + " Protection.local()");
        }
        if (!matcher.matches()) {
            throw new UnreadableHeadException(
                    "it says \""
                            + line.strip()
                            + "\", not \""
                            + FORMAT
                            + " birth=... incarnation=... nonce=...\"");
        }
        try {
            return new Head(
                    new Incarnation(
                            Birth.parse(matcher.group(1)),
                            Long.parseLong(matcher.group(2)),
                            Long.parseUnsignedLong(matcher.group(3), 16)),
                    Optional.ofNullable(matcher.group(4)).map(Birth::parse));
        } catch (NumberFormatException e) {
            throw new UnreadableHeadException(
                    "its incarnation " + matcher.group(2) + " is more than " + Long.MAX_VALUE);
        }
    }

    /**
     * The content of a znode that is to be a head.
     *
     * @throws UnreadableHeadException where it is longer than a head can be, or no UTF-8
     */
    public static String text(byte[] content, int largestBytes) throws UnreadableHeadException {
        if (content.length > largestBytes) {
            throw new UnreadableHeadException(
                    "it has " + content.length + " bytes, a head at most " + largestBytes);
        }
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(content)).toString();
        } catch (CharacterCodingException e) {
            throw new UnreadableHeadException("it is no text, but " + content.length + " bytes");
        }
    }

    /** The content of a head is not what a head says. */
    public static final class UnreadableHeadException extends Exception {

        private static final long serialVersionUID = 1L;

        /**
         * It is not.
         *
         * @param message what stands there, and what is expected
         */
        /**
         * It is not.
         *
         * @param message what stands there, and what is expected
         */
        public UnreadableHeadException(String message) {
            super(message);
        }
    }
}
