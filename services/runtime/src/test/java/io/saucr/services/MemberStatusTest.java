package io.saucr.services;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MemberStatusTest {

    private static MemberStatus member(String role, boolean linked, String lacks) {
        return new MemberStatus(
                "0123456789abcdef",
                role,
                1,
                "",
                "",
                5,
                5,
                5,
                "",
                List.of(),
                Map.of(),
                linked,
                lacks,
                0,
                0,
                "",
                true,
                "",
                "",
                "",
                0,
                0);
    }

    @Test
    void isReadyWhereItServesOrCouldTakeOver() {
        assertThat(member("primary", false, "").ready()).isTrue();
        assertThat(member("standby", true, "").ready()).isTrue();
    }

    @Test
    void isNotReadyWhileItLacksATurnOrDoesNotFollow() {
        assertThat(member("standby", true, "segment 5").ready()).isFalse();
        assertThat(member("standby", false, "").ready()).isFalse();
        assertThat(member("starting", false, "").ready()).isFalse();
        assertThat(member("stopped", true, "").ready()).isFalse();
        assertThat(MemberStatus.NONE.ready()).isFalse();
    }
}
