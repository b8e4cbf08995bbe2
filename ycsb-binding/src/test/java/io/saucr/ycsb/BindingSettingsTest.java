package io.saucr.ycsb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Properties;
import org.apache.zookeeper.ZooDefs;
import org.junit.jupiter.api.Test;
import site.ycsb.DBException;

class BindingSettingsTest {
    private static BindingSettings parse(String... keysAndValues) throws DBException {
        Properties properties = new Properties();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            properties.setProperty(keysAndValues[i], keysAndValues[i + 1]);
        }
        return BindingSettings.parse(properties);
    }

    @Test
    void presets() throws Exception {
        BindingSettings settings = parse();
        assertThat(settings.servers()).isEqualTo("127.0.0.1:2181");
        assertThat(settings.tableNode()).isEqualTo("/usertable");
        assertThat(settings.fieldCount()).isEqualTo(10);
        assertThat(settings.asyncDepth()).isZero();
        assertThat(settings.acl()).isEqualTo(ZooDefs.Ids.OPEN_ACL_UNSAFE);
    }

    @Test
    void aChrootComesFromTheConnectStringOrItsOwnKey() throws Exception {
        assertThat(parse("zookeeper.connectString", "a:1,b:2/x/y", "table", "t").tableNode())
                .isEqualTo("/x/y/t");
        BindingSettings both =
                parse("zookeeper.connectString", "a:1,b:2/x", "zookeeper.chroot", "/z");
        assertThat(both.servers()).isEqualTo("a:1,b:2");
        assertThat(both.tableNode()).isEqualTo("/x/z/usertable");
        assertThat(parse("zookeeper.connectString", "a:1/").tableNode()).isEqualTo("/usertable");
    }

    @Test
    void credentialsCloseTheNodes() throws Exception {
        BindingSettings settings = parse("zookeeper.auth", "digest:me:se:cret");
        assertThat(settings.authScheme()).isEqualTo("digest");
        assertThat(settings.authData()).isEqualTo("me:se:cret");
        assertThat(settings.acl()).isEqualTo(ZooDefs.Ids.CREATOR_ALL_ACL);
    }

    @Test
    void tlsSetsTheClientUp() throws Exception {
        BindingSettings settings =
                parse(
                        "zookeeper.tls.trustStore", "/trust.p12",
                        "zookeeper.tls.trustStorePassword", "one",
                        "zookeeper.tls.keyStore", "/key.p12",
                        "zookeeper.tls.keyStorePassword", "two",
                        "zookeeper.tls.verifyHostname", "false");
        assertThat(settings.client().getProperty("zookeeper.client.secure")).isEqualTo("true");
        assertThat(settings.client().getProperty("zookeeper.ssl.trustStore.location"))
                .isEqualTo("/trust.p12");
        assertThat(settings.client().getProperty("zookeeper.ssl.keyStore.password"))
                .isEqualTo("two");
        assertThat(settings.client().getProperty("zookeeper.ssl.hostnameVerification"))
                .isEqualTo("false");
    }

    @Test
    void badValuesAreNamedWithWhatIsAllowed() {
        assertThatThrownBy(() -> parse("zookeeper.asyncDepth", "many"))
                .isInstanceOf(DBException.class)
                .hasMessage("zookeeper.asyncDepth=many: expected a whole number from 0 to 100000");
        assertThatThrownBy(() -> parse("zookeeper.sessionTimeout", "1"))
                .hasMessageContaining("100 to 3600000");
        assertThatThrownBy(() -> parse("zookeeper.auth", "secret"))
                .hasMessageContaining("SCHEME:CREDENTIALS");
        assertThatThrownBy(() -> parse("zookeeper.chroot", "x"))
                .hasMessageContaining("zookeeper.chroot=x");
        assertThatThrownBy(() -> parse("zookeeper.connectString", "/x"))
                .hasMessageContaining("HOST:PORT");
        assertThatThrownBy(() -> parse("zookeeper.tls.keyStore", "/k"))
                .hasMessageContaining("zookeeper.tls.trustStore");
        assertThatThrownBy(
                        () ->
                                parse(
                                        "zookeeper.tls.trustStore", "/t",
                                        "zookeeper.tls.verifyHostname", "perhaps"))
                .hasMessageContaining("true or false");
    }
}
