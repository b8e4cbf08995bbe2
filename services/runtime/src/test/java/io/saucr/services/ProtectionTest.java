package io.saucr.services;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.Protection.Store;
import io.saucr.services.journal.Disk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Settings that are refused, and what is said of them. */
class ProtectionTest {

    @TempDir private Path work;

    @Test
    void aStoreIsOneOfThree() {
        assertThatThrownBy(() -> Protection.standby().store(null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Store.members(), Store.folder(path) or Store.ensemble()");
    }

    @Test
    void aSharedFolderHasAPath() {
        assertThatThrownBy(() -> Store.folder(null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("not null");
        assertThatThrownBy(() -> Store.folder(Path.of("")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("not an empty one");
    }

    @Test
    void membersAreReachedAtAnAddress() {
        assertThatThrownBy(() -> Protection.standby().members(null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("members(...)");
    }

    @Test
    void aGroupIsAPathOfTheEnsemble() {
        for (String wrong :
                new String[] {
                    null,
                    "",
                    "/",
                    "groups/travel",
                    "/groups/",
                    "/groups//travel",
                    "/groups/./travel",
                    "/groups/my travel",
                    "/groups/travél",
                    "/" + "a".repeat(200)
                }) {
            assertThatThrownBy(() -> Protection.speculative(wrong))
                    .as(wrong)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("as in /groups/travel")
                    .hasMessageContaining("not \"" + wrong + "\"");
        }
    }

    @Test
    void timesOfAMemberOfAGroupHaveLimits() {
        Protection.Speculative travel = Protection.speculative("/groups/travel");
        assertThatThrownBy(() -> travel.every(Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("every is from 1 ms to 200 ms, not PT0S");
        assertThatThrownBy(() -> travel.every(null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("every is from 1 ms to 200 ms, not null");
        assertThatThrownBy(() -> travel.grace(Duration.ofHours(1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("grace is from 1000 ms to 600000 ms, not PT1H");
        assertThatThrownBy(() -> travel.at(null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("not null");
    }

    @Test
    void partitionsHaveNoGroup() {
        assertThatThrownBy(
                        () ->
                                Services.at("127.0.0.1:1/apps/trips")
                                        .partitions(2)
                                        .run(
                                                state -> null,
                                                Protection.speculative("/groups/travel")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("trips has partitions")
                .hasMessageContaining("not with Protection.speculative(...)");
    }

    /** D15: what cannot be a member is refused before anything is made. */
    @Test
    void whatCannotBeAMemberChangesNothing() {
        Address nobody = new Address("127.0.0.1", 1);
        isRefused(Services.without("trips", Map.of("trips", nobody)), "/groups/travel")
                .hasMessageContaining("trips is to be a member of the group /groups/travel")
                .hasMessageContaining("Services.at(...)");
        isRefused(Services.at("127.0.0.1:1/apps/my trips"), "/groups/travel")
                .hasMessageContaining("the name of a member of a group")
                .hasMessageContaining("\"my trips\"");
        isRefused(Services.at("127.0.0.1:1/apps/trips"), "/apps/trips")
                .hasMessage("/apps/trips is the path of trips: the group needs one of its own");
    }

    private AbstractThrowableAssert<?, ? extends Throwable> isRefused(Services at, String group) {
        AbstractThrowableAssert<?, ? extends Throwable> refused =
                assertThatThrownBy(
                                () ->
                                        at.folder(work.resolve("folder"))
                                                .run(
                                                        state -> {
                                                            throw new AssertionError();
                                                        },
                                                        Protection.speculative(group)))
                        .isInstanceOf(IllegalArgumentException.class);
        assertThat(work.resolve("folder")).doesNotExist();
        return refused;
    }

    @Test
    void aFileIsNoFolder() throws Exception {
        Path file = Files.writeString(work.resolve("file"), "text");
        assertThatThrownBy(() -> Disk.local().makeFolder(file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(file + " is no folder")
                .hasMessageContaining("name another folder");
        assertThatThrownBy(() -> Disk.local().makeFolder(file.resolve("below")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(file + " is no folder");
    }
}
