package io.saucr.services.speculative;

import io.saucr.services.ServiceException;
import io.saucr.services.core.Birth;
import io.saucr.services.core.speculation.GroupHead;
import io.saucr.services.core.speculation.VersionRecord;
import io.saucr.services.ensemble.GroupOrder;
import io.saucr.services.ensemble.GroupOrder.Found;
import io.saucr.services.ensemble.ServicePath;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.ForceMode;
import io.saucr.services.journal.JournalOptions;
import io.saucr.services.journal.OutboxFiles;
import io.saucr.services.journal.RefusedFolderException;
import io.saucr.services.journal.ServiceFolder;
import io.saucr.services.turns.FoldedState;
import io.saucr.services.turns.Guard;
import io.saucr.services.turns.Place;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Takes a service out of its group that has left it and is stopped, so that its folder is one of
 * {@code Protection.local()} again. All of its turns are final (D13). First the group's head notes
 * that it never comes back (D19); then a snapshot of everything takes the place of its versions.
 * What crashes in between is repeated.
 */
public final class GroupExit {

    private final ServicePath group;
    private final ServiceFolder folder;
    private final JournalOptions options;

    private GroupExit(ServicePath group, ServiceFolder folder, JournalOptions options) {
        this.group = group;
        this.folder = folder;
        this.options = options;
    }

    /**
     * Takes a service out of its group.
     *
     * @param place of the service, with its folder
     * @param group where the group is
     * @return what was done, and what to do next: lines for people
     * @throws RefusedFolderException where the folder is in use, damaged, or not that of a member
     * @throws ServiceException where the service runs or has not left; nothing was changed
     * @throws IOException where the disk fails, or the ensemble does not answer; repeat it then
     */
    public static List<String> of(Disk disk, Place place, ServicePath group)
            throws IOException, InterruptedException {
        Path path = place.folder();
        if (!ServiceFolder.isOne(disk, path)) {
            throw new RefusedFolderException(
                    path, -1, "there is no service in it. Name the folder of " + place.name());
        }
        JournalOptions options = new JournalOptions(ForceMode.always(), place.segmentBytes());
        ServiceFolder folder =
                ServiceFolder.openMember(
                        disk, path, place.name(), group.path(), new SecureRandom());
        boolean begun = false;
        try (folder;
                GroupOrder order = new GroupOrder(group)) {
            try {
                if (folder.membership().filter(it -> it.in()).isEmpty()) {
                    throw new ServiceException(
                            path
                                    + " is not the folder of a member of the group "
                                    + group.path()
                                    + ". Nothing was changed");
                }
                GroupExit exit = new GroupExit(group, folder, options);
                GroupHead.Member member = exit.left(exit.look(order));
                begun = true;
                return exit.leave(order, member);
            } finally {
                if (!begun) {
                    folder.withdraw();
                }
            }
        }
    }

    /** The member, where it has left and does not run. */
    private GroupHead.Member left(Found found) {
        GroupHead.Member member = found.head().members().get(index(found.head()));
        String at = found.running().get(folder.name());
        if (member.left().isEmpty() && at != null) {
            throw new ServiceException(
                    folder.name() + " runs at " + at + ". Stop it first. Nothing was changed");
        }
        if (member.left().isEmpty()) {
            throw new ServiceException(
                    folder.name()
                            + (member.isGone()
                                    ? " was given up by an operator"
                                    : " has not left its group, so its newest turns may still be"
                                            + " undone. Start it as a member and close it")
                            + ". Nothing was changed");
        }
        return member;
    }

    private Found look(GroupOrder order) throws IOException, InterruptedException {
        return order.look()
                .orElseThrow(
                        () ->
                                new ServiceException(
                                        "there is no group at "
                                                + group.path()
                                                + ". Nothing was changed"));
    }

    private int index(GroupHead head) {
        Birth birth = folder.birth();
        return IntStream.range(0, head.members().size())
                .filter(it -> head.members().get(it).name().equals(folder.name()))
                .filter(it -> head.members().get(it).birth().equals(birth))
                .reduce((first, last) -> last)
                .orElseThrow(
                        () ->
                                new ServiceException(
                                        "generation "
                                                + birth
                                                + " of "
                                                + folder.name()
                                                + " is no member of the group "
                                                + group.path()
                                                + ". Nothing was changed"));
    }

    private List<String> leave(GroupOrder order, GroupHead.Member member)
            throws IOException, InterruptedException {
        OutboxFiles outbox = folder.outbox(options.segmentBytes());
        try (VersionLog log = VersionLog.open(folder, group.path(), options)) {
            long left = member.left().getAsLong();
            if (log.newest() != left) {
                throw new ServiceException(
                        folder.path()
                                + " has versions up to "
                                + log.newest()
                                + ", and "
                                + folder.name()
                                + " left its group with "
                                + left
                                + ": it is another copy. Nothing was changed");
            }
            FoldedState state = new FoldedState(folder.name(), outbox);
            Guard.Recovery reads = Guard.Recovery.of(state::section, state::turn);
            log.sections(outbox.beside(reads));
            outbox.cut();
            log.turns(reads);
            state.throwUnlessMovable("keep: give it up", "and close it");
            note(order);
            log.begin(new Ignored());
            log.leave(
                    turn ->
                            writer -> {
                                state.continueBehind(turn);
                                state.sections().writeTo(writer);
                            });
            return List.of(
                    folder.name()
                            + " is no member of the group "
                            + group.path()
                            + " any more; "
                            + folder.path()
                            + " has all up to turn "
                            + state.turn(),
                    "Start it with Protection.local(), or as a new member of a group");
        } finally {
            outbox.close();
        }
    }

    /** The head notes that it never comes back; members may change it meanwhile. */
    private void note(GroupOrder order) throws IOException, InterruptedException {
        boolean noted = false;
        while (!noted) {
            Found found = look(order);
            noted = left(found).isGone() || order.giveUp(found, index(found.head()));
        }
    }

    /** All that is written is written again by a repeated order. */
    private static final class Ignored implements VersionLog.Listener {

        @Override
        public void synced(VersionRecord record) {}

        @Override
        public void failed(IOException cause) {}
    }
}
