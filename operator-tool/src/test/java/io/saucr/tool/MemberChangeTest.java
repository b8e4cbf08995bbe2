package io.saucr.tool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.core.config.HostPort;
import io.saucr.tool.MemberChange.Known;
import io.saucr.tool.Membership.Member;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class MemberChangeTest {
    private static final Member FOURTH = Member.parse("server.4=zk4:2888:3888;2181");

    private static Membership voters(int number) {
        String lines =
                LongStream.rangeClosed(1, number)
                        .mapToObj(
                                id ->
                                        "server.%d=zk%d:2888:3888:participant;2181\n"
                                                .formatted(id, id))
                        .collect(Collectors.joining());
        return Membership.parse(lines + "version=1f00000002");
    }

    private static Known all(Long... ids) {
        return new Known(Set.of(ids), Set.of(ids));
    }

    private static MemberChange remove(long id) {
        return new MemberChange(null, id);
    }

    private static MemberChange promote(Long replaced) {
        return new MemberChange(FOURTH, replaced);
    }

    @Test
    void linesAreReadAsZooKeeperWritesThem() {
        Membership members =
                Membership.parse(
                        "server.2=[::1]:2888:3888|zk2b:2889:3889:observer;0.0.0.0:2182\n"
                                + "server.1=zk1:2888:3888:participant\nversion=f00000001");
        assertThat(members.voters()).containsExactly(1L);
        assertThat(members.version()).isEqualTo(0xf_0000_0001L);
        Member second = members.member(2).orElseThrow();
        assertThat(second.clientAddress()).contains(new HostPort("::1", 2182));
        assertThat(second.as(true).line())
                .isEqualTo("server.2=[::1]:2888:3888|zk2b:2889:3889:participant;0.0.0.0:2182");
        assertThat(members.member(1).orElseThrow().clientAddress()).isEmpty();
        assertThat(Member.parse("5=zk5:2888:3888;zk5c:2181").clientAddress())
                .contains(new HostPort("zk5c", 2181));
        assertThatThrownBy(() -> Member.parse("zk5:2181"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("server.ID=HOST:2888:3888;2181");
        assertThatThrownBy(() -> Membership.parse("version=0"))
                .isInstanceOf(FailureException.class);
    }

    @Test
    void whatKeepsQuorumAndFastModeIsAllowed() {
        assertThat(promote(null).refusal(voters(3), all(1L, 2L, 3L), false)).isEmpty();
        assertThat(remove(4).refusal(voters(4), all(1L, 2L, 3L, 4L), false)).isEmpty();
        // An observer takes part in no quorum.
        MemberChange observer = new MemberChange(FOURTH.as(false), null);
        assertThat(observer.refusal(voters(3), all(1L, 2L), false)).isEmpty();
        // What is lost already cannot be lost.
        assertThat(promote(null).refusal(voters(3), all(1L, 2L), false)).isEmpty();
    }

    @Test
    void aLostQuorumIsRefusedByName() {
        assertThat(remove(1).refusal(voters(4), all(1L, 2L, 3L), true)).isEmpty();
        assertThat(remove(1).refusal(voters(5), all(1L, 2L, 3L), true))
                .get()
                .asString()
                .contains("the quorum would be lost", "servers 4, 5", "only [2, 3]");
        assertThat(promote(null).refusal(voters(3), all(1L), true))
                .get()
                .asString()
                .contains("the quorum would be lost", "servers 2, 3");
    }

    @Test
    void aLostFastModeIsRefusedByName() {
        assertThat(remove(1).refusal(voters(5), all(1L, 2L, 3L, 4L), false))
                .get()
                .asString()
                .contains("fast mode would be lost", "server 5", "--allow-slow");
        assertThat(remove(1).refusal(voters(5), all(1L, 2L, 3L, 4L), true)).isEmpty();
        assertThat(remove(5).refusal(voters(5), all(1L, 2L, 3L, 4L), false)).isEmpty();
    }

    /** Two voters bear no failure; the sentence names the server that is to be replaced. */
    @Test
    void aTwoServerEnsembleIsRefusedWithTheWayOut() {
        assertThat(remove(3).refusal(voters(3), all(1L, 2L), true))
                .get()
                .asString()
                .contains("the way out", "--replace 3");
        assertThat(promote(3L).refusal(voters(3), all(1L, 2L), false)).isEmpty();
        // Ensembles that grow pass through two.
        assertThat(
                        new MemberChange(Member.parse("server.2=zk2:2888:3888;2181"), null)
                                .refusal(voters(1), all(1L), false))
                .isEmpty();
    }

    @Test
    void aChangeThatIsMadeIsRecognised() {
        assertThat(remove(4).isIn(voters(3))).isTrue();
        assertThat(promote(null).isIn(voters(4))).isTrue();
        assertThat(new MemberChange(FOURTH.as(false), null).isIn(voters(4))).isFalse();
        assertThat(promote(3L).isIn(voters(4))).isFalse();
    }

    /** ZooKeeper takes servers without a port for clients as a part of a whole list alone. */
    @Test
    void theWholeListHasTheJoiningAndNotTheLeavingServer() {
        Membership before =
                Membership.parse(
                        "server.1=zk1:2888:3888:participant\n"
                                + "server.2=zk2:2888:3888:participant;0.0.0.0:2181\n"
                                + "server.4=zk4:2888:3888:observer\nversion=100000000");
        Member fourth = Member.parse("server.4=zk4:2888:3888");
        assertThat(new MemberChange(fourth.as(true), 1L).linesAfter(before))
                .isEqualTo(
                        "server.2=zk2:2888:3888:participant;0.0.0.0:2181\n"
                                + "server.4=zk4:2888:3888:participant");
        assertThat(before.aloneOnItsHost(fourth)).isTrue();
        assertThat(before.aloneOnItsHost(Member.parse("server.5=zk4:2889:3889"))).isFalse();
    }

    @Test
    void wrongUsageIsNamedBeforeAnyServerIsAsked() {
        assertThat(Run.of("member", "add", "server.4=zk4:2888:3888", "-e", "localhost:1").err())
                .contains("has no port for clients");
        assertThat(Run.of("member", "remove", "1", "-e", "localhost:1", "--timeout", "1s").err())
                .contains("no server of localhost:1 serves", "the way out");
        Run shed = Run.of("shed", "--share", "0", "-e", "localhost:1");
        assertThat(shed.exitCode()).isEqualTo(OperatorTool.USAGE);
        assertThat(shed.err()).contains("1 to 100 percent");
    }
}
