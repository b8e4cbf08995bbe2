package io.saucr.core.log;

import io.saucr.core.ScenarioInput;
import io.saucr.core.ScenarioSubject;
import java.util.List;

/** A receiver's LLE knowledge. */
public final class KnowledgeSubject implements ScenarioSubject {
    private LleKnowledge knowledge = new LleKnowledge(LleMap.empty());

    @Override
    public List<String> answer(ScenarioInput in) {
        switch (in.command()) {
            case "new":
                knowledge = new LleKnowledge(in.map("map"));
                break;
            case "append":
                {
                    long zxid = in.zxid();
                    long[] members = in.sids("to").stream().mapToLong(Long::longValue).toArray();
                    knowledge.appended(ProposalTag.of(in.mode(), members, in.map("others")), zxid);
                    break;
                }
            case "merge":
                knowledge.merge(in.map("map"));
                break;
            default:
                throw in.unknown();
        }
        return List.of(ScenarioInput.show(knowledge.snapshot()));
    }
}
