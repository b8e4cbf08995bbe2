package io.saucr.core.log;

import io.saucr.core.Mode;
import io.saucr.core.ScenarioInput;
import io.saucr.core.ScenarioSubject;
import java.util.List;

/** What a server owes its disk before it acks. */
public final class LogDurabilitySubject implements ScenarioSubject {
    private LogDurability log;

    @Override
    public List<String> answer(ScenarioInput in) {
        switch (in.command()) {
            case "new":
                log =
                        new LogDurability(
                                new Markers(
                                        in.zxid("fastSwitch"),
                                        in.zxid("latestOnDisk"),
                                        LleMap.empty()));
                return List.of(claim());
            case "append":
                {
                    long zxid = in.zxid();
                    String kind = in.word();
                    if ("forced".equals(in.text("until", ""))) {
                        log.appendedFastToBeForced(zxid);
                    } else if ("seal".equals(kind)) {
                        log.appendedSeal(zxid);
                    } else {
                        log.appended(zxid, "fast".equals(kind) ? Mode.FAST : Mode.SLOW);
                    }
                    return List.of();
                }
            case "owed":
                return List.of(
                        (log.mustForce() ? "force" : "no force")
                                + (log.mustMarkOnDisk() ? ", latest-on-disk" : "")
                                + (log.fastSwitchNeeded() == 0
                                        ? ""
                                        : ", fast-switch "
                                                + ScenarioInput.show(log.fastSwitchNeeded())));
            case "flushed":
                {
                    long forced = in.zxid();
                    boolean may =
                            log.mayMarkOnDisk(forced, in.has("last") ? in.zxid("last") : forced);
                    return List.of(may ? "mark it" : "no marker");
                }
            case "marked":
                if ("fast-switch".equals(in.word())) {
                    log.markedFastSwitch(in.zxid());
                } else {
                    log.markedOnDisk(in.zxid());
                }
                return List.of(claim());
            case "ack":
                log.acked();
                return List.of(claim());
            default:
                throw in.unknown();
        }
    }

    private String claim() {
        return log.claimsOnDisk() ? "claims: on disk" : "claims: fast";
    }
}
