package io.saucr.services.core;

import java.util.List;
import java.util.Optional;

/**
 * Whether this service is behind its own past (K14): a peer tells numbers that this service gave or
 * consumed, and under which of its starts. Who does not know of that is an old copy, or lost what
 * was forced, and would give numbers twice.
 */
final class OwnPast {

    private final List<Incarnation> starts;

    OwnPast(List<Incarnation> starts) {
        this.starts = List.copyOf(starts);
    }

    /**
     * Judges what a peer says of the pair.
     *
     * @param sent the last number that may have left here
     * @param consumed the last number whose consumption may have been told
     * @return why this service must not continue, if so
     */
    Optional<String> behind(Peer peer, Frame.Hello says, long sent, long consumed) {
        if (says.consumed().number() > sent) {
            return Optional.of(
                    "it consumed number "
                            + says.consumed().number()
                            + ", and this service's folder knows only of "
                            + sent);
        }
        if (says.acked().number() > consumed) {
            return Optional.of(
                    "its number "
                            + says.acked().number()
                            + " was acked, and this service's folder has consumed only "
                            + consumed);
        }
        Optional<String> unknown = unknown(says.consumed()).or(() -> unknown(says.acked()));
        if (unknown.isPresent()) {
            return unknown;
        }
        long start = peer.startOf(peer.countOf(says.consumed().number())).orElse(0L);
        if (start > says.consumed().incarnation()) {
            return Optional.of(
                    "it consumed number "
                            + says.consumed().number()
                            + " of start "
                            + says.consumed().incarnation()
                            + ", and this service's folder gave it only in start "
                            + start);
        }
        return Optional.empty();
    }

    private Optional<String> unknown(Count count) {
        boolean known =
                count.number() == 0
                        || starts.stream()
                                .anyMatch(
                                        start ->
                                                start.number() == count.incarnation()
                                                        && start.nonce() == count.nonce());
        return known
                ? Optional.empty()
                : Optional.of(
                        "it met start "
                                + count.incarnation()
                                + " with nonce "
                                + Long.toHexString(count.nonce())
                                + " of this service, of which this folder knows nothing");
    }
}
