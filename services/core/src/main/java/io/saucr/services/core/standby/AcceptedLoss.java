package io.saucr.services.core.standby;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.standby.StandbyHead.Copies;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Decides whether an operator's order may accept a loss, and what the head says then (C17): the
 * head names a segment that nobody has any more, so nobody can take over (C6). One member continues
 * with the newest segment of its folder of which it is certain that the head named it (C16), under
 * a new birth (K11), so that nothing of the lost turns passes for what follows. One conditional
 * write of the head is the whole order; folders follow the head.
 *
 * <p>It is decided on one look at ensemble and folder, and an order repeats the token of that look:
 * where anything has changed since, it is refused. No I/O.
 */
public final class AcceptedLoss {

    private static final int TOKEN_DIGITS = 8;

    private AcceptedLoss() {}

    /**
     * What the ensemble says.
     *
     * @param version of the znode that holds the head
     * @param serves where a process says that it is primary; empty where none does
     * @param announced members whose processes are there, with their addresses
     */
    public record Found(
            StandbyHead head,
            int version,
            Optional<String> serves,
            SortedMap<String, String> announced) {
        public Found {
            announced = Collections.unmodifiableSortedMap(new TreeMap<>(announced));
        }
    }

    /** What comes of a look. */
    public sealed interface Decision {

        /** No loss is accepted; says why, and what to do. Nothing is changed. */
        record Refuse(String reason) implements Decision {}

        /**
         * A loss may be accepted.
         *
         * @param keeps the newest segment that counts then
         * @param unnamed segments of the folder behind that, of which nobody knows whether the head
         *     ever named them, so they do not count (C16)
         * @param token names this look
         */
        record Offer(SegmentId keeps, long unnamed, String token) implements Decision {}
    }

    /**
     * Decides.
     *
     * @param member whose folder it is; nobody else uses it
     * @param chain what the folder holds
     */
    public static Decision decide(Found found, String member, Standby.Chain chain) {
        Optional<String> refusal =
                birth(found.head(), chain)
                        .or(() -> office(found))
                        .or(() -> held(found, member, chain));
        if (refusal.isPresent()) {
            return new Decision.Refuse(refusal.get() + ". Nothing was changed");
        }
        SegmentId last = chain.last();
        SegmentId lost = found.head().segment();
        // One process wrote all of an epoch, one segment after the other: what it wrote before a
        // segment that was named was named with it.
        boolean certain = last.epoch() == lost.epoch() && last.number() < lost.number();
        Optional<SegmentId> keeps = certain ? Optional.of(last) : chain.at(chain.known());
        if (keeps.isEmpty() || keeps.get().number() == 0) {
            return new Decision.Refuse(
                    "this folder holds no segment of which it is certain that the head named it, so"
                            + " nothing would be left. Use the folder of a member that has more."
                            + " Nothing was changed");
        }
        return new Decision.Offer(
                keeps.get(),
                last.number() - keeps.get().number(),
                token(found, member, keeps.get()));
    }

    private static Optional<String> birth(StandbyHead head, Standby.Chain chain) {
        Optional<Birth> birth = chain.birth();
        if (birth.isEmpty()) {
            return Optional.of("this folder is new: its member never met the service");
        }
        if (birth.get().equals(head.holder().birth())) {
            return Optional.empty();
        }
        if (head.replaces().map(Replaced::birth).equals(birth)) {
            return Optional.of(
                    "a loss was accepted already: generation "
                            + head.holder().birth()
                            + " replaced that of this folder, "
                            + birth.get()
                            + ". Start this member: its folder follows");
        }
        return Optional.of(
                "the head is of generation "
                        + head.holder().birth()
                        + ", and this folder is of generation "
                        + birth.get());
    }

    private static Optional<String> office(Found found) {
        if (found.serves().isPresent()) {
            return Optional.of(
                    "a process says that it is primary, at "
                            + found.serves().get()
                            + ": stop it, or wait until its session ends");
        }
        String holder = found.head().member();
        if (found.announced().containsKey(holder)) {
            return Optional.of(
                    "member "
                            + holder
                            + ", which is primary, is there, at "
                            + found.announced().get(holder)
                            + ": stop it, or wait until its session ends");
        }
        return Optional.empty();
    }

    private static Optional<String> held(Found found, String member, Standby.Chain chain) {
        SegmentId lost = found.head().segment();
        if (chain.at(lost.number()).equals(Optional.of(lost))) {
            return Optional.of(
                    "nothing is lost: this folder holds segment "
                            + lost
                            + ", which the head names. Start this member");
        }
        if (chain.known() >= lost.number()) {
            return Optional.of(
                    "the head went back: it names segment "
                            + lost
                            + ", and this folder knows that it named number "
                            + chain.known()
                            + ". The ensemble was restored from before, or the head was written by"
                            + " hand");
        }
        for (String holder : found.head().holders()) {
            if (!holder.equals(member) && found.announced().containsKey(holder)) {
                return Optional.of(
                        "nothing is lost: member "
                                + holder
                                + ", which has segment "
                                + lost
                                + ", is there, at "
                                + found.announced().get(holder)
                                + ". If it has lost it, stop it first");
            }
        }
        return Optional.empty();
    }

    private static String token(Found found, String member, SegmentId keeps) {
        String state = member + " " + keeps + " " + keeps.digest() + " " + found.version() + " ";
        byte[] head = found.head().encode();
        byte[] own = state.getBytes(StandardCharsets.UTF_8);
        byte[] digest;
        try {
            digest =
                    MessageDigest.getInstance("SHA-256")
                            .digest(
                                    ByteBuffer.allocate(own.length + head.length)
                                            .put(own)
                                            .put(head)
                                            .array());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
        return "lose-"
                + (keeps.number() + 1)
                + "-to-"
                + found.head().segment().number()
                + "-"
                + HexFormat.of().formatHex(digest).substring(0, TOKEN_DIGITS);
    }

    /**
     * What the head says after the order: the member is to take over from it.
     *
     * @param keeps as decided
     * @param turn the last one up to that segment
     * @param birth drawn at random
     * @param nonce drawn at random
     */
    public static StandbyHead head(
            Found found, String member, SegmentId keeps, long turn, Birth birth, long nonce) {
        StandbyHead before = found.head();
        return new StandbyHead(
                new Incarnation(birth, before.holder().number() + 1, nonce),
                member,
                before.at(),
                keeps,
                turn,
                new TreeSet<>(List.of(member)),
                Copies.ALONE,
                Optional.of(member),
                Optional.of(new Replaced(before.holder().birth(), keeps)),
                before.lanes());
    }

    /**
     * The members that the head says have what is lost, each with its address where it is there.
     */
    public static SortedMap<String, Optional<String>> holders(Found found) {
        SortedMap<String, Optional<String>> all = new TreeMap<>();
        Map<String, String> there = found.announced();
        found.head().holders().forEach(it -> all.put(it, Optional.ofNullable(there.get(it))));
        return all;
    }
}
