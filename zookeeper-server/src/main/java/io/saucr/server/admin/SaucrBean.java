package io.saucr.server.admin;

import io.saucr.core.Zxid;
import io.saucr.server.metrics.RecentEvents;
import io.saucr.server.runtime.FlushCause;
import io.saucr.server.runtime.RecoveryProgress;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.management.JMException;
import org.apache.zookeeper.jmx.MBeanRegistry;
import org.apache.zookeeper.jmx.ZKMBeanInfo;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The bean of one server; as thread-safe as what it shows. */
public final class SaucrBean implements SaucrMXBean, ZKMBeanInfo {
    private static final Logger LOG = LoggerFactory.getLogger(SaucrBean.class);

    private final SaucrStatus status;
    private final Maintenance maintenance;

    SaucrBean(SaucrStatus status, Maintenance maintenance) {
        this.status = status;
        this.maintenance = maintenance;
    }

    /** If registering fails, the server runs without its bean, as it does without ZooKeeper's. */
    void register() {
        try {
            MBeanRegistry.getInstance().register(this, null);
        } catch (JMException e) {
            LOG.warn("JMX does not take the bean {}", getName(), e);
        }
    }

    /** Makes room for the bean of a server that is started later in this process. */
    void unregister() {
        MBeanRegistry.getInstance().unregister(this);
    }

    @Override
    public String getName() {
        return "Saucr_id" + status.peer().getMyId();
    }

    @Override
    public boolean isHidden() {
        return false;
    }

    @Override
    public String getRole() {
        return status.role();
    }

    @Override
    public String getMode() {
        return status.mode() == 1 ? "fast" : "slow";
    }

    @Override
    public boolean isOnDisk() {
        return status.onDisk();
    }

    @Override
    public String getPinnedSlow() {
        Maintenance.Pinned pinned = maintenance.pinned();
        return pinned == null ? "" : pinned.reason();
    }

    @Override
    public List<Long> getPromptSet() {
        return status.promptSet();
    }

    @Override
    public long getModeSwitches() {
        return status.replication().modeSwitches();
    }

    @Override
    public long getFastCommits() {
        return status.replication().fastCommits();
    }

    @Override
    public long getSlowCommits() {
        return status.replication().slowCommits();
    }

    @Override
    public long getLogForces() {
        return status.log().forces();
    }

    @Override
    public Map<String, Long> getFlushes() {
        Map<String, Long> result = new LinkedHashMap<>();
        status.log().flushesByCause().forEach((cause, n) -> result.put(cause, n.longValue()));
        return result;
    }

    @Override
    public List<String> getLastSwitches() {
        return lines(status.replication().recentSwitches());
    }

    @Override
    public List<String> getLastFlushes() {
        return lines(status.log().recentFlushes());
    }

    private static List<String> lines(RecentEvents events) {
        return events.all().stream()
                .map(
                        event ->
                                Instant.ofEpochMilli(event.at())
                                        + " "
                                        + event.what()
                                        + " after "
                                        + Zxid.toString(event.zxid())
                                        + ": "
                                        + event.reason()
                                        + (event.micros() < 0 ? "" : ", " + event.micros() + " us"))
                .toList();
    }

    @Override
    public String getRecovery() {
        RecoveryProgress progress = status.peer().recoveryProgress();
        return progress == null ? "" : progress.sentence();
    }

    @Override
    public String flush(String reason) {
        return maintenance.flush(FlushCause.OPERATOR, reason).sentence();
    }

    @Override
    public String pinSlow(String reason) {
        maintenance.pinSlow(FlushCause.OPERATOR, reason);
        if (status.peer().recovering()) {
            return "slow mode is pinned; the server recovers and has nothing to flush";
        }
        return "slow mode is pinned; " + maintenance.flush(FlushCause.OPERATOR, reason).sentence();
    }

    @Override
    public String unpin(String reason) {
        maintenance.unpin(reason);
        return "slow mode is not pinned any more";
    }
}
