package io.saucr.services.checkpoint;

import io.saucr.services.core.Birth;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;

/**
 * What a member's folder says of itself. Text, so that an operator can read it, with a checksum, so
 * that nothing goes on from a damaged one. Immutable.
 *
 * @param member 16 hex digits, drawn when the folder was made
 * @param service whose member it is
 * @param birth of the service; empty until the member met it
 * @param known number of a segment that the head named, while later ones were dropped (C16); what
 *     the segments themselves know comes on top
 */
record MemberIdentity(String member, String service, Optional<Birth> birth, long known) {

    static final int LARGEST_BYTES = 4096;

    private static final String FORMAT = "saucr-member-folder 1";

    private static final Pattern TEXT =
            Pattern.compile(
                    "member ([0-9a-f]{16})\n"
                            + "service ([^\n]+)\n"
                            + "birth ([0-9a-f]{32}|none)\n"
                            + "known ([0-9]{1,18})\n");

    byte[] encode() {
        String text =
                "member "
                        + member
                        + "\nservice "
                        + service
                        + "\nbirth "
                        + birth.map(Birth::toString).orElse("none")
                        + "\nknown "
                        + known
                        + "\n";
        return (FORMAT + " " + checksum(text) + "\n" + text).getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Reads what {@link #encode} wrote.
     *
     * @throws IllegalArgumentException where it is anything else; the message says why
     */
    static MemberIdentity decode(byte[] content) {
        String all = new String(content, StandardCharsets.UTF_8);
        int line = all.indexOf('\n');
        String first = line < 0 ? all : all.substring(0, line);
        if (!first.startsWith(FORMAT + " ")) {
            throw new IllegalArgumentException(
                    "it does not begin with \""
                            + FORMAT
                            + "\", but with \""
                            + first.substring(0, Math.min(40, first.length()))
                            + "\": it is damaged, another program's, or a newer release's");
        }
        String text = all.substring(line + 1);
        Matcher matcher = TEXT.matcher(text);
        if (!first.equals(FORMAT + " " + checksum(text)) || !matcher.matches()) {
            throw new IllegalArgumentException("it is damaged");
        }
        return new MemberIdentity(
                matcher.group(1),
                matcher.group(2),
                matcher.group(3).equals("none")
                        ? Optional.empty()
                        : Optional.of(Birth.parse(matcher.group(3))),
                Long.parseLong(matcher.group(4)));
    }

    private static String checksum(String text) {
        CRC32C crc = new CRC32C();
        crc.update(text.getBytes(StandardCharsets.UTF_8));
        return String.format("%08x", crc.getValue());
    }
}
