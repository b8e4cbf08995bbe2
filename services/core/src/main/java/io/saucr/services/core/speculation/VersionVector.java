package io.saucr.services.core.speculation;

import java.util.Arrays;

/**
 * A version of each member of a group in one world: a boundary, the cuts of a decision, or what a
 * version depends on. 0 where there is none. Immutable.
 */
public final class VersionVector {

    /** No version of any member. */
    public static final VersionVector NONE = new VersionVector(new long[0]);

    /** By index of the member; the last one is not 0. */
    private final long[] versions;

    private VersionVector(long[] versions) {
        this.versions = versions;
    }

    /**
     * Of versions.
     *
     * @param versions by index of the member
     */
    public static VersionVector of(long... versions) {
        int length = versions.length;
        while (length > 0 && versions[length - 1] == 0) {
            length--;
        }
        return length == 0 ? NONE : new VersionVector(Arrays.copyOf(versions, length));
    }

    /** One member's. */
    public long at(int member) {
        return member < versions.length ? versions[member] : 0;
    }

    /** The first index behind the members that have a version here. */
    public int members() {
        return versions.length;
    }

    /** The same with another version of one member. */
    public VersionVector with(int member, long version) {
        if (at(member) == version) {
            return this;
        }
        long[] changed = Arrays.copyOf(versions, Math.max(versions.length, member + 1));
        changed[member] = version;
        return of(changed);
    }

    /** The higher version of each member. */
    public VersionVector and(VersionVector other) {
        VersionVector higher = this;
        for (int member = 0; member < other.versions.length; member++) {
            higher = higher.with(member, Math.max(at(member), other.at(member)));
        }
        return higher;
    }

    /** Whether no version of the other one is higher. */
    public boolean covers(VersionVector other) {
        for (int member = 0; member < other.versions.length; member++) {
            if (other.versions[member] > at(member)) {
                return false;
            }
        }
        return true;
    }

    /** What the other one does not cover. */
    public VersionVector beyond(VersionVector other) {
        VersionVector left = this;
        for (int member = 0; member < versions.length; member++) {
            if (versions[member] <= other.at(member)) {
                left = left.with(member, 0);
            }
        }
        return left;
    }

    /** Whether it has no version of any member. */
    public boolean isNone() {
        return versions.length == 0;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof VersionVector it && Arrays.equals(versions, it.versions);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(versions);
    }

    @Override
    public String toString() {
        return Arrays.toString(versions);
    }
}
