package io.saucr.services;

/**
 * A message to a service with partitions ({@link Services#partitions}): all with the same key go to
 * the same partition, in order.
 *
 * <pre>{@code
 * record Deposit(String owner, long cents) implements Keyed {
 *     @Override public String key() {
 *         return owner;
 *     }
 * }
 * }</pre>
 */
public interface Keyed {

    /** Which partition it belongs to; never null, and the same for the same message. */
    String key();
}
