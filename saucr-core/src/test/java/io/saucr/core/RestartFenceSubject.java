package io.saucr.core;

import java.util.List;
import java.util.OptionalLong;

/**
 * Both ends of R20: the follower that owes its leader a notice, and the leader that drops a
 * connection.
 */
final class RestartFenceSubject implements ScenarioSubject {
    private final RestartNotices notices = new RestartNotices();
    private final IncarnationFence fence = new IncarnationFence();

    @Override
    public List<String> answer(ScenarioInput in) {
        switch (in.command()) {
            case "follower-connected":
                notices.connected();
                return List.of();
            case "follower-disconnected":
                notices.disconnected();
                return List.of();
            case "queried-by":
                return List.of(
                        notices.mustTell(in.number(), in.number("nonce", 0))
                                ? "tell, then answer"
                                : "answer");
            case "told":
                notices.told(in.number(), in.number("nonce", 0));
                return List.of();
            case "leader-accepts":
                fence.connected(in.number(), in.number("connection", 0), in.number("nonce", 0));
                return List.of();
            case "leader-lost":
                fence.disconnected(in.number(), in.number("connection", 0));
                return List.of();
            case "leader-hears-restart":
                {
                    OptionalLong drop = fence.restarted(in.number(), in.number("nonce", 0));
                    return List.of(
                            drop.isPresent() ? "drop connection " + drop.getAsLong() : "nothing");
                }
            default:
                throw in.unknown();
        }
    }
}
