package io.saucr.bench.result;

/**
 * How often a method was found running in the threads of one stage. Immutable.
 *
 * @param share of the stage's samples, 0 to 1
 */
public record MethodShare(
        String configuration, String role, String stage, String method, double share) {}
