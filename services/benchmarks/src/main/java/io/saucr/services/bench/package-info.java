/**
 * A durable turn of a service beside what people use today, in the same rounds on the same machine.
 */
package io.saucr.services.bench;
