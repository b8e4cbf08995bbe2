package io.saucr.services.spring;

import io.micrometer.core.instrument.MeterRegistry;
import io.saucr.services.Protection;
import io.saucr.services.RunningService;
import io.saucr.services.Service;
import io.saucr.services.State;
import io.saucr.services.metrics.ServiceMetrics;
import java.util.List;
import java.util.function.Function;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;

/**
 * Runs each bean of type {@link Service}, as {@link SaucrServicesProperties} say, or a bean of type
 * {@link Protection} and those of type {@link ServicesCustomizer}.
 */
@AutoConfiguration(
        afterName = {
            "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration"
        })
@ConditionalOnBean(Service.class)
@EnableConfigurationProperties(SaucrServicesProperties.class)
public class SaucrServicesAutoConfiguration {

    /** Makes services prototypes. */
    @Bean
    static CurrentState saucrServicesState() {
        return new CurrentState();
    }

    /** The state of the service that is being made. */
    @Bean
    @Scope("prototype")
    State saucrState() {
        return CurrentState.get();
    }

    @Bean
    SaucrServices saucrServices(
            ListableBeanFactory beans,
            SaucrServicesProperties properties,
            ObjectProvider<Protection> protection,
            ObjectProvider<ServicesCustomizer> customizers,
            ObjectProvider<Watcher> watchers) {
        return new SaucrServices(
                beans,
                List.of(beans.getBeanNamesForType(Service.class, true, false)),
                properties,
                protection.getIfAvailable(properties::asProtection),
                customizers.orderedStream().toList(),
                watchers.orderedStream()
                        .<Function<RunningService, AutoCloseable>>map(it -> it)
                        .toList());
    }

    /** Watches each service from its start until what it gives is closed. */
    interface Watcher extends Function<RunningService, AutoCloseable> {}

    /** Where the application has the actuator. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(HealthIndicator.class)
    static class HealthConfiguration {

        @Bean
        HealthIndicator saucrServicesHealthIndicator(SaucrServices services) {
            return new SaucrServicesHealth(services);
        }
    }

    /** Where the application has Micrometer. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(MeterRegistry.class)
    static class MetricsConfiguration {

        @Bean
        Watcher saucrServicesMetrics(ObjectProvider<MeterRegistry> registries) {
            return service -> {
                ServiceMetrics metrics = new ServiceMetrics(service);
                registries.ifAvailable(metrics::bindTo);
                return metrics;
            };
        }
    }
}
