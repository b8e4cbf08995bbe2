package io.saucr.history;

import java.util.List;

/**
 * One register's part of a history: linearizability is local, so each register can be judged by
 * itself. Immutable.
 *
 * @param calls how many there were, with those that say nothing
 * @param operations calls that may have taken effect, by their invocations. A call without an
 *     answer counts as INFO; reads without a result say nothing and are left out
 * @param failed calls that took no effect
 */
public record Register(
        Object key, int calls, List<RegisterOperation> operations, List<RegisterOperation> failed) {
    public Register {
        operations = operations.stream().sorted().toList();
        failed = List.copyOf(failed);
    }

    /** As messages name it. */
    public String name() {
        return key.equals(RegisterCall.THE_ONLY_KEY)
                ? "the register"
                : "register " + Edn.print(key);
    }
}
