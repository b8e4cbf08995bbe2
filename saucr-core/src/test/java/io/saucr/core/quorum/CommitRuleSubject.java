package io.saucr.core.quorum;

import io.saucr.core.Mode;
import io.saucr.core.ScenarioInput;
import io.saucr.core.ScenarioSubject;
import io.saucr.core.Zxid;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A leader's commit rule. {@code new self voters=} begins epoch 1. Connections are counted per
 * server: {@code ack 2 1.3 over=1} is an ack over server 2's first connection; without {@code over}
 * it is the newest. Every proposal is followed by the leader's own entry only when the scenario
 * says {@code ack self}. {@code seal durable=} proposes a seal that all members of its view ack and
 * that is committed.
 */
public final class CommitRuleSubject implements ScenarioSubject {
    private CommitRule rule;
    private long self;
    private long last;
    private final Map<String, Long> connections = new TreeMap<>();
    private final Map<Long, Integer> count = new TreeMap<>();

    @Override
    public List<String> answer(ScenarioInput in) {
        switch (in.command()) {
            case "new":
                self = in.number();
                rule = new CommitRule(self, in.sids("voters"));
                last = Zxid.of(in.number("epoch", 1), 0);
                rule.startEpoch(last);
                return List.of();
            case "connect":
                {
                    long sid = in.number();
                    long connection = rule.connect(sid, !in.has("stock"));
                    connections.put(sid + "/" + count.merge(sid, 1, Integer::sum), connection);
                    if (!in.has("unjoined")) {
                        rule.join(sid, connection);
                    }
                    return committable();
                }
            case "join":
                {
                    long sid = in.number();
                    rule.join(sid, connection(in, sid));
                    return List.of();
                }
            case "disconnect":
                {
                    long sid = in.number();
                    rule.disconnect(sid, connection(in, sid));
                    return committable();
                }
            case "restarted":
                rule.restarted(in.number());
                return committable();
            case "propose":
                {
                    Mode mode = in.mode();
                    for (long n = in.number("times", 1); n > 0; n--) {
                        rule.propose(last + 1, mode);
                        last++;
                        if (in.has("selfAcks")) {
                            rule.ack(self, CommitRule.SELF, last);
                        }
                    }
                    return List.of(ScenarioInput.show(last) + " " + committable().get(0));
                }
            case "seal":
                return seal(in);
            case "seal?":
                return List.of(
                        !rule.sealDue()
                                ? "not due"
                                : rule.viewIsWhole() ? "due" : "due, a member is gone");
            case "member?":
                return List.of(rule.sealed(in.number()) ? "yes" : "no");
            case "resume":
                rule.resume(
                        new View(in.zxid("seal"), (int) in.number("of", 0), in.sids("members")));
                return List.of();
            case "ack":
                {
                    String who = in.word();
                    long zxid = in.zxid();
                    if ("self".equals(who)) {
                        rule.ack(self, CommitRule.SELF, zxid);
                    } else {
                        long sid = Long.parseLong(who);
                        rule.ack(sid, connection(in, sid), zxid);
                    }
                    return committable();
                }
            case "commit":
                rule.committed(in.zxid());
                return List.of("outstanding " + rule.outstanding());
            case "voters":
                rule.voters(in.sids("voters"));
                return List.of();
            case "reconfigure":
                rule.reconfigure(in.sids("voters"));
                return List.of();
            case "activate":
                rule.activate();
                return List.of();
            case "fast?":
                return List.of(
                        rule.lastSlowOnFastQuorumOfDisks() ? "last slow entry on F disks" : "no");
            default:
                throw in.unknown();
        }
    }

    private List<String> seal(ScenarioInput in) {
        View view = rule.proposeSeal(last + 1);
        last++;
        if (in.has("durable")) {
            for (long sid : view.members()) {
                rule.ack(sid, sid == self ? CommitRule.SELF : connection(in, sid), last);
            }
            rule.committed(last);
        }
        return List.of(
                ScenarioInput.show(last)
                        + " seals "
                        + ScenarioInput.show(view)
                        + ", "
                        + committable().get(0));
    }

    private long connection(ScenarioInput in, long sid) {
        long index = in.number("over", count.getOrDefault(sid, 0));
        return connections.getOrDefault(sid + "/" + index, -7L);
    }

    private List<String> committable() {
        return List.of("committable " + ScenarioInput.show(rule.committableThrough()));
    }
}
