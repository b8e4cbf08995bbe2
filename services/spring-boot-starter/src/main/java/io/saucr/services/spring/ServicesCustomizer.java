package io.saucr.services.spring;

import io.saucr.services.Services;

/**
 * A bean that adds to how services run what no property says, such as TLS, HTTP and limits. All of
 * them are asked, in their order, after the properties.
 */
@FunctionalInterface
public interface ServicesCustomizer {

    /**
     * Says how a service is to run.
     *
     * @param name of the service's bean
     * @param services as it would run
     */
    Services customize(String name, Services services);
}
