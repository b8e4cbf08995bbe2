package io.saucr.core.recovery;

import io.saucr.core.ScenarioInput;
import io.saucr.core.ScenarioSubject;
import io.saucr.core.Zxid;
import io.saucr.core.log.Markers;
import io.saucr.core.quorum.Configuration;
import io.saucr.core.quorum.View;
import io.saucr.core.recovery.RecoveryMessage.Compression;
import io.saucr.core.recovery.RecoveryMessage.EntriesAnswer;
import io.saucr.core.recovery.RecoveryMessage.EntriesRequest;
import io.saucr.core.recovery.RecoveryMessage.Entry;
import io.saucr.core.recovery.RecoveryMessage.EntryPart;
import io.saucr.core.recovery.RecoveryMessage.EpochEndsAnswer;
import io.saucr.core.recovery.RecoveryMessage.EpochEndsRequest;
import io.saucr.core.recovery.RecoveryMessage.LleAnswer;
import io.saucr.core.recovery.RecoveryMessage.LleQuery;
import io.saucr.core.recovery.RecoveryMessage.LostAnswer;
import io.saucr.core.recovery.RecoveryMessage.LostQuery;
import io.saucr.core.recovery.RecoveryMessage.NoAnswer;
import io.saucr.core.recovery.RecoveryMessage.Reason;
import io.saucr.core.recovery.RecoveryMessage.SnapshotPart;
import io.saucr.core.recovery.RecoveryMessage.SnapshotRequest;
import io.saucr.core.recovery.RecoveryMessage.Unavailable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * A recovering server. Answers of others are inputs; {@code from=2} is who says it, {@code
 * request=} the number it answers (the newest if absent), {@code nonce=} another process's, {@code
 * ownView=} the seal of its own view (none if absent, {@code -} if the answer does not tell).
 * {@code view=1.4/5/1,2,3} is the recovering server's own view: seal, voters, members; all voters
 * if absent. Time is milliseconds; repeat after 100, give up after 1000.
 */
public final class RecoverySubject implements ScenarioSubject {
    private static final long MILLI = 1_000_000;
    private static final long NONCE = 77;

    private RecoveryProcedure recovery;
    private long now;
    private long request;

    @Override
    public List<String> answer(ScenarioInput in) {
        long from = in.number("from", 0);
        long nonce = in.number("nonce", NONCE);
        long id = in.number("request", request);
        switch (in.command()) {
            case "new":
                recovery = create(in);
                return List.of();
            case "start":
                return show(recovery.start(now));
            case "after":
                now += in.number() * MILLI;
                return show(recovery.tick(now));
            case "lle":
                return receive(
                        from,
                        new LleAnswer(
                                nonce,
                                from,
                                in.number("epoch", 0),
                                in.zxid("last"),
                                in.map("map"),
                                configuration(in, "voters", "version"),
                                pending(in),
                                ownView(in)));
            case "lost":
                return receive(
                        from,
                        new LostAnswer(
                                nonce,
                                from,
                                in.number("round", recovery.round()),
                                in.has("leads"),
                                in.number("accepted", 0),
                                new LleAnswer(
                                        nonce,
                                        from,
                                        in.number("epoch", 0),
                                        in.zxid("last"),
                                        in.map("map"),
                                        configuration(in, "voters", "version"),
                                        pending(in),
                                        LleAnswer.NOT_ASKED)));
            case "none":
                return receive(from, new NoAnswer(nonce, from, in.has("blank")));
            case "voted":
                return show(recovery.voted(from, in.has("blank")));
            case "epoch-ends":
                return receive(from, new EpochEndsAnswer(nonce, from, id, in.epochEnds("log")));
            case "entries":
                {
                    List<Entry> entries = new ArrayList<>();
                    for (long zxid : in.zxids("zxids")) {
                        entries.add(new Entry(zxid, Bytes.wrap(new byte[] {1})));
                    }
                    return receive(
                            from,
                            new EntriesAnswer(
                                    nonce, from, id, entries, "yes".equals(in.text("end", "no"))));
                }
            case "part":
                return receive(
                        from,
                        new EntryPart(
                                nonce,
                                from,
                                id,
                                in.zxid("zxid"),
                                (int) in.number("total", 0),
                                (int) in.number("offset", 0),
                                Bytes.wrap(new byte[(int) in.number("length", 0)])));
            case "snapshot":
                return receive(
                        from,
                        new SnapshotPart(
                                nonce,
                                from,
                                id,
                                in.zxid("zxid"),
                                Compression.NONE,
                                in.zxid("through"),
                                in.number("total", 0),
                                in.number("offset", 0),
                                Bytes.wrap(new byte[(int) in.number("length", 0)])));
            case "unavailable":
                return receive(from, new Unavailable(nonce, from, id, Reason.valueOf(in.word())));
            case "status":
                {
                    RecoveryProcedure.Status status = recovery.status();
                    return List.of(
                            status.state()
                                    + " answered="
                                    + status.answered()
                                    + (status.uncounted().isEmpty()
                                            ? ""
                                            : " uncounted=" + status.uncounted())
                                    + " missing="
                                    + status.missing()
                                    + (status.view().isFirst()
                                            ? ""
                                            : " view="
                                                    + ScenarioInput.show(status.view().seal())
                                                    + "/"
                                                    + status.view().voters()
                                                    + "/"
                                                    + status.view().members())
                                    + (status.unheard().isEmpty()
                                            ? ""
                                            : " unheard=" + status.unheard())
                                    + " stillNeeded="
                                    + status.stillNeeded()
                                    + " last="
                                    + ScenarioInput.show(status.lastLogged())
                                    + " through="
                                    + ScenarioInput.show(status.through())
                                    + (status.problem().isEmpty()
                                            ? ""
                                            : " problem: " + status.problem()));
                }
            default:
                throw in.unknown();
        }
    }

    private static RecoveryProcedure create(ScenarioInput in) {
        long self = in.number();
        RecoveryProcedure.OnDisk onDisk =
                new RecoveryProcedure.OnDisk(
                        in.number("epoch", 0),
                        in.epochEnds("log"),
                        new Markers(
                                in.zxid("fastSwitch"),
                                in.zxid("latestOnDisk"),
                                in.map("map"),
                                view(in)),
                        configuration(in, "voters", "version"),
                        pending(in));
        RecoveryProcedure.Patience patience =
                new RecoveryProcedure.Patience(100 * MILLI, 1000 * MILLI);
        return in.has("loss")
                ? RecoveryProcedure.ofLostDisk(
                        self,
                        NONCE,
                        onDisk,
                        RecoveryProcedure.Loss.valueOf(in.text("loss", "")),
                        patience,
                        1 << 20)
                : new RecoveryProcedure(self, NONCE, onDisk, patience, 1 << 20);
    }

    private static View view(ScenarioInput in) {
        if (!in.has("view")) {
            return View.FIRST;
        }
        String[] parts = in.text("view", "").split("/");
        String[] seal = parts[0].split("\\.");
        return new View(
                Zxid.of(Long.parseLong(seal[0]), Long.parseLong(seal[1])),
                Integer.parseInt(parts[1]),
                Stream.of(parts[2].split(",")).map(Long::valueOf).toList());
    }

    private static long ownView(ScenarioInput in) {
        return "-".equals(in.text("ownView", "")) ? LleAnswer.NOT_ASKED : in.zxid("ownView");
    }

    private static Configuration configuration(ScenarioInput in, String voters, String version) {
        List<Long> sids = in.sids(voters);
        return new Configuration(
                in.number(version, 1), sids.isEmpty() ? List.of(1L, 2L, 3L, 4L, 5L) : sids);
    }

    private static Optional<Configuration> pending(ScenarioInput in) {
        return in.has("pendingVoters")
                ? Optional.of(configuration(in, "pendingVoters", "pendingVersion"))
                : Optional.empty();
    }

    private List<String> receive(long from, RecoveryMessage message) {
        return show(recovery.received(from, message, now));
    }

    private List<String> show(List<RecoveryProcedure.Decision> decisions) {
        List<String> lines = new ArrayList<>();
        Map<String, List<Long>> queries = new TreeMap<>();
        for (RecoveryProcedure.Decision decision : decisions) {
            if (decision instanceof RecoveryProcedure.Send send) {
                if (send.message() instanceof LostQuery lost) {
                    queries.computeIfAbsent("lost, round " + lost.round(), key -> new ArrayList<>())
                            .add(send.to());
                } else if (send.message() instanceof LleQuery query) {
                    queries.computeIfAbsent(
                                    query.withView() ? "" : "without views",
                                    key -> new ArrayList<>())
                            .add(send.to());
                } else {
                    lines.add("ask " + send.to() + " " + show(send.message()));
                }
            } else if (decision instanceof RecoveryProcedure.Truncate truncate) {
                lines.add("truncate to " + ScenarioInput.show(truncate.zxid()));
            } else if (decision instanceof RecoveryProcedure.StageSnapshot stage) {
                lines.add(
                        "stage snapshot "
                                + ScenarioInput.show(stage.zxid())
                                + " bytes "
                                + stage.offset()
                                + "+"
                                + stage.bytes().length()
                                + " of "
                                + stage.total());
            } else if (decision instanceof RecoveryProcedure.DiscardStaged) {
                lines.add("discard what is staged");
            } else if (decision instanceof RecoveryProcedure.Append append) {
                List<String> zxids =
                        append.entries().stream()
                                .map(entry -> ScenarioInput.show(entry.zxid()))
                                .toList();
                lines.add(
                        (append.staged() ? "append staged " : "append ") + String.join(",", zxids));
            } else if (decision instanceof RecoveryProcedure.Finish finish) {
                lines.add(
                        "finish last="
                                + ScenarioInput.show(finish.lastLogged())
                                + " epoch="
                                + finish.currentEpoch()
                                + " latestOnDisk="
                                + ScenarioInput.show(finish.latestOnDisk())
                                + " fastSwitch="
                                + ScenarioInput.show(finish.fastSwitch())
                                + " map="
                                + ScenarioInput.show(finish.lleMap())
                                + (finish.acceptedEpoch() == finish.currentEpoch()
                                        ? ""
                                        : " accepted=" + finish.acceptedEpoch())
                                + (finish.staged() ? " with what is staged" : ""));
            }
        }
        queries.forEach(
                (kind, sids) -> lines.add((kind.isEmpty() ? "" : kind + ": ") + "query " + sids));
        return lines;
    }

    private String show(RecoveryMessage message) {
        if (message instanceof EpochEndsRequest m) {
            request = m.requestId();
            return "for its epoch ends";
        }
        if (message instanceof EntriesRequest m) {
            request = m.requestId();
            return "for entries after "
                    + ScenarioInput.show(m.after())
                    + " through "
                    + ScenarioInput.show(m.through())
                    + (m.offset() == 0 ? "" : " from byte " + m.offset());
        }
        if (message instanceof SnapshotRequest m) {
            request = m.requestId();
            return "for snapshot "
                    + (m.snapshot() < 0 ? "newest" : ScenarioInput.show(m.snapshot()))
                    + " from byte "
                    + m.offset();
        }
        throw new AssertionError(message);
    }
}
