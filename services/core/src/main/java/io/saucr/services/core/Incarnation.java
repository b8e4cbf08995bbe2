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
}
