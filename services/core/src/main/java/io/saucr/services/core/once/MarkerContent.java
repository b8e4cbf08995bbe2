package io.saucr.services.core.once;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.HexFormat;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.LongPredicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a marker says: up to which number everything has happened or was refused, and who wrote it.
 * Text, so that an operator can read it. Immutable.
 *
 * @param holder whose start wrote it (E5)
 * @param number every operation up to it has happened, or is among the refusals; 0 for none
 * @param refusals of operations up to that number whose report is not known to be forced (E4), by
 *     number: the code of the error
 * @param created czxid of sequential creates up to that number whose name may not be known yet
 *     (E6), by number; written when a marker is replaced, as its own mzxid says it before
 */
public record MarkerContent(
        Incarnation holder,
        long number,
        SortedMap<Long, Integer> refusals,
        SortedMap<Long, Long> created) {

    private static final String FORMAT = "saucr-once 1";

    /** Longest content that is looked at, in bytes. */
    public static final int LARGEST_BYTES = 512 << 10;

    private static final Pattern LINES =
            Pattern.compile(
                    FORMAT
                            + " birth=([0-9a-f]{32}) incarnation=([1-9][0-9]{0,18}) nonce=([0-9a-f]{16})\n"
                            + "number=([0-9]{1,19})\n((?:(?:refused|created)=[0-9]{1,19},-?[0-9]{1,19}\n)*)");

    public MarkerContent {
        refusals = Collections.unmodifiableSortedMap(new TreeMap<>(refusals));
        created = Collections.unmodifiableSortedMap(new TreeMap<>(created));
        if (number < 0) {
            throw new IllegalArgumentException("operations are numbered from 1, not " + number);
        }
    }

    /** Of a marker that says nothing but a number. */
    public MarkerContent(Incarnation holder, long number) {
        this(holder, number, new TreeMap<>(), new TreeMap<>());
    }

    /** The data of the znode, UTF-8. */
    public byte[] encode() {
        // Once for each request: String.format took a fifth of the once client's time, and its
        // digits are those of the machine's language.
        StringBuilder text =
                new StringBuilder(FORMAT)
                        .append(" birth=")
                        .append(holder.birth())
                        .append(" incarnation=")
                        .append(holder.number())
                        .append(" nonce=")
                        .append(HexFormat.of().toHexDigits(holder.nonce()))
                        .append("\nnumber=")
                        .append(number)
                        .append('\n');
        refusals.forEach(
                (n, code) ->
                        text.append("refused=").append(n).append(',').append(code).append('\n'));
        created.forEach(
                (n, zxid) ->
                        text.append("created=").append(n).append(',').append(zxid).append('\n'));
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Reads what {@link #encode} writes.
     *
     * @param data of the znode, any bytes
     * @throws UnreadableMarkerException where it is anything else
     */
    public static MarkerContent decode(byte[] data) throws UnreadableMarkerException {
        if (data.length > LARGEST_BYTES) {
            throw new UnreadableMarkerException(
                    "it has " + data.length + " bytes, a marker at most " + LARGEST_BYTES);
        }
        String text;
        try {
            text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(data)).toString();
        } catch (CharacterCodingException e) {
            throw new UnreadableMarkerException("it is no text, but " + data.length + " bytes");
        }
        Matcher matcher = LINES.matcher(text);
        if (!matcher.matches()) {
            String first = text.lines().findFirst().orElse("");
            throw new UnreadableMarkerException(
                    "it begins with \""
                            + first.substring(0, Math.min(100, first.length()))
                            + "\" and is not what a marker of format \""
                            + FORMAT
                            + "\" says");
        }
        try {
            SortedMap<Long, Integer> refusals = new TreeMap<>();
            SortedMap<Long, Long> created = new TreeMap<>();
            for (String line : matcher.group(5).lines().toList()) {
                int equals = line.indexOf('=');
                int comma = line.indexOf(',');
                long number = Long.parseLong(line.substring(equals + 1, comma));
                String value = line.substring(comma + 1);
                if (line.startsWith("refused")) {
                    refusals.put(number, Integer.parseInt(value));
                } else {
                    created.put(number, Long.parseLong(value));
                }
            }
            return new MarkerContent(
                    new Incarnation(
                            Birth.parse(matcher.group(1)),
                            Long.parseLong(matcher.group(2)),
                            Long.parseUnsignedLong(matcher.group(3), 16)),
                    Long.parseLong(matcher.group(4)),
                    refusals,
                    created);
        } catch (NumberFormatException e) {
            throw new UnreadableMarkerException("a number in it is too large");
        }
    }

    /** A marker's data is not what a marker says. */
    public static final class UnreadableMarkerException extends Exception {

        private static final long serialVersionUID = 1L;

        UnreadableMarkerException(String message) {
            super(message);
        }
    }

    /** The same without the entries of numbers whose reports are forced. */
    MarkerContent without(LongPredicate reported) {
        SortedMap<Long, Integer> stillRefused = new TreeMap<>(refusals);
        stillRefused.keySet().removeIf(reported::test);
        SortedMap<Long, Long> stillCreated = new TreeMap<>(created);
        stillCreated.keySet().removeIf(reported::test);
        return new MarkerContent(holder, number, stillRefused, stillCreated);
    }

    /** The same of another holder or number, with the same entries. */
    MarkerContent with(Incarnation nextHolder, long nextNumber) {
        return new MarkerContent(nextHolder, nextNumber, refusals, created);
    }

    static <V> SortedMap<Long, V> plus(Map<Long, V> map, long number, V value) {
        SortedMap<Long, V> result = new TreeMap<>(map);
        result.put(number, value);
        return result;
    }
}
