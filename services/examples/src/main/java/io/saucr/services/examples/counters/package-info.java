/**
 * A number that two services send to and fro, each adding one (section 5.1 of the paper); see
 * {@link io.saucr.services.examples.counters.Counter}.
 */
package io.saucr.services.examples.counters;
