package io.saucr.services;

/**
 * Who asks an ensemble. Immutable.
 *
 * @param scheme as "digest"
 * @param secret as "user:password", UTF-8
 */
public record Credentials(String scheme, String secret) {

    /** Checks that a scheme is there. */
    public Credentials {
        if (scheme.isBlank()) {
            throw new IllegalArgumentException("credentials need a scheme, such as digest");
        }
    }

    /** Without the secret. */
    @Override
    public String toString() {
        return scheme + ":...";
    }
}
