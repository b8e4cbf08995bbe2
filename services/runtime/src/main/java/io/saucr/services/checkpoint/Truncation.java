package io.saucr.services.checkpoint;

import io.saucr.services.core.Birth;
import io.saucr.services.core.standby.Replaced;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.journal.RefusedFolderException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Cuts the chain of a member's folder: drops what the head never named (C16), and puts aside what
 * does not count any more as a loss was accepted (C17). Holds all locks meanwhile.
 */
final class Truncation {

    private final FolderState state;
    private final SegmentChain chain;
    private final Snapshots snapshots;

    Truncation(FolderState state, SegmentChain chain, Snapshots snapshots) {
        this.state = state;
        this.chain = chain;
        this.snapshots = snapshots;
    }

    void dropAfter(long number) {
        try {
            chain.exclusively(
                    () -> {
                        if (number < state.last().number()) {
                            drop(number);
                        }
                        return number;
                    });
        } catch (RefusedFolderException e) {
            throw state.died(e);
        }
    }

    private void drop(long number) throws IOException {
        long known = state.known();
        if (number < known) {
            throw new IllegalArgumentException(
                    "segments after " + number + " are to be dropped, but the head named " + known);
        }
        Optional<SegmentId> stays = snapshots.at(number);
        Optional<SegmentLog.Entry> first = chain.entry(number + 1);
        if (stays.isEmpty() || first.isEmpty()) {
            throw new IllegalArgumentException(
                    "segment " + number + " is not held, only those from " + chain.oldest());
        }
        if (known > state.identity().known()) {
            // What told of it may be among the dropped ones.
            state.identity(state.identity().knowing(known));
        }
        chain.drop(first.get());
        state.last(stays.get());
        snapshots.countBytes();
    }

    Optional<MemberFolder.GivenUp> bearAnew(Birth now, Replaced former) throws IOException {
        return snapshots.withoutWriting(() -> chain.exclusively(() -> giveUpBehind(now, former)));
    }

    private Optional<MemberFolder.GivenUp> giveUpBehind(Birth now, Replaced former)
            throws IOException {
        MemberIdentity identity = state.identity();
        if (!identity.birth().equals(Optional.of(former.birth()))) {
            throw new IllegalArgumentException(
                    "generation "
                            + now
                            + " replaced "
                            + former.birth()
                            + ", and this folder is of generation "
                            + identity.birth());
        }
        chain.force();
        long stays = stays(former.upTo());
        Optional<MemberFolder.GivenUp> givenUp =
                stays < state.last().number() ? Optional.of(putAside(stays)) : Optional.empty();
        // The order itself had the head name that segment.
        state.known(stays == former.upTo().number() ? stays : Math.min(state.known(), stays));
        List<Replaced> formers = new ArrayList<>(identity.formers());
        // What is below all that is held needs no birth.
        List<MemberBase> bases = snapshots.all();
        long oldest =
                Math.min(
                        chain.first().orElse(Long.MAX_VALUE),
                        bases.isEmpty()
                                ? Long.MAX_VALUE
                                : bases.get(bases.size() - 1).at().number());
        formers.removeIf(it -> it.upTo().number() < oldest);
        formers.add(former);
        state.identity(identity.knowing(state.known()).of(now, formers));
        return givenUp;
    }

    /** The newest segment that counts on, of those that are held; 0 for none. */
    private long stays(SegmentId upTo) throws RefusedFolderException {
        Optional<SegmentId> mine = snapshots.at(upTo.number());
        if (mine.equals(Optional.of(upTo))) {
            return upTo.number();
        }
        if (mine.isEmpty()) {
            long last = state.last().number();
            return last < upTo.number() ? last : 0;
        }
        if (upTo.number() > state.known()) {
            // Orphans of a primary that was deposed.
            return snapshots.at(state.known()).isPresent() ? state.known() : 0;
        }
        throw new RefusedFolderException(
                state.path,
                -1,
                "a loss was accepted behind segment "
                        + upTo
                        + ", and this folder knows that the head named "
                        + mine.get()
                        + " in its place. Begin with an empty folder; this one was left as it is");
    }

    private MemberFolder.GivenUp putAside(long stays) throws IOException {
        SegmentId newest = state.last();
        SegmentId now = snapshots.at(stays).orElseThrow();
        chain.stopUsingFiles();
        List<Path> aside = new ArrayList<>(snapshots.putAside(stays));
        aside.addAll(chain.putAside(stays));
        state.forgetDamagesOfLostFiles();
        state.last(now);
        snapshots.countBytes();
        return new MemberFolder.GivenUp(stays + 1, newest, aside);
    }
}
