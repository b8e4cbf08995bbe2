package org.apache.zookeeper.server.persistence;

import static org.apache.zookeeper.server.persistence.Transactions.zxids;
import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.core.Zxid;
import io.saucr.core.recovery.RecoveryMessage.EntriesAnswer;
import io.saucr.core.recovery.RecoveryMessage.EntriesRequest;
import io.saucr.core.recovery.RecoveryMessage.Entry;
import io.saucr.core.recovery.RecoverySource;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A copy reads the source's log once, however often the asker repeats its questions (R17, R18). */
class RunningHistoryTest {
    private static final long LAST = Zxid.of(1, 40);
    private static final int PAYLOAD = 400;

    @TempDir Path folder;

    @Test
    void aRepeatedRequestReadsNothingAgain() throws Exception {
        FileTxnLog.setPreallocSize(4096);
        SaucrTxnSnapLog snapLog = Logs.open(folder);
        try (RunningHistory history = new RunningHistory(snapLog)) {
            for (long zxid : zxids(1, 1, 40)) {
                snapLog.log().append(Transactions.create(zxid));
                snapLog.log().commit();
            }
            RecoverySource source = new RecoverySource(1, PAYLOAD);
            List<Long> copied = new ArrayList<>();
            long after = 0;
            for (long request = 1; after < LAST; request++) {
                EntriesRequest question = new EntriesRequest(9, 3, request, after, LAST, 0);
                EntriesAnswer answer = (EntriesAnswer) source.answer(question, history);
                for (Path file : DataFolder.logs(snapLog.getDataLogDir().toPath())) {
                    // Whoever opened the log again would not find it.
                    Files.delete(file);
                }
                if (!answer.end()) {
                    assertThat(source.answer(question, history)).isEqualTo(answer);
                    assertThat(source.answer(question, history)).isEqualTo(answer);
                }
                for (Entry entry : answer.entries()) {
                    copied.add(entry.zxid());
                    after = entry.zxid();
                }
                assertThat(copied).hasSizeLessThan(10 * (int) request);
            }
            assertThat(copied).isEqualTo(zxids(1, 1, 40));
        } finally {
            snapLog.close();
            FileTxnLog.setPreallocSize(64 * 1024 * 1024);
        }
    }
}
