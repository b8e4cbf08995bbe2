package io.saucr.services;

/**
 * What became of a write by {@link Turn#ensemble}: a message to the service, where that has a
 * handler for it. Immutable.
 *
 * @param paths that were written, with commas
 * @param happened whether it did; if not, it never will, unless that is unknown
 * @param refusal the name of ZooKeeper's error, or why it was given up or is unknown; empty text
 *     where it happened
 * @param created the path of the child that a sequential create made; empty text without one, or
 *     where it is not known any more
 * @param unknown whether it is not known if it happened, and never will be: the service was given a
 *     new birth while it was open (K11)
 */
public record EnsembleOutcome(
        String paths, boolean happened, String refusal, String created, boolean unknown) {

    /** An outcome that is known. */
    public EnsembleOutcome(String paths, boolean happened, String refusal, String created) {
        this(paths, happened, refusal, created, false);
    }
}
