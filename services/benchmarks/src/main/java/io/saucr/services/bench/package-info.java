/**
 * A durable turn of a service next to what people use today, in the same rounds on the same
 * machine.
 */
package io.saucr.services.bench;
