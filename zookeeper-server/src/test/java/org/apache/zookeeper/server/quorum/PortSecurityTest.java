package org.apache.zookeeper.server.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PortSecurityTest {
    @Test
    void portsAreOpenUnlessTlsOrSaslIsDemandedOfEverybody() throws Exception {
        assertThat(new PortSecurity(false, false, "", false).open()).isTrue();
        assertThat(PortSecurity.of(new QuorumPeer()).open()).isTrue();
        assertThat(new PortSecurity(false, false, "", true).open()).isFalse();
        assertThat(new PortSecurity(true, false, "", false).open()).isFalse();
        assertThat(new PortSecurity(true, false, "NEED", false).open()).isFalse();
        assertThat(new PortSecurity(true, false, "", true).open()).isFalse();
    }

    @Test
    void tlsThatIsNotDemandedOfEverybodyLeavesThemOpen() {
        assertThat(new PortSecurity(true, true, "", false).open()).isTrue();
        assertThat(new PortSecurity(true, false, "want", false).open()).isTrue();
        assertThat(new PortSecurity(true, false, "none", false).open()).isTrue();
        assertThat(new PortSecurity(true, true, "", true).open()).isFalse();
    }

    @Test
    void ofAPeer() throws Exception {
        QuorumPeer peer = new QuorumPeer();
        peer.setSslQuorum(true);
        assertThat(PortSecurity.of(peer).open()).isFalse();
        peer.setUsePortUnification(true);
        assertThat(PortSecurity.of(peer).open()).isTrue();
        peer.setQuorumSaslEnabled(true);
        peer.setQuorumServerSaslRequired(false);
        assertThat(PortSecurity.of(peer).open()).isTrue();
        peer.setQuorumServerSaslRequired(true);
        assertThat(PortSecurity.of(peer).open()).isFalse();
    }
}
