package io.saucr.services.core;

/**
 * One start of a service or client on its folder (K14). The number rises with every start of a
 * birth; the nonce is drawn at random and tells two starts apart that took the same number, as a
 * folder and its copy do. Immutable.
 *
 * @param birth whose start it is
 * @param number from 1
 * @param nonce 64 random bits
 */
public record Incarnation(Birth birth, long number, long nonce) {

    public Incarnation {
        if (number < 1) {
            throw new IllegalArgumentException("incarnations are numbered from 1, not " + number);
        }
    }

    /**
     * Whether that is another start, of the same birth, that took the same number: one of the two
     * is a copy (K14).
     */
    public boolean isTwinOf(Incarnation other) {
        return birth.equals(other.birth) && number == other.number && nonce != other.nonce;
    }
}
