package io.saucr.services;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The name under which a record travels as a message and stands in the place of its sealed
 * interface. Without it that is the simple name of its class; with it the class may be renamed, and
 * two of the same simple name can be told apart.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface TypeName {

    /** The name, of 1 to 200 characters. */
    String value();
}
