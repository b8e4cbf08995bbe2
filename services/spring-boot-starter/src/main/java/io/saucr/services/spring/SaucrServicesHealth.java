package io.saucr.services.spring;

import io.saucr.services.RunningService;
import io.saucr.services.ServiceException;
import io.saucr.services.ServiceStatus;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthIndicator;

/**
 * Health of the application's services: down where one halted, did not start, or does not say how
 * it is. Any thread.
 */
final class SaucrServicesHealth implements HealthIndicator {

    private final SaucrServices services;

    SaucrServicesHealth(SaucrServices services) {
        this.services = services;
    }

    @Override
    public Health health() {
        Health.Builder health = Health.up();
        services.conditions()
                .forEach(
                        (name, it) -> {
                            if (it.failure().isPresent()) {
                                health.down().withDetail(name, it.failure().get());
                            } else {
                                show(name, it.service().orElseThrow(), health);
                            }
                        });
        return health.build();
    }

    private static void show(String name, RunningService service, Health.Builder health) {
        try {
            ServiceStatus status = service.status();
            Map<String, Object> shown = new TreeMap<>();
            shown.put("turn", status.turn());
            shown.put("finalTurn", status.finalTurn());
            shown.put("deadLetters", status.deadLetters().size());
            if (!status.member().role().isEmpty()) {
                shown.put("role", status.member().role());
                shown.put("ready", status.member().ready());
            }
            if (!status.group().group().isEmpty()) {
                shown.put("group", status.group().group());
            }
            health.withDetail(name, shown);
        } catch (ServiceException e) {
            health.down().withDetail(name, String.valueOf(e.getMessage()));
        }
    }
}
