package io.saucr.services.speculative;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.Address;
import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.speculation.Decision;
import io.saucr.services.core.speculation.GroupHead;
import io.saucr.services.core.speculation.Listing;
import io.saucr.services.core.speculation.VersionRecord;
import io.saucr.services.core.speculation.VersionVector;
import io.saucr.services.core.speculation.Versions;
import io.saucr.services.core.speculation.Vertex;
import io.saucr.services.ensemble.ServicePath;
import io.saucr.services.ensemble.TestServer;
import io.saucr.services.group.GroupFrame;
import io.saucr.services.group.GroupLink;
import io.saucr.services.group.GroupLinks;
import io.saucr.services.group.GroupListener;
import io.saucr.services.net.Awaited;
import io.saucr.services.wire.SilentFor;
import io.saucr.services.wire.Transport;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Members of a group with a server of ZooKeeper between them: who coordinates, what is announced,
 * and what is decided (D6, D8, D9, D13, D15). What a member has on disk is in memory here.
 */
class GroupMemberTest {

    private static final String GROUP = "/groups/travel";

    private static final Duration SOON = Duration.ofMillis(400);

    /** So long others wait for a member, however busy the machine is. */
    private Duration grace = Duration.ofMinutes(5);

    /** So long a member waits for another one to coordinate. */
    private Duration patience = SOON;

    @TempDir Path work;

    private TestServer server;
    private final List<GroupMember> open = new ArrayList<>();

    @BeforeEach
    void start() throws Exception {
        server = new TestServer(Files.createDirectories(work.resolve("zookeeper")));
    }

    @AfterEach
    void stop() {
        open.forEach(GroupMember::close);
        server.close();
    }

    /** What a service's disk has: its versions, as far as they are synced. */
    private static final class Storage {

        final String name;
        final Birth birth;
        final List<VersionRecord> records = new ArrayList<>();
        int starts;
        boolean member;
        int index;

        Storage(String name) {
            this(name, new Birth(7, name.hashCode()));
        }

        Storage(String name, Birth birth) {
            this.name = name;
            this.birth = birth;
        }

        Versions versions() {
            Versions versions = Versions.of(index, 1, 0);
            for (VersionRecord each : records) {
                versions = versions.recovered(each);
            }
            return versions;
        }
    }

    /** A process of a service. */
    private final class Running implements GroupMember.Turns {

        final Storage storage;
        final GroupMember member;

        /** Null until the index is known. */
        private Versions versions;

        private boolean runs;
        private boolean led;
        private boolean left;
        private String refused;
        private List<String> names = List.of();
        int undone;

        /** So long nothing reaches the disk. */
        private boolean hangs;

        Running(Storage storage) throws IOException {
            this.storage = storage;
            Incarnation start = new Incarnation(storage.birth, ++storage.starts, storage.starts);
            synchronized (this) {
                // What is heard meanwhile waits for the field.
                member =
                        GroupMember.begin(
                                place(),
                                storage.name,
                                start,
                                storage.member,
                                storage.versions().newest(),
                                new Address("127.0.0.1", 0),
                                SilentFor.options(SOON),
                                new GroupMember.Timing(patience, grace),
                                this);
            }
            open.add(member);
        }

        @Override
        public synchronized void isMember(int index) {
            storage.index = index;
            storage.member = true;
            versions = storage.versions();
        }

        @Override
        public synchronized void members(List<GroupHead.Member> all) {
            names = all.stream().map(GroupHead.Member::name).toList();
        }

        @Override
        public synchronized Optional<Listing> listing() {
            return versions.hasPassed() ? Optional.of(versions.listing()) : Optional.empty();
        }

        @Override
        public synchronized void decided(Decision decision) {
            long before = versions.newest();
            versions = versions.pass(decision);
            undone += versions.newest() < before ? 1 : 0;
            runs = true;
            sync(versions.passage());
        }

        @Override
        public synchronized void admitted(Decision decision) {
            runs = true;
            if (decision.world() > versions.world()) {
                versions = versions.pass(decision);
                sync(versions.passage());
            }
        }

        @Override
        public synchronized void bounded(long world, VersionVector boundary) {
            versions = versions.bounded(world, boundary);
        }

        @Override
        public synchronized void left() {
            left = true;
        }

        @Override
        public synchronized void led(boolean now) {
            led = now;
        }

        @Override
        public synchronized void refused(String reason) {
            refused = reason;
        }

        private void sync(VersionRecord record) {
            if (!hangs) {
                storage.records.add(record);
                versions = versions.forced(record);
                member.synced();
            }
        }

        /** A turn that took messages of these versions, sealed. */
        synchronized long seal(Vertex... took) {
            for (Vertex each : took) {
                versions = versions.took(each);
            }
            versions = versions.turn();
            VersionRecord record = versions.seal();
            versions = versions.sealed();
            sync(record);
            return versions.newest();
        }

        synchronized void hang() {
            hangs = true;
        }

        synchronized Vertex newest() {
            return new Vertex(storage.index, versions.world(), versions.newest());
        }

        synchronized long world() {
            return versions == null ? 0 : versions.world();
        }

        synchronized long finalVersion() {
            return versions.finalVersion();
        }

        synchronized long newestVersion() {
            return versions.newest();
        }

        synchronized boolean runs() {
            return runs && led;
        }

        synchronized boolean isLed() {
            return led;
        }

        synchronized boolean hasLeft() {
            return left;
        }

        synchronized List<String> names() {
            return names;
        }

        synchronized String refused() {
            return refused;
        }

        void awaitRuns() {
            Awaited.until(storage.name + " runs", this::runs);
        }

        void awaitFinal(long version) {
            Awaited.until(
                    storage.name + " has version " + version + " final",
                    () -> finalVersion() >= version);
        }

        void awaitWorld(long world) {
            Awaited.until(storage.name + " is in world " + world, () -> world() == world);
        }

        String awaitRefused() {
            return Awaited.until(() -> Optional.ofNullable(refused()));
        }

        /** As kill -9. */
        void kill() {
            member.close();
        }
    }

    /** One that takes turns. */
    private Running started(Storage storage) throws IOException {
        Running started = new Running(storage);
        started.awaitRuns();
        return started;
    }

    private ServicePath place() {
        return new ServicePath(
                server.connect(),
                GROUP,
                Optional.empty(),
                Duration.ofSeconds(4),
                Optional.empty(),
                ZooDefs.Ids.OPEN_ACL_UNSAFE);
    }

    private final Storage tripsDisk = new Storage("trips");
    private final Storage hotelsDisk = new Storage("hotels");
    private final Storage carsDisk = new Storage("cars");

    private Running trips;
    private Running hotels;
    private Running cars;

    /** Three members run, in this order. */
    private void all() throws Exception {
        trips = started(tripsDisk);
        hotels = started(hotelsDisk);
        cars = started(carsDisk);
        for (Running each : List.of(trips, hotels, cars)) {
            each.awaitRuns();
        }
        assertThat(head().members())
                .extracting(GroupHead.Member::name)
                .containsExactly("trips", "hotels", "cars");
        assertThat(head().world()).isEqualTo(1);
        for (Running each : List.of(trips, hotels, cars)) {
            Awaited.until(
                    each.storage.name + " knows all",
                    () -> each.names().equals(List.of("trips", "hotels", "cars")));
        }
    }

    private GroupHead head() throws Exception {
        AtomicReference<GroupHead> found = new AtomicReference<>();
        change(
                head -> {
                    found.set(head);
                    return null;
                });
        return found.get();
    }

    /** An operator's hand. */
    private void change(UnaryOperator<GroupHead> how) throws Exception {
        ZooKeeper client = new ZooKeeper(server.connect(), 10_000, event -> {});
        try {
            GroupHead head = GroupHead.decode(client.getData(GROUP + "/head", false, null));
            GroupHead next = how.apply(head);
            if (next != null) {
                client.setData(GROUP + "/head", next.encode(), -1);
            }
        } finally {
            client.close();
        }
    }

    private Running coordinator() {
        return Awaited.until(
                () ->
                        List.of(trips, hotels, cars).stream()
                                .filter(it -> it.member.coordinates())
                                .findFirst());
    }

    @Test
    void d13NewMembersAreAdmittedWithoutADecision() throws Exception {
        all();
        assertThat(head().members()).allMatch(it -> it.left().isEmpty());
        assertThat(List.of(trips, hotels, cars).stream().filter(it -> it.member.coordinates()))
                .hasSize(1);
    }

    @Test
    void d6WhatDependsOnReportedVersionsIsFinalEverywhere() throws Exception {
        grace = SOON;
        all();
        hotels.hang();
        // Never on disk.
        long lost = hotels.seal();
        long waits = trips.seal(hotels.newest());
        long own = cars.seal();
        cars.awaitFinal(own);
        assertThat(lost).isEqualTo(1);
        // After the grace it is decided without what hotels has not synced (D9).
        trips.awaitWorld(2);
        assertThat(trips.undone).isEqualTo(1);
        assertThat(trips.newestVersion()).isLessThan(waits);
        assertThat(cars.newestVersion()).isEqualTo(own);
        cars.awaitWorld(2);
        long again = trips.seal();
        long next = cars.seal(trips.newest());
        cars.awaitFinal(next);
        assertThat(again).isEqualTo(waits);
    }

    @Test
    void d6AChainIsFinalOnceAllOfItIsReported() throws Exception {
        all();
        long last = 0;
        for (int round = 0; round < 200; round++) {
            trips.seal();
            hotels.seal(trips.newest());
            last = cars.seal(hotels.newest());
            trips.seal(cars.newest());
        }
        cars.awaitFinal(last);
        trips.awaitFinal(trips.newestVersion());
        assertThat(cars.undone + hotels.undone + trips.undone).isZero();
    }

    @Test
    void d9AfterTheCoordinatorsDeathAnotherOneAnnouncesAndDecides() throws Exception {
        all();
        Running dies = coordinator();
        Running lives = dies == trips ? hotels : trips;
        long before = lives.seal();
        lives.awaitFinal(before);
        dies.kill();
        Awaited.until("nobody hears it", () -> !lives.isLed());
        // Its own turns are final on its own disk meanwhile (D7).
        long alone = lives.seal();
        lives.awaitFinal(alone);
        lives.awaitRuns();
        assertThat(head().world()).isEqualTo(1);
        // The dead one is waited for, and its start is a decision (D13).
        Running again = started(dies.storage);
        for (Running each : List.of(again, lives)) {
            each.awaitWorld(2);
        }
        long after = lives.seal(again.newest());
        lives.awaitFinal(after);
        assertThat(lives.undone).isZero();
    }

    @Test
    void d13AKilledMemberStartsWithADecisionThatUndoesWhatDependedOnItsLoss() throws Exception {
        all();
        Running lives = coordinator();
        Running dies = lives == trips ? hotels : trips;
        dies.hang();
        long lost = dies.seal();
        Running third =
                List.of(trips, hotels, cars).stream()
                        .filter(it -> it != lives && it != dies)
                        .findFirst()
                        .orElseThrow();
        long takes = third.seal(dies.newest());
        dies.kill();
        Running again = started(dies.storage);
        for (Running each : List.of(again, lives, third)) {
            Awaited.until("a decision is heard", () -> each.world() > 1);
        }
        assertThat(third.undone).isEqualTo(1);
        assertThat(third.newestVersion()).isLessThan(takes);
        assertThat(again.newestVersion()).isLessThan(lost);
        assertThat(lives.undone).isZero();
        long next = third.seal();
        third.awaitFinal(next);
    }

    @Test
    void whenAllAreKilledTheyContinueOnceAllAreBack() throws Exception {
        all();
        long last = trips.seal();
        long took = hotels.seal(trips.newest());
        hotels.awaitFinal(took);
        List.of(trips, hotels, cars).forEach(Running::kill);
        trips = new Running(tripsDisk);
        hotels = new Running(hotelsDisk);
        Awaited.until("both listed", () -> trips.isLed() && hotels.isLed());
        assertThat(trips.runs()).isFalse();
        cars = new Running(carsDisk);
        for (Running each : List.of(trips, hotels, cars)) {
            each.awaitRuns();
        }
        assertThat(trips.newestVersion()).isEqualTo(last);
        assertThat(hotels.newestVersion()).isEqualTo(took);
        assertThat(hotels.finalVersion()).isEqualTo(took);
    }

    @Test
    void d13AMemberThatLeftIsNotWaitedForAndIsBackWithoutADecision() throws Exception {
        all();
        Running stays = coordinator();
        Running leaves = stays == trips ? hotels : trips;
        long last = leaves.seal();
        leaves.member.leave(last);
        Awaited.until("it has left", leaves::hasLeft);
        leaves.kill();
        assertThat(head().members().get(leaves.storage.index).left()).hasValue(last);
        long more = stays.seal();
        stays.awaitFinal(more);
        Running again = started(leaves.storage);
        assertThat(head().world()).isEqualTo(1);
        assertThat(head().members().get(leaves.storage.index).left()).isEmpty();
        assertThat(again.newestVersion()).isEqualTo(last);
    }

    /** Nobody waits until a coordinator that has left is missed. */
    @Test
    void aCoordinatorThatLeavesIsReplacedAtOnce() throws Exception {
        patience = Duration.ofMinutes(5);
        all();
        Running leaves = coordinator();
        Running one = other(leaves);
        Running two = other(leaves, one);
        leaves.member.leave(leaves.seal());
        Awaited.until("it has left", leaves::hasLeft);
        leaves.kill();
        long took = one.seal(two.newest());
        two.seal();
        one.awaitFinal(took);
        Awaited.until("both are led", () -> one.isLed() && two.isLed());
        assertThat(head().world()).isEqualTo(1);
    }

    /** Two that believe that they coordinate: the head decides. */
    @Test
    void d8ACoordinatorThatWasReplacedDecidesNothing() throws Exception {
        all();
        long claimed = epoch();
        change(head -> head.claimed((head.leader() + 1) % 3, 99, "127.0.0.1:1"));
        // Nobody answers there, so a member claims after a while.
        Awaited.until("an epoch follows that", () -> epoch() > 1 + claimed);
        for (Running each : List.of(trips, hotels, cars)) {
            each.awaitRuns();
            each.awaitFinal(each.seal());
        }
        long took = cars.seal(trips.newest(), hotels.newest());
        cars.awaitFinal(took);
        cars.awaitFinal(took);
        assertThat(head().world()).isEqualTo(1);
    }

    /** A process that answers, and does not coordinate. */
    @Test
    void d9AProcessThatCoordinatesNothingIsReplaced() throws Exception {
        all();
        Running dies = coordinator();
        dies.kill();
        ExecutorService thread = Executors.newSingleThreadExecutor();
        Incarnation start = new Incarnation(dies.storage.birth, 99, 99);
        GroupListener ends =
                new GroupListener() {
                    @Override
                    public void up(GroupLink link) {}

                    @Override
                    public void heard(GroupLink link, GroupFrame.Up frame) {
                        link.close("it does not coordinate");
                    }

                    @Override
                    public void heard(GroupLink link, GroupFrame.Down frame) {}

                    @Override
                    public void down(GroupLink link, String reason) {}
                };
        try (GroupLinks idle =
                GroupLinks.open(
                        Transport.shared(),
                        SilentFor.options(SOON),
                        new GroupFrame.Hello(GROUP, dies.storage.name, start),
                        ends,
                        thread)) {
            String at = idle.listen(new Address("127.0.0.1", 0)).toString();
            change(head -> head.claimed(dies.storage.index, 99, at));
            Running lives = dies == trips ? hotels : trips;
            Awaited.until(
                    "another one coordinates",
                    () -> lives.isLed() && !leader().equals(dies.storage.name));
        } finally {
            thread.shutdownNow();
        }
    }

    private String leader() {
        try {
            GroupHead head = head();
            return head.members().get(head.leader()).name();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private long epoch() {
        try {
            return head().epoch();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void withoutTheEnsembleWhatIsReportedIsStillAnnounced() throws Exception {
        all();
        server.stop();
        long took = cars.seal(trips.newest());
        trips.seal();
        long next = cars.seal(trips.newest());
        cars.awaitFinal(Math.max(took, next));
    }

    // ---- D19

    /** What an operator's command does. */
    private void giveUp(Storage lost) throws Exception {
        change(head -> head.givenUp(lost.index, 77));
    }

    private Running other(Running... than) {
        return List.of(trips, hotels, cars).stream()
                .filter(it -> !List.of(than).contains(it))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void d19AfterAFailureTheGroupContinuesOnceTheLostMemberIsGivenUp() throws Exception {
        all();
        long took = hotels.seal(cars.newest());
        long own = trips.seal();
        hotels.awaitFinal(took);
        List.of(trips, hotels, cars).forEach(Running::kill);
        trips = new Running(tripsDisk);
        hotels = new Running(hotelsDisk);
        Awaited.until("both listed", () -> trips.isLed() && hotels.isLed());
        assertThat(trips.runs() || hotels.runs()).isFalse();
        giveUp(carsDisk);
        for (Running each : List.of(trips, hotels)) {
            each.awaitRuns();
            each.awaitWorld(2);
        }
        assertThat(trips.finalVersion()).isEqualTo(own);
        assertThat(hotels.finalVersion()).isEqualTo(took);
        // The next start does not wait for it either.
        hotels.kill();
        hotels = started(hotelsDisk);
        hotels.awaitFinal(hotels.seal(trips.newest()));
        assertThat(new Running(carsDisk).awaitRefused())
                .contains("an operator gave it up in world 1 of the group")
                .contains("Give cars an empty folder, and it joins as a new member");
        Running again = started(new Storage("cars", new Birth(8, 8)));
        assertThat(again.storage.index).isEqualTo(3);
        hotels.awaitFinal(hotels.seal(again.newest()));
    }

    /** It had told the outside, and none that lives heard of the lost one's version. */
    @Test
    void d19WhatWasFinalStaysThoughNobodyRemembersThatItWas() throws Exception {
        all();
        cars.seal();
        long took = trips.seal(cars.newest());
        trips.awaitFinal(took);
        List.of(trips, hotels, cars).forEach(Running::kill);
        giveUp(carsDisk);
        trips = new Running(tripsDisk);
        hotels = new Running(hotelsDisk);
        trips.awaitRuns();
        hotels.awaitRuns();
        assertThat(trips.finalVersion()).isEqualTo(took);
    }

    @Test
    void d19WhatDependsOnTurnsThatWereNeverFinalIsUndone() throws Exception {
        all();
        Running stays = coordinator();
        Running lost = other(stays);
        Running takes = other(stays, lost);
        lost.hang();
        long never = lost.seal();
        long before = takes.newestVersion();
        takes.seal(lost.newest());
        lost.kill();
        assertThat(never).isEqualTo(1);
        giveUp(lost.storage);
        for (Running each : List.of(stays, takes)) {
            each.awaitWorld(2);
            each.awaitRuns();
        }
        assertThat(takes.undone).isEqualTo(1);
        assertThat(takes.newestVersion()).isEqualTo(before);
        assertThat(stays.undone).isZero();
        stays.awaitFinal(stays.seal());
    }

    /** An operator says that it is dead, and it is not. */
    @Test
    void d19ACoordinatorThatRunsAndIsGivenUpEnds() throws Exception {
        all();
        Running lost = coordinator();
        giveUp(lost.storage);
        assertThat(lost.awaitRefused()).contains("an operator gave it up in world 1");
        lost.kill();
        Running one = other(lost);
        Running two = other(lost, one);
        for (Running each : List.of(one, two)) {
            each.awaitWorld(2);
            each.awaitRuns();
        }
        long took = one.seal(two.newest());
        two.seal();
        one.awaitFinal(took);
    }

    @Test
    void d19AMemberThatLeftIsGivenUpWithoutADecision() throws Exception {
        all();
        Running stays = coordinator();
        Running leaves = other(stays);
        leaves.member.leave(leaves.seal());
        Awaited.until("it has left", leaves::hasLeft);
        leaves.kill();
        giveUp(leaves.storage);
        Running third = other(stays, leaves);
        third.awaitFinal(third.seal(stays.newest()));
        assertThat(head().world()).isEqualTo(1);
        assertThat(new Running(leaves.storage).awaitRefused()).contains("gave it up");
    }

    // ---- D15

    @Test
    void d15AnOldCopyIsRefusedAndNothingIsUndone() throws Exception {
        all();
        Running stays = coordinator();
        Running copied = stays == trips ? hotels : trips;
        long last = 0;
        for (int count = 0; count < 3; count++) {
            last = copied.seal();
        }
        Running other =
                List.of(trips, hotels, cars).stream()
                        .filter(it -> it != stays && it != copied)
                        .findFirst()
                        .orElseThrow();
        long took = other.seal(copied.newest());
        other.awaitFinal(took);
        copied.kill();
        copied.storage.records.subList(1, copied.storage.records.size()).clear();
        Running old = new Running(copied.storage);
        assertThat(old.awaitRefused())
                .contains("cannot be a member of the group " + GROUP)
                .contains("it has versions up to 1, and " + last + " was final")
                .contains("old copy");
        assertThat(other.finalVersion()).isEqualTo(took);
        assertThat(head().world()).isEqualTo(1);
    }

    @Test
    void d15AnotherGenerationOfTheNameIsRefused() throws Exception {
        all();
        Running stays = coordinator();
        Storage dead = stays == trips ? hotelsDisk : tripsDisk;
        (stays == trips ? hotels : trips).kill();
        Storage other = new Storage(dead.name, new Birth(8, 8));
        assertThat(new Running(other).awaitRefused())
                .contains("it is generation " + other.birth)
                .contains("is generation " + dead.birth);
    }

    @Test
    void d15AHeadThatIsMissingIsNeverMadeAnew() throws Exception {
        all();
        List.of(trips, hotels, cars).forEach(Running::kill);
        ZooKeeper client = new ZooKeeper(server.connect(), 10_000, event -> {});
        client.delete(GROUP + "/head", -1);
        client.close();
        assertThat(new Running(tripsDisk).awaitRefused())
                .contains("the group has no head, and it had one");
    }

    @Test
    void d15AHeadThatLacksAMemberIsAnOldOne() throws Exception {
        all();
        List.of(trips, hotels, cars).forEach(Running::kill);
        change(
                head ->
                        new GroupHead(
                                head.epoch(),
                                head.nonce(),
                                0,
                                head.address(),
                                head.world(),
                                head.members().subList(0, 2)));
        assertThat(new Running(carsDisk).awaitRefused())
                .contains("the head of the group does not name it, and did");
    }

    @Test
    void d15AnUnreadableHeadIsNamed() throws Exception {
        ZooKeeper client = new ZooKeeper(server.connect(), 10_000, event -> {});
        byte[] text = "what?\n".getBytes(StandardCharsets.UTF_8);
        for (String path : List.of("/groups", GROUP, GROUP + "/head")) {
            client.create(path, text, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        }
        client.close();
        assertThat(new Running(tripsDisk).awaitRefused())
                .contains("the head of " + GROUP + " can't be read")
                .contains("what?");
    }
}
