package io.saucr.core.recovery;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.core.Zxid;
import io.saucr.core.log.LleMap;
import io.saucr.core.log.LogIdentity;
import io.saucr.core.log.LogIdentity.Stamp;
import io.saucr.core.log.Markers;
import io.saucr.core.recovery.StartAssessment.Findings;
import io.saucr.core.recovery.StartAssessment.Verdict;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/**
 * R15, R25, R26: what a disk is worth. Each test changes one thing of a server that is complete.
 */
class StartAssessmentTest {
    private static final long Z = Zxid.of(3, 7);
    private static final Stamp STAMP = new Stamp(2, 77);

    private Optional<String> ensemble = Optional.of("");
    private long sid = 2;
    private long epoch = 3;
    private long accepted = 3;
    private Optional<Stamp> stamp = Optional.of(STAMP);
    private Optional<LogIdentity> identity = Optional.of(new LogIdentity("", 2, 77, 3, Z, Z));
    private boolean fastThere = true;
    private boolean diskThere = true;
    private long fastSwitch = Z;
    private long latestOnDisk = Z;
    private long last = Z;
    private boolean damaged;
    private OptionalLong proven = OptionalLong.empty();

    private StartAssessment assess() {
        return StartAssessment.of(
                new Findings(
                        ensemble,
                        sid,
                        epoch,
                        accepted,
                        stamp,
                        identity,
                        fastThere,
                        diskThere,
                        new Markers(fastSwitch, latestOnDisk, LleMap.empty()),
                        last,
                        damaged,
                        proven));
    }

    private void is(Verdict expected, String words) {
        StartAssessment assessment = assess();
        assertThat(assessment.verdict()).as(assessment.reason()).isEqualTo(expected);
        assertThat(assessment.reason()).contains(words);
    }

    @Test
    void everythingFits() {
        is(Verdict.COMPLETE, "on its disk");
    }

    @Test
    void aLongerLogThanMarkedFits() {
        last = Z + 100;
        is(Verdict.COMPLETE, "");
    }

    @Test
    void r26WithoutTheFileOfTheAcceptedEpochItsPromiseToALeaderIsLost() {
        accepted = -1;
        is(Verdict.DISK_LOST, "acceptedEpoch is lost");
        // The first start was killed before ZooKeeper wrote it.
        epoch = 0;
        identity = Optional.of(new LogIdentity("", 2, 77, 0, 0, 0));
        is(Verdict.COMPLETE, "");
        // Apache's server was here, which goes by its log.
        epoch = 3;
        stamp = Optional.empty();
        identity = Optional.empty();
        is(Verdict.COMPLETE, "");
    }

    @Test
    void anotherServersDisk() {
        sid = 3;
        is(Verdict.FOREIGN, "server 2");
        stamp = Optional.empty();
        is(Verdict.FOREIGN, "server 2");
        stamp = Optional.of(STAMP);
        identity = Optional.empty();
        is(Verdict.FOREIGN, "server 2");
    }

    @Test
    void anotherEnsemblesDisk() {
        identity = Optional.of(new LogIdentity("orders", 2, 77, 3, Z, Z));
        is(Verdict.FOREIGN, "'orders', and this server's has no name");
        ensemble = Optional.of("users");
        is(Verdict.FOREIGN, "'orders', and this server's is 'users'");
        ensemble = Optional.of("orders");
        is(Verdict.COMPLETE, "");
        ensemble = Optional.empty();
        is(Verdict.COMPLETE, "");
    }

    @Test
    void anEnsembleGetsItsName() {
        ensemble = Optional.of("orders");
        is(Verdict.COMPLETE, "");
    }

    @Test
    void anIdThatIsNotKnownIsNotCompared() {
        sid = -1;
        is(Verdict.COMPLETE, "");
    }

    @Test
    void theLogFolderIsGone() {
        theLogFolderIsEmpty();
        is(Verdict.DISK_LOST, "no marker");
    }

    @Test
    void theMarkersWereDeleted() {
        identity = Optional.empty();
        fastThere = false;
        diskThere = false;
        fastSwitch = 0;
        latestOnDisk = 0;
        is(Verdict.DISK_LOST, "no marker");
    }

    @Test
    void oneFileWasDeleted() {
        fastThere = false;
        is(Verdict.DISK_LOST, "saucr.fastSwitch is missing");
        fastThere = true;
        diskThere = false;
        is(Verdict.DISK_LOST, "saucr.latestOnDisk is missing");
        diskThere = true;
        identity = Optional.empty();
        is(Verdict.DISK_LOST, "saucr.identity is missing");
    }

    @Test
    void aLogFolderOfAnotherTime() {
        identity = Optional.of(new LogIdentity("", 2, 78, 3, Z, Z));
        is(Verdict.DISK_LOST, "another one");
    }

    @Test
    void theLogIsShorterThanItWasForced() {
        last = Z - 1;
        is(Verdict.DISK_LOST, "0x300000006");
        // A marker that has moved on since says more than the extent.
        last = Z + 1;
        latestOnDisk = Z + 2;
        is(Verdict.DISK_LOST, "synced through 0x300000009");
    }

    /** It would bring back a view that the server has sealed over since (R23). */
    @Test
    void theMarkerIsAnOlderCopy() {
        latestOnDisk = Z - 1;
        is(
                Verdict.DISK_LOST,
                "saucr.latestOnDisk is an older copy: it says 0x300000006, and was at");
    }

    @Test
    void aTruncationIsNoLoss() {
        last = Zxid.of(2, 4);
        identity = Optional.of(new LogIdentity("", 2, 77, 3, last, Z));
        is(Verdict.COMPLETE, "");
    }

    @Test
    void theEpochFileIsGoneOrOlder() {
        epoch = -1;
        stamp = Optional.empty();
        is(Verdict.DISK_LOST, "epoch file is lost");
        epoch = 2;
        is(Verdict.DISK_LOST, "says 2");
    }

    @Test
    void theLogFolderIsAnOlderCopy() {
        epoch = 4;
        is(Verdict.DISK_LOST, "older copy: it is of epoch 3");
    }

    @Test
    void aCrashWhileTheEpochFileIsReplaced() {
        identity = Optional.of(new LogIdentity("", 2, 77, 3, 4, Z, Z));
        is(Verdict.COMPLETE, "");
        epoch = 4;
        is(Verdict.COMPLETE, "");
        epoch = 5;
        is(Verdict.DISK_LOST, "older copy");
        epoch = 2;
        is(Verdict.DISK_LOST, "says 2");
    }

    @Test
    void damageThatNoCrashExplains() {
        damaged = true;
        is(Verdict.DISK_LOST, "damaged");
    }

    @Test
    void aCrashInFastMode() {
        latestOnDisk = Z - 5;
        identity = Optional.of(new LogIdentity("", 2, 77, 3, Z - 5, Z - 5));
        is(Verdict.MEMORY_LOST, "crashed in fast mode");
        proven = OptionalLong.of(Z);
        is(Verdict.COMPLETE_IN_PAGE_CACHE, "kept running");
        damaged = true;
        is(Verdict.MEMORY_LOST, "");
        damaged = false;
        last = Z - 1;
        is(Verdict.MEMORY_LOST, "");
        last = Z - 6;
        is(Verdict.DISK_LOST, "synced through");
    }

    @Test
    void aLogThatLacksWhatWasAckedFromThePageCache() {
        latestOnDisk = Z - 5;
        identity = Optional.of(new LogIdentity("", 2, 77, 3, Z - 5, Z - 5));
        last = Z + 9;
        proven = OptionalLong.of(Z + 9);
        is(Verdict.COMPLETE_IN_PAGE_CACHE, "kept running");
        proven = OptionalLong.of(Z + 10);
        is(Verdict.MEMORY_LOST, "crashed in fast mode");
    }

    @Test
    void anEmptyDisk() {
        epoch = -1;
        stamp = Optional.empty();
        theLogFolderIsEmpty();
        is(Verdict.EMPTY, "no history");
        epoch = 0;
        stamp = Optional.of(STAMP);
        is(Verdict.EMPTY, "no history");
    }

    private void theLogFolderIsEmpty() {
        identity = Optional.empty();
        fastThere = false;
        diskThere = false;
        fastSwitch = 0;
        latestOnDisk = 0;
        last = 0;
    }

    @Test
    void aFirstStartThatWasKilledHalfway() {
        theLogFolderIsEmpty();
        epoch = 0;
        identity = Optional.of(new LogIdentity("", 2, 77, 0, 0, 0));
        is(Verdict.EMPTY, "no history");
        fastThere = true;
        is(Verdict.EMPTY, "no history");
        diskThere = true;
        is(Verdict.COMPLETE, "");
        // Something had been copied already.
        diskThere = false;
        last = Z;
        is(Verdict.DISK_LOST, "missing");
    }

    @Test
    void whatCameBeforeTheFirstFastEntryWasForced() {
        latestOnDisk = Z - 5;
        identity = Optional.of(new LogIdentity("", 2, 77, 3, Z - 5, Z - 5));
        last = Z - 1;
        is(Verdict.MEMORY_LOST, "crashed in fast mode");
        last = Z - 2;
        is(Verdict.DISK_LOST, "synced through 0x300000006");
        // Nothing is known of what came before the first entry of an epoch.
        fastSwitch = Zxid.of(3, 1);
        latestOnDisk = Zxid.of(2, 4);
        identity = Optional.of(new LogIdentity("", 2, 77, 3, latestOnDisk, latestOnDisk));
        last = latestOnDisk;
        is(Verdict.MEMORY_LOST, "crashed in fast mode");
    }

    @Test
    void aProofOfAnEarlierVersionsTimeIsNone() {
        latestOnDisk = Z - 5;
        identity = Optional.of(new LogIdentity("", 2, 77, 3, Z - 5, Z - 5));
        proven = OptionalLong.of(Z);
        stamp = Optional.empty();
        is(Verdict.MEMORY_LOST, "crashed in fast mode");
    }

    @Test
    void anUpgradeFromApachesServer() {
        theLogFolderIsEmpty();
        stamp = Optional.empty();
        last = Z;
        is(Verdict.COMPLETE, "");
        // A snapshot that was put into an empty folder: a restore.
        epoch = -1;
        is(Verdict.COMPLETE, "");
    }

    @Test
    void anUpgradeFromAVersionWithoutIdentities() {
        identity = Optional.empty();
        stamp = Optional.empty();
        is(Verdict.COMPLETE, "");
        latestOnDisk = Z - 1;
        is(Verdict.MEMORY_LOST, "");
    }

    @Test
    void apachesServerRanInBetween() {
        stamp = Optional.empty();
        epoch = 4;
        is(Verdict.COMPLETE, "");
    }

    @Test
    void aYoungServerThatTookPartInNothing() {
        epoch = 0;
        last = 0;
        fastSwitch = 0;
        latestOnDisk = 0;
        identity = Optional.of(new LogIdentity("", 2, 77, 0, 0, 0));
        is(Verdict.COMPLETE, "");
    }
}
