package io.saucr.services.journal;

/**
 * What a folder says of the group of which its service is a member. While it is in, its newest
 * turns may still be undone, so that only a member of that group may use them. Immutable.
 *
 * @param group path of the group in the ensemble, 1 to 255 characters on one line
 * @param in whether it is a member; else it has left, and all of its turns are final
 * @param world of the group of which the version is, from 1
 * @param version of a base that names none: with which the service joined, or left; from 0
 */
public record Membership(String group, boolean in, long world, long version) {

    private static final int LONGEST_PATH = 255;

    public Membership {
        if (group.isEmpty() || group.length() > LONGEST_PATH || group.indexOf('\n') >= 0) {
            throw new IllegalArgumentException(
                    "the path of a group has 1 to %s characters on one line, not \"%s\""
                            .formatted(LONGEST_PATH, group));
        }
        if (world < 1 || version < 0) {
            throw new IllegalArgumentException("version " + version + " of world " + world);
        }
    }
}
