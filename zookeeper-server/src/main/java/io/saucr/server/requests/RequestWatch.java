package io.saucr.server.requests;

import io.saucr.core.Mode;
import io.saucr.server.metrics.StageMetrics;
import io.saucr.server.requests.SlowRequest.Replication;
import io.saucr.server.runtime.Printable;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.server.Request;

/**
 * What the stages of a server report of each request: the time in each stage, whether it was slow,
 * and who causes the load. The stages have read the clock anyway, so nothing here does, unless a
 * request was slow. Thread-safe; nothing waits, and without a slow request or somebody who waits
 * for {@link RequestTop} nothing is allocated.
 *
 * <p>Millisecond times are {@link org.apache.zookeeper.common.Time#currentElapsedTime}, of which
 * nanosecond times are the finer form.
 */
public final class RequestWatch {
    /** That much of a path is shown. */
    private static final int LONGEST_PATH = 200;

    private final StageMetrics stages = new StageMetrics();
    private final RequestTop top = new RequestTop();
    private final SlowRequests slow;

    public RequestWatch(SlowRequests slow) {
        this.slow = slow;
    }

    /** The time of each stage. */
    public StageMetrics stages() {
        return stages;
    }

    /** Who causes the load. */
    public RequestTop top() {
        return top;
    }

    /** What was slow. */
    public SlowRequests slow() {
        return slow;
    }

    /**
     * A leader has validated and proposed a write.
     *
     * @param nanos how long that took
     */
    public void proposed(Request request, long nanos) {
        stages.proposed(request.prepStartTime - request.prepQueueStartTime, nanos);
    }

    /**
     * What a leader knows of a write.
     *
     * @param of the server that has its client; 0 if it is the leader
     * @param acks those of this leader, whose monitor the caller holds
     * @param mode that the write was proposed in
     */
    public record Write(
            Request request,
            long zxid,
            long of,
            AckTimes acks,
            Mode mode,
            Collection<Long> voters) {

        private Replication replication(long now, boolean committed, long completedBy) {
            List<AckTimes.Ack> acked = acks.of(zxid);
            List<Long> missing = new ArrayList<>(voters);
            acked.forEach(ack -> missing.remove((Long) ack.server()));
            missing.sort(null);
            long sinceProposal = acks.sinceProposal(zxid, now);
            long queued = request.prepStartTime - request.prepQueueStartTime;
            long proposed = millis(now - sinceProposal);
            return new Replication(
                    mode.name().toLowerCase(Locale.ROOT),
                    queued,
                    sinceProposal < 0 ? 0 : Math.max(0, proposed - request.prepStartTime),
                    committed && sinceProposal >= 0 ? millis(sinceProposal) : -1,
                    acked,
                    completedBy,
                    missing);
        }

        private SlowRequest request(long millis, Replication replication) {
            return new SlowRequest(
                    System.currentTimeMillis(),
                    RequestContent.operation(request.type),
                    printable(RequestContent.path(request)),
                    request.sessionId,
                    of == 0 ? client(request) : null,
                    of,
                    RequestContent.bytes(request, true),
                    zxid,
                    millis,
                    Map.of(),
                    replication);
        }
    }

    /**
     * Whether a leader has had a write for so long that it is slow.
     *
     * @param now nanoseconds
     */
    public boolean isSlow(Request write, long now) {
        return slow.isSlow(millis(now) - write.prepQueueStartTime);
    }

    /**
     * A leader is about to commit a write that {@link #isSlow}. The caller holds the leader's
     * monitor.
     *
     * @param completedBy the server whose acknowledgement has completed the quorum
     * @param now nanoseconds
     */
    public void committed(Write write, long completedBy, long now) {
        long total = millis(now) - write.request.prepQueueStartTime;
        if (write.of == 0) {
            slow.committed(write.zxid, write.replication(now, true, completedBy));
        } else if (slow.admits(total)) {
            slow.report(write.request(total, write.replication(now, true, completedBy)));
        }
    }

    /** A write that a leader has not committed. The caller holds the leader's monitor. */
    public SlowRequest waiting(Write write, long now) {
        long total = millis(now) - write.request.prepQueueStartTime;
        return write.request(total, write.replication(now, false, 0));
    }

    /** The oldest write that a leader has not committed is slow already. */
    public void reportWaiting(SlowRequest waiting) {
        if (slow.admits(waiting.millis())) {
            slow.reportLine(waiting);
        }
    }

    /**
     * A commit is applied, and if it is of this server's client it is answered. Times are
     * nanoseconds.
     */
    public void applied(Request request, long began, long ended) {
        stages.applied(ended - began);
        if (request.commitProcQueueStartTime == -1) {
            return;
        }
        boolean write = request.getHdr() != null;
        long total = millis(ended) - request.createTime;
        top.count(request, write, total);
        if (slow.isSlow(total)) {
            slowCommit(request, write, millis(began), millis(ended));
        }
    }

    private void slowCommit(Request request, boolean write, long began, long ended) {
        slow.count();
        Replication replication = write ? slow.takeCommitted(request.zxid) : null;
        long total = ended - request.createTime;
        if (slow.admits(total)) {
            Map<String, Long> times = new LinkedHashMap<>();
            times.put(SlowRequest.QUEUE, request.commitProcQueueStartTime - request.createTime);
            times.put(
                    SlowRequest.COMMIT, request.commitRecvTime - request.commitProcQueueStartTime);
            times.put(SlowRequest.WAIT, began - request.commitRecvTime);
            times.put(SlowRequest.APPLY, ended - began);
            report(request, write, total, times, replication);
        }
    }

    /**
     * A request of this server's client that changes nothing is answered. Times are milliseconds.
     */
    public void read(Request request, long began, long ended) {
        if (request.type == OpCode.ping) {
            return;
        }
        long total = ended - request.createTime;
        top.count(request, false, total);
        if (slow.isSlow(total)) {
            slowRead(request, began, ended);
        }
    }

    private void slowRead(Request request, long began, long ended) {
        slow.count();
        long total = ended - request.createTime;
        if (slow.admits(total)) {
            Map<String, Long> times = new LinkedHashMap<>();
            times.put(SlowRequest.QUEUE, request.commitProcQueueStartTime - request.createTime);
            times.put(SlowRequest.WAIT, began - request.commitProcQueueStartTime);
            times.put(SlowRequest.READ, ended - began);
            report(request, false, total, times, null);
        }
    }

    private void report(
            Request request,
            boolean write,
            long total,
            Map<String, Long> times,
            Replication replication) {
        slow.report(
                new SlowRequest(
                        System.currentTimeMillis(),
                        RequestContent.operation(request.type),
                        printable(RequestContent.path(request)),
                        request.sessionId,
                        client(request),
                        0,
                        RequestContent.bytes(request, write),
                        write ? request.zxid : 0,
                        total,
                        times,
                        replication));
    }

    private static String printable(String path) {
        return path == null ? null : Printable.of(path, LONGEST_PATH);
    }

    /** Address and port of the client; null if no client has sent it. */
    static String client(Request request) {
        InetSocketAddress address =
                request.cnxn == null ? null : request.cnxn.getRemoteSocketAddress();
        return address == null || address.getAddress() == null
                ? null
                : address.getAddress().getHostAddress() + ":" + address.getPort();
    }

    private static long millis(long nanos) {
        return TimeUnit.NANOSECONDS.toMillis(nanos);
    }
}
