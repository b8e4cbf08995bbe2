package io.saucr.services.core.once;

import io.saucr.services.core.Incarnation;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.TreeSet;

/**
 * A state as text: equal for states that can't be told apart by what may follow. Names of markers
 * and zxids are numbered in the order in which they first occur, and request numbers are left out,
 * as only their order matters. Used by one thread.
 */
final class StateText {

    private final StringBuilder text = new StringBuilder();
    private final Map<String, Integer> names = new HashMap<>();
    private final Map<Long, Integer> zxids = new HashMap<>();

    StateText add(Object value) {
        if (value instanceof String string && string.startsWith("m-")) {
            name(string);
        } else if (value == null
                || value instanceof String
                || value instanceof Number
                || value instanceof Boolean
                || value instanceof Enum<?>) {
            text.append(value).append(' ');
        } else if (value instanceof Incarnation start) {
            text.append('i').append(start.nonce()).append(' ');
        } else if (value instanceof MarkerContent content) {
            add(content.holder()).add(content.number()).add(content.refusals());
            content.created().forEach((number, zxid) -> add(number).zxid(zxid));
            text.append(';');
        } else if (value instanceof Step.Send send) {
            text.append("send ");
            name(send.marker());
            add(send.version()).add(send.content()).add(send.first()).add(send.last());
        } else if (value instanceof Step.Replace replace) {
            text.append("replace ").append(replace.parentVersion()).append(' ');
            add(replace.old()).add(replace.oldVersion()).add(replace.name());
            add(replace.content());
        } else if (value instanceof Step.Find find) {
            text.append("find ").append(find.number()).append(' ');
            zxid(find.czxid());
        } else if (value instanceof Record) {
            text.append(value).append(' ');
        } else if (value instanceof Map<?, ?> map) {
            text.append('{');
            map.forEach((k, v) -> add(k).add(v));
            text.append('}');
        } else if (value instanceof Collection<?> many) {
            text.append('[');
            for (Object each : many instanceof HashSet<?> set ? new TreeSet<>(set) : many) {
                add(each);
            }
            text.append(']');
        } else {
            ChainState.describe(value, this);
        }
        return this;
    }

    StateText zxid(long zxid) {
        text.append('z').append(zxids.computeIfAbsent(zxid, z -> zxids.size())).append(' ');
        return this;
    }

    private void name(String name) {
        text.append('m').append(names.computeIfAbsent(name, n -> names.size())).append(' ');
    }

    /** 128 bits in place of the text. */
    Print print() {
        long low = 0xcbf29ce484222325L;
        long high = 0x9e3779b97f4a7c15L;
        for (char each : text.toString().toCharArray()) {
            low = (low ^ each) * 0x100000001b3L;
            high = Long.rotateLeft(high ^ each, 23) * 0xff51afd7ed558ccdL;
        }
        return new Print(high, low);
    }

    @Override
    public String toString() {
        return text.toString();
    }

    /** Two states with the same one are taken for the same. */
    record Print(long high, long low) {}
}
