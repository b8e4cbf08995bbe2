package io.saucr.tests.ensemble;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/**
 * A class whose tests say how long something takes, or what the servers do within an interval: it
 * runs while no other test does. The module's pom divides the tests by this tag.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Tag("promises-times")
@interface PromisesTimes {}
