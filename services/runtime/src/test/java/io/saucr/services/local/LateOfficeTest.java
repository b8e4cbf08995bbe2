package io.saucr.services.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.Handlers;
import io.saucr.services.MapState;
import io.saucr.services.Service;
import io.saucr.services.State;
import io.saucr.services.core.Birth;
import io.saucr.services.core.Body;
import io.saucr.services.core.Delta;
import io.saucr.services.core.Finals;
import io.saucr.services.core.Frame;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.Limits;
import io.saucr.services.core.Link;
import io.saucr.services.core.Moment;
import io.saucr.services.journal.Base;
import io.saucr.services.journal.OutboxFiles;
import io.saucr.services.journal.SimulatedDisk;
import io.saucr.services.state.Changes;
import io.saucr.services.turns.DeltaFormat;
import io.saucr.services.turns.Endpoint;
import io.saucr.services.turns.Memory;
import io.saucr.services.turns.TurnOptions;
import io.saucr.services.turns.Turns;
import io.saucr.services.turns.UnboundedGuard;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** C6, C14, C16: a service that takes others' turns for long, writes bases of them, takes over. */
class LateOfficeTest {

    private static final Birth BIRTH = new Birth(3, 5);

    /** Add to what is there. */
    public record Add(String key, int much) {}

    /** How much is there? */
    public record Asked(String key) {}

    private static final class Counts implements Service {

        private final MapState<String, Integer> counts;

        Counts(State state) {
            counts = state.map("counts", String.class, Integer.class);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(
                    Add.class,
                    (add, turn) -> {
                        counts.put(add.key(), counts.getOrDefault(add.key(), 0) + add.much());
                        turn.send("ledger", add);
                        turn.reply(add);
                    });
            on.query(Asked.class, (asked, turn) -> new Add(asked.key(), counts.get(asked.key())));
        }
    }

    /** Turns that somebody recorded, of which this start hears before it is in office. */
    private static final class Shipped implements UnboundedGuard {

        private final List<Delta> records = new ArrayList<>();
        private final Map<Long, Map<String, byte[]>> bases = new LinkedHashMap<>();
        private final List<Incarnation> starts = new ArrayList<>();
        private final OutboxFiles outbox =
                new OutboxFiles(
                        new SimulatedDisk(1),
                        Path.of("/simulated/counts"),
                        new Incarnation(BIRTH, 1, 1),
                        it -> true,
                        1 << 16);
        private final long from;
        private final Optional<Map<String, byte[]>> base;
        private final List<Long> proofs = new ArrayList<>();
        private boolean proves;
        private long newest;

        /** What one start recorded, taken by the next one, from one of its bases on. */
        Shipped(List<Delta> records, long from, Optional<Map<String, byte[]>> base) {
            this.records.addAll(records);
            this.from = from;
            this.base = base;
        }

        @Override
        public Traits traits() {
            return new Traits(BIRTH, proves, false, 0, false);
        }

        @Override
        public Start recover(Recovery into) throws IOException {
            if (base.isPresent()) {
                Base.SectionReader all = outbox.beside(into);
                for (Map.Entry<String, byte[]> each : base.get().entrySet()) {
                    all.section(each.getKey(), new ByteArrayInputStream(each.getValue()));
                }
            }
            outbox.cut();
            for (Delta each : records) {
                if (each.turn() > from) {
                    byte[] bytes = DeltaFormat.bytes(each, Changes.decode(each.state()));
                    into.turn(each.turn(), ByteBuffer.wrap(bytes));
                    bases.put(each.turn(), written(inside(into.soFar())));
                }
            }
            for (int number = 1; number <= 2; number++) {
                starts.add(new Incarnation(BIRTH, number, 70 + number));
            }
            newest = records.isEmpty() ? 0 : records.get(records.size() - 1).turn();
            return new Start(starts, List.of(), Set.of(), newest);
        }

        private Base.Sections inside(Memory all) {
            return outbox.inside(all.files(), all.sections());
        }

        private static Map<String, byte[]> written(Base.Sections sections) throws IOException {
            Map<String, ByteArrayOutputStream> all = new LinkedHashMap<>();
            sections.writeTo(
                    name -> {
                        assertThat(all).doesNotContainKey(name);
                        return all.computeIfAbsent(name, it -> new ByteArrayOutputStream());
                    });
            Map<String, byte[]> bytes = new LinkedHashMap<>();
            all.forEach((name, content) -> bytes.put(name, content.toByteArray()));
            return bytes;
        }

        @Override
        public void done(Done turn) {
            records.add(turn.delta().with(turn.changes().encode()));
        }

        @Override
        public void prove(long read) {
            proofs.add(read);
        }

        @Override
        public void confirm() {}

        @Override
        public void withdraw() {}

        @Override
        public void begin(Listener listener) {}

        @Override
        public long bytesNotFinal() {
            return 0;
        }

        @Override
        public long bytesAboveBase() {
            return 0;
        }

        @Override
        public OutboxFiles outbox() {
            return outbox;
        }

        @Override
        public void fold(long turn, OutboxFiles.Names files, Base.Sections sections) {}

        @Override
        public void close() {}
    }

    /** What left. */
    private static final class Left implements Endpoint.Border {

        private final List<Frame> frames = new ArrayList<>();
        private final List<String> reached = new ArrayList<>();

        @Override
        public void send(Link link, Frame frame) {
            frames.add(frame);
        }

        @Override
        public void close(Link link, String reason) {}

        @Override
        public void reach(String service) {
            reached.add(service);
        }

        @Override
        public void leave(String service, String reason) {}

        @Override
        public void call(long output, String id, Body call) {}

        @Override
        public void halt(String reason) {}
    }

    private static final Moment NOW = new Moment(1_000_000, 0);

    /** One message of each peer in memory. */
    private static final Limits LIMITS =
            new Limits(4, 1_000, true, 0, 0, 1_024, 3_600_000).outbox(1, 1 << 10);

    private static final Link ANN = new Link(1, "ann", true);

    private static Turns open(Shipped shipped) throws IOException {
        return Turns.open(
                "counts",
                Counts::new,
                shipped,
                TurnOptions.standard().with(LIMITS),
                new Turns.Surroundings(() -> NOW, new Random(1), Runnable::run, Runnable::run));
    }

    private static List<Delta> recorded() throws IOException {
        Shipped first = new Shipped(List.of(), 0, Optional.empty());
        Turns turns = open(first);
        turns.begin(new Left());
        turns.linkUp(ANN);
        for (int request = 1; request <= 12; request++) {
            turns.frame(ANN, new Frame.Ask(request, turns.encoded(new Add("k" + request % 5, 1))));
            assertThat(turns.turn()).isTrue();
        }
        assertThat(first.records).hasSize(12);
        return first.records;
    }

    @Test
    void itTakesOverWhatItWasToldOf() throws Exception {
        Shipped standby = new Shipped(recorded(), 0, Optional.empty());
        Turns turns = open(standby);
        assertThat(turns.recovered()).isEqualTo(12);
        Left left = new Left();
        turns.begin(left);
        assertThat(left.reached).containsExactly("ledger");
        turns.linkUp(ANN);
        Body add = turns.encoded(new Add("k1", 1));
        turns.frame(ANN, new Frame.Ask(1, add));
        assertThat(turns.turn()).isTrue();
        turns.moved(Finals.turns(turns.core().newestTurn()));
        assertThat(left.frames).hasSize(1);
        Delta own = standby.records.get(12);
        assertThat(own.turn()).isEqualTo(13);
        assertThat(own.incarnation()).isEqualTo(2);
    }

    @Test
    void aBaseOfAnyTurnAndTheTurnsAboveItLeadToTheSame() throws Exception {
        List<Delta> records = recorded();
        Shipped whole = new Shipped(records, 0, Optional.empty());
        Turns unused = open(whole);
        Map<String, byte[]> last = whole.bases.get(12L);
        assertThat(last).containsKeys("service", "state/counts", "messages");
        for (long turn = 1; turn < 12; turn++) {
            Shipped part = new Shipped(records, turn, Optional.of(whole.bases.get(turn)));
            Turns again = open(part);
            assertThat(again.recovered()).isEqualTo(12);
            Map<String, byte[]> its = part.bases.get(12L);
            assertThat(its.keySet()).isEqualTo(last.keySet());
            its.forEach((name, bytes) -> assertThat(bytes).isEqualTo(last.get(name)));
        }
    }

    /** C8. */
    @Test
    void aQueryIsAnsweredOnceThatIsProven() throws Exception {
        Shipped standby = new Shipped(recorded(), 0, Optional.empty());
        standby.proves = true;
        Turns turns = open(standby);
        Left left = new Left();
        turns.begin(left);
        turns.linkUp(ANN);
        for (int request = 1; request <= 2; request++) {
            turns.frame(ANN, new Frame.Ask(request, turns.encoded(new Asked("k1"))));
            assertThat(turns.turn()).isTrue();
        }
        assertThat(standby.proofs).containsExactly(1L, 2L);
        assertThat(left.frames).isEmpty();
        turns.moved(Finals.reads(2));
        assertThat(left.frames).hasSize(2).allMatch(it -> it instanceof Frame.Answer);
    }
}
