package io.saucr.services.journal;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;

/**
 * What a folder says about itself (K11, K14). Text, so that an operator can read it, with a
 * checksum, so that nothing continues from a damaged one. Immutable.
 *
 * @param birth of the folder
 * @param name of the service or client
 * @param starts in the order of their numbers, the newest at the end
 * @param confirmed the highest start that is known to have held the head; 0 for none
 * @param begun whether there ever was a journal, so that a missing one is noticed
 * @param spent the highest number of a start that was refused and left no other trace
 * @param formers births that were replaced by an order, the first one first (K11)
 * @param replaces the head that the order replaces; empty where there was none
 * @param marker the birth that held the once client's marker when the order was given (E5)
 * @param bound to which service a client belongs; empty where it is none, or has met none
 * @param shared the journal of others that has the newest turns; empty where this folder has all
 * @param membership of a service that is or was a member of a group; empty where it never was
 */
record Identity(
        Birth birth,
        String name,
        List<Incarnation> starts,
        long confirmed,
        boolean begun,
        long spent,
        List<Former> formers,
        Optional<Incarnation> replaces,
        Optional<Birth> marker,
        String bound,
        Optional<Shared> shared,
        Optional<Membership> membership) {

    /**
     * Where the newest turns of a folder are that has no journal of its own.
     *
     * @param journal the birth of the folder that has it
     * @param tag under which it has this folder's turns; drawn anew each time that a folder joins
     */
    record Shared(Birth journal, long tag) {}

    /** A birth that was replaced, and the number of its last start. */
    record Former(Birth birth, long newest) {}

    static final int LONGEST_NAME = 255;

    private static final String FORMAT = "saucr-service-folder 1";
    private static final int REMEMBERED_STARTS = 4096;

    private static final Pattern TEXT =
            Pattern.compile(
                    "birth ([0-9a-f]{32})\n"
                            + "name ([^\n]+)\n"
                            + "confirmed ([0-9]{1,18})\n"
                            + "journal (begun|none)\n"
                            + "(?:spent ([0-9]{1,18})\n)?"
                            + "((?:former [0-9a-f]{32} [0-9]{1,18}\n)*)"
                            + "(?:replaces ([0-9a-f]{32}) ([0-9]{1,18}) ([0-9a-f]{16})\n)?"
                            + "(?:marker ([0-9a-f]{32})\n)?"
                            + "(?:bound ([^\n]+)\n)?"
                            + "(?:shared ([0-9a-f]{32}) ([0-9a-f]{16})\n)?"
                            + "(?:group (in|left) ([0-9]{1,18}) ([0-9]{1,18}) ([^\n]+)\n)?");

    private static final Pattern START = Pattern.compile("start ([0-9]{1,18}) ([0-9a-f]{16})");

    Identity {
        starts = List.copyOf(starts);
        formers = List.copyOf(formers);
    }

    /** Of a new folder. */
    static Identity first(Birth birth, String name) {
        return new Identity(
                birth,
                name,
                List.of(),
                0,
                false,
                0,
                List.of(),
                Optional.empty(),
                Optional.empty(),
                "",
                Optional.empty(),
                Optional.empty());
    }

    /** Of a folder that continues from another one of the same birth, whose starts it knows. */
    static Identity of(List<Incarnation> starts, String name) {
        Identity first = first(starts.get(starts.size() - 1).birth(), name);
        return first.with(starts, 0, false, 0);
    }

    /** With one start more. */
    Identity started(long nonce) {
        List<Incarnation> more = new ArrayList<>(starts);
        more.add(new Incarnation(birth, lastNumber() + 1, nonce));
        // The head names the confirmed start or a later one. One that is older than all these can
        // only be that of a write which was in flight for as many starts.
        while (more.size() > REMEMBERED_STARTS) {
            more.remove(more.get(0).number() == confirmed ? 1 : 0);
        }
        return with(more, confirmed, begun, spent);
    }

    /** Without the newest start, of which nobody heard; its number is not given again. */
    Identity withdrawn() {
        return with(starts.subList(0, starts.size() - 1), confirmed, begun, newest().number());
    }

    /** Where that start is known to have held the head. */
    Identity confirmed(long number) {
        return with(starts, number, begun, spent);
    }

    /** Where the folder has a journal. */
    Identity withJournal() {
        return with(starts, confirmed, true, spent);
    }

    private Identity with(List<Incarnation> those, long held, boolean journal, long number) {
        return new Identity(
                birth,
                name,
                those,
                held,
                journal,
                number,
                formers,
                replaces,
                marker,
                bound,
                shared,
                membership);
    }

    /** Where a client belongs to a service. */
    Identity bound(String to) {
        return with(to, shared, begun, membership);
    }

    /** Where its newest turns are in a journal that it shares. */
    Identity shared(Shared with) {
        return with(bound, Optional.of(with), begun, membership);
    }

    /** Where all of its turns are in the folder. */
    Identity alone(boolean hasBase) {
        return with(bound, Optional.empty(), hasBase, membership);
    }

    /** Where the service is a member of a group, or was one. */
    Identity member(Membership of) {
        return with(bound, shared, begun, Optional.of(of));
    }

    private Identity with(
            String to, Optional<Shared> journal, boolean hasBegun, Optional<Membership> group) {
        return new Identity(
                birth, name, starts, confirmed, hasBegun, spent, formers, replaces, marker, to,
                journal, group);
    }

    /**
     * Under a new birth, which is no member of a group; numbers of starts continue, so that the
     * journal's stay in order (K11).
     */
    Identity bornAnew(Birth now, Optional<Incarnation> head, Optional<Birth> markerOf) {
        List<Former> more = new ArrayList<>(formers);
        more.add(new Former(birth, lastNumber()));
        return new Identity(
                now,
                name,
                List.of(),
                0,
                begun,
                lastNumber(),
                more,
                head,
                markerOf,
                "",
                shared,
                Optional.empty());
    }

    private long lastNumber() {
        return Math.max(spent, starts.isEmpty() ? 0 : newest().number());
    }

    /** The newest start. */
    Incarnation newest() {
        return starts.get(starts.size() - 1);
    }

    /** Whether a start is, or may have been, one of this folder. */
    boolean knows(Incarnation start) {
        for (Former former : formers) {
            if (start.birth().equals(former.birth())) {
                return start.number() <= former.newest();
            }
        }
        if (!start.birth().equals(birth) || start.number() > lastNumber()) {
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
        if (spent > 0) {
            text.append("spent ").append(spent).append('\n');
        }
        for (Former former : formers) {
            text.append("former ")
                    .append(former.birth())
                    .append(' ')
                    .append(former.newest())
                    .append('\n');
        }
        replaces.ifPresent(
                it ->
                        text.append("replaces ")
                                .append(it.birth())
                                .append(' ')
                                .append(it.number())
                                .append(String.format(" %016x\n", it.nonce())));
        marker.ifPresent(it -> text.append("marker ").append(it).append('\n'));
        if (!bound.isEmpty()) {
            text.append("bound ").append(bound).append('\n');
        }
        shared.ifPresent(
                it ->
                        text.append("shared ")
                                .append(it.journal())
                                .append(String.format(" %016x\n", it.tag())));
        membership.ifPresent(
                it ->
                        text.append(it.in() ? "group in " : "group left ")
                                .append(it.world())
                                .append(' ')
                                .append(it.version())
                                .append(' ')
                                .append(it.group())
                                .append('\n'));
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
                    ("it does not begin with \"%s\", but with \"%s\": it is damaged, another"
                                    + " program's, or a newer release's")
                            .formatted(FORMAT, first.substring(0, Math.min(40, first.length()))));
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
        List<Former> formers = new ArrayList<>();
        for (String each : matcher.group(6).lines().toList()) {
            String[] words = each.split(" ", -1);
            formers.add(new Former(Birth.parse(words[1]), Long.parseLong(words[2])));
        }
        Optional<Incarnation> replaces =
                Optional.ofNullable(matcher.group(7))
                        .map(
                                of ->
                                        new Incarnation(
                                                Birth.parse(of),
                                                Long.parseLong(matcher.group(8)),
                                                Long.parseUnsignedLong(matcher.group(9), 16)));
        return new Identity(
                birth,
                matcher.group(2),
                starts,
                Long.parseLong(matcher.group(3)),
                matcher.group(4).equals("begun"),
                matcher.group(5) == null ? 0 : Long.parseLong(matcher.group(5)),
                formers,
                replaces,
                Optional.ofNullable(matcher.group(10)).map(Birth::parse),
                matcher.group(11) == null ? "" : matcher.group(11),
                Optional.ofNullable(matcher.group(12))
                        .map(
                                of ->
                                        new Shared(
                                                Birth.parse(of),
                                                Long.parseUnsignedLong(matcher.group(13), 16))),
                Optional.ofNullable(matcher.group(14))
                        .map(
                                in ->
                                        new Membership(
                                                matcher.group(17),
                                                in.equals("in"),
                                                Long.parseLong(matcher.group(15)),
                                                Long.parseLong(matcher.group(16)))));
    }

    private static String checksum(String text) {
        CRC32C crc = new CRC32C();
        crc.update(text.getBytes(StandardCharsets.UTF_8));
        return String.format("%08x", crc.getValue());
    }
}
