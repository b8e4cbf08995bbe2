package io.saucr.core.leader;

import io.saucr.core.ScenarioInput;
import io.saucr.core.ScenarioSubject;
import java.util.List;
import java.util.OptionalLong;

/** The leader's end of R20: which connection it drops when it hears that a server restarted. */
public final class RestartFenceSubject implements ScenarioSubject {
    private final IncarnationFence fence = new IncarnationFence();

    @Override
    public List<String> answer(ScenarioInput in) {
        switch (in.command()) {
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
