package io.saucr.services.standby;

import io.saucr.services.checkpoint.MemberFolder;
import io.saucr.services.core.Birth;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.core.standby.Standby;
import java.util.Optional;

/** What a member's folder holds, as the core asks. Any thread. */
record FolderChain(MemberFolder folder) implements Standby.Chain {

    @Override
    public SegmentId last() {
        return folder.last();
    }

    @Override
    public Optional<SegmentId> at(long number) {
        return number == 0 ? Optional.of(SegmentId.NONE) : folder.at(number);
    }

    @Override
    public long known() {
        return folder.known();
    }

    @Override
    public SegmentId snapshot() {
        return folder.newestBase();
    }

    @Override
    public Optional<Birth> birth() {
        return folder.birth();
    }
}
