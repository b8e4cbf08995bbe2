package io.saucr.services;

/**
 * What became of a write by {@link Turn#ensemble}: a message to the service, where that has a
 * handler for it. Immutable.
 *
 * @param paths that were written, with commas
 * @param happened whether it did; if not, it never will
 * @param refusal the name of ZooKeeper's error, or why it was given up; empty text where it
 *     happened
 * @param created the path of the child that a sequential create made; empty text without one, or
 *     where it is not known any more
 */
public record EnsembleOutcome(String paths, boolean happened, String refusal, String created) {}
