package io.saucr.services.checkpoint;

import io.saucr.services.core.Birth;
import io.saucr.services.core.standby.Replaced;
import io.saucr.services.core.standby.SegmentId;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.zip.CRC32C;

/**
 * What a member's folder says about itself. Text, so that an operator can read it, with a checksum,
 * so that nothing continues from a damaged one. Immutable.
 *
 * @param member 16 hex digits, drawn when the folder was made
 * @param service whose member it is
 * @param birth of the service; empty until the member met it
 * @param known number of a segment that the head named, while later ones were dropped (C16); what
 *     the segments themselves know comes on top
 * @param formers births that were replaced, with the segments that count of each, the first one
 *     first: what is up to there is of that birth (C17)
 */
record MemberIdentity(
        String member, String service, Optional<Birth> birth, long known, List<Replaced> formers) {

    static final int LARGEST_BYTES = 4096;

    private static final String FORMAT = "saucr-member-folder 1";

    private static final Pattern TEXT =
            Pattern.compile(
                    "member ([0-9a-f]{16})\n"
                            + "service ([^\n]+)\n"
                            + "birth ([0-9a-f]{32}|none)\n"
                            + "known ([0-9]{1,18})\n"
                            + "((?:former [^\n]+\n)*)");

    private static final Pattern FORMER =
            Pattern.compile(
                    "former ([0-9a-f]{32}) ([0-9]{1,18})\\.([0-9]{1,18})\\.([0-9a-f]{64})\n");

    /** So many are kept; each has 150 bytes. */
    private static final int MOST_FORMERS = 16;

    MemberIdentity {
        formers = List.copyOf(formers);
        if (formers.size() > MOST_FORMERS) {
            throw new IllegalArgumentException(
                    "more than "
                            + MOST_FORMERS
                            + " losses were accepted since the oldest base: let this member begin"
                            + " with an empty folder");
        }
    }

    /** Of which birth a segment of that number is; the birth is known. */
    Birth birthOf(long number) {
        for (Replaced former : formers) {
            if (number <= former.upTo().number()) {
                return former.birth();
            }
        }
        return birth.orElseThrow();
    }

    MemberIdentity knowing(long number) {
        return new MemberIdentity(member, service, birth, number, formers);
    }

    MemberIdentity of(Birth now, List<Replaced> before) {
        return new MemberIdentity(member, service, Optional.of(now), known, before);
    }

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
                        + "\n"
                        + formers.stream().map(MemberIdentity::line).collect(Collectors.joining());
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
                Long.parseLong(matcher.group(4)),
                formers(matcher.group(5)));
    }

    private static String line(Replaced former) {
        SegmentId upTo = former.upTo();
        return "former "
                + former.birth()
                + " "
                + upTo.epoch()
                + "."
                + upTo.number()
                + "."
                + upTo.digest()
                + "\n";
    }

    private static List<Replaced> formers(String lines) {
        List<Replaced> formers = new ArrayList<>();
        Matcher line = FORMER.matcher(lines);
        int end = 0;
        while (line.find(end) && line.start() == end) {
            formers.add(
                    new Replaced(
                            Birth.parse(line.group(1)),
                            new SegmentId(
                                    Long.parseLong(line.group(2)),
                                    Long.parseLong(line.group(3)),
                                    line.group(4))));
            end = line.end();
        }
        if (end < lines.length()) {
            throw new IllegalArgumentException(
                    "a former generation is not written as this release writes it");
        }
        return formers;
    }

    private static String checksum(String text) {
        CRC32C crc = new CRC32C();
        crc.update(text.getBytes(StandardCharsets.UTF_8));
        return String.format("%08x", crc.getValue());
    }
}
