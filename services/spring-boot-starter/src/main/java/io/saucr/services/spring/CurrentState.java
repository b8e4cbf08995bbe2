package io.saucr.services.spring;

import io.saucr.services.Service;
import io.saucr.services.State;
import java.util.function.Supplier;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * The state that a service is constructed with: what is injected as {@link State} is that of the
 * service whose construction is under way on this thread. A service is made once for each life, so
 * its bean is a prototype, whatever its definition says.
 */
final class CurrentState implements BeanFactoryPostProcessor {

    private static final ThreadLocal<State> CURRENT = new ThreadLocal<>();

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory factory) {
        for (String name : factory.getBeanNamesForType(Service.class, true, false)) {
            factory.getBeanDefinition(name).setScope("prototype");
        }
    }

    static <T> T with(State state, Supplier<T> construction) {
        State before = CURRENT.get();
        CURRENT.set(state);
        try {
            return construction.get();
        } finally {
            if (before == null) {
                CURRENT.remove();
            } else {
                CURRENT.set(before);
            }
        }
    }

    static State get() {
        State state = CURRENT.get();
        if (state == null) {
            throw new IllegalStateException(
                    "a State is of a service, and is injected into a bean of type Service alone");
        }
        return state;
    }
}
