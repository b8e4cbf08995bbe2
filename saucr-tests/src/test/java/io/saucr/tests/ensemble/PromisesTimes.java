package io.saucr.tests.ensemble;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/**
 * Marks a class whose tests depend on times. It runs alone: the module's pom runs the tests with
 * this tag one after the other.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Tag("promises-times")
@interface PromisesTimes {}
