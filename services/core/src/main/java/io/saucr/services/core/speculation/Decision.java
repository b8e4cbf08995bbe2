package io.saucr.services.core.speculation;

/**
 * What a coordinator decided after a failure; it begins a world (D1). Versions up to the cuts are
 * final, and each member drops its others, but for those that it may keep (D11).
 *
 * @param world that begins
 * @param cuts the newest surviving version of each member. Of a member that has not passed to a
 *     world, later decisions repeat the cut
 */
public record Decision(long world, VersionVector cuts) {}
