package io.saucr.services.journal;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;

/**
 * What a folder says of itself (K11, K14). Text, so that an operator can read it, with a checksum,
 * so that nothing goes on from a damaged one. Immutable.
 *
 * @param birth of the folder
 * @param name of the service or client
 * @param starts in the order of their numbers, the newest at the end
 * @param confirmed the highest start that is known to have held the head; 0 for none
 * @param begun whether there ever was a journal, so that a missing one is noticed
 */
record Identity(Birth birth, String name, List<Incarnation> starts, long confirmed, boolean begun) {

    static final int LONGEST_NAME = 255;

    private static final String FORMAT = "saucr-service-folder 1";
    private static final int REMEMBERED_STARTS = 4096;

    private static final Pattern TEXT =
            Pattern.compile(
                    "birth ([0-9a-f]{32})\n"
                            + "name ([^\n]+)\n"
                            + "confirmed ([0-9]{1,18})\n"
                            + "journal (begun|none)\n");

    private static final Pattern START = Pattern.compile("start ([0-9]{1,18}) ([0-9a-f]{16})");

    Identity {
        starts = List.copyOf(starts);
    }

    /** With one start more. */
    Identity started(long nonce) {
        List<Incarnation> more = new ArrayList<>(starts);
        long last = starts.isEmpty() ? 0 : starts.get(starts.size() - 1).number();
        more.add(new Incarnation(birth, last + 1, nonce));
        // The head names the confirmed start or a later one. One that is older than all these can
        // only be that of a write which was in flight for as many starts.
        while (more.size() > REMEMBERED_STARTS) {
            more.remove(more.get(0).number() == confirmed ? 1 : 0);
        }
        return new Identity(birth, name, more, confirmed, begun);
    }

    /** Where that start is known to have held the head. */
    Identity confirmed(long number) {
        return new Identity(birth, name, starts, number, begun);
    }

    /** Where the folder has a journal. */
    Identity withJournal() {
        return new Identity(birth, name, starts, confirmed, true);
    }

    /** The newest start. */
    Incarnation newest() {
        return starts.get(starts.size() - 1);
    }

    /** Whether a start is, or may have been, one of this folder. */
    boolean knows(Incarnation start) {
        if (!start.birth().equals(birth) || start.number() > newest().number()) {
            return false;
        }
        boolean forgotten = starts.stream().noneMatch(each -> each.number() == start.number());
        return forgotten || starts.contains(start);
    }

    byte[] encode() {
        StringBuilder text =
                new StringBuilder("birth ")
                        .append(birth)
                        .append("\nname ")
                        .append(name)
                        .append("\nconfirmed ")
                        .append(confirmed)
                        .append("\njournal ")
                        .append(begun ? "begun" : "none")
                        .append('\n');
        for (Incarnation start : starts) {
            text.append("start ")
                    .append(start.number())
                    .append(String.format(" %016x\n", start.nonce()));
        }
        return (FORMAT + " " + checksum(text.toString()) + "\n" + text)
                .getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Reads an identity.
     *
     * @throws IllegalArgumentException where it is none that this release can read; the message
     *     says why
     */
    static Identity decode(byte[] content) {
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
        if (line < 0 || !first.equals(FORMAT + " " + checksum(text))) {
            throw new IllegalArgumentException("it is damaged: its checksum does not fit");
        }
        Matcher matcher = TEXT.matcher(text);
        if (!matcher.lookingAt()) {
            throw new IllegalArgumentException("it does not say what an identity says");
        }
        Birth birth = Birth.parse(matcher.group(1));
        List<Incarnation> starts = new ArrayList<>();
        for (String each : text.substring(matcher.end()).lines().toList()) {
            Matcher start = START.matcher(each);
            if (!start.matches()) {
                throw new IllegalArgumentException("it says \"" + each + "\" where a start is");
            }
            starts.add(
                    new Incarnation(
                            birth,
                            Long.parseLong(start.group(1)),
                            Long.parseUnsignedLong(start.group(2), 16)));
        }
        return new Identity(
                birth,
                matcher.group(2),
                starts,
                Long.parseLong(matcher.group(3)),
                matcher.group(4).equals("begun"));
    }

    private static String checksum(String text) {
        CRC32C crc = new CRC32C();
        crc.update(text.getBytes(StandardCharsets.UTF_8));
        return String.format("%08x", crc.getValue());
    }
}
