package io.saucr.services.core.speculation;

/**
 * What a message depends on: a version of its sender (D1). A number that is given again after a
 * loss is of another world.
 *
 * @param member index of the sender in its group
 * @param world how many decisions the sender has passed
 * @param version of the sender, from 1; 0 where the message's turn is final
 */
public record Vertex(int member, long world, long version) {

    public Vertex {
        if (member < 0 || world < 1 || version < 0) {
            throw new IllegalArgumentException(
                    "version " + version + " of member " + member + " in world " + world);
        }
    }
}
