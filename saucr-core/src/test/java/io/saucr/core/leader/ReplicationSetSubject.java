package io.saucr.core.leader;

import io.saucr.core.ScenarioInput;
import io.saucr.core.ScenarioSubject;
import io.saucr.core.log.ProposalTag;
import java.util.List;

/** Who is sent proposals, and the tag that goes with them. */
public final class ReplicationSetSubject implements ScenarioSubject {
    private ReplicationSet set;
    private ProposalTag lastTag;

    @Override
    public List<String> answer(ScenarioInput in) {
        switch (in.command()) {
            case "new":
                set = new ReplicationSet(in.number(), in.map("known"), in.zxid("epochStart"));
                return List.of();
            case "join":
                set.join(in.number());
                return List.of();
            case "leave":
                set.leave(in.number());
                return List.of();
            case "propose":
                {
                    long zxid = in.zxid();
                    ProposalTag tag = set.propose(zxid, in.mode());
                    boolean same = lastTag != null && lastTag.equals(tag);
                    lastTag = tag;
                    return List.of(
                            tag.encode() + (same ? " (as before)" : ""),
                            "map " + ScenarioInput.show(tag.resolve(zxid)));
                }
            case "contains":
                return List.of(Boolean.toString(set.contains(in.number())));
            default:
                throw in.unknown();
        }
    }
}
