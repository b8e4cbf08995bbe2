package io.saucr.services.spring;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;

/** What an editor shows of the properties. */
class MetadataTest {

    @Test
    void eachPropertyHasItsTypeAndASentence() throws IOException {
        Map<String, JsonNode> properties = new TreeMap<>();
        try (InputStream file =
                SaucrServicesProperties.class.getResourceAsStream(
                        "/META-INF/spring-configuration-metadata.json")) {
            new ObjectMapper()
                    .readTree(file)
                    .path("properties")
                    .forEach(each -> properties.put(each.path("name").asText(), each));
        }
        assertThat(properties.keySet())
                .map(name -> ConfigurationPropertyName.adapt(name, '.'))
                .containsExactlyInAnyOrderElementsOf(
                        Arrays.stream(SaucrServicesProperties.class.getRecordComponents())
                                .map(each -> "saucr.services." + kebab(each.getName()))
                                .map(ConfigurationPropertyName::of)
                                .toList());
        assertThat(properties.values())
                .allSatisfy(
                        each -> {
                            assertThat(each.path("type").asText()).isNotEmpty();
                            assertThat(each.path("description").asText())
                                    .matches("\\p{Lu}[^{}]*\\.");
                        });
        assertThat(properties.get("saucr.services.start-wait").path("defaultValue").asText())
                .isEqualTo("30s");
    }

    private static String kebab(String component) {
        return component.replaceAll("(\\p{Lu})", "-$1").toLowerCase(Locale.ROOT);
    }
}
