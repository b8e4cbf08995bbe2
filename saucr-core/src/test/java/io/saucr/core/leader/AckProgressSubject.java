package io.saucr.core.leader;

import io.saucr.core.ScenarioInput;
import io.saucr.core.ScenarioSubject;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * Who acks in time. {@code propose 1.5 at=10}, {@code ack 2 1.5 at=12}; {@code look at=20} says of
 * every peer whether it is in time and what it owes. Peer {@code log=0} of {@code new} is the own
 * log, which owes what is handed to it: {@code hand 0 1.5 at=11}; {@code waited 0 50 at=60} says
 * that its thread had no processor for so long.
 */
public final class AckProgressSubject implements ScenarioSubject {
    private final TreeMap<Long, AckProgress.Peer> peers = new TreeMap<>();
    private AckProgress progress;

    @Override
    public List<String> answer(ScenarioInput in) {
        long now = in.number("at", 0);
        switch (in.command()) {
            case "new":
                progress = new AckProgress(in.number("bound", 100));
                for (long sid : in.sids("peers")) {
                    peers.put(sid, progress.add());
                }
                in.sids("log").forEach(sid -> peers.put(sid, progress.addOwnLog()));
                progress.startEpoch(in.zxid("epoch"), now);
                return List.of();
            case "add":
                peers.put(in.number(), progress.add());
                return List.of();
            case "remove":
                progress.remove(peers.remove(in.number()));
                return List.of();
            case "propose":
                progress.proposed(in.zxid(), now);
                return List.of();
            case "hand":
                peers.get(in.number()).handed(in.zxid(), now);
                return List.of();
            case "waited":
                peers.get(in.number()).excused(in.number(), now);
                return List.of();
            case "ack":
                peers.get(in.number()).acked(in.zxid(), now);
                return List.of();
            case "stoodStill":
                progress.stoodStill(in.number(), now);
                return List.of();
            case "recent":
                return List.of(ScenarioInput.show(progress.recent()));
            case "look":
                List<String> lines = new ArrayList<>();
                peers.forEach(
                        (sid, peer) ->
                                lines.add(
                                        sid
                                                + (peer.inTime(now) ? " in time" : " late")
                                                + ", owes for "
                                                + peer.owedFor(now)
                                                + (peer.lateAndIdle() ? ", idle" : "")));
                return lines;
            default:
                throw in.unknown();
        }
    }
}
